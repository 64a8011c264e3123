//! Where memories are kept.

use std::fmt;

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

use super::{
    reads::{
        AuditFilter, Change, ChosenModel, Confirmation, Past, Sequence, StaleVector, Statistics,
        Wanted,
    },
    writes::{Committed, Link, Write},
};
use crate::{
    audit::AuditRow,
    cell::{Cell, Visibility},
    conflict::Conflict,
    diff::{Diff, DiffKind},
    ids::{CellId, ConflictId, EdgeId, SessionId},
    label::Topic,
    ports::StoreError,
    recall::Vector,
    relation::Relation,
    scope::{Owner, Scope},
};

/// Tells which cells the caller knows that its scope can see.
pub type Seen<'a> = &'a (dyn Fn(CellId) -> bool + Send + Sync);

/// Keeps memories, their vectors, their words, their history and the links between them.
///
/// Every method sees what `scope` may see and nothing else: cells of its tenant that are in its
/// project and not private to somebody else, and shared cells of its tenant; links and conflicts
/// both of whose ends it sees. A foreign id and an unknown id give the same answer. What a
/// method has acknowledged survives a crash of the process at the next instruction; a dropped
/// call leaves all of a change or none of it.
#[async_trait]
pub trait MemoryStore: fmt::Debug + Send + Sync {
    // --- the embedding model

    /// Returns the embedding model that the vectors of `owner`'s tenant belong to, if any are
    /// there or one was chosen.
    async fn chosen_model(&self, owner: Owner) -> Result<Option<ChosenModel>, StoreError>;

    /// Chooses the model for a tenant. Vectors of another model stay where they are, are no
    /// longer given out by [`changes`](Self::changes), and are listed by
    /// [`stale_vectors`](Self::stale_vectors) until they are replaced. Choosing is no change of
    /// any cell: whoever keeps vectors asks for the chosen model after it has read changes, and
    /// drops them if it is another one.
    async fn choose_model(&self, owner: Owner, model: &ChosenModel) -> Result<(), StoreError>;

    /// Returns at most `limit` cells of the tenant, of any project, author and status, whose
    /// vector does not belong to the chosen model, with the text to embed. For `reembed` only.
    async fn stale_vectors(
        &self,
        owner: Owner,
        limit: usize,
    ) -> Result<Vec<StaleVector>, StoreError>;

    /// Replaces vectors of cells that are still at the given revision; the others are passed
    /// over. For `reembed` only.
    ///
    /// # Errors
    /// [`StoreError::OtherModel`] if `model` is not the chosen one.
    async fn replace_vectors(
        &self,
        owner: Owner,
        model: &ChosenModel,
        vectors: &[(CellId, u32, Vector)],
    ) -> Result<(), StoreError>;

    // --- writing

    /// Carries out all steps of a write, its audit row included, in one transaction, or none of
    /// them: what each step expects and does is said at [`Step`](super::Step).
    ///
    /// # Errors
    /// [`StoreError::OtherModel`] if a vector's model is not the chosen one,
    /// [`StoreError::Unavailable`] if a new cell's author or project is not that of `scope`.
    async fn commit(&self, scope: &Scope, write: &Write) -> Result<Committed, StoreError>;

    /// Notes that cells were read. Changes no answer of any other method; an unknown id is
    /// passed over.
    async fn touch(&self, scope: &Scope, ids: &[CellId], at: Timestamp) -> Result<(), StoreError>;

    // --- reading, for recall

    /// Returns at most `limit` changes to what `scope` can recall, in the order in which they
    /// were committed, that came after `after`. A change is a cell's present state, or that it
    /// is no longer to be seen. Never misses a change that was committed before the call.
    ///
    /// Vectors come only if they are of `model` and the tenant's chosen model is that one.
    async fn changes(
        &self,
        scope: &Scope,
        after: Sequence,
        limit: usize,
        model: &ChosenModel,
    ) -> Result<Vec<Change>, StoreError>;

    /// Returns the semantic links that lead away from each of `ids` that `scope` can see, to
    /// cells that it can see, strongest first and of equal ones those to older cells first.
    ///
    /// `seen` names cells that the caller has been told of by [`changes`](Self::changes) just
    /// now: that they can be seen is not looked up once more, which is most of the work.
    async fn links(
        &self,
        scope: &Scope,
        ids: &[CellId],
        seen: Seen<'_>,
    ) -> Result<Vec<(CellId, Vec<Link>)>, StoreError>;

