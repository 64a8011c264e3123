//! Changes to a cell, and the history that they leave.

use crate::contract::fixture::model;
use hyphae_core::{
    cell::{Cell, CellType, Content, Origin, Share, Source, Status, Validity, Visibility},
    diff::DiffKind,
    ids::{CellId, SessionId},
    ports::{Committed, Past, Statistics},
    scope::Scope,
};

use super::{another_text, entry_of, with_status};
use crate::contract::{
    Subject,
    fixture::{World, insert, project, revise, tags, topic},
    seen::Seen,
};

fn text(text: &str) -> Content {
    Content::new(text).unwrap()
}

/// Gives every field another value that a revision may change.
fn all_else(world: &World<'_>, cell: &mut Cell) {
    cell.content = text("another text");
    cell.cell_type = CellType::Risk;
    cell.salience = Share::new(0.123).unwrap();
    cell.confidence = Share::new(0.456).unwrap();
    cell.visibility = Visibility::Shared;
    cell.status = Status::Superseded;
    cell.content_revision = cell.revision;
    cell.topic = Some(topic("another topic"));
    cell.tags = tags(["another", "tag"]);
    cell.validity = Validity::new(Some(world.now()), None).unwrap();
    cell.verified_at = Some(world.now());
    cell.origin = Origin {
        source: Source::ToolOutput,
        session: Some(SessionId::new(world.id())),
        position: Some(7),
        said_at: Some(world.now()),
    };
}

pub async fn a_revision_changes_every_field_and_no_other_cell(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let old = world.store(&scope, "one").await.cell;
    let beside = world.store(&scope, "two").await.cell;
    let next = world
        .change(&scope, &old, |cell| all_else(&world, cell))
        .await;
    let found = subject.memories().cells(&scope, &[old.id, beside.id]).await;
    assert_eq!(found.unwrap(), [next.clone(), beside.clone()]);

    // What there is can be taken away again.
    let bare = world
        .change(&scope, &next, |cell| {
            cell.topic = None;
            cell.tags = tags([]);
            cell.validity = Validity::ALWAYS;
            cell.origin = Origin::default();
        })
        .await;
    assert_eq!(world.find(&scope, old.id).await, Some(bare));
    assert_eq!(world.find(&scope, beside.id).await, Some(beside));
}

pub async fn a_history_holds_every_earlier_state_with_who_replaced_it_and_why(
    subject: &dyn Subject,
) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let mut new = world.cell(&ana, "text 1");
    new.cell.topic = Some(topic("the first topic"));
    new.cell.tags = tags(["first", "ä"]);
    new.cell.origin.source = Source::Imported;
    let mut cell = world.keep(&ana, new).await.cell;
    let store = subject.memories();
    assert_eq!(store.history(&ana, cell.id).await.unwrap(), []);

    let mut want = Vec::new();
    let reasons = [Some("it's ☂"), None, Some(""), Some("x")];
    for (i, (by, reason)) in [&ana, &bob, &bob, &ana]
        .into_iter()
        .zip(reasons)
        .enumerate()
    {
        let revision = world.revise(&cell, |cell| match i {
            0 => cell.content = text("text 2"),
            1 => all_else(&world, cell),
            2 => cell.status = Status::Retracted,
            _ => cell.content = text("text 1"),
        });
        let next = revision.cell.clone();
        let mut write = world.write(hyphae_core::audit::Action::Update, vec![revise(revision)]);
        write.reason = reason.map(str::to_owned);
        let done = store.commit(by, &write).await.unwrap();
        assert!(done.is_done(), "{done:?}");
        want.push(Past {
            cell,
            replaced_by: by.credential,
            replaced_at: next.updated_at,
            reason: reason.map(str::to_owned),
        });
        assert_eq!(store.history(&bob, next.id).await.unwrap(), want);
        cell = next;
    }
    assert_eq!(world.find(&bob, cell.id).await, Some(cell));
}

pub async fn a_revision_follows_the_one_before_it_only(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let first = world.store(&scope, "one").await.cell;
    let second = world
        .change(&scope, &first, |cell| cell.salience = Share::FULL)
        .await;
    let gone = world.store(&scope, "gone").await.cell;
    world.done(&scope, vec![world.erase(&gone)]).await;
    let unknown = world.cell(&scope, "unknown").cell;
    let before = Seen::by(&world, &scope).await;
    for (of, revision) in [
        (&second, 0),
        (&second, 1),
        (&second, 2),
        (&second, 4),
        (&second, u32::MAX),
        (&gone, 2),
        (&unknown, 2),
        (&unknown, 1),
    ] {
        let mut wrong = another_text(&world, of, "three");
        wrong.cell.revision = revision;
        let done = world.commit(&scope, vec![revise(wrong)]).await;
        assert_eq!(done, Committed::Changed(of.id), "{revision}");
    }
    assert_eq!(Seen::by(&world, &scope).await, before);
}

