//! Cells that are removed for good.

use crate::contract::fixture::model;
use hyphae_core::{
    cell::{Cell, Content, Layer, Status, Visibility},
    conflict::Verdict,
    diff::{Diff, DiffKind},
    ids::{CellId, DiffId, SessionId},
    ports::{Change, Committed, Sequence, Statistics, Step, Wanted},
    relation::RelationKind,
    scope::Scope,
};

use super::with_status;
use crate::contract::{
    Subject,
    fixture::{World, insert, link, other_model, project, relate, tags, topic},
    seen::Seen,
};

const KEY: [u8; 32] = [7; 32];

/// Stores a cell with all that may belong to one, between two others, and returns it with what
/// became of it.
async fn well_known(
    world: &World<'_>,
    ana: &Scope,
    bob: &Scope,
    session: SessionId,
    others: [CellId; 2],
) -> Cell {
    let mut new = world.cell(ana, "the first text");
    new.cell.topic = Some(topic("the topic"));
    new.cell.tags = tags(["only", "these"]);
    new.cell.origin.session = Some(session);
    new.derived.links = vec![link(others[0], 0.5)];
    let cell = world.keep(ana, new).await.cell;
    let id = cell.id;
    let mut linked = world.cell(ana, "linked to it");
    linked.derived.links = vec![link(id, 0.7)];
    world.keep(ana, linked).await;
    world
        .change(bob, &cell, |cell| {
            cell.content = Content::new("the second text").unwrap();
        })
        .await;
    let taken_back = world.relation(ana, id, RelationKind::Related, others[1]);
    let decided = world.conflict(bob, id, others[1]);
    let confirm = |evidence: &str| Step::Confirm {
        id,
        revision: 2,
        evidence: Some(evidence.to_owned()),
    };
    let of_ana = vec![
        Step::Key { key: KEY, cell: id },
        relate(&world.relation(ana, id, RelationKind::Supports, others[0])),
        relate(&world.relation(ana, others[0], RelationKind::Refines, id)),
        relate(&taken_back),
        Step::SetRelation {
            id: taken_back.id,
            active: false,
        },
        confirm("seen by ana"),
        world.open(&decided),
        Step::CloseConflict {
            id: decided.id,
            verdict: Verdict::Both,
            reason: "both do".to_owned(),
            diff: DiffId::new(world.id()),
        },
        world.open(&world.conflict(ana, others[0], id)),
    ];
    world.done(ana, of_ana).await;
    let of_bob = vec![confirm("seen by bob"), Step::Key { key: KEY, cell: id }];
    world.done(bob, of_bob).await;
    world.find(ana, id).await.unwrap()
}

