//! Memories that cannot both be true.

use hyphae_core::{
    cell::Visibility,
    conflict::{Conflict, ConflictKind, Resolution, Verdict},
    diff::DiffKind,
    ids::{CellId, ConflictId, DiffId},
    ports::{Committed, Step},
    scope::Scope,
};

use crate::contract::{
    Subject,
    fixture::{World, project},
    seen::Seen,
};

async fn open_of(world: &World<'_>, scope: &Scope, cells: &[CellId]) -> Vec<Conflict> {
    let store = world.subject.memories();
    let open = store.open_conflicts(scope, cells, None, usize::MAX).await;
    open.unwrap()
}

async fn by_id(world: &World<'_>, scope: &Scope, id: ConflictId) -> Option<Conflict> {
    world.subject.memories().conflict(scope, id).await.unwrap()
}

fn close(world: &World<'_>, id: ConflictId, verdict: Verdict) -> Step {
    Step::CloseConflict {
        id,
        verdict,
        reason: format!("{verdict}: it's ☂"),
        diff: DiffId::new(world.id()),
    }
}

async fn stored<const N: usize>(world: &World<'_>, scope: &Scope) -> [CellId; N] {
    let mut ids = Vec::new();
    for n in 0..N {
        let new = world.store(scope, &format!("side {n}")).await;
        ids.push(new.cell.id);
    }
    ids.try_into().unwrap()
}

pub async fn a_conflict_comes_back_with_every_field_open_and_decided(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let store = subject.memories();
    for (i, verdict) in Verdict::ALL.into_iter().enumerate() {
        let [left, right] = [i, i + 100].map(|n| world.cell(&ana, &format!("{n}")));
        let left = world.keep(&ana, left).await.cell.id;
        let right = world.keep(&ana, right).await.cell.id;
        let mut conflict = world.conflict(&bob, left, right);
        conflict.kind = [ConflictKind::Stated, ConflictKind::Judged][i % 2];
        conflict.why = (i > 0).then(|| "it's ☂ '; drop table".to_owned());
        let mut decided_already = conflict.clone();
        decided_already.resolution = Some(Resolution {
            verdict,
            reason: "ignored".to_owned(),
            by: ana.credential,
            at: world.now(),
        });
        world.done(&bob, vec![world.open(&decided_already)]).await;
        assert_eq!(
            by_id(&world, &ana, conflict.id).await.as_ref(),
            Some(&conflict)
        );
        assert_eq!(open_of(&world, &ana, &[]).await, [conflict.clone()]);

        let write = world.write(
            hyphae_core::audit::Action::Resolve,
            vec![close(&world, conflict.id, verdict)],
        );
        assert!(store.commit(&ana, &write).await.unwrap().is_done());
        conflict.resolution = Some(Resolution {
            verdict,
            reason: format!("{verdict}: it's ☂"),
            by: ana.credential,
            at: write.at,
        });
        assert_eq!(by_id(&world, &bob, conflict.id).await, Some(conflict));
        assert_eq!(open_of(&world, &ana, &[]).await, []);
    }
}

pub async fn two_cells_have_one_open_conflict_whichever_is_left(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let [a, b, c] = stored(&world, &ana).await;
    let first = world.dispute(&ana, a, b).await;
    let diffs = world.diffs(&ana).await;
    for (scope, left, right) in [(&ana, a, b), (&ana, b, a), (&bob, b, a)] {
        // The rest of the write goes through.
        let again = world.conflict(scope, left, right);
        let write = vec![world.open(&again)];
        world.done(scope, write).await;
        assert_eq!(by_id(&world, &ana, again.id).await, None);
        assert_eq!(
            open_of(&world, &ana, &[]).await,
            std::slice::from_ref(&first)
        );
        assert_eq!(world.diffs(&ana).await, diffs);
    }
    let other = world.dispute(&bob, a, c).await;
    assert_eq!(open_of(&world, &ana, &[a]).await, [first.clone(), other]);

    // Once it is decided, they may fall out again.
    world
        .done(&ana, vec![close(&world, first.id, Verdict::Both)])
        .await;
    let second = world.dispute(&bob, b, a).await;
    assert_eq!(open_of(&world, &ana, &[b]).await, [second]);
    let decided = by_id(&world, &ana, first.id).await.unwrap();
    assert_eq!(decided.resolution.unwrap().verdict, Verdict::Both);
}

