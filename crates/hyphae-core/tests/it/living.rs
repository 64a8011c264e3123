//! Changes that travel, over a real store of memories and a queue in memory.

use std::sync::Arc;

use async_trait::async_trait;
use hyphae_core::{
    cell::{CellType, Layer, Share, Status},
    diff::DiffKind,
    ids::{CredentialId, DiffId, NodeId, WorkerId},
    living::{
        gossip::{Rules, Stayed},
        node::{Interest, Listener, Neighbour, Node, NodeKind},
        worker::{self, Batch},
    },
    ports::{GossipStore, Letter, Settled},
    scope::{Project, Scope},
};
use hyphae_store::{SqliteOptions, Store};
use hyphae_testkit::{
    MemoryGossip,
    contract::{
        Living, Ports, Subject,
        fixture::{World, link, project, revise, vector},
    },
};
use jiff::Timestamp;
use pretty_assertions::assert_eq;
use uuid::Uuid;

/// A store in a scratch folder, with a queue.
#[derive(Debug, Clone)]
struct Scratch {
    store: Store,
    gossip: MemoryGossip,
    _folder: Arc<tempfile::TempDir>,
}

impl Scratch {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("living.db");
        let store = Store::create_file(&path, SqliteOptions::default())
            .await
            .unwrap();
        Self {
            gossip: MemoryGossip::new(Arc::new(store.clone())),
            store,
            _folder: Arc::new(folder),
        }
    }
}

#[async_trait]
impl Subject for Scratch {
    fn ports(&self) -> &dyn Ports {
        &self.store
    }

    async fn again(&self) -> Box<dyn Subject> {
        Box::new(self.clone())
    }
}

#[async_trait]
impl Living for Scratch {
    fn subject(&self) -> &dyn Subject {
        self
    }

    fn gossip(&self) -> &dyn GossipStore {
        &self.gossip
    }

    async fn again(&self) -> Box<dyn Living> {
        Box::new(self.clone())
    }
}

async fn living() -> Option<Box<dyn Living>> {
    Some(Box::new(Scratch::new().await))
}

/// The contract holds of the queue in memory, so that it can be held to.
mod contract {
    hyphae_testkit::living_contract!(super::living);
}

const TENANT_RULES: &(dyn Fn(&Project) -> Rules + Sync) = &|_| Rules {
    // The vectors of made-up cells mean nothing.
    relevance: -1.0,
    attention: -1.0,
    ..Rules::default()
};

fn worker(n: u128) -> WorkerId {
    WorkerId::new(Uuid::from_u128(n))
}

/// A moment of the day on which everything is written.
fn soon(minutes: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + 60 * (100 + minutes)).unwrap()
}

fn listener(n: u128, owner: CredentialId) -> Neighbour {
    Neighbour {
        node: Node {
            id: NodeId::new(Uuid::from_u128(n)),
            place: Some(vector("anything")),
            kind: NodeKind::Agent(Listener {
                owner,
                interest: Interest::default(),
            }),
        },
        weight: 1.0,
    }
}

async fn run(scratch: &Scratch, world: &World<'_>, minute: i64) -> Batch {
    let gossip = worker::gossip(
        &scratch.gossip,
        world.tenant,
        worker(1),
        TENANT_RULES,
        soon(minute),
    );
    gossip.await.unwrap()
}

async fn settled(scratch: &Scratch, scope: &Scope, diff: DiffId) -> Settled {
    let settled = scratch.gossip.settled(scope, diff).await.unwrap();
    settled.unwrap()
}