pub async fn of_an_erased_cell_nothing_remains_but_that_it_is_gone(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let session = SessionId::new(world.id());
    let store = subject.memories();
    let mut one = world.cell(&ana, "one");
    one.cell.origin.session = Some(session);
    let one = world.keep(&ana, one).await.cell;
    let two = world.store(&ana, "two").await.cell;
    let cell = well_known(&world, &ana, &bob, session, [one.id, two.id]).await;
    let id = cell.id;
    let relations = store.relations(&ana, &[id], true).await.unwrap();
    let relations: Vec<_> = relations.iter().map(|relation| relation.id).collect();
    let conflicts = store
        .ids_beginning(&ana, Wanted::Conflict, "0", 9)
        .await
        .unwrap();
    let told = world.diffs(&ana).await;
    assert_eq!((relations.len(), conflicts.len()), (3, 2));
    assert_eq!(store.history(&ana, id).await.unwrap().len(), 1);
    assert_eq!(store.confirmations(&ana, &[id]).await.unwrap().len(), 2);
    assert_eq!(store.cell_of_key(&bob, &KEY).await.unwrap(), Some(id));

    let diff = DiffId::new(world.id());
    let erase = Step::Erase {
        id,
        revision: 2,
        diff,
    };
    let write = world.write(hyphae_core::audit::Action::Erase, vec![erase]);
    let Committed::Done(sequence) = store.commit(&bob, &write).await.unwrap() else {
        panic!("it was there");
    };

    for scope in [&ana, &bob] {
        assert_eq!(store.cells(scope, &[id]).await.unwrap(), []);
        assert_eq!(store.history(scope, id).await.unwrap(), []);
        assert_eq!(store.links(scope, &[id], &|_| false).await.unwrap(), []);
        for id in [one.id, two.id] {
            assert!(
                world
                    .links(scope, id)
                    .await
                    .iter()
                    .all(|link| link.to != cell.id)
            );
        }
        let around = [id, one.id, two.id];
        assert_eq!(store.relations(scope, &around, true).await.unwrap(), []);
        let by_id = store.relations_by_id(scope, &relations).await.unwrap();
        assert_eq!(by_id, []);
        assert_eq!(store.confirmations(scope, &around).await.unwrap(), []);
        let open = store.open_conflicts(scope, &[], None, 9).await.unwrap();
        assert_eq!(open, []);
        for conflict in &conflicts {
            let conflict = hyphae_core::ids::ConflictId::new(*conflict);
            assert_eq!(store.conflict(scope, conflict).await.unwrap(), None);
        }
        assert_eq!(store.cell_of_key(scope, &KEY).await.unwrap(), None);
        let of_topic = store
            .cell_of_topic(scope, &topic("the topic"), Visibility::Project)
            .await;
        assert_eq!(of_topic.unwrap(), None);
        for wanted in [Wanted::Topic, Wanted::Tag] {
            let names = store.names(scope, wanted, "", 9).await.unwrap();
            assert_eq!(names, [""; 0]);
        }
        let whole = id.uuid().as_simple().to_string();
        for (wanted, prefix) in [
            (Wanted::Cell, whole.as_str()),
            (Wanted::Relation, "0"),
            (Wanted::Conflict, "0"),
        ] {
            let found = store.ids_beginning(scope, wanted, prefix, 9).await;
            assert!(found.unwrap().is_empty(), "{wanted:?}");
        }
        let last = store.last_of_session(scope, session).await.unwrap();
        assert_eq!(last.as_ref(), Some(&one));

        let mut diffs = world.diffs(scope).await;
        let last = diffs.pop();
        assert_eq!(diffs, told, "no diff holds a text, so they stay");
        let want = Diff {
            id: diff,
            sequence,
            kind: DiffKind::Erased,
            cell: id,
            revision: last.as_ref().map_or(0, |diff| diff.revision),
            other: None,
            author: bob.credential,
            cell_type: cell.cell_type,
            salience: cell.salience,
            at: write.at,
        };
        assert_eq!(last, Some(want));
        let change = world.changes(scope).await.pop();
        let gone = Change {
            sequence,
            id,
            entry: None,
        };
        assert_eq!(change, Some(gone));
    }
    let want = Statistics {
        cells: 3,
        projects: 1,
        ..Statistics::default()
    };
    assert_eq!(store.statistics(ana.owner()).await.unwrap(), want);
    let model = other_model();
    store.choose_model(ana.owner(), &model).await.unwrap();
    let stale = store.stale_vectors(ana.owner(), 9).await.unwrap();
    assert!(stale.len() == 3 && stale.iter().all(|stale| stale.id != id));
}

