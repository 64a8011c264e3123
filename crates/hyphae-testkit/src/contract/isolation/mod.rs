//! Nobody sees what is not theirs.

mod ids;
mod random;

pub use ids::*;
pub use random::*;
