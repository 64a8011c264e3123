//! Who found a memory to be true.

use hyphae_core::{
    cell::{Cell, Content, Status, Visibility},
    ids::CellId,
    ports::{Committed, Confirmation, Step},
    scope::Scope,
};
use jiff::Timestamp;

use super::with_status;
use crate::contract::{
    Subject,
    fixture::{World, project},
    seen::Seen,
};

fn confirm(cell: &Cell, evidence: Option<&str>) -> Step {
    Step::Confirm {
        id: cell.id,
        revision: cell.revision,
        evidence: evidence.map(str::to_owned),
    }
}

/// Confirms a cell and returns what is to be known of that.
async fn confirmed(
    world: &World<'_>,
    scope: &Scope,
    cell: &Cell,
    evidence: Option<&str>,
) -> Confirmation {
    let action = hyphae_core::audit::Action::Confirm;
    let write = world.write(action, vec![confirm(cell, evidence)]);
    let done = world.subject.memories().commit(scope, &write).await;
    assert!(done.unwrap().is_done());
    Confirmation {
        cell: cell.id,
        revision: cell.revision,
        by: scope.credential,
        at: write.at,
        evidence: evidence.map(str::to_owned),
    }
}

async fn of(world: &World<'_>, scope: &Scope, ids: &[CellId]) -> Vec<Confirmation> {
    let store = world.subject.memories();
    store.confirmations(scope, ids).await.unwrap()
}

pub async fn each_writer_has_one_confirmation_which_is_its_last(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    // The same writer in another project is the same writer.
    let there = ana.in_project(project("q"));
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let cell = world.keep(&ana, world.shared(&ana, "text")).await.cell;
    assert_eq!(of(&world, &ana, &[cell.id]).await, []);
    let mut want: Vec<Confirmation> = Vec::new();
    for (scope, evidence) in [
        (&ana, None),
        (&bob, Some("it's ☂ '; --")),
        (&ana, Some("seen again")),
        (&bob, Some("")),
        (&bob, None),
        (&there, Some("seen from elsewhere")),
    ] {
        let last = confirmed(&world, scope, &cell, evidence).await;
        want.retain(|confirmation| confirmation.by != scope.credential);
        want.push(last);
        assert_eq!(of(&world, &bob, &[cell.id]).await, want);
    }
}

pub async fn a_confirmation_is_no_change_but_of_the_time_of_the_last(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let cell = world.store(&ana, "one").await.cell;
    let other = world.store(&ana, "two").await.cell;
    let diffs = world.diffs(&ana).await;
    let entries = async || {
        let changes = world.changes(&ana).await;
        let mut entries: Vec<_> = changes.into_iter().map(|c| (c.id, c.entry)).collect();
        entries.sort_unstable_by_key(|(id, _)| *id);
        entries
    };
    let told = entries().await;
    for scope in [&ana, &bob, &bob] {
        let last = confirmed(&world, scope, &cell, None).await;
        let want = Cell {
            verified_at: Some(last.at),
            ..cell.clone()
        };
        assert_eq!(world.find(&bob, cell.id).await, Some(want));
    }
    assert_eq!(world.find(&ana, other.id).await, Some(other));
    assert_eq!(world.diffs(&ana).await, diffs);
    assert_eq!(entries().await, told);
    let history = subject.memories().history(&ana, cell.id).await.unwrap();
    assert_eq!(history, []);
}

pub async fn confirmations_of_earlier_texts_stay_until_their_writer_confirms_again(
    subject: &dyn Subject,
) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let cell = world.store(&ana, "one").await.cell;
    let by_ana = confirmed(&world, &ana, &cell, Some("of one")).await;
    let by_bob = confirmed(&world, &bob, &cell, Some("of one")).await;
    let cell = world.find(&ana, cell.id).await.unwrap();
    let changed = world.change(&ana, &cell, |cell| {
        cell.content = Content::new("two").unwrap();
        cell.content_revision = cell.revision;
    });
    let changed = changed.await;
    assert_eq!(world.find(&ana, cell.id).await.as_ref(), Some(&changed));
    let all = of(&world, &ana, &[cell.id]).await;
    assert_eq!(all, [by_ana.clone(), by_bob]);
    let again = confirmed(&world, &bob, &changed, Some("of two")).await;
    assert_eq!(again.revision, 2);
    let all = of(&world, &ana, &[cell.id]).await;
    assert_eq!(all, [by_ana.clone(), again.clone()]);
    // The history keeps when the text before was confirmed.
    let history = subject.memories().history(&ana, cell.id).await.unwrap();
    assert_eq!(history[0].cell, cell);

    let changed = world.find(&ana, cell.id).await.unwrap();
    let retracted = with_status(&world, &ana, &changed, Status::Retracted).await;
    with_status(&world, &ana, &retracted, Status::Active).await;
    assert_eq!(of(&world, &ana, &[cell.id]).await, [by_ana, again]);
}

