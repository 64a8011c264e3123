//! Rows in, domain values out: the core's memory, session and credential ports on a database.
//!
//! Only this crate knows SQL. [`SqliteStore`] keeps everything in one file that several
//! processes may use at once. Start reading at `sqlite/mod.rs`; the tables are in `migrations`.

mod sqlite;

pub use sqlite::{Recognised, SqliteOptions, SqliteStore};
