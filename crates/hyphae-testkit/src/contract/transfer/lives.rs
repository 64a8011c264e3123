//! What people did in a store, and what can be told of it.

use hyphae_core::{
    cell::{Cell, Content, Status},
    conflict::Verdict,
    ids::{CellId, DiffId, SessionId},
    ports::{Item, KeptCell, KeptDiff, NewCell, Step},
    relation::RelationKind,
    scope::{Owner, Project, Scope},
};

use crate::contract::fixture::{World, link, project, relate, tags, topic};

pub(super) const KEY: [u8; 32] = [3; 32];

/// A directory may have any name.
pub(super) fn odd_project() -> Project {
    Project::of_directory(" a\nb ".as_ref())
}

/// Two people and what they did: of every kind of item several, in two projects.
pub(super) async fn lived_in(world: &World<'_>) -> (Scope, Scope) {
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (here, there) = (project("here"), odd_project());
    let (ana, bob_there) = (ana.in_project(here.clone()), bob.in_project(there));
    let bob = bob.in_project(here);
    let first = rich_cell(world, &ana).await;
    let linked = world
        .keep(&ana, linked_to(world, &ana, first.id))
        .await
        .cell;
    let private = world
        .keep(&bob, world.private(&bob, "of bob alone"))
        .await
        .cell;
    let shared = world
        .keep(&bob_there, world.shared(&bob_there, "of all"))
        .await
        .cell;
    let changed = world
        .change(&bob, &first, |cell| {
            cell.content = Content::new("the second text").unwrap();
            cell.content_revision = cell.revision;
        })
        .await;
    world
        .change(&ana, &changed, |cell| cell.status = Status::Superseded)
        .await;
    let taken_back = world.relation(&ana, linked.id, RelationKind::Supports, first.id);
    let decided = world.conflict(&bob, linked.id, first.id);
    let steps = vec![
        relate(&world.relation(&ana, first.id, RelationKind::Refines, linked.id)),
        relate(&world.relation(&ana, linked.id, RelationKind::Related, shared.id)),
        relate(&taken_back),
        Step::SetRelation {
            id: taken_back.id,
            active: false,
        },
        world.open(&decided),
        Step::CloseConflict {
            id: decided.id,
            verdict: Verdict::Both,
            reason: "both do".to_owned(),
            diff: DiffId::new(world.id()),
        },
        world.open(&world.conflict(&ana, first.id, linked.id)),
        Step::Confirm {
            id: linked.id,
            revision: 1,
            evidence: Some("seen".to_owned()),
        },
        Step::Key {
            key: KEY,
            cell: linked.id,
        },
    ];
    world.done(&ana, steps).await;
    let confirm = Step::Confirm {
        id: linked.id,
        revision: 1,
        evidence: None,
    };
    world.done(&bob, vec![confirm]).await;
    let doomed = world.store(&ana, "to be erased").await.cell;
    world.done(&ana, vec![world.erase(&doomed)]).await;
    let store = world.subject.memories();
    store.touch(&bob, &[private.id], world.now()).await.unwrap();
    (ana, bob)
}

/// A cell with a value in every field.
async fn rich_cell(world: &World<'_>, scope: &Scope) -> Cell {
    let mut new = world.cell(scope, "the first text");
    new.cell.topic = Some(topic("the topic"));
    new.cell.tags = tags(["a", "b"]);
    new.cell.origin.session = Some(SessionId::new(world.id()));
    new.cell.origin.position = Some(7);
    new.cell.origin.said_at = Some(world.now());
    world.keep(scope, new).await.cell
}

fn linked_to(world: &World<'_>, scope: &Scope, to: CellId) -> NewCell {
    let mut new = world.cell(scope, "linked to it");
    new.derived.links = vec![link(to, 0.7)];
    new
}

/// Of each kind, how many there are.
pub(super) fn counted(items: &[Item]) -> [usize; 10] {
    let mut counts = [0; 10];
    for item in items {
        let kind = match item {
            Item::Identity { .. } => 0,
            Item::Cell(_) => 1,
            Item::Past(_) => 2,
            Item::Link { .. } => 3,
            Item::Relation(_) => 4,
            Item::Conflict(_) => 5,
            Item::Confirmation(_) => 6,
            Item::Key { .. } => 7,
            Item::Diff(_) => 8,
            Item::Audit(_) => 9,
        };
        counts[kind] += 1;
    }
    counts
}

pub(super) fn cells_of(items: &[Item]) -> impl Iterator<Item = &KeptCell> {
    items.iter().filter_map(|item| {
        if let Item::Cell(kept) = item {
            return Some(&**kept);
        }
        None
    })
}

pub(super) fn diffs_of(items: &[Item]) -> impl Iterator<Item = &KeptDiff> {
    items.iter().filter_map(|item| {
        if let Item::Diff(kept) = item {
            return Some(&**kept);
        }
        None
    })
}

/// The same person in another tenant.
pub(super) fn as_seen_from(elsewhere: Owner, scope: &Scope) -> Scope {
    Scope {
        tenant: elsewhere.tenant,
        ..scope.clone()
    }
}

/// Something else in the place of an item; a key leads to another cell.
pub(super) fn another(item: Item, cell: CellId) -> Item {
    match item {
        Item::Identity { id, created_at, .. } => Item::Identity {
            id,
            name: "somebody else".to_owned(),
            created_at,
            revoked_at: None,
        },
        Item::Cell(mut kept) => {
            kept.cell.content = Content::new("something else").unwrap();
            Item::Cell(kept)
        }
        Item::Past(mut past) => {
            past.reason = Some("another".to_owned());
            Item::Past(past)
        }
        Item::Link { from, mut link } => {
            link.weight = 0.25;
            Item::Link { from, link }
        }
        Item::Relation(mut relation) => {
            relation.reason = Some("another".to_owned());
            Item::Relation(relation)
        }
        Item::Conflict(mut conflict) => {
            conflict.why = Some("another".to_owned());
            Item::Conflict(conflict)
        }
        Item::Confirmation(mut voice) => {
            voice.evidence = Some("another".to_owned());
            Item::Confirmation(voice)
        }
        Item::Key {
            credential,
            key,
            cell: _,
        } => Item::Key {
            credential,
            key,
            cell,
        },
        Item::Diff(mut kept) => {
            kept.diff.revision += 1;
            Item::Diff(kept)
        }
        Item::Audit(mut row) => {
            row.redactions += 1;
            Item::Audit(row)
        }
    }
}
