//! What a store is told to write: steps that happen together or not at all.

use jiff::Timestamp;

use super::reads::{ChosenModel, Sequence};
use crate::{
    audit::{Action, Via},
    cell::{Cell, Fingerprint},
    conflict::{Conflict, Verdict},
    diff::DiffKind,
    ids::{AuditId, CellId, ConflictId, DiffId, EdgeId},
    recall::{Terms, Vector},
    relation::Relation,
};

/// One write of one credential.
#[derive(Debug, Clone, PartialEq)]
pub struct Write {
    /// The id of its audit row.
    pub id: AuditId,
    /// What is done, for the audit.
    pub action: Action,
    /// From where.
    pub via: Via,
    /// When.
    pub at: Timestamp,
    /// Why, with secrets masked.
    pub reason: Option<String>,
    /// How many secrets were masked in it.
    pub redactions: u32,
    /// What is written, in this order.
    pub steps: Vec<Step>,
}

/// One step of a write. A cell, edge or conflict that `scope` cannot see is as good as gone.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Keeps a new cell with its vector, words, links and `created` diff.
    ///
    /// Stops with [`Committed::Same`] if an active cell with the same text, type, layer, project
    /// and visibility (and author, for a private one) is there, and with
    /// [`Committed::TopicTaken`] if another active cell of that project and visibility (and
    /// author) stands for its topic. The first vector of a tenant that has chosen no model
    /// chooses its own.
    ///
    /// Each link is kept in both directions; a neighbour that has more semantic links than its
    /// layer's [`Layer::degree`](crate::cell::Layer::degree) loses those named in
    /// [`NewLink::drops`], then its weakest ones, and of equal ones those to younger cells. The
    /// new cell itself keeps its strongest ones. A neighbour that is gone or cannot be seen is
    /// passed over.
    Insert(Box<NewCell>),
    /// Brings a cell from one revision to the next; the state before stays as history.
    ///
    /// Stops with [`Committed::Changed`] if the cell is gone or not at the revision before
    /// `cell.revision`, with [`Committed::Same`] or [`Committed::TopicTaken`] as `Insert` does.
    Revise(Box<Revision>),
    /// Removes a cell for good: its content, history, words, vector, confirmations, keys, links
    /// of all kinds and conflicts. What remains is a diff without text and a change that tells
    /// everybody who could see it.
    ///
    /// Stops with [`Committed::Changed`] if it is gone or at another revision.
    Erase {
        /// The cell.
        id: CellId,
        /// Its revision.
        revision: u32,
        /// The id of the `erased` diff.
        diff: DiffId,
    },
    /// Keeps a relation. One that is there already is left alone if it is active, and else takes
    /// on the weight, author, time and reason of this one and its own id back.
    ///
    /// Stops with [`Committed::SameRelation`] if it is there and active, with
    /// [`Committed::Changed`] if either end is gone.
    Relate(Box<Relation>),
    /// Says whether a relation holds.
    ///
    /// Stops with [`Committed::RelationGone`] if it is gone or in that state already.
    SetRelation {
        /// The relation.
        id: EdgeId,
        /// Whether it holds from now on.
        active: bool,
    },
    /// Removes a relation for good.
    ///
    /// Stops with [`Committed::RelationGone`] if it is gone.
    EraseRelation {
        /// The relation.
        id: EdgeId,
    },
    /// Notes that the writer confirms a cell; an earlier confirmation of the same writer is
    /// replaced. The cell's `verified_at` becomes the write's time; its revision stays.
    ///
    /// Stops with [`Committed::Changed`] if the cell is gone or at another revision.
    Confirm {
        /// The cell.
        id: CellId,
        /// Its revision.
        revision: u32,
        /// What the writer saw, with secrets masked.
        evidence: Option<String>,
    },
    /// Opens a conflict and writes a `contradiction` diff about its left cell. Passed over, diff
    /// included, if one between the same cells is open, whichever is left.
    ///
    /// Stops with [`Committed::Changed`] if either cell is gone.
    OpenConflict {
        /// The conflict; its resolution is ignored.
        conflict: Box<Conflict>,
        /// The id of the diff.
        diff: DiffId,
    },
    /// Decides a conflict and writes a `resolved` diff about its left cell.
    ///
    /// Stops with [`Committed::ConflictGone`] if it is gone or decided already.
    CloseConflict {
        /// The conflict.
        id: ConflictId,
        /// Which side holds.
        verdict: Verdict,
        /// Why, with secrets masked.
        reason: String,
        /// The id of the diff.
        diff: DiffId,
    },
    /// Remembers that the writer stored a cell under a key of its own, so that the same request
    /// repeated is told from a new one. Lasts as long as the cell.
    ///
    /// Stops with [`Committed::KeyUsed`] if the writer has used it for a cell that it can see,
    /// with [`Committed::Changed`] if the cell is gone. A key whose cell is in another project is
    /// not used here.
    Key {
        /// BLAKE3 of the key.
        key: [u8; 32],
        /// The cell.
        cell: CellId,
    },
}

