//! A database in a folder of its own.

use std::{path::PathBuf, sync::Arc};

use async_trait::async_trait;
use hyphae_core::ports::{CredentialStore, MemoryStore, SessionStore};
use hyphae_store::{SqliteOptions, SqliteStore};
use hyphae_testkit::contract::Subject;
use tempfile::TempDir;

/// A store and the folder that goes away with the last of its handles.
#[derive(Debug)]
pub(crate) struct OnDisk {
    pub(crate) store: SqliteStore,
    pub(crate) folder: Arc<TempDir>,
}

impl OnDisk {
    pub(crate) async fn new() -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let path = folder.path().join("hyphae.db");
        let store = SqliteStore::create(&path, SqliteOptions::default())
            .await
            .unwrap();
        Self { store, folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("hyphae.db")
    }
}

pub(crate) async fn empty() -> Box<dyn Subject> {
    Box::new(OnDisk::new().await)
}

#[async_trait]
impl Subject for OnDisk {
    fn memories(&self) -> &dyn MemoryStore {
        &self.store
    }

    fn sessions(&self) -> &dyn SessionStore {
        &self.store
    }

    fn credentials(&self) -> &dyn CredentialStore {
        &self.store
    }

    async fn again(&self) -> Box<dyn Subject> {
        let path = self.path();
        let store = SqliteStore::open(&path, SqliteOptions::default());
        Box::new(Self {
            store: store.await.unwrap(),
            folder: Arc::clone(&self.folder),
        })
    }
}
