//! What is kept of a conversation: the child's own words, few enough to be read again quickly.

use std::borrow::Cow;

use hyphae_core::{
    agent::{PromptBlock, StopReason},
    ids::{MessageId, TurnId},
    mask::mask,
    session::{TranscriptEntry, TranscriptEvent, title_of},
};
use serde::{Deserialize, Serialize};

use super::messages::quoted;
use crate::wire::member;

/// Pieces of one message are joined up to this length, in bytes.
const JOINED_BYTES: usize = 64 * 1024;

/// So much is kept at once, in bytes.
const FULL_BYTES: usize = 64 * 1024;

/// Or so many entries.
const FULL_ENTRIES: usize = 256;

/// Updates that tell how things stand, not what happened; a child tells them anew.
const NOT_HISTORY: [&str; 6] = [
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
    "notice",
];

/// Tells whether an update is a part of the conversation.
pub(super) fn is_history(update: &str) -> bool {
    let kind = member(update, "sessionUpdate");
    let kind = kind.and_then(|json| serde_json::from_str::<Cow<'_, str>>(json).ok());
    kind.is_some_and(|kind| !NOT_HISTORY.contains(&&*kind))
}

/// Collects what is to be kept until it is.
#[derive(Debug)]
pub(super) struct Recorder {
    turn: TurnId,
    entries: Vec<TranscriptEntry>,
    bytes: usize,
    /// The message that may go on.
    open: Option<Piece>,
    title: Option<String>,
    /// Where the prompt begins that the child has said nothing to.
    unheard: Option<Unheard>,
}

/// A prompt that may yet be refused.
#[derive(Debug)]
struct Unheard {
    entries: usize,
    bytes: usize,
    title: Option<String>,
}

/// A piece of a message and nothing else.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Piece {
    session_update: PieceOf,
    content: PieceContent,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum PieceOf {
    #[serde(rename = "user_message_chunk")]
    Prompt,
    #[serde(rename = "agent_message_chunk")]
    Message,
    #[serde(rename = "agent_thought_chunk")]
    Thought,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, tag = "type", rename_all = "snake_case")]
enum PieceContent {
    Text { text: String },
}

impl Recorder {
    /// `turn` is for what the child says before it is asked anything.
    pub(super) const fn new(turn: TurnId) -> Self {
        Self {
            turn,
            entries: Vec::new(),
            bytes: 0,
            open: None,
            title: None,
            unheard: None,
        }
    }

    /// A new turn begins with this prompt, an array of blocks. Its texts are kept masked.
    pub(super) fn prompt(&mut self, turn: TurnId, message: MessageId, prompt: &str) {
        self.finish_piece();
        self.turn = turn;
        self.unheard = Some(Unheard {
            entries: self.entries.len(),
            bytes: self.bytes,
            title: self.title.clone(),
        });
        let Ok(blocks) = serde_json::from_str::<Vec<&serde_json::value::RawValue>>(prompt) else {
            return;
        };
        for block in blocks {
            let block = block.get();
            let text = match member(block, "type") {
                Some(r#""text""#) => text_of(block),
                _ => None,
            };
            let block = match &text {
                Some(text) => {
                    if self.title.is_none() {
                        self.title = title_of(&[PromptBlock::Text { text: text.clone() }]);
                    }
                    serde_json::json!({ "type": "text", "text": text }).to_string()
                }
                None => block.to_owned(),
            };
            self.push(format!(
                r#"{{"sessionUpdate":"user_message_chunk","content":{block},"messageId":{}}}"#,
                quoted(&message.to_string())
            ));
        }
    }

    /// The child does not take the last prompt. If nothing was said to it and it is not kept yet,
    /// it never was.
    pub(super) fn refused(&mut self) {
        if let Some(unheard) = self.unheard.take() {
            self.entries.truncate(unheard.entries);
            self.bytes = unheard.bytes;
            self.title = unheard.title;
        }
    }

    /// The child showed something.
    pub(super) fn update(&mut self, update: &str) {
        if is_history(update) {
            self.unheard = None;
        }
        if let Ok(piece) = serde_json::from_str::<Piece>(update) {
            if !self.goes_on_with(&piece) {
                self.finish_piece();
                self.open = Some(piece);
            }
            return;
        }
        self.finish_piece();
        if is_history(update) {
            self.push(update.to_owned());
        }
    }

    /// The child calls the session by this name.
    pub(super) fn agent_session(&mut self, name: &str) {
        self.finish_piece();
        self.keep(TranscriptEvent::AgentSession {
            name: name.to_owned(),
        });
    }

    /// The turn has ended.
    pub(super) fn ended(&mut self, result: &str) {
        self.unheard = None;
        self.finish_piece();
        let reason = member(result, "stopReason");
        if let Some(reason) = reason.and_then(|json| serde_json::from_str::<StopReason>(json).ok())
        {
            self.keep(TranscriptEvent::Ended(reason));
        }
    }

    /// Appends a piece to the open message if it is one of its own.
    fn goes_on_with(&mut self, piece: &Piece) -> bool {
        let Some(open) = &mut self.open else {
            return false;
        };
        let PieceContent::Text { text: more } = &piece.content;
        let PieceContent::Text { text } = &mut open.content;
        let same = open.session_update == piece.session_update
            && open.message_id == piece.message_id
            && text.len() + more.len() <= JOINED_BYTES;
        if same {
            text.push_str(more);
        }
        same
    }

    fn finish_piece(&mut self) {
        if let Some(piece) = self.open.take()
            && let Ok(update) = serde_json::to_string(&piece)
        {
            self.push(update);
        }
    }

    fn push(&mut self, update: String) {
        self.bytes += update.len();
        self.keep(TranscriptEvent::Relayed { update });
    }

    fn keep(&mut self, event: TranscriptEvent) {
        let turn = self.turn;
        self.entries.push(TranscriptEntry { turn, event });
    }

    /// Tells whether something waits to be kept.
    pub(super) const fn waits(&self) -> bool {
        self.open.is_some() || !self.entries.is_empty()
    }

    /// Tells whether it is time to keep what there is.
    pub(super) const fn is_full(&self) -> bool {
        self.bytes >= FULL_BYTES || self.entries.len() >= FULL_ENTRIES
    }

    /// Everything that is not kept yet, and the conversation's title if it got one.
    pub(super) fn waiting(&mut self) -> (&[TranscriptEntry], Option<&str>) {
        self.finish_piece();
        (&self.entries, self.title.as_deref())
    }

    /// All of that is kept, or cannot be.
    pub(super) fn clear(&mut self) {
        self.unheard = None;
        self.entries.clear();
        self.bytes = 0;
    }
}

fn text_of(block: &str) -> Option<String> {
    let text: String = serde_json::from_str(member(block, "text")?).ok()?;
    Some(mask(&text).text)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use uuid::Uuid;

    use super::*;

    fn recorder() -> Recorder {
        Recorder::new(TurnId::new(Uuid::from_u128(1)))
    }

    fn kept(recorder: &mut Recorder) -> Vec<String> {
        let (entries, _) = recorder.waiting();
        entries
            .iter()
            .map(|entry| {
                let TranscriptEvent::Relayed { update } = &entry.event else {
                    panic!("{entry:?}");
                };
                update.clone()
            })
            .collect()
    }

    fn chunk(text: &str) -> String {
        format!(
            r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}"#
        )
    }

