//! What those learn who could see a cell and no longer can.

use hyphae_core::{
    cell::{Content, Status, Visibility},
    ids::CellId,
    ports::{Sequence, Step},
    relation::RelationKind,
    scope::Scope,
};
use hyphae_testkit::contract::fixture::model;
use hyphae_testkit::contract::{
    Subject,
    fixture::{World, project, relate, tags, topic},
};

use crate::{processes::agree, subject::OnDisk};

/// Returns what a scope is told after a place: ids, and whether each is there.
async fn told(disk: &OnDisk, scope: &Scope, after: Sequence) -> Vec<(CellId, bool)> {
    let changes = disk
        .memories()
        .changes(scope, after, 100, &model())
        .await
        .unwrap();
    let told = changes
        .iter()
        .map(|change| (change.id, change.entry.is_some()));
    told.collect()
}

async fn end(world: &World<'_>, scope: &Scope) -> Sequence {
    let changes = world.changes(scope).await;
    changes.last().map_or(Sequence(0), |change| change.sequence)
}

#[tokio::test]
async fn an_erased_cell_leaves_a_tombstone_for_those_who_saw_it() {
    let disk = OnDisk::new().await;
    let world = World::new(&disk).await;
    let ana = world.owner().await.in_project(project("p"));
    let bob = world.owner().await.in_project(project("p"));
    let open = world.store(&ana, "open").await.cell;
    let hidden = world.private(&ana, "hidden");
    let hidden = world.keep(&ana, hidden).await.cell;
    let (for_ana, for_bob) = (end(&world, &ana).await, end(&world, &bob).await);
    world
        .done(&ana, vec![world.erase(&open), world.erase(&hidden)])
        .await;
    let gone = [(open.id, false), (hidden.id, false)];
    assert_eq!(told(&disk, &ana, for_ana).await, gone);
    assert_eq!(told(&disk, &bob, for_bob).await, gone[..1]);
    assert_eq!(world.recallable(&ana).await, []);
    agree(&disk.path()).await;
}

#[tokio::test]
async fn nothing_of_an_erased_cell_is_left_in_the_files_while_they_are_in_use() {
    let disk = OnDisk::new().await;
    let world = World::new(&disk).await;
    let scope = world.owner().await.in_project(project("p"));
    let mut new = world.cell(&scope, "sesame at first");
    new.cell.topic = Some(topic("topicofit"));
    new.cell.tags = tags(["tagofit"]);
    let cell = world.keep(&scope, new).await.cell;
    let other = world.store(&scope, "another text").await.cell;
    let mut relation = world.relation(&scope, other.id, RelationKind::Supports, cell.id);
    relation.reason = Some("reasonoflink".to_owned());
    let mut conflict = world.conflict(&scope, cell.id, other.id);
    conflict.why = Some("whyofconflict".to_owned());
    let confirm = Step::Confirm {
        id: cell.id,
        revision: 1,
        evidence: Some("evidenceofit".to_owned()),
    };
    let steps = vec![relate(&relation), world.open(&conflict), confirm];
    world.done(&scope, steps).await;
    let cell = world
        .change(&scope, &cell, |cell| {
            cell.content = Content::new("sesame at last").unwrap();
        })
        .await;
    let texts = [
        "sesame",
        "topicofit",
        "tagofit",
        "reasonoflink",
        "whyofconflict",
        "evidenceofit",
    ];
    let left = || -> Vec<&str> {
        let names = ["hyphae.db", "hyphae.db-wal", "hyphae.db-shm"];
        let files = names.map(|name| std::fs::read(disk.folder.path().join(name)).unwrap());
        let holds = |text: &str| {
            let mut places = files.iter().flat_map(|file| file.windows(text.len()));
            places.any(|place| place == text.as_bytes())
        };
        texts.into_iter().filter(|text| holds(text)).collect()
    };
    assert_eq!(left(), texts);
    world.done(&scope, vec![world.erase(&cell)]).await;
    assert_eq!(left(), [""; 0]);
    assert_eq!(world.find(&scope, other.id).await, Some(other));
}

#[tokio::test]
async fn a_shared_cell_that_becomes_private_is_gone_for_everybody_else() {
    let disk = OnDisk::new().await;
    let world = World::new(&disk).await;
    let ana = world.owner().await;
    let bob = world.owner().await;
    let (home, away) = (ana.in_project(project("p")), ana.in_project(project("q")));
    let (near, far) = (bob.in_project(project("p")), bob.in_project(project("q")));
    let stranger = world.stranger().await.in_project(project("p"));
    let cell = world.shared(&home, "shared");
    let cell = world.keep(&home, cell).await.cell;
    let id = cell.id;
    let scopes = [&home, &away, &near, &far];
    let mut ends = Vec::new();
    for scope in scopes {
        assert_eq!(told(&disk, scope, Sequence(0)).await, [(id, true)]);
        ends.push(end(&world, scope).await);
    }
    let set = |visibility| move |cell: &mut hyphae_core::cell::Cell| cell.visibility = visibility;
    let cell = world.change(&home, &cell, set(Visibility::Private)).await;
    for (scope, after) in scopes.into_iter().zip(ends) {
        let there = scope == &home;
        assert_eq!(told(&disk, scope, after).await, [(id, there)], "{scope:?}");
        assert_eq!(world.find(scope, id).await.is_some(), there);
    }
    assert_eq!(told(&disk, &stranger, Sequence(0)).await, []);

    let cell = world.change(&home, &cell, set(Visibility::Project)).await;
    assert_eq!(world.recallable(&near).await, [id]);
    assert_eq!(world.recallable(&far).await, []);
    world.change(&home, &cell, set(Visibility::Shared)).await;
    assert_eq!(world.recallable(&far).await, [id]);
    agree(&disk.path()).await;
}

#[tokio::test]
async fn a_text_that_was_taken_back_can_be_stored_again() {
    let disk = OnDisk::new().await;
    let world = World::new(&disk).await;
    let scope = world.owner().await.in_project(project("p"));
    let old = world.store(&scope, "again").await.cell;
    let retract = |cell: &mut hyphae_core::cell::Cell| cell.status = Status::Retracted;
    world.change(&scope, &old, retract).await;
    let new = world.store(&scope, "again").await.cell.id;
    assert_eq!(world.recallable(&scope).await, [old.id, new]);
    agree(&disk.path()).await;
}
