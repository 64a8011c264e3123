//! A server that many share.
//!
//! `address` reads where it is, `tls` proves that it is the one that is meant, `connections` opens and
//! lends connections, `schema` makes and migrates the tables, `error` says what its failures are
//! called. Every statement is sent unnamed and with the types of its values, which takes one
//! round trip and works behind a pooler that gives each transaction another connection: so
//! nothing is ever set for longer than a transaction either.

mod address;
mod connections;
mod error;
mod schema;
mod session;
mod tls;

use std::time::Duration;

use hyphae_core::ports::StoreError;

use crate::store::Schema;
pub use address::{BadAddress, PostgresAddress};
pub(crate) use connections::Connections;
pub(crate) use error::of_postgres;
pub(crate) use session::{Number, Session, is_in_doubt, is_of_a_node};

/// How a server is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PostgresOptions {
    /// The most connections of this process.
    pub connections: usize,
    /// How long to wait for the server to answer to a new connection.
    pub connect_timeout: Duration,
    /// How long to wait for others who write.
    pub lock_timeout: Duration,
    /// The longest that a statement may take.
    pub statement_timeout: Duration,
}

impl Default for PostgresOptions {
    /// Four connections; 10 seconds to connect, 5 for others, 30 for a statement.
    fn default() -> Self {
        Self {
            connections: 4,
            connect_timeout: Duration::from_secs(10),
            lock_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(30),
        }
    }
}

/// Makes the tables unless they are there.
pub(crate) async fn create(
    address: &PostgresAddress,
    options: PostgresOptions,
) -> Result<Connections, StoreError> {
    let connections = Connections::new(address, options)?;
    schema::create(&connections).await?;
    Ok(connections)
}

/// Connects and looks at the tables.
pub(crate) async fn schema(
    address: &PostgresAddress,
    options: PostgresOptions,
) -> Result<Schema, StoreError> {
    schema::look(&Connections::new(address, options)?).await
}

/// Connects and migrates older tables.
pub(crate) async fn open(
    address: &PostgresAddress,
    options: PostgresOptions,
) -> Result<Connections, StoreError> {
    let connections = Connections::new(address, options)?;
    schema::check(&connections).await?;
    Ok(connections)
}
