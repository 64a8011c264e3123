//! Where memories are kept.

use std::fmt;

use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    cell::{Cell, CellType, Fingerprint, Layer, Share, Visibility},
    ids::{CellId, DiffId, SessionId},
    ports::StoreError,
    recall::{Terms, Vector},
    scope::{Owner, Scope},
};

/// Keeps memories, their vectors, their words and the links between them.
///
/// Every method sees what `scope` may see and nothing else: cells of its tenant that are in its
/// project and not private to somebody else, and shared cells of its tenant. A foreign id and an
/// unknown id give the same answer. What a method has acknowledged survives a crash of the
/// process at the next instruction; a dropped call leaves all of a change or none of it.
#[async_trait]
pub trait MemoryStore: fmt::Debug + Send + Sync {
    /// Returns the embedding model that the vectors of `owner`'s tenant belong to, if any are
    /// there or one was chosen.
    async fn chosen_model(&self, owner: Owner) -> Result<Option<ChosenModel>, StoreError>;

    /// Chooses the model for a tenant. Vectors of another model stay where they are, are no
    /// longer given out by [`changes`](Self::changes), and are listed by
    /// [`stale_vectors`](Self::stale_vectors) until they are replaced. Choosing is no change of
    /// any cell: whoever keeps vectors asks for the chosen model after it has read changes, and
    /// drops them if it is another one.
    async fn choose_model(&self, owner: Owner, model: &ChosenModel) -> Result<(), StoreError>;

    /// Returns at most `limit` changes to what `scope` can recall, in the order in which they
    /// were committed, that came after `after`. A change is a cell's present state, or that it
    /// is no longer to be recalled. Never misses a change that was committed before the call.
    async fn changes(
        &self,
        scope: &Scope,
        after: Sequence,
        limit: usize,
    ) -> Result<Vec<Change>, StoreError>;

    /// Keeps a new cell with its vector, words, links, first revision and `created` diff, in one
    /// transaction, unless an active cell with the same text, type, layer, project and visibility
    /// (and author, for a private one) is there already. The first vector of a tenant that has
    /// chosen no model chooses its own.
    ///
    /// Each link is kept in both directions; a neighbour that has more semantic links than its
    /// layer's [`Layer::degree`] loses those named in [`NewLink::drops`], then its weakest ones,
    /// and of equal ones those to younger cells. The new cell itself keeps its strongest ones.
    /// A neighbour that is gone or cannot be seen is passed over.
    ///
    /// # Errors
    /// [`StoreError::OtherModel`] if the vector's model is not the chosen one,
    /// [`StoreError::Unavailable`] if the cell's author or project is not that of `scope`.
    async fn insert_cell(&self, scope: &Scope, new: &NewCell) -> Result<Inserted, StoreError>;

    /// Gives a cell another text of the same meaning: content, words and vector are replaced,
    /// the old text stays as a revision, an `updated` diff is written, in one transaction. Its
    /// semantic links stay, unless `new` brings others; all else stays as it is.
    ///
    /// Returns the cell's new revision, or none if the cell is gone or no longer at
    /// `expected_revision`, or if another active cell says just this already.
    ///
    /// # Errors
    /// [`StoreError::OtherModel`] if the vector's model is not the chosen one.
    async fn merge_into(
        &self,
        scope: &Scope,
        id: CellId,
        expected_revision: u32,
        new: &NewCell,
    ) -> Result<Option<u32>, StoreError>;

    /// Returns the cells with these ids that `scope` can see, in the order of `ids`; unknown
    /// and foreign ones are left out.
    async fn cells(&self, scope: &Scope, ids: &[CellId]) -> Result<Vec<Cell>, StoreError>;

    /// Returns the semantic links that lead away from each of `ids` that `scope` can see, to
    /// cells that it can see, strongest first and of equal ones those to older cells first.
    async fn links(
        &self,
        scope: &Scope,
        ids: &[CellId],
    ) -> Result<Vec<(CellId, Vec<Link>)>, StoreError>;

    /// Returns the newest cell that was stored from a session, if there is one.
    async fn last_of_session(
        &self,
        scope: &Scope,
        session: SessionId,
    ) -> Result<Option<Cell>, StoreError>;

    /// Notes that cells were read. Changes no answer of any other method; an unknown id is
    /// passed over.
    async fn touch(&self, scope: &Scope, ids: &[CellId], at: Timestamp) -> Result<(), StoreError>;

    /// Returns at most `limit` active cells of the tenant, of any project and author, whose
    /// vector does not belong to the chosen model, with the text to embed. For `reembed` only.
    async fn stale_vectors(
        &self,
        owner: Owner,
        limit: usize,
    ) -> Result<Vec<StaleVector>, StoreError>;

    /// Replaces vectors of active cells that are still at the given revision; the others are
    /// passed over. For `reembed` only.
    ///
    /// # Errors
    /// [`StoreError::OtherModel`] if `model` is not the chosen one.
    async fn replace_vectors(
        &self,
        owner: Owner,
        model: &ChosenModel,
        vectors: &[(CellId, u32, Vector)],
    ) -> Result<(), StoreError>;

    /// Counts what a tenant keeps.
    async fn statistics(&self, owner: Owner) -> Result<Statistics, StoreError>;
}

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
    /// What is to be recalled from now on; none when nothing is (it was retracted or
    /// superseded, or `scope` may no longer see it).
    pub entry: Option<Entry>,
}

/// What the recall index holds of a cell.
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
    /// Whether it lies in the scope's own project (a shared cell may not).
    pub own_project: bool,
    /// Its salience.
    pub salience: Share,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The hash of its text.
    pub fingerprint: Fingerprint,
    /// Its vector; none if that belongs to another model than the chosen one.
    pub vector: Option<Vector>,
    /// The words of its text.
    pub terms: Terms,
    /// The words of what surrounds it: its date and what was said before it.
    pub context: Terms,
}

/// A cell to keep, with all that is derived from it.
#[derive(Debug, Clone, PartialEq)]
pub struct NewCell {
    /// The cell, at revision 1.
    pub cell: Cell,
    /// The hash of its text.
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
    /// The id of the diff that tells of the change.
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

/// What became of a new cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inserted {
    /// It is kept.
    New,
    /// This cell says the same already; nothing was written.
    Same(CellId),
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
    /// Projects with at least one cell.
    pub projects: u64,
    /// Active cells whose vector does not belong to the chosen model.
    pub stale_vectors: u64,
}
