//! Whose file it is, told by its name and its beginning.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

use crate::{foreign::Program, lines::without_mark, place::object};

/// How many bytes of a file are enough to tell; more does not hurt.
pub const HEAD_BYTES: usize = 1 << 20;

/// A format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Our own, see [`record`](crate::record).
    Hyphae,
    /// Another program's, see [`foreign`](crate::foreign).
    Foreign(Program),
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 6] = [
        Self::Hyphae,
        Self::Foreign(Program::ServerMemory),
        Self::Foreign(Program::Mem0),
        Self::Foreign(Program::BasicMemory),
        Self::Foreign(Program::ClaudeCode),
        Self::Foreign(Program::Codex),
    ];

    /// Returns the name as it is written everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hyphae => "hyphae",
            Self::Foreign(program) => program.name(),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A file of no format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "this is no file that can be read; known are {known}: name one with --format if it is",
    known = known()
)]
pub struct UnknownFormat;

fn known() -> String {
    hyphae_core::text::join_names(Format::ALL.map(Format::name)).replace(" or ", " and ")
}

/// Tells whose file it is.
///
/// `name` is the file's, `head` its first bytes, [`HEAD_BYTES`] or all. Of a folder, ask for its
/// files one after the other: the first that is known tells for all.
///
/// # Errors
/// [`UnknownFormat`] lists what is known.
pub fn sniff(name: &str, head: &[u8]) -> Result<Format, UnknownFormat> {
    let head = without_mark(head);
    let lines = head.split(|byte| *byte == b'\n');
    let lines = lines.filter_map(|line| std::str::from_utf8(line.trim_ascii()).ok());
    let by_line = lines
        .filter_map(|line| object(line).ok())
        .find_map(|line| of_line(&line));
    by_line
        .or_else(|| is_mem0(head).then_some(Format::Foreign(Program::Mem0)))
        .or_else(|| {
            let extension = name.rsplit('.').next().unwrap_or_default();
            let note = extension.eq_ignore_ascii_case("md");
            note.then_some(Format::Foreign(Program::BasicMemory))
        })
        .ok_or(UnknownFormat)
}

/// What tells the lines of programs apart.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    hyphae: Option<Value>,
    r#type: Option<Value>,
    payload: Option<Value>,
    entity_type: Option<Value>,
    relation_type: Option<Value>,
    session_id: Option<Value>,
    leaf_uuid: Option<Value>,
    uuid: Option<Value>,
    snapshot: Option<Value>,
    role: Option<Value>,
    instructions: Option<Value>,
    timestamp: Option<Value>,
}

fn of_line(line: &Line) -> Option<Format> {
    let kind = line.r#type.as_ref().and_then(Value::as_str);
    if line.hyphae.is_some() {
        return Some(Format::Hyphae);
    }
    let program = match kind {
        Some("entity") if line.entity_type.is_some() => Program::ServerMemory,
        Some("relation") if line.relation_type.is_some() => Program::ServerMemory,
        Some("session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted")
            if line.payload.is_some() =>
        {
            Program::Codex
        }
        Some("message") if line.role.is_some() => Program::Codex,
        None if line.instructions.is_some() && line.timestamp.is_some() => Program::Codex,
        Some("summary") if line.leaf_uuid.is_some() => Program::ClaudeCode,
        Some("file-history-snapshot") if line.snapshot.is_some() => Program::ClaudeCode,
        Some(_) if line.session_id.is_some() => Program::ClaudeCode,
        Some("user" | "assistant") if line.uuid.is_some() => Program::ClaudeCode,
        Some(_) | None => return None,
    };
    Some(Format::Foreign(program))
}

/// Tells whether a text that may be cut off is a list of memories, or an object with one.
fn is_mem0(head: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(&head[..valid(head)]) else {
        return false;
    };
    let dense: String = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .take(4096)
        .collect();
    let in_list = |dense: &str| {
        let first = dense
            .strip_prefix('[')
            .and_then(|rest| rest.strip_prefix('{'));
        first.is_some_and(|first| first.contains("\"memory\":\""))
    };
    let lists = ["\"results\":", "\"memories\":"].into_iter();
    let mut lists = lists.filter_map(|name| dense.split_once(name));
    in_list(&dense)
        || (dense.starts_with('{')
            && lists.any(|(_, list)| in_list(list) || list.starts_with("[]")))
}

/// Returns how many bytes are whole characters, if the last one is cut off.
fn valid(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.len(),
        Err(error) => error.valid_up_to(),
    }
}
