//! Why the memory could not do what it was asked.

use crate::{
    cell::{BadContent, BadValue, Content, Status},
    ids::{CellId, ConflictId},
    ports::{EmbedError, StoreError},
};

/// Why the memory could not do what it was asked. The messages are for people and agents: what
/// is wrong and what to do next, without content of memories.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The text cannot be a memory.
    #[error(transparent)]
    Content(#[from] BadContent),
    /// There is nothing to look for.
    #[error("there is nothing to search for; write what you want to recall")]
    EmptyQuery,
    /// The query is longer than a memory may be.
    #[error(
        "a query has at most {max} characters, this one has {chars}; shorten it",
        max = Content::MAX_CHARS
    )]
    LongQuery {
        /// How many it has.
        chars: usize,
    },
    /// There is no such thing, or it is not to be seen.
    #[error("there is no {what} `{id}` in this project; recall or query to find its id")]
    NotFound {
        /// What was looked for.
        what: &'static str,
        /// As it was asked for.
        id: String,
    },
    /// An id begins several.
    #[error("`{id}` begins several ids; write more of it, or the whole id")]
    Ambiguous {
        /// As it was asked for.
        id: String,
    },
    /// What was asked for is no id.
    #[error("`{id}` is no id; write a whole id or at least its first 8 digits")]
    BadId {
        /// As it was asked for, shortened.
        id: String,
    },
    /// Somebody else changed it first.
    #[error(
        "the memory {id} is at revision {current}, not {expected}: somebody changed it; get it again and decide anew"
    )]
    RevisionConflict {
        /// The memory.
        id: CellId,
        /// The revision that was expected.
        expected: u32,
        /// The revision that it is at.
        current: u32,
    },
    /// It takes no part in recall, so it cannot be changed.
    #[error("the memory {id} is {status}; restore it first (forget with mode restore)")]
    Inactive {
        /// The memory.
        id: CellId,
        /// Its status.
        status: Status,
    },
    /// Another memory says the same already.
    #[error("the memory {id} says the same already; use that one")]
    Duplicate {
        /// That memory.
        id: CellId,
    },
    /// A memory cannot be linked to itself.
    #[error("a memory cannot be linked to itself; name two different ones")]
    SelfLink,
    /// A weight of nothing.
    #[error("a link weighs more than 0 and at most 1")]
    NoWeight,
    /// A memory would be true at no time.
    #[error("a memory is true for some time: valid_from must be before valid_until")]
    NoTime,
    /// The conflict was decided before.
    #[error("the conflict {id} is decided already; nothing was changed")]
    ConflictClosed {
        /// The conflict.
        id: ConflictId,
    },
    /// A text beside the memory is too long.
    #[error("{what} has at most {max} characters, this one has {chars}; shorten it")]
    LongText {
        /// What it is.
        what: &'static str,
        /// How many characters are allowed.
        max: usize,
        /// How many it has.
        chars: usize,
    },
    /// A reason is missing.
    #[error("a reason is needed: say why in a few words")]
    NoReason,
    /// A value was not among the allowed ones.
    #[error(transparent)]
    Value(#[from] BadValue),
    /// The confirmation does not belong to a preview of just this erasure.
    #[error(
        "this confirmation is unknown, too old, or for something else; ask for a preview (apply false) and confirm with its token"
    )]
    NotPreviewed,
    /// Others kept changing the same memories.
    #[error("others keep changing the same memories; try again")]
    Contended,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The embedder failed.
    #[error(transparent)]
    Embed(#[from] EmbedError),
}

impl MemoryError {
    /// Tells whether the fault is not in what was asked, so that asking otherwise cannot help.
    pub const fn is_ours(&self) -> bool {
        matches!(self, Self::Store(_) | Self::Embed(_))
    }
}
