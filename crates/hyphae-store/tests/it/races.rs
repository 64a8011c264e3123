//! Processes that want the same cell, and writes that come to nothing.

use hyphae_testkit::contract::fixture::model;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    time::Duration,
};

use hyphae_core::{
    cell::{Cell, Content, Share},
    conflict::{Conflict, ConflictKind},
    ids::{CellId, ConflictId, DiffId, EdgeId},
    ports::{Committed, MemoryStore, NewCell, Sequence, Step},
    relation::{Relation, RelationKind},
    scope::Scope,
};
use hyphae_store::Store;
use hyphae_testkit::contract::{
    Subject,
    fixture::{World, insert, link, project, relate, revise, tags, topic},
};
use uuid::Uuid;

use crate::{
    processes::{agree, cell, now, revision, spin, write},
    subject::OnDisk,
    worker::{Process, Said, Work},
};

/// Changes a cell until it is at a revision, and tells each change that was its own.
pub(crate) async fn change(
    store: &Store,
    scope: &Scope,
    id: CellId,
    until: u32,
    mut won: impl FnMut(u32),
) {
    loop {
        let cell = store.cells(scope, &[id]).await.unwrap().remove(0);
        if cell.revision >= until {
            return;
        }
        let next = revision(&cell, |cell| {
            cell.content =
                Content::new(&format!("{} by {}", cell.revision, Uuid::now_v7())).unwrap();
            cell.tags = if cell.revision % 2 == 0 {
                tags(["even"])
            } else {
                tags(["odd", "more"])
            };
        });
        let revision = next.cell.revision;
        let done = store.commit(scope, &write(vec![revise(next)])).await;
        let done = done.unwrap();
        if done.is_done() {
            won(revision);
        } else {
            assert_eq!(done, Committed::Changed(id));
        }
    }
}

#[tokio::test]
async fn of_four_processes_that_change_a_cell_each_revision_is_won_by_one() {
    const UNTIL: u32 = 120;
    let disk = OnDisk::new().await;
    let world = World::new(&disk).await;
    let owner = world.owner().await;
    let scope = owner.in_project(project("storm"));
    let id = world.store(&scope, "one").await.cell.id;
    let processes: Vec<Process> = (0..4)
        .map(|_| {
            let work = Work::Change {
                owner: (owner.tenant, owner.credential),
                cell: id,
                until: UNTIL,
            };
            Process::start(&disk.path(), work)
        })
        .collect();
    let mut won: Vec<u32> = Vec::new();
    for process in processes {
        for said in process.finish() {
            if let Said::Kept(_, revision) = said {
                won.push(revision);
            }
        }
    }
    won.sort_unstable();
    assert_eq!(won, (2..=UNTIL).collect::<Vec<_>>());
    let history = disk.memories().history(&scope, id).await.unwrap();
    let kept: Vec<u32> = history.iter().map(|past| past.cell.revision).collect();
    assert_eq!(kept, (1..UNTIL).collect::<Vec<_>>());
    let times = history.iter().map(|past| past.replaced_at);
    assert!(times.is_sorted());
    assert_eq!(world.diffs(&scope).await.len(), UNTIL as usize);
    assert_eq!(world.audited(owner).await.len(), UNTIL as usize);
    agree(&disk.path()).await;
}

/// A new cell with a topic, tags and links, and steps that lay all else beside it.
fn full(scope: &Scope, text: &str, others: &[CellId]) -> (NewCell, Vec<Step>) {
    let mut new = cell(scope, text);
    new.cell.topic = Some(topic(text));
    new.cell.tags = tags(["all", "of", "them"]);
    new.derived.links = others.iter().map(|other| link(*other, 0.5)).collect();
    let id = new.cell.id;
    let mut steps = vec![
        insert(&new),
        Step::Key {
            key: new.cell.content.fingerprint().0,
            cell: id,
        },
        Step::Confirm {
            id,
            revision: 1,
            evidence: Some("seen".to_owned()),
        },
    ];
    for other in others {
        steps.push(relate(&Relation {
            id: EdgeId::new(Uuid::now_v7()),
            from: id,
            kind: RelationKind::Contradicts,
            to: *other,
            weight: Share::HALF,
            author: scope.credential,
            created_at: now(),
            reason: None,
            active: true,
        }));
        steps.push(Step::OpenConflict {
            conflict: Box::new(Conflict {
                id: ConflictId::new(Uuid::now_v7()),
                left: id,
                right: *other,
                kind: ConflictKind::Stated,
                why: None,
                opened_by: scope.credential,
                opened_at: now(),
                resolution: None,
            }),
            diff: DiffId::new(Uuid::now_v7()),
        });
    }
    (new, steps)
}

fn erase(cell: &Cell) -> Step {
    Step::Erase {
        id: cell.id,
        revision: cell.revision,
        diff: DiffId::new(Uuid::now_v7()),
    }
}

