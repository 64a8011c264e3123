//! A store on whichever database keeps it.

use std::{
    path::Path,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use hyphae_core::{
    credential::{ApiKey, Credential},
    ids::{AuditId, SessionId, TenantId},
    ports::{ChosenModel, SessionError, StoreError},
    scope::Owner,
};
use tokio::sync::OnceCell;

use crate::{
    error::{Fault, Place},
    postgres::{self, PostgresAddress, PostgresOptions},
    sql::{Connection, sql},
    sqlite::{self, SqliteOptions},
    statements::{KeySecret, is_good, scope::of_tenant},
};

/// Keeps memories, sessions and credentials. Cheap to clone; all clones share their connections.
///
/// Must be used inside a tokio runtime. The path of a file must be valid UTF-8.
#[derive(Debug, Clone)]
pub struct Store {
    pool: Arc<Pool>,
    holder: Option<Arc<Holder>>,
    pub(crate) key_secret: Arc<OnceCell<KeySecret>>,
}

/// A database that knows the holder of a key.
#[derive(Debug)]
pub struct Recognised {
    /// The database. Its connections are opened when they are first needed.
    pub store: Store,
    /// Whose key it is; not revoked.
    pub credential: Credential,
    /// The model that the vectors of their tenant belong to, if there is one yet.
    pub model: Option<ChosenModel>,
}

/// What version a database's tables have, and what this program would make of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// The version of the tables.
    pub found: i64,
    /// The newest version that this program knows.
    pub known: i64,
    /// What leads from one to the other: scripts in the language of the database.
    pub pending: Vec<&'static str>,
}

impl Schema {
    pub(crate) fn new(found: i64, migrations: &'static [&'static str]) -> Self {
        let known = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
        let done = usize::try_from(found).unwrap_or(0);
        Self {
            found,
            known,
            pending: migrations.iter().skip(done).copied().collect(),
        }
    }
}

/// The connections to a database of either kind.
#[derive(Debug)]
enum Pool {
    Sqlite(Box<sqlite::Connections>),
    Postgres(postgres::Connections),
}

/// What a write keeps others from changing until its end, where several may write at once.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Hold {
    /// The memories of a tenant.
    Tenant(TenantId),
    Nothing,
}

/// The row of the audit that a write leaves behind if it is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Proof {
    pub(crate) tenant: TenantId,
    pub(crate) audit: AuditId,
}

impl Proof {
    /// Tells whether the write was kept.
    pub(crate) async fn is_there(self, connection: &mut Connection) -> Result<bool, Fault> {
        let sql = sql!("select 1 from audit where tenant_id = $1 and audit_id = $2");
        let query = of_tenant(sql, self.tenant).bind(self.audit.uuid());
        Ok(query.fetch_optional(connection).await?.is_some())
    }
}

/// Whoever a process acts for.
#[derive(Debug)]
struct Holder {
    owner: Owner,
    /// When the key was last known to be good.
    proved: Mutex<Instant>,
}

impl Holder {
    fn proved(&self) -> MutexGuard<'_, Instant> {
        // Nothing panics while it holds the lock.
        self.proved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// For how long a key that was good is not asked about again.
const TRUSTED: Duration = Duration::from_secs(2);

/// What a write has decided.
#[derive(Debug)]
pub(crate) enum Verdict<T> {
    /// Keep what was written.
    Commit(T),
    /// Keep nothing.
    Rollback(T),
}

/// The future of a write, which borrows its connection.
pub(crate) type Work<'c, T> = Pin<Box<dyn Future<Output = Result<Verdict<T>, Fault>> + Send + 'c>>;

impl Store {
    /// Opens a database file and recognises the holder of a key, in less than half a millisecond
    /// and on the calling thread.
    ///
    /// Returns none if there is anything to say against the key or the database, or anything to
    /// be done or waited for first. [`Store::open_file`] says and does it. Nothing of this
    /// process may be opening the same file meanwhile.
    pub fn recognise(path: &Path, options: SqliteOptions, key: &ApiKey) -> Option<Recognised> {
        let (connections, credential, model) = sqlite::recognise(path, options, key)?;
        Some(Recognised {
            store: Self::over(Pool::Sqlite(Box::new(connections))),
            credential,
            model,
        })
    }

