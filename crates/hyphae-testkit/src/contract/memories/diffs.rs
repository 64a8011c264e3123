//! What changed since last time.

use hyphae_core::{
    audit::Action,
    cell::{Cell, CellType, Share, Status, Visibility},
    conflict::Verdict,
    diff::{Diff, DiffKind},
    ids::{CellId, DiffId},
    ports::{Committed, Sequence, Step},
    relation::RelationKind,
    scope::Scope,
};

use crate::contract::{
    Subject,
    fixture::{World, insert, project, relate, revise},
};

async fn read(
    world: &World<'_>,
    scope: &Scope,
    after: Sequence,
    kinds: &[DiffKind],
    own: bool,
    limit: usize,
) -> Vec<Diff> {
    let store = world.subject.memories();
    let found = store.diffs(scope, after, kinds, own, limit).await;
    found.unwrap()
}

/// Commits one step and returns the diff that is to tell of it.
async fn told(
    world: &World<'_>,
    scope: &Scope,
    step: Step,
    (id, kind): (DiffId, DiffKind),
    cell: &Cell,
    other: Option<CellId>,
) -> Diff {
    let write = world.write(Action::Update, vec![step]);
    let store = world.subject.memories();
    let Committed::Done(sequence) = store.commit(scope, &write).await.unwrap() else {
        panic!("{kind:?}");
    };
    assert_eq!(store.newest(scope.owner()).await.unwrap(), sequence);
    Diff {
        id,
        sequence,
        kind,
        cell: cell.id,
        revision: cell.revision,
        other,
        author: scope.credential,
        cell_type: cell.cell_type,
        salience: cell.salience,
        at: write.at,
    }
}

/// Lets everything happen to a cell of `ana` that is told of, both of them doing some of it, and
/// returns what is to be told of it.
async fn eventful(world: &World<'_>, ana: &Scope, bob: &Scope) -> Vec<Diff> {
    let other = world.cell(ana, "the other");
    let diff = (other.diff, DiffKind::Created);
    let mut all = vec![told(world, ana, insert(&other), diff, &other.cell, None).await];
    let new = world.cell(ana, "eventful");
    let diff = (new.diff, DiffKind::Created);
    all.push(told(world, ana, insert(&new), diff, &new.cell, None).await);
    let mut cell = new.cell;
    let kinds = [
        (DiffKind::Updated, Status::Active),
        (DiffKind::Superseded, Status::Superseded),
        (DiffKind::Pattern, Status::Active),
        (DiffKind::Promoted, Status::Active),
        (DiffKind::Retracted, Status::Retracted),
        (DiffKind::Restored, Status::Active),
    ];
    for (i, (kind, status)) in kinds.into_iter().enumerate() {
        let mut revision = world.revise(&cell, |cell| {
            cell.cell_type = CellType::ALL[i];
            cell.salience = Share::new(i as f64 / 7.0).unwrap();
            cell.status = status;
        });
        revision.kind = kind;
        revision.other = (kind == DiffKind::Superseded).then_some(other.cell.id);
        cell = revision.cell.clone();
        let (diff, of) = ((revision.diff, kind), revision.other);
        let by = [bob, ana][i % 2];
        all.push(told(world, by, revise(revision), diff, &cell, of).await);
    }
    let conflict = world.conflict(bob, cell.id, other.cell.id);
    let diff = DiffId::new(world.id());
    let open = Step::OpenConflict {
        conflict: Box::new(conflict.clone()),
        diff,
    };
    let diff = (diff, DiffKind::Contradiction);
    all.push(told(world, bob, open, diff, &cell, Some(other.cell.id)).await);
    let diff = DiffId::new(world.id());
    let close = Step::CloseConflict {
        id: conflict.id,
        verdict: Verdict::Both,
        reason: "both do".to_owned(),
        diff,
    };
    let diff = (diff, DiffKind::Resolved);
    all.push(told(world, ana, close, diff, &cell, Some(other.cell.id)).await);
    let diff = DiffId::new(world.id());
    let erase = Step::Erase {
        id: cell.id,
        revision: cell.revision,
        diff,
    };
    let diff = (diff, DiffKind::Erased);
    all.push(told(world, bob, erase, diff, &cell, None).await);
    all
}

pub async fn every_kind_of_change_is_told_as_it_was_when_it_happened(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let want = eventful(&world, &ana, &bob).await;
    assert!(want.is_sorted_by(|a, b| a.sequence < b.sequence));
    assert_eq!(world.diffs(&ana).await, want);
    assert_eq!(world.diffs(&bob).await, want);
}

