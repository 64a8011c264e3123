//! Files and rows that are damaged.

use hyphae_testkit::contract::fixture::model;
use std::{fs, io::Write as _};

use hyphae_core::{
    cell::{Cell, Content},
    conflict::{Conflict, ConflictKind, Verdict},
    ids::{CellId, ConflictId, DiffId, EdgeId},
    ports::{AuditFilter, MemoryStore, Sequence, SessionError, Step, StoreError, Wanted, Write},
    relation::{Relation, RelationKind},
    scope::{Owner, Scope},
    session::PageSize,
};
use hyphae_store::{SqliteOptions, Store};
use hyphae_testkit::contract::{
    Subject,
    fixture::{World, insert, link, project, relate, revise, tags, topic},
};

use crate::{
    processes::{cell, entries, now, revision, write},
    subject::OnDisk,
};

/// A store with some of everything, closed, and who owns it.
async fn filled() -> (OnDisk, Owner) {
    let disk = OnDisk::new().await;
    let world = World::new(&disk).await;
    let owner = world.owner().await;
    let scope = owner.in_project(project("storm"));
    let session = world.session("/a");
    disk.sessions()
        .create_session(owner, &session)
        .await
        .unwrap();
    let mut last = None;
    for n in 0..60 {
        let mut new = cell(&scope, &format!("{n} {}", "some words ".repeat(n)));
        new.derived.links = last.into_iter().map(|id| link(id, 0.5)).collect();
        last = Some(world.keep(&scope, new).await.cell.id);
        disk.sessions()
            .append_transcript(owner, session.id, &entries(), None, world.now())
            .await
            .unwrap();
    }
    disk.store.close().await;
    (disk, owner)
}

/// Calls every verb and returns what went wrong. None may panic or report anything but damage.
async fn use_all(disk: &OnDisk, owner: Owner) -> Vec<StoreError> {
    let store = match Store::open_file(&disk.path(), SqliteOptions::default()).await {
        Ok(store) => store,
        Err(error) => return vec![error],
    };
    let subject = OnDisk {
        store,
        folder: disk.folder.clone(),
    };
    let scope = owner.in_project(project("storm"));
    let (memories, sessions) = (subject.memories(), subject.sessions());
    let mut wrong = Vec::new();
    let mut note = |result: Result<(), StoreError>| wrong.extend(result.err());
    note(memories.chosen_model(owner).await.map(drop));
    let changes = memories
        .changes(&scope, hyphae_core::ports::Sequence(0), 1000, &model())
        .await;
    let ids = changes
        .iter()
        .flatten()
        .map(|change| change.id)
        .collect::<Vec<_>>();
    note(changes.map(drop));
    note(memories.cells(&scope, &ids).await.map(drop));
    note(memories.links(&scope, &ids, &|_| false).await.map(drop));
    note(memories.statistics(owner).await.map(drop));
    note(memories.touch(&scope, &ids, jiff::Timestamp::now()).await);
    let found = memories.cells(&scope, &ids).await.unwrap_or_default();
    for write in writes_of_every_kind(&scope, &found) {
        note(memories.commit(&scope, &write).await.map(drop));
    }
    note(read_all(memories, &scope, &ids).await);
    let listed = sessions
        .sessions(owner, None, None, PageSize::default())
        .await;
    for session in listed.iter().flatten() {
        let page = PageSize::new(200).unwrap();
        let read = sessions
            .transcript(owner, session.id, 0, page)
            .await
            .map(drop);
        let now = jiff::Timestamp::now();
        let write = sessions
            .append_transcript(owner, session.id, &entries(), None, now)
            .await;
        for result in [read, write] {
            match result {
                Ok(()) | Err(SessionError::Damaged { .. }) => {}
                Err(SessionError::Store(error)) => note(Err(error)),
                Err(error) => panic!("{error:?}"),
            }
        }
    }
    match listed {
        Ok(_) => {}
        Err(SessionError::Store(error)) => note(Err(error)),
        Err(error) => panic!("{error:?}"),
    }
    let key = hyphae_core::credential::ApiKey::from_random([1; 32]);
    note(
        subject
            .credentials()
            .credential_of_key(&key)
            .await
            .map(drop),
    );
    note(
        subject
            .credentials()
            .credentials(owner.tenant)
            .await
            .map(drop),
    );
    subject.store.close().await;
    wrong
}

