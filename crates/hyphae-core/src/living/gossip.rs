//! How one change travels: from node to node, the best energy first, until its energy is spent
//! or nothing near is relevant to it (HyphaeDB paper, §4.1, algorithm 1).
//!
//! The paper keeps the set of visited nodes for each path, which makes hundreds of thousands of
//! deliveries to reach a hundred nodes. Here there is one for each change and layer: a node is
//! entered once, with the most energy that any path brings to it, and the result does not depend
//! on the order in which links are read.

mod journey;
#[cfg(test)]
mod tests;
mod walk;

use jiff::{SignedDuration, Timestamp};

pub use journey::{Arrival, Arrived, Journey, Stop, Told, Why};
pub use walk::Walk;

use super::{
    decay,
    node::{Listener, Node, NodeKind},
};
use crate::{
    cell::{CellType, Layer, Share},
    diff::DiffKind,
    ids::{CredentialId, NodeId},
    label::Tags,
    ports::{Graph, StoreError},
    recall::Vector,
    topology,
};

/// By how much the energy of a contradiction is greater (HyphaeDB paper, §5.2).
pub const CONTRADICTION: f64 = 1.5;

/// How much energy a promotion adds (HyphaeDB paper, §4.3).
pub const PROMOTION: f64 = 5.0;

/// The most energy that the changes of one credential may spend in an hour: what a hundred
/// salient decisions have. What is beyond it is kept, but does not travel.
pub const HOURLY: f64 = 2000.0;

/// The time of [`HOURLY`].
pub const HOUR: SignedDuration = SignedDuration::from_hours(1);

/// The numbers of a project's gossip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// σmin: the least score with which a cell or a scene is entered, in [0, 1].
    pub relevance: f64,
    /// The least score with which somebody is told, in [0, 1]. Interest counts only for those who
    /// listen, so the same number would let everybody in whom a change passes by.
    pub attention: f64,
    /// A change is delivered to nodes fewer hops away than this.
    pub hops: u8,
    /// How long after it was made a change may travel.
    pub lifetime: SignedDuration,
    /// The most nodes that a change is delivered to, its origin included.
    pub most: usize,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            relevance: 0.3,
            attention: 0.3,
            hops: 10,
            lifetime: SignedDuration::from_hours(24),
            most: 1000,
        }
    }
}

/// A change on its way.
#[derive(Debug, Clone, PartialEq)]
pub struct Carried {
    /// Where it begins: the cell that changed.
    pub origin: NodeId,
    /// The scene of that cell.
    pub scene: Option<NodeId>,
    /// The layer it travels on.
    pub layer: Layer,
    /// What changed.
    pub kind: DiffKind,
    /// The cell's type.
    pub cell_type: CellType,
    /// The cell's tags.
    pub tags: Tags,
    /// The cell's salience; of a contradiction the larger one of both cells.
    pub salience: Share,
    /// The cell's vector.
    pub place: Vector,
    /// Who made the change, and so is not told of it.
    pub author: CredentialId,
    /// When it was made.
    pub at: Timestamp,
    /// The energy that it begins with; see [`energy`].
    pub energy: f64,
}

/// How others learn of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// It travels through the topology.
    Gossip,
    /// It is told to those who were told of the same cell before, whatever its energy.
    Follow,
}

/// Returns how a kind of change travels. What takes a memory away, brings it back or decides
/// about it concerns those who know the memory, and nobody else.
pub const fn route(kind: DiffKind) -> Route {
    match kind {
        DiffKind::Created
        | DiffKind::Updated
        | DiffKind::Superseded
        | DiffKind::Contradiction
        | DiffKind::Pattern
        | DiffKind::Promoted => Route::Gossip,
        DiffKind::Retracted | DiffKind::Restored | DiffKind::Erased | DiffKind::Resolved => {
            Route::Follow
        }
    }
}

/// Returns the energy with which a change begins: that of its cell
/// ([`topology::energy_at_birth`]), 1.5 times it for a contradiction and 5 more for a promotion
/// (HyphaeDB paper, §4.3, §5.2). From 0 to 30.
pub fn energy(kind: DiffKind, cell_type: CellType, salience: Share) -> f64 {
    let born = topology::energy_at_birth(cell_type, salience);
    match kind {
        DiffKind::Contradiction => CONTRADICTION * born,
        DiffKind::Promoted => born + PROMOTION,
        DiffKind::Created
        | DiffKind::Updated
        | DiffKind::Superseded
        | DiffKind::Pattern
        | DiffKind::Retracted
        | DiffKind::Restored
        | DiffKind::Erased
        | DiffKind::Resolved => born,
    }
}

/// Returns how much of the energy that a change wants it gets, after its author has spent
/// `spent` within the hour before it was made: all of it or none, so that a change that travels
/// reaches whom it should.
pub fn allowance(wanted: f64, spent: f64) -> f64 {
    if spent + wanted <= HOURLY {
        wanted
    } else {
        0.0
    }
}

/// Why a change did not set out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stayed {
    /// It is older than a change may be that travels.
    Expired,
    /// Its cell is of too little salience.
    Faint,
    /// It has no energy, or its author has spent what may be spent in an hour.
    Spent,
    /// Not everybody in the project may see its cell, or it is gone.
    Hidden,
    /// Whoever took it on failed, time and again.
    Failed,
}

/// Returns `0.6 · cos + 0.3 · interest + 0.1 · s`, how much a change matters to a node
/// (HyphaeDB paper, §4.1). The interest of an agent or a beacon is how near the change is to it,
/// that of all other nodes none. None if the node has no place.
pub fn score(carried: &Carried, node: &Node) -> Option<f64> {
    let cosine = f64::from(carried.place.cosine(node.place.as_ref()?));
    let interest = match &node.kind {
        NodeKind::Cell { .. } | NodeKind::Scene => 0.0,
        NodeKind::Agent(listener) | NodeKind::Beacon(listener) => {
            if takes(listener, carried) {
                cosine.max(0.0)
            } else {
                0.0
            }
        }
    };
    Some(0.6 * cosine + 0.3 * interest + 0.1 * carried.salience.get())
}

fn takes(listener: &Listener, carried: &Carried) -> bool {
    listener
        .interest
        .takes(carried.kind, carried.cell_type, &carried.tags)
}

/// Walks a change through a graph.
///
/// # Errors
/// [`StoreError`], with nothing delivered: a walk changes nothing by itself.
pub async fn travel(graph: &dyn Graph, mut walk: Walk) -> Result<Journey, StoreError> {
    /// How many nodes' links are read at once.
    const AT_ONCE: usize = 16;
    loop {
        let wanted = walk.wants(AT_ONCE);
        if wanted.is_empty() {
            return Ok(walk.finish());
        }
        let mut links = graph.around(walk.layer(), &wanted).await?.into_iter();
        for node in wanted {
            walk.feed(node, links.next().unwrap_or_default());
        }
    }
}

/// Tells whether a change may set out.
fn sets_out(carried: &Carried, rules: &Rules, now: Timestamp) -> Result<(), Stayed> {
    if now.duration_since(carried.at) >= rules.lifetime {
        Err(Stayed::Expired)
    } else if carried.salience.get() < decay::FLOOR {
        Err(Stayed::Faint)
    } else if carried.energy > 0.0 {
        Ok(())
    } else {
        Err(Stayed::Spent)
    }
}
