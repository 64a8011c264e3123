//! A database in a folder of its own.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use hyphae_core::ports::StoreError;
use hyphae_store::{SqliteOptions, Store};
use hyphae_testkit::contract::{Ports, Subject};
use sqlx::{
    ConnectOptions, Connection,
    sqlite::{SqliteConnectOptions, SqliteConnection},
};
use tempfile::TempDir;

/// A store and the folder that goes away with the last of its handles.
#[derive(Debug)]
pub(crate) struct OnDisk {
    pub(crate) store: Store,
    pub(crate) folder: Arc<TempDir>,
}

impl OnDisk {
    pub(crate) async fn new() -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let path = folder.path().join("hyphae.db");
        let store = Store::create_file(&path, SqliteOptions::default())
            .await
            .unwrap();
        Self { store, folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("hyphae.db")
    }
}

pub(crate) async fn empty() -> Option<Box<dyn Subject>> {
    Some(Box::new(OnDisk::new().await))
}

#[async_trait]
impl Subject for OnDisk {
    fn ports(&self) -> &dyn Ports {
        &self.store
    }

    async fn again(&self) -> Box<dyn Subject> {
        let path = self.path();
        let store = Store::open_file(&path, SqliteOptions::default());
        Box::new(Self {
            store: store.await.unwrap(),
            folder: Arc::clone(&self.folder),
        })
    }
}

impl OnDisk {
    /// Opens the file once more, with a short patience.
    pub(crate) async fn open(&self) -> Result<Store, StoreError> {
        Store::open_file(&self.path(), impatient()).await
    }

    /// Runs statements of any kind on a connection of its own.
    pub(crate) async fn run(&self, sql: &'static str) {
        let mut connection = connect(&self.path()).await;
        sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }
}

/// Options for tests in which somebody else holds the database.
pub(crate) fn impatient() -> SqliteOptions {
    SqliteOptions {
        busy_timeout: Duration::from_millis(20),
        ..SqliteOptions::default()
    }
}

/// Connects as any other program would.
pub(crate) async fn connect(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path);
    options.connect().await.unwrap()
}
