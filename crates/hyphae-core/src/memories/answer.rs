//! What the memory answers.

use jiff::Timestamp;

use super::{Target, request::Forgetting};
use crate::{
    cell::{Cell, Layer, Status},
    conflict::{Conflict, Verdict},
    diff::Diff,
    ids::{CellId, ConflictId, DiffId, EdgeId},
    ports::{Confirmation, Past, Sequence},
    recall::Distance,
    relation::Relation,
};

/// What became of a memory that was handed in.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// The cell that now holds it.
    pub id: CellId,
    /// Its revision.
    pub revision: u32,
    /// Its layer.
    pub layer: Layer,
    /// How it came to hold it.
    pub outcome: Outcome,
    /// Other memories that are near to it, nearest first, at most [`Stored::SIMILAR`].
    pub similar: Vec<Similar>,
    /// An open conflict that the cell is part of.
    pub conflict: Option<ConflictId>,
    /// How many secrets were masked in it.
    pub redactions: usize,
    /// Whether its key was used before for another text, which was not stored.
    pub key_reused: bool,
}

impl Stored {
    /// The most similar memories that are told.
    pub const SIMILAR: usize = 3;
}

/// A memory near to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Similar {
    /// The memory.
    pub id: CellId,
    /// How near.
    pub distance: Distance,
}

/// How a memory came to be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// In a cell of its own.
    Created,
    /// By a cell that already said exactly this.
    Unchanged,
    /// By a cell that said this in other punctuation or inflection; both texts are kept.
    Merged,
    /// By the cell that stood for its topic; the text before stays as history.
    Revised,
}

impl Outcome {
    /// Returns the name as it is written everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Unchanged => "unchanged",
            Self::Merged => "merged",
            Self::Revised => "revised",
        }
    }
}

/// What was recalled.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// The memories, nearest first; in a briefing the most important first.
    pub matches: Vec<Match>,
    /// How they were looked for.
    pub mode: Mode,
}

/// One memory of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// The memory; of a question about the past, as it was then.
    pub cell: Cell,
    /// The one number that sorts the answer; none in a briefing.
    pub distance: Option<Distance>,
    /// The cosine part, where there is one.
    pub cosine: Option<f32>,
    /// The keyword part.
    pub words: f32,
    /// An open conflict that the memory is part of.
    pub conflict: Option<ConflictId>,
}

/// How memories were looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// By meaning and by words.
    Hybrid,
    /// Some or all by words only, because their vectors belong to another model.
    Keywords,
    /// By importance, without a query.
    Briefing,
}

impl Mode {
    /// Returns the name as it is written everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Keywords => "keyword",
            Self::Briefing => "briefing",
        }
    }
}

/// A memory in full.
#[derive(Debug, Clone, PartialEq)]
pub struct Details {
    /// The memory.
    pub cell: Cell,
    /// Earlier states, the oldest first; empty unless asked for.
    pub history: Vec<Past>,
    /// Who confirmed it; empty unless asked for.
    pub confirmations: Vec<Confirmation>,
    /// An open conflict that it is part of.
    pub conflict: Option<ConflictId>,
}

/// What became of a change.
#[derive(Debug, Clone, PartialEq)]
pub struct Updated {
    /// The memory.
    pub id: CellId,
    /// Its revision now.
    pub revision: u32,
    /// The diff that tells of it; none if nothing changed.
    pub diff: Option<DiffId>,
    /// An open conflict that the memory is part of.
    pub conflict: Option<ConflictId>,
    /// How many secrets were masked in what was written.
    pub redactions: usize,
}

/// What became of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Related {
    /// The link.
    pub id: EdgeId,
    /// Whether it is new; it was there already if not.
    pub created: bool,
    /// The conflict between the two memories, for a `contradicts` link.
    pub conflict: Option<ConflictId>,
    /// Whether the link put the other memory out of recall.
    pub superseded: bool,
}

/// What became of a confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Confirmed {
    /// The memory.
    pub id: CellId,
    /// How it was taken.
    pub outcome: Voice,
    /// The memory's layer.
    pub layer: Layer,
    /// Distinct voices other than its author's that confirmed what it says now.
    pub voices: u32,
    /// Voices that it needs for the next layer; none if it cannot rise.
    pub needed: Option<u32>,
    /// When it was last confirmed.
    pub verified_at: Option<Timestamp>,
}

/// How a confirmation was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    /// As a voice that it did not have.
    Counted,
    /// As a voice that it had; its time is new.
    Repeated,
    /// As its author's, who has no voice of its own; its time is new.
    Author,
    /// Not at all: it is no longer active.
    Inactive,
    /// Not at all: there is no such memory.
    Missing,
}

impl Voice {
    /// Returns the name as it is written everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counted => "confirmed",
            Self::Repeated => "repeated",
            Self::Author => "author",
            Self::Inactive => "inactive",
            Self::Missing => "not_found",
        }
    }
}

/// A conflict with both of its sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Dispute {
    /// The conflict.
    pub conflict: Conflict,
    /// Its left side.
    pub left: Cell,
    /// Its right side.
    pub right: Cell,
}

/// What a decision did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// What was decided.
    pub verdict: Verdict,
    /// Memories that were superseded by it.
    pub superseded: Vec<CellId>,
    /// Memories that were retracted by it.
    pub retracted: Vec<CellId>,
    /// The diffs that tell of it.
    pub diffs: Vec<DiffId>,
}

/// What forgetting does, or would do.
#[derive(Debug, Clone, PartialEq)]
pub struct Forgotten {
    /// Whether it was done; else this is a preview.
    pub applied: bool,
    /// What happens to each target, in the order asked.
    pub items: Vec<ForgottenItem>,
    /// With this the same erasure is confirmed; of previews of an erasure only.
    pub token: Option<String>,
}

/// What happens to one target.
#[derive(Debug, Clone, PartialEq)]
pub struct ForgottenItem {
    /// The target.
    pub target: Target,
    /// What happens.
    pub outcome: ForgetOutcome,
    /// What it is; none if there is no such thing.
    pub what: Option<Forgettable>,
}

/// A target as it was before.
#[derive(Debug, Clone, PartialEq)]
pub enum Forgettable {
    /// A memory.
    Cell(Box<Cell>),
    /// A link.
    Relation(Relation),
}

/// What happens to a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForgetOutcome {
    /// It is, or would be, forgotten or brought back in this way.
    Done(Forgetting),
    /// It is in that state already.
    Already(Status),
    /// An active memory says the same as the one to bring back, or stands for its topic.
    Taken(CellId),
    /// There is no such thing.
    Missing,
}

/// A page of changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Updates {
    /// The changes, oldest first, each with the memory as it is now; none if it was erased.
    pub updates: Vec<Update>,
    /// Where the next page begins.
    pub next: Sequence,
    /// Whether more are there.
    pub more: bool,
}

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// The change.
    pub diff: Diff,
    /// The memory as it is now; none if it was erased.
    pub cell: Option<Cell>,
    /// How many hops it took to get here; 0 for one that was read from the project itself.
    pub hops: u32,
    /// The energy it had here.
    pub energy: f64,
}

/// A page of a listing.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The memories.
    pub matches: Vec<Match>,
    /// How many there are on all pages together.
    pub total: u64,
    /// How they were looked for; none if they are listed by age.
    pub mode: Option<Mode>,
    /// Where the next page begins, if there is one.
    pub next: Option<PageStart>,
}

/// Where a page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageStart {
    /// Behind this cell, by time of creation and id.
    After(Timestamp, CellId),
    /// Behind this many hits of the same query.
    Skip(u32),
}
