//! Several processes on one file, and processes that end in the middle of a write.
//!
//! `HYPHAE_STORM_ROUNDS` makes the storm of kills longer than its few rounds.

use std::{collections::BTreeMap, path::Path, time::Duration};

use hyphae_core::{
    agent::AgentEvent,
    audit::Action,
    cell::{Cell, Content},
    diff::DiffKind,
    ids::{AuditId, CellId, DiffId, MessageId, SessionId, TurnId},
    ports::{CredentialStore, NewCell, Revision, SessionStore, Step, StoreError, Write},
    scope::{Owner, Scope},
    session::{Session, TranscriptEntry, TranscriptEvent},
};
use hyphae_store::{SqliteOptions, Store};
use hyphae_testkit::{
    contract::{
        Subject,
        fixture::{World, derived, project},
    },
    made_up,
};
use jiff::Timestamp;
use uuid::Uuid;

use crate::{
    subject::{OnDisk, connect},
    worker::{Process, Said, Work},
};

/// Makes a cell up that no other process makes up too.
pub(crate) fn cell(scope: &Scope, text: &str) -> NewCell {
    let content = Content::new(text).unwrap();
    NewCell {
        derived: derived(&content),
        cell: made_up::fact(scope, CellId::new(Uuid::now_v7()), now(), content),
        diff: DiffId::new(Uuid::now_v7()),
    }
}

/// Makes the next state of a cell up that no other process makes up too.
pub(crate) fn revision(cell: &Cell, change: impl FnOnce(&mut Cell)) -> Revision {
    let mut next = cell.clone();
    next.revision += 1;
    next.updated_at = now();
    change(&mut next);
    Revision {
        derived: (next.content != cell.content).then(|| derived(&next.content)),
        cell: next,
        kind: DiffKind::Updated,
        other: None,
        diff: DiffId::new(Uuid::now_v7()),
    }
}

/// Makes a write up that no other process makes up too.
pub(crate) fn write(steps: Vec<Step>) -> Write {
    made_up::write(AuditId::new(Uuid::now_v7()), Action::Update, now(), steps)
}

pub(crate) fn now() -> Timestamp {
    Timestamp::from_microsecond(Timestamp::now().as_microsecond()).unwrap()
}

/// Three entries that belong together.
pub(crate) fn entries() -> [TranscriptEntry; 3] {
    let turn = TurnId::new(Uuid::now_v7());
    let message = MessageId::new(Uuid::now_v7());
    ["one", "two", "three"].map(|text| TranscriptEntry {
        turn,
        event: TranscriptEvent::Agent(AgentEvent::Message {
            message,
            text: text.to_owned(),
        }),
    })
}

async fn session(store: &Store, owner: Owner) -> SessionId {
    let at = Timestamp::UNIX_EPOCH;
    let session = Session {
        id: SessionId::new(Uuid::now_v7()),
        cwd: "/storm".into(),
        project: project("storm"),
        title: None,
        created_at: at,
        updated_at: at,
    };
    store.create_session(owner, &session).await.unwrap();
    session.id
}

async fn length(store: &Store, owner: Owner, id: SessionId) -> u64 {
    let page = hyphae_core::session::PageSize::new(200).unwrap();
    let mut read = 0;
    loop {
        let found = store.transcript(owner, id, read, page).await.unwrap();
        if found.is_empty() {
            return read;
        }
        read += found.len() as u64;
    }
}

#[tokio::test]
async fn of_ten_processes_that_make_the_database_at_once_all_find_the_same_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/hyphae.db");
    let processes: Vec<Process> = (0..10)
        .map(|_| Process::start(&path, Work::Create))
        .collect();
    let mut tenants: Vec<_> = processes
        .into_iter()
        .map(|process| process.finish()[0].clone())
        .collect();
    tenants.dedup();
    let store = Store::open_file(&path, SqliteOptions::default())
        .await
        .unwrap();
    assert_eq!(
        tenants,
        [Said::Tenant(store.default_tenant().await.unwrap())]
    );
    let left: Vec<String> = std::fs::read_dir(folder.path().join("new"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".new"))
        .collect();
    assert_eq!(left, [""; 0], "no draft stays behind");
}

