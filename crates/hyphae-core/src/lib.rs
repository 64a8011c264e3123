//! What a memory, a session and a turn are, and the rules over them.
#![deny(missing_docs)]

pub mod ports;
