//! What a recall index learns of.

use crate::contract::fixture::model;
use hyphae_core::{
    cell::{Share, Validity},
    ids::CellId,
    ports::{Committed, Entry, Sequence},
    recall::Terms,
    scope::Scope,
};

use super::{another_text, entry_of};
use crate::contract::{
    Subject,
    fixture::{World, insert, project, revise, tags, topic},
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
    (bare.derived.terms, bare.derived.context) = (Terms::default(), Terms::default());
    let bare = world.keep(&here, bare).await;
    let mut shared = world.shared(&there, "seen everywhere");
    shared.cell.topic = Some(topic("what is seen"));
    shared.cell.tags = tags(["b", "ä", "a b"]);
    shared.cell.validity = Validity::new(None, Some(world.now())).unwrap();
    let shared = world.keep(&there, shared).await;
    let found = world.changes(&here).await;
    let found: Vec<(CellId, Option<Entry>)> = found
        .into_iter()
        .map(|change| (change.id, change.entry))
        .collect();
    assert_eq!(
        found,
        [
            (own.cell.id, Some(entry_of(&own.cell, &own.derived, true))),
            (
                bare.cell.id,
                Some(entry_of(&bare.cell, &bare.derived, true))
            ),
            (
                shared.cell.id,
                Some(entry_of(&shared.cell, &shared.derived, false))
            ),
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
                .changes(&here, after, limit, &model())
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
        subject
            .memories()
            .changes(&here, far, 10, &model())
            .await
            .unwrap(),
        []
    );
    assert_eq!(
        subject
            .memories()
            .changes(&here, Sequence(0), 0, &model())
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
        let done = world.commit_on(subject, scope, vec![insert(&new)]).await;
        assert!(matches!(done, Ok(Committed::Done(_))), "{done:?}");
        let changes = subject
            .memories()
            .changes(scope, after, 1000, &model())
            .await
            .unwrap();
        after = changes.last().map_or(after, |change| change.sequence);
        seen.extend(changes.iter().map(|change| change.id));
        assert!(seen.contains(&new.cell.id), "own writes are seen at once");
    }
    seen
}

pub async fn a_revision_gives_a_cell_another_text(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let old = world.store(&scope, "tea at four").await;
    let other = world.store(&scope, "something else").await;
    let new = another_text(&world, &old.cell, "tea is at four");
    let (id, want) = (old.cell.id, new.cell.clone());
    let derived = new.derived.clone().unwrap();
    let done = world.done(&scope, vec![revise(new)]).await;
    assert_eq!(world.find(&scope, id).await.as_ref(), Some(&want));

    let changes = world.changes(&scope).await;
    let ids: Vec<CellId> = changes.iter().map(|change| change.id).collect();
    assert_eq!(ids, [other.cell.id, id], "a changed cell moves to the end");
    assert_eq!(changes[1].entry, Some(entry_of(&want, &derived, true)));
    assert_eq!(changes[1].sequence, done);

    // The old text is nobody's any more.
    world.store(&scope, "tea at four").await;
    let again = world.cell(&scope, "tea is at four");
    let same = world.commit(&scope, vec![insert(&again)]).await;
    assert_eq!(same, Committed::Same(id));
}
