//! Only its tests matter: `tests/client.rs` drives the program with the Rust SDK's client.
