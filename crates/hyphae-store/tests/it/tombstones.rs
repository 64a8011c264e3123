//! Cells that are recalled no longer. No verb of the port takes a cell back yet; these rows are
//! what such a verb will write.

use hyphae_core::{cell::Visibility, ids::CellId, ports::Sequence, scope::Scope};
use hyphae_testkit::contract::{
    Subject,
    fixture::{World, project},
};
use sqlx::Connection;

use crate::subject::{OnDisk, connect};

/// Changes a cell's entry as a later verb will: a new place in the order, another visibility,
/// and no facts if it is active no longer.
async fn change(disk: &OnDisk, id: CellId, visibility: Option<Visibility>) {
    let mut connection = connect(&disk.path()).await;
    let mut change = connection.begin_with("begin immediate").await.unwrap();
    let id = id.uuid().as_bytes().to_vec();
    let sequence: i64 = sqlx::query_scalar(
        "update tenants set sequence = sequence + 1 where name = 'default' returning sequence",
    )
    .fetch_one(&mut *change)
    .await
    .unwrap();
    let number = visibility.map(|visibility| match visibility {
        Visibility::Private => 0_i64,
        Visibility::Project => 1,
        Visibility::Shared => 2,
    });
    for sql in [
        "update recall_entries set sequence = $2, visibility = coalesce($3, visibility),
             reach = max(reach, coalesce($3, 0)),
             facts = iif($3 is null, null, facts), vector = iif($3 is null, null, vector),
             model_no = iif($3 is null, null, model_no)
         where cell_id = $1",
        "update cells set sequence = $2, visibility = coalesce($3, visibility),
             status = iif($3 is null, 2, 0) where cell_id = $1",
    ] {
        sqlx::query(sql)
            .bind(&id)
            .bind(sequence)
            .bind(number)
            .execute(&mut *change)
            .await
            .unwrap();
    }
    change.commit().await.unwrap();
}

/// Returns what a scope is told after a place: ids, and whether each is there.
async fn told(disk: &OnDisk, scope: &Scope, after: Sequence) -> Vec<(CellId, bool)> {
    let changes = disk.memories().changes(scope, after, 100).await.unwrap();
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
async fn a_retracted_cell_leaves_a_tombstone_for_those_who_saw_it() {
    let disk = OnDisk::new().await;
    let world = World::new(&disk).await;
    let ana = world.owner().await.in_project(project("p"));
    let bob = world.owner().await.in_project(project("p"));
    let open = world.store(&ana, "open").await.cell.id;
    let hidden = world
        .keep(&ana, world.private(&ana, "hidden"))
        .await
        .cell
        .id;
    let (for_ana, for_bob) = (end(&world, &ana).await, end(&world, &bob).await);
    change(&disk, open, None).await;
    change(&disk, hidden, None).await;
    assert_eq!(
        told(&disk, &ana, for_ana).await,
        [(open, false), (hidden, false)]
    );
    assert_eq!(told(&disk, &bob, for_bob).await, [(open, false)]);
    assert_eq!(world.recallable(&ana).await, []);
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
    let id = world
        .keep(&home, world.shared(&home, "shared"))
        .await
        .cell
        .id;
    let scopes = [&home, &away, &near, &far];
    let mut ends = Vec::new();
    for scope in scopes {
        assert_eq!(told(&disk, scope, Sequence(0)).await, [(id, true)]);
        ends.push(end(&world, scope).await);
    }
    change(&disk, id, Some(Visibility::Private)).await;
    for (scope, after) in scopes.into_iter().zip(ends) {
        let there = scope == &home;
        assert_eq!(told(&disk, scope, after).await, [(id, there)], "{scope:?}");
        assert_eq!(world.find(scope, id).await.is_some(), there);
    }
    assert_eq!(told(&disk, &stranger, Sequence(0)).await, []);

    change(&disk, id, Some(Visibility::Project)).await;
    assert_eq!(world.recallable(&near).await, [id]);
    assert_eq!(world.recallable(&far).await, []);
    change(&disk, id, Some(Visibility::Shared)).await;
    assert_eq!(world.recallable(&far).await, [id]);
}

#[tokio::test]
async fn a_text_that_was_taken_back_can_be_stored_again() {
    let disk = OnDisk::new().await;
    let world = World::new(&disk).await;
    let scope = world.owner().await.in_project(project("p"));
    let old = world.store(&scope, "again").await.cell.id;
    change(&disk, old, None).await;
    let new = world.store(&scope, "again").await.cell.id;
    assert_eq!(world.recallable(&scope).await, [new]);
}
