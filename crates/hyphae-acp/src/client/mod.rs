//! The other end: a client over any pair of byte streams.
//!
//! It has no task of its own. A call writes its request and reads until its answer has come;
//! what a turn shows on the way is handed out piece by piece by [`Prompting`].

mod shown;

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use agent_client_protocol_schema::{ProtocolVersion, v1 as acp};
use hyphae_core::{
    agent::{CommandInfo, StopReason},
    ids::SessionId,
};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use crate::wire::{Frame, LineReader};
use shown::{command, shown, stop_reason};

pub use shown::Shown;

/// The longest line that is taken from an agent.
const FRAME_LIMIT: usize = 64 * 1024 * 1024;

/// Speaks to an agent.
pub struct Client {
    lines: LineReader<Box<dyn AsyncRead + Send + Unpin>>,
    writer: Box<dyn AsyncWrite + Send + Unpin>,
    next_id: u64,
    commands: Vec<CommandInfo>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("next_id", &self.next_id)
            .finish_non_exhaustive()
    }
}

/// What an agent says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerInfo {
    /// The protocol version that both sides speak from now on.
    pub protocol_version: u16,
    /// Name of the agent, if it tells.
    pub name: Option<String>,
    /// Version of the agent, if it tells.
    pub version: Option<String>,
    /// Ids of its auth methods.
    pub auth_methods: Vec<String>,
    /// Whether sessions can be loaded with their history.
    pub load_session: bool,
}

/// One row of a list of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    /// Its id.
    pub id: SessionId,
    /// Where it works.
    pub cwd: PathBuf,
    /// Its title, once it has one.
    pub title: Option<String>,
    /// When it last changed, RFC 3339.
    pub updated_at: Option<String>,
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The agent closed its side.
    #[error("the agent ended the connection")]
    Closed,
    /// Reading or writing failed.
    #[error("the connection to the agent failed")]
    Io(#[from] io::Error),
    /// The agent answered with something that the protocol does not allow.
    #[error("the agent's answer to {method} makes no sense")]
    Nonsense {
        /// What was asked.
        method: &'static str,
    },
    /// The agent answered with an error.
    #[error("{}", details.as_ref().unwrap_or(message))]
    Refused {
        /// The error's code.
        code: i64,
        /// The error's message.
        message: String,
        /// What the error says to people, if it has more than a message.
        details: Option<String>,
    },
}

/// One message of the agent, as far as a client cares.
enum Received {
    Answer(Result<Value, ClientError>),
    Shown(Shown),
    Other,
}

impl Client {
    /// Takes both ends of a connection. Nothing is sent yet.
    pub fn new(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self {
            lines: LineReader::new(Box::new(reader), FRAME_LIMIT),
            writer: Box::new(writer),
            next_id: 1,
            commands: Vec::new(),
        }
    }

    /// Returns the commands that the agent announced last.
    pub fn commands(&self) -> &[CommandInfo] {
        &self.commands
    }

    /// Shakes hands; comes first.
    ///
    /// # Errors
    /// As every call: [`ClientError`].
    pub async fn initialize(
        &mut self,
        name: &str,
        version: &str,
    ) -> Result<ServerInfo, ClientError> {
        let request = acp::InitializeRequest::new(ProtocolVersion::V1)
            .client_info(acp::Implementation::new(name, version));
        let answer: acp::InitializeResponse = self.call("initialize", request).await?;
        Ok(ServerInfo {
            protocol_version: answer.protocol_version.as_u16(),
            name: answer.agent_info.as_ref().map(|info| info.name.clone()),
            version: answer.agent_info.map(|info| info.version),
            auth_methods: answer
                .auth_methods
                .iter()
                .map(|method| method.id().0.to_string())
                .collect(),
            load_session: answer.agent_capabilities.load_session,
        })
    }

    /// Authenticates by one of the agent's methods.
    ///
    /// # Errors
    /// As every call: [`ClientError`].
    pub async fn authenticate(&mut self, method: &str) -> Result<(), ClientError> {
        let _done: Value = self
            .call("authenticate", json!({ "methodId": method }))
            .await?;
        Ok(())
    }

