//! Core types to the protocol's and back: pure, and the only place that names the latter.

use std::collections::HashSet;

use agent_client_protocol_schema::{ProtocolVersion, v1 as acp};
use hyphae_core::{
    agent::{AgentEvent, AgentProfile, CommandInfo, PromptBlock, StopReason, ToolCard, ToolStatus},
    ids::{MessageId, SessionId},
    session::{Session, TranscriptEvent},
};

use crate::{
    options::{AuthMethod, Unstable},
    wire::{Chunk, Outgoing, Speaker},
};

/// The one notification that we send.
pub(crate) const SESSION_UPDATE: &str = "session/update";

fn session_id(id: SessionId) -> acp::SessionId {
    acp::SessionId::new(id.to_string())
}

/// The answer to `initialize`.
pub(crate) fn initialized(
    profile: &AgentProfile,
    auth: &AuthMethod,
    unstable: Unstable,
) -> acp::InitializeResponse {
    let mut sessions = acp::SessionCapabilities::new()
        .list(acp::SessionListCapabilities::new())
        .resume(acp::SessionResumeCapabilities::new())
        .close(acp::SessionCloseCapabilities::new())
        .delete(acp::SessionDeleteCapabilities::new());
    if unstable == Unstable::Offered {
        sessions = sessions.fork(acp::SessionForkCapabilities::new());
    }
    let prompts = acp::PromptCapabilities::new()
        .image(profile.accepts.image)
        .audio(profile.accepts.audio)
        .embedded_context(profile.accepts.embedded_resource);
    let method = acp::AuthMethodAgent::new(auth.id.clone(), auth.name.clone())
        .description(auth.description.clone());
    acp::InitializeResponse::new(ProtocolVersion::V1)
        .agent_info(
            acp::Implementation::new(profile.name.clone(), profile.version.clone())
                .title(profile.title.clone()),
        )
        .auth_methods(vec![acp::AuthMethod::Agent(method)])
        .agent_capabilities(
            acp::AgentCapabilities::new()
                .load_session(true)
                .prompt_capabilities(prompts)
                .session_capabilities(sessions),
        )
}

/// The empty answers. Each is `{}` on the wire, never `null`.
pub(crate) fn authenticated() -> acp::AuthenticateResponse {
    acp::AuthenticateResponse::new()
}

pub(crate) fn session_loaded() -> acp::LoadSessionResponse {
    acp::LoadSessionResponse::new()
}

pub(crate) fn session_resumed() -> acp::ResumeSessionResponse {
    acp::ResumeSessionResponse::new()
}

pub(crate) fn session_closed() -> acp::CloseSessionResponse {
    acp::CloseSessionResponse::new()
}

pub(crate) fn session_deleted() -> acp::DeleteSessionResponse {
    acp::DeleteSessionResponse::new()
}

pub(crate) fn session_created(id: SessionId) -> acp::NewSessionResponse {
    acp::NewSessionResponse::new(session_id(id))
}

pub(crate) fn session_forked(id: SessionId) -> acp::ForkSessionResponse {
    acp::ForkSessionResponse::new(session_id(id))
}

pub(crate) fn session_list(page: &[Session], next: Option<String>) -> acp::ListSessionsResponse {
    let sessions = page
        .iter()
        .map(|session| {
            acp::SessionInfo::new(session_id(session.id), session.cwd.clone())
                .title(session.title.clone())
                .updated_at(session.updated_at.to_string())
        })
        .collect();
    acp::ListSessionsResponse::new(sessions).next_cursor(next)
}

pub(crate) fn prompt_answer(reason: StopReason) -> acp::PromptResponse {
    acp::PromptResponse::new(match reason {
        StopReason::EndTurn => acp::StopReason::EndTurn,
        StopReason::MaxTokens => acp::StopReason::MaxTokens,
        StopReason::MaxTurnRequests => acp::StopReason::MaxTurnRequests,
        StopReason::Refusal => acp::StopReason::Refusal,
        StopReason::Cancelled => acp::StopReason::Cancelled,
    })
}

fn update(id: SessionId, update: acp::SessionUpdate) -> acp::SessionNotification {
    acp::SessionNotification::new(session_id(id), update)
}

pub(crate) fn chunk(chunk: Chunk) -> acp::SessionNotification {
    content(
        chunk.session,
        chunk.speaker,
        chunk.message,
        acp::ContentBlock::Text(acp::TextContent::new(chunk.text)),
    )
}

fn content(
    session: SessionId,
    speaker: Speaker,
    message: MessageId,
    block: acp::ContentBlock,
) -> acp::SessionNotification {
    let chunk = acp::ContentChunk::new(block).message_id(acp::MessageId::new(message.to_string()));
    update(
        session,
        match speaker {
            Speaker::User => acp::SessionUpdate::UserMessageChunk(chunk),
            Speaker::Agent => acp::SessionUpdate::AgentMessageChunk(chunk),
            Speaker::Thought => acp::SessionUpdate::AgentThoughtChunk(chunk),
        },
    )
}

pub(crate) fn commands(session: SessionId, commands: &[CommandInfo]) -> Outgoing {
    let commands = commands
        .iter()
        .map(|command| {
            let input = command.hint.clone().map(|hint| {
                acp::AvailableCommandInput::Unstructured(acp::UnstructuredCommandInput::new(hint))
            });
            acp::AvailableCommand::new(command.name.clone(), command.description.clone())
                .input(input)
        })
        .collect();
    let shown =
        acp::SessionUpdate::AvailableCommandsUpdate(acp::AvailableCommandsUpdate::new(commands));
    Outgoing::notification(SESSION_UPDATE, update(session, shown))
}

