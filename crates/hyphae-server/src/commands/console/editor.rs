//! The line editor of the interactive console: history between runs, completion of verbs, flags
//! and types.

use std::{
    fs,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use hyphae_core::{console, mask::mask};
use rustyline::{
    Config, Context, Editor, Helper,
    completion::{Completer, Pair},
    error::ReadlineError,
    highlight::Highlighter,
    hint::Hinter,
    history::FileHistory,
    validate::Validator,
};

use crate::files;

/// What a person did at the prompt.
#[derive(Debug)]
pub(super) enum Line {
    Typed(String),
    Interrupted,
    End,
}

pub(super) struct LineEditor {
    editor: Editor<Language, FileHistory>,
    history: PathBuf,
}

impl LineEditor {
    /// Opens an editor whose history lies in `folder`, readable by its owner only.
    pub(super) fn open(folder: &Path) -> anyhow::Result<Self> {
        files::make_private_folder(folder)?;
        let history = folder.join("console-history");
        fs::OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&history)
            .with_context(|| format!("the history {} cannot be written", history.display()))?;
        let config = Config::builder().auto_add_history(false).build();
        let mut editor = Editor::with_config(config)?;
        editor.set_helper(Some(Language));
        // A history that cannot be read is as good as an empty one.
        if let Err(error) = editor.load_history(&history) {
            tracing::info!(%error, "the console's history was not read");
        }
        Ok(Self { editor, history })
    }

    /// Waits for a line.
    pub(super) fn read(&mut self) -> anyhow::Result<Line> {
        match self.editor.readline("hyphae> ") {
            Ok(line) => {
                // What is typed may hold a secret, and a history is a file like any other.
                self.editor.add_history_entry(mask(&line).text)?;
                if let Err(error) = self.editor.append_history(&self.history) {
                    tracing::info!(%error, "the console's history was not written");
                }
                Ok(Line::Typed(line))
            }
            Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
            Err(ReadlineError::Eof) => Ok(Line::End),
            Err(error) => Err(error.into()),
        }
    }
}

/// The console's language, as the editor knows it.
struct Language;

impl Helper for Language {}
impl Hinter for Language {
    type Hint = String;
}
impl Highlighter for Language {}
impl Validator for Language {}

impl Completer for Language {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = line.get(..position).unwrap_or(line);
        let (start, offers) = console::completions(before);
        let pair = |word: String| Pair {
            replacement: format!("{word} "),
            display: word,
        };
        Ok((start, offers.into_iter().map(pair).collect()))
    }
}
