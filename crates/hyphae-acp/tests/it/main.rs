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
mod handshake;
mod params;
mod rig;
mod sessions;
mod slow;
mod turns;
mod wire;
