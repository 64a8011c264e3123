//! One way to speak to every database: statements with values, rows with columns.
//!
//! A statement is written once; its few words that differ are marked in it. What a connection does beyond
//! statements (transactions, settings) belongs to the module of its database.

pub(crate) mod dialect;
#[cfg(debug_assertions)]
mod keyed;
mod query;
mod row;
mod value;

pub(crate) use dialect::{Sql, each, either, sql};
pub(crate) use query::{Connection, Query};
pub(crate) use row::{Column, Row};
pub(crate) use value::Value;
