//! One turn as a state machine: what happened goes in, what is to be done comes out.
//!
//! It does no IO and knows no clock: whoever drives it carries the effects out and reports
//! back. What it guarantees, whatever the order of its inputs: exactly one answer, nothing
//! behind it, every tool card closed and everything recorded before it.

use std::mem;

use crate::{
    agent::{AgentEvent, StopReason, ToolCard, ToolStatus},
    ids::TurnId,
    session::{TranscriptEntry, TranscriptEvent},
};

/// Something that happened to a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnInput {
    /// The turn should end: the client asked, a newer prompt came, or the connection ends.
    Cancelled,
    /// The agent said something. Words of another turn are dropped.
    Said {
        /// The turn that it was said in.
        turn: TurnId,
        /// What.
        event: AgentEvent,
    },
    /// The agent is done, and everything that it said has been handed in.
    Returned {
        /// The turn that it was working on.
        turn: TurnId,
        /// How it ended.
        end: AgentEnd,
    },
    /// The agent was asked to stop and took too long.
    SettleExpired,
    /// A part of the transcript could not be kept.
    StoreFailed {
        /// One line for people.
        message: String,
    },
    /// The end of the transcript is kept.
    Committed,
}

/// How an agent's work on a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEnd {
    /// By its own decision.
    Stopped(StopReason),
    /// It could not carry the turn out.
    Failed {
        /// One line for people.
        message: String,
    },
}

/// Something that is to be done, in the order given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEffect {
    /// Ask the agent to stop and start the clock for it.
    StopAgent,
    /// Stop listening to the agent, whatever it still does.
    AbandonAgent,
    /// Record this and show it to the client.
    Show(AgentEvent),
    /// Keep everything recorded so far, with the stop reason if there is one.
    Commit(Option<StopReason>),
    /// Answer the prompt. Nothing comes after it.
    Answer(TurnOutcome),
}

/// What a prompt is answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnOutcome {
    /// A result.
    Stopped(StopReason),
    /// An error.
    Failed {
        /// One line for people.
        message: String,
    },
}

/// A prompt and all that answers it.
#[derive(Debug)]
pub struct Turn {
    id: TurnId,
    phase: Phase,
    /// Tool cards that the client still sees spinning, in the order they were opened.
    open: Vec<ToolCard>,
}

#[derive(Debug)]
enum Phase {
    Running,
    /// The agent was asked to stop; `failure` says why, unless somebody simply cancelled.
    Stopping {
        failure: Option<String>,
    },
    Committing {
        outcome: TurnOutcome,
    },
    Over,
}

impl Turn {
    /// Begins a turn whose agent is running.
    pub const fn new(id: TurnId) -> Self {
        Self {
            id,
            phase: Phase::Running,
            open: Vec::new(),
        }
    }

    /// Tells whether the prompt has been answered.
    pub const fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    /// Advances the turn and returns what is to be done.
    pub fn step(&mut self, input: TurnInput) -> Vec<TurnEffect> {
        match (mem::replace(&mut self.phase, Phase::Over), input) {
            (phase, TurnInput::Said { turn, .. } | TurnInput::Returned { turn, .. })
                if turn != self.id =>
            {
                self.phase = phase;
                vec![]
            }

            (Phase::Running, TurnInput::Said { event, .. }) => {
                self.phase = Phase::Running;
                self.track(&event);
                vec![TurnEffect::Show(event)]
            }
            (Phase::Running, TurnInput::Cancelled) => {
                self.phase = Phase::Stopping { failure: None };
                vec![TurnEffect::StopAgent]
            }
            (Phase::Running, TurnInput::StoreFailed { message }) => {
                self.phase = Phase::Stopping {
                    failure: Some(message),
                };
                vec![TurnEffect::StopAgent]
            }
            (Phase::Running, TurnInput::Returned { end, .. }) => match end {
                AgentEnd::Stopped(reason) => self.finish(TurnOutcome::Stopped(reason)),
                AgentEnd::Failed { message } => self.finish(TurnOutcome::Failed { message }),
            },

            // After a cancel the agent's words are dropped, but it may still close its cards.
            (phase @ Phase::Stopping { .. }, TurnInput::Said { event, .. }) => {
                self.phase = phase;
                if self.closes_open_card(&event) {
                    self.track(&event);
                    vec![TurnEffect::Show(event)]
                } else {
                    vec![]
                }
            }
            // Whatever the agent makes of a cancel, even an error, the turn ends cancelled.
            (Phase::Stopping { failure }, TurnInput::Returned { .. }) => {
                self.finish(stopped_by(failure))
            }
            (Phase::Stopping { failure }, TurnInput::SettleExpired) => {
                let mut effects = vec![TurnEffect::AbandonAgent];
                effects.extend(self.finish(stopped_by(failure)));
                effects
            }
            (Phase::Stopping { failure }, TurnInput::StoreFailed { message }) => {
                self.phase = Phase::Stopping {
                    failure: failure.or(Some(message)),
                };
                vec![]
            }

            (Phase::Committing { outcome }, TurnInput::Committed) => {
                vec![TurnEffect::Answer(outcome)]
            }
            (Phase::Committing { .. }, TurnInput::StoreFailed { message }) => {
                vec![TurnEffect::Answer(TurnOutcome::Failed { message })]
            }

            // A second cancel, a late word, a clock that was not stopped in time: all normal.
            (
                phase @ (Phase::Running | Phase::Over),
                TurnInput::SettleExpired | TurnInput::Committed,
            )
            | (phase @ Phase::Stopping { .. }, TurnInput::Cancelled | TurnInput::Committed)
            | (
                phase @ Phase::Committing { .. },
                TurnInput::Cancelled
                | TurnInput::Said { .. }
                | TurnInput::Returned { .. }
                | TurnInput::SettleExpired,
            )
            | (
                phase @ Phase::Over,
                TurnInput::Cancelled
                | TurnInput::Said { .. }
                | TurnInput::Returned { .. }
                | TurnInput::StoreFailed { .. },
            ) => {
                self.phase = phase;
                vec![]
            }
        }
    }

