//! One file, several processes: the ports on SQLite.
//!
//! `connections` opens and lends connections, `first_look` answers whose a key is before there are
//! any, `schema` makes and migrates the file, `scope`
//! holds the one condition on who sees what, `row` and `facts` turn rows into domain values,
//! and each port has a module. A limit is written `$n + 0`: SQLite looks at the value of a bare
//! parameter there when it plans, and so plans anew at every call. A write is one transaction, begun as a write, so that it waits
//! for others at its start and never fails in its middle because of them.

mod connections;
mod credentials;
mod error;
mod facts;
mod first_look;
mod memories;
mod models;
mod quiet;
mod row;
mod schema;
mod scope;
mod sessions;

use std::{path::Path, sync::Arc, time::Duration};

use hyphae_core::{
    credential::{ApiKey, Credential},
    ports::{ChosenModel, StoreError},
};
use sqlx::sqlite::SqliteConnection;
use tokio::sync::OnceCell;

use connections::{Connections, FileId, Work};
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

/// A database that knows the holder of a key.
#[derive(Debug)]
pub struct Recognised {
    /// The database. Its connections are opened when they are first needed.
    pub store: SqliteStore,
    /// Whose key it is; not revoked.
    pub credential: Credential,
    /// The model that the vectors of their tenant belong to, if there is one yet.
    pub model: Option<ChosenModel>,
}

impl SqliteStore {
    /// Opens a database and recognises the holder of a key, in less than half a millisecond and
    /// on the calling thread.
    ///
    /// Returns none if there is anything to say against the key or the database, or anything to
    /// be done or waited for first. [`SqliteStore::open`] says and does it. Nothing of this
    /// process may be opening the same file meanwhile.
    pub fn recognise(path: &Path, options: SqliteOptions, key: &ApiKey) -> Option<Recognised> {
        let place = absolute(path).ok()?;
        // Noted before, so that one that takes its place during the look is another one.
        let file = FileId::of(&place).ok()?;
        let look = first_look::look(&place, key)?;
        let connections = Connections::new(place, &options).after(file, look.connection);
        Some(Recognised {
            store: Self::over(connections),
            credential: look.credential,
            model: look.model,
        })
    }

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
        Ok(Self::over(connections))
    }

    fn over(connections: Connections) -> Self {
        Self {
            connections: Arc::new(connections),
            key_secret: Arc::default(),
        }
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
