//! What can be typed behind `hyphae-server`.

mod acp;

use std::{convert::Infallible, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use acp::Acp;

use crate::config;
use hyphae_core::audit::Action;
use secrecy::SecretString;
use uuid::Uuid;

const EXAMPLES: &str = "\
Examples:
  hyphae-server init                      make the database and a first key
  hyphae-server setup zed --write         add the memory console to Zed
  hyphae-server setup claude-code --write  add the memory's tools to Claude Code
  hyphae-server console                   the memory console in this terminal
  hyphae-server console '/store --type Decision We ship Postgres for V1'
  hyphae-server doctor                    check that everything works
  hyphae-server export backup.jsonl       all memories, to be imported elsewhere

Environment:
  HYPHAE_API_KEY   the key, or where it is: file:PATH, cmd:COMMAND, env:NAME
                   (default: the key that `init` kept for this user)
  DATABASE_URL     sqlite:PATH or postgres://… (default: the embedded database of this user)
  HYPHAE_PROJECT   name or directory of the project, instead of the working directory
  HYPHAE_EMBEDDER  minilm or static (default: what the database was made with)
  HYPHAE_LOG       what is logged to stderr, such as info or hyphae_acp=debug

Exit codes:
  0  done
  1  a command was understood and failed
  2  not started: wrong usage, no valid key, no usable database";

/// A living memory that coding agents and people share.
#[derive(Debug, Parser)]
#[command(name = "hyphae-server", version, about, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Reads the arguments; exits on wrong usage, and after `--help` and `--version`.
    ///
    /// What an editor says by default is understood without the parser, which is slow to set up.
    pub(crate) fn of_process() -> Self {
        let mut given = std::env::args_os().skip(1);
        let is_default = given.next().is_some_and(|name| name == "acp-stdio")
            && given.next().is_none()
            && !config::embedder_is_set();
        if is_default {
            return Self {
                command: Command::AcpStdio(AcpStdio::default()),
            };
        }
        Self::parse()
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make the database and a first API key.
    Init(Init),
    /// Serve the memory console over the Agent Client Protocol on stdin and stdout.
    #[command(after_help = "An editor starts this; see `hyphae-server setup`.")]
    AcpStdio(AcpStdio),
    /// Serve any ACP agent, each session in a process of its own that leaves nothing behind.
    #[command(after_help = acp::NOTES)]
    Acp(Acp),
    /// Serve the memory's tools over the Model Context Protocol on stdin and stdout.
    #[command(after_help = MCP_NOTES)]
    McpStdio(McpStdio),
    /// Use the memory console in this terminal, or run commands from arguments or stdin.
    #[command(after_help = CONSOLE_EXAMPLES)]
    Console(Console),
    /// Make, list and revoke API keys.
    #[command(subcommand)]
    Keys(Keys),
    /// Name the project that directories belong to.
    #[command(subcommand)]
    Project(Project),
    /// Check key, database, model and protocol, and say what to do about each fault.
    Doctor,
    /// Print a client's entry for the memory, or write it into its settings.
    Setup(Setup),
    /// Make the vectors of all memories anew with another embedding model.
    Reembed(Reembed),
    /// Show who wrote what into the memory, when and from where, newest first.
    #[command(after_help = AUDIT_EXAMPLES)]
    Audit(Audit),
    /// Bring the database's tables up to date, which every other command does too.
    #[command(after_help = MIGRATE_NOTES)]
    Migrate(Migrate),
    /// Write all memories, with their history and links, to a file, a line each.
    #[command(after_help = EXPORT_NOTES)]
    Export(Export),
    /// Read memories from an export, or from the files of another program.
    #[command(after_help = IMPORT_NOTES)]
    Import(Import),
    /// Copy everything from one database into another, and check that it is there.
    #[command(after_help = COPY_NOTES)]
    Copy(Copy),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

const CONSOLE_EXAMPLES: &str = "\
Examples:
  hyphae-server console                            prompt, history and completion
  hyphae-server console /recall --k 3 release date run one command
  echo '/store We deploy on Thursdays' | hyphae-server console

Exit code 1 if a command failed.";

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// What the first key is called.
    #[arg(long, default_value = "default")]
    pub(crate) name: String,
    /// The embedding model of this database.
    #[arg(long, value_enum, default_value_t = Embedder::Minilm)]
    pub(crate) embedder: Embedder,
}

/// The longest message of the memory console, in bytes.
const FRAME: usize = 32 << 20;

#[derive(Debug, PartialEq, Eq, Args)]
pub(crate) struct AcpStdio {
    /// The longest message taken, in bytes; a longer one is refused and passed over.
    #[arg(long, default_value_t = FRAME, value_name = "N")]
    pub(crate) max_frame_bytes: usize,
    /// Also serve what the protocol does not promise to keep (`session/fork`).
    #[arg(long)]
    pub(crate) unstable: bool,
    /// The embedding model (default: what the database was made with).
    #[arg(long, value_enum, env = "HYPHAE_EMBEDDER")]
    pub(crate) embedder: Option<Embedder>,
}

impl Default for AcpStdio {
    fn default() -> Self {
        Self {
            max_frame_bytes: FRAME,
            unstable: false,
            embedder: None,
        }
    }
}

const MCP_NOTES: &str = "\
An agent starts this: command `hyphae-server`, arguments [\"mcp-stdio\"].
The project is HYPHAE_PROJECT, else the name that the start directory is linked to, else that directory.";

#[derive(Debug, Args)]
pub(crate) struct McpStdio {
    /// The embedding model (default: what the database was made with).
    #[arg(long, value_enum, env = "HYPHAE_EMBEDDER")]
    pub(crate) embedder: Option<Embedder>,
}

#[derive(Debug, Args)]
pub(crate) struct Console {
    /// One command, instead of a prompt.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<String>,
    /// The embedding model (default: what the database was made with).
    #[arg(long, value_enum, env = "HYPHAE_EMBEDDER")]
    pub(crate) embedder: Option<Embedder>,
}

/// An embedding model that is built in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Embedder {
    /// all-MiniLM-L6-v2: finds what is meant, about 5 ms a text.
    Minilm,
    /// A table of words: for very large imports, about 5 µs a text.
    Static,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    /// Make a key and show it once.
    Create {
        /// What the key is called.
        #[arg(long)]
        name: String,
        /// Keep the key for this user, in place of the present one.
        #[arg(long)]
        save: bool,
    },
    /// List the keys of the database; the keys themselves are not kept and cannot be shown.
    List,
    /// Revoke a key. What it stored stays.
    Revoke {
        /// The key's id as `keys list` shows it, or its first eight or more characters.
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Project {
    /// File the memories of a directory, and of all below it, under a name.
    Link {
        /// The project's name.
        name: String,
        /// The directory.
        path: PathBuf,
    },
    /// Undo a link.
    Unlink {
        /// The directory.
        path: PathBuf,
    },
    /// List the links.
    List,
}

#[derive(Debug, Args)]
#[command(after_help = SETUP_EXAMPLES)]
pub(crate) struct Setup {
    /// The editor or client.
    #[arg(value_enum)]
    pub(crate) client: Client,
    /// Write the entry (shows the difference, keeps a backup) instead of printing it.
    #[arg(long)]
    pub(crate) write: bool,
    /// What Hyphae is to the client (default: acp where there is a choice).
    #[arg(long = "as", value_enum, value_name = "ROLE")]
    pub(crate) role: Option<Role>,
    /// Into the settings of the project in this directory, instead of this user's.
    #[arg(long)]
    pub(crate) project: bool,
    /// Write rules that tell agents to use the memory into the file that the client reads in
    /// this directory (CLAUDE.md, AGENTS.md, GEMINI.md, .cursor/rules).
    #[arg(long)]
    pub(crate) rules: bool,
}

const SETUP_EXAMPLES: &str = "\
Examples:
  hyphae-server setup claude-code                  print the entry and the rules
  hyphae-server setup claude-code --write --rules  write both
  hyphae-server setup zed --as mcp --write         the tools, for the agents in Zed
  hyphae-server setup vscode --project --write     for the project in this directory

No key is written: what is started uses the key that `init` kept.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// The Zed editor.
    Zed,
    /// The IDEs of JetBrains; as mcp, their agent Junie.
    Jetbrains,
    /// The headless client acpx.
    Acpx,
    /// Neovim with CodeCompanion.
    Neovim,
    /// Claude Code.
    ClaudeCode,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    Vscode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
}

/// What Hyphae is to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// Tools for the client's agents: an MCP server.
    Mcp,
    /// The memory console: an ACP agent.
    Acp,
}

