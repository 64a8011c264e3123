//! What stands behind a session: something that takes a prompt and answers in events.
//!
//! The memory console is the smallest agent. The session host gives every agent the same
//! guarantees: order, durability, cancellation, one stop reason a turn.

use std::{fmt, path::PathBuf};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    ids::{MessageId, SessionId, TurnId},
    scope::Scope,
};

/// Answers prompts. One value serves every session of a process, so it keeps what it knows of
/// a session under the session's id.
#[async_trait]
pub trait Agent: fmt::Debug + Send + Sync {
    /// Returns what the agent is called and what it takes.
    fn profile(&self) -> &AgentProfile;

    /// Judges a prompt before a turn exists for it. A refused prompt disturbs nothing: no turn
    /// is started, none is cancelled, nothing is recorded.
    fn check_prompt(&self, prompt: &[PromptBlock]) -> Result<(), PromptRefusal>;

    /// Returns a prompt as it is to be kept in a transcript. What an agent would not keep
    /// elsewhere, such as a secret that was pasted, does not belong there either.
    fn prompt_for_record(&self, prompt: &[PromptBlock]) -> Vec<PromptBlock> {
        prompt.to_vec()
    }

    /// Runs one turn and returns why it ended.
    ///
    /// Events go to `events` while the turn runs. When `request.cancel` fires the agent stops
    /// soon and returns [`StopReason::Cancelled`]; what it sends afterwards is dropped. An error
    /// becomes a message in the conversation or an error answer, never a dead connection.
    async fn run_turn(
        &self,
        request: TurnRequest,
        events: TurnEvents,
    ) -> Result<StopReason, AgentError>;

    /// Tells that a session was closed or deleted, so that what is kept for it can go.
    async fn session_closed(&self, _session: SessionId) {}
}

/// What an agent tells clients about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentProfile {
    /// Short machine name, for example `hyphae-console`.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// Version of the program.
    pub version: String,
    /// Kinds of content a prompt may hold beyond text and resource links.
    pub accepts: PromptKinds,
    /// Commands that a client may offer while a person types.
    pub commands: Vec<CommandInfo>,
}

/// Kinds of prompt content that an agent may or may not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PromptKinds {
    /// Pictures.
    pub image: bool,
    /// Sound.
    pub audio: bool,
    /// The contents of a file inside the prompt.
    pub embedded_resource: bool,
}

/// One command, as a client shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandInfo {
    /// The verb, without its slash.
    pub name: String,
    /// One line on what it does.
    pub description: String,
    /// What is typed behind the verb; none for a bare command.
    pub hint: Option<String>,
}

/// One part of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PromptBlock {
    /// Plain text.
    Text {
        /// As the person typed it.
        text: String,
    },
    /// A pointer to something that the client knows.
    ResourceLink {
        /// Name for people.
        name: String,
        /// Where it is.
        uri: String,
    },
    /// A picture, base64.
    Image {
        /// For example `image/png`.
        mime_type: String,
        /// The bytes in base64.
        data: String,
    },
    /// Sound, base64.
    Audio {
        /// For example `audio/wav`.
        mime_type: String,
        /// The bytes in base64.
        data: String,
    },
    /// The contents of a resource, text or base64.
    Resource {
        /// Where it came from.
        uri: String,
        /// Its contents.
        contents: String,
    },
}

/// Why a prompt was not taken; becomes an "invalid params" answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PromptRefusal {
    /// One line: what is wrong and what would be taken. Holds nothing of the prompt's content.
    pub message: String,
}

/// Everything an agent is given for a turn.
#[derive(Debug, Clone)]
pub struct TurnRequest {
    /// The conversation.
    pub session: SessionId,
    /// Whose conversation it is, and about which project.
    pub scope: Scope,
    /// The session's working directory.
    pub cwd: PathBuf,
    /// This turn.
    pub turn: TurnId,
    /// What was asked; already passed [`Agent::check_prompt`].
    pub prompt: Vec<PromptBlock>,
    /// Fires when the turn should end early.
    pub cancel: CancellationToken,
}

/// What an agent says during a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AgentEvent {
    /// A piece of an answer. Pieces with one `message` id are one message.
    Message {
        /// The message it belongs to.
        message: MessageId,
        /// The piece.
        text: String,
    },
    /// A piece of visible thinking.
    Thought {
        /// The thought it belongs to.
        message: MessageId,
        /// The piece.
        text: String,
    },
    /// A tool call begins, or one that has begun changes.
    Tool(ToolCard),
}

/// The state of one tool call as a client shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCard {
    /// Names the call within its session.
    pub id: String,
    /// One line for people.
    pub title: String,
    /// How far it is.
    pub status: ToolStatus,
    /// What it has to show, if anything.
    pub text: Option<String>,
}

/// How far a tool call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// Announced, not started.
    Pending,
    /// Running.
    InProgress,
    /// Ended well.
    Completed,
    /// Ended badly, or was cancelled.
    Failed,
}

impl ToolStatus {
    /// Tells whether nothing more will come of the call.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }
}

/// Why a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The agent had said what it had to say.
    EndTurn,
    /// The model's output limit was reached.
    MaxTokens,
    /// The agent's limit of requests in one turn was reached.
    MaxTurnRequests,
    /// The agent declined.
    Refusal,
    /// The client asked for the end, or a newer prompt took the turn's place.
    Cancelled,
}

/// Why a turn could not be carried out at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// Something outside the agent failed, for example the store. The message is one line, for
    /// people, with a remedy and without secrets.
    #[error("{message}")]
    Failed {
        /// What failed and what to do.
        message: String,
        /// The cause, for the log.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
}

/// Where an agent's events go. Waits while the client is slow.
#[derive(Debug, Clone)]
pub struct TurnEvents(mpsc::Sender<AgentEvent>);

/// The turn has ended without the agent; stop working on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the turn is over")]
pub struct TurnOver;

impl TurnEvents {
    /// Wraps the sending end of a bounded channel.
    pub const fn new(sender: mpsc::Sender<AgentEvent>) -> Self {
        Self(sender)
    }

    /// Hands one event over; waits while the queue is full.
    ///
    /// # Errors
    /// [`TurnOver`] once nobody listens any more.
    pub async fn send(&self, event: AgentEvent) -> Result<(), TurnOver> {
        self.0.send(event).await.map_err(|_| TurnOver)
    }

    /// Hands over one whole message under its id.
    ///
    /// # Errors
    /// [`TurnOver`] once nobody listens any more.
    pub async fn message(
        &self,
        message: MessageId,
        text: impl Into<String> + Send,
    ) -> Result<(), TurnOver> {
        self.send(AgentEvent::Message {
            message,
            text: text.into(),
        })
        .await
    }
}