    #[test]
    fn pieces_of_one_message_are_one_and_all_else_keeps_its_bytes() {
        let odd = r#"{ "toolCallId":"x", "sessionUpdate" :"tool_call","_n":1e400 }"#;
        let noted = r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"z","_meta":{}}}"#;
        let mut recorder = recorder();
        for update in [
            &chunk("a"),
            &chunk("b"),
            odd,
            &chunk("c"),
            noted,
            &chunk("d"),
        ] {
            recorder.update(update);
        }
        assert_eq!(
            kept(&mut recorder),
            [&chunk("ab"), odd, &chunk("c"), noted, &chunk("d")]
        );
    }

    #[test]
    fn a_prompt_that_is_refused_at_once_never_was() {
        let mut recorder = recorder();
        let id = Uuid::from_u128(7);
        let prompt = |recorder: &mut Recorder, text: &str| {
            let prompt = format!(r#"[{{"type":"text","text":"{text}"}}]"#);
            recorder.prompt(TurnId::new(id), MessageId::new(id), &prompt);
        };
        recorder.update(&chunk("a"));
        prompt(&mut recorder, "refused");
        recorder.refused();
        assert_eq!(recorder.waiting().1, None);
        prompt(&mut recorder, "heard");
        recorder.update(&chunk("b"));
        recorder.refused();
        assert_eq!(kept(&mut recorder).len(), 3);
        assert_eq!(recorder.waiting().1, Some("heard"));
        recorder.clear();
        prompt(&mut recorder, "kept");
        recorder.clear();
        recorder.refused();
        assert_eq!(kept(&mut recorder).len(), 0);
    }

    #[test]
    fn how_things_stand_is_no_history() {
        let mut recorder = recorder();
        for kind in NOT_HISTORY {
            recorder.update(&format!(r#"{{"sessionUpdate":"{kind}"}}"#));
        }
        recorder.update("7");
        recorder.update(r#"{"sessionUpdate":"of_the_future","x":[1]}"#);
        assert_eq!(
            kept(&mut recorder),
            [r#"{"sessionUpdate":"of_the_future","x":[1]}"#]
        );
    }

    #[test]
    fn a_prompt_is_kept_without_its_secrets_and_gives_the_title() {
        let key = format!("hyk_{}", "0123456789abcdef".repeat(4));
        let prompt = format!(
            r#"[{{"type":"text","text":"use {key} please"}},{{"type":"resource_link","name":"n","uri":"file:///n"}}]"#
        );
        let mut recorder = recorder();
        let id = Uuid::from_u128(7);
        recorder.prompt(TurnId::new(id), MessageId::new(id), &prompt);
        let updates = kept(&mut recorder);
        assert_eq!(updates.len(), 2);
        assert!(!updates.concat().contains(&key), "{updates:?}");
        assert!(
            updates[1]
                .contains(r#""content":{"type":"resource_link","name":"n","uri":"file:///n"}"#)
        );
        let (_, title) = recorder.waiting();
        assert!(title.unwrap().starts_with("use [masked"), "{title:?}");
    }
}