pub async fn of_two_revisions_at_once_one_wins(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let other = subject.again().await;
    let mut cell = world.store(&scope, "0").await.cell;
    for n in 0..10 {
        let a = another_text(&world, &cell, &format!("a {n}"));
        let b = another_text(&world, &cell, &format!("b {n}"));
        let (first, second) = tokio::join!(
            world.commit_on(subject, &scope, vec![revise(a.clone())]),
            world.commit_on(&*other, &scope, vec![revise(b.clone())])
        );
        let (first, second) = (first.unwrap(), second.unwrap());
        assert_ne!(first.is_done(), second.is_done());
        let (winner, loser) = if first.is_done() {
            (a, second)
        } else {
            (b, first)
        };
        assert_eq!(loser, Committed::Changed(cell.id));
        cell = world.find(&scope, cell.id).await.unwrap();
        assert_eq!(cell, winner.cell);
    }
    let history = subject.memories().history(&scope, cell.id).await.unwrap();
    let revisions: Vec<u32> = history.iter().map(|past| past.cell.revision).collect();
    assert_eq!(revisions, (1..=10).collect::<Vec<u32>>());
}

pub async fn a_revision_into_what_another_cell_says_changes_nothing(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let there = world.store(&scope, "the same").await.cell;
    let beside = world.store(&scope, "beside").await.cell;
    let mut lesson = world.cell(&scope, "the same");
    lesson.cell.cell_type = CellType::Lesson;
    let lesson = world.keep(&scope, lesson).await.cell;
    let private = world.keep(&scope, world.private(&scope, "the same"));
    let private = private.await.cell;
    let retracted = world.store(&scope, "taken back").await.cell;
    let retracted = with_status(&world, &scope, &retracted, Status::Retracted).await;
    let retracted = world
        .change(&scope, &retracted, |cell| cell.content = text("the same"))
        .await;

    let before = Seen::by(&world, &scope).await;
    for revision in [
        another_text(&world, &beside, "the same"),
        world.revise(&lesson, |cell| cell.cell_type = CellType::Fact),
        world.revise(&private, |cell| cell.visibility = Visibility::Project),
        world.revise(&retracted, |cell| cell.status = Status::Active),
    ] {
        let id = revision.cell.id;
        let done = world.commit(&scope, vec![revise(revision)]).await;
        assert_eq!(done, Committed::Same(there.id), "{id}");
    }
    assert_eq!(Seen::by(&world, &scope).await, before);

    // What takes no part in recall may say what it wants, and no cell is in its own way.
    world
        .change(&scope, &retracted, |cell| {
            cell.cell_type = CellType::Lesson;
        })
        .await;
    let there = with_status(&world, &scope, &there, Status::Superseded).await;
    with_status(&world, &scope, &there, Status::Active).await;
}

pub async fn what_is_not_active_stays_in_the_changes_and_out_of_the_way(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    for status in [Status::Superseded, Status::Retracted] {
        let mut new = world.cell(&scope, "tea at four");
        new.cell.topic = Some(topic("tea"));
        let new = world.keep(&scope, new).await;
        let cell = with_status(&world, &scope, &new.cell, status).await;
        assert_eq!(world.find(&scope, cell.id).await.as_ref(), Some(&cell));
        let changes = world.changes(&scope).await;
        let told: Vec<_> = changes
            .into_iter()
            .filter(|change| change.id == cell.id)
            .map(|change| change.entry)
            .collect();
        let want = entry_of(&cell, &new.derived, true);
        assert_eq!((want.status, told), (status, vec![Some(want)]));
        let counted = subject.memories().statistics(scope.owner()).await.unwrap();
        assert_eq!(counted, Statistics::default());
        // The same text and topic are free; the loop stores them anew.
    }
    let last = world.cell(&scope, "tea at four");
    world.keep(&scope, last).await;
}