/// Writes with steps of every kind. Some of them stop; none may fail on a sound file.
fn writes_of_every_kind(scope: &Scope, cells: &[Cell]) -> Vec<Write> {
    let id = uuid::Uuid::now_v7;
    let mut new = cell(scope, "one more");
    new.cell.tags = tags(["a", "b"]);
    new.cell.topic = Some(topic("one"));
    let key = Step::Key {
        key: [7; 32],
        cell: new.cell.id,
    };
    let mut writes = vec![write(vec![insert(&new), key])];
    let [one, two, three, ..] = cells else {
        return writes;
    };
    let relation = Relation {
        id: EdgeId::new(id()),
        from: one.id,
        kind: RelationKind::Supports,
        to: two.id,
        weight: one.salience,
        author: scope.credential,
        created_at: now(),
        reason: None,
        active: true,
    };
    let conflict = Conflict {
        id: ConflictId::new(id()),
        left: one.id,
        right: three.id,
        kind: ConflictKind::Stated,
        why: None,
        opened_by: scope.credential,
        opened_at: now(),
        resolution: None,
    };
    let steps = [
        Step::Confirm {
            id: one.id,
            revision: one.revision,
            evidence: None,
        },
        relate(&relation),
        Step::SetRelation {
            id: relation.id,
            active: false,
        },
        Step::EraseRelation { id: relation.id },
        Step::OpenConflict {
            conflict: Box::new(conflict.clone()),
            diff: DiffId::new(id()),
        },
        Step::CloseConflict {
            id: conflict.id,
            verdict: Verdict::Both,
            reason: "why not".to_owned(),
            diff: DiffId::new(id()),
        },
        revise(revision(two, |cell| {
            cell.content = Content::new("another text").unwrap();
        })),
        Step::Erase {
            id: three.id,
            revision: three.revision,
            diff: DiffId::new(id()),
        },
    ];
    writes.extend(steps.map(|step| write(vec![step])));
    writes
}

/// Calls every verb that only reads and returns the first error.
async fn read_all(
    store: &dyn MemoryStore,
    scope: &Scope,
    ids: &[CellId],
) -> Result<(), StoreError> {
    let owner = scope.owner();
    for id in ids.iter().take(3) {
        store.history(scope, *id).await?;
    }
    store.relations(scope, ids, true).await?;
    store.confirmations(scope, ids).await?;
    store.open_conflicts(scope, ids, None, 9).await?;
    store.open_conflicts(scope, &[], None, 9).await?;
    store.diffs(scope, Sequence(0), &[], true, 999).await?;
    store.newest(owner).await?;
    store.cell_of_key(scope, &[7; 32]).await?;
    let visibility = hyphae_core::cell::Visibility::Project;
    store
        .cell_of_topic(scope, &topic("one"), visibility)
        .await?;
    for wanted in [Wanted::Cell, Wanted::Relation, Wanted::Conflict] {
        store.ids_beginning(scope, wanted, "0", 9).await?;
    }
    for wanted in [Wanted::Topic, Wanted::Tag, Wanted::Project] {
        store.names(scope, wanted, "", 9).await?;
    }
    let filter = AuditFilter {
        limit: 999,
        ..AuditFilter::default()
    };
    store.audit(owner, &filter).await.map(drop)
}

