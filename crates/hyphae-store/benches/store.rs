//! How fast the store is: `cargo bench -p hyphae-store`.
//!
//! Makes a store of `HYPHAE_BENCH_CELLS` cells (default 200,000; 1,000,000 for the figures in the
//! README) in a temporary folder: projects of 1,400, 10,000 and 100,000 cells, the rest spread
//! over a thousand projects, all written interleaved. Every figure stands beside the same work
//! in plain SQL. `HYPHAE_BENCH_DIR` chooses another folder, for example on a real disk.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench prints and stops at the first error"
)]

use std::{
    fs::File,
    path::Path,
    time::{Duration, Instant},
};

use hyphae_core::{
    audit::Action,
    cell::{Content, Status},
    credential::{ApiKey, Credential},
    diff::DiffKind,
    ids::{AuditId, CellId, CredentialId, DiffId},
    ports::{
        AuditFilter, ChosenModel, Committed, CredentialStore, Derived, Link, MemoryStore, NewCell,
        NewLink, Revision, Sequence, Step, Wanted,
    },
    recall::{Term, Terms, Vector},
    scope::{Owner, Project, Scope},
};
use hyphae_store::{SqliteOptions, Store};
use hyphae_testkit::made_up;
use jiff::Timestamp;
use sqlx::{ConnectOptions, Connection, Row, sqlite::SqliteConnectOptions};
use uuid::Uuid;

const DIMENSION: usize = 384;
const SAMPLES: u64 = 1000;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let cells: i64 =
        std::env::var("HYPHAE_BENCH_CELLS").map_or(200_000, |text| text.parse().unwrap());
    let folder = match std::env::var_os("HYPHAE_BENCH_DIR") {
        Some(folder) => tempfile::tempdir_in(folder).unwrap(),
        None => tempfile::tempdir().unwrap(),
    };
    let path = folder.path().join("bench.db");
    let owner = begin(&path).await;
    let started = Instant::now();
    fill(&path, owner, cells).await;
    println!(
        "{cells} cells, {} MB, made in {:.0} s",
        std::fs::metadata(&path).unwrap().len() / 1_000_000,
        started.elapsed().as_secs_f64()
    );

    opening(&path).await;
    for (name, size) in [("small", 1_400), ("medium", 10_000), ("large", 100_000)] {
        changes(&path, &owner.in_project(project(name)), size).await;
    }
    no_change(&path, &owner.in_project(project("medium"))).await;
    inserts(&path, &owner.in_project(project("medium"))).await;
    life(&path, &owner.in_project(project("medium"))).await;
    plain_inserts(folder.path()).await;
}

fn project(name: &str) -> Project {
    Project::named(&format!("/srv/{name}")).unwrap()
}

/// Makes the store and a thousand cells of ordinary size, whose rows are copied later.
async fn begin(path: &Path) -> Owner {
    let store = Store::create_file(path, SqliteOptions::default())
        .await
        .unwrap();
    let tenant = store.default_tenant().await.unwrap();
    let credential = Credential {
        id: CredentialId::new(Uuid::now_v7()),
        tenant,
        name: "bench".to_owned(),
        created_at: Timestamp::now(),
        revoked_at: None,
    };
    let key = ApiKey::from_random([7; 32]);
    store.add_credential(&credential, &key).await.unwrap();
    let owner = Owner {
        tenant,
        credential: credential.id,
    };
    let scope = owner.in_project(project("samples"));
    for n in 0..SAMPLES {
        commit(&store, &scope, Step::Insert(Box::new(cell(&scope, n)))).await;
    }
    store.close().await;
    owner
}

fn model() -> ChosenModel {
    ChosenModel {
        id: "bench/1".to_owned(),
        dimension: DIMENSION,
    }
}

/// A cell of about 25 words, with a vector and the words of its surroundings.
fn cell(scope: &Scope, n: u64) -> NewCell {
    let mut state = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let words: Vec<u64> = (0..15 + random() % 20).map(|_| random() % 20_000).collect();
    let text: Vec<String> = words.iter().map(|word| format!("w{word}")).collect();
    let text = format!("{} {n}", text.join(" "));
    let content = Content::new(&text).unwrap();
    let vector: Vec<f32> = (0..DIMENSION)
        .map(|_| (random() % 2001) as f32 / 1000.0 - 1.0)
        .collect();
    let terms = Terms::count(
        words
            .iter()
            .map(|word| Term(word.wrapping_mul(0x9e37_79b9_7f4a_7c15))),
    );
    let vector = Vector::quantise(&vector);
    NewCell {
        derived: Derived {
            embedded_text: format!("somebody (2026-01-01): {text}"),
            context: Terms::count((0..20).map(|_| Term(random()))),
            ..made_up::derived(&content, model(), vector, terms)
        },
        cell: made_up::fact(
            scope,
            CellId::new(Uuid::now_v7()),
            Timestamp::now(),
            content,
        ),
        diff: DiffId::new(Uuid::now_v7()),
    }
}