#[derive(Debug, Args)]
pub(crate) struct Reembed {
    /// The model to change to.
    #[arg(long, value_enum)]
    pub(crate) embedder: Embedder,
}

const EXPORT_NOTES: &str = "\
Examples:
  hyphae-server export backup.jsonl
  hyphae-server export --no-audit - | zstd > backup.jsonl.zst

It holds the memories of everybody in the database, private ones too, and can only be read by you.
Keys do not travel: whoever wrote something needs a new one where it is imported.";

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The file; it is replaced at once, when all is written. `-` is stdout.
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,
    /// Only what is filed under this project, and nothing that leads out of it.
    #[arg(long, value_name = "NAME")]
    pub(crate) project: Option<String>,
    /// Leave out vectors, which are most of the file; they are made again by the import.
    #[arg(long)]
    pub(crate) no_vectors: bool,
    /// Leave out who did what when.
    #[arg(long)]
    pub(crate) no_audit: bool,
}

const MIGRATE_NOTES: &str = "\
Programs that are older than the new tables refuse the database from then on: update them all first.";

#[derive(Debug, Args)]
pub(crate) struct Migrate {
    /// Show what would be done, as SQL, and change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

const COPY_NOTES: &str = "\
Example:
  hyphae-server copy --from sqlite:$HOME/.local/share/hyphae/hyphae.db --to file:$HOME/address

A database is named as in DATABASE_URL: sqlite:PATH, postgres://…, file:PATH, cmd:COMMAND, env:NAME.
A password in an argument can be seen by others on this machine; in a file it cannot.
What is there already stays as it is, so a copy that was stopped is run again and goes on.
Keys and conversations do not travel: whoever wrote something needs a new key there.

Exit code 1 if something could not be copied because something else stands in its place.";

#[derive(Debug, Args)]
pub(crate) struct Copy {
    /// The database that is read.
    #[arg(long, value_name = "DATABASE", value_parser = secret)]
    pub(crate) from: SecretString,
    /// The database that is written; it is made if there is none.
    #[arg(long, value_name = "DATABASE", value_parser = secret)]
    pub(crate) to: SecretString,
}

fn secret(text: &str) -> Result<SecretString, Infallible> {
    Ok(SecretString::from(text))
}

const IMPORT_NOTES: &str = "\
Examples:
  hyphae-server import backup.jsonl
  hyphae-server import --dry-run ~/.claude/projects
  hyphae-server import --format mem0 --project app memories.json

Formats: hyphae (our own), server-memory, mem0, basic-memory, claude-code, codex.
What is there already stays as it is, so an import that was stopped is run again.
Sessions are filed under the project of the directory that they were held in.

Exit code 1 if a line could not be read; the others are imported.";

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file or folder; `-` is stdin.
    #[arg(value_name = "FILE|DIR")]
    pub(crate) from: PathBuf,
    /// The format, where it is not to be told from the file.
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    /// File everything under this project; not for exports, which say it themselves.
    #[arg(long, value_name = "NAME")]
    pub(crate) project: Option<String>,
    /// Read all of it and change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The embedding model (default: what the database was made with).
    #[arg(long, value_enum, env = "HYPHAE_EMBEDDER")]
    pub(crate) embedder: Option<Embedder>,
}

