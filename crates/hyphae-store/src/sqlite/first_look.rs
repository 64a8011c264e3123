//! The first look at a database: whose key is this, and which model are the vectors of?
//!
//! A program that an editor starts must know whose it is before it answers anything, and the
//! editor waits. An ordinary connection lives in a thread of its own and is asked question by
//! question, which takes twice as long as SQLite itself does. This one asks on the calling
//! thread, in one transaction.
//!
//! Only a plain yes counts: a sound database of the present version, a key that it knows and
//! that nobody revoked. Whatever else there is, the ordinary way finds it again, knows what it is
//! called, waits for locks and migrates.

use std::{path::Path, time::Duration};

use hyphae_core::{
    credential::{ApiKey, Credential},
    ids::{CredentialId, TenantId},
    ports::ChosenModel,
};
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::{
    quiet::{self, Quiet},
    schema::{APPLICATION, VERSION},
};
use crate::{
    error::BadRow,
    statements::{
        KEY_SECRET,
        row::{to_time, to_uuid},
    },
};

/// What a first look found.
#[derive(Debug)]
pub(crate) struct FirstLook {
    /// A connection that only reads, unless the database was quiet. It keeps the index of the
    /// log, which the first one on a file makes and the last one removes, for those that follow.
    pub(crate) connection: Option<Connection>,
    pub(crate) credential: Credential,
    pub(crate) model: Option<ChosenModel>,
}

/// Looks once, without waiting for locks. Returns none unless all is as it usually is.
pub(crate) fn look(place: &Path, key: &ApiKey) -> Option<FirstLook> {
    let looked = match Quiet::of(place).zip(quiet::uri(place)) {
        Some((before, uri)) => {
            let found = look_at_quiet(&uri, key);
            if Quiet::of(place) == Some(before) {
                found
            } else {
                look_beside_others(place, key)
            }
        }
        None => look_beside_others(place, key),
    };
    looked.unwrap_or_else(|error| {
        tracing::debug!(%error, "the first look at the database tells nothing");
        None
    })
}

fn look_at_quiet(uri: &str, key: &ApiKey) -> rusqlite::Result<Option<FirstLook>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    let found = if is_present(&connection)? {
        holder(&connection, key)?
    } else {
        None
    };
    Ok(found.map(|(credential, model)| FirstLook {
        connection: None,
        credential,
        model,
    }))
}

fn look_beside_others(place: &Path, key: &ApiKey) -> rusqlite::Result<Option<FirstLook>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(place, flags)?;
    connection.busy_timeout(Duration::ZERO)?;
    let transaction = connection.transaction()?;
    let mode: String = transaction.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    let found = if mode == "wal" && is_present(&transaction)? {
        holder(&transaction, key)?
    } else {
        None
    };
    drop(transaction);
    Ok(found.map(|(credential, model)| FirstLook {
        connection: Some(connection),
        credential,
        model,
    }))
}

/// Tells whether this is a database of ours that need not be migrated.
fn is_present(connection: &Connection) -> rusqlite::Result<bool> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    Ok(number("application_id")? == APPLICATION && number("user_version")? == VERSION)
}

/// Returns who holds the key, and the model of their tenant; none if it was revoked.
fn holder(
    connection: &Connection,
    key: &ApiKey,
) -> rusqlite::Result<Option<(Credential, Option<ChosenModel>)>> {
    let secret: [u8; 32] = connection.query_row(
        "select value from settings where name = $1",
        [KEY_SECRET],
        |row| row.get(0),
    )?;
    let row = connection
        .query_row(
            "select c.credential_id, c.tenant_id, c.name, c.created_at, m.name, m.dimension
             from credentials c
             left join tenants t on t.tenant_id = c.tenant_id
             left join models m on m.tenant_id = t.tenant_id and m.model_no = t.model_no
             where c.key_hash = $1 and c.revoked_at is null",
            [key.hash(&secret).0.as_slice()],
            |row| {
                Ok(Row {
                    credential: row.get(0)?,
                    tenant: row.get(1)?,
                    name: row.get(2)?,
                    created_at: row.get(3)?,
                    model: row.get(4)?,
                    dimension: row.get(5)?,
                })
            },
        )
        .optional()?;
    Ok(row.and_then(|row| row.read().ok()))
}

struct Row {
    credential: [u8; 16],
    tenant: [u8; 16],
    name: String,
    created_at: i64,
    model: Option<String>,
    dimension: Option<i64>,
}

impl Row {
    fn read(self) -> Result<(Credential, Option<ChosenModel>), BadRow> {
        let credential = Credential {
            id: CredentialId::new(to_uuid(&self.credential)?),
            tenant: TenantId::new(to_uuid(&self.tenant)?),
            name: self.name,
            created_at: to_time(self.created_at)?,
            revoked_at: None,
        };
        let model = match self.model.zip(self.dimension) {
            Some((id, dimension)) => Some(ChosenModel {
                id,
                dimension: usize::try_from(dimension).map_err(|_| BadRow { what: "dimension" })?,
            }),
            None => None,
        };
        Ok((credential, model))
    }
}