/// Carries out one step, which must go through.
async fn commit(store: &Store, scope: &Scope, step: Step) {
    let id = AuditId::new(Uuid::now_v7());
    let write = made_up::write(id, Action::Store, Timestamp::now(), vec![step]);
    let done = store.commit(scope, &write).await.unwrap();
    assert!(matches!(done, Committed::Done(_)), "{done:?}");
}

/// Copies the samples until there are enough cells. Neighbours in time belong to different
/// projects, as they do when many people work at once.
async fn fill(path: &Path, owner: Owner, cells: i64) {
    let mut connection = SqliteConnectOptions::new()
        .filename(path)
        .disable_statement_logging()
        .connect()
        .await
        .unwrap();
    let tenant = owner.tenant.uuid().as_bytes().to_vec();
    for statement in [
        "pragma synchronous = off",
        "create temp table numbers as
         with recursive numbers (n) as (select 1 union all select n + 1 from numbers limit 1100000)
         select n from numbers",
        "create temp table samples as
         select row_number() over () as k, vector, facts from recall_entries",
        "create index temp.samples_by_k on samples (k)",
    ] {
        sqlx::raw_sql(statement)
            .execute(&mut connection)
            .await
            .unwrap();
    }
    let names = ["small", "medium", "large"].map(project);
    for (name, number) in names.iter().zip(2_i64..) {
        sqlx::query("insert into projects (tenant_id, project_no, name) values ($1, $2, $3)")
            .bind(&tenant)
            .bind(number)
            .bind(name.as_str())
            .execute(&mut connection)
            .await
            .unwrap();
    }
    for statement in [
        "insert into projects (tenant_id, project_no, name)
         select $1, 100 + n, '/other/' || n from numbers where n <= 1000 and $2 > 0",
        // n * 7919 modulo a prime spreads projects over time; ranges of it are projects.
        "insert into recall_entries (tenant_id, project_no, sequence, cell_id, author, visibility,
             reach, model_no, vector, facts)
         select $1,
             case when n * 7919 % 1000003 <= 1400 * 1000003 / $2 then 2
                  when n * 7919 % 1000003 <= 11400 * 1000003 / $2 then 3
                  when n * 7919 % 1000003 <= 111400 * 1000003 / $2 then 4
                  else 101 + n % 1000 end,
             1000 + n, randomblob(16), $3, 1, 1, 1, s.vector, s.facts
         from numbers cross join samples s on s.k = 1 + n % 1000 where n <= $2",
        "insert into cells (tenant_id, cell_id, project_no, author, cell_type, layer, visibility,
             status, salience, confidence, revision, content, embedded_text, fingerprint,
             created_at, updated_at, last_access, sequence)
         select $1, e.cell_id, e.project_no, $3, 5, 0, 1, 0, 0.5, 1.0, 1,
             'a text of about ordinary length, say twenty-five words or a little less, that
              somebody stored some time ago while they were working on ' || e.sequence,
             'somebody: a text of about ordinary length, say twenty-five words or a little less,
              that somebody stored some time ago while they were working on ' || e.sequence,
             randomblob(32), 0, 0, 0, e.sequence
         from recall_entries e where e.tenant_id = $1 and e.sequence > 1000 and $2 > 0",
        "update tenants set sequence = (select max(sequence) from recall_entries)
         where tenant_id = $1 and $2 > 0",
    ] {
        sqlx::query(statement)
            .bind(&tenant)
            .bind(cells)
            .bind(owner.credential.uuid().as_bytes().to_vec())
            .execute(&mut connection)
            .await
            .unwrap();
    }
    sqlx::raw_sql("pragma wal_checkpoint(truncate)")
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
}

/// Forgets what the system holds of the file in memory.
fn forget(path: &Path) {
    let file = File::open(path).unwrap();
    file.sync_all().unwrap();
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
}

async fn opening(path: &Path) {
    let mut times = Vec::new();
    for _ in 0..200 {
        let started = Instant::now();
        let store = Store::open_file(path, SqliteOptions::default())
            .await
            .unwrap();
        times.push(started.elapsed());
        store.close().await;
    }
    show("open", &mut times);
    let mut times = Vec::new();
    for _ in 0..200 {
        let started = Instant::now();
        let store = Store::open_file(path, SqliteOptions::default())
            .await
            .unwrap();
        let key = ApiKey::from_random([7; 32]);
        assert!(store.credential_of_key(&key).await.unwrap().is_some());
        times.push(started.elapsed());
        store.close().await;
    }
    show("open and find a key", &mut times);
}