#[tokio::test]
async fn a_process_that_is_killed_while_it_makes_the_database_leaves_none_or_all_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hyphae.db");
    for round in 0..10 {
        let process = Process::start(&path, Work::Create);
        spin(Duration::from_micros(1000 + 700 * round));
        process.kill();
        match Store::open_file(&path, SqliteOptions::default()).await {
            Ok(store) => drop(store.default_tenant().await.unwrap()),
            Err(error) => assert!(matches!(error, StoreError::Missing { .. }), "{error:?}"),
        }
    }
    let made = Store::create_file(&path, SqliteOptions::default()).await;
    made.unwrap().default_tenant().await.unwrap();
}

#[tokio::test]
async fn four_processes_store_at_once_and_nothing_is_lost() {
    let disk = OnDisk::new().await;
    let world = World::new(&disk).await;
    let owner = world.owner().await;
    let mut processes = Vec::new();
    for n in 0..4 {
        let session = session(&disk.store, owner).await;
        let work = Work::Store {
            owner: (owner.tenant, owner.credential),
            session,
            name: format!("process {n}"),
            cells: 250,
        };
        processes.push(Process::start(&disk.path(), work));
    }
    let mut kept = Kept::default();
    for process in processes {
        kept.note(process.finish());
    }
    assert_eq!(kept.cells.len(), 1000);
    assert!(kept.sessions.values().all(|entries| *entries == 750));
    kept.check(&disk, owner).await;
    let recallable = world.recallable(&owner.in_project(project("storm"))).await;
    assert_eq!(recallable.len(), 1000);
}

#[tokio::test]
async fn nothing_acknowledged_is_lost_when_a_process_is_killed() {
    let rounds = std::env::var("HYPHAE_STORM_ROUNDS").map_or(4, |text| text.parse().unwrap());
    let disk = OnDisk::new().await;
    let world = World::new(&disk).await;
    let owner = world.owner().await;
    let mut kept = Kept::default();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    for round in 0..rounds {
        // Two at a time, so that one lives on while the other dies.
        let mut processes = Vec::new();
        for name in ["left", "right"] {
            let session = session(&disk.store, owner).await;
            let work = Work::Store {
                owner: (owner.tenant, owner.credential),
                session,
                name: format!("{name} {round}"),
                cells: 1_000_000,
            };
            processes.push(Process::start(&disk.path(), work));
        }
        for mut process in processes {
            for _ in 0..=random(30) {
                kept.note(process.next());
            }
            spin(Duration::from_micros(random(3000)));
            kept.note(process.kill());
        }
        kept.check(&disk, owner).await;
    }
    assert!(kept.cells.len() >= rounds);
}

