//! A host with fakes around it, and the bare end of a pipe to it.

use std::{collections::HashMap, sync::Arc, time::Duration};

use hyphae_acp::{DirectoryProjects, Host, HostOptions, Served};
use hyphae_core::{agent::PromptKinds, ids::SessionId};
use hyphae_testkit::{ManualClock, MemorySessions, ScriptedAgent, owner};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf},
    task::JoinHandle,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::schema;

/// What a whole test is about: one process, so to say.
pub(crate) struct Rig {
    pub(crate) agent: Arc<ScriptedAgent>,
    pub(crate) sessions: Arc<MemorySessions>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) options: HostOptions,
    pub(crate) owner: u128,
    pub(crate) dir: tempfile::TempDir,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self {
            agent: Arc::default(),
            sessions: Arc::default(),
            clock: Arc::default(),
            options: HostOptions::default(),
            owner: 7,
            dir: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn accepting_everything() -> Self {
        let agent = Arc::new(ScriptedAgent::accepting(PromptKinds {
            image: true,
            audio: true,
            embedded_resource: true,
        }));
        Self {
            agent,
            ..Self::new()
        }
    }

    pub(crate) fn host(&self) -> Host {
        Host::new(
            self.agent.clone(),
            self.sessions.clone(),
            self.clock.clone(),
            owner(self.owner),
            Arc::new(DirectoryProjects),
            self.options.clone(),
        )
    }

    /// A new connection; nothing was said on it.
    pub(crate) fn connect(&self) -> Wire {
        self.connect_with_pipe(1 << 20)
    }

    pub(crate) fn connect_with_pipe(&self, bytes: usize) -> Wire {
        let (ours, theirs) = tokio::io::duplex(bytes);
        let (reader, writer) = tokio::io::split(theirs);
        let shutdown = CancellationToken::new();
        let (host, token) = (self.host(), shutdown.clone());
        let serving = tokio::spawn(async move { host.serve(reader, writer, token).await.unwrap() });
        let (read, write) = tokio::io::split(ours);
        Wire {
            read: BufReader::new(read),
            write: Some(write),
            serving,
            shutdown,
            cwd: self.cwd().to_owned(),
            transcript: Vec::new(),
            asked: HashMap::new(),
        }
    }

    /// A connection that has shaken hands.
    pub(crate) async fn connected(&self) -> Wire {
        let mut wire = self.connect();
        wire.initialize().await;
        wire
    }

    /// A connection with an open session, its announcements read.
    pub(crate) async fn opened(&self) -> (Wire, String) {
        let mut wire = self.connected().await;
        let session = wire.new_session().await;
        (wire, session)
    }

    pub(crate) fn cwd(&self) -> &str {
        self.dir.path().to_str().unwrap()
    }
}

/// The client's end.
pub(crate) struct Wire {
    read: BufReader<ReadHalf<DuplexStream>>,
    write: Option<WriteHalf<DuplexStream>>,
    serving: JoinHandle<Served>,
    pub(crate) shutdown: CancellationToken,
    cwd: String,
    /// Every line that came from the host.
    pub(crate) transcript: Vec<String>,
    /// What was asked under which id, so that the answers can be held against the schema.
    asked: HashMap<String, String>,
}

