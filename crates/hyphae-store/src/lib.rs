//! Rows in, domain values out: the core's memory, session and credential ports on a database.
//!
//! Only this crate knows SQL. [`Store`] keeps everything in one SQLite file that several processes
//! may use at once, or on a Postgres server. Start reading at `store.rs`: `statements` says what is
//! asked of a database, `sql` how, `sqlite` what only a file needs and `postgres` what only a
//! server does; the tables are in `migrations`.

mod error;
mod postgres;
mod sql;
mod sqlite;
mod statements;
mod store;

pub use postgres::{BadAddress, PostgresAddress, PostgresOptions};
pub use sqlite::SqliteOptions;
pub use store::{Recognised, Schema, Store};
