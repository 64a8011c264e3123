//! The secrets seam: where a key really is. Resolved once, at start; no message repeats a key.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
    process::Stdio,
};

use anyhow::{Context, anyhow, bail};
use hyphae_core::credential::ApiKey;
use secrecy::{ExposeSecret, SecretString};

use crate::{
    config::{self, Config},
    files,
};

/// A key and where it was found, for people.
#[derive(Debug)]
pub(crate) struct FoundKey {
    pub(crate) key: ApiKey,
    pub(crate) place: String,
}

/// Finds this process' key: `HYPHAE_API_KEY`, a key or a reference to one, else the key that
/// `init` kept for this user.
pub(crate) fn find_key(config: &Config) -> anyhow::Result<FoundKey> {
    let (text, place) = match &config.api_key {
        Some(given) => resolve("HYPHAE_API_KEY", given)?,
        None => {
            let file = config.key_file();
            let text = read_key_file(&file).map_err(|error| {
                if error.kind() == io::ErrorKind::NotFound {
                    anyhow!("no API key: run `hyphae-server init`, or set HYPHAE_API_KEY")
                } else {
                    unreadable("key file", &file, &error)
                }
            })?;
            (text, format!("the key file {}", file.display()))
        }
    };
    let key = ApiKey::parse(text.expose_secret()).map_err(|malformed| {
        anyhow!(
            "{place} holds no valid key: {malformed}; make one with `hyphae-server keys create --name NAME`"
        )
    })?;
    Ok(FoundKey { key, place })
}

/// Returns what a variable holds or refers to, and where that was, for people.
pub(crate) fn resolve(
    variable: &str,
    given: &SecretString,
) -> anyhow::Result<(SecretString, String)> {
    let text = given.expose_secret();
    if let Some(path) = text.strip_prefix("file:") {
        let path = Path::new(path);
        let secret = read_key_file(path).map_err(|error| unreadable("file", path, &error))?;
        let place = format!("the file {} that {variable} names", path.display());
        return Ok((secret, place));
    }
    if let Some(name) = text.strip_prefix("env:") {
        let secret = config::variable(name)
            .ok_or_else(|| anyhow!("{variable} names the variable {name}, which is not set"))?;
        return Ok((secret, format!("the variable {name} that {variable} names")));
    }
    if let Some(command) = text.strip_prefix("cmd:") {
        let place = format!("the command that {variable} names");
        return Ok((run(command, &place)?, place));
    }
    Ok((given.clone(), variable.to_owned()))
}

fn unreadable(what: &str, path: &Path, error: &io::Error) -> anyhow::Error {
    anyhow!(
        "the {what} {} cannot be read: {error}; see `hyphae-server doctor`",
        path.display()
    )
}

/// Reads a key file that only its owner can read, as SSH does with its keys.
fn read_key_file(path: &Path) -> io::Result<SecretString> {
    let metadata = fs::metadata(path)?;
    if metadata.is_file() && metadata.mode() & 0o077 != 0 {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("others can read it; run `chmod 600 {}`", path.display()),
        ));
    }
    fs::read_to_string(path).map(SecretString::from)
}

/// Runs the command of a `cmd:` reference in the user's shell and takes what it prints. Its
/// stdin is empty, so that it cannot eat the first request.
fn run(command: &str, place: &str) -> anyhow::Result<SecretString> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where a key's command runs"
    )]
    let output = std::process::Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("{place} cannot be run: no `sh` was found"))?;
    if !output.status.success() {
        bail!("{place} failed ({})", output.status);
    }
    String::from_utf8(output.stdout)
        .map(SecretString::from)
        .map_err(|_| anyhow!("{place} printed no text"))
}

/// Keeps a key for this user: a new file with mode 0600 that takes the old one's place at once.
pub(crate) fn keep_key(path: &Path, key: &ApiKey) -> anyhow::Result<()> {
    let folder = path.parent().context("the key file has no folder")?;
    files::make_private_folder(folder)?;
    files::replace(
        path,
        &format!("{}\n", key.reveal()),
        Permissions::from_mode(0o600),
    )
    .with_context(|| format!("the key file {} cannot be written", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> ApiKey {
        ApiKey::from_random([9; 32])
    }

    fn found(reference: &str) -> anyhow::Result<String> {
        resolve("HYPHAE_API_KEY", &SecretString::from(reference))
            .map(|(text, _)| text.expose_secret().to_owned())
    }

    #[test]
    fn a_kept_key_is_readable_by_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/key");
        keep_key(&path, &key()).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let text = found(&format!("file:{}", path.display())).unwrap();
        assert_eq!(ApiKey::parse(&text), Ok(key()));
    }

    #[test]
    fn a_key_file_that_others_can_read_is_refused_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        keep_key(&path, &key()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = found(&format!("file:{}", path.display()))
            .unwrap_err()
            .to_string();
        assert!(error.contains("chmod 600"), "{error}");
    }

    #[test]
    fn a_reference_to_a_command_takes_what_it_prints() {
        assert_eq!(found("cmd:printf 'a b'").unwrap(), "a b");
        let error = found("cmd:exit 3").unwrap_err().to_string();
        assert!(error.contains("failed"), "{error}");
    }

    #[test]
    fn a_reference_to_nothing_says_so() {
        let error = found("env:HYPHAE_NO_SUCH_VARIABLE")
            .unwrap_err()
            .to_string();
        assert!(error.contains("not set"), "{error}");
        let error = found("file:/no/such/file").unwrap_err().to_string();
        assert!(error.contains("cannot be read"), "{error}");
    }
}
