//! Connections to one server: a few, each opened when it is first needed, reading and writing.
//!
//! A write runs in a task of its own, so that a caller who goes away leaves neither half a change
//! nor an open transaction. It begins by taking its tenant's row, so that a tenant's changes
//! become visible in the order of their sequences.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use hyphae_core::{ids::TenantId, ports::StoreError};
use tokio::sync::Semaphore;
use tokio_postgres::{Client, Config};

use super::{
    PostgresAddress, PostgresOptions, Session,
    session::{is_lost, is_overtaken, restriction},
    tls::Tls,
};
use crate::{
    error::{Fault, Place},
    sql::Connection,
    store::{Hold, Proof, Verdict, Work},
};

/// The oldest server that is used.
const OLDEST: u32 = 15;

/// A pool for one server.
#[derive(Debug)]
pub(crate) struct Connections {
    target: Arc<Target>,
    permits: Arc<Semaphore>,
}

/// Where connections lead to, and those that are not in use.
#[derive(Debug)]
pub(crate) struct Target {
    place: String,
    config: Config,
    tls: Tls,
    options: PostgresOptions,
    idle: Mutex<Vec<Session>>,
    /// Whether the tables' policies hold for this user.
    restricting: AtomicBool,
}

impl Connections {
    pub(crate) fn new(
        address: &PostgresAddress,
        options: PostgresOptions,
    ) -> Result<Self, StoreError> {
        let mut config = address.config.clone();
        config.connect_timeout(options.connect_timeout);
        Ok(Self {
            target: Arc::new(Target {
                place: address.to_string(),
                config,
                tls: Tls::new(&address.trust)?,
                options,
                idle: Mutex::default(),
                restricting: AtomicBool::new(true),
            }),
            permits: Arc::new(Semaphore::new(options.connections.max(1))),
        })
    }

    /// Notes whether the tables' policies hold for this user.
    pub(crate) fn set_restricting(&self, restricting: bool) {
        self.target
            .restricting
            .store(restricting, Ordering::Relaxed);
    }

    /// Returns where the database is, without a password.
    pub(crate) fn place(&self) -> &str {
        &self.target.place
    }

    pub(crate) fn store_error(&self, fault: Fault) -> StoreError {
        fault.store_error(&Place::Server(self.place()))
    }

    /// Runs `work` on a connection. Its statements are transactions of their own.
    ///
    /// If the connection was lost since it was last used, they go on on a new one.
    pub(crate) async fn read<T>(
        &self,
        tenant: Option<TenantId>,
        work: impl AsyncFnOnce(&mut Connection) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let _permit = self.permits.acquire().await.map_err(closed)?;
        let mut session = match self.target.take() {
            Some(session) => session,
            None => Session::new(self.target.connect().await?),
        };
        session.begin_reading(&self.target, tenant);
        let mut connection = Connection::Postgres(session);
        let result = self.target.within_time(work(&mut connection)).await;
        // One that still works on what took too long is of no use.
        if !matches!(result, Err(Fault::TooSlow)) {
            self.target.put_back(connection);
        }
        result
    }

    /// Runs `work` inside one transaction, which holds the tenant's row if there is one.
    ///
    /// Once this has begun, it is carried to its end whether or not the caller waits for it. If
    /// the answer to the commit gets lost, `proof` tells whether it was kept.
    pub(crate) async fn write<T, F>(
        &self,
        tenant: Option<TenantId>,
        hold: Hold,
        proof: Option<Proof>,
        work: F,
    ) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> Work<'c, T> + Send + 'static,
    {
        let permit = Arc::clone(&self.permits)
            .acquire_owned()
            .await
            .map_err(closed)?;
        let target = Arc::clone(&self.target);
        let task = tokio::spawn(async move {
            let mut connection = Connection::Postgres(target.begin(tenant, hold).await?);
            let ended = transact(&mut connection, work).await;
            target.put_back(connection);
            let result = match (ended, proof) {
                (Ended::Known(result), _) => result,
                (Ended::Unknown(value, fault), Some(proof)) => {
                    target.was_kept(tenant, proof, fault).await.map(|()| value)
                }
                (Ended::Unknown(_, fault), None) => Err(fault),
            };
            drop(permit);
            result
        });
        task.await
            .map_err(|_| Fault::other("a write was interrupted"))?
    }

