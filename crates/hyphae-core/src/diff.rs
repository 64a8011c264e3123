//! One change to a memory: what the topology carries, the inbox shows and the history names.

use jiff::Timestamp;

use crate::{
    cell::{CellType, Share},
    ids::{CellId, CredentialId, DiffId},
    ports::Sequence,
};

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DiffKind {
    /// A memory is new.
    Created,
    /// Its text or what is known of it changed.
    Updated,
    /// Another took its place.
    Superseded,
    /// It and another cannot both be true.
    Contradiction,
    /// It was crystallised from others.
    Pattern,
    /// It rose to a higher layer.
    Promoted,
    /// It was taken back.
    Retracted,
    /// It was brought back.
    Restored,
    /// Its content was removed for good.
    Erased,
    /// A conflict about it was decided.
    Resolved,
}

impl DiffKind {
    /// All kinds, in the order of the numbers that stores keep.
    pub const ALL: [Self; 10] = [
        Self::Created,
        Self::Updated,
        Self::Superseded,
        Self::Contradiction,
        Self::Pattern,
        Self::Promoted,
        Self::Retracted,
        Self::Restored,
        Self::Erased,
        Self::Resolved,
    ];

    /// Returns the name as it is written everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Superseded => "superseded",
            Self::Contradiction => "contradiction",
            Self::Pattern => "pattern",
            Self::Promoted => "promoted",
            Self::Retracted => "retracted",
            Self::Restored => "restored",
            Self::Erased => "erased",
            Self::Resolved => "resolved",
        }
    }
}

/// One change to a memory. It holds no text, so that nothing of an erased memory stays in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Diff {
    /// Its id.
    pub id: DiffId,
    /// When it was committed, in the order of commits.
    pub sequence: Sequence,
    /// What changed.
    pub kind: DiffKind,
    /// The memory that changed.
    pub cell: CellId,
    /// The memory's revision after the change.
    pub revision: u32,
    /// The other memory of a contradiction, a resolution or a supersession.
    pub other: Option<CellId>,
    /// Who changed it.
    pub author: CredentialId,
    /// Its type at that time.
    pub cell_type: CellType,
    /// Its salience at that time.
    pub salience: Share,
    /// When: the time of the write.
    pub at: Timestamp,
}
