//! Topics: of each there is one memory for the same readers.

use hyphae_core::{
    cell::{Cell, Status, Visibility},
    ids::CellId,
    ports::{Committed, NewCell},
    scope::Scope,
};

use super::with_status;
use crate::contract::{
    Subject,
    fixture::{World, insert, project, revise, topic},
    seen::Seen,
};

/// Makes a cell up that stands for a topic.
fn about(world: &World<'_>, scope: &Scope, name: &str, visibility: Visibility) -> NewCell {
    let mut new = world.cell(scope, &format!("{name} {}", world.id()));
    new.cell.topic = Some(topic(name));
    new.cell.visibility = visibility;
    new
}

async fn standing(
    world: &World<'_>,
    scope: &Scope,
    name: &str,
    visibility: Visibility,
) -> Option<Cell> {
    let store = world.subject.memories();
    let found = store.cell_of_topic(scope, &topic(name), visibility).await;
    found.unwrap()
}

pub async fn a_topic_has_one_active_cell_for_the_same_readers(subject: &dyn Subject) {
    use Visibility::{Private, Project, Shared};
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let there = ana.in_project(project("q"));
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let stranger = world.stranger().await.in_project(project("p"));
    let mut kept: Vec<(&Scope, Cell)> = Vec::new();
    for (scope, visibility) in [
        (&ana, Project),
        (&ana, Private),
        (&ana, Shared),
        (&bob, Private),
        (&there, Project),
        (&there, Private),
        (&there, Shared),
        (&stranger, Project),
    ] {
        let new = world.keep(scope, about(&world, scope, "tea", visibility));
        kept.push((scope, new.await.cell));
    }
    for (scope, cell) in &kept {
        let found = standing(&world, scope, "tea", cell.visibility).await;
        assert_eq!(found.as_ref(), Some(cell));
        let before = Seen::by(&world, scope).await;
        let second = about(&world, scope, "tea", cell.visibility);
        let done = world.commit(scope, vec![insert(&second)]).await;
        assert_eq!(done, Committed::TopicTaken(cell.id));
        assert_eq!(Seen::by(&world, scope).await, before);
    }
    // The project's cell is bob's as well, another topic is nobody's.
    let of_bob = world.commit(&bob, vec![insert(&about(&world, &bob, "tea", Project))]);
    assert_eq!(of_bob.await, Committed::TopicTaken(kept[0].1.id));
    assert_eq!(
        standing(&world, &bob, "tea", Project).await,
        Some(kept[0].1.clone())
    );
    assert_eq!(standing(&world, &bob, "te", Project).await, None);
    assert_eq!(standing(&world, &stranger, "tea", Private).await, None);
    assert_eq!(standing(&world, &stranger, "tea", Shared).await, None);
    world.keep(&ana, about(&world, &ana, "teas", Project)).await;
}

pub async fn a_revision_does_not_take_a_topic_away(subject: &dyn Subject) {
    use Visibility::{Private, Project};
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let keep = async |new: NewCell| world.keep(&scope, new).await.cell;
    let there = keep(about(&world, &scope, "tea", Project)).await;
    let bare = world.store(&scope, "of no topic").await.cell;
    let coffee = keep(about(&world, &scope, "coffee", Project)).await;
    let private = keep(about(&world, &scope, "tea", Private)).await;
    let inactive = keep(about(&world, &scope, "milk", Project)).await;
    let inactive = with_status(&world, &scope, &inactive, Status::Superseded).await;
    let inactive = world
        .change(&scope, &inactive, |cell| cell.topic = Some(topic("tea")))
        .await;
    let before = Seen::by(&world, &scope).await;
    for revision in [
        world.revise(&bare, |cell| cell.topic = Some(topic("tea"))),
        world.revise(&coffee, |cell| cell.topic = Some(topic("tea"))),
        world.revise(&private, |cell| cell.visibility = Project),
        world.revise(&inactive, |cell| cell.status = Status::Active),
    ] {
        let id = revision.cell.id;
        let done = world.commit(&scope, vec![revise(revision)]).await;
        assert_eq!(done, Committed::TopicTaken(there.id), "{id}");
    }
    assert_eq!(Seen::by(&world, &scope).await, before);
    world.change(&scope, &there, |cell| cell.topic = None).await;
    with_status(&world, &scope, &inactive, Status::Active).await;
}

pub async fn a_topic_is_free_once_nothing_active_stands_for_it(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let mut all: Vec<CellId> = Vec::new();
    for free in 0..4 {
        let new = about(&world, &scope, "tea", Visibility::Project);
        let cell = world.keep(&scope, new).await.cell;
        let found = standing(&world, &scope, "tea", Visibility::Project).await;
        assert_eq!(found.as_ref(), Some(&cell));
        assert!(!all.contains(&cell.id));
        all.push(cell.id);
        match free {
            0 => drop(with_status(&world, &scope, &cell, Status::Retracted).await),
            1 => drop(with_status(&world, &scope, &cell, Status::Superseded).await),
            2 => drop(world.done(&scope, vec![world.erase(&cell)]).await),
            _ => {
                let other = world.change(&scope, &cell, |cell| cell.topic = Some(topic("milk")));
                let other = other.await;
                let found = standing(&world, &scope, "milk", Visibility::Project).await;
                assert_eq!(found, Some(other));
            }
        }
        let found = standing(&world, &scope, "tea", Visibility::Project).await;
        assert_eq!(found, None, "{free}");
    }
}

pub async fn topics_of_every_spelling_are_kept_apart(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let long = "é".repeat(128);
    let names = [
        "a", "a b", "a_b", "a%", "a'", "\"a\"", "ä", "a\\", "☂", "ss", "ß", &long,
    ];
    let mut kept = Vec::new();
    for name in names {
        let new = about(&world, &scope, name, Visibility::Project);
        kept.push(world.keep(&scope, new).await.cell);
    }
    for (name, cell) in names.iter().zip(kept) {
        let found = standing(&world, &scope, name, Visibility::Project).await;
        assert_eq!(found, Some(cell), "{name}");
    }
}
