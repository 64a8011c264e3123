//! Memories as lines of text: our own export format, and files that other programs wrote.
//!
//! It reads from what it is given and writes to what it is given; it opens nothing, and knows
//! neither a database nor a project. Start reading at [`record`] for our format, at [`foreign`]
//! for the others, and at [`sniff`] for how they are told apart.
#![deny(missing_docs)]

pub mod foreign;
mod lines;
mod place;
pub mod record;
pub mod sniff;

pub use place::{Bad, Place, Spot};