impl Wire {
    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) {
        for line in bytes.split(|byte| *byte == b'\n') {
            let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
            let message: Value = serde_json::from_slice(line).unwrap_or_default();
            if let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) {
                self.asked.insert(id.to_string(), method.to_owned());
            }
        }
        let written = self.write.as_mut().unwrap().write_all(bytes);
        let written = timeout(Duration::from_secs(3600), written).await;
        written.expect("the host does not read").unwrap();
    }

    pub(crate) async fn send_line(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes()).await;
    }

    pub(crate) async fn request(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        let message = json!({"jsonrpc":"2.0","id":id.into(),"method":method,"params":params});
        self.send_line(&message.to_string()).await;
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        let message = json!({"jsonrpc":"2.0","method":method,"params":params});
        self.send_line(&message.to_string()).await;
    }

    /// The next message, or none when the host closed its side.
    pub(crate) async fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.read.read_line(&mut line);
        if timeout(Duration::from_secs(3600), read)
            .await
            .expect("the host is silent")
            .unwrap()
            == 0
        {
            return None;
        }
        let message = serde_json::from_str(&line).expect("a line of JSON");
        schema::check(&message, |id| {
            self.asked.get(&id.to_string()).map(String::as_str)
        });
        self.transcript.push(line);
        Some(message)
    }

    /// Reads until the answer to `id`; returns what came before it and the answer.
    pub(crate) async fn until_answer(&mut self, id: impl Into<Value>) -> (Vec<Value>, Value) {
        let id = id.into();
        let mut before = Vec::new();
        loop {
            let message = self.receive().await.expect("an answer");
            if message.get("method").is_none() && message["id"] == id {
                return (before, message);
            }
            before.push(message);
        }
    }

    pub(crate) async fn call(
        &mut self,
        id: impl Into<Value>,
        method: &str,
        params: Value,
    ) -> Value {
        let id = id.into();
        self.request(id.clone(), method, params).await;
        self.until_answer(id).await.1
    }

    pub(crate) async fn initialize(&mut self) -> Value {
        self.call("init", "initialize", json!({"protocolVersion":1}))
            .await
    }

    /// Opens a session and reads its first announcement.
    pub(crate) async fn new_session(&mut self) -> String {
        let cwd = self.cwd.clone();
        let answer = self
            .call("new", "session/new", json!({"cwd":cwd,"mcpServers":[]}))
            .await;
        let session = answer["result"]["sessionId"]
            .as_str()
            .expect("a session")
            .to_owned();
        let update = self.receive().await.unwrap();
        assert_eq!(
            update["params"]["update"]["sessionUpdate"],
            "available_commands_update"
        );
        session
    }

    pub(crate) async fn prompt(&mut self, id: impl Into<Value>, session: &str, text: &str) {
        self.request(id, "session/prompt", prompt(session, text))
            .await;
    }

    pub(crate) async fn cancel(&mut self, session: &str) {
        self.notify("session/cancel", json!({"sessionId":session}))
            .await;
    }

    /// Closes our side for writing and reads what still comes.
    pub(crate) async fn finish(mut self) -> (Vec<Value>, Served) {
        let mut write = self.write.take().unwrap();
        write.shutdown().await.unwrap();
        let mut rest = Vec::new();
        while let Some(message) = self.receive().await {
            rest.push(message);
        }
        (rest, self.serving.await.unwrap())
    }

    /// Closes our side and reads nothing more.
    pub(crate) async fn hang_up(mut self) -> Served {
        let mut write = self.write.take().unwrap();
        write.shutdown().await.unwrap();
        self.serving.await.unwrap()
    }

    /// Everything that is still on the way, once the host has nothing to do.
    pub(crate) async fn quiet(&mut self) -> Vec<Value> {
        let marker = "are you there";
        self.request(marker, "session/list", json!({})).await;
        self.until_answer(marker).await.0
    }
}

pub(crate) fn prompt(session: &str, text: &str) -> Value {
    json!({"sessionId":session,"prompt":[{"type":"text","text":text}]})
}

/// What an update says, in short: kind and text.
pub(crate) fn gist(update: &Value) -> String {
    let update = &update["params"]["update"];
    let kind = update["sessionUpdate"].as_str().unwrap_or("?");
    let text = update["content"]["text"].as_str();
    match (kind, text) {
        ("tool_call" | "tool_call_update", _) => format!(
            "{kind} {} {}",
            update["toolCallId"].as_str().unwrap_or("?"),
            update["status"].as_str().unwrap_or("pending"),
        ),
        ("session_info_update", _) => format!("title {}", update["title"].as_str().unwrap_or("?")),
        (_, Some(text)) => format!("{} {text}", kind.trim_end_matches("_message_chunk")),
        _ => kind.to_owned(),
    }
}

pub(crate) fn gists(updates: &[Value]) -> Vec<String> {
    updates.iter().map(gist).collect()
}

pub(crate) fn id_of(session: &str) -> SessionId {
    session.parse().unwrap()
}