/// Stores cells and erases each when three more are there, without end.
pub(crate) async fn store_and_erase(
    store: &Store,
    scope: &Scope,
    name: &str,
    mut say: impl FnMut(Said),
) {
    let mut alive: Vec<Cell> = Vec::new();
    for n in 0.. {
        let others: Vec<CellId> = alive.iter().map(|cell| cell.id).collect();
        let (new, steps) = full(scope, &format!("{name} {n}"), &others);
        let done = store.commit(scope, &write(steps)).await.unwrap();
        assert!(done.is_done(), "{done:?}");
        say(Said::Kept(new.cell.id, 1));
        let next = revision(&new.cell, |cell| {
            cell.content = Content::new(&format!("{name} {n} anew")).unwrap();
        });
        let changed = next.cell.clone();
        let done = store.commit(scope, &write(vec![revise(next)])).await;
        assert!(done.unwrap().is_done());
        say(Said::Kept(changed.id, 2));
        alive.push(changed);
        if alive.len() > 3 {
            let oldest = alive.remove(0);
            let done = store.commit(scope, &write(vec![erase(&oldest)])).await;
            assert!(done.unwrap().is_done());
            say(Said::Erased(oldest.id));
        }
    }
}

#[tokio::test]
async fn what_is_erased_stays_erased_when_a_process_is_killed() {
    let rounds = std::env::var("HYPHAE_STORM_ROUNDS").map_or(6, |text| text.parse().unwrap());
    let disk = OnDisk::new().await;
    let world = World::new(&disk).await;
    let owner = world.owner().await;
    let scope = owner.in_project(project("storm"));
    let mut kept: BTreeMap<CellId, u32> = BTreeMap::new();
    let mut erased: BTreeSet<CellId> = BTreeSet::new();
    for round in 0_u64..rounds {
        let mut process = Process::start(
            &disk.path(),
            Work::Erase {
                owner: (owner.tenant, owner.credential),
                name: format!("{round}"),
            },
        );
        let mut said = Vec::new();
        for _ in 0..12 + round * 5 {
            said.extend(process.next());
        }
        // Somewhere within the next write, which are in turn of three kinds.
        spin(Duration::from_micros(round * 1777 % 5000));
        said.extend(process.kill());
        for said in said {
            match said {
                Said::Kept(id, revision) => {
                    kept.insert(id, revision);
                }
                Said::Erased(id) => {
                    erased.insert(id);
                }
                Said::Tenant(_) | Said::Entries(..) | Said::Failed(_) | Said::Done => {
                    panic!("{said:?}");
                }
            }
        }
        agree(&disk.path()).await;
        let again = disk.again().await;
        let ids: Vec<CellId> = kept.keys().copied().collect();
        let found = again.memories().cells(&scope, &ids).await.unwrap();
        let found: BTreeMap<CellId, u32> =
            found.iter().map(|cell| (cell.id, cell.revision)).collect();
        let chosen = model();
        let changes = again
            .memories()
            .changes(&scope, Sequence(0), usize::MAX, &chosen);
        let told: BTreeMap<CellId, bool> = (changes.await.unwrap().iter())
            .map(|change| (change.id, change.entry.is_some()))
            .collect();
        for (id, revision) in &kept {
            match found.get(id) {
                Some(there) => assert!(there >= revision && told[id], "{id}"),
                None => assert!(!told[id], "{id}"),
            }
            assert!(!(erased.contains(id) && found.contains_key(id)), "{id}");
        }
        // The last that was said before the end may have been followed by one more.
        let gone = kept.len() - found.len();
        assert!(gone - erased.len() <= 1 + round as usize, "{gone}");
    }
    assert!(erased.len() as u64 >= rounds);
}

#[tokio::test]
async fn a_write_that_stops_leaves_the_file_as_it_was_to_the_last_byte() {
    let disk = OnDisk::new().await;
    let world = World::new(&disk).await;
    let owner = world.owner().await;
    let scope = owner.in_project(project("storm"));
    let one = world.store(&scope, "one").await.cell;
    let two = world.store(&scope, "two").await.cell;
    let relation = world.relate(&scope, one.id, RelationKind::Related, two.id);
    let relation = relation.await;
    let conflict = world.dispute(&scope, one.id, two.id).await;
    disk.store.close().await;
    let before = fs::read(disk.path()).unwrap();

    let disk = OnDisk {
        store: disk.open().await.unwrap(),
        folder: disk.folder.clone(),
    };
    let (_, mut steps) = full(&scope, "three", &[one.id]);
    let next = revision(&one, |cell| {
        cell.content = Content::new("one anew").unwrap();
    });
    steps.extend([
        Step::SetRelation {
            id: relation.id,
            active: false,
        },
        Step::CloseConflict {
            id: conflict.id,
            verdict: hyphae_core::conflict::Verdict::Left,
            reason: "so".to_owned(),
            diff: DiffId::new(Uuid::now_v7()),
        },
        revise(next),
        Step::EraseRelation { id: relation.id },
        erase(&two),
        // It is gone by now.
        erase(&two),
    ]);
    let mut elsewhere = write(steps);
    elsewhere.reason = Some("none".to_owned());
    // A project that nothing was ever filed under is not made either.
    let done = disk.memories().commit(&scope, &elsewhere).await.unwrap();
    assert_eq!(done, Committed::Changed(two.id));
    let new_project = owner.in_project(project("never seen"));
    let gone = write(vec![erase(&one)]);
    let done = disk.memories().commit(&new_project, &gone).await.unwrap();
    assert_eq!(done, Committed::Changed(one.id));
    disk.store.close().await;
    assert!(fs::read(disk.path()).unwrap() == before);
}
