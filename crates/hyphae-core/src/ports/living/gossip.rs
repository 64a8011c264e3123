//! Changes that wait to travel, and the inboxes that they end in.

use std::fmt;

use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    cell::{Layer, Share},
    diff::Diff,
    ids::{DiffId, NodeId, TenantId, WorkerId},
    label::Tags,
    living::{
        gossip::{Carried, Journey, Stayed, Told, allowance, energy},
        node::Neighbour,
    },
    ports::StoreError,
    recall::Vector,
    scope::Scope,
};

/// The topology of one project, to be read.
///
/// It holds what everybody in the project may see: active cells that are not private, scenes,
/// and the nodes of those who listen. Links do not lead to anything else; those that lead away from
/// a cell that is no longer active are there while the cell is, since the change that ended it
/// begins at it.
#[async_trait]
pub trait Graph: fmt::Debug + Send + Sync {
    /// Returns the links of all kinds that lead away from each of `nodes` to nodes of `layer` or to
    /// those who listen there, retracted relations not among them: one list a node, in the order
    /// of `nodes`, empty for a node that is unknown. The order within a list does not matter.
    async fn around(
        &self,
        layer: Layer,
        nodes: &[NodeId],
    ) -> Result<Vec<Vec<Neighbour>>, StoreError>;
}

/// Keeps which changes have travelled, where they arrived, and what waits in whose inbox.
///
/// Every diff waits from the transaction that writes it until it is settled, once. Any number of
/// processes share the work by leases; a process that dies leaves its leases to run out. What
/// [`settle`](Self::settle) has acknowledged survives a crash at the next instruction; a dropped
/// call leaves all of it or none.
#[async_trait]
pub trait GossipStore: fmt::Debug + Send + Sync {
    /// Leases at most `limit` diffs of a tenant that wait, in the order of their commits, until a
    /// moment.
    ///
    /// A diff is passed over while a lease of it runs, that is, until the end of its latest lease is
    /// not after `now`, whoever has it, this worker included. It is passed over, too, while its cell has no
    /// vector of the chosen model, unless it is not to travel anyway: erased, private, or older
    /// than `expired`. Of two calls at once no two return the same diff.
    ///
    /// Times are those of the callers. A clock that is ahead of others takes over too early; then
    /// work is done twice and thrown away once, and nothing is delivered twice.
    async fn lease_diffs(
        &self,
        tenant: TenantId,
        worker: WorkerId,
        now: Timestamp,
        until: Timestamp,
        expired: Timestamp,
        limit: usize,
    ) -> Result<Vec<Waiting>, StoreError>;

    /// Keeps what became of a diff and ends its waiting, in one transaction:
    ///
    /// - each node it reached, with the way, energy, hops and score, and each stop;
    /// - for each credential in [`Journey::told`], a letter in its inbox in the diff's project;
    ///   one that the diff is in already is passed over;
    /// - for [`Settled::Followed`], a letter for each credential but the author whose inbox holds
    ///   or held, read or unread or dropped, another diff about the same cell;
    /// - beyond [`Inbox::MOST`] unread letters of an inbox the oldest unread ones are removed and
    ///   counted;
    /// - the energy it began with, as spent by its author at the time of the diff, if it travelled;
    /// - that its cell is to be looked at by who lets cells rise.
    ///
    /// Returns [`Settlement::Lost`], with nothing written, if the diff waits no longer or was
    /// leased again since: `lease` must be its latest. A lease that has run out still settles
    /// while nobody else has taken it.
    async fn settle(
        &self,
        tenant: TenantId,
        diff: DiffId,
        lease: Lease,
        settled: &Settled,
        at: Timestamp,
    ) -> Result<Settlement, StoreError>;

    /// Ends all leases of a worker that goes away, so that others need not wait for them.
    async fn release(&self, tenant: TenantId, worker: WorkerId) -> Result<(), StoreError>;

    /// Returns how many diffs of a tenant wait.
    async fn waiting(&self, tenant: TenantId) -> Result<u64, StoreError>;

