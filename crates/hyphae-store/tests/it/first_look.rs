//! The first look at a database: a plain yes, or nothing.

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use hyphae_core::{
    credential::{ApiKey, Credential},
    ports::{CredentialStore, MemoryStore, StoreError},
};
use hyphae_store::{Recognised, SqliteOptions, Store};
use hyphae_testkit::contract::{
    Subject,
    fixture::{World, model, project},
};
use jiff::Timestamp;
use sqlx::Connection as _;

use crate::{
    subject::{OnDisk, connect},
    worker::{Process, Said, Work},
};

/// A database with one key, and who holds it.
async fn with_key() -> (OnDisk, Credential, ApiKey) {
    let disk = OnDisk::new().await;
    let world = World::new(&disk).await;
    let (credential, key) = world.credential(world.tenant);
    disk.store.add_credential(&credential, &key).await.unwrap();
    (disk, credential, key)
}

fn recognise(disk: &OnDisk, key: &ApiKey) -> Option<Recognised> {
    Store::recognise(&disk.path(), SqliteOptions::default(), key)
}

/// Makes a database look as if its last change was long ago.
pub(crate) fn settle(path: &Path) {
    let file = fs::File::options().write(true).open(path).unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    file.set_modified(long_ago).unwrap();
}

/// Expects that the holder is recognised, or not: just after a change and, if nobody uses the
/// database, long after it.
#[track_caller]
fn check(disk: &OnDisk, key: &ApiKey, want: Option<&Credential>, when: &str) {
    let found = recognise(disk, key);
    assert_eq!(found.as_ref().map(|f| &f.credential), want, "{when}");
    drop(found);
    if files(disk) == ["hyphae.db"] {
        settle(&disk.path());
        let found = recognise(disk, key);
        assert_eq!(found.as_ref().map(|f| &f.credential), want, "{when}, quiet");
        assert_eq!(files(disk), ["hyphae.db"], "{when}, quiet");
    }
}