pub async fn diffs_are_read_by_kind_by_writer_and_in_pages(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let there = ana.in_project(project("q"));
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    eventful(&world, &ana, &bob).await;
    // What ana writes in another project is her own as well.
    world.keep(&there, world.shared(&there, "shared")).await;
    let all = world.diffs(&ana).await;
    let mut filters: Vec<Vec<DiffKind>> = DiffKind::ALL.map(|kind| vec![kind]).into();
    filters.push(vec![]);
    filters.push(vec![DiffKind::Erased, DiffKind::Created, DiffKind::Erased]);
    for kinds in &filters {
        for own in [true, false] {
            let fits = |diff: &&Diff| {
                (kinds.is_empty() || kinds.contains(&diff.kind))
                    && (own || diff.author != ana.credential)
            };
            let want: Vec<Diff> = all.iter().filter(fits).cloned().collect();
            for limit in [1, 2, 3, 100] {
                let mut found: Vec<Diff> = Vec::new();
                loop {
                    let after = found.last().map_or(Sequence(0), |diff| diff.sequence);
                    let page = read(&world, &ana, after, kinds, own, limit).await;
                    if page.is_empty() {
                        break;
                    }
                    assert!(page.len() <= limit);
                    found.extend(page);
                    assert!(found.len() <= want.len(), "{kinds:?} in pages of {limit}");
                }
                assert_eq!(found, want, "{kinds:?} {own} in pages of {limit}");
            }
        }
    }
    let newest = subject.memories().newest(ana.owner()).await.unwrap();
    assert_eq!(newest, all.last().unwrap().sequence);
    for after in [newest, Sequence(u64::MAX)] {
        assert_eq!(read(&world, &ana, after, &[], true, 9).await, []);
    }
    assert_eq!(read(&world, &ana, Sequence(0), &[], true, 0).await, []);
}

pub async fn all_diffs_of_one_write_are_told_however_it_is_cut_in_pages(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let old = world.store(&scope, "old").await.cell;
    let mut steps = Vec::new();
    let mut want = Vec::new();
    for n in 0..5 {
        let new = world.cell(&scope, &format!("{n}"));
        want.push(new.diff);
        steps.push(insert(&new));
        let (from, to) = (new.cell.id, old.id);
        steps.push(relate(&world.relation(
            &scope,
            from,
            RelationKind::Refines,
            to,
        )));
        let diff = DiffId::new(world.id());
        want.push(diff);
        steps.push(Step::OpenConflict {
            conflict: Box::new(world.conflict(&scope, to, from)),
            diff,
        });
    }
    let before = subject.memories().newest(scope.owner()).await.unwrap();
    let last = world.done(&scope, steps).await;
    for limit in 1..=11 {
        let mut found = Vec::new();
        let mut after = before;
        loop {
            let page = read(&world, &scope, after, &[], true, limit).await;
            let Some(last) = page.last() else { break };
            after = last.sequence;
            found.extend(page.iter().map(|diff| diff.id));
            assert!(found.len() <= want.len(), "in pages of {limit}");
        }
        assert_eq!(found, want, "in pages of {limit}");
        assert_eq!(after, last);
    }
}

pub async fn diffs_tell_of_what_is_visible(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let stranger = world.stranger().await.in_project(project("p"));
    let there = bob.in_project(project("q"));
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let private = world.keep(&ana, world.private(&ana, "private")).await;
    let open = world.store(&ana, "open").await;
    let shared = world.keep(&ana, world.shared(&ana, "shared")).await;
    let far = world.store(&there, "far").await;
    let ids = async |scope: &Scope| -> Vec<DiffId> {
        let diffs = world.diffs(scope).await;
        diffs.iter().map(|diff| diff.id).collect()
    };
    assert_eq!(ids(&ana).await, [private.diff, open.diff, shared.diff]);
    assert_eq!(ids(&bob).await, [open.diff, shared.diff]);
    assert_eq!(ids(&there).await, [shared.diff, far.diff]);
    assert_eq!(ids(&stranger).await, []);

    // What becomes visible is told with its past, what is hidden is told of no longer.
    let opened = world.revise(&private.cell, |cell| cell.visibility = Visibility::Shared);
    let hidden = world.revise(&open.cell, |cell| cell.visibility = Visibility::Private);
    let (first, second) = (opened.diff, hidden.diff);
    world.done(&ana, vec![revise(opened), revise(hidden)]).await;
    assert_eq!(
        ids(&ana).await,
        [private.diff, open.diff, shared.diff, first, second]
    );
    assert_eq!(ids(&bob).await, [private.diff, shared.diff, first]);
    assert_eq!(
        ids(&there).await,
        [private.diff, shared.diff, far.diff, first]
    );
    assert_eq!(ids(&stranger).await, []);
}