/// What became of a write. All but `Done` mean that nothing was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Committed {
    /// It is durable, and this is its place in the order of changes: its last one, if it took
    /// several, and the newest there is, if it took none.
    Done(Sequence),
    /// This cell says the same already.
    Same(CellId),
    /// This cell stands for the topic already.
    TopicTaken(CellId),
    /// This cell is gone or at another revision.
    Changed(CellId),
    /// This relation is there already.
    SameRelation(EdgeId),
    /// This relation is gone or in the wanted state already.
    RelationGone(EdgeId),
    /// This conflict is gone or decided already.
    ConflictGone(ConflictId),
    /// The key stands for this cell already.
    KeyUsed(CellId),
}

impl Committed {
    /// Tells whether it was written.
    pub const fn is_done(self) -> bool {
        matches!(self, Self::Done(_))
    }
}

/// A cell to keep, with all that is derived from it.
#[derive(Debug, Clone, PartialEq)]
pub struct NewCell {
    /// The cell, at revision 1.
    pub cell: Cell,
    /// What is derived from its text.
    pub derived: Derived,
    /// The id of the diff that tells of it.
    pub diff: DiffId,
}

/// What is derived from a cell's text.
#[derive(Debug, Clone, PartialEq)]
pub struct Derived {
    /// The hash of the text.
    pub fingerprint: Fingerprint,
    /// The model of `vector`.
    pub model: ChosenModel,
    /// Its vector.
    pub vector: Vector,
    /// The text that `vector` was made from, so that it can be made again.
    pub embedded_text: String,
    /// The words of its text.
    pub terms: Terms,
    /// The words of what surrounds it.
    pub context: Terms,
    /// Its semantic links.
    pub links: Vec<NewLink>,
}

/// The next state of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Revision {
    /// The cell as it will be. Its id, author, project, layer and `created_at` are those it has;
    /// its revision is one more; its `updated_at` never goes back.
    pub cell: Cell,
    /// What is derived from its text; none if the text stays. Its semantic links stay unless
    /// these bring others.
    pub derived: Option<Derived>,
    /// What the diff says happened.
    pub kind: DiffKind,
    /// The other cell of a supersession.
    pub other: Option<CellId>,
    /// The id of the diff.
    pub diff: DiffId,
}

/// A semantic link of a new cell.
#[derive(Debug, Clone, PartialEq)]
pub struct NewLink {
    /// Where it leads.
    pub link: Link,
    /// Links that the neighbour gives up for the link back.
    pub drops: Vec<CellId>,
    /// Whether the neighbour keeps a link back at all.
    pub back: bool,
}

/// A link to a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// The cell it leads to.
    pub to: CellId,
    /// Its weight, in (0, 1].
    pub weight: f32,
}
