//! Writes of several steps: all of them or none, each seeing what those before it did.

use hyphae_core::{
    audit::Action,
    cell::{Cell, Content, Status},
    conflict::{Conflict, Verdict},
    ids::{CellId, ConflictId, DiffId, EdgeId},
    ports::{Committed, NewCell, Step, StoreError, Write},
    relation::{Relation, RelationKind},
    scope::Scope,
};

use super::another_text;
use crate::contract::{
    Subject, drop_after,
    fixture::{World, insert, other_model, project, relate, revise, topic},
    seen::Seen,
};

const KEY: [u8; 32] = [1; 32];

/// What is there before a write of many steps.
struct There {
    plain: NewCell,
    about: Cell,
    doomed: Cell,
    relation: Relation,
    retracted: Relation,
    spare: Relation,
    conflict: Conflict,
    keyed: Cell,
}

async fn there(world: &World<'_>, scope: &Scope) -> There {
    let plain = world.store(scope, "plain").await;
    let mut about = world.cell(scope, "about");
    about.cell.topic = Some(topic("the topic"));
    let about = world.keep(scope, about).await.cell;
    let doomed = world.store(scope, "doomed").await.cell;
    let keyed = world.store(scope, "keyed").await.cell;
    let key = Step::Key {
        key: KEY,
        cell: keyed.id,
    };
    world.done(scope, vec![key]).await;
    let (a, b) = (plain.cell.id, about.id);
    let relation = world.relate(scope, a, RelationKind::Supports, b).await;
    let retracted = world.relate(scope, b, RelationKind::Supports, a).await;
    let take_back = Step::SetRelation {
        id: retracted.id,
        active: false,
    };
    world.done(scope, vec![take_back]).await;
    let spare = world.relate(scope, a, RelationKind::Related, b).await;
    let conflict = world.dispute(scope, a, b).await;
    There {
        plain,
        about,
        doomed,
        relation,
        retracted,
        spare,
        conflict,
        keyed,
    }
}

/// Steps of every kind that all go through.
fn good(world: &World<'_>, scope: &Scope, there: &There) -> Vec<Step> {
    let new = world.cell(scope, "new");
    let id = new.cell.id;
    vec![
        insert(&new),
        revise(another_text(world, &there.about, "about something else")),
        relate(&world.relation(scope, id, RelationKind::Refines, there.about.id)),
        Step::SetRelation {
            id: there.retracted.id,
            active: true,
        },
        Step::Confirm {
            id: there.plain.cell.id,
            revision: 1,
            evidence: Some("seen".to_owned()),
        },
        world.open(&world.conflict(scope, id, there.keyed.id)),
        Step::Key {
            key: [2; 32],
            cell: id,
        },
        Step::EraseRelation { id: there.spare.id },
        close(world, there.conflict.id),
        world.erase(&there.doomed),
    ]
}

fn close(world: &World<'_>, id: ConflictId) -> Step {
    Step::CloseConflict {
        id,
        verdict: Verdict::Left,
        reason: "the left one".to_owned(),
        diff: DiffId::new(world.id()),
    }
}

/// Each way in which a step may stop a write, with what that gives. The steps come behind those
/// of [`good`].
fn stops(world: &World<'_>, scope: &Scope, there: &There) -> Vec<(Step, Committed)> {
    let unknown = CellId::new(world.id());
    let no_edge = EdgeId::new(world.id());
    let no_conflict = ConflictId::new(world.id());
    let plain = &there.plain.cell;
    let mut of_topic = world.cell(scope, "of the topic");
    of_topic.cell.topic = Some(topic("the topic"));
    let erased = world.revise(&there.doomed, |cell| cell.status = Status::Retracted);
    vec![
        (
            insert(&world.cell(scope, "plain")),
            Committed::Same(plain.id),
        ),
        (
            revise(another_text(world, &there.keyed, "plain")),
            Committed::Same(plain.id),
        ),
        (insert(&of_topic), Committed::TopicTaken(there.about.id)),
        (
            revise(world.revise(plain, |cell| cell.topic = Some(topic("the topic")))),
            Committed::TopicTaken(there.about.id),
        ),
        (
            revise(another_text(world, &there.about, "at the wrong revision")),
            Committed::Changed(there.about.id),
        ),
        (revise(erased), Committed::Changed(there.doomed.id)),
        (
            world.erase(&there.doomed),
            Committed::Changed(there.doomed.id),
        ),
        (
            relate(&world.relation(scope, plain.id, RelationKind::Refines, unknown)),
            Committed::Changed(unknown),
        ),
        (
            Step::Confirm {
                id: there.doomed.id,
                revision: 1,
                evidence: None,
            },
            Committed::Changed(there.doomed.id),
        ),
        (
            world.open(&world.conflict(scope, there.doomed.id, plain.id)),
            Committed::Changed(there.doomed.id),
        ),
        (
            relate(&world.relation(scope, plain.id, RelationKind::Supports, there.about.id)),
            Committed::SameRelation(there.relation.id),
        ),
        (
            Step::SetRelation {
                id: there.retracted.id,
                active: true,
            },
            Committed::RelationGone(there.retracted.id),
        ),
        (
            Step::EraseRelation { id: no_edge },
            Committed::RelationGone(no_edge),
        ),
        (
            close(world, no_conflict),
            Committed::ConflictGone(no_conflict),
        ),
        (
            Step::Key {
                key: KEY,
                cell: plain.id,
            },
            Committed::KeyUsed(there.keyed.id),
        ),
        (
            Step::Key {
                key: [3; 32],
                cell: unknown,
            },
            Committed::Changed(unknown),
        ),
    ]
}