pub async fn what_lay_beside_an_erased_cell_stays(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let one = world.store(&scope, "one").await.cell;
    let mut two = world.cell(&scope, "two");
    two.derived.links = vec![link(one.id, 0.5)];
    let two = world.keep(&scope, two).await.cell;
    world
        .relate(&scope, one.id, RelationKind::Supports, two.id)
        .await;
    world.dispute(&scope, one.id, two.id).await;
    let confirm = Step::Confirm {
        id: one.id,
        revision: 1,
        evidence: None,
    };
    let key = Step::Key {
        key: KEY,
        cell: one.id,
    };
    world.done(&scope, vec![confirm, key]).await;
    let one = world.find(&scope, one.id).await.unwrap();
    let one = with_status(&world, &scope, &one, Status::Retracted).await;
    let store = subject.memories();
    let look = async || {
        let around = [one.id, two.id];
        (
            store.cells(&scope, &around).await.unwrap(),
            store.history(&scope, one.id).await.unwrap(),
            store.links(&scope, &around, &|_| false).await.unwrap(),
            store.relations(&scope, &around, true).await.unwrap(),
            store.confirmations(&scope, &around).await.unwrap(),
            store
                .open_conflicts(&scope, &around, None, 9)
                .await
                .unwrap(),
            store.cell_of_key(&scope, &KEY).await.unwrap(),
        )
    };
    let before = look().await;
    let mut gone = world.cell(&scope, "gone");
    gone.derived.links = vec![link(one.id, 0.5), link(two.id, 0.5)];
    let gone = world.keep(&scope, gone).await.cell;
    let kinds = RelationKind::ALL;
    world.relate(&scope, gone.id, kinds[0], two.id).await;
    world.dispute(&scope, gone.id, one.id).await;
    world.done(&scope, vec![world.erase(&gone)]).await;
    assert_eq!(look().await, before);
}

pub async fn an_erasure_finds_only_the_expected_revision(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let cell = world.store(&scope, "one").await.cell;
    let cell = with_status(&world, &scope, &cell, Status::Retracted).await;
    let unknown = CellId::new(world.id());
    let before = Seen::by(&world, &scope).await;
    for (id, revision) in [
        (cell.id, 0),
        (cell.id, 1),
        (cell.id, 3),
        (cell.id, u32::MAX),
        (unknown, 1),
    ] {
        let diff = DiffId::new(world.id());
        let step = Step::Erase { id, revision, diff };
        let done = world.commit(&scope, vec![step]).await;
        assert_eq!(done, Committed::Changed(id), "{revision}");
    }
    assert_eq!(Seen::by(&world, &scope).await, before);

    world.done(&scope, vec![world.erase(&cell)]).await;
    let before = Seen::by(&world, &scope).await;
    let again = world.commit(&scope, vec![world.erase(&cell)]).await;
    assert_eq!(again, Committed::Changed(cell.id));
    assert_eq!(Seen::by(&world, &scope).await, before);
}

pub async fn what_was_erased_can_be_stored_anew(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let mut seen = Vec::new();
    for _ in 0..3 {
        let mut new = world.cell(&scope, "the same text");
        new.cell.topic = Some(topic("the same topic"));
        let key = Step::Key {
            key: KEY,
            cell: new.cell.id,
        };
        world.done(&scope, vec![insert(&new), key]).await;
        let cell = new.cell;
        assert_eq!(world.recallable(&scope).await, [cell.id]);
        let found = subject.memories().cell_of_key(&scope, &KEY).await.unwrap();
        assert_eq!(found, Some(cell.id));
        world.done(&scope, vec![world.erase(&cell)]).await;
        seen.push(cell.id);
    }
    let gone = world.changes(&scope).await;
    let gone: Vec<CellId> = gone.iter().map(|change| change.id).collect();
    assert_eq!(gone, seen);
}