async fn changes(path: &Path, scope: &Scope, size: usize) {
    let rounds = if size > 50_000 { 3 } else { 10 };
    let (mut warm, mut cold, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    let mut found = 0;
    for round in 0..rounds * 2 {
        if round % 2 == 1 {
            forget(path);
        }
        let store = Store::open_file(path, SqliteOptions::default())
            .await
            .unwrap();
        let started = Instant::now();
        let all = store
            .changes(scope, Sequence(0), usize::MAX, &model())
            .await
            .unwrap();
        let times = if round % 2 == 1 { &mut cold } else { &mut warm };
        times.push(started.elapsed());
        found = all.len();
        assert!(all.iter().all(|change| change.entry.is_some()));
        assert!(found.abs_diff(size) <= size / 50, "{found} of {size}");
        store.close().await;
    }
    for _ in 0..rounds {
        plain.push(plain_scan(path, scope).await);
    }
    show(
        &format!("changes, {found} rows, new connection, file in memory"),
        &mut warm,
    );
    show(
        &format!("changes, {found} rows, new connection, file on disk"),
        &mut cold,
    );
    show(
        &format!("  one sum over the same rows in plain SQL ({found})"),
        &mut plain,
    );
}

/// Has SQLite touch every byte of the same rows without handing them out.
async fn plain_scan(path: &Path, scope: &Scope) -> Duration {
    let mut connection = SqliteConnectOptions::new()
        .filename(path)
        .disable_statement_logging()
        .connect()
        .await
        .unwrap();
    let started = Instant::now();
    let row = sqlx::query(
        "select count(*), sum(instr(vector, x'00010203040506') + instr(facts, x'00010203040506'))
         from recall_entries where tenant_id = $1 and project_no =
             (select project_no from projects where tenant_id = $1 and name = $2)",
    )
    .bind(scope.tenant.uuid().as_bytes().to_vec())
    .bind(scope.project.as_str())
    .fetch_one(&mut connection)
    .await
    .unwrap();
    let time = started.elapsed();
    assert!(row.get::<i64, _>(0) > 0);
    connection.close().await.unwrap();
    time
}

async fn no_change(path: &Path, scope: &Scope) {
    let store = Store::open_file(path, SqliteOptions::default())
        .await
        .unwrap();
    let all = store
        .changes(scope, Sequence(0), usize::MAX, &model())
        .await
        .unwrap();
    let after = all.last().unwrap().sequence;
    let mut times = Vec::new();
    for _ in 0..2000 {
        let started = Instant::now();
        assert!(
            store
                .changes(scope, after, 10_000, &model())
                .await
                .unwrap()
                .is_empty()
        );
        times.push(started.elapsed());
    }
    show("changes, none", &mut times);
    let mut times = Vec::new();
    for _ in 0..2000 {
        let started = Instant::now();
        store.chosen_model(scope.owner()).await.unwrap();
        times.push(started.elapsed());
    }
    show("chosen model", &mut times);
    let mut times = Vec::new();
    for _ in 0..20 {
        let started = Instant::now();
        store.statistics(scope.owner()).await.unwrap();
        times.push(started.elapsed());
    }
    show("statistics", &mut times);
    let ids: Vec<CellId> = all.iter().step_by(1000).map(|change| change.id).collect();
    let mut times = Vec::new();
    for _ in 0..1000 {
        let started = Instant::now();
        assert_eq!(store.cells(scope, &ids).await.unwrap().len(), ids.len());
        times.push(started.elapsed());
    }
    show(&format!("{} cells by id", ids.len()), &mut times);
    store.close().await;
}

async fn inserts(path: &Path, scope: &Scope) {
    let store = Store::open_file(path, SqliteOptions::default())
        .await
        .unwrap();
    let all = store
        .changes(scope, Sequence(0), usize::MAX, &model())
        .await
        .unwrap();
    for links in [0, 24] {
        let mut times = Vec::new();
        for n in 0..500_u64 {
            let mut new = cell(scope, 1_000_000 + n + links * 10_000);
            new.derived.links = (0..links)
                .map(|link| NewLink {
                    link: Link {
                        to: all[((n * 31 + link * 397) % 2000) as usize].id,
                        weight: 0.3 + (link as f32) / 100.0 + (n as f32) / 10_000.0,
                    },
                    drops: Vec::new(),
                    back: true,
                })
                .collect();
            let step = Step::Insert(Box::new(new));
            let started = Instant::now();
            commit(&store, scope, step).await;
            times.push(started.elapsed());
        }
        show(
            &format!("durable insert, {links} links each way"),
            &mut times,
        );
    }
    let ids: Vec<CellId> = all.iter().take(24).map(|change| change.id).collect();
    let mut times = Vec::new();
    for _ in 0..500 {
        let started = Instant::now();
        assert_eq!(
            store.links(scope, &ids, &|_| false).await.unwrap().len(),
            ids.len()
        );
        times.push(started.elapsed());
    }
    show("links of 24 cells", &mut times);
    let mut times = Vec::new();
    for _ in 0..500 {
        let started = Instant::now();
        store.touch(scope, &ids, Timestamp::now()).await.unwrap();
        times.push(started.elapsed());
    }
    show("touch of 24 cells, durable", &mut times);
    store.close().await;
}

/// What changes cells that are there, and what people and agents read.
async fn life(path: &Path, scope: &Scope) {
    let store = Store::open_file(path, SqliteOptions::default())
        .await
        .unwrap();
    let all = store
        .changes(scope, Sequence(0), usize::MAX, &model())
        .await
        .unwrap();
    let ids: Vec<CellId> = all.iter().step_by(50).map(|change| change.id).collect();
    let mut times = Vec::new();
    for cell in store.cells(scope, &ids).await.unwrap() {
        let mut next = cell;
        next.revision += 1;
        next.status = Status::Retracted;
        let step = Step::Revise(Box::new(Revision {
            cell: next,
            derived: None,
            kind: DiffKind::Retracted,
            other: None,
            diff: DiffId::new(Uuid::now_v7()),
        }));
        let started = Instant::now();
        commit(&store, scope, step).await;
        times.push(started.elapsed());
    }
    show("durable retraction", &mut times);
    let mut times = Vec::new();
    for cell in store.cells(scope, &ids[..20]).await.unwrap() {
        let step = Step::Erase {
            id: cell.id,
            revision: cell.revision,
            diff: DiffId::new(Uuid::now_v7()),
        };
        let started = Instant::now();
        commit(&store, scope, step).await;
        times.push(started.elapsed());
    }
    show("durable erasure", &mut times);
    let mut times = Vec::new();
    for _ in 0..500 {
        let started = Instant::now();
        let found = store.open_conflicts(scope, &ids[..100], None, 1000);
        assert!(found.await.unwrap().is_empty());
        times.push(started.elapsed());
    }
    show("open conflicts of 100 cells", &mut times);
    let mut times = Vec::new();
    for _ in 0..500 {
        let started = Instant::now();
        let found = store.diffs(scope, Sequence(0), &[], true, 50);
        assert_eq!(found.await.unwrap().len(), 50);
        times.push(started.elapsed());
    }
    show("50 diffs", &mut times);
    let filter = AuditFilter {
        limit: 50,
        ..AuditFilter::default()
    };
    let mut times = Vec::new();
    for _ in 0..500 {
        let started = Instant::now();
        assert_eq!(store.audit(scope.owner(), &filter).await.unwrap().len(), 50);
        times.push(started.elapsed());
    }
    show("50 rows of the audit", &mut times);
    for (what, wanted) in [
        ("topics", Wanted::Topic),
        ("tags", Wanted::Tag),
        ("projects", Wanted::Project),
    ] {
        let mut times = Vec::new();
        for _ in 0..200 {
            let started = Instant::now();
            store.names(scope, wanted, "", 100).await.unwrap();
            times.push(started.elapsed());
        }
        show(&format!("names of {what}"), &mut times);
    }
    let prefix = ids[30].to_string()[..8].to_owned();
    let mut times = Vec::new();
    for _ in 0..500 {
        let started = Instant::now();
        let found = store.ids_beginning(scope, Wanted::Cell, &prefix, 2);
        assert!(!found.await.unwrap().is_empty());
        times.push(started.elapsed());
    }
    show("cells by the beginning of an id", &mut times);
    store.close().await;
}

/// The least that a durable insert can cost here: one row, one index, the same settings.
async fn plain_inserts(folder: &Path) {
    let mut connection = SqliteConnectOptions::new()
        .filename(folder.join("plain.db"))
        .create_if_missing(true)
        .journal_mode(sqlx::sqlite::SqliteJournalMode::Wal)
        .disable_statement_logging()
        .connect()
        .await
        .unwrap();
    sqlx::raw_sql("create table plain (id blob primary key, content text, vector blob)")
        .execute(&mut connection)
        .await
        .unwrap();
    let mut times = Vec::new();
    for _ in 0..500 {
        let started = Instant::now();
        sqlx::query("insert into plain values ($1, $2, $3)")
            .bind(Uuid::now_v7().as_bytes().to_vec())
            .bind("a text of about ordinary length, say twenty-five words or a little less")
            .bind(vec![1_u8; 800])
            .execute(&mut connection)
            .await
            .unwrap();
        times.push(started.elapsed());
    }
    show("  durable insert of one row in plain SQL", &mut times);
    connection.close().await.unwrap();
}

fn show(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1000.0;
    println!("{what:62} p50 {:9.3} ms   p95 {:9.3} ms", at(50), at(95));
}