pub async fn a_write_that_stops_at_its_last_step_leaves_nothing_of_the_others(
    subject: &dyn Subject,
) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let there = there(&world, &scope).await;
    let before = Seen::by(&world, &scope).await;
    for (step, want) in stops(&world, &scope, &there) {
        let mut steps = good(&world, &scope, &there);
        steps.push(step);
        let done = world.commit(&scope, steps).await;
        assert_eq!(done, want);
        assert_eq!(Seen::by(&world, &scope).await, before, "{want:?}");
        let store = subject.memories();
        let free = store.cell_of_key(&scope, &[2; 32]).await.unwrap();
        assert_eq!(free, None, "{want:?}");
    }
    // None of the others was in the way.
    world.done(&scope, good(&world, &scope, &there)).await;
    assert_ne!(Seen::by(&world, &scope).await, before);
}

pub async fn a_write_that_fails_at_its_last_step_leaves_nothing_of_the_others(
    subject: &dyn Subject,
) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let there = there(&world, &ana).await;
    let before = Seen::by(&world, &ana).await;
    let mut other = world.cell(&ana, "of another model");
    other.derived.model = other_model();
    let mut changed = another_text(&world, &there.keyed, "of another model");
    changed.derived = Some(other.derived.clone());
    let mut taken = world.cell(&ana, "of an id that is taken");
    taken.cell.id = there.plain.cell.id;
    for (step, other_model) in [
        (insert(&other), true),
        (revise(changed), true),
        (insert(&world.cell(&bob, "of another author")), false),
        (insert(&taken), false),
    ] {
        let mut steps = good(&world, &ana, &there);
        steps.push(step);
        let failed = world.try_commit(&ana, steps).await;
        match failed {
            Err(StoreError::OtherModel { .. }) if other_model => {}
            Err(StoreError::Unavailable { .. }) if !other_model => {}
            _ => panic!("{failed:?}"),
        }
        assert_eq!(Seen::by(&world, &ana).await, before);
    }
    world.done(&ana, good(&world, &ana, &there)).await;
}

pub async fn a_dropped_write_of_many_steps_leaves_all_or_nothing(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    for polls in 0..24 {
        let scope = owner.in_project(project(&format!("{polls}")));
        let there = there(&world, &scope).await;
        let write = world.write(Action::Update, good(&world, &scope, &there));
        let store = subject.memories();
        drop_after(polls, store.commit(&scope, &write)).await;
        // A write that follows is served, and is not part of what was dropped.
        world.store(&scope, &format!("after {polls}")).await;
        let done = done(&world, &scope, &there, &write).await;
        assert!(
            [[true; 12], [false; 12]].contains(&done),
            "{polls}: {done:?}"
        );
    }
}