pub async fn an_erasure_is_told_to_those_who_could_see_the_cell_and_to_nobody_else(
    subject: &dyn Subject,
) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let stranger = world.stranger().await.in_project(project("p"));
    let there = ana.in_project(project("q"));
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let scopes = [&ana, &bob, &there, &stranger];
    for (visibility, sees) in [
        (Visibility::Private, [true, false, false, false]),
        (Visibility::Project, [true, true, false, false]),
        (Visibility::Shared, [true, true, true, false]),
    ] {
        let mut before = Vec::new();
        for scope in scopes {
            before.push((world.changes(scope).await, world.diffs(scope).await));
        }
        let mut new = world.cell(&ana, "text");
        new.cell.visibility = visibility;
        let cell = world.keep(&ana, new).await.cell;
        world.done(&ana, vec![world.erase(&cell)]).await;
        for (i, scope) in scopes.into_iter().enumerate() {
            let (mut changes, mut diffs) = before[i].clone();
            let now = (world.changes(scope).await, world.diffs(scope).await);
            if sees[i] {
                let gone = now.0.last().unwrap();
                assert_eq!((gone.id, &gone.entry), (cell.id, &None));
                changes.push(gone.clone());
                let told = &now.1[diffs.len()..];
                let kinds: Vec<_> = told.iter().map(|diff| (diff.cell, diff.kind)).collect();
                let want = [DiffKind::Created, DiffKind::Erased].map(|kind| (cell.id, kind));
                assert_eq!(kinds, want, "{visibility} {i}");
                diffs.extend_from_slice(told);
            }
            assert_eq!(now, (changes, diffs), "{visibility} {i}");
        }
    }
}

pub async fn what_was_hidden_before_it_was_erased_stays_hidden(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let cell = world.store(&ana, "seen by both").await.cell;
    let known = subject.memories().newest(bob.owner()).await.unwrap();
    let cell = world
        .change(&ana, &cell, |cell| cell.visibility = Visibility::Private)
        .await;
    let cell = world
        .change(&ana, &cell, |cell| {
            cell.content = Content::new("seen by ana").unwrap();
        })
        .await;
    world.done(&ana, vec![world.erase(&cell)]).await;
    for diff in world.diffs(&bob).await {
        let hidden = diff.revision > 1 && diff.kind != DiffKind::Erased;
        assert!(!hidden, "{diff:?} happened out of sight");
    }
    let told = subject
        .memories()
        .changes(&bob, known, 9, &model())
        .await
        .unwrap();
    let told: Vec<_> = told
        .iter()
        .map(|change| (change.id, &change.entry))
        .collect();
    assert_eq!(
        told,
        [(cell.id, &None)],
        "it is gone for a reader who knew it"
    );
    let all = subject
        .memories()
        .diffs(&ana, Sequence(0), &[], true, 9)
        .await;
    assert_eq!(all.unwrap().len(), 4);
}

pub async fn what_was_erased_makes_room(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let hub = world.store(&scope, "hub").await.cell.id;
    let mut spokes = Vec::new();
    for n in 0..Layer::L0.degree() {
        let mut spoke = world.cell(&scope, &format!("spoke {n}"));
        spoke.derived.links = vec![link(hub, 0.5)];
        spokes.push(world.keep(&scope, spoke).await.cell);
    }
    let relation = world.relate(&scope, spokes[0].id, RelationKind::Refines, hub);
    let relation = relation.await;
    let conflict = world.dispute(&scope, spokes[0].id, hub).await;
    world.done(&scope, vec![world.erase(&spokes[0])]).await;

    // The weakest link of all would be the first to go if there were no room for it.
    let mut last = world.cell(&scope, "last");
    last.derived.links = vec![link(hub, 0.1)];
    let last = world.keep(&scope, last).await.cell.id;
    let links = world.links(&scope, hub).await;
    let links: Vec<CellId> = links.iter().map(|link| link.to).collect();
    let mut want: Vec<CellId> = spokes[1..].iter().map(|spoke| spoke.id).collect();
    want.push(last);
    assert_eq!(links, want);

    // And the ids of what went with it are nobody's.
    let mut another = world.relation(&scope, last, RelationKind::Supports, hub);
    another.id = relation.id;
    let mut dispute = world.conflict(&scope, last, hub);
    dispute.id = conflict.id;
    world
        .done(&scope, vec![relate(&another), world.open(&dispute)])
        .await;
    let store = subject.memories();
    let around = store.relations(&scope, &[hub], true).await.unwrap();
    assert_eq!(around, [another]);
    let found = store.conflict(&scope, conflict.id).await.unwrap();
    assert_eq!(found, Some(dispute));
}
