//! The contract suite over SQLite, and what only a file can do.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod contract;
mod subject;