pub async fn a_diff_does_not_name_what_is_hidden(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let open = world.store(&ana, "open").await.cell;
    let hidden = world.keep(&ana, world.private(&ana, "hidden")).await.cell;
    let conflict = world.dispute(&ana, open.id, hidden.id).await;
    let close = Step::CloseConflict {
        id: conflict.id,
        verdict: Verdict::Right,
        reason: "the right one does".to_owned(),
        diff: DiffId::new(world.id()),
    };
    let mut superseded = world.revise(&open, |cell| cell.status = Status::Superseded);
    superseded.kind = DiffKind::Superseded;
    superseded.other = Some(hidden.id);
    world.done(&ana, vec![close, revise(superseded)]).await;
    let others: Vec<_> = world.diffs(&ana).await.iter().map(|d| d.other).collect();
    let other = Some(hidden.id);
    assert_eq!(others, [None, None, other, other, other]);
    for diff in world.diffs(&bob).await {
        assert_eq!((diff.cell, diff.other), (open.id, None));
    }
    // That the other one is gone is told to those who could see it only.
    let before = world.diffs(&bob).await;
    world.done(&ana, vec![world.erase(&hidden)]).await;
    assert_eq!(world.diffs(&bob).await, before);
    let others: Vec<_> = world.diffs(&ana).await.iter().map(|d| d.other).collect();
    assert_eq!(others, [None, None, other, other, other, None]);
}

pub async fn a_reader_of_diffs_misses_none_while_others_write(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let other = subject.again().await;
    let (one, two) = tokio::join!(
        write_and_read(&world, subject, &scope, "one"),
        write_and_read(&world, &*other, &scope, "two")
    );
    let all: Vec<DiffId> = world.diffs(&scope).await.iter().map(|d| d.id).collect();
    assert_eq!(all.len(), 60);
    for seen in [one, two] {
        assert_eq!(seen, all[..seen.len()], "each once, in the same order");
        assert!(seen.len() >= 30);
    }
}

async fn write_and_read(
    world: &World<'_>,
    subject: &dyn Subject,
    scope: &Scope,
    name: &str,
) -> Vec<DiffId> {
    let store = subject.memories();
    let mut seen = Vec::new();
    let mut after = Sequence(0);
    for n in 0..30 {
        let new = world.cell(scope, &format!("{name} {n}"));
        let done = world.commit_on(subject, scope, vec![insert(&new)]).await;
        assert!(done.unwrap().is_done());
        let newest = store.newest(scope.owner()).await.unwrap();
        let diffs = store.diffs(scope, after, &[], true, 1000).await.unwrap();
        seen.extend(diffs.iter().map(|diff| diff.id));
        let last = diffs.last().map_or(after, |diff| diff.sequence);
        assert!(newest <= last, "nothing was committed that is not told");
        after = last;
        assert!(seen.contains(&new.diff), "own writes are seen at once");
    }
    seen
}

pub async fn the_newest_place_is_that_of_the_last_write_of_the_tenant(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let stranger = world.stranger().await.in_project(project("p"));
    let (here, there) = (ana.in_project(project("p")), bob.in_project(project("q")));
    let store = subject.memories();
    let newest = async |scope: &Scope| store.newest(scope.owner()).await.unwrap();
    assert_eq!(newest(&here).await, Sequence(0));
    let mut last = Sequence(0);
    for n in 0..6 {
        let scope = [&here, &there][n % 2];
        let new = world.private(scope, &format!("{n}"));
        let done = world.done(scope, vec![insert(&new)]).await;
        assert!(last < done);
        last = done;
        assert_eq!((newest(&here).await, newest(&there).await), (last, last));
        let same = world.private(scope, &format!("{n}"));
        let stopped = world.commit(scope, vec![insert(&same)]).await;
        assert_eq!(stopped, Committed::Same(new.cell.id));
        world.store(&stranger, &format!("{n}")).await;
        assert_eq!(newest(&here).await, last, "others leave no trace");
    }
}
