//! One file, several processes.
//!
//! `connections` opens and lends connections, `first_look` answers whose a key is before there are
//! any, `schema` makes and migrates the file. A write is one transaction, begun as a write, so that
//! it waits for others at its start and never fails in its middle because of them.

mod connections;
mod error;
mod first_look;
mod quiet;
mod schema;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use hyphae_core::{
    credential::{ApiKey, Credential},
    ports::{ChosenModel, StoreError},
};

use crate::store::Schema;
pub(crate) use connections::Connections;
use connections::FileId;
pub(crate) use error::{of_io, of_sqlx};

/// How a database file is used.
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

/// Opens a file and recognises the holder of a key at first sight, if there is nothing to say
/// against either.
pub(crate) fn recognise(
    path: &Path,
    options: SqliteOptions,
    key: &ApiKey,
) -> Option<(Connections, Credential, Option<ChosenModel>)> {
    let place = absolute(path).ok()?;
    // Noted before, so that one that takes its place during the look is another one.
    let file = FileId::of(&place).ok()?;
    let look = first_look::look(&place, key)?;
    let connections = Connections::new(place, &options).after(file, look.connection);
    Some((connections, look.credential, look.model))
}

/// Makes the file unless it is there.
pub(crate) async fn create(path: &Path) -> Result<(), StoreError> {
    schema::create(&absolute(path)?).await
}

/// Opens the file and migrates an older one.
pub(crate) async fn open(path: &Path, options: SqliteOptions) -> Result<Connections, StoreError> {
    let connections = Connections::new(absolute(path)?, &options);
    schema::check(&connections).await?;
    Ok(connections)
}

/// Looks at the tables of the file.
pub(crate) async fn schema(path: &Path, options: SqliteOptions) -> Result<Schema, StoreError> {
    let connections = Connections::new(absolute(path)?, &options);
    let found = schema::look(&connections).await;
    connections.close().await;
    found
}

/// SQLite takes a name that begins with `file:` for a URI; an absolute path never does.
fn absolute(path: &Path) -> Result<PathBuf, StoreError> {
    std::path::absolute(path).map_err(|error| of_io(&error, path))
}
