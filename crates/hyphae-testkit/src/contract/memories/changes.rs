//! What a recall index learns of, and merges, which change what it knows.

use hyphae_core::{
    cell::Share,
    ids::CellId,
    ports::{Entry, Inserted, NewCell, Sequence},
    recall::Terms,
    scope::Scope,
};

use super::{another_text, entry_of};
use crate::contract::{
    Subject,
    fixture::{World, project},
};

pub async fn changes_tell_all_that_recall_needs(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let (here, there) = (
        owner.in_project(project("p")),
        owner.in_project(project("q")),
    );
    let own = world.store(&here, "seen here").await;
    let mut bare = world.private(&here, "x");
    bare.cell.salience = Share::new(0.123).unwrap();
    (bare.terms, bare.context) = (Terms::default(), Terms::default());
    let bare = world.keep(&here, bare).await;
    let shared = world
        .keep(&there, world.shared(&there, "seen everywhere"))
        .await;
    let found = world.changes(&here).await;
    let found: Vec<(CellId, Option<Entry>)> = found
        .into_iter()
        .map(|change| (change.id, change.entry))
        .collect();
    assert_eq!(
        found,
        [
            (own.cell.id, Some(entry_of(&own, true))),
            (bare.cell.id, Some(entry_of(&bare, true))),
            (shared.cell.id, Some(entry_of(&shared, false))),
        ]
    );
}

pub async fn changes_are_read_in_pages_of_any_size(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let (here, there) = (
        owner.in_project(project("p")),
        owner.in_project(project("q")),
    );
    for n in 0..10 {
        world.store(&here, &format!("here {n}")).await;
        world
            .keep(&there, world.shared(&there, &format!("there {n}")))
            .await;
        world.store(&there, &format!("unseen {n}")).await;
    }
    let all = world.changes(&here).await;
    assert_eq!(all.len(), 20);
    assert!(all.is_sorted_by(|a, b| a.sequence < b.sequence));
    for limit in [1, 2, 3, 7, 19, 20, 21] {
        let mut read = Vec::new();
        let mut after = Sequence(0);
        loop {
            let page = subject
                .memories()
                .changes(&here, after, limit)
                .await
                .unwrap();
            let Some(last) = page.last() else { break };
            assert!(page.len() <= limit);
            after = last.sequence;
            read.extend(page);
        }
        assert_eq!(read, all, "pages of {limit}");
    }
    let far = Sequence(u64::MAX);
    assert_eq!(
        subject.memories().changes(&here, far, 10).await.unwrap(),
        []
    );
    assert_eq!(
        subject
            .memories()
            .changes(&here, Sequence(0), 0)
            .await
            .unwrap(),
        []
    );
}

pub async fn a_reader_never_misses_a_change(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let other = subject.again().await;
    let (odd, even) = tokio::join!(
        write_and_read(&world, subject, &scope, "odd"),
        write_and_read(&world, &*other, &scope, "even")
    );
    let all = world.recallable(&scope).await;
    assert_eq!(all.len(), 60);
    // Each reader had seen everything that was committed when it read last.
    for seen in [odd, even] {
        assert_eq!(seen, all[..seen.len()]);
        assert!(seen.len() >= 30);
    }
}

async fn write_and_read(
    world: &World<'_>,
    subject: &dyn Subject,
    scope: &Scope,
    name: &str,
) -> Vec<CellId> {
    let mut seen = Vec::new();
    let mut after = Sequence(0);
    for n in 0..30 {
        let new = world.cell(scope, &format!("{name} {n}"));
        subject.memories().insert_cell(scope, &new).await.unwrap();
        let changes = subject
            .memories()
            .changes(scope, after, 1000)
            .await
            .unwrap();
        after = changes.last().map_or(after, |change| change.sequence);
        seen.extend(changes.iter().map(|change| change.id));
        assert!(seen.contains(&new.cell.id), "own writes are seen at once");
    }
    seen
}

pub async fn a_merge_gives_a_cell_another_text(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let old = world.store(&scope, "tea at four").await;
    let other = world.store(&scope, "something else").await;
    let new = another_text(&world, &scope, "tea is at four");
    let id = old.cell.id;
    let done = subject.memories().merge_into(&scope, id, 1, &new).await;
    assert_eq!(done.unwrap(), Some(2));

    let mut want = old.cell.clone();
    want.content = new.cell.content.clone();
    want.revision = 2;
    want.updated_at = new.cell.updated_at;
    assert_eq!(world.find(&scope, id).await.as_ref(), Some(&want));
    assert_eq!(world.find(&scope, new.cell.id).await, None);

    let changes = world.changes(&scope).await;
    let ids: Vec<CellId> = changes.iter().map(|change| change.id).collect();
    assert_eq!(ids, [other.cell.id, id], "a changed cell moves to the end");
    let merged = NewCell { cell: want, ..new };
    assert_eq!(changes[1].entry, Some(entry_of(&merged, true)));

    let back = subject
        .memories()
        .insert_cell(&scope, &world.cell(&scope, "tea at four"))
        .await;
    assert_eq!(
        back.unwrap(),
        Inserted::New,
        "the old text is nobody's any more"
    );
    let same = subject
        .memories()
        .insert_cell(&scope, &world.cell(&scope, "tea is at four"))
        .await;
    assert_eq!(same.unwrap(), Inserted::Same(id));
}

pub async fn a_merge_finds_only_the_expected_revision(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let old = world.store(&scope, "one").await;
    let before = world.changes(&scope).await;
    let unknown = CellId::new(world.id());
    for (id, revision) in [
        (old.cell.id, 0),
        (old.cell.id, 2),
        (old.cell.id, u32::MAX),
        (unknown, 1),
    ] {
        let new = another_text(&world, &scope, "two");
        let done = subject
            .memories()
            .merge_into(&scope, id, revision, &new)
            .await;
        assert_eq!(done.unwrap(), None, "{id} {revision}");
    }
    assert_eq!(world.changes(&scope).await, before);
    assert_eq!(world.find(&scope, old.cell.id).await, Some(old.cell));
}

pub async fn of_two_merges_at_once_one_wins(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let old = world.store(&scope, "one").await;
    let other = subject.again().await;
    let (a, b) = (
        another_text(&world, &scope, "two"),
        another_text(&world, &scope, "three"),
    );
    let (first, second) = tokio::join!(
        subject.memories().merge_into(&scope, old.cell.id, 1, &a),
        other.memories().merge_into(&scope, old.cell.id, 1, &b)
    );
    let mut done = [first.unwrap(), second.unwrap()];
    done.sort_unstable();
    assert_eq!(done, [None, Some(2)]);
}

pub async fn a_merge_into_a_text_that_another_cell_has_changes_nothing(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let one = world.store(&scope, "one").await;
    world.store(&scope, "two").await;
    let before = world.changes(&scope).await;
    let new = another_text(&world, &scope, "two");
    let done = subject
        .memories()
        .merge_into(&scope, one.cell.id, 1, &new)
        .await;
    assert_eq!(done.unwrap(), None);
    assert_eq!(world.changes(&scope).await, before);
    assert_eq!(world.find(&scope, one.cell.id).await, Some(one.cell));
}
