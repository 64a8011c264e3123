//! The host, spoken to line by line over a pipe in memory.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::wildcard_enum_match_arm,
    reason = "helpers of tests fail by panic, too"
)]
#![expect(dead_code, reason = "the tests that use the rest of the rig follow")]

mod client;
mod rig;
mod turns;
