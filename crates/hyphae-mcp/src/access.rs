//! The memory behind the tools, opened when it is first needed.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use async_trait::async_trait;
use hyphae_core::{
    credential::Credential,
    ids::CredentialId,
    memories::Memories,
    ports::{CredentialStore, StoreError},
};
/// Opens the memory of a process. Called at most once at a time, and again after a failure.
#[async_trait]
pub trait OpenMemory: fmt::Debug + Send + Sync {
    /// Opens the store and proves the key.
    async fn open(&self) -> Result<OpenedMemory, CannotOpen>;
}

/// A memory that was opened, and for whom.
#[derive(Debug)]
pub struct OpenedMemory {
    /// The memory.
    pub memories: Arc<Memories>,
    /// Whose process this is.
    pub credential: Credential,
    /// Names the authors of memories.
    pub credentials: Arc<dyn CredentialStore>,
}

/// Why there is no memory. Each message is one line and says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CannotOpen {
    /// The key opens nothing.
    #[error("{message}")]
    Unauthorized {
        /// What to do.
        message: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Anything else.
    #[error("{message}")]
    Other {
        /// What to do.
        message: String,
    },
}

/// Keeps the opened memory of a process.
#[derive(Debug)]
pub(crate) struct Access {
    opener: Arc<dyn OpenMemory>,
    /// Held while it is opened, so that it is opened once.
    opening: tokio::sync::Mutex<()>,
    memory: RwLock<Option<Arc<OpenedMemory>>>,
    names: Mutex<HashMap<CredentialId, String>>,
}

impl Access {
    pub(crate) fn new(opener: Arc<dyn OpenMemory>) -> Self {
        Self {
            opener,
            opening: tokio::sync::Mutex::default(),
            memory: RwLock::default(),
            names: Mutex::default(),
        }
    }

    /// Returns the memory; opens it if it is not open, or could not be opened before.
    pub(crate) async fn memory(&self) -> Result<Arc<OpenedMemory>, CannotOpen> {
        if let Some(memory) = self.opened() {
            return Ok(memory);
        }
        let _opening = self.opening.lock().await;
        if let Some(memory) = self.opened() {
            return Ok(memory);
        }
        let memory = Arc::new(self.opener.open().await?);
        *self.memory.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&memory));
        Ok(memory)
    }

    /// Returns the memory if it is open.
    pub(crate) fn opened(&self) -> Option<Arc<OpenedMemory>> {
        let memory = self.memory.read().unwrap_or_else(PoisonError::into_inner);
        memory.clone()
    }

    /// Gives a memory up whose store is gone, so that the next call opens it anew.
    pub(crate) fn give_up(&self, memory: &Arc<OpenedMemory>) {
        let mut held = self.memory.write().unwrap_or_else(PoisonError::into_inner);
        if held.as_ref().is_some_and(|held| Arc::ptr_eq(held, memory)) {
            *held = None;
        }
    }

    /// Returns what people call the holders of these credentials.
    pub(crate) async fn names(
        &self,
        memory: &OpenedMemory,
        wanted: &[CredentialId],
    ) -> Result<Names, StoreError> {
        let known = |names: &HashMap<_, _>| wanted.iter().all(|id| names.contains_key(id));
        {
            let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
            if known(&names) {
                return Ok(Names(names.clone()));
            }
        }
        let all = memory
            .credentials
            .credentials(memory.credential.tenant)
            .await?;
        let fresh: HashMap<_, _> = all.into_iter().map(|one| (one.id, one.name)).collect();
        *self.names.lock().unwrap_or_else(PoisonError::into_inner) = fresh.clone();
        Ok(Names(fresh))
    }
}

/// What people call the holders of credentials.
#[derive(Debug, Clone)]
pub(crate) struct Names(HashMap<CredentialId, String>);

impl Names {
    /// Returns the name, or the id of a credential that is gone.
    pub(crate) fn of(&self, id: CredentialId) -> String {
        self.0.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }
}
