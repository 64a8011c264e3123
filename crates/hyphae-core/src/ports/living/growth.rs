//! What rises and what gathers.

use std::{collections::BTreeSet, fmt};

use async_trait::async_trait;
use jiff::Timestamp;

use super::Lease;
use crate::{
    cell::{Cell, Layer},
    ids::{CellId, CredentialId, DiffId, NodeId, RunId, TenantId, WorkerId},
    living::{
        consolidation::{Grain, Made, Plan},
        promotion::Standing,
    },
    ports::{NewLink, Sequence, StoreError},
    scope::Scope,
};

/// Keeps what has risen, scenes and patterns.
///
/// What rose from a cell follows it: each write that changes, erases or brings back a cell carries
/// out [`follows`](crate::living::promotion::follows) for what rose from it, up to the highest
/// layer, in the same transaction, and writes the diffs of it. To erase a cell erases the patterns
/// that have its text, too: consolidation crystallises them anew from what is left.
#[async_trait]
pub trait GrowthStore: fmt::Debug + Send + Sync {
    // --- one at a time

    /// Leases a job of a project until a moment; none while another lease of it runs, this
    /// worker's own included.
    async fn lease_job(
        &self,
        commons: &Scope,
        job: Job,
        worker: WorkerId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<Lease>, StoreError>;

    /// Ends the lease of a job, if it is still the latest.
    async fn end_job(&self, commons: &Scope, job: Job, lease: Lease) -> Result<(), StoreError>;

    // --- rising

    /// Returns at most `limit` active cells of a tenant, with the commons of their projects, of
    /// which something changed that decides whether they rise, oldest first by that change: they
    /// were delivered to nodes, confirmed, brought into another scene, or a conflict about them
    /// ended.
    async fn to_judge(
        &self,
        tenant: TenantId,
        limit: usize,
    ) -> Result<Vec<(Scope, CellId)>, StoreError>;

    /// Returns what is known of cells, in the order of `cells`; those not in the commons are left
    /// out.
    async fn known(&self, commons: &Scope, cells: &[CellId]) -> Result<Vec<Known>, StoreError>;

    /// Notes that a cell was looked at and stays where it is, unless something changed since
    /// [`to_judge`](Self::to_judge) named it.
    async fn stays(&self, commons: &Scope, cell: CellId) -> Result<(), StoreError>;

    /// Keeps a cell that rose from another one, in one transaction: the cell, its vector and words
    /// (those of the source), its links on its layer, a `promoted` edge of weight 1 from the source
    /// to it, and a `promoted` diff about it.
    ///
    /// If an active cell of the layer says the same to the same readers, only the edge to that one
    /// is kept, and the source counts as risen. Nothing is kept, with [`Raised::Changed`], if the
    /// source is at another revision, has risen already, or an open conflict is about it.
    async fn rise(&self, commons: &Scope, rising: &Rising) -> Result<Raised, StoreError>;

    // --- gathering

    /// Returns what consolidation made of a layer, and how far it has read.
    async fn grown(&self, commons: &Scope, layer: Layer) -> Result<Grown, StoreError>;

    /// Returns at most `limit` cells of a layer after one, by id: active ones that are not private,
    /// with a vector of the chosen model, those that consolidation made not among them.
    async fn grains(
        &self,
        commons: &Scope,
        layer: Layer,
        after: Option<CellId>,
        limit: usize,
    ) -> Result<Vec<Grain>, StoreError>;

    /// Carries out a plan in one transaction and keeps it under the id of the run.
    ///
    /// A scene appears as a node of the layer above, linked to what is near it there, and its cells
    /// belong to it. A pattern that appears is the cell in `patterns` of the same id, with `causal`
    /// edges of weight 1 from its sources and a `pattern` diff; one that changes takes the text of
    /// another source as a revision (with an `updated` diff); one that goes is retracted, and
    /// brought back if it appears again. The cells of changed scenes are to be judged anew.
    ///
    /// Returns [`CarriedOut::Stale`], with nothing written, if anything is not in the state that
    /// the plan expects, and [`CarriedOut::Lost`] if `lease` is not the latest one of
    /// [`Job::Consolidate`].
    async fn carry_out(
        &self,
        commons: &Scope,
        layer: Layer,
        lease: Lease,
        run: &Run,
        patterns: &[NewPattern],
    ) -> Result<CarriedOut, StoreError>;

    /// Returns at most `limit` runs that wrote something, latest first, those before `before`.
    async fn runs(
        &self,
        commons: &Scope,
        layer: Layer,
        before: Option<RunId>,
        limit: usize,
    ) -> Result<Vec<Run>, StoreError>;
}

/// What only one worker at a time does in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Job {
    /// Making scenes and patterns.
    Consolidate,
    /// Placing agents.
    Place,
}

/// What is known of a cell that may rise.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// The cell.
    pub cell: Cell,
    /// Where changes of its present text arrived; see [`Standing::delivered`].
    pub delivered: Vec<(NodeId, Option<NodeId>)>,
    /// Who confirmed it; see [`Standing::confirmed_by`].
    pub confirmed_by: Vec<CredentialId>,
    /// Whether an open conflict is about it; see [`Standing::disputed`].
    pub disputed: bool,
    /// Whether it has risen from its layer; see [`Standing::risen`].
    pub risen: bool,
}

impl Known {
    /// Returns it as the rules look at it.
    pub fn standing(&self) -> Standing<'_> {
        Standing {
            cell: &self.cell,
            delivered: &self.delivered,
            confirmed_by: &self.confirmed_by,
            disputed: self.disputed,
            risen: self.risen,
        }
    }
}

/// A cell that rises.
#[derive(Debug, Clone, PartialEq)]
pub struct Rising {
    /// The cell that it rises from.
    pub source: CellId,
    /// The revision of that.
    pub revision: u32,
    /// What it becomes.
    pub cell: Cell,
    /// The links of that on its layer.
    pub links: Vec<NewLink>,
    /// The id of the `promoted` diff.
    pub diff: DiffId,
}

/// What became of a cell that was to rise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Raised {
    /// It rose.
    Done(Sequence),
    /// This cell says the same on that layer, and stands for it, too.
    Joined(CellId),
    /// It is not what it was when it was judged.
    Changed,
}

/// What consolidation has made of a layer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Grown {
    /// Scenes and patterns.
    pub made: Made,
    /// Patterns that somebody confirmed or changed.
    pub held: BTreeSet<CellId>,
    /// The place in the order of changes up to which cells were read; none if it never ran, or if
    /// the embedding model is another one since.
    pub upto: Option<Sequence>,
}

/// One consolidation.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// When.
    pub at: Timestamp,
    /// The run that it takes back, if it is an undoing.
    pub undoes: Option<RunId>,
    /// What it wrote.
    pub plan: Plan,
    /// Up to where cells were read.
    pub upto: Sequence,
}

/// The cell of a pattern that a plan lets appear.
#[derive(Debug, Clone, PartialEq)]
pub struct NewPattern {
    /// The cell; its vector and words are those of the source whose text it has.
    pub cell: Cell,
    /// Its semantic links.
    pub links: Vec<NewLink>,
    /// The id of the `pattern` diff.
    pub diff: DiffId,
}

/// Whether a plan was carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarriedOut {
    /// It was.
    Done(Sequence),
    /// The memory is no longer as it was when the plan was made.
    Stale,
    /// Another worker does the job now.
    Lost,
}
