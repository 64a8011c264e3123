//! The tables on a server: how they are made, what version they have, how they are brought up to
//! date. All of it happens in one transaction that others wait for.

use hyphae_core::ports::StoreError;

use super::connections::Connections;
use crate::{
    error::Fault,
    sql::{Connection, Query, sql},
    statements::{add_default_tenant, add_key_secret, row::Columns},
    store::{Hold, Schema, Verdict},
};

/// Each brings the tables from its index to the next version. Only ever appended to.
const MIGRATIONS: &[&str] = &[include_str!("../../migrations/postgres/0001_first.sql")];

/// The newest version of the tables that this program knows.
const VERSION: i64 = MIGRATIONS.len() as i64;

/// What whoever changes the tables holds: `HYPH`.
const LOCK: &str = "select pg_advisory_xact_lock(1213812808)";

/// Makes the tables unless they are there; others may be doing the same.
pub(crate) async fn create(connections: &Connections) -> Result<(), StoreError> {
    match check(connections).await {
        Err(StoreError::Missing { .. }) => bring_up_to_date(connections, Start::Anew).await,
        checked => checked,
    }
}

/// Tells what version the tables have, and notes whether their policies hold for this user.
pub(crate) async fn look(connections: &Connections) -> Result<Schema, StoreError> {
    let found = connections
        .read(None, async |connection| read(connection).await)
        .await;
    let (version, restricting) = found.map_err(|fault| connections.store_error(fault))?;
    connections.set_restricting(restricting);
    check_version(version, connections.place())?;
    Ok(Schema::new(version, MIGRATIONS))
}

/// Checks that the tables are there and migrates older ones.
pub(crate) async fn check(connections: &Connections) -> Result<(), StoreError> {
    let version = look(connections).await?.found;
    if version < VERSION {
        bring_up_to_date(connections, Start::There).await?;
    }
    Ok(())
}

/// What a migration begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// Perhaps with nothing.
    Anew,
    /// With older tables.
    There,
}

async fn bring_up_to_date(connections: &Connections, start: Start) -> Result<(), StoreError> {
    let place = connections.place().to_owned();
    let done = connections.write(None, Hold::Nothing, None, move |connection| {
        Box::pin(async move {
            connection.run(LOCK).await?;
            // Another process may have been faster, and may know more versions than we do.
            let found = match start {
                Start::Anew if !is_there(connection).await? => 0,
                Start::Anew | Start::There => version(connection).await?,
            };
            check_version(found, &place)?;
            for (version, migration) in (1_i64..).zip(MIGRATIONS) {
                if version > found {
                    connection.run(migration).await?;
                }
            }
            set_version(connection).await?;
            if found == 0 {
                add_key_secret(connection).await?;
                add_default_tenant(connection).await?;
            }
            Ok(Verdict::Commit(()))
        })
    });
    done.await.map_err(|fault| connections.store_error(fault))
}

/// Refuses tables of a later version.
fn check_version(found: i64, place: &str) -> Result<(), StoreError> {
    if found > VERSION {
        return Err(StoreError::Newer {
            place: place.to_owned(),
            found,
            known: VERSION,
        });
    }
    Ok(())
}

async fn is_there(connection: &mut Connection) -> Result<bool, Fault> {
    let sql = sql!("select to_regclass('hyphae_schema') is not null");
    let row = Query::new(sql).fetch_one(connection).await?;
    Ok(Columns(&row).get(0, "schema")?)
}

/// Returns the version of the tables, and whether their policies hold for this user.
async fn read(connection: &mut Connection) -> Result<(i64, bool), Fault> {
    let sql = sql!("select version, row_security_active('cells') from hyphae_schema");
    let row = Query::new(sql).fetch_one(connection).await?;
    let row = Columns(&row);
    Ok((row.get(0, "schema")?, row.get(1, "schema")?))
}

async fn version(connection: &mut Connection) -> Result<i64, Fault> {
    let sql = sql!("select version from hyphae_schema");
    let row = Query::new(sql).fetch_one(connection).await?;
    Ok(Columns(&row).get(0, "schema")?)
}

async fn set_version(connection: &mut Connection) -> Result<(), Fault> {
    let sql = sql!("update hyphae_schema set version = $1");
    Query::new(sql).bind(VERSION).execute(connection).await?;
    Ok(())
}
