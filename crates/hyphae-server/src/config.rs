//! What the environment says. This is the only module that reads it; everything below gets
//! values.

use std::{fmt, path::PathBuf};

use anyhow::{Context, bail};
use etcetera::BaseStrategy;
use hyphae_core::scope::Project;
use hyphae_store::PostgresAddress;
use secrecy::{ExposeSecret, SecretString};

use crate::{projects, secrets};

/// The file of links from directories to project names.
const PROJECT_LINKS: &str = "projects.json";

/// Where things are and what was asked for by the environment.
#[derive(Debug)]
pub(crate) struct Config {
    /// `HYPHAE_API_KEY`, a key or a reference to one.
    pub(crate) api_key: Option<SecretString>,
    /// Where the database is.
    pub(crate) database: Database,
    /// What `DATABASE_URL` said; it may hold a password, or be a reference.
    pub(crate) database_url: Option<SecretString>,
    /// `HYPHAE_PROJECT`.
    pub(crate) project: Option<Project>,
    /// This user's settings.
    pub(crate) config_dir: PathBuf,
    /// This user's state that may be lost, such as the console's history.
    pub(crate) state_dir: PathBuf,
    /// The home folder, for editors' settings.
    pub(crate) home: PathBuf,
    /// The XDG config folder, for editors' settings.
    pub(crate) xdg_config: PathBuf,
    /// Where Claude Code keeps its settings.
    pub(crate) claude_code_settings: PathBuf,
    /// Where Codex keeps its files.
    pub(crate) codex_home: PathBuf,
}

/// Where the database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Database {
    /// In a file of this machine.
    Embedded(PathBuf),
    /// On a Postgres server.
    Server(Box<PostgresAddress>),
}

impl fmt::Display for Database {
    /// Shows where it is, without a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded(path) => path.display().fmt(f),
            Self::Server(address) => address.fmt(f),
        }
    }
}

impl Config {
    /// Reads the environment.
    pub(crate) fn from_environment() -> anyhow::Result<Self> {
        let strategy = etcetera::base_strategy::Xdg::new()
            .context("this user has no home folder; set HOME")?;
        let database_url = text("DATABASE_URL")?.map(SecretString::from);
        let database = match &database_url {
            Some(url) => Database::named("DATABASE_URL", url)?,
            None => Database::Embedded(strategy.data_dir().join("hyphae").join("hyphae.db")),
        };
        let config_dir = strategy.config_dir().join("hyphae");
        let project = match text("HYPHAE_PROJECT")? {
            Some(name) => {
                let links = config_dir.join(PROJECT_LINKS);
                Some(projects::named(&name, &links).context("HYPHAE_PROJECT")?)
            }
            None => None,
        };
        let home = strategy.home_dir().to_owned();
        let folder = |name, default: &str| -> anyhow::Result<PathBuf> {
            Ok(text(name)?.map_or_else(|| home.join(default), PathBuf::from))
        };
        let state = strategy.state_dir().unwrap_or_else(|| strategy.data_dir());
        Ok(Self {
            // An empty key is a mistake in whatever set it, not a wish for the kept one.
            api_key: given("HYPHAE_API_KEY")?.map(SecretString::from),
            database,
            database_url,
            project,
            config_dir,
            state_dir: state.join("hyphae"),
            xdg_config: strategy.config_dir(),
            claude_code_settings: folder("CLAUDE_CONFIG_DIR", "")?.join(".claude.json"),
            codex_home: folder("CODEX_HOME", ".codex")?,
            home,
        })
    }

    /// Where `init` keeps this user's key.
    pub(crate) fn key_file(&self) -> PathBuf {
        self.config_dir.join("key")
    }

    /// Where links from directories to project names are kept.
    pub(crate) fn project_links(&self) -> PathBuf {
        self.config_dir.join(PROJECT_LINKS)
    }
}

/// Returns what the environment says is to be logged, if anything.
pub(crate) fn log_filter() -> Option<String> {
    std::env::var("HYPHAE_LOG")
        .ok()
        .filter(|filter| !filter.is_empty())
}

/// Tells whether the environment chooses an embedder; the arguments' parser reads it.
pub(crate) fn embedder_is_set() -> bool {
    std::env::var_os("HYPHAE_EMBEDDER").is_some()
}

/// Tells whether colours are wanted where there is a terminal (see no-color.org).
pub(crate) fn colours_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Returns a variable of the environment that a key reference names.
pub(crate) fn variable(name: &str) -> Option<SecretString> {
    std::env::var(name).ok().map(SecretString::from)
}

/// Returns a variable, where an empty one counts as not set.
fn text(name: &str) -> anyhow::Result<Option<String>> {
    Ok(given(name)?.filter(|value| !value.is_empty()))
}

fn given(name: &str) -> anyhow::Result<Option<String>> {
    match std::env::var(name) {
        Ok(value) => Ok(Some(value)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => bail!("{name} is not UTF-8 text"),
    }
}

impl Database {
    /// Reads what a variable or an argument says of a database: its URL, or where that is.
    pub(crate) fn named(by: &str, given: &SecretString) -> anyhow::Result<Self> {
        let (url, place) = secrets::resolve(by, given)?;
        Self::from_url(url.expose_secret().trim()).context(place)
    }

    /// Reads a database URL. The URL may hold a password, so no message repeats it.
    fn from_url(url: &str) -> anyhow::Result<Self> {
        if let Some(path) = url.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            if path.is_empty() {
                bail!("it names no file; write sqlite:PATH");
            }
            return Ok(Self::Embedded(PathBuf::from(path)));
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return Ok(Self::Server(Box::new(PostgresAddress::parse(url)?)));
        }
        bail!(
            "it is not understood; write sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE, or unset it to use the embedded database"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_a_file_by_path_or_url() {
        for (url, want) in [
            ("sqlite:memory.db", "memory.db"),
            ("sqlite:/a/b.db", "/a/b.db"),
            ("sqlite:///a/b.db", "/a/b.db"),
        ] {
            let want = Database::Embedded(PathBuf::from(want));
            assert_eq!(Database::from_url(url).unwrap(), want);
        }
    }

    #[test]
    fn a_database_on_a_server_is_shown_without_its_password() {
        let database = Database::from_url("postgres://u:hunter2@h/db").unwrap();
        assert_eq!(database.to_string(), "postgres://h:5432/db");
        assert!(!format!("{database:?}").contains("hunter2"));
        let error = Database::from_url("postgres://u:hunter2@h:x/db").unwrap_err();
        assert!(!format!("{error:?}").contains("hunter2"), "{error}");
    }

    #[test]
    fn another_database_is_refused_without_repeating_its_password() {
        for url in ["mysql://u:hunter2@h/db", "sqlite:", "/a/b.db"] {
            let error = Database::from_url(url).unwrap_err().to_string();
            assert!(error.contains("sqlite:PATH"), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
