//! Our own format: JSON Lines, one thing a line, so that a store can be moved, kept and compared.
//!
//! The first line is a [`Header`], the last one tells how many lines of each kind lie between,
//! so that a file that was cut is noticed. Every line between is one
//! [`Item`], its `kind` first:
//!
//! ```text
//! {"hyphae":"export","version":1,"program":"0.1.0","model":{"id":"m/1","dimension":384}}
//! {"kind":"identity","id":"…","name":"default","created_at":"2026-01-02T03:04:05.000006Z"}
//! {"kind":"cell","cell":{"id":"…","content":"We deploy on Thursdays",…},"vector":{…},…}
//! {"kind":"end","items":{"identity":1,"cell":1}}
//! ```
//!
//! - Times are RFC 3339 in UTC with six digits of a second, ids are hyphenated UUIDs, bytes are
//!   base64, hashes too. Numbers are written so that they are read back to the last bit.
//! - A vector is its scale (four bytes of a float, the lowest first) and then one signed byte a
//!   number.
//! - What a thing has not is left out; a field that is not known is a fault, because leaving it
//!   out would lose it. A change of the format has a new version.
//! - A thing refers only to things before it. The order of diffs is the order of their lines:
//!   [`Diff::sequence`](hyphae_core::diff::Diff::sequence) is read as 0. A diff whose memory was
//!   erased since says where that lay.
//!
//! What is written is read back equal, and what was written here is written again byte for byte.

mod convert;
mod masking;
mod reader;
mod wire;
mod writer;

pub use masking::masked;
pub use reader::{Reader, Record, Unreadable};
pub use writer::Writer;

use hyphae_core::ports::{ChosenModel, Item};

/// The version of the format that is written, and the newest that is read.
pub const VERSION: u32 = 1;

/// The longest line that is read, in bytes.
pub const LONGEST_LINE: usize = 16 << 20;

/// What the first line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The version of the program that wrote it.
    pub program: String,
    /// The embedding model that the store had chosen.
    pub model: Option<ChosenModel>,
}

/// How many items of each kind there are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts(wire::Counts);

impl Counts {
    /// Returns the names of the kinds that are there and how many there are of each, in the
    /// order in which kinds are listed everywhere.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = self.0;
        let all = wire::Kind::ITEMS.into_iter();
        all.map(move |kind| (kind.name(), counts.of(kind)))
            .filter(|(_, count)| *count > 0)
    }

    /// Returns how many there are of all kinds together.
    pub fn total(&self) -> u64 {
        self.iter().map(|(_, count)| count).sum()
    }

    /// Counts an item.
    pub fn add(&mut self, item: &Item) {
        self.0.add(convert::kind(item));
    }
}
