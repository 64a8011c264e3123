//! Codex: `~/.codex/sessions/**/rollout-*.jsonl`, an event a line, each with a `type` and a
//! `payload`; of the first versions the payload is the line itself.
//!
//! Memories are what the person and the agent said to each other, and summaries of what was
//! compacted. A message stands in a rollout up to twice, as an item of the model and as an event
//! for people; it is taken once.

use std::collections::HashSet;

use hyphae_core::cell::{CellType, Fingerprint};
use serde::Deserialize;

use super::{
    LineReader,
    draft::{Draft, Drafts},
    time::Moment,
};
use crate::place::object;

/// Reads a rollout.
#[derive(Debug, Default)]
pub(super) struct Rollout {
    session: Option<String>,
    directory: Option<String>,
    taken: HashSet<[u8; 32]>,
}

#[derive(Deserialize)]
struct Probe {
    r#type: Option<String>,
    timestamp: Option<Moment>,
    id: Option<String>,
}

#[derive(Deserialize)]
struct Line<T> {
    payload: T,
}

#[derive(Deserialize)]
struct Meta {
    id: Option<String>,
    cwd: Option<String>,
}

#[derive(Deserialize)]
struct Payload {
    r#type: Option<String>,
    role: Option<String>,
    #[serde(default)]
    content: Vec<Block>,
    message: Option<String>,
}

#[derive(Deserialize)]
struct Block {
    r#type: String,
    text: Option<String>,
}

/// All that is read of a payload before its type is known.
#[derive(Deserialize)]
struct PayloadProbe {
    r#type: Option<String>,
    role: Option<String>,
}

/// What messages begin with that the program writes in the person's name.
const NOT_SAID: [&str; 9] = [
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
    "<permissions instructions>",
    "<turn_aborted>",
    "<skill>",
    "<subagent_notification>",
    "<user_shell_command>",
];

impl LineReader for Rollout {
    fn line(&mut self, text: &str, drafts: &mut Drafts) -> Result<(), String> {
        let probe: Probe = object(text)?;
        match probe.r#type.as_deref() {
            Some("session_meta" | "turn_context") => {
                let meta: Line<Meta> = object(text)?;
                self.session = self.session.take().or(meta.payload.id);
                self.directory = meta.payload.cwd.or(self.directory.take());
            }
            Some("response_item" | "event_msg" | "compacted") => {
                let line: Line<PayloadProbe> = object(text)?;
                if is_message(probe.r#type.as_deref(), &line.payload) {
                    let line: Line<Payload> = object(text)?;
                    self.said(
                        probe.r#type.as_deref(),
                        &line.payload,
                        probe.timestamp,
                        drafts,
                    );
                }
            }
            // The first versions wrote a payload without an envelope, and its session without a
            // type.
            Some("message") => {
                let payload = object(text)?;
                self.said(Some("response_item"), &payload, probe.timestamp, drafts);
            }
            None => self.session = self.session.take().or(probe.id),
            Some(_) => {}
        }
        Ok(())
    }
}

/// Tells whether something was said. Other payloads may have fields of the same names and of
/// other types.
fn is_message(envelope: Option<&str>, payload: &PayloadProbe) -> bool {
    match (envelope, payload.r#type.as_deref()) {
        (Some("response_item"), None) => payload.role.is_some(),
        (Some("response_item"), kind) => kind == Some("message"),
        (Some("event_msg"), kind) => matches!(kind, Some("user_message" | "agent_message")),
        (envelope, _) => envelope == Some("compacted"),
    }
}

impl Rollout {
    fn said(
        &mut self,
        envelope: Option<&str>,
        payload: &Payload,
        at: Option<Moment>,
        drafts: &mut Drafts,
    ) {
        let role = match (envelope, payload.r#type.as_deref(), payload.role.as_deref()) {
            (Some("compacted"), ..) => "summary",
            (_, Some("user_message"), _) | (_, _, Some("user")) => "user",
            (_, Some("agent_message"), _) | (_, _, Some("assistant")) => "assistant",
            // What developers and the system say is the same in every session.
            _ => return,
        };
        let blocks = payload.content.iter();
        let blocks = blocks.filter(|block| matches!(&*block.r#type, "input_text" | "output_text"));
        let texts = blocks.filter_map(|block| block.text.as_deref());
        let texts: Vec<&str> = payload
            .message
            .as_deref()
            .into_iter()
            .chain(texts)
            .collect();
        let text = texts.join("\n\n").trim().to_owned();
        let not_said = NOT_SAID.iter().any(|head| text.starts_with(head));
        if not_said || text.is_empty() || !self.taken.insert(Fingerprint::of(&text).0) {
            return;
        }
        drafts.add(&Draft {
            text,
            cell_type: CellType::Context,
            id: self.session.as_deref().unwrap_or_default(),
            tags: vec!["codex", role],
            said_at: at.map(|moment| moment.0),
            session: self.session.as_deref().and_then(|id| id.parse().ok()),
            directory: self.directory.as_deref(),
            ..Draft::default()
        });
    }
}
