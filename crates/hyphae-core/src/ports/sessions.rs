//! Where conversations are kept.

use std::{fmt, path::Path};

use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    ids::SessionId,
    ports::StoreError,
    scope::Owner,
    session::{PageSize, Session, TranscriptEntry},
};

/// Keeps conversations and their transcripts.
///
/// Every method sees the sessions of `owner` only: somebody else's id and an id that never
/// existed give the same [`SessionError::NotFound`], by the same work. What a method has
/// acknowledged survives a crash of the process at the next instruction.
#[async_trait]
pub trait SessionStore: fmt::Debug + Send + Sync {
    /// Keeps a new session.
    async fn create_session(&self, owner: Owner, session: &Session) -> Result<(), SessionError>;

    /// Returns a session.
    async fn session(&self, owner: Owner, id: SessionId) -> Result<Session, SessionError>;

    /// Returns at most `limit` sessions, newest first by creation (which is the order of their
    /// ids), that come after `after` in that order, whether or not that one is still there;
    /// with `cwd`, only those of that working directory. A session that cannot be read is left
    /// out (and logged), it does not hide the others.
    async fn sessions(
        &self,
        owner: Owner,
        cwd: Option<&Path>,
        after: Option<SessionId>,
        limit: PageSize,
    ) -> Result<Vec<Session>, SessionError>;

    /// Appends to a transcript, all or nothing, and sets `updated_at`; sets the title if the
    /// session has none yet and one is given.
    async fn append_transcript(
        &self,
        owner: Owner,
        id: SessionId,
        entries: &[TranscriptEntry],
        title: Option<&str>,
        at: Timestamp,
    ) -> Result<(), SessionError>;

    /// Returns at most `limit` entries of a transcript in order, starting behind the first
    /// `skip` ones.
    ///
    /// # Errors
    /// [`SessionError::Damaged`] if an entry cannot be read.
    async fn transcript(
        &self,
        owner: Owner,
        id: SessionId,
        skip: u64,
        limit: PageSize,
    ) -> Result<Vec<TranscriptEntry>, SessionError>;

    /// Copies a session and its transcript under the id, times and directory of `copy`.
    async fn fork_session(
        &self,
        owner: Owner,
        id: SessionId,
        copy: &Session,
    ) -> Result<(), SessionError>;

    /// Erases a session and its transcript. An unknown id is no error.
    async fn delete_session(&self, owner: Owner, id: SessionId) -> Result<(), SessionError>;
}

/// Why a conversation could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// No such session for this owner.
    #[error("session {id} not found")]
    NotFound {
        /// The id that was asked for.
        id: SessionId,
    },
    /// The session is there, but a part of it cannot be read.
    #[error("session {id} is damaged and was set aside: {reason}")]
    Damaged {
        /// The session.
        id: SessionId,
        /// What cannot be read.
        reason: String,
    },
    /// The store itself failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