    /// Returns what became of a diff, if it is settled and `scope` can see its cell. Nodes that
    /// `scope` cannot see are left out, with the stops at them.
    async fn settled(&self, scope: &Scope, diff: DiffId) -> Result<Option<Settled>, StoreError>;

    /// Returns at most `limit` letters of the credential of `scope` in its project after a number,
    /// in the order in which they arrived, read ones only if they are wanted. Letters about cells
    /// that it can no longer see are left out.
    async fn inbox(
        &self,
        scope: &Scope,
        after: u64,
        read: bool,
        limit: usize,
    ) -> Result<Inbox, StoreError>;

    /// Marks the letters of the credential of `scope` in its project up to a number as read, and
    /// forgets how many were dropped.
    async fn mark_read(&self, scope: &Scope, upto: u64) -> Result<(), StoreError>;

    /// Returns the topology of a project.
    fn graph(&self, commons: &Scope) -> Box<dyn Graph + '_>;
}

/// The right to settle something. Each lease of the same thing has a greater number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lease {
    /// Whose it is.
    pub worker: WorkerId,
    /// How often the thing was leased, this time included, from 1.
    pub number: u32,
}

/// A diff that waits to travel.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiting {
    /// The diff.
    pub diff: Diff,
    /// The lease of it.
    pub lease: Lease,
    /// The commons of its project.
    pub commons: Scope,
    /// Its cell as it is now; none if not everybody in the project may see it, if it is erased, or
    /// if it has no vector of the chosen model.
    pub subject: Option<Subject>,
    /// The energy that diffs of the same author spent that travelled and were made in the hour
    /// before this one was made, in any project of the tenant.
    pub spent: f64,
}

/// The cell of a diff, as far as it decides where the diff goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// Its layer.
    pub layer: Layer,
    /// Its scene, if it belongs to one.
    pub scene: Option<NodeId>,
    /// Its tags.
    pub tags: Tags,
    /// Its vector.
    pub place: Vector,
    /// The salience of the other cell of a contradiction, while that is there.
    pub other: Option<Share>,
}

impl Waiting {
    /// Returns the diff as it sets out; none if it has no subject. Its energy is none if its author
    /// has spent what may be spent in an hour.
    pub fn carried(&self) -> Option<Carried> {
        let subject = self.subject.as_ref()?;
        let own = self.diff.salience;
        let salience = match subject.other {
            Some(other) if other > own => other,
            Some(_) | None => own,
        };
        let wanted = energy(self.diff.kind, self.diff.cell_type, salience);
        Some(Carried {
            origin: self.diff.cell.into(),
            scene: subject.scene,
            layer: subject.layer,
            kind: self.diff.kind,
            cell_type: self.diff.cell_type,
            tags: subject.tags.clone(),
            salience,
            place: subject.place.clone(),
            author: self.diff.author,
            at: self.diff.at,
            energy: allowance(wanted, self.spent),
        })
    }
}

/// What became of a diff.
#[derive(Debug, Clone, PartialEq)]
pub enum Settled {
    /// It travelled, and began with this energy.
    Travelled {
        /// The energy.
        energy: f64,
        /// The way.
        journey: Journey,
    },
    /// It was told to those who were told of its cell before.
    Followed,
    /// It did not set out.
    Stayed(Stayed),
}

/// Whether something was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    /// It was, and is durable.
    Done,
    /// Somebody else has it or has settled it; nothing was written.
    Lost,
}

/// A page of an inbox.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Inbox {
    /// The letters.
    pub letters: Vec<Letter>,
    /// How many unread letters there are, on this page and on others.
    pub unread: u64,
    /// How many unread letters were removed since the last time something was marked as read.
    pub dropped: u64,
}

impl Inbox {
    /// The most unread letters of a credential in a project.
    pub const MOST: usize = 256;
}

/// A diff that reached somebody.
#[derive(Debug, Clone, PartialEq)]
pub struct Letter {
    /// Its place in the inbox: greater than that of every letter that arrived before, from 1.
    pub number: u64,
    /// The diff.
    pub diff: Diff,
    /// How it came; none if it followed an earlier one about the same cell.
    pub told: Option<Told>,
    /// When it arrived.
    pub at: Timestamp,
    /// Whether it was read.
    pub read: bool,
}
