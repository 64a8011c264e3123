//! Editors' entries for the memory console: printed, or written into their settings.
//!
//! Writing shows the difference, keeps a backup beside the file, keeps everything else in the
//! file as it is (comments included), and changes nothing the second time.

mod json;
mod neovim;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use similar::TextDiff;

use crate::{
    args::Editor,
    config::Config,
    files,
    output::{Colour, Printer},
};

/// How the memory console is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Launch {
    /// The program, as an absolute path: editors do not have the shell's search path.
    pub(crate) program: String,
    /// Variables that the editor sets for it.
    pub(crate) env: Vec<(String, String)>,
}

impl Launch {
    /// Returns how this very program is started, with the database it uses now if that is not
    /// the default one. The key stays in its file and out of editors' settings.
    pub(crate) fn of_this_program(config: &Config) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("where this program is")?;
        let program = program
            .into_os_string()
            .into_string()
            .ok()
            .context("this program's path is not UTF-8 text; install it elsewhere")?;
        let absolute = |url: &String| -> anyhow::Result<String> {
            let path = std::path::absolute(config.database.path())?;
            path.to_str()
                .map_or_else(|| Ok(url.clone()), |path| Ok(format!("sqlite:{path}")))
        };
        let database = config.database_url.as_ref().map(absolute).transpose()?;
        Ok(Self {
            program,
            env: database
                .map(|url| ("DATABASE_URL".to_owned(), url))
                .into_iter()
                .collect(),
        })
    }
}

/// Where an editor keeps its entry.
fn file_of(editor: Editor, config: &Config) -> PathBuf {
    match editor {
        Editor::Zed => config.xdg_config.join("zed/settings.json"),
        Editor::Jetbrains => config.home.join(".jetbrains/acp.json"),
        Editor::Acpx => config.home.join(".acpx/config.json"),
        Editor::Neovim => config.xdg_config.join("nvim/lua/hyphae.lua"),
    }
}

/// Returns a settings file with the entry in it, given what it holds now.
fn with_entry(editor: Editor, present: &str, launch: &Launch) -> anyhow::Result<String> {
    match editor {
        Editor::Zed => json::zed(present, launch),
        Editor::Jetbrains => json::jetbrains(present, launch),
        Editor::Acpx => json::acpx(present, launch),
        Editor::Neovim => Ok(neovim::module(launch)),
    }
}

/// Prints the entry and where it belongs.
pub(crate) fn print(editor: Editor, config: &Config, out: &mut Printer) -> anyhow::Result<()> {
    let launch = Launch::of_this_program(config)?;
    let entry = with_entry(editor, "", &launch)?;
    let file = file_of(editor, config);
    out.coloured(Colour::Dim, &format!("# {}", file.display()))?;
    out.line(entry.trim_end())?;
    if editor == Editor::Neovim {
        out.coloured(Colour::Dim, neovim::USE)?;
    }
    Ok(())
}

/// What writing came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Written {
    /// The entry was there already.
    Unchanged,
    /// The file was made or changed; its former text, if any, is in the backup.
    Changed {
        /// Where the former text is.
        backup: Option<PathBuf>,
    },
}

/// Writes the entry into the editor's settings.
pub(crate) fn write(editor: Editor, config: &Config, out: &mut Printer) -> anyhow::Result<()> {
    let launch = Launch::of_this_program(config)?;
    let file = file_of(editor, config);
    let (before, after) = change(editor, &file, &launch)?;
    match apply(&file, &before, &after)? {
        Written::Unchanged => out.line(format!("{} is up to date", file.display()))?,
        Written::Changed { backup } => {
            show_difference(&before, &after, &file, out)?;
            out.line(format!("wrote {}", file.display()))?;
            if let Some(backup) = backup {
                out.line(format!("kept the former text in {}", backup.display()))?;
            }
        }
    }
    if editor == Editor::Neovim {
        out.coloured(Colour::Dim, neovim::USE)?;
    }
    Ok(())
}

fn change(editor: Editor, file: &Path, launch: &Launch) -> anyhow::Result<(String, String)> {
    let before = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => bail!(
            "{} cannot be read: {error}; nothing was changed",
            file.display()
        ),
    };
    let after = with_entry(editor, &before, launch)
        .with_context(|| format!("{} was left as it is", file.display()))?;
    Ok((before, after))
}

fn apply(file: &Path, before: &str, after: &str) -> anyhow::Result<Written> {
    if before == after {
        return Ok(Written::Unchanged);
    }
    // An editor's settings are often a link into a folder of dotfiles; the file is changed.
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let folder = file.parent().context("a settings file has a folder")?;
    fs::create_dir_all(folder)
        .with_context(|| format!("the folder {} cannot be made", folder.display()))?;
    let backup = if before.is_empty() {
        None
    } else {
        Some(keep_backup(&file, before)?)
    };
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    let permissions = fs::metadata(&file).map_or(open, |present| present.permissions());
    files::replace(&file, after, permissions)
        .with_context(|| format!("{} cannot be written", file.display()))?;
    Ok(Written::Changed { backup })
}

