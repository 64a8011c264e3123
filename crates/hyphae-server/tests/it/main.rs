//! The built program, run as people and editors run it: each test in a home of its own.
//!
//! What the wire does is tested by the suites in `tests/clients`; here is everything around it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod acp;
mod agent;
mod audit;
mod cli;
mod console;
mod content;
mod doctor;
mod exports;
mod faults;
mod imports;
mod keys;
mod layers;
mod manual;
mod mcp;
mod models;
mod postgres;
mod projects;
mod secrets;
mod setup;
mod start;
mod terminal;
mod world;
