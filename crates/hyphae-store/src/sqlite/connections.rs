//! Connections to one database file: one that writes, and reads while nothing is to be written,
//! and a few that only read; each is opened when it is first needed.
//!
//! A write runs in a task of its own that holds the writing connection, so that a caller who
//! goes away leaves neither half a change nor an open transaction. A connection that has seen an
//! error of the database is closed, not reused.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use hyphae_core::ports::StoreError;

use sqlx::{
    ConnectOptions, Connection as _,
    sqlite::{SqliteConnectOptions, SqliteSynchronous},
};
use tokio::sync::Semaphore;

use super::{SqliteOptions, of_io};
use crate::{
    error::Fault,
    sql::{Connection, Query, sql},
    store::{Verdict, Work},
};

/// A pool for one file.
#[derive(Debug)]
pub(crate) struct Connections {
    place: PathBuf,
    file: Arc<OnceLock<FileId>>,
    writing: SqliteConnectOptions,
    reading: SqliteConnectOptions,
    writer: Arc<tokio::sync::Mutex<Option<Connection>>>,
    idle: Mutex<Vec<Connection>>,
    permits: Semaphore,
    /// The connection of the first look, until there is another.
    first: Mutex<Option<rusqlite::Connection>>,
}

/// Which file lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    pub(crate) fn of(place: &Path) -> Result<Self, StoreError> {
        let found = fs::metadata(place).map_err(|error| of_io(&error, place))?;
        Ok(Self {
            device: found.dev(),
            inode: found.ino(),
        })
    }
}

/// Fails if the file that connections are open on is no longer the one at the path: what is
/// written to it would be gone with the last process that has it open.
fn still_there(place: &Path, file: &OnceLock<FileId>) -> Result<(), StoreError> {
    let Some(opened) = file.get() else {
        return Ok(());
    };
    if FileId::of(place)? == *opened {
        return Ok(());
    }
    Err(StoreError::Replaced {
        place: place.display().to_string(),
    })
}

/// Opens a connection and notes which file it is on.
async fn connect(
    options: &SqliteConnectOptions,
    place: &Path,
    file: &OnceLock<FileId>,
) -> Result<Connection, Fault> {
    let connection = options.connect().await?;
    if file.get().is_none() {
        let opened = FileId::of(place)?;
        file.get_or_init(|| opened);
    }
    Ok(Connection::Sqlite(connection))
}

impl Connections {
    pub(crate) fn new(place: PathBuf, options: &SqliteOptions) -> Self {
        let common = SqliteConnectOptions::new()
            .filename(&place)
            // SQLite counts milliseconds in 31 bits.
            .busy_timeout(options.busy_timeout.min(Duration::from_secs(1_000_000)))
            .foreign_keys(true)
            .thread_name(|n| format!("hyphae-sqlite-{n}"))
            .disable_statement_logging();
        let writing = common
            .clone()
            .synchronous(SqliteSynchronous::Full)
            // Erased text must not linger in free pages.
            .pragma("secure_delete", "on")
            // A large import must not leave a large log behind.
            .pragma("journal_size_limit", "16777216");
        Self {
            place,
            file: Arc::default(),
            writing,
            reading: common.pragma("query_only", "on"),
            writer: Arc::default(),
            idle: Mutex::default(),
            permits: Semaphore::new(options.readers.max(1)),
            first: Mutex::default(),
        }
    }

    /// Goes on from a first look at this file. Its connection is kept until there is another:
    /// SQLite would tidy up behind the last one on a file and make everything anew for the next.
    pub(crate) fn after(self, file: FileId, first: Option<rusqlite::Connection>) -> Self {
        Self {
            file: Arc::new(OnceLock::from(file)),
            first: Mutex::new(first),
            ..self
        }
    }

    /// Returns where the file lies.
    pub(crate) fn place(&self) -> &Path {
        &self.place
    }

    /// Runs `work` on a reading connection, which is closed if the caller goes away meanwhile.
    pub(crate) async fn read<T>(
        &self,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let _permit = self
            .permits
            .acquire()
            .await
            .map_err(|_| Fault::other("the store is closed"))?;
        still_there(&self.place, &self.file)?;
        // What it wrote last is still in its pages; every other connection has to read anew.
        if let Ok(mut writer) = self.writer.try_lock()
            && let Some(mut connection) = writer.take()
        {
            let result = work(&mut connection).await;
            if is_usable_after(&result) {
                *writer = Some(connection);
            }
            return result;
        }
        let idle = self.idle().pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => {
                let connection = connect(&self.reading, &self.place, &self.file).await?;
                self.forget_first();
                connection
            }
        };
        let result = work(&mut connection).await;
        if is_usable_after(&result) {
            self.idle().push(connection);
        }
        result
    }

    /// Runs `work` inside one write transaction.
    ///
    /// Once this has begun, it is carried to its end whether or not the caller waits for it.
    pub(crate) async fn write<T, F>(&self, work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> Work<'c, T> + Send + 'static,
    {
        let mut writer = Arc::clone(&self.writer).lock_owned().await;
        let options = self.writing.clone();
        let (place, file) = (self.place.clone(), Arc::clone(&self.file));
        let task = tokio::spawn(async move {
            still_there(&place, &file)?;
            let mut connection = match writer.take() {
                Some(connection) => connection,
                None => connect(&options, &place, &file).await?,
            };
            let result = transact(&mut connection, work, || still_there(&place, &file)).await;
            if is_usable_after(&result) {
                *writer = Some(connection);
            } else {
                // SQLite rolls back as it closes.
                connection.close().await;
            }
            result
        });
        task.await
            .map_err(|_| Fault::other("a write was interrupted"))?
    }

    /// Runs a statement that cannot be part of a transaction, on a connection of its own.
    pub(crate) async fn run_alone(&self, sql: &'static str) -> Result<(), Fault> {
        let mut connection = self.writing.connect().await?;
        sqlx::raw_sql(sql).execute(&mut connection).await?;
        connection.close().await?;
        Ok(())
    }

    /// Closes what is open and waits for writes that have begun.
    pub(crate) async fn close(&self) {
        self.permits.close();
        let writer = self.writer.lock().await.take();
        let idle = std::mem::take(&mut *self.idle());
        for connection in writer.into_iter().chain(idle) {
            connection.close().await;
        }
        self.forget_first();
    }

    fn forget_first(&self) {
        let first = self
            .first
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(first);
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        // Nothing panics while it holds the lock, and the list is never half changed.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks with `may_commit` as late as can be.
async fn transact<T, F>(
    connection: &mut Connection,
    work: F,
    may_commit: impl FnOnce() -> Result<(), StoreError>,
) -> Result<T, Fault>
where
    F: for<'c> FnOnce(&'c mut Connection) -> Work<'c, T>,
{
    Query::new(sql!("begin immediate"))
        .execute(connection)
        .await?;
    match work(connection).await {
        Ok(Verdict::Commit(value)) => {
            if let Err(gone) = may_commit() {
                connection.roll_back().await?;
                return Err(gone.into());
            }
            Query::new(sql!("commit")).execute(connection).await?;
            Ok(value)
        }
        Ok(Verdict::Rollback(value)) => {
            connection.roll_back().await?;
            Ok(value)
        }
        Err(fault) if fault.is_harmless() => {
            connection.roll_back().await?;
            Err(fault)
        }
        Err(fault) => Err(fault),
    }
}

/// Tells whether a connection that gave this result is as good as before.
const fn is_usable_after<T>(result: &Result<T, Fault>) -> bool {
    match result {
        Ok(_) => true,
        Err(fault) => fault.is_harmless(),
    }
}
