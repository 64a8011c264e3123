//! What a store is asked for, and what it answers.

use jiff::Timestamp;

use crate::{
    audit::Action,
    cell::{Cell, CellType, Fingerprint, Layer, Share, Status, Validity, Visibility},
    ids::{AuditId, CellId, CredentialId},
    label::Tags,
    recall::{Terms, Vector},
    scope::Project,
};

/// A place in the order of committed changes; 0 is before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Sequence(pub u64);

/// The identity of the model that a tenant's vectors belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenModel {
    /// As [`EmbeddingModel::id`](crate::ports::EmbeddingModel::id).
    pub id: String,
    /// How many numbers a vector has.
    pub dimension: usize,
}

/// What happened to a cell, as far as recall is concerned.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// When, in the order of commits.
    pub sequence: Sequence,
    /// The cell.
    pub id: CellId,
    /// What is to be recalled from now on; none when nothing is (it was erased, or `scope` may
    /// no longer see it).
    pub entry: Option<Entry>,
}

/// What the recall index holds of a cell, of whatever status.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its revision.
    pub revision: u32,
    /// Its type.
    pub cell_type: CellType,
    /// Its layer.
    pub layer: Layer,
    /// Who may recall it.
    pub visibility: Visibility,
    /// Whether it takes part in recall.
    pub status: Status,
    /// Whether it lies in the scope's own project (a shared cell may not).
    pub own_project: bool,
    /// Who wrote it.
    pub author: CredentialId,
    /// Its salience.
    pub salience: Share,
    /// When it was stored.
    pub created_at: Timestamp,
    /// When it last changed; of an inactive cell, when it ceased to be active.
    pub updated_at: Timestamp,
    /// When it is true.
    pub validity: Validity,
    /// Its tags.
    pub tags: Tags,
    /// The hash of its text.
    pub fingerprint: Fingerprint,
    /// Its vector; none if that belongs to another model than the chosen one.
    pub vector: Option<Vector>,
    /// The words of its text.
    pub terms: Terms,
    /// The words of what surrounds it: its date and what was said before it.
    pub context: Terms,
}

/// What an id or a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wanted {
    /// A memory, by id.
    Cell,
    /// A relation, by id.
    Relation,
    /// A conflict, by id.
    Conflict,
    /// A topic, by name.
    Topic,
    /// A tag, by name.
    Tag,
    /// A project, by name.
    Project,
}

/// An earlier state of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// The cell as it was.
    pub cell: Cell,
    /// Who replaced that state.
    pub replaced_by: CredentialId,
    /// When: the `updated_at` of the state that came after it.
    pub replaced_at: Timestamp,
    /// Why, in the words of whoever did.
    pub reason: Option<String>,
}

/// That somebody found a memory to be true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    /// The memory.
    pub cell: CellId,
    /// Its revision at that time.
    pub revision: u32,
    /// Who confirmed it.
    pub by: CredentialId,
    /// When.
    pub at: Timestamp,
    /// What they saw.
    pub evidence: Option<String>,
}

/// Which rows of the audit are listed; all conditions hold together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditFilter {
    /// Of any of these actions; of all, if none is named.
    pub actions: Vec<Action>,
    /// By this credential.
    pub credential: Option<CredentialId>,
    /// In this project.
    pub project: Option<Project>,
    /// About this memory, relation, conflict or diff.
    pub subject: Option<uuid::Uuid>,
    /// At or after this moment.
    pub since: Option<Timestamp>,
    /// Before this moment.
    pub until: Option<Timestamp>,
    /// Older than this row.
    pub before: Option<AuditId>,
    /// The most rows wanted.
    pub limit: usize,
}

/// A cell whose vector must be made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaleVector {
    /// The cell.
    pub id: CellId,
    /// Its revision.
    pub revision: u32,
    /// What to embed.
    pub embedded_text: String,
}

/// What a tenant keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Active cells.
    pub cells: u64,
    /// Sessions.
    pub sessions: u64,
    /// Projects with at least one active cell.
    pub projects: u64,
    /// Cells whose vector does not belong to the chosen model.
    pub stale_vectors: u64,
    /// Open conflicts.
    pub conflicts: u64,
}
