//! A server and a client's end of its connection.

use std::sync::Arc;

use async_trait::async_trait;
use hyphae_core::{
    credential::{ApiKey, Credential},
    ids::CredentialId,
    memories::Memories,
    ports::{Clock, CredentialStore, EmbedError, Embedder, EmbeddingModel},
    scope::Project,
};
use hyphae_mcp::{CannotOpen, McpServer, OpenMemory, OpenedMemory, Projects};
use hyphae_store::{SqliteOptions, Store};
use hyphae_testkit::{ManualClock, WordEmbedder};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    sync::Semaphore,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

/// An embedder that panics at the word `panic` and waits for leave at the word `wait`.
#[derive(Debug)]
pub(crate) struct Moody {
    words: WordEmbedder,
    pub(crate) leave: Arc<Semaphore>,
}

#[async_trait]
impl Embedder for Moody {
    fn model(&self) -> &EmbeddingModel {
        self.words.model()
    }

    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        assert!(!texts.iter().any(|text| text.contains("panic")), "told to");
        if texts.iter().any(|text| text.contains("wait")) {
            self.leave.acquire().await.unwrap().forget();
        }
        self.words.embed(texts).await
    }
}

#[derive(Debug)]
struct Opener {
    store: Store,
    credential: Credential,
    clock: Arc<ManualClock>,
    leave: Arc<Semaphore>,
}

#[async_trait]
impl OpenMemory for Opener {
    async fn open(&self) -> Result<OpenedMemory, CannotOpen> {
        let embedder = Moody {
            words: WordEmbedder::new("words/1", 512),
            leave: Arc::clone(&self.leave),
        };
        Ok(OpenedMemory {
            memories: Arc::new(Memories::new(
                Arc::new(self.store.clone()),
                Arc::new(embedder),
                Arc::clone(&self.clock) as Arc<dyn Clock>,
            )),
            credential: self.credential.clone(),
            credentials: Arc::new(self.store.clone()),
        })
    }
}

#[derive(Debug)]
struct OneProject(Project);

impl Projects for OneProject {
    fn of_process(&self) -> &Project {
        &self.0
    }

    fn named(&self, _name: &str) -> Option<Project> {
        None
    }

    fn names(&self) -> Vec<Project> {
        vec![self.0.clone()]
    }

    fn warning(&self) -> Option<&str> {
        None
    }
}

pub(crate) struct Rig {
    pub(crate) leave: Arc<Semaphore>,
    pub(crate) shutdown: CancellationToken,
    served: JoinHandle<std::io::Result<()>>,
    input: Option<WriteHalf<DuplexStream>>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    _folder: tempfile::TempDir,
}

impl Rig {
    /// A server whose client has shaken hands.
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create_file(&folder.path().join("mcp.db"), SqliteOptions::default())
            .await
            .unwrap();
        let clock = Arc::new(ManualClock::at(1_700_000_000));
        let credential = Credential {
            id: CredentialId::new(clock.new_id()),
            tenant: store.default_tenant().await.unwrap(),
            name: "agent".to_owned(),
            created_at: clock.now(),
            revoked_at: None,
        };
        store
            .add_credential(&credential, &ApiKey::from_random([1; 32]))
            .await
            .unwrap();
        let leave = Arc::new(Semaphore::new(0));
        let opener = Opener {
            store,
            credential,
            clock,
            leave: Arc::clone(&leave),
        };
        let projects = OneProject(Project::named("project").unwrap());
        let server = McpServer::new(Arc::new(opener), Arc::new(projects), "1");
        let shutdown = CancellationToken::new();
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        let stop = shutdown.clone();
        let served =
            tokio::spawn(async move { hyphae_mcp::serve(&server, reader, writer, stop).await });
        let (output, input) = tokio::io::split(ours);
        let mut rig = Self {
            leave,
            shutdown,
            served,
            input: Some(input),
            lines: BufReader::new(output).lines(),
            _folder: folder,
        };
        rig.say(
            &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "tests", "version": "1"}}}),
        )
        .await;
        assert_eq!(rig.next().await.unwrap()["id"], 0);
        rig
    }

    pub(crate) async fn say(&mut self, message: &Value) {
        let line = format!("{message}\n");
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).await.unwrap();
    }

    pub(crate) async fn call(&mut self, id: u64, tool: &str, arguments: Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}}))
            .await;
    }

    /// The next message; none at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.unwrap()?;
        Some(serde_json::from_str(&line).unwrap())
    }

    /// Ends the client's side of the conversation.
    pub(crate) async fn hang_up(&mut self) {
        self.input.take().unwrap().shutdown().await.unwrap();
    }

    /// Waits for the server's end.
    pub(crate) async fn ended(self) {
        self.served.await.unwrap().unwrap();
    }
}
