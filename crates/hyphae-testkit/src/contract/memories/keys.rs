//! Keys under which somebody stored a memory.

use hyphae_core::{
    cell::{Status, Visibility},
    ids::CellId,
    ports::{Committed, Step},
    scope::Scope,
};

use super::with_status;
use crate::contract::{
    Subject,
    fixture::{World, insert, project},
    seen::Seen,
};

const KEY: [u8; 32] = [0; 32];

fn key(cell: CellId) -> Step {
    Step::Key { key: KEY, cell }
}

async fn of_key(world: &World<'_>, scope: &Scope, key: [u8; 32]) -> Option<CellId> {
    let store = world.subject.memories();
    store.cell_of_key(scope, &key).await.unwrap()
}

pub async fn a_key_stands_for_a_cell_of_its_writer(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let stranger = world.stranger().await.in_project(project("p"));
    let new = world.cell(&ana, "text");
    assert_eq!(of_key(&world, &ana, KEY).await, None);
    world.done(&ana, vec![insert(&new), key(new.cell.id)]).await;
    assert_eq!(of_key(&world, &ana, KEY).await, Some(new.cell.id));
    assert_eq!(of_key(&world, &ana, [1; 32]).await, None);
    for scope in [&bob, &stranger] {
        assert_eq!(of_key(&world, scope, KEY).await, None);
        let own = world.store(scope, "of another").await.cell;
        world.done(scope, vec![key(own.id)]).await;
        assert_eq!(of_key(&world, scope, KEY).await, Some(own.id));
    }
    assert_eq!(of_key(&world, &ana, KEY).await, Some(new.cell.id));

    // A cell may have several keys, of several writers.
    let other = Step::Key {
        key: [255; 32],
        cell: new.cell.id,
    };
    for scope in [&ana, &bob] {
        world.done(scope, vec![other.clone()]).await;
        assert_eq!(of_key(&world, scope, [255; 32]).await, Some(new.cell.id));
    }
}

pub async fn a_key_is_used_once(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let cell = world.store(&scope, "one").await.cell;
    world.done(&scope, vec![key(cell.id)]).await;
    let before = Seen::by(&world, &scope).await;
    let new = world.cell(&scope, "two");
    for steps in [vec![key(cell.id)], vec![insert(&new), key(new.cell.id)]] {
        let done = world.commit(&scope, steps).await;
        assert_eq!(done, Committed::KeyUsed(cell.id));
    }
    assert_eq!(Seen::by(&world, &scope).await, before);
    assert_eq!(of_key(&world, &scope, KEY).await, Some(cell.id));

    // It lasts as long as the cell, whatever becomes of that.
    let cell = with_status(&world, &scope, &cell, Status::Retracted).await;
    assert_eq!(of_key(&world, &scope, KEY).await, Some(cell.id));
    let done = world.commit(&scope, vec![key(cell.id)]).await;
    assert_eq!(done, Committed::KeyUsed(cell.id));
}

pub async fn of_two_writes_with_one_key_one_is_kept(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let other = subject.again().await;
    for n in 0..10 {
        let key = |cell| Step::Key { key: [n; 32], cell };
        let a = world.cell(&scope, &format!("a {n}")).clone();
        let b = world.cell(&scope, &format!("b {n}")).clone();
        let (first, second) = tokio::join!(
            world.commit_on(subject, &scope, vec![insert(&a), key(a.cell.id)]),
            world.commit_on(&*other, &scope, vec![insert(&b), key(b.cell.id)])
        );
        let (first, second) = (first.unwrap(), second.unwrap());
        let kept = of_key(&world, &scope, [n; 32]).await.unwrap();
        let lost = if kept == a.cell.id { second } else { first };
        assert_ne!(first.is_done(), second.is_done());
        assert_eq!(lost, Committed::KeyUsed(kept));
    }
    assert_eq!(world.recallable(&scope).await.len(), 10);
}

pub async fn a_key_of_a_cell_that_its_writer_cannot_see_is_free(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let there = bob.in_project(project("q"));
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let cell = world.store(&ana, "text").await.cell;
    world.done(&bob, vec![key(cell.id)]).await;
    assert_eq!(of_key(&world, &there, KEY).await, None);
    let hidden = world.change(&ana, &cell, |cell| cell.visibility = Visibility::Private);
    hidden.await;
    for scope in [&bob, &there] {
        assert_eq!(of_key(&world, scope, KEY).await, None);
        let own = world.cell(scope, "text");
        world
            .done(scope, vec![insert(&own), key(own.cell.id)])
            .await;
        assert_eq!(of_key(&world, scope, KEY).await, Some(own.cell.id));
    }
}

pub async fn a_key_needs_its_cell(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let hidden = world.keep(&bob, world.private(&bob, "hidden")).await.cell;
    let erased = world.store(&ana, "erased").await.cell;
    world.done(&ana, vec![world.erase(&erased)]).await;
    for gone in [CellId::new(world.id()), hidden.id, erased.id] {
        let done = world.commit(&ana, vec![key(gone)]).await;
        assert_eq!(done, Committed::Changed(gone));
        assert_eq!(of_key(&world, &ana, KEY).await, None);
    }
    let open = world.change(&bob, &hidden, |cell| cell.visibility = Visibility::Project);
    open.await;
    assert_eq!(of_key(&world, &ana, KEY).await, None);
}