    /// Closes what is open and waits for writes that have begun.
    pub(crate) async fn close(&self) {
        let all = u32::try_from(self.target.options.connections.max(1)).unwrap_or(u32::MAX);
        let waited = self.permits.acquire_many(all).await;
        self.permits.close();
        drop(waited);
        self.target.idle().clear();
    }
}

fn closed(_: tokio::sync::AcquireError) -> Fault {
    Fault::other("the store is closed")
}

impl Target {
    /// Returns a connection that is not known to be lost.
    fn take(&self) -> Option<Session> {
        let mut idle = self.idle();
        idle.retain(|connection| !connection.is_closed());
        idle.pop()
    }

    fn put_back(&self, connection: Connection) {
        if let Connection::Postgres(mut session) = connection
            && !session.is_closed()
        {
            session.end();
            self.idle().push(session);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Session>> {
        // Nothing panics while it holds the lock, and the list is never half changed.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether the tables' policies hold for this user.
    pub(crate) fn is_restricting(&self) -> bool {
        self.restricting.load(Ordering::Relaxed)
    }

    async fn within_time<T>(
        &self,
        work: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Fault> {
        let timeout = self.options.statement_timeout;
        let done = tokio::time::timeout(timeout, work).await;
        done.unwrap_or(Err(Fault::TooSlow))
    }

    /// Makes a new connection.
    pub(crate) async fn connect(&self) -> Result<Client, Fault> {
        let connecting = self.config.connect(self.tls.clone());
        let (client, connection) = connecting.await?;
        let version = connection.parameter("server_version").unwrap_or_default();
        let encoding = connection.parameter("server_encoding").unwrap_or_default();
        check_server(&self.place, version, encoding)?;
        tokio::spawn(async move {
            // Whoever asks next learns that it is lost.
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection was lost");
            }
        });
        Ok(client)
    }

    /// Waits until it is known whether a transaction was kept whose answer got lost; gives its
    /// fault if it was not.
    async fn was_kept(
        &self,
        tenant: Option<TenantId>,
        proof: Proof,
        fault: Fault,
    ) -> Result<(), Fault> {
        let until = Instant::now() + self.options.connect_timeout;
        loop {
            match self.look_for(tenant, proof).await {
                Ok(true) => return Ok(()),
                Ok(false) => return Err(fault),
                Err(error) if Instant::now() > until => {
                    tracing::warn!(?error, "it is not known whether a write was kept");
                    return Err(Fault::other(
                        "the server has gone away while it wrote, and it is not known whether that was kept; look before you try again",
                    ));
                }
                // The server is being started again.
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }

    /// Looks for a proof. It holds what the transaction held, so that one that still ends has
    /// ended.
    async fn look_for(&self, tenant: Option<TenantId>, proof: Proof) -> Result<bool, Fault> {
        let mut connection =
            Connection::Postgres(self.begin(tenant, Hold::Tenant(proof.tenant)).await?);
        let found = proof.is_there(&mut connection).await?;
        connection.roll_back().await?;
        self.put_back(connection);
        Ok(found)
    }

    /// Begins a transaction. An idle connection that turns out to be lost is replaced.
    async fn begin(&self, tenant: Option<TenantId>, hold: Hold) -> Result<Session, Fault> {
        let tenant = tenant.or(match hold {
            Hold::Tenant(tenant) => Some(tenant),
            Hold::Nothing => None,
        });
        let begin = begin(&self.options, tenant, hold);
        let until = Instant::now() + self.options.lock_timeout;
        if let Some(mut session) = self.take() {
            match begin_in_turn(&mut session, &begin, until).await {
                Ok(()) => {
                    session.begin_writing(tenant);
                    return Ok(session);
                }
                Err(error) if is_lost(&error) => {}
                // Its transaction ends with it.
                Err(error) => return Err(error.into()),
            }
        }
        let mut session = Session::new(self.connect().await?);
        begin_in_turn(&mut session, &begin, until).await?;
        session.begin_writing(tenant);
        Ok(session)
    }
}

/// Begins a transaction, and begins it again if another one ended meanwhile and this one may not
/// see that: a server that keeps the tables on others has one view of them for a whole
/// transaction.
async fn begin_in_turn(
    session: &mut Session,
    begin: &str,
    until: Instant,
) -> Result<(), tokio_postgres::Error> {
    loop {
        match session.run(begin).await {
            Err(error) if is_overtaken(&error) && Instant::now() < until => {
                session.roll_back().await?;
            }
            begun => return begun,
        }
    }
}

/// Returns how a transaction begins. All that is set ends with it.
fn begin(options: &PostgresOptions, tenant: Option<TenantId>, hold: Hold) -> String {
    let milliseconds = |time: Duration| time.as_millis().clamp(1, 0x7fff_ffff);
    let lock = milliseconds(options.lock_timeout);
    let statement = milliseconds(options.statement_timeout);
    let mut begin = format!(
        "begin isolation level read committed; \
         set local lock_timeout = {lock}; set local statement_timeout = {statement}"
    );
    if let Some(tenant) = tenant {
        begin.push_str("; ");
        begin.push_str(&restriction(tenant));
    }
    if let Hold::Tenant(tenant) = hold {
        let tenant = tenant.uuid().as_simple().to_string();
        begin.push_str("; select 1 from tenants where tenant_id = '\\x");
        begin.push_str(&tenant);
        begin.push_str("' for no key update");
    }
    begin
}

/// How a transaction ended.
enum Ended<T> {
    Known(Result<T, Fault>),
    /// It was to be committed, and no answer came.
    Unknown(T, Fault),
}

async fn transact<T, F>(connection: &mut Connection, work: F) -> Ended<T>
where
    F: for<'c> FnOnce(&'c mut Connection) -> Work<'c, T>,
{
    let result = match work(connection).await {
        Ok(Verdict::Commit(value)) => match connection.run("commit").await {
            Ok(()) => return Ended::Known(Ok(value)),
            Err(fault) if fault.is_in_doubt() => return Ended::Unknown(value, fault),
            Err(fault) => Err(fault),
        },
        Ok(Verdict::Rollback(value)) => Ok(value),
        Err(fault) => Err(fault),
    };
    let undone = connection.roll_back().await;
    // Without a connection there is nothing left to undo.
    Ended::Known(result.and_then(|value| undone.map(|()| value)))
}

/// Refuses a server that cannot keep what we give it.
fn check_server(place: &str, version: &str, encoding: &str) -> Result<(), StoreError> {
    let refused = |message| {
        Err(StoreError::Unavailable {
            message,
            source: None,
        })
    };
    let number: String = version.chars().take_while(char::is_ascii_digit).collect();
    if number.parse().is_ok_and(|number: u32| number < OLDEST) {
        return refused(format!(
            "{place} is Postgres {version}; {OLDEST} is the oldest that can be used"
        ));
    }
    if encoding != "UTF8" {
        return refused(format!(
            "{place} keeps texts as {encoding}; make a database with `createdb --encoding UTF8 --template template0`"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_server_or_one_of_another_encoding_is_refused() {
        assert!(check_server("p", "15.18 (Debian 15.18-0+deb12u1)", "UTF8").is_ok());
        assert!(check_server("p", "18beta1", "UTF8").is_ok());
        let old = check_server("p", "14.9", "UTF8").unwrap_err().to_string();
        assert!(old.contains("Postgres 14.9; 15 is the oldest"), "{old}");
        let other = check_server("p", "16.1", "LATIN1").unwrap_err().to_string();
        assert!(other.contains("LATIN1"), "{other}");
    }
}
