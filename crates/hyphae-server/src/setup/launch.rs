//! How this very program is started by others.

use anyhow::{Context, bail};
use secrecy::ExposeSecret;

use crate::{
    args::Role,
    config::{Config, Database},
};

/// How Hyphae is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Launch {
    /// The program, as an absolute path: editors do not have the shell's search path.
    pub(super) program: String,
    /// Variables that the client sets for it.
    pub(super) env: Vec<(String, String)>,
}

impl Launch {
    /// Returns how this very program is started, with the database and the key that it uses
    /// now where they are not in the default place: clients do not pass on all variables. The
    /// key itself stays in its file and out of others' settings.
    pub(super) fn of_this_program(config: &Config) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("where this program is")?;
        let program = program
            .into_os_string()
            .into_string()
            .ok()
            .context("this program's path is not UTF-8 text; install it elsewhere")?;
        let mut env = Vec::new();
        if let Some(url) = database_url(config)? {
            env.push(("DATABASE_URL".to_owned(), url));
        }
        if config.xdg_config != config.home.join(".config") {
            let folder = config.xdg_config.to_str();
            let folder = folder.context("XDG_CONFIG_HOME is not UTF-8 text")?;
            env.push(("XDG_CONFIG_HOME".to_owned(), folder.to_owned()));
        }
        Ok(Self { program, env })
    }
}

/// Returns what `DATABASE_URL` must be where it is not set.
fn database_url(config: &Config) -> anyhow::Result<Option<String>> {
    let path = match &config.database {
        Database::Embedded(path) => std::path::absolute(path)?,
        Database::Server(address) => {
            let given = config
                .database_url
                .as_ref()
                .map(ExposeSecret::expose_secret);
            let is_reference =
                given.is_some_and(|given| given.starts_with("file:") || given.starts_with("cmd:"));
            if address.has_password() && !is_reference {
                bail!(
                    "DATABASE_URL holds a password, which does not belong into others' settings; write the address into a file that only you can read and set DATABASE_URL=file:PATH"
                );
            }
            return Ok(given.map(str::to_owned));
        }
    };
    let by_default = config.home.join(".local/share/hyphae/hyphae.db");
    if config.database_url.is_none() && path == by_default {
        return Ok(None);
    }
    let path = path
        .to_str()
        .context("the database's path is not UTF-8 text; move it elsewhere")?;
    Ok(Some(format!("sqlite:{path}")))
}

/// The command of this program that serves a role.
pub(super) const fn command(role: Role) -> &'static str {
    match role {
        Role::Mcp => "mcp-stdio",
        Role::Acp => "acp-stdio",
    }
}