    /// Closes what is open, then has everything kept; the answer waits for that.
    fn finish(&mut self, outcome: TurnOutcome) -> Vec<TurnEffect> {
        let ended = match &outcome {
            TurnOutcome::Stopped(reason) => Some(*reason),
            TurnOutcome::Failed { .. } => None,
        };
        let mut effects: Vec<_> = mem::take(&mut self.open)
            .into_iter()
            .map(|card| {
                TurnEffect::Show(AgentEvent::Tool(ToolCard {
                    status: ToolStatus::Failed,
                    ..card
                }))
            })
            .collect();
        effects.push(TurnEffect::Commit(ended));
        self.phase = Phase::Committing { outcome };
        effects
    }

    fn track(&mut self, event: &AgentEvent) {
        let AgentEvent::Tool(card) = event else {
            return;
        };
        let known = self.open.iter().position(|open| open.id == card.id);
        match (known, card.status.is_final()) {
            (Some(at), true) => {
                self.open.remove(at);
            }
            (Some(at), false) => self.open[at] = card.clone(),
            (None, true) => {}
            (None, false) => self.open.push(card.clone()),
        }
    }

    fn closes_open_card(&self, event: &AgentEvent) -> bool {
        match event {
            AgentEvent::Tool(card) => {
                card.status.is_final() && self.open.iter().any(|open| open.id == card.id)
            }
            AgentEvent::Message { .. } | AgentEvent::Thought { .. } => false,
        }
    }
}

fn stopped_by(failure: Option<String>) -> TurnOutcome {
    match failure {
        None => TurnOutcome::Stopped(StopReason::Cancelled),
        Some(message) => TurnOutcome::Failed { message },
    }
}

/// Collects a turn's transcript between two visits to the store. Pieces of one message that
/// follow each other become one entry.
#[derive(Debug)]
pub struct TranscriptBuffer {
    turn: TurnId,
    entries: Vec<TranscriptEntry>,
    bytes: usize,
}

impl TranscriptBuffer {
    /// From this many bytes on the buffer should be emptied into the store.
    pub const FLUSH_BYTES: usize = 64 * 1024;

    /// Starts with nothing recorded.
    pub const fn new(turn: TurnId) -> Self {
        Self {
            turn,
            entries: Vec::new(),
            bytes: 0,
        }
    }

    /// Records one thing.
    pub fn push(&mut self, event: TranscriptEvent) {
        /// What an entry weighs beside its texts.
        const ENTRY_BYTES: usize = 64;
        self.bytes += text_bytes(&event);
        let last = self.entries.last_mut().map(|entry| &mut entry.event);
        if let Some(event) = merged(last, event) {
            self.bytes += ENTRY_BYTES;
            self.entries.push(TranscriptEntry {
                turn: self.turn,
                event,
            });
        }
    }

    /// Tells whether it is time to empty the buffer.
    pub const fn is_full(&self) -> bool {
        self.bytes >= Self::FLUSH_BYTES
    }

    /// Returns what is recorded and not yet kept.
    pub fn entries(&self) -> &[TranscriptEntry] {
        &self.entries
    }

    /// Forgets what the store now keeps.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.bytes = 0;
    }
}

/// Appends `event` to `last` if they are pieces of one message, else gives it back.
fn merged(last: Option<&mut TranscriptEvent>, event: TranscriptEvent) -> Option<TranscriptEvent> {
    use AgentEvent::{Message, Thought};
    match (last, event) {
        (
            Some(TranscriptEvent::Agent(Message { message: old, text })),
            TranscriptEvent::Agent(Message {
                message: new,
                text: more,
            }),
        )
        | (
            Some(TranscriptEvent::Agent(Thought { message: old, text })),
            TranscriptEvent::Agent(Thought {
                message: new,
                text: more,
            }),
        ) if *old == new => {
            text.push_str(&more);
            None
        }
        (_, event) => Some(event),
    }
}

fn text_bytes(event: &TranscriptEvent) -> usize {
    use crate::agent::PromptBlock;
    match event {
        TranscriptEvent::Prompt { block, .. } => match block {
            PromptBlock::Text { text } => text.len(),
            PromptBlock::ResourceLink { name, uri } => name.len() + uri.len(),
            PromptBlock::Image { mime_type, data } | PromptBlock::Audio { mime_type, data } => {
                mime_type.len() + data.len()
            }
            PromptBlock::Resource { uri, contents } => uri.len() + contents.len(),
        },
        TranscriptEvent::Agent(
            AgentEvent::Message { text, .. } | AgentEvent::Thought { text, .. },
        ) => text.len(),
        TranscriptEvent::Agent(AgentEvent::Tool(card)) => {
            card.id.len() + card.title.len() + card.text.as_ref().map_or(0, String::len)
        }
        TranscriptEvent::Relayed { update } => update.len(),
        TranscriptEvent::AgentSession { name } => name.len(),
        TranscriptEvent::Ended(_) => 0,
    }
}

#[cfg(test)]
#[path = "turn_tests.rs"]
mod tests;