    /// Returns the newest cell that was stored from a session, if there is one.
    async fn last_of_session(
        &self,
        scope: &Scope,
        session: SessionId,
    ) -> Result<Option<Cell>, StoreError>;

    // --- reading, for people and agents

    /// Returns the cells with these ids that `scope` can see, of any status, in the order of
    /// `ids`; unknown and foreign ones are left out.
    async fn cells(&self, scope: &Scope, ids: &[CellId]) -> Result<Vec<Cell>, StoreError>;

    /// Returns at most `limit` ids of things of one kind that `scope` can see and that begin
    /// with `prefix` (lower-case hexadecimal digits without hyphens), oldest first.
    async fn ids_beginning(
        &self,
        scope: &Scope,
        wanted: Wanted,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<Uuid>, StoreError>;

    /// Returns the active cell that stands for a topic with this visibility in the scope's own
    /// project (of this author, if private).
    async fn cell_of_topic(
        &self,
        scope: &Scope,
        topic: &Topic,
        visibility: Visibility,
    ) -> Result<Option<Cell>, StoreError>;

    /// Returns the cell that the same credential stored under a key
    /// ([`Step::Key`](super::Step::Key)).
    async fn cell_of_key(
        &self,
        scope: &Scope,
        key: &[u8; 32],
    ) -> Result<Option<CellId>, StoreError>;

    /// Returns the earlier revisions of a cell, the oldest first.
    async fn history(&self, scope: &Scope, id: CellId) -> Result<Vec<Past>, StoreError>;

    /// Returns the relations that lead from or to any of these cells, each once, oldest first
    /// (by time, then by id); retracted ones only if they are wanted.
    async fn relations(
        &self,
        scope: &Scope,
        ids: &[CellId],
        retracted: bool,
    ) -> Result<Vec<Relation>, StoreError>;

    /// Returns the relations with these ids, in their order; unknown ones are left out.
    async fn relations_by_id(
        &self,
        scope: &Scope,
        ids: &[EdgeId],
    ) -> Result<Vec<Relation>, StoreError>;

    /// Returns the confirmations of each of these cells, oldest first, those of earlier texts
    /// included.
    async fn confirmations(
        &self,
        scope: &Scope,
        ids: &[CellId],
    ) -> Result<Vec<Confirmation>, StoreError>;

    /// Returns at most `limit` open conflicts after one, oldest first; only those about any of
    /// `cells` if that is not empty.
    async fn open_conflicts(
        &self,
        scope: &Scope,
        cells: &[CellId],
        after: Option<ConflictId>,
        limit: usize,
    ) -> Result<Vec<Conflict>, StoreError>;

    /// Returns a conflict, open or not.
    async fn conflict(&self, scope: &Scope, id: ConflictId)
    -> Result<Option<Conflict>, StoreError>;

    /// Returns at most `limit` diffs of these kinds (of all, if none is named) that came after
    /// `after`, in the order of commits, about cells that `scope` can see or that were erased
    /// and that it could see; those of its own credential only if they are wanted.
    async fn diffs(
        &self,
        scope: &Scope,
        after: Sequence,
        kinds: &[DiffKind],
        own: bool,
        limit: usize,
    ) -> Result<Vec<Diff>, StoreError>;

    /// Returns the newest place in the tenant's order of changes.
    async fn newest(&self, owner: Owner) -> Result<Sequence, StoreError>;

    /// Returns at most `limit` names of topics, tags or projects that begin with `prefix`,
    /// sorted. Topics and tags are those of active cells that `scope` can see; projects those of
    /// its tenant in which it can see an active cell.
    async fn names(
        &self,
        scope: &Scope,
        wanted: Wanted,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<String>, StoreError>;

    /// Returns a page of a tenant's audit, newest first.
    async fn audit(&self, owner: Owner, filter: &AuditFilter) -> Result<Vec<AuditRow>, StoreError>;

    /// Counts what a tenant keeps.
    async fn statistics(&self, owner: Owner) -> Result<Statistics, StoreError>;
}
