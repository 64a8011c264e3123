//! Moving everything that a tenant remembers from one store to another.

use std::fmt;

use async_trait::async_trait;
use jiff::Timestamp;

use super::{ChosenModel, Confirmation, Link, Past, StoreError};
use crate::{
    audit::AuditRow,
    cell::{Cell, Visibility},
    conflict::Conflict,
    diff::Diff,
    ids::{CellId, CredentialId},
    recall::{Terms, Vector},
    relation::Relation,
    scope::{Owner, Project},
};

/// Gives out and takes in all memories of a tenant, whoever wrote them. For whoever runs the
/// store: it passes by what a scope may see.
#[async_trait]
pub trait TransferStore: fmt::Debug + Send + Sync {
    /// Returns at most `limit` items after one, in an order in which an item refers only to
    /// items before it and which depends on nothing but the items: by kind, then by id (diffs
    /// by the order of commits). Only what belongs to `project`, if one is named; what leads out
    /// of it is left out. Identities are those who wrote something.
    async fn items(
        &self,
        owner: Owner,
        project: Option<&Project>,
        after: Option<&ItemKey>,
        limit: usize,
    ) -> Result<Vec<(ItemKey, Item)>, StoreError>;

    /// Keeps items, in one transaction, and returns what became of each. One that is there
    /// already is left as it is.
    ///
    /// An item that refers to something that is not there is [`Put::Orphan`], and the others are
    /// kept; a project that is not there is made. No key opens an identity. Cells take new places
    /// in the order of changes, in the order in which they are put; so do diffs. A vector of
    /// another model than the chosen one is kept as such, and one that is missing or of another
    /// model is made again by `reembed`; the first vector of a tenant that has chosen no model
    /// chooses its own.
    async fn put_items(&self, owner: Owner, items: &[Item]) -> Result<Vec<Put>, StoreError>;
}

/// The place of an item in the order of a transfer; opaque.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemKey(pub Vec<u8>);

/// One thing that a store keeps.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// Somebody who wrote something. Keys do not travel: whoever it is needs a new one.
    Identity {
        /// Who.
        id: CredentialId,
        /// What it is called.
        name: String,
        /// Since when it is known.
        created_at: Timestamp,
        /// Since when it is no longer accepted.
        revoked_at: Option<Timestamp>,
    },
    /// A memory.
    Cell(Box<KeptCell>),
    /// An earlier state of one.
    Past(Box<Past>),
    /// A semantic link, in one direction.
    Link {
        /// From where.
        from: CellId,
        /// To where, and how strong.
        link: Link,
    },
    /// A link that somebody gave.
    Relation(Box<Relation>),
    /// A conflict, open or not.
    Conflict(Box<Conflict>),
    /// A confirmation.
    Confirmation(Box<Confirmation>),
    /// The key under which somebody stored a memory.
    Key {
        /// Who.
        credential: CredentialId,
        /// BLAKE3 of the key.
        key: [u8; 32],
        /// The memory.
        cell: CellId,
    },
    /// A change.
    Diff(Box<KeptDiff>),
    /// A row of the audit.
    Audit(Box<AuditRow>),
}

/// A memory with all that cannot be derived from it.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptCell {
    /// The memory.
    pub cell: Cell,
    /// The text that its vector is made from.
    pub embedded_text: String,
    /// The words of what surrounds it.
    pub context: Terms,
    /// Its vector and the model of that; none if it is to be made again.
    pub vector: Option<(ChosenModel, Vector)>,
    /// When it was last read.
    pub last_access: Timestamp,
}

/// A change with all that it remembers of its memory. Its sequence is not part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptDiff {
    /// The change.
    pub diff: Diff,
    /// Who could recall the memory then.
    pub visibility: Visibility,
    /// Where the memory lay, if it was erased since; one that is there tells by itself.
    pub gone: Option<Gone>,
}

/// What is left of an erased memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gone {
    /// What it was filed under.
    pub project: Project,
    /// Whose key wrote it.
    pub author: CredentialId,
}

/// What became of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Put {
    /// It is kept.
    New,
    /// It is there already, and the same; of a memory, as far as it can be recalled or shown.
    Same,
    /// Something else has its id; that stays.
    Other,
    /// An active memory says the same, or stands for the same topic, under another id; that
    /// stays.
    Taken(CellId),
    /// It refers to something that is not there.
    Orphan,
}
