//! How memories are found: words, vectors, and one number from both.

mod terms;
mod vector;

pub use terms::{Term, Terms};
pub use vector::Vector;