fn check_only_damage(wrong: &[StoreError], how: &str) {
    for error in wrong {
        // A page of nonsense may also break a rule of the tables, which SQLite reports as such.
        let is_damage = matches!(error, StoreError::Damaged { .. });
        let is_rule = matches!(error, StoreError::Unavailable { message, .. }
            if message.contains("SQLite reports error"));
        assert!(is_damage || is_rule, "{how}: {error:?}");
    }
}

#[tokio::test]
async fn a_sound_file_has_nothing_wrong() {
    let (disk, owner) = filled().await;
    assert!(use_all(&disk, owner).await.is_empty());
    crate::processes::agree(&disk.path()).await;
}

#[tokio::test]
async fn a_truncated_file_is_damaged() {
    let (disk, owner) = filled().await;
    let bytes = fs::read(disk.path()).unwrap();
    for share in [1, 5, 20, 50, 80, 99] {
        let length = bytes.len() * share / 100;
        fs::write(disk.path(), &bytes[..length]).unwrap();
        let wrong = use_all(&disk, owner).await;
        check_only_damage(&wrong, &format!("{share} %"));
        assert!(
            wrong
                .iter()
                .any(|e| matches!(e, StoreError::Damaged { .. })),
            "{share} %"
        );
        remove_log(&disk);
    }
}

fn remove_log(disk: &OnDisk) {
    for name in ["hyphae.db-wal", "hyphae.db-shm"] {
        fs::remove_file(disk.folder.path().join(name)).ok();
    }
}

#[tokio::test]
async fn a_page_of_nonsense_is_damage_and_never_a_panic() {
    let (disk, owner) = filled().await;
    let sound = fs::read(disk.path()).unwrap();
    let pages = sound.len() / 8192;
    assert!(pages > 20);
    let mut damaged = 0;
    for page in 1..pages {
        let mut bytes = sound.clone();
        for (at, byte) in bytes[page * 8192..(page + 1) * 8192].iter_mut().enumerate() {
            *byte = (at * 31 + page * 7) as u8;
        }
        fs::write(disk.path(), &bytes).unwrap();
        let wrong = use_all(&disk, owner).await;
        check_only_damage(&wrong, &format!("page {page}"));
        damaged += usize::from(!wrong.is_empty());
        remove_log(&disk);
    }
    assert!(damaged > pages / 3, "{damaged} of {pages}");
}

#[tokio::test]
async fn a_damaged_log_loses_no_more_than_its_end() {
    let disk = OnDisk::new().await;
    let world = World::new(&disk).await;
    let scope = world.owner().await.in_project(project("p"));
    let first = world.store(&scope, "first").await;
    world.store(&scope, "second").await;
    let copy = OnDisk {
        store: disk.store.clone(),
        folder: std::sync::Arc::new(tempfile::tempdir().unwrap()),
    };
    fs::copy(disk.path(), copy.path()).unwrap();
    let log = fs::read(disk.folder.path().join("hyphae.db-wal")).unwrap();
    let mut file = fs::File::create(copy.folder.path().join("hyphae.db-wal")).unwrap();
    file.write_all(&log[..log.len() - 100]).unwrap();
    file.write_all(&[0x55; 100]).unwrap();
    let again = copy.again().await;
    let found = again
        .memories()
        .cells(&scope, &[first.cell.id])
        .await
        .unwrap();
    assert_eq!(found, [first.cell]);
    crate::processes::agree(&copy.path()).await;
}