/// What lies in the database's folder.
fn files(disk: &OnDisk) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(disk.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn a_holder_is_recognised_with_the_model_while_others_use_the_database_and_afterwards() {
    let (disk, credential, key) = with_key().await;
    let owner = credential.owner();
    check(&disk, &key, Some(&credential), "without a model");
    assert_eq!(recognise(&disk, &key).unwrap().model, None);
    disk.store.choose_model(owner, &model()).await.unwrap();
    for when in ["in use", "closed"] {
        let found = recognise(&disk, &key).unwrap();
        assert_eq!(
            (&found.credential, found.model),
            (&credential, Some(model())),
            "{when}"
        );
        let again = found.store.credential_of_key(&key).await.unwrap();
        assert_eq!(again.as_ref(), Some(&credential), "{when}");
        found.store.close().await;
        disk.store.close().await;
    }
}

#[tokio::test]
async fn a_key_of_nobody_is_not_recognised() {
    let (disk, ..) = with_key().await;
    check(&disk, &ApiKey::from_random([77; 32]), None, "unknown");
}

#[tokio::test]
async fn a_revocation_is_seen_before_it_reaches_the_file_and_after_it_has() {
    let (disk, credential, key) = with_key().await;
    // What was there before is in the file itself.
    disk.store.close().await;
    let other = disk.open().await.unwrap();
    let before = fs::read(disk.path()).unwrap();
    other
        .revoke_credential(credential.tenant, credential.id, Timestamp::UNIX_EPOCH)
        .await
        .unwrap();
    assert_eq!(
        fs::read(disk.path()).unwrap(),
        before,
        "it is in the log only"
    );
    check(&disk, &key, None, "in the log");

    let killed = OnDisk {
        store: disk.store.clone(),
        folder: Arc::new(tempfile::tempdir().unwrap()),
    };
    for name in ["hyphae.db", "hyphae.db-wal"] {
        fs::copy(
            disk.folder.path().join(name),
            killed.folder.path().join(name),
        )
        .unwrap();
    }
    check(&killed, &key, None, "in a log that nobody has open");

    other.close().await;
    assert_eq!(files(&disk), ["hyphae.db"]);
    check(&disk, &key, None, "in the file");
}

#[tokio::test]
async fn a_key_that_is_only_in_the_log_of_a_killed_process_is_recognised() {
    let (disk, credential, key) = with_key().await;
    let session = World::new(&disk).await.session("/a");
    disk.sessions()
        .create_session(credential.owner(), &session)
        .await
        .unwrap();
    let work = Work::Store {
        owner: (credential.tenant, credential.id),
        session: session.id,
        name: "killed".to_owned(),
        cells: 1_000_000,
    };
    let mut process = Process::start(&disk.path(), work);
    assert!(matches!(process.next(), Some(Said::Kept(..))));
    process.kill();
    check(&disk, &key, Some(&credential), "beside others");
    disk.store.close().await;
    check(&disk, &key, Some(&credential), "alone");
}

#[tokio::test]
async fn looking_leaves_nothing_behind_and_makes_nothing_in_a_quiet_database() {
    let (disk, credential, key) = with_key().await;
    disk.store.close().await;
    let before = fs::read(disk.path()).unwrap();
    check(&disk, &key, Some(&credential), "recognised and dropped");
    check(&disk, &ApiKey::from_random([77; 32]), None, "unknown");
    let all = ["hyphae.db", "hyphae.db-shm", "hyphae.db-wal"];
    for (quiet, meanwhile) in [(false, &all[..]), (true, &all[..1])] {
        fs::File::options()
            .write(true)
            .open(disk.path())
            .unwrap()
            .set_modified(SystemTime::now())
            .unwrap();
        if quiet {
            settle(&disk.path());
        }
        let found = recognise(&disk, &key).unwrap();
        assert_eq!(files(&disk), meanwhile);
        found.store.close().await;
        assert_eq!(files(&disk), ["hyphae.db"]);
    }
    assert_eq!(fs::read(disk.path()).unwrap(), before);
}

#[tokio::test]
async fn a_database_that_changed_just_now_or_will_have_is_not_quiet() {
    let (disk, _, key) = with_key().await;
    disk.store.close().await;
    for ahead in [-2, 0, 3600_i64] {
        let file = fs::File::options().write(true).open(disk.path()).unwrap();
        let now = SystemTime::now();
        let time = if ahead < 0 {
            now - Duration::from_secs(ahead.unsigned_abs())
        } else {
            now + Duration::from_secs(ahead.unsigned_abs())
        };
        file.set_modified(time).unwrap();
        drop(file);
        let found = recognise(&disk, &key).unwrap();
        assert_eq!(files(&disk).len(), 3, "{ahead}");
        found.store.close().await;
    }
}

#[tokio::test]
async fn a_quiet_database_may_have_any_name() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "file:x?mode=memory",
        "a b%20c#d.db",
        ":memory:",
        "ü.db",
        "a?b=c&d",
    ] {
        let path = folder.path().join(name);
        let store = Store::create_file(&path, SqliteOptions::default());
        let disk = OnDisk {
            store: store.await.unwrap(),
            folder: Arc::new(tempfile::tempdir().unwrap()),
        };
        let world = World::new(&disk).await;
        let (credential, key) = world.credential(world.tenant);
        disk.store.add_credential(&credential, &key).await.unwrap();
        disk.store.close().await;
        settle(&path);
        let found = Store::recognise(&path, SqliteOptions::default(), &key).unwrap();
        assert_eq!(found.credential, credential, "{name}");
        let log = format!("{}-wal", path.display());
        assert!(
            !Path::new(&log).exists(),
            "{name} was looked at as a quiet one"
        );
    }
}

#[tokio::test]
async fn a_store_that_was_recognised_reads_and_writes() {
    let (disk, credential, key) = with_key().await;
    disk.store.close().await;
    let found = recognise(&disk, &key).unwrap();
    let disk = OnDisk {
        store: found.store,
        folder: disk.folder,
    };
    let world = World::new(&disk).await;
    let scope = credential.owner().in_project(project("p"));
    let new = world.store(&scope, "kept").await;
    assert_eq!(world.find(&scope, new.cell.id).await, Some(new.cell));
    disk.store.close().await;
    assert_eq!(files(&disk), ["hyphae.db"]);
}

