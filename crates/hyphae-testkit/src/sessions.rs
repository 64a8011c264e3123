//! A store of sessions in memory.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use hyphae_core::{
    ids::SessionId,
    ports::{SessionError, SessionStore, StoreError},
    scope::Owner,
    session::{PageSize, Session, TranscriptEntry},
};
use jiff::Timestamp;

/// Whether transcripts are held or only counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transcripts {
    /// Every entry is there to be read again.
    #[default]
    Held,
    /// Entries are counted and dropped, for tests of other people's memory.
    Counted,
}

/// Keeps sessions in memory, by the contract of [`SessionStore`], and fails on demand.
#[derive(Debug, Default)]
pub struct MemorySessions {
    transcripts: Transcripts,
    rows: Mutex<BTreeMap<SessionId, Row>>,
    refuses_appends: AtomicBool,
    panics: AtomicBool,
    appended: AtomicUsize,
    largest_append: AtomicUsize,
}

#[derive(Debug, Clone)]
struct Row {
    owner: Owner,
    session: Session,
    transcript: Vec<TranscriptEntry>,
    damaged: bool,
}

impl MemorySessions {
    /// Starts empty.
    pub fn new(transcripts: Transcripts) -> Self {
        Self {
            transcripts,
            ..Self::default()
        }
    }

    /// From now on appending fails as on a full disk, or works again.
    pub fn set_full(&self, full: bool) {
        self.refuses_appends.store(full, Ordering::SeqCst);
    }

    /// From now on appending panics, as a fault in a store would, or works again.
    pub fn set_faulty(&self, faulty: bool) {
        self.panics.store(faulty, Ordering::SeqCst);
    }

    /// Makes a session's transcript unreadable.
    pub fn damage(&self, id: SessionId) {
        if let Some(row) = self.rows().get_mut(&id) {
            row.damaged = true;
        }
    }

    /// Returns what is kept of a transcript.
    pub fn kept(&self, id: SessionId) -> Vec<TranscriptEntry> {
        self.rows()
            .get(&id)
            .map(|row| row.transcript.clone())
            .unwrap_or_default()
    }

    /// Returns how many entries were appended so far, and how many at once at most.
    pub fn appended(&self) -> (usize, usize) {
        (
            self.appended.load(Ordering::SeqCst),
            self.largest_append.load(Ordering::SeqCst),
        )
    }

    fn rows(&self) -> MutexGuard<'_, BTreeMap<SessionId, Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(
        &self,
        owner: Owner,
        id: SessionId,
        work: impl FnOnce(&mut Row) -> Result<T, SessionError>,
    ) -> Result<T, SessionError> {
        match self.rows().get_mut(&id) {
            Some(row) if row.owner == owner => work(row),
            Some(_) | None => Err(SessionError::NotFound { id }),
        }
    }
}

#[async_trait]
impl SessionStore for MemorySessions {
    async fn create_session(&self, owner: Owner, session: &Session) -> Result<(), SessionError> {
        let row = Row {
            owner,
            session: session.clone(),
            transcript: Vec::new(),
            damaged: false,
        };
        self.rows().insert(session.id, row);
        Ok(())
    }

    async fn session(&self, owner: Owner, id: SessionId) -> Result<Session, SessionError> {
        self.with(owner, id, |row| Ok(row.session.clone()))
    }

    async fn sessions(
        &self,
        owner: Owner,
        cwd: Option<&Path>,
        after: Option<SessionId>,
        limit: PageSize,
    ) -> Result<Vec<Session>, SessionError> {
        Ok(self
            .rows()
            .values()
            .rev()
            .filter(|row| row.owner == owner)
            .filter(|row| cwd.is_none_or(|cwd| row.session.cwd == cwd))
            .filter(|row| after.is_none_or(|after| row.session.id < after))
            .take(usize::from(limit.get()))
            .map(|row| row.session.clone())
            .collect())
    }

    async fn append_transcript(
        &self,
        owner: Owner,
        id: SessionId,
        entries: &[TranscriptEntry],
        title: Option<&str>,
        at: Timestamp,
    ) -> Result<(), SessionError> {
        assert!(!self.panics.load(Ordering::SeqCst), "the test wants it so");
        if self.refuses_appends.load(Ordering::SeqCst) {
            return Err(StoreError::Full.into());
        }
        self.appended.fetch_add(entries.len(), Ordering::SeqCst);
        self.largest_append
            .fetch_max(entries.len(), Ordering::SeqCst);
        let held = self.transcripts == Transcripts::Held;
        self.with(owner, id, |row| {
            if held {
                row.transcript.extend_from_slice(entries);
            }
            row.session.updated_at = at;
            if row.session.title.is_none() {
                row.session.title = title.map(str::to_owned);
            }
            Ok(())
        })
    }

    async fn transcript(
        &self,
        owner: Owner,
        id: SessionId,
        skip: u64,
        limit: PageSize,
    ) -> Result<Vec<TranscriptEntry>, SessionError> {
        self.with(owner, id, |row| {
            if row.damaged {
                return Err(SessionError::Damaged {
                    id,
                    reason: "an entry is no JSON".to_owned(),
                });
            }
            let skip = usize::try_from(skip).unwrap_or(usize::MAX);
            let page = row.transcript.iter().skip(skip);
            Ok(page.take(usize::from(limit.get())).cloned().collect())
        })
    }

    async fn fork_session(
        &self,
        owner: Owner,
        id: SessionId,
        copy: &Session,
    ) -> Result<(), SessionError> {
        let mut row = self.with(owner, id, |row| Ok(row.clone()))?;
        row.session = Session {
            title: row.session.title,
            ..copy.clone()
        };
        self.rows().insert(copy.id, row);
        Ok(())
    }

    async fn delete_session(&self, owner: Owner, id: SessionId) -> Result<(), SessionError> {
        let mut rows = self.rows();
        if rows.get(&id).is_some_and(|row| row.owner == owner) {
            rows.remove(&id);
        }
        Ok(())
    }
}