pub async fn a_conflict_is_decided_once(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let [a, b] = stored(&world, &scope).await;
    let id = world.dispute(&scope, a, b).await.id;
    world
        .done(&scope, vec![close(&world, id, Verdict::Left)])
        .await;
    let unknown = ConflictId::new(world.id());
    let before = Seen::by(&world, &scope).await;
    for id in [id, unknown] {
        for verdict in Verdict::ALL {
            let done = world.commit(&scope, vec![close(&world, id, verdict)]).await;
            assert_eq!(done, Committed::ConflictGone(id));
        }
    }
    assert_eq!(Seen::by(&world, &scope).await, before);
}

pub async fn of_two_decisions_at_once_one_holds(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let other = subject.again().await;
    let [a, b] = stored(&world, &scope).await;
    for _ in 0..10 {
        let id = world.dispute(&scope, a, b).await.id;
        let (left, right) = tokio::join!(
            world.commit_on(subject, &scope, vec![close(&world, id, Verdict::Left)]),
            world.commit_on(&*other, &scope, vec![close(&world, id, Verdict::Right)])
        );
        let (left, right) = (left.unwrap(), right.unwrap());
        let verdict = by_id(&world, &scope, id).await.unwrap().resolution.unwrap();
        let (held, lost) = if verdict.verdict == Verdict::Left {
            (left, right)
        } else {
            (right, left)
        };
        assert!(held.is_done());
        assert_eq!(lost, Committed::ConflictGone(id));
    }
}

pub async fn open_conflicts_are_listed_oldest_first_in_pages_and_by_cell(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let [a, b, c, d, e] = stored(&world, &scope).await;
    let mut all = Vec::new();
    for (left, right) in [(a, b), (c, a), (d, c), (b, d), (c, b), (a, d)] {
        all.push(world.dispute(&scope, left, right).await);
    }
    let decided = all.remove(2);
    world
        .done(&scope, vec![close(&world, decided.id, Verdict::Left)])
        .await;
    let store = subject.memories();
    let unknown = CellId::new(world.id());
    for cells in [
        vec![],
        vec![a],
        vec![c],
        vec![d, a],
        vec![unknown, b],
        vec![a, b, c, d, e],
        vec![e],
        vec![unknown],
    ] {
        let about = |conflict: &&Conflict| {
            cells.is_empty() || cells.contains(&conflict.left) || cells.contains(&conflict.right)
        };
        let want: Vec<Conflict> = all.iter().filter(about).cloned().collect();
        assert_eq!(open_of(&world, &scope, &cells).await, want, "{cells:?}");
        for limit in [1, 2, 5] {
            let mut read: Vec<Conflict> = Vec::new();
            loop {
                let after = read.last().map(|conflict| conflict.id);
                let page = store.open_conflicts(&scope, &cells, after, limit).await;
                let page = page.unwrap();
                if page.is_empty() {
                    break;
                }
                assert!(page.len() <= limit);
                read.extend(page);
                assert!(read.len() <= want.len(), "{cells:?} in pages of {limit}");
            }
            assert_eq!(read, want, "{cells:?} in pages of {limit}");
        }
        // A page begins behind a conflict that is open no more.
        let behind = store.open_conflicts(&scope, &cells, Some(decided.id), 9);
        let want: Vec<Conflict> = want
            .into_iter()
            .filter(|conflict| conflict.id > decided.id)
            .collect();
        assert_eq!(behind.await.unwrap(), want, "{cells:?}");
    }
    assert_eq!(
        store.open_conflicts(&scope, &[], None, 0).await.unwrap(),
        []
    );
}