    /// Opens a new session in a directory.
    ///
    /// # Errors
    /// As every call: [`ClientError`].
    pub async fn new_session(&mut self, cwd: &Path) -> Result<SessionId, ClientError> {
        const METHOD: &str = "session/new";
        let answer: acp::NewSessionResponse =
            self.call(METHOD, acp::NewSessionRequest::new(cwd)).await?;
        session_id(METHOD, &answer.session_id)
    }

    /// Opens a session again and hands its history to `show`.
    ///
    /// # Errors
    /// As every call: [`ClientError`].
    pub async fn load_session(
        &mut self,
        session: SessionId,
        cwd: &Path,
        show: impl FnMut(Shown),
    ) -> Result<(), ClientError> {
        let request = acp::LoadSessionRequest::new(session.to_string(), cwd);
        self.request("session/load", request, show).await.map(drop)
    }

    /// Opens a session again without its history.
    ///
    /// # Errors
    /// As every call: [`ClientError`].
    pub async fn resume_session(
        &mut self,
        session: SessionId,
        cwd: &Path,
    ) -> Result<(), ClientError> {
        let request = acp::ResumeSessionRequest::new(session.to_string(), cwd);
        self.request("session/resume", request, drop)
            .await
            .map(drop)
    }

    /// Returns all sessions, newest first; with `cwd`, those of that directory.
    ///
    /// # Errors
    /// As every call: [`ClientError`].
    pub async fn list_sessions(
        &mut self,
        cwd: Option<&Path>,
    ) -> Result<Vec<SessionSummary>, ClientError> {
        const METHOD: &str = "session/list";
        let mut sessions = Vec::new();
        let mut cursor = None;
        loop {
            let request = acp::ListSessionsRequest::new()
                .cwd(cwd.map(Path::to_owned))
                .cursor(cursor);
            let page: acp::ListSessionsResponse = self.call(METHOD, request).await?;
            for row in page.sessions {
                sessions.push(SessionSummary {
                    id: session_id(METHOD, &row.session_id)?,
                    cwd: row.cwd,
                    title: row.title,
                    updated_at: row.updated_at,
                });
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(sessions);
            }
        }
    }

    /// Closes a session on this connection; it is kept.
    ///
    /// # Errors
    /// As every call: [`ClientError`].
    pub async fn close_session(&mut self, session: SessionId) -> Result<(), ClientError> {
        let params = json!({ "sessionId": session.to_string() });
        self.request("session/close", params, drop).await.map(drop)
    }

    /// Erases a session.
    ///
    /// # Errors
    /// As every call: [`ClientError`].
    pub async fn delete_session(&mut self, session: SessionId) -> Result<(), ClientError> {
        let params = json!({ "sessionId": session.to_string() });
        self.request("session/delete", params, drop).await.map(drop)
    }

