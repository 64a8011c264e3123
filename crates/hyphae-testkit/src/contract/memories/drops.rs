//! Callers that go away in the middle.

use crate::contract::fixture::model;
use hyphae_core::ports::{Entry, Sequence};

use super::another_text;
use crate::contract::{
    Subject, drop_after,
    fixture::{World, insert, link, project, revise},
};

pub async fn a_dropped_insert_leaves_all_or_nothing(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let hub = world.store(&scope, "hub").await.cell.id;
    let mut kept = 0;
    for polls in 0..40 {
        let mut new = world.cell(&scope, &format!("dropped after {polls}"));
        new.derived.links = vec![link(hub, 0.5)];
        drop_after(polls, world.commit(&scope, vec![insert(&new)])).await;
        // A write that follows is served, and is not part of what was dropped.
        world.store(&scope, &format!("after {polls}")).await;
        let is_there = world.find(&scope, new.cell.id).await.is_some();
        kept += usize::from(is_there);
        let in_changes = world.recallable(&scope).await.contains(&new.cell.id);
        let linked = !world.links(&scope, new.cell.id).await.is_empty();
        assert_eq!((in_changes, linked), (is_there, is_there), "{polls}");
    }
    let counted = subject.memories().statistics(scope.owner()).await.unwrap();
    assert_eq!(counted.cells, 41 + kept as u64);
}

pub async fn a_dropped_revision_leaves_all_or_nothing(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let mut cell = world.store(&scope, "text 0").await.cell;
    let id = cell.id;
    for polls in 0..40 {
        let new = another_text(&world, &cell, &format!("text {}", polls + 1));
        let want = new.cell.clone();
        drop_after(polls, world.commit(&scope, vec![revise(new)])).await;
        world.store(&scope, &format!("after {polls}")).await;
        let found = world.find(&scope, id).await.unwrap();
        let changes = world.changes(&scope).await;
        let entries: Vec<&Entry> = changes
            .iter()
            .filter(|change| change.id == id)
            .filter_map(|change| change.entry.as_ref())
            .collect();
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].revision, found.revision);
        assert_eq!(entries[0].fingerprint, found.content.fingerprint());
        assert!(found == cell || found == want);
        let history = subject.memories().history(&scope, id).await.unwrap();
        assert_eq!(history.len() as u32 + 1, found.revision);
        cell = found;
    }
}

pub async fn dropped_reads_do_no_harm(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    for n in 0..50 {
        world.store(&scope, &format!("{n}")).await;
    }
    let model = model();
    for polls in 0..20 {
        let read = subject.memories().changes(&scope, Sequence(0), 50, &model);
        drop_after(polls, read).await;
        assert_eq!(world.changes(&scope).await.len(), 50);
    }
}
