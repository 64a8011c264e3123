//! The host, spoken to line by line over a pipe in memory.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "helpers of tests fail by panic, too"
)]

mod client;
mod ending;
mod fuzz;
mod golden;
mod handshake;
mod interleaving;
mod logs;
mod params;
mod rig;
mod schema;
mod sessions;
mod slow;
mod turns;
mod wire;