    /// Opens a database file, and makes it first if there is none: the folder with mode 0700, the
    /// file with mode 0600. Any number of processes may do so at once.
    ///
    /// # Errors
    /// As [`Store::open_file`]; [`StoreError::ReadOnly`] or [`StoreError::Full`] if the file
    /// cannot be made.
    pub async fn create_file(path: &Path, options: SqliteOptions) -> Result<Self, StoreError> {
        sqlite::create(path).await?;
        Self::open_file(path, options).await
    }

    /// Opens a database file. One of an older schema is migrated first, in one transaction;
    /// programs that are older than the new schema refuse it from then on.
    ///
    /// # Errors
    /// [`StoreError::Missing`] if there is none, [`StoreError::Newer`] if a later version of the
    /// program made it, [`StoreError::Damaged`] if the file is no sound database.
    pub async fn open_file(path: &Path, options: SqliteOptions) -> Result<Self, StoreError> {
        let connections = sqlite::open(path, options).await?;
        Ok(Self::over(Pool::Sqlite(Box::new(connections))))
    }

    /// Looks at the tables of a database file and changes nothing.
    ///
    /// # Errors
    /// As [`Store::open_file`].
    pub async fn schema_of_file(path: &Path, options: SqliteOptions) -> Result<Schema, StoreError> {
        sqlite::schema(path, options).await
    }

    /// Looks at the tables on a server and changes nothing.
    ///
    /// # Errors
    /// As [`Store::connect`].
    pub async fn schema_on_server(
        address: &PostgresAddress,
        options: PostgresOptions,
    ) -> Result<Schema, StoreError> {
        postgres::schema(address, options).await
    }

    /// Connects to a server, and makes the tables first if there are none. Any number of processes
    /// may do so at once.
    ///
    /// # Errors
    /// As [`Store::connect`].
    pub async fn create_on_server(
        address: &PostgresAddress,
        options: PostgresOptions,
    ) -> Result<Self, StoreError> {
        let connections = postgres::create(address, options).await?;
        Ok(Self::over(Pool::Postgres(connections)))
    }

    /// Connects to a server. Tables of an older schema are migrated first, in one transaction;
    /// programs that are older than the new schema refuse it from then on.
    ///
    /// # Errors
    /// [`StoreError::Missing`] if there are no tables, [`StoreError::Newer`] if a later version of
    /// the program made them, [`StoreError::Unavailable`] if the server cannot be used.
    pub async fn connect(
        address: &PostgresAddress,
        options: PostgresOptions,
    ) -> Result<Self, StoreError> {
        let connections = postgres::open(address, options).await?;
        Ok(Self::over(Pool::Postgres(connections)))
    }

    fn over(pool: Pool) -> Self {
        Self {
            pool: Arc::new(pool),
            holder: None,
            key_secret: Arc::default(),
        }
    }

    /// From now on, acts for whoever was just proved to hold a key: if it is revoked, everything
    /// fails with [`StoreError::Revoked`] within seconds.
    #[must_use]
    pub fn acting_for(self, owner: Owner) -> Self {
        Self {
            holder: Some(Arc::new(Holder {
                owner,
                proved: Mutex::new(Instant::now()),
            })),
            ..self
        }
    }

    /// Asks whether the key is still good, unless that is known.
    async fn check_holder(&self) -> Result<(), Fault> {
        let Some(holder) = &self.holder else {
            return Ok(());
        };
        if holder.proved().elapsed() < TRUSTED {
            return Ok(());
        }
        let begun = Instant::now();
        let owner = holder.owner;
        // Rarely asked, and large.
        let asked = self.read_from_pool(async |connection| is_good(connection, owner).await);
        let good = Box::pin(asked).await?;
        if !good {
            return Err(StoreError::Revoked.into());
        }
        *holder.proved() = begun;
        Ok(())
    }