/// Tells of each step of [`good`], and of its row in the audit, whether it was done.
async fn done(world: &World<'_>, scope: &Scope, there: &There, write: &Write) -> [bool; 12] {
    let Step::Insert(new) = &write.steps[0] else {
        panic!("the first step inserts");
    };
    let (id, about) = (new.cell.id, there.about.id);
    let store = world.subject.memories();
    let relations = store.relations(scope, &[about], true).await.unwrap();
    let relations: Vec<_> = relations.iter().map(|r| (r.kind, r.active)).collect();
    let open = store.open_conflicts(scope, &[], None, 9).await.unwrap();
    let is_open = |id: CellId| open.iter().any(|conflict| conflict.left == id);
    let about = world.find(scope, about).await.unwrap();
    let plain = world.find(scope, there.plain.cell.id).await.unwrap();
    [
        world.find(scope, id).await.is_some(),
        world.recallable(scope).await.contains(&id),
        about.revision == 2,
        !store.history(scope, about.id).await.unwrap().is_empty(),
        relations.contains(&(RelationKind::Refines, true)),
        !relations.contains(&(RelationKind::Supports, false)),
        plain.verified_at.is_some(),
        is_open(id),
        store.cell_of_key(scope, &[2; 32]).await.unwrap() == Some(id),
        !relations.contains(&(RelationKind::Related, true)) && !is_open(plain.id),
        world.find(scope, there.doomed.id).await.is_none(),
        world.audited(scope.owner()).await.contains(&write.id),
    ]
}

pub async fn each_step_sees_what_those_before_it_did(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let mut old = world.cell(&scope, "the text");
    old.cell.topic = Some(topic("the topic"));
    let old = world.keep(&scope, old).await.cell;
    let mut new = world.cell(&scope, "the text");
    new.cell.topic = Some(topic("the topic"));
    let second = another_text(&world, &new.cell, "the second text");
    let third = another_text(&world, &second.cell, "the third text");
    let cell = third.cell.clone();
    let retract = world.revise(&old, |cell| cell.status = Status::Superseded);
    let relation = world.relation(&scope, new.cell.id, RelationKind::Supersedes, old.id);
    let conflict = world.conflict(&scope, old.id, new.cell.id);
    let confirm = Step::Confirm {
        id: cell.id,
        revision: 3,
        evidence: None,
    };
    let steps = vec![
        revise(retract),
        insert(&new),
        revise(second),
        revise(third),
        relate(&relation),
        world.open(&conflict),
        close(&world, conflict.id),
        confirm,
    ];
    // In the other order the old cell is in the way.
    let swapped = vec![steps[1].clone(), steps[0].clone()];
    let done = world.commit(&scope, swapped).await;
    assert!(
        [Committed::Same(old.id), Committed::TopicTaken(old.id)].contains(&done),
        "{done:?}"
    );
    let write = world.write(Action::Update, steps);
    let store = subject.memories();
    assert!(store.commit(&scope, &write).await.unwrap().is_done());
    let want = Cell {
        verified_at: Some(write.at),
        ..cell
    };
    assert_eq!(world.find(&scope, want.id).await.as_ref(), Some(&want));
    let history = store.history(&scope, want.id).await.unwrap();
    let texts: Vec<&Content> = history.iter().map(|past| &past.cell.content).collect();
    let first = &new.cell.content;
    assert_eq!((texts.len(), texts[0]), (2, first));
    let relations = store.relations(&scope, &[old.id], false).await.unwrap();
    assert_eq!(relations, [relation]);
    let decided = store.conflict(&scope, conflict.id).await.unwrap().unwrap();
    assert!(decided.resolution.is_some());
    let voices = store.confirmations(&scope, &[want.id]).await.unwrap();
    assert_eq!(voices[0].revision, 3);

    // What is erased is gone for the next step, and its text is free.
    let again = world.cell(&scope, "the third text");
    let gone = Step::Erase {
        id: want.id,
        revision: 3,
        diff: DiffId::new(world.id()),
    };
    world.done(&scope, vec![gone, insert(&again)]).await;
    assert_eq!(world.find(&scope, want.id).await, None);
}

pub async fn a_write_that_takes_no_place_is_at_the_newest(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let there = there(&world, &scope).await;
    let newest = subject.memories().newest(scope.owner()).await.unwrap();
    for step in [
        Step::EraseRelation {
            id: there.retracted.id,
        },
        Step::SetRelation {
            id: there.relation.id,
            active: false,
        },
        Step::Key {
            key: [9; 32],
            cell: there.keyed.id,
        },
        world.open(&world.conflict(&scope, there.conflict.right, there.conflict.left)),
    ] {
        let done = world.done(&scope, vec![step]).await;
        let after = subject.memories().newest(scope.owner()).await.unwrap();
        assert_eq!((done, after), (newest, newest));
    }
}