pub(crate) fn session_info(
    session: SessionId,
    title: &str,
    updated_at: jiff::Timestamp,
) -> Outgoing {
    let shown = acp::SessionUpdate::SessionInfoUpdate(
        acp::SessionInfoUpdate::new()
            .title(title.to_owned())
            .updated_at(updated_at.to_string()),
    );
    Outgoing::notification(SESSION_UPDATE, update(session, shown))
}

/// An update in the words of another agent.
pub(crate) fn relayed(session: SessionId, update: &str) -> Outgoing {
    Outgoing::Line(
        format!(
            r#"{{"jsonrpc":"2.0","method":"{SESSION_UPDATE}","params":{{"sessionId":"{session}","update":{update}}}}}"#
        )
        .into_bytes(),
    )
}

/// Turns the events of one conversation into updates. It remembers which tool cards the client
/// knows, because their first mention is another message than the later ones.
#[derive(Debug)]
pub(crate) struct Shower {
    session: SessionId,
    known_cards: HashSet<String>,
}

impl Shower {
    pub(crate) fn new(session: SessionId) -> Self {
        Self {
            session,
            known_cards: HashSet::new(),
        }
    }

    pub(crate) fn agent(&mut self, event: AgentEvent) -> Outgoing {
        let (speaker, message, text) = match event {
            AgentEvent::Message { message, text } => (Speaker::Agent, message, text),
            AgentEvent::Thought { message, text } => (Speaker::Thought, message, text),
            AgentEvent::Tool(card) => {
                let shown = if self.known_cards.insert(card.id.clone()) {
                    acp::SessionUpdate::ToolCall(tool_call(card))
                } else {
                    acp::SessionUpdate::ToolCallUpdate(tool_call_update(card))
                };
                return Outgoing::notification(SESSION_UPDATE, update(self.session, shown));
            }
        };
        Outgoing::Chunk(Chunk {
            session: self.session,
            speaker,
            message,
            text,
        })
    }

    /// Shows something that happened before; none if it is not for the client.
    pub(crate) fn replayed(&mut self, event: TranscriptEvent) -> Option<Outgoing> {
        match event {
            TranscriptEvent::Prompt { message, block } => Some(self.prompt(message, block)),
            TranscriptEvent::Agent(event) => Some(self.agent(event)),
            TranscriptEvent::Relayed { update } => Some(relayed(self.session, &update)),
            TranscriptEvent::AgentSession { .. } | TranscriptEvent::Ended(_) => None,
        }
    }

    pub(crate) fn prompt(&self, message: MessageId, block: PromptBlock) -> Outgoing {
        match block {
            PromptBlock::Text { text } => Outgoing::Chunk(Chunk {
                session: self.session,
                speaker: Speaker::User,
                message,
                text,
            }),
            PromptBlock::ResourceLink { .. }
            | PromptBlock::Image { .. }
            | PromptBlock::Audio { .. }
            | PromptBlock::Resource { .. } => Outgoing::notification(
                SESSION_UPDATE,
                content(self.session, Speaker::User, message, prompt_block(block)),
            ),
        }
    }
}

fn prompt_block(block: PromptBlock) -> acp::ContentBlock {
    match block {
        PromptBlock::Text { text } => acp::ContentBlock::Text(acp::TextContent::new(text)),
        PromptBlock::ResourceLink { name, uri } => {
            acp::ContentBlock::ResourceLink(acp::ResourceLink::new(name, uri))
        }
        PromptBlock::Image { mime_type, data } => {
            acp::ContentBlock::Image(acp::ImageContent::new(data, mime_type))
        }
        PromptBlock::Audio { mime_type, data } => {
            acp::ContentBlock::Audio(acp::AudioContent::new(data, mime_type))
        }
        PromptBlock::Resource { uri, contents } => acp::ContentBlock::Resource(
            acp::EmbeddedResource::new(acp::EmbeddedResourceResource::TextResourceContents(
                acp::TextResourceContents::new(contents, uri),
            )),
        ),
    }
}

fn tool_call(card: ToolCard) -> acp::ToolCall {
    acp::ToolCall::new(card.id, card.title)
        .status(tool_status(card.status))
        .content(tool_content(card.text))
}

fn tool_call_update(card: ToolCard) -> acp::ToolCallUpdate {
    let mut fields = acp::ToolCallUpdateFields::new()
        .title(card.title)
        .status(tool_status(card.status));
    if card.text.is_some() {
        fields = fields.content(tool_content(card.text));
    }
    acp::ToolCallUpdate::new(card.id, fields)
}

fn tool_content(text: Option<String>) -> Vec<acp::ToolCallContent> {
    text.map(|text| {
        let block = acp::ContentBlock::Text(acp::TextContent::new(text));
        acp::ToolCallContent::Content(acp::Content::new(block))
    })
    .into_iter()
    .collect()
}

const fn tool_status(status: ToolStatus) -> acp::ToolCallStatus {
    match status {
        ToolStatus::Pending => acp::ToolCallStatus::Pending,
        ToolStatus::InProgress => acp::ToolCallStatus::InProgress,
        ToolStatus::Completed => acp::ToolCallStatus::Completed,
        ToolStatus::Failed => acp::ToolCallStatus::Failed,
    }
}
