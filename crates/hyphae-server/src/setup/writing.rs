//! Changing a person's file: the difference is shown, the former text kept, the rest left alone.

use std::{
    fs, io,
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use similar::TextDiff;

use crate::{
    files,
    output::{Colour, Printer},
};

/// What writing came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Written {
    /// The file said it already.
    Unchanged,
    /// The file was made or changed; its former text, if any, is in the backup.
    Changed {
        /// Where the former text is.
        backup: Option<PathBuf>,
    },
}

/// Makes a file say what `edit` makes of its text, and tells what was done.
///
/// # Errors
/// If the file is not understood, cannot be read, or cannot be written; it is then as it was.
pub(super) fn edit(
    file: &Path,
    edit: impl FnOnce(&str) -> anyhow::Result<String>,
    out: &mut Printer,
) -> anyhow::Result<()> {
    let (before, after) = change(file, edit)?;
    match apply(file, &before, &after)? {
        Written::Unchanged => out.line(format!("{} is up to date", file.display()))?,
        Written::Changed { backup } => {
            show_difference(&before, &after, file, out)?;
            out.line(format!("wrote {}", file.display()))?;
            if let Some(backup) = backup {
                out.line(format!("kept the former text in {}", backup.display()))?;
            }
        }
    }
    Ok(())
}

/// Returns a file's text, empty if it is not there, and what is to become of it.
pub(super) fn change(
    file: &Path,
    edit: impl FnOnce(&str) -> anyhow::Result<String>,
) -> anyhow::Result<(String, String)> {
    let before = read(file)?;
    let after = edit(&before).with_context(|| format!("{} was left as it is", file.display()))?;
    Ok((before, after))
}

fn read(file: &Path) -> anyhow::Result<String> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => bail!(
            "{} cannot be read: {error}; nothing was changed",
            file.display()
        ),
    }
}

/// Puts a text in the place of the one that a file had.
pub(super) fn apply(file: &Path, before: &str, after: &str) -> anyhow::Result<Written> {
    if before == after {
        return Ok(Written::Unchanged);
    }
    // An editor's settings are often a link into a folder of dotfiles; the file is changed.
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let folder = file.parent().context("a settings file has a folder")?;
    fs::create_dir_all(folder)
        .with_context(|| format!("the folder {} cannot be made", folder.display()))?;
    let open = fs::Permissions::from_mode(0o644);
    let permissions = fs::metadata(&file).map_or(open, |present| present.permissions());
    let backup = if before.is_empty() {
        None
    } else {
        Some(keep_backup(&file, before, permissions.mode())?)
    };
    // A program that is running may write its settings at any time.
    if read(&file)? != before {
        bail!(
            "{} was changed by another program just now; nothing was changed, try again",
            file.display()
        );
    }
    files::replace(&file, after, permissions)
        .with_context(|| format!("{} cannot be written", file.display()))?;
    Ok(Written::Changed { backup })
}

/// Keeps a text under a name that no earlier backup has, as closed to others as the file is:
/// settings of agents hold keys.
fn keep_backup(file: &Path, text: &str, mode: u32) -> anyhow::Result<PathBuf> {
    let name = file
        .file_name()
        .context("a settings file has a name")?
        .to_string_lossy();
    for n in 0_u32.. {
        let number = if n == 0 {
            String::new()
        } else {
            format!(".{n}")
        };
        let backup = file.with_file_name(format!("{name}.before-hyphae{number}"));
        match fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode & 0o777)
            .open(&backup)
        {
            Ok(mut new) => {
                io::Write::write_all(&mut new, text.as_bytes()).with_context(|| {
                    format!("the backup {} cannot be written", backup.display())
                })?;
                return Ok(backup);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => bail!(
                "the backup {} cannot be made: {error}; nothing was changed",
                backup.display()
            ),
        }
    }
    bail!("there are too many backups of {}", file.display())
}

fn show_difference(
    before: &str,
    after: &str,
    file: &Path,
    out: &mut Printer,
) -> anyhow::Result<()> {
    let name = file.display().to_string();
    let diff = TextDiff::from_lines(before, after);
    for line in diff.unified_diff().header(&name, &name).to_string().lines() {
        match line.as_bytes().first() {
            Some(b'+') => out.coloured(Colour::Green, line)?,
            Some(b'-') => out.coloured(Colour::Red, line)?,
            _ => out.line(line)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_change_gets_a_backup_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.json");
        fs::write(&file, "1").unwrap();
        for (before, after, name) in [
            ("1", "2", "settings.json.before-hyphae"),
            ("2", "3", "settings.json.before-hyphae.1"),
        ] {
            let backup = folder.path().canonicalize().unwrap().join(name);
            let want = Written::Changed {
                backup: Some(backup.clone()),
            };
            assert_eq!(apply(&file, before, after).unwrap(), want);
            assert_eq!(fs::read_to_string(backup).unwrap(), before);
        }
        assert_eq!(apply(&file, "3", "3").unwrap(), Written::Unchanged);
    }

    #[test]
    fn a_backup_is_as_closed_as_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.json");
        fs::write(&file, "key").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let Written::Changed {
            backup: Some(backup),
        } = apply(&file, "key", "other").unwrap()
        else {
            panic!("that is a change");
        };
        for path in [file, backup] {
            let mode = fs::metadata(path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn what_another_program_wrote_meanwhile_is_not_lost() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.json");
        fs::write(&file, "theirs").unwrap();
        let error = apply(&file, "before", "after").unwrap_err().to_string();
        assert!(error.contains("changed by another program"), "{error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
    }
}