pub async fn a_conflict_needs_both_of_its_sides(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let a = world.store(&ana, "a").await.cell.id;
    let erased = world.store(&ana, "erased").await.cell;
    world.done(&ana, vec![world.erase(&erased)]).await;
    let hidden = world.keep(&bob, world.private(&bob, "hidden")).await;
    let before = Seen::by(&world, &ana).await;
    for gone in [CellId::new(world.id()), erased.id, hidden.cell.id] {
        for (left, right) in [(a, gone), (gone, a)] {
            let conflict = world.conflict(&ana, left, right);
            let done = world.commit(&ana, vec![world.open(&conflict)]).await;
            assert_eq!(done, Committed::Changed(gone));
        }
    }
    assert_eq!(Seen::by(&world, &ana).await, before);
}

pub async fn a_conflict_is_seen_and_decided_by_those_who_see_both_sides(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let there = bob.in_project(project("q"));
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let open = world.store(&ana, "open").await.cell.id;
    let private = world.keep(&ana, world.private(&ana, "private")).await.cell;
    let shared = world.keep(&ana, world.shared(&ana, "shared")).await.cell.id;
    let far = world
        .keep(&there, world.shared(&there, "far"))
        .await
        .cell
        .id;
    let mut all = Vec::new();
    for (left, right) in [
        (open, private.id),
        (private.id, shared),
        (open, shared),
        (far, shared),
    ] {
        all.push(world.dispute(&ana, left, right).await);
    }
    let sides = [open, private.id, shared, far];
    for (scope, seen) in [(&ana, &all[..]), (&bob, &all[2..]), (&there, &all[3..])] {
        for about in [&[][..], &sides] {
            assert_eq!(open_of(&world, scope, about).await, seen);
        }
        for conflict in &all {
            let found = by_id(&world, scope, conflict.id).await;
            let want = seen.contains(conflict).then(|| conflict.clone());
            assert_eq!(found, want);
        }
    }
    for hidden in &all[..2] {
        let done = world
            .commit(&bob, vec![close(&world, hidden.id, Verdict::Both)])
            .await;
        assert_eq!(done, Committed::ConflictGone(hidden.id));
    }
    assert_eq!(open_of(&world, &ana, &[]).await, all);
    let store = subject.memories();
    assert_eq!(store.statistics(bob.owner()).await.unwrap().conflicts, 4);
    let done = vec![close(&world, all[3].id, Verdict::Right)];
    world.done(&there, done).await;
    assert_eq!(store.statistics(bob.owner()).await.unwrap().conflicts, 3);
    let opened = world.change(&ana, &private, |cell| cell.visibility = Visibility::Project);
    opened.await;
    assert_eq!(open_of(&world, &bob, &[]).await, all[..3]);
}

pub async fn conflicts_are_told_about_their_left_side(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let [left, right] = stored(&world, &scope).await;
    let cell = world.find(&scope, left).await.unwrap();
    world
        .change(&scope, &cell, |cell| {
            cell.cell_type = hyphae_core::cell::CellType::Decision;
        })
        .await;
    let conflict = world.dispute(&scope, left, right).await;
    world
        .done(&scope, vec![close(&world, conflict.id, Verdict::Right)])
        .await;
    let diffs = world.diffs(&scope).await;
    let told: Vec<_> = diffs[diffs.len() - 2..]
        .iter()
        .map(|diff| {
            (
                diff.kind,
                diff.cell,
                diff.other,
                diff.revision,
                diff.cell_type,
            )
        })
        .collect();
    let want = [DiffKind::Contradiction, DiffKind::Resolved].map(|kind| {
        let decision = hyphae_core::cell::CellType::Decision;
        (kind, left, Some(right), 2, decision)
    });
    assert_eq!(told, want);
}
