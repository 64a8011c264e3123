//! How memories are found: words, vectors, and one number from both.

mod document;
mod filter;
mod index;
mod score;
mod terms;
mod vector;
mod words;

pub use document::{context_terms, embedded_text};
pub use filter::{Filter, When};
pub use index::{Hit, Near, ProjectIndex, Query, Summary};
pub use score::{Distance, Scoring};
pub use terms::{Term, Terms};
pub use vector::Vector;
pub(crate) use vector::View;
pub(crate) use words::telling_words;
pub use words::{say_the_same, terms_of};
