//! What comes from an agent, in words that are not the protocol's.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the protocol grows, and what this client does not know it need not show"
)]

use agent_client_protocol_schema::v1 as acp;
use hyphae_core::agent::{CommandInfo, StopReason, ToolCard, ToolStatus};

/// Something that an agent shows in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// A piece of the person's own words, from a replay.
    User {
        /// Pieces with one id are one message.
        message: Option<String>,
        /// The piece.
        text: String,
    },
    /// A piece of an answer.
    Text {
        /// Pieces with one id are one message.
        message: Option<String>,
        /// The piece.
        text: String,
    },
    /// A piece of visible thinking.
    Thought {
        /// Pieces with one id are one thought.
        message: Option<String>,
        /// The piece.
        text: String,
    },
    /// A tool call as it now stands; an empty title means that it did not change.
    Tool(ToolCard),
    /// The session has a new title.
    Title(String),
}

pub(super) fn command(command: &acp::AvailableCommand) -> CommandInfo {
    let hint = match &command.input {
        Some(acp::AvailableCommandInput::Unstructured(input)) => Some(input.hint.clone()),
        _ => None,
    };
    CommandInfo {
        name: command.name.clone(),
        description: command.description.clone(),
        hint,
    }
}

/// Takes an update apart; none if a person need not see it.
pub(super) fn shown(update: acp::SessionUpdate) -> Option<Shown> {
    match update {
        acp::SessionUpdate::UserMessageChunk(chunk) => {
            let (message, text) = piece(chunk);
            Some(Shown::User { message, text })
        }
        acp::SessionUpdate::AgentMessageChunk(chunk) => {
            let (message, text) = piece(chunk);
            Some(Shown::Text { message, text })
        }
        acp::SessionUpdate::AgentThoughtChunk(chunk) => {
            let (message, text) = piece(chunk);
            Some(Shown::Thought { message, text })
        }
        acp::SessionUpdate::ToolCall(call) => Some(Shown::Tool(ToolCard {
            id: call.tool_call_id.0.to_string(),
            title: call.title,
            status: tool_status(call.status),
            text: tool_text(&call.content),
        })),
        acp::SessionUpdate::ToolCallUpdate(update) => Some(Shown::Tool(ToolCard {
            id: update.tool_call_id.0.to_string(),
            title: update.fields.title.unwrap_or_default(),
            status: tool_status(update.fields.status.unwrap_or_default()),
            text: update.fields.content.as_deref().and_then(tool_text),
        })),
        acp::SessionUpdate::SessionInfoUpdate(info) => info.title.take().map(Shown::Title),
        _ => None,
    }
}

fn piece(chunk: acp::ContentChunk) -> (Option<String>, String) {
    let message = chunk.message_id.map(|id| id.0.to_string());
    (message, block_text(chunk.content))
}

/// Returns what a terminal can show of a block.
fn block_text(block: acp::ContentBlock) -> String {
    match block {
        acp::ContentBlock::Text(text) => text.text,
        acp::ContentBlock::ResourceLink(link) => format!("[{}]({})", link.name, link.uri),
        _ => String::new(),
    }
}

fn tool_text(content: &[acp::ToolCallContent]) -> Option<String> {
    content.iter().find_map(|content| match content {
        acp::ToolCallContent::Content(content) => Some(block_text(content.content.clone())),
        _ => None,
    })
}

const fn tool_status(status: acp::ToolCallStatus) -> ToolStatus {
    match status {
        acp::ToolCallStatus::InProgress => ToolStatus::InProgress,
        acp::ToolCallStatus::Completed => ToolStatus::Completed,
        acp::ToolCallStatus::Failed => ToolStatus::Failed,
        _ => ToolStatus::Pending,
    }
}

pub(super) const fn stop_reason(reason: acp::StopReason) -> Option<StopReason> {
    Some(match reason {
        acp::StopReason::EndTurn => StopReason::EndTurn,
        acp::StopReason::MaxTokens => StopReason::MaxTokens,
        acp::StopReason::MaxTurnRequests => StopReason::MaxTurnRequests,
        acp::StopReason::Refusal => StopReason::Refusal,
        acp::StopReason::Cancelled => StopReason::Cancelled,
        _ => return None,
    })
}