#[tokio::test]
async fn a_database_that_takes_the_place_of_the_recognised_one_is_not_used() {
    for quiet in [false, true] {
        let (disk, credential, key) = with_key().await;
        disk.store.close().await;
        if quiet {
            settle(&disk.path());
        }
        let other = OnDisk::new().await;
        other.store.close().await;
        let found = recognise(&disk, &key).unwrap();
        fs::rename(other.path(), disk.path()).unwrap();
        let read = found.store.default_tenant().await;
        assert!(matches!(read, Err(StoreError::Replaced { .. })), "{read:?}");
        let written = found.store.choose_model(credential.owner(), &model()).await;
        let replaced = matches!(written, Err(StoreError::Replaced { .. }));
        assert!(replaced, "{written:?}");
    }
}

#[tokio::test]
async fn a_store_that_was_recognised_and_closed_is_closed() {
    let (disk, _, key) = with_key().await;
    let found = recognise(&disk, &key).unwrap();
    found.store.close().await;
    assert!(found.store.default_tenant().await.is_err());
}

#[tokio::test]
async fn a_database_that_is_not_there_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hyphae.db");
    let key = ApiKey::from_random([1; 32]);
    let look = || Store::recognise(&path, SqliteOptions::default(), &key);
    assert!(look().is_none());
    assert!(!path.exists());
    for bytes in ["".into(), "x".into(), "not a database\n".repeat(1000)] {
        fs::write(&path, &bytes).unwrap();
        assert!(look().is_none());
        assert_eq!(fs::read_to_string(&path).unwrap(), bytes);
    }
    assert!(Store::recognise(folder.path(), SqliteOptions::default(), &key).is_none());
}

#[tokio::test]
async fn what_the_ordinary_way_refuses_or_changes_is_left_to_it() {
    for (what, sql) in [
        ("another program's", "pragma application_id = 7"),
        ("newer", "pragma user_version = 99"),
        ("older", "pragma user_version = 0"),
        ("another journal mode", "pragma journal_mode = delete"),
        ("no secret", "delete from settings"),
        ("a short secret", "update settings set value = x'01'"),
        ("no table of keys", "drop table credentials"),
        (
            "a time that is none",
            "update credentials set created_at = 9000000000000000000",
        ),
        (
            "a name that is no text",
            "update credentials set name = cast(x'ff' as text)",
        ),
    ] {
        let (disk, _, key) = with_key().await;
        disk.store.close().await;
        disk.run(sql).await;
        let before = fs::read(disk.path()).unwrap();
        check(&disk, &key, None, what);
        assert_eq!(fs::read(disk.path()).unwrap(), before, "{what}");
    }
}

#[tokio::test]
async fn an_older_database_is_migrated_by_the_ordinary_way_after_the_look() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hyphae.db");
    crate::files::version_zero(&path).await;
    let key = ApiKey::from_random([1; 32]);
    assert!(Store::recognise(&path, SqliteOptions::default(), &key).is_none());
    let store = Store::open_file(&path, SqliteOptions::default()).await;
    store.unwrap().close().await;
    let version: i64 = sqlx::query_scalar("pragma user_version")
        .fetch_one(&mut connect(&path).await)
        .await
        .unwrap();
    assert!(version > 0);
}

#[tokio::test]
async fn a_look_does_not_wait_for_somebody_who_has_the_database_for_themselves() {
    let (disk, credential, key) = with_key().await;
    disk.store.close().await;
    let mut other = connect(&disk.path()).await;
    sqlx::raw_sql("pragma locking_mode = exclusive; begin exclusive")
        .execute(&mut other)
        .await
        .unwrap();
    check(&disk, &key, None, "held");
    let opened = disk.open().await;
    assert!(matches!(opened, Err(StoreError::Locked)), "{opened:?}");
    other.close().await.unwrap();
    let mut other = connect(&disk.path()).await;
    sqlx::raw_sql("begin immediate")
        .execute(&mut other)
        .await
        .unwrap();
    check(&disk, &key, Some(&credential), "somebody only writes");
}

#[tokio::test]
async fn debug_output_tells_no_key() {
    let (disk, _, key) = with_key().await;
    let shown = format!("{:?}", recognise(&disk, &key));
    assert!(!shown.contains(&key.reveal()[4..20]), "{shown}");
}
