//! Checks of [`GossipStore`].

mod graph;
mod inbox;
mod queue;
mod subjects;

pub use graph::*;
pub use inbox::*;
pub use queue::*;
pub use subjects::*;

use hyphae_core::{
    diff::Diff,
    ids::{CellId, CredentialId, DiffId, NodeId, WorkerId},
    living::gossip::{Arrival, Arrived, Journey, Stayed, Stop, Why},
    ports::{GossipStore, NewCell, Settled, Settlement, Waiting},
    scope::{Owner, Scope},
};
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::{
    Living,
    fixture::{World, project},
};

/// A moment long after every one of a world.
const LATE: i64 = 2_000_000_000;

fn late(minutes: i64) -> Timestamp {
    Timestamp::from_second(LATE + 60 * minutes).unwrap()
}

fn worker(n: u128) -> WorkerId {
    WorkerId::new(Uuid::from_u128(n))
}

fn id(n: u128) -> NodeId {
    NodeId::new(Uuid::from_u128(n))
}

/// Leases for two minutes from a minute on; what is older than a day has expired.
async fn lease(
    gossip: &dyn GossipStore,
    world: &World<'_>,
    minute: i64,
    who: u128,
) -> Vec<Waiting> {
    lease_some(gossip, world, minute, who, usize::MAX).await
}

async fn lease_some(
    gossip: &dyn GossipStore,
    world: &World<'_>,
    minute: i64,
    who: u128,
    limit: usize,
) -> Vec<Waiting> {
    let day = SignedDuration::from_hours(24);
    let (now, until) = (late(minute), late(minute + 2));
    gossip
        .lease_diffs(world.tenant, worker(who), now, until, now - day, limit)
        .await
        .unwrap()
}

fn diffs(waiting: &[Waiting]) -> Vec<DiffId> {
    waiting.iter().map(|waiting| waiting.diff.id).collect()
}

const STAYED: Settled = Settled::Stayed(Stayed::Spent);

async fn settle(
    gossip: &dyn GossipStore,
    world: &World<'_>,
    waiting: &Waiting,
    settled: &Settled,
) -> Settlement {
    let (diff, lease) = (waiting.diff.id, waiting.lease);
    let settled = gossip.settle(world.tenant, diff, lease, settled, late(0));
    settled.await.unwrap()
}

/// Settles everything that waits in the same way.
async fn settle_all(gossip: &dyn GossipStore, world: &World<'_>, settled: &Settled) {
    for waiting in lease(gossip, world, -60, 99).await {
        let done = settle(gossip, world, &waiting, settled).await;
        assert_eq!(done, Settlement::Done);
    }
}

/// A way that ends with some who listen: an agent's node and a beacon of each.
fn reaching(diff: &Diff, whom: &[CredentialId]) -> Settled {
    let origin = Arrival {
        node: diff.cell.into(),
        at: Arrived::Cell(None),
        from: None,
        hops: 0,
        energy: 7.25,
        score: 1.0,
    };
    let mut reached = vec![origin];
    for (n, whom) in (1..).zip(whom) {
        for (node, at) in [
            (id(n), Arrived::Agent(*whom)),
            (id(100 + n), Arrived::Beacon(*whom)),
        ] {
            reached.push(Arrival {
                node,
                at,
                from: Some(origin.node),
                hops: 1,
                energy: 6.1,
                score: 0.7,
            });
        }
    }
    Settled::Travelled {
        energy: 7.25,
        journey: Journey {
            reached,
            stops: Vec::new(),
        },
    }
}

/// Stores a fact and lets its diff reach somebody.
async fn tell(
    living: &dyn Living,
    world: &World<'_>,
    scope: &Scope,
    text: &str,
    whom: &[CredentialId],
) -> NewCell {
    let new = world.store(scope, text).await;
    deliver(living, world, new.cell.id, whom).await;
    new
}

/// Lets the one diff that waits, which is about a cell, reach somebody.
async fn deliver(living: &dyn Living, world: &World<'_>, cell: CellId, whom: &[CredentialId]) {
    let waiting = lease(living.gossip(), world, -60, 98).await;
    let [one] = waiting.as_slice() else {
        panic!("{} diffs wait", waiting.len());
    };
    assert_eq!(one.diff.cell, cell);
    let settled = reaching(&one.diff, whom);
    let done = settle(living.gossip(), world, one, &settled).await;
    assert_eq!(done, Settlement::Done);
}

/// Three of one tenant in one project.
async fn three(world: &World<'_>) -> [Scope; 3] {
    let [a, b, c]: [Owner; 3] = [
        world.owner().await,
        world.owner().await,
        world.owner().await,
    ];
    [a, b, c].map(|owner| owner.in_project(project("/p")))
}
