//! A conversation and its transcript, as they are kept.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

use crate::{
    agent::{AgentEvent, PromptBlock, StopReason},
    ids::{MessageId, SessionId, TurnId},
    scope::Project,
};

/// A conversation of one credential about one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Where it works, as the client named it.
    pub cwd: PathBuf,
    /// What its memories are filed under.
    pub project: Project,
    /// The first prompt, shortened; none before it.
    pub title: Option<String>,
    /// When it began.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// Length limit of a title, in user-perceived characters.
pub const TITLE_GRAPHEMES: usize = 80;

/// Returns a title for a conversation that begins with these blocks: the first line with
/// content, white space folded, at most [`TITLE_GRAPHEMES`] whole graphemes.
pub fn title_of(prompt: &[PromptBlock]) -> Option<String> {
    let line = prompt.iter().find_map(|block| match block {
        PromptBlock::Text { text } => text.lines().map(str::trim).find(|line| !line.is_empty()),
        PromptBlock::ResourceLink { name, .. } => Some(name.as_str()),
        PromptBlock::Image { .. } | PromptBlock::Audio { .. } | PromptBlock::Resource { .. } => {
            None
        }
    })?;
    let folded = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let visible: String = folded.chars().filter(|c| !c.is_control()).collect();
    let title: String = visible.graphemes(true).take(TITLE_GRAPHEMES).collect();
    (!title.is_empty()).then_some(title)
}

/// One thing that a reload must show, or must know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptEntry {
    /// The turn it belongs to.
    pub turn: TurnId,
    /// What happened.
    pub event: TranscriptEvent,
}

/// What happened in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TranscriptEvent {
    /// A block of a prompt.
    Prompt {
        /// The same for all blocks of one prompt.
        message: MessageId,
        /// The block.
        block: PromptBlock,
    },
    /// Something the agent said or did.
    Agent(AgentEvent),
    /// Something that another agent showed under supervision, or was asked.
    Relayed {
        /// The update as it went over the wire, JSON.
        update: String,
    },
    /// What another agent calls the session from here on. Not shown.
    AgentSession {
        /// Its name for it.
        name: String,
    },
    /// The turn's end. Not shown.
    Ended(StopReason),
}

/// How many rows one page of a list may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSize(u16);

impl PageSize {
    /// The largest page.
    pub const MAX: u16 = 200;

    /// Returns a page of `n` rows, or none if `n` is 0 or more than [`Self::MAX`].
    pub fn new(n: u16) -> Option<Self> {
        (1..=Self::MAX).contains(&n).then_some(Self(n))
    }

    /// Returns the number of rows.
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl Default for PageSize {
    /// Fifty rows.
    fn default() -> Self {
        Self(50)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<&str>) {
        let prompt = [PromptBlock::Text {
            text: text.to_owned(),
        }];
        assert_eq!(title_of(&prompt).as_deref(), want);
    }

    #[test]
    fn a_title_is_the_first_line_with_content() {
        check("\n  /store  we\tship \n more", Some("/store we ship"));
        check(" \n\t", None);
    }

    #[test]
    fn a_title_keeps_graphemes_whole() {
        let family = "👩‍👩‍👧‍👦";
        let title = title_of(&[PromptBlock::Text {
            text: family.repeat(81),
        }]);
        assert_eq!(title, Some(family.repeat(80)));
    }
}