#[tokio::test]
async fn what_is_stored_reaches_who_listens_near_it_and_so_does_its_end() {
    let scratch = Scratch::new().await;
    let world = World::new(&scratch).await;
    let writer = world.owner().await.in_project(project("p"));
    let reader = world.owner().await.in_project(project("p"));
    let known = world.store(&writer, "known").await;
    scratch
        .gossip
        .listen(known.cell.id, Layer::L0, listener(7, reader.credential));
    let mut new = world.cell(&writer, "new");
    new.derived.links = vec![link(known.cell.id, 0.5)];
    let new = world.keep(&writer, new).await;
    let batch = run(&scratch, &world, 0).await;
    assert_eq!((batch.settled, batch.lost), (2, 0));
    assert!(run(&scratch, &world, 1).await.is_empty());
    let inbox = scratch.gossip.inbox(&reader, 0, false, 9).await.unwrap();
    let told = |letter: &Letter| (letter.diff.cell, letter.told.map(|told| told.hops));
    let letters: Vec<_> = inbox.letters.iter().map(told).collect();
    assert_eq!(letters, [(known.cell.id, Some(1)), (new.cell.id, Some(2))]);
    let Settled::Travelled { energy, journey } = settled(&scratch, &reader, new.diff).await else {
        panic!("it did not travel");
    };
    let energies: Vec<f64> = journey.reached.iter().map(|at| at.energy).collect();
    assert_eq!(energies, [energy, energy - 2.0, energy - 3.0]);

    let mut end = world.revise(&new.cell, |cell| cell.status = Status::Retracted);
    end.kind = DiffKind::Retracted;
    let diff = end.diff;
    world.done(&writer, vec![revise(end)]).await;
    run(&scratch, &world, 2).await;
    assert_eq!(settled(&scratch, &writer, diff).await, Settled::Followed);
    let inbox = scratch.gossip.inbox(&reader, 0, false, 9).await.unwrap();
    assert_eq!(told(&inbox.letters[2]), (new.cell.id, None));
}

#[tokio::test]
async fn what_cannot_travel_is_settled_with_the_reason() {
    let scratch = Scratch::new().await;
    let world = World::new(&scratch).await;
    let scope = world.owner().await.in_project(project("p"));
    let private = world.keep(&scope, world.private(&scope, "private")).await;
    let mut faint = world.cell(&scope, "faint");
    faint.cell.salience = Share::new(0.05).unwrap();
    let faint = world.keep(&scope, faint).await;
    run(&scratch, &world, 0).await;
    let late = world.store(&scope, "late").await;
    run(&scratch, &world, 60 * 24).await;
    for (diff, stayed) in [
        (private.diff, Stayed::Hidden),
        (faint.diff, Stayed::Faint),
        (late.diff, Stayed::Expired),
    ] {
        assert_eq!(
            settled(&scratch, &scope, diff).await,
            Settled::Stayed(stayed)
        );
    }
}

#[tokio::test]
async fn a_flood_of_salient_decisions_spends_the_energy_of_its_author_only() {
    let scratch = Scratch::new().await;
    let world = World::new(&scratch).await;
    let flood = world.owner().await.in_project(project("p"));
    let other = world.owner().await.in_project(project("p"));
    let mut diffs = Vec::new();
    for n in 0..110 {
        let mut new = world.cell(&flood, &format!("decision {n}"));
        new.cell.cell_type = CellType::Decision;
        new.cell.salience = Share::FULL;
        diffs.push(world.keep(&flood, new).await.diff);
    }
    let theirs = world.store(&other, "a fact").await.diff;
    for minute in 0..2 {
        run(&scratch, &world, minute).await;
    }
    let mut spent = 0;
    for diff in diffs {
        let settled = settled(&scratch, &flood, diff).await;
        spent += usize::from(settled == Settled::Stayed(Stayed::Spent));
    }
    assert_eq!(spent, 10, "a hundred at 20 each");
    let theirs = settled(&scratch, &other, theirs).await;
    assert!(matches!(theirs, Settled::Travelled { .. }), "{theirs:?}");
}

#[tokio::test]
async fn a_change_that_ends_workers_is_given_up() {
    let scratch = Scratch::new().await;
    let world = World::new(&scratch).await;
    let scope = world.owner().await.in_project(project("p"));
    let diff = world.store(&scope, "text").await.diff;
    for n in 0..worker::ATTEMPTS {
        let (now, until) = (soon(2 * i64::from(n)), soon(2 * i64::from(n) + 1));
        let taken = scratch
            .gossip
            .lease_diffs(world.tenant, worker(9), now, until, now, 9);
        assert_eq!(taken.await.unwrap().len(), 1);
    }
    run(&scratch, &world, 60).await;
    assert_eq!(
        settled(&scratch, &scope, diff).await,
        Settled::Stayed(Stayed::Failed)
    );
}