/// Passes a moment that is shorter than the system's clock for sleepers.
pub(crate) fn spin(time: Duration) {
    let start = std::time::Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// What processes were told is kept.
#[derive(Debug, Default)]
struct Kept {
    cells: BTreeMap<CellId, u32>,
    sessions: BTreeMap<SessionId, u64>,
}

impl Kept {
    fn note(&mut self, said: impl IntoIterator<Item = Said>) {
        for said in said {
            match said {
                Said::Kept(id, revision) => {
                    self.cells.insert(id, revision);
                }
                Said::Entries(id, entries) => {
                    self.sessions.insert(id, entries);
                }
                Said::Tenant(_) | Said::Erased(_) | Said::Failed(_) | Said::Done => {}
            }
        }
    }

    /// Opens the file anew and finds everything there, and all of it in agreement.
    async fn check(&self, disk: &OnDisk, owner: Owner) {
        let store = Store::open_file(&disk.path(), SqliteOptions::default())
            .await
            .unwrap();
        let scope = owner.in_project(project("storm"));
        let ids: Vec<CellId> = self.cells.keys().copied().collect();
        let found = disk
            .again()
            .await
            .memories()
            .cells(&scope, &ids)
            .await
            .unwrap();
        let found: BTreeMap<CellId, u32> =
            found.iter().map(|cell| (cell.id, cell.revision)).collect();
        for (id, revision) in &self.cells {
            assert!(found.get(id) >= Some(revision), "{id} at {revision}");
        }
        for (id, entries) in &self.sessions {
            let there = length(&store, owner, *id).await;
            assert!(there >= *entries && there % 3 == 0, "{there} of {entries}");
        }
        store.close().await;
        agree(&disk.path()).await;
    }
}

/// Checks that the tables agree with each other.
pub(crate) async fn agree(path: &Path) {
    agree_after(path, 0).await;
}

/// The same for a file that was not audited up to a place in its order of changes.
pub(crate) async fn agree_after(path: &Path, unaudited: i64) {
    let mut connection = connect(path).await;
    let sound: Vec<String> = sqlx::query_scalar("pragma integrity_check")
        .fetch_all(&mut connection)
        .await
        .unwrap();
    assert_eq!(sound, ["ok"]);
    let orphans = sqlx::query("pragma foreign_key_check")
        .fetch_all(&mut connection)
        .await
        .unwrap();
    assert!(orphans.is_empty(), "{} orphans", orphans.len());
    for (what, sql) in [
        (
            "cells without a recall entry of their text and status",
            "select count(*) from cells c where not exists (
                 select 1 from recall_entries e
                 where e.tenant_id = c.tenant_id and e.project_no = c.project_no
                 and e.sequence = c.sequence and e.cell_id = c.cell_id
                 and e.facts is not null and e.visibility = c.visibility and e.author = c.author
                 and substr(e.facts, 29, 32) = c.fingerprint
                 and substr(e.facts, 61, 1) = unhex(printf('%02x', c.status)))",
        ),
        (
            "recall entries of no cell",
            "select count(*) from recall_entries e where facts is not null and not exists (
                 select 1 from cells c
                 where c.tenant_id = e.tenant_id and c.cell_id = e.cell_id
                 and c.sequence = e.sequence)",
        ),
        (
            "tombstones of cells that are there",
            "select count(*) from recall_entries e where facts is null and exists (
                 select 1 from cells c
                 where c.tenant_id = e.tenant_id and c.cell_id = e.cell_id)",
        ),
        (
            "cells with two recall entries",
            "select count(*) from (select 1 from recall_entries
                 group by tenant_id, cell_id having count(*) > 1)",
        ),
        (
            "cells without one diff for each revision",
            "select count(*) from cells c where revision <> (
                 select count(*) from diffs d
                 where d.tenant_id = c.tenant_id and d.cell_id = c.cell_id
                 and d.kind not in (3, 9))",
        ),
        (
            "cells without a state for each revision",
            "select count(*) from cells c where revision - 1 <> (
                 select count(*) from revisions r
                 where r.tenant_id = c.tenant_id and r.cell_id = c.cell_id)",
        ),
        (
            "links of no cell",
            "select count(*) from edges e where not exists (
                 select 1 from cells c where c.tenant_id = e.tenant_id and c.cell_id = e.src)
             or not exists (
                 select 1 from cells c where c.tenant_id = e.tenant_id and c.cell_id = e.dst)",
        ),
        (
            "cells with more links than their layer allows",
            "select count(*) from (select 1 from edges where kind = 0
                 group by tenant_id, src having count(*) > 24)",
        ),
        (
            "tags that are not those of an active cell",
            "select count(*) from cell_tags t where not exists (
                 select 1 from cells c
                 where c.tenant_id = t.tenant_id and c.cell_id = t.cell_id and c.status = 0
                 and c.project_no = t.project_no and c.author = t.author
                 and c.visibility = t.visibility
                 and instr(',' || c.tags || ',', ',' || t.tag || ',') > 0)",
        ),
        (
            "active cells with more or fewer tags than are noted",
            "select count(*) from cells c where status = 0 and (
                 select count(*) from cell_tags t
                 where t.tenant_id = c.tenant_id and t.project_no = c.project_no
                 and t.cell_id = c.cell_id
             ) <> iif(tags = '', 0, 1 + length(tags) - length(replace(tags, ',', '')))",
        ),
        (
            "diffs that no row of the audit has",
            "select count(*) from diffs d where not exists (
                 select 1 from audit_subjects s join audit a
                     on a.tenant_id = s.tenant_id and a.audit_id = s.audit_id
                 where s.tenant_id = d.tenant_id and s.subject = d.diff_id
                 and instr(hex(a.diffs), hex(d.diff_id)) > 0)
             and d.sequence > $1",
        ),
        (
            "sessions whose transcript has another length",
            "select count(*) from sessions s where entries <> (
                 select count(*) from transcript t
                 where t.tenant_id = s.tenant_id and t.owner = s.owner
                 and t.session_id = s.session_id)",
        ),
        (
            "changes after the last",
            "select count(*) from tenants t where sequence < (
                 select coalesce(max(sequence), 0) from recall_entries e
                 where e.tenant_id = t.tenant_id)
             or sequence < (
                 select coalesce(max(sequence), 0) from diffs d
                 where d.tenant_id = t.tenant_id)",
        ),
    ] {
        let count: i64 = sqlx::query_scalar(sql)
            .bind(unaudited)
            .fetch_one(&mut connection)
            .await
            .unwrap();
        assert_eq!(count, 0, "{what}");
    }
}