    /// Waits for writes that have begun and closes the connections. Reads fail afterwards.
    pub async fn close(&self) {
        match &*self.pool {
            Pool::Sqlite(connections) => connections.close().await,
            Pool::Postgres(connections) => connections.close().await,
        }
    }

    /// Runs `work` on a reading connection.
    pub(crate) async fn read<T>(
        &self,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let read = self.try_read(work).await;
        read.map_err(|fault| self.store_error(fault))
    }

    /// Runs `work` in a write transaction.
    pub(crate) async fn write<T, F>(&self, hold: Hold, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> Work<'c, T> + Send + 'static,
    {
        let written = self.write_to_pool(hold, None, work).await;
        written.map_err(|fault| self.store_error(fault))
    }

    /// The same for a write that leaves a row of the audit behind: if the answer to the commit
    /// gets lost, that row tells whether it was kept.
    pub(crate) async fn write_audited<T, F>(&self, proof: Proof, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> Work<'c, T> + Send + 'static,
    {
        let hold = Hold::Tenant(proof.tenant);
        let written = self.write_to_pool(hold, Some(proof), work).await;
        written.map_err(|fault| self.store_error(fault))
    }

    /// Runs `work` on a reading connection, for a session.
    pub(crate) async fn read_session<T>(
        &self,
        id: SessionId,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, Fault>,
    ) -> Result<T, SessionError> {
        let read = self.try_read(work).await;
        read.map_err(|fault| self.session_error(fault, id))
    }

    /// Runs `work` in a write transaction, for a session.
    pub(crate) async fn write_session<T, F>(
        &self,
        id: SessionId,
        work: F,
    ) -> Result<T, SessionError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> Work<'c, T> + Send + 'static,
    {
        let written = self.write_to_pool(Hold::Nothing, None, work).await;
        written.map_err(|fault| self.session_error(fault, id))
    }

    async fn try_read<T>(
        &self,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        // A read does no harm before it is known that the key is still good.
        let (good, read) = tokio::join!(self.check_holder(), self.read_from_pool(work));
        good.and(read)
    }

    async fn read_from_pool<T>(
        &self,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        match &*self.pool {
            Pool::Sqlite(connections) => connections.read(work).await,
            Pool::Postgres(connections) => connections.read(self.tenant(), work).await,
        }
    }

    async fn write_to_pool<T, F>(
        &self,
        hold: Hold,
        proof: Option<Proof>,
        work: F,
    ) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> Work<'c, T> + Send + 'static,
    {
        self.check_holder().await?;
        match &*self.pool {
            // Only one writes, and nothing gets lost on the way.
            Pool::Sqlite(connections) => connections.write(work).await,
            Pool::Postgres(connections) => {
                connections.write(self.tenant(), hold, proof, work).await
            }
        }
    }

    /// Returns whose rows this process may see, if it acts for somebody.
    fn tenant(&self) -> Option<TenantId> {
        Some(self.holder.as_ref()?.owner.tenant)
    }

    /// Lets nothing that was erased lie about in the database's own files, as far as that is ours
    /// to do.
    pub(crate) async fn forget_erased(&self) -> Result<(), Fault> {
        match &*self.pool {
            // The log holds what was erased from the file.
            Pool::Sqlite(connections) => {
                let sql = "pragma wal_checkpoint(truncate)";
                connections.run_alone(sql).await
            }
            // What is dead in the tables, and in copies of the log, is the server's to tidy up.
            Pool::Postgres(_) => Ok(()),
        }
    }

    fn store_error(&self, fault: Fault) -> StoreError {
        fault.store_error(&self.place())
    }

    pub(crate) fn session_error(&self, fault: Fault, id: SessionId) -> SessionError {
        fault.session_error(&self.place(), id)
    }

    fn place(&self) -> Place<'_> {
        match &*self.pool {
            Pool::Sqlite(connections) => Place::File(connections.place()),
            Pool::Postgres(connections) => Place::Server(connections.place()),
        }
    }
}
