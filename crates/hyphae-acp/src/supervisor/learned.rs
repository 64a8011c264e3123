//! What agents said of themselves, kept so that the next start need not wait for one.

use std::{
    fs::{self, File},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::{self, Read as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
};

use serde::{Deserialize, Serialize};

/// No agent says more of itself than this many bytes.
const LIMIT: u64 = 1 << 20;

/// One question and its answer, in a file of its own. Two that hash alike take turns.
#[derive(Debug)]
pub(super) struct Learned {
    file: PathBuf,
    question: Question,
}

/// Everything that an answer may depend on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Question {
    /// The agent's command, a word each.
    pub(super) command: Vec<String>,
    /// The editor's `initialize`, as the child gets it.
    pub(super) params: String,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    question: Question,
    answer: String,
}

impl Learned {
    pub(super) fn new(folder: &std::path::Path, question: Question) -> Self {
        let mut hasher = DefaultHasher::new();
        question.hash(&mut hasher);
        let name = format!("agent-{:016x}.json", hasher.finish());
        Self {
            file: folder.join(name),
            question,
        }
    }

    /// Returns what was answered the last time.
    pub(super) fn answer(&self) -> Option<String> {
        let mut text = String::new();
        let file = File::open(&self.file).ok()?;
        file.take(LIMIT).read_to_string(&mut text).ok()?;
        let kept: Kept = serde_json::from_str(&text).ok()?;
        (kept.question == self.question).then_some(kept.answer)
    }

    /// Keeps an answer; whoever reads meanwhile sees the old or the new one.
    pub(super) fn keep(&self, answer: &str) -> io::Result<()> {
        let kept = Kept {
            question: self.question.clone(),
            answer: answer.to_owned(),
        };
        let text = serde_json::to_string(&kept)?;
        let new = self
            .file
            .with_extension(format!("{}.new", std::process::id()));
        let mut file = File::options()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(text.as_bytes())?;
        fs::rename(new, &self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_kept_for_its_question_only() {
        let folder = tempfile::tempdir().unwrap();
        let of = |params: &str| {
            let question = Question {
                command: vec!["agent".to_owned()],
                params: params.to_owned(),
            };
            Learned::new(folder.path(), question)
        };
        assert_eq!(of("{}").answer(), None);
        of("{}").keep("one").unwrap();
        of("{}").keep("two").unwrap();
        assert_eq!(of("{}").answer().as_deref(), Some("two"));
        assert_eq!(of(r#"{"a":1}"#).answer(), None);
        let other = of(r#"{"a":1}"#).file;
        fs::copy(of("{}").file, other).unwrap();
        assert_eq!(of(r#"{"a":1}"#).answer(), None, "of another question");
        fs::write(of("{}").file, "{").unwrap();
        assert_eq!(of("{}").answer(), None, "torn");
    }
}