/// A format that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// An export of this program.
    Hyphae,
    /// The JSON Lines of `@modelcontextprotocol/server-memory`.
    ServerMemory,
    /// The JSON of mem0's `get_all` or of an export.
    Mem0,
    /// A folder of Markdown notes of basic-memory.
    BasicMemory,
    /// Sessions of Claude Code (`~/.claude/projects`).
    ClaudeCode,
    /// Sessions of Codex (`~/.codex/sessions`).
    Codex,
}

const AUDIT_EXAMPLES: &str = "\
Examples:
  hyphae-server audit --since 2d
  hyphae-server audit --by codex --action store --action update
  hyphae-server audit --about 019a1b2c-3d4e-7f00-8a9b-0c1d2e3f4a5b
  hyphae-server audit --json --limit 100000 > audit.jsonl";

#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// Only what was done in this way; may be repeated.
    #[arg(long)]
    pub(crate) action: Vec<Action>,
    /// Only what was done with this key: its name or its id.
    #[arg(long, value_name = "KEY")]
    pub(crate) by: Option<String>,
    /// Only what was done in this project.
    #[arg(long)]
    pub(crate) project: Option<String>,
    /// Only what touched this memory, link, conflict or diff.
    #[arg(long, value_name = "ID")]
    pub(crate) about: Option<Uuid>,
    /// Only what was done at or after this time, or this long ago.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only what was done before this time, or longer ago.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// The most rows.
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub(crate) limit: usize,
    /// One JSON object a line, instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_understood_without_the_parser_is_what_the_parser_understands() {
        let parsed = Cli::try_parse_from(["hyphae-server", "acp-stdio"]).unwrap();
        let Command::AcpStdio(parsed) = parsed.command else {
            panic!("{parsed:?}");
        };
        assert_eq!(parsed, AcpStdio::default());
    }
}