/// Keeps a text under a name that no earlier backup has.
fn keep_backup(file: &Path, text: &str) -> anyhow::Result<PathBuf> {
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
            .open(&backup)
        {
            Ok(mut new) => {
                io::Write::write_all(&mut new, text.as_bytes()).with_context(|| {
                    format!("the backup {} cannot be written", backup.display())
                })?;
                return Ok(backup);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => bail!("the backup {} cannot be made: {error}", backup.display()),
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
    use pretty_assertions::assert_eq;

    use super::*;

    fn launch() -> Launch {
        Launch {
            program: "/opt/hyphae-server".to_owned(),
            env: Vec::new(),
        }
    }

    fn write_twice(editor: Editor, before: &str) -> (String, PathBuf, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.json");
        fs::write(&file, before).unwrap();
        let (old, new) = change(editor, &file, &launch()).unwrap();
        let Written::Changed {
            backup: Some(backup),
        } = apply(&file, &old, &new).unwrap()
        else {
            panic!("the first run changes the file");
        };
        assert_eq!(fs::read_to_string(&backup).unwrap(), before);
        let (old, new) = change(editor, &file, &launch()).unwrap();
        assert_eq!(apply(&file, &old, &new).unwrap(), Written::Unchanged);
        (fs::read_to_string(&file).unwrap(), file, folder)
    }

    #[test]
    fn zeds_settings_keep_their_comments_and_other_entries() {
        let before = "// mine\n{\n  \"theme\": \"One\", // dark\n  \"agent_servers\": {\n    \"Other\": { \"command\": \"x\" }\n  }\n}\n";
        let (after, ..) = write_twice(Editor::Zed, before);
        assert_eq!(
            after,
            "// mine\n{\n  \"theme\": \"One\", // dark\n  \"agent_servers\": {\n    \"Other\": { \"command\": \"x\" },\n    \"Hyphae\": {\n      \"type\": \"custom\",\n      \"command\": \"/opt/hyphae-server\",\n      \"args\": [\"acp-stdio\"],\n      \"env\": {}\n    }\n  }\n}\n"
        );
    }

    #[test]
    fn an_entry_of_another_version_is_brought_up_to_date() {
        let before = "{\"agents\":{\"hyphae\":{\"command\":\"/old/hyphae-server acp-stdio\"}}}";
        let (after, ..) = write_twice(Editor::Acpx, before);
        assert!(after.contains("\"argv\""), "{after}");
        assert!(!after.contains("/old/"), "{after}");
    }

    #[test]
    fn a_second_change_gets_a_backup_of_its_own() {
        let (_, file, _folder) = write_twice(Editor::Jetbrains, "{}");
        let elsewhere = Launch {
            program: "/usr/bin/hyphae-server".to_owned(),
            env: Vec::new(),
        };
        let (old, new) = change(Editor::Jetbrains, &file, &elsewhere).unwrap();
        let Written::Changed {
            backup: Some(backup),
        } = apply(&file, &old, &new).unwrap()
        else {
            panic!("another program is a change");
        };
        assert!(
            backup
                .to_string_lossy()
                .ends_with("settings.json.before-hyphae.1")
        );
    }

    #[test]
    fn settings_that_are_not_understood_are_left_alone() {
        for before in [
            "{ \"agent_servers\": ",
            "[]",
            "{ \"agent_servers\": 3 }",
            "no json",
        ] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("settings.json");
            fs::write(&file, before).unwrap();
            let error = change(Editor::Zed, &file, &launch()).unwrap_err();
            assert!(error.to_string().contains("left as it is"), "{error:#}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_made_with_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/b/acp.json");
        let (old, new) = change(Editor::Jetbrains, &file, &launch()).unwrap();
        assert_eq!(
            apply(&file, &old, &new).unwrap(),
            Written::Changed { backup: None }
        );
        let value: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(value["agent_servers"]["Hyphae"]["args"][0], "acp-stdio");
    }

    #[test]
    fn a_database_elsewhere_is_told_to_the_editor() {
        let launch = Launch {
            env: vec![("DATABASE_URL".to_owned(), "sqlite:/data/m.db".to_owned())],
            ..launch()
        };
        let text = with_entry(Editor::Zed, "", &launch).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            value["agent_servers"]["Hyphae"]["env"]["DATABASE_URL"],
            "sqlite:/data/m.db"
        );
        let lua = with_entry(Editor::Neovim, "", &launch).unwrap();
        assert!(
            lua.contains("DATABASE_URL = \"sqlite:/data/m.db\""),
            "{lua}"
        );
    }
}
