//! The server in this process, over a real store and an embedder that panics when it is told to.
//! What the wire does is tested on the built program, in `hyphae-server`.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod panics;
mod rig;
mod slow;