#[tokio::test]
async fn a_damaged_transcript_sets_its_session_aside_and_no_other() {
    for (what, sql) in [
        (
            "an event",
            "update transcript set event = '{\"unheard\":1}' where position = 1",
        ),
        (
            "no JSON",
            "update transcript set event = '{' where position = 2",
        ),
        (
            "no text",
            "update transcript set event = cast(x'ff' as text) where position = 0",
        ),
        ("a gap", "delete from transcript where position = 1"),
        ("an end", "delete from transcript where position = 2"),
        ("all", "delete from transcript"),
    ] {
        let disk = OnDisk::new().await;
        let world = World::new(&disk).await;
        let owner = world.owner().await;
        let broken = world.session("/a");
        let sound = world.session("/a");
        let store = disk.sessions();
        store.create_session(owner, &broken).await.unwrap();
        store
            .append_transcript(owner, broken.id, &entries(), None, world.now())
            .await
            .unwrap();
        disk.run(sql).await;
        store.create_session(owner, &sound).await.unwrap();
        store
            .append_transcript(owner, sound.id, &entries(), None, world.now())
            .await
            .unwrap();

        let page = PageSize::default();
        let read = store.transcript(owner, broken.id, 0, page).await;
        let Err(SessionError::Damaged { id, reason }) = read else {
            panic!("{what}: {read:?}");
        };
        assert_eq!((id, reason.contains("unheard")), (broken.id, false));
        assert_eq!(
            store
                .transcript(owner, sound.id, 0, page)
                .await
                .unwrap()
                .len(),
            3
        );
        assert_eq!(
            store.sessions(owner, None, None, page).await.unwrap().len(),
            2
        );
        store.delete_session(owner, broken.id).await.unwrap();
        assert_eq!(
            store.sessions(owner, None, None, page).await.unwrap().len(),
            1
        );
    }
}

#[tokio::test]
async fn a_damaged_session_does_not_hide_the_others() {
    let disk = OnDisk::new().await;
    let world = World::new(&disk).await;
    let owner = world.owner().await;
    let store = disk.sessions();
    let mut all = Vec::new();
    for n in 0..9 {
        let mut session = world.session("/a");
        session.title = Some(format!("{n}"));
        store.create_session(owner, &session).await.unwrap();
        all.push(session);
    }
    disk.run(
        "update sessions set title = cast(x'ff' as text) where title in ('2', '5');
         update sessions set created_at = 9000000000000000000 where title in ('6', '7');
         update sessions set project = cast(x'c328' as text) where title = '0'",
    )
    .await;
    let sound = [1, 3, 4, 8].map(|n: usize| all[n].clone());
    for cwd in [None, Some(std::path::Path::new("/a"))] {
        for size in [1, 2, 3, 4] {
            let mut read = Vec::new();
            let mut after = None;
            loop {
                let page = PageSize::new(size).unwrap();
                let found = store.sessions(owner, cwd, after, page).await.unwrap();
                let Some(last) = found.last() else { break };
                after = Some(last.id);
                read.extend(found);
            }
            read.reverse();
            assert_eq!(read, sound, "pages of {size}");
        }
    }
    let found = store.session(owner, all[2].id).await;
    assert!(
        matches!(found, Err(SessionError::Damaged { .. })),
        "{found:?}"
    );
}

#[tokio::test]
async fn a_damaged_row_of_a_memory_is_damage() {
    for (what, sql) in [
        (
            "facts",
            "update recall_entries set facts = substr(facts, 1, 70)",
        ),
        (
            "longer",
            "update recall_entries set facts = cast(x'ff0f0000' || substr(facts, 5) as blob)",
        ),
        ("vector", "update recall_entries set vector = x'01'"),
        ("content", "update cells set content = '  '"),
        ("no text", "update cells set content = cast(x'ff' as text)"),
        ("time", "update cells set updated_at = 9000000000000000000"),
    ] {
        let disk = OnDisk::new().await;
        let world = World::new(&disk).await;
        let scope = world.owner().await.in_project(project("p"));
        let id = world.store(&scope, "some text").await.cell.id;
        disk.run(sql).await;
        let all = hyphae_core::ports::Sequence(0);
        let results = [
            disk.memories()
                .changes(&scope, all, 9, &model())
                .await
                .map(drop),
            disk.memories().cells(&scope, &[id]).await.map(drop),
        ];
        let errors: Vec<StoreError> = results.into_iter().filter_map(Result::err).collect();
        assert!(
            matches!(errors[..], [StoreError::Damaged { .. }]),
            "{what}: {errors:?}"
        );
    }
}
