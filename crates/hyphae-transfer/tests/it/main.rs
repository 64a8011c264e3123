//! The readers and the writer from outside.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod basic_memory;
mod damaged;
mod foreign;
mod made;
mod record;
mod round_trip;
mod sniff;
