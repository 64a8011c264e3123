//! One file, several processes: the ports on SQLite.
//!
//! `connections` opens and lends connections, `schema` makes and migrates the file, `scope`
//! holds the one condition on who sees what, `row` and `facts` turn rows into domain values,
//! and each port has a module. A limit is written `$n + 0`: SQLite looks at the value of a bare
//! parameter there when it plans, and so plans anew at every call. A write is one transaction, begun as a write, so that it waits
//! for others at its start and never fails in its middle because of them.

mod connections;
mod credentials;
mod error;
mod facts;
mod memories;
mod models;
mod row;
mod schema;
mod scope;
mod sessions;

use std::{path::Path, sync::Arc, time::Duration};

use hyphae_core::ports::StoreError;
use sqlx::sqlite::SqliteConnection;
use tokio::sync::OnceCell;

use connections::{Connections, Work};
use credentials::KeySecret;
use error::Fault;

/// How a database is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SqliteOptions {
    /// How long to wait for another process that writes.
    pub busy_timeout: Duration,
    /// The most connections that read at once.
    pub readers: usize,
}

impl Default for SqliteOptions {
    /// Five seconds, four readers.
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(5),
            readers: 4,
        }
    }
}

/// Keeps memories, sessions and credentials in one SQLite file. Cheap to clone; all clones
/// share their connections.
///
/// Must be used inside a tokio runtime. The path must be valid UTF-8.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    connections: Arc<Connections>,
    key_secret: Arc<OnceCell<KeySecret>>,
}

impl SqliteStore {
    /// Opens the database, and makes it first if there is none: the folder with mode 0700, the
    /// file with mode 0600. Any number of processes may do so at once.
    ///
    /// # Errors
    /// As [`SqliteStore::open`]; [`StoreError::ReadOnly`] or [`StoreError::Full`] if the file
    /// cannot be made.
    pub async fn create(path: &Path, options: SqliteOptions) -> Result<Self, StoreError> {
        schema::create(&absolute(path)?).await?;
        Self::open(path, options).await
    }

    /// Opens a database. One of an older schema is migrated first, in one transaction; programs
    /// that are older than the new schema refuse it from then on.
    ///
    /// # Errors
    /// [`StoreError::Missing`] if there is none, [`StoreError::Newer`] if a later version of the
    /// program made it, [`StoreError::Damaged`] if the file is no sound database.
    pub async fn open(path: &Path, options: SqliteOptions) -> Result<Self, StoreError> {
        let connections = Connections::new(absolute(path)?, &options);
        schema::check(&connections).await?;
        Ok(Self {
            connections: Arc::new(connections),
            key_secret: Arc::default(),
        })
    }

    /// Waits for writes that have begun and closes the file. Reads fail afterwards.
    pub async fn close(&self) {
        self.connections.close().await;
    }

    /// Runs `work` on a reading connection.
    async fn read<T>(
        &self,
        work: impl AsyncFnOnce(&mut SqliteConnection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.connections
            .read(work)
            .await
            .map_err(|fault| self.store_error(fault))
    }

    /// Runs `work` in a write transaction.
    async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> Work<'c, T> + Send + 'static,
    {
        self.connections
            .write(work)
            .await
            .map_err(|fault| self.store_error(fault))
    }

    fn store_error(&self, fault: Fault) -> StoreError {
        fault.store_error(self.connections.place())
    }
}

/// SQLite takes a name that begins with `file:` for a URI; an absolute path never does.
fn absolute(path: &Path) -> Result<std::path::PathBuf, StoreError> {
    std::path::absolute(path).map_err(|error| error::of_io(&error, path))
}
