//! Where conversations are kept, whatever the agent itself keeps of them.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use hyphae_core::{
    ids::SessionId,
    ports::{SessionError, SessionStore},
    scope::{Owner, Project},
    session::{PageSize, Session, TranscriptEntry, TranscriptEvent},
};
use jiff::Timestamp;

/// Opens what keeps the conversations with an agent.
#[async_trait]
pub trait Transcripts: fmt::Debug + Send + Sync {
    /// Opens what keeps the conversations with the agent of this name, and makes it first if
    /// there is none. Asked once for a connection, when the first session is.
    async fn open(&self, agent: &str) -> Result<(Arc<dyn SessionStore>, Owner), SessionError>;
}

/// The conversations with one agent.
#[derive(Debug, Clone)]
pub(super) struct Archive {
    pub(super) store: Arc<dyn SessionStore>,
    pub(super) owner: Owner,
}

impl Archive {
    /// Keeps a session that has just begun, before anybody hears of it.
    pub(super) async fn begin(
        &self,
        id: SessionId,
        cwd: PathBuf,
        now: Timestamp,
    ) -> Result<(), SessionError> {
        let session = new_session(id, cwd, None, now);
        self.store.create_session(self.owner, &session).await
    }

    pub(super) async fn session(&self, id: SessionId) -> Result<Session, SessionError> {
        self.store.session(self.owner, id).await
    }

    pub(super) async fn append(
        &self,
        id: SessionId,
        entries: &[TranscriptEntry],
        title: Option<&str>,
        now: Timestamp,
    ) -> Result<(), SessionError> {
        self.store
            .append_transcript(self.owner, id, entries, title, now)
            .await
    }

    /// Copies a conversation under another id and directory.
    pub(super) async fn fork(
        &self,
        source: &Session,
        (id, cwd): (SessionId, PathBuf),
        now: Timestamp,
    ) -> Result<(), SessionError> {
        let copy = new_session(id, cwd, source.title.clone(), now);
        self.store.fork_session(self.owner, source.id, &copy).await
    }

    pub(super) async fn delete(&self, id: SessionId) -> Result<(), SessionError> {
        match self.store.delete_session(self.owner, id).await {
            Ok(()) | Err(SessionError::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Begins to read a conversation.
    pub(super) const fn read(&self, id: SessionId) -> Pages<'_> {
        Pages {
            archive: self,
            id,
            skip: 0,
            is_last: false,
        }
    }

    /// Returns what the child calls a session; none if it never said so.
    pub(super) async fn name_of(&self, id: SessionId) -> Result<Option<String>, SessionError> {
        let mut name = None;
        let mut pages = self.read(id);
        while let Some(entries) = pages.next().await? {
            for entry in entries {
                if let TranscriptEvent::AgentSession { name: said } = entry.event {
                    name = Some(said);
                }
            }
        }
        Ok(name)
    }
}

/// What is kept is found by its id and directory; which project that is matters to memories only.
fn new_session(id: SessionId, cwd: PathBuf, title: Option<String>, now: Timestamp) -> Session {
    Session {
        id,
        project: Project::of_directory(Path::new(&cwd)),
        cwd,
        title,
        created_at: now,
        updated_at: now,
    }
}

/// A conversation, read a page at a time.
pub(super) struct Pages<'a> {
    archive: &'a Archive,
    id: SessionId,
    skip: u64,
    is_last: bool,
}

impl Pages<'_> {
    pub(super) async fn next(&mut self) -> Result<Option<Vec<TranscriptEntry>>, SessionError> {
        if self.is_last {
            return Ok(None);
        }
        let size = PageSize::default();
        let archive = self.archive;
        let entries = archive
            .store
            .transcript(archive.owner, self.id, self.skip, size)
            .await?;
        self.skip += entries.len() as u64;
        self.is_last = entries.len() < usize::from(size.get());
        Ok(Some(entries))
    }
}
