//! What each client takes, in which form, and where it keeps it.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::ValueEnum;
use serde_json::{Map, Value, json};

use super::{json, launch, launch::Launch, neovim, toml};
use crate::{
    args::{Client, Role},
    config::Config,
};

/// The name that servers go by: short, since clients put it before the name of each tool.
const SERVER: &str = "hyphae";

/// The variable that clients fill with a project's folder where they do not start servers in it.
const PROJECT: &str = "HYPHAE_PROJECT";

/// Whose settings are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// This user's.
    User,
    /// Those of the project in a directory.
    Project(PathBuf),
}

/// One client in one role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) client: Client,
    pub(super) role: Role,
    pub(super) place: Place,
}

impl Target {
    /// Chooses the role where none was asked for.
    ///
    /// # Errors
    /// If the client does not take Hyphae in that role, or not from a project.
    pub(super) fn new(client: Client, role: Option<Role>, place: Place) -> anyhow::Result<Self> {
        let roles: &[Role] = match client {
            Client::Zed | Client::Jetbrains | Client::Acpx => &[Role::Acp, Role::Mcp],
            Client::Neovim => &[Role::Acp],
            Client::ClaudeCode
            | Client::Cursor
            | Client::Vscode
            | Client::Codex
            | Client::Gemini => &[Role::Mcp],
        };
        let role = role.unwrap_or(roles[0]);
        if !roles.contains(&role) {
            bail!(
                "{} takes Hyphae as {} only; leave `--as` out",
                name(&client),
                name(&roles[0])
            );
        }
        let of_user_only = match client {
            Client::Zed | Client::Jetbrains => role == Role::Acp,
            Client::Neovim => true,
            Client::Acpx
            | Client::ClaudeCode
            | Client::Cursor
            | Client::Vscode
            | Client::Codex
            | Client::Gemini => false,
        };
        if of_user_only && place != Place::User {
            bail!(
                "{} takes no {} entry from a project; leave `--project` out",
                name(&client),
                name(&role)
            );
        }
        Ok(Self {
            client,
            role,
            place,
        })
    }

    /// Where the client keeps its entry.
    pub(super) fn file(&self, config: &Config) -> PathBuf {
        if let Place::Project(directory) = &self.place {
            return directory.join(match self.client {
                Client::Zed => ".zed/settings.json",
                Client::Jetbrains => ".junie/mcp/mcp.json",
                Client::Acpx => ".acpxrc.json",
                Client::Neovim => "lua/hyphae.lua",
                Client::ClaudeCode => ".mcp.json",
                Client::Cursor => ".cursor/mcp.json",
                Client::Vscode => ".vscode/mcp.json",
                Client::Codex => ".codex/config.toml",
                Client::Gemini => ".gemini/settings.json",
            });
        }
        match (self.client, self.role) {
            (Client::Zed, _) => config.xdg_config.join("zed/settings.json"),
            (Client::Jetbrains, Role::Acp) => config.home.join(".jetbrains/acp.json"),
            (Client::Jetbrains, Role::Mcp) => config.home.join(".junie/mcp/mcp.json"),
            (Client::Acpx, _) => config.home.join(".acpx/config.json"),
            (Client::Neovim, _) => config.xdg_config.join("nvim/lua/hyphae.lua"),
            (Client::ClaudeCode, _) => config.claude_code_settings.clone(),
            (Client::Cursor, _) => config.home.join(".cursor/mcp.json"),
            (Client::Vscode, _) => vscode_folder(config).join("mcp.json"),
            (Client::Codex, _) => config.codex_home.join("config.toml"),
            (Client::Gemini, _) => config.home.join(".gemini/settings.json"),
        }
    }

    /// Returns the file's text with the entry in it, given what it says now.
    ///
    /// # Errors
    /// If the text is not understood.
    pub(super) fn with_entry(&self, present: &str, launch: &Launch) -> anyhow::Result<String> {
        let command = launch::command(self.role);
        let plain = || json::entry(launch, command);
        let typed = || json::entry_of_type("stdio", launch, command);
        let set = |section, entry: &Map<String, Value>| {
            json::set(present, section, SERVER, entry, &[PROJECT])
        };
        match (self.client, self.role) {
            (Client::Zed, Role::Acp) => {
                let entry = json::entry_of_type("custom", launch, command);
                json::set(present, "agent_servers", "Hyphae", &entry, &[])
            }
            (Client::Jetbrains, Role::Acp) => {
                json::set(present, "agent_servers", "Hyphae", &plain(), &[])
            }
            (Client::Acpx, Role::Acp) => json::acpx_agent(present, launch, command),
            (Client::Acpx, Role::Mcp) => json::acpx_server(present, launch, command),
            (Client::Neovim, _) => Ok(neovim::module(launch)),
            (Client::Zed, Role::Mcp) => set("context_servers", &plain()),
            (Client::Vscode, _) => set("servers", &typed()),
            (Client::Cursor, _) => {
                // Cursor starts servers in the home folder or in none, and fills this in.
                let mut entry = typed();
                if let Some(env) = entry.get_mut("env") {
                    env[PROJECT] = json!("${workspaceFolder}");
                }
                set("mcpServers", &entry)
            }
            (Client::ClaudeCode, _) => set("mcpServers", &typed()),
            (Client::Jetbrains, Role::Mcp) | (Client::Gemini, _) => set("mcpServers", &plain()),
            (Client::Codex, _) => toml::codex(present, launch, command),
        }
    }

    /// What a person should know who has the entry.
    pub(super) fn notes(&self, launch: &Launch) -> Vec<String> {
        let mut notes = Vec::new();
        if self.client == Client::Neovim {
            notes.extend(neovim::USE.lines().map(str::to_owned));
        }
        if self.role == Role::Acp {
            return notes;
        }
        notes.push(
            "# No key is in there: what is started uses the key that `hyphae-server init` kept."
                .to_owned(),
        );
        notes.push(
            "# Another database or project: DATABASE_URL or HYPHAE_PROJECT in the entry's env."
                .to_owned(),
        );
        let user = self.place == Place::User;
        match self.client {
            Client::ClaudeCode if user => notes.push(format!(
                "# A running Claude Code may write this file, too; it can also add the entry itself:\n#   claude mcp add --scope user {SERVER} -- {} {}",
                launch.program,
                launch::command(self.role)
            )),
            Client::Vscode if user => notes.push(
                "# VS Code starts servers of this file in your home folder, where projects are not told apart.\n# In a project, `hyphae-server setup vscode --project` is better."
                    .to_owned(),
            ),
            Client::Cursor => notes.push(
                "# Cursor fills ${workspaceFolder} in, so that each project has its own memories."
                    .to_owned(),
            ),
            Client::Jetbrains => notes.push(
                "# This is Junie's file. AI Assistant takes the same text: Settings, Tools, AI Assistant, MCP."
                    .to_owned(),
            ),
            Client::Zed
            | Client::Acpx
            | Client::Neovim
            | Client::ClaudeCode
            | Client::Vscode
            | Client::Codex
            | Client::Gemini => {}
        }
        notes
    }
}

/// Where VS Code keeps what is this user's.
fn vscode_folder(config: &Config) -> PathBuf {
    if cfg!(target_os = "macos") {
        let library = Path::new("Library/Application Support");
        return config.home.join(library).join("Code/User");
    }
    config.xdg_config.join("Code/User")
}

/// What is typed for a client or a role.
pub(super) fn name(value: &impl ValueEnum) -> String {
    let name = value.to_possible_value();
    name.map_or_else(String::new, |name| name.get_name().to_owned())
}