pub async fn a_cell_that_is_no_longer_active_can_be_changed_and_brought_back(
    subject: &dyn Subject,
) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let cell = world.store(&scope, "one").await.cell;
    let cell = with_status(&world, &scope, &cell, Status::Retracted).await;
    let again = another_text(&world, &cell, "two");
    let (cell, derived) = (again.cell.clone(), again.derived.clone().unwrap());
    world.done(&scope, vec![revise(again)]).await;
    let cell = with_status(&world, &scope, &cell, Status::Active).await;
    assert_eq!(world.find(&scope, cell.id).await.as_ref(), Some(&cell));
    let changes = world.changes(&scope).await;
    let told: Vec<_> = changes.iter().map(|change| &change.entry).collect();
    assert_eq!(told, [&Some(entry_of(&cell, &derived, true))]);
    let done = world
        .commit(&scope, vec![insert(&world.cell(&scope, "two"))])
        .await;
    assert_eq!(done, Committed::Same(cell.id));
}

pub async fn the_time_of_a_cell_never_goes_back(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let earlier = world.now();
    let cell = world.store(&scope, "one").await;
    let revision = world.revise(&cell.cell, |next| {
        next.updated_at = earlier;
        next.salience = Share::FULL;
    });
    let want = Cell {
        updated_at: cell.cell.updated_at,
        ..revision.cell.clone()
    };
    world.done(&scope, vec![revise(revision)]).await;
    assert_eq!(world.find(&scope, want.id).await.as_ref(), Some(&want));
    let changes = world.changes(&scope).await;
    let told: Vec<_> = changes.iter().map(|change| &change.entry).collect();
    assert_eq!(told, [&Some(entry_of(&want, &cell.derived, true))]);
}

/// Returns what `scope` is told of a cell: nothing, that it is gone, or its visibility.
async fn told(world: &World<'_>, scope: &Scope, id: CellId) -> Option<Option<Visibility>> {
    let changes = world.changes(scope).await;
    let mut of_cell = changes.into_iter().filter(|change| change.id == id);
    let told = of_cell.next()?;
    assert_eq!(of_cell.next(), None, "a cell is told once");
    Some(told.entry.map(|entry| entry.visibility))
}

pub async fn who_may_see_a_cell_learns_of_it_and_who_no_longer_may_learns_that(
    subject: &dyn Subject,
) {
    use Visibility::{Private, Project, Shared};
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let stranger = world.stranger().await.in_project(project("p"));
    let there = bob.in_project(project("q"));
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let mut cell = world.keep(&ana, world.private(&ana, "mine")).await.cell;
    let mut reach = Private;
    let mut saw = [true, false, false, false];
    for visibility in [
        Project, Private, Shared, Project, Private, Project, Shared, Private,
    ] {
        let before = subject.memories().newest(ana.owner()).await.unwrap();
        let next = world.change(&ana, &cell, |cell| cell.visibility = visibility);
        cell = next.await;
        if reach == Private || visibility == Shared {
            reach = visibility;
        }
        let sees = [true, visibility != Private, visibility == Shared, false];
        let has_seen = [true, true, reach == Shared, false];
        for (i, scope) in [&ana, &bob, &there, &stranger].into_iter().enumerate() {
            let want = has_seen[i].then_some(sees[i].then_some(visibility));
            assert_eq!(told(&world, scope, cell.id).await, want, "{visibility} {i}");
            let found = world.find(scope, cell.id).await;
            assert_eq!(found.is_some(), sees[i], "{visibility} {i}");
            let later = subject
                .memories()
                .changes(scope, before, 10, &model())
                .await
                .unwrap();
            if sees[i] || saw[i] {
                let ids: Vec<CellId> = later.iter().map(|change| change.id).collect();
                assert_eq!(ids, [cell.id], "{visibility} {i}: after what was known");
            }
            let history = subject.memories().history(scope, cell.id).await.unwrap();
            assert_eq!(history.is_empty(), !sees[i], "{visibility} {i}");
        }
        saw = sees;
    }
}

pub async fn a_superseded_cell_names_its_successor_in_its_diff(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let old = world.store(&scope, "old").await.cell;
    let new = world.store(&scope, "new").await.cell;
    let mut revision = world.revise(&old, |cell| cell.status = Status::Superseded);
    revision.kind = DiffKind::Superseded;
    revision.other = Some(new.id);
    let diff = revision.diff;
    world.done(&scope, vec![revise(revision)]).await;
    let last = world.diffs(&scope).await.pop().unwrap();
    assert_eq!(
        (last.id, last.kind, last.cell, last.other, last.revision),
        (diff, DiffKind::Superseded, old.id, Some(new.id), 2)
    );
}