    /// Sends a prompt; what comes of it is read from the returned value.
    ///
    /// # Errors
    /// As every call: [`ClientError`].
    pub async fn prompt(
        &mut self,
        session: SessionId,
        text: &str,
    ) -> Result<Prompting<'_>, ClientError> {
        let block = acp::ContentBlock::Text(acp::TextContent::new(text));
        let request = acp::PromptRequest::new(session.to_string(), vec![block]);
        let id = self.send("session/prompt", request).await?;
        Ok(Prompting {
            client: self,
            session,
            id,
            ended: None,
        })
    }

    /// Asks the agent to end the session's turn.
    ///
    /// # Errors
    /// As every call: [`ClientError`].
    pub async fn cancel(&mut self, session: SessionId) -> Result<(), ClientError> {
        self.write(&json!({
            "jsonrpc": "2.0",
            "method": "session/cancel",
            "params": { "sessionId": session.to_string() },
        }))
        .await
    }

    async fn call<T: serde::de::DeserializeOwned>(
        &mut self,
        method: &'static str,
        params: impl Serialize,
    ) -> Result<T, ClientError> {
        let answer = self.request(method, params, drop).await?;
        serde_json::from_value(answer).map_err(|_| ClientError::Nonsense { method })
    }

    async fn request(
        &mut self,
        method: &'static str,
        params: impl Serialize,
        mut show: impl FnMut(Shown),
    ) -> Result<Value, ClientError> {
        let id = self.send(method, params).await?;
        loop {
            match self.receive(id).await? {
                Received::Answer(answer) => return answer,
                Received::Shown(shown) => show(shown),
                Received::Other => {}
            }
        }
    }

    async fn send(
        &mut self,
        method: &'static str,
        params: impl Serialize,
    ) -> Result<u64, ClientError> {
        let id = self.next_id;
        self.next_id += 1;
        let params = serde_json::to_value(params).map_err(|_| ClientError::Nonsense { method })?;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await?;
        Ok(id)
    }

    async fn write(&mut self, message: &Value) -> Result<(), ClientError> {
        self.writer
            .write_all(format!("{message}\n").as_bytes())
            .await?;
        self.writer.flush().await?;
        Ok(())
    }

    /// Reads one message. Cancel-safe.
    async fn receive(&mut self, id: u64) -> Result<Received, ClientError> {
        let message: Value = match self.lines.next().await? {
            Some(Frame::Line(line)) => {
                serde_json::from_slice(line).map_err(|_| ClientError::Nonsense {
                    method: "a request",
                })?
            }
            Some(Frame::TooLong { .. }) => {
                return Err(ClientError::Nonsense {
                    method: "a request",
                });
            }
            None => return Err(ClientError::Closed),
        };
        if message["method"].is_string() {
            return Ok(self.notified(message));
        }
        if message["id"].as_u64() != Some(id) {
            return Ok(Received::Other);
        }
        Ok(Received::Answer(match message.get("error") {
            None => Ok(message["result"].clone()),
            Some(error) => Err(ClientError::Refused {
                code: error["code"].as_i64().unwrap_or_default(),
                message: error["message"].as_str().unwrap_or_default().to_owned(),
                details: error["data"]["details"].as_str().map(str::to_owned),
            }),
        }))
    }

    fn notified(&mut self, mut message: Value) -> Received {
        let notification: Result<acp::SessionNotification, _> =
            serde_json::from_value(message["params"].take());
        let Ok(notification) = notification else {
            return Received::Other;
        };
        if let acp::SessionUpdate::AvailableCommandsUpdate(update) = &notification.update {
            self.commands = update.available_commands.iter().map(command).collect();
        }
        shown(notification.update).map_or(Received::Other, Received::Shown)
    }
}

/// A turn, as its client sees it. Dropping it does not cancel the turn.
#[derive(Debug)]
pub struct Prompting<'a> {
    client: &'a mut Client,
    session: SessionId,
    id: u64,
    ended: Option<StopReason>,
}

impl Prompting<'_> {
    /// Returns what the agent shows next, or none when the turn is over. Cancel-safe.
    ///
    /// # Errors
    /// [`ClientError::Refused`] if the prompt was answered with an error.
    pub async fn next(&mut self) -> Result<Option<Shown>, ClientError> {
        while self.ended.is_none() {
            match self.client.receive(self.id).await? {
                Received::Shown(shown) => return Ok(Some(shown)),
                Received::Other => {}
                Received::Answer(answer) => {
                    let answer = serde_json::from_value::<acp::PromptResponse>(answer?);
                    let reason = answer
                        .ok()
                        .and_then(|answer| stop_reason(answer.stop_reason));
                    self.ended = Some(reason.ok_or(ClientError::Nonsense {
                        method: "session/prompt",
                    })?);
                }
            }
        }
        Ok(None)
    }

    /// Asks the agent to end this turn; go on reading until it has.
    ///
    /// # Errors
    /// If the request cannot be sent.
    pub async fn cancel(&mut self) -> Result<(), ClientError> {
        self.client.cancel(self.session).await
    }

    /// Returns why the turn ended; none while it runs.
    pub const fn stop_reason(&self) -> Option<StopReason> {
        self.ended
    }
}

fn session_id(method: &'static str, id: &acp::SessionId) -> Result<SessionId, ClientError> {
    id.0.parse().map_err(|_| ClientError::Nonsense { method })
}
