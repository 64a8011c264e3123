//! The memory engine over a real store, with an embedder whose vectors are known.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod console;
mod masking;
mod recalling;
mod rig;
mod storing;