pub async fn only_the_expected_revision_is_confirmed(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let cell = world.store(&scope, "one").await.cell;
    let cell = with_status(&world, &scope, &cell, Status::Superseded).await;
    let gone = world.store(&scope, "gone").await.cell;
    world.done(&scope, vec![world.erase(&gone)]).await;
    let unknown = CellId::new(world.id());
    let before = Seen::by(&world, &scope).await;
    for (id, revision) in [
        (cell.id, 0),
        (cell.id, 1),
        (cell.id, 3),
        (cell.id, u32::MAX),
        (gone.id, 1),
        (unknown, 1),
    ] {
        let step = Step::Confirm {
            id,
            revision,
            evidence: None,
        };
        let done = world.commit(&scope, vec![step]).await;
        assert_eq!(done, Committed::Changed(id), "{revision}");
    }
    assert_eq!(Seen::by(&world, &scope).await, before);
}

pub async fn several_cells_are_confirmed_at_once_and_asked_for_together(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let mut cells = Vec::new();
    for n in 0..3 {
        cells.push(world.store(&ana, &format!("{n}")).await.cell);
    }
    let steps = |evidence| cells.iter().map(|cell| confirm(cell, evidence)).collect();
    world.done(&ana, steps(Some("all"))).await;
    world.done(&bob, steps(None)).await;
    let ids: Vec<CellId> = cells.iter().map(|cell| cell.id).collect();
    let unknown = CellId::new(world.id());
    let found = of(&world, &ana, &[ids[2], unknown, ids[0]]).await;
    assert_eq!(found.len(), 4);
    for id in [ids[0], ids[2]] {
        let of_cell = found.iter().filter(|confirmation| confirmation.cell == id);
        let voices: Vec<_> = of_cell
            .map(|confirmation| (confirmation.by, confirmation.evidence.as_deref()))
            .collect();
        assert_eq!(
            voices,
            [(ana.credential, Some("all")), (bob.credential, None)]
        );
    }
    assert_eq!(of(&world, &ana, &[unknown]).await, []);
    assert_eq!(of(&world, &ana, &[]).await, []);
}

pub async fn a_revision_keeps_the_time_of_a_confirmation(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    for is_known in [true, false] {
        let cell = world
            .store(&scope, &format!("known: {is_known}"))
            .await
            .cell;
        let at: Timestamp = confirmed(&world, &scope, &cell, None).await.at;
        // A confirmation changes no revision, so that it may come between a read and a write.
        let read = if is_known {
            world.find(&scope, cell.id).await.unwrap()
        } else {
            cell
        };
        let next = with_status(&world, &scope, &read, Status::Retracted).await;
        let kept = world.find(&scope, next.id).await.unwrap();
        assert_eq!(
            (kept.verified_at, kept.status),
            (Some(at), Status::Retracted)
        );
    }
}

pub async fn what_is_hidden_is_not_confirmed(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let cell = world.store(&ana, "text").await.cell;
    confirmed(&world, &bob, &cell, Some("of bob")).await;
    let cell = world.find(&ana, cell.id).await.unwrap();
    let hidden = world.change(&ana, &cell, |cell| cell.visibility = Visibility::Private);
    let hidden = hidden.await;
    assert_eq!(of(&world, &bob, &[cell.id]).await, []);
    assert_eq!(of(&world, &ana, &[cell.id]).await.len(), 1);
    let done = world.commit(&bob, vec![confirm(&hidden, None)]).await;
    assert_eq!(done, Committed::Changed(cell.id));
    assert_eq!(world.find(&ana, cell.id).await, Some(hidden));
}
