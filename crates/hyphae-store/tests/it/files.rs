//! How a database comes to be, and which files are refused.

use std::{fs, path::Path};

use hyphae_core::ports::{CredentialStore, StoreError};
use hyphae_store::{SqliteOptions, Store};
use hyphae_testkit::contract::{
    Subject,
    fixture::{World, insert, project},
};

use crate::subject::{OnDisk, connect};

async fn create(path: &Path) -> Result<Store, StoreError> {
    Store::create_file(path, SqliteOptions::default()).await
}

async fn open(path: &Path) -> Result<Store, StoreError> {
    Store::open_file(path, SqliteOptions::default()).await
}

#[tokio::test]
async fn what_was_never_made_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["hyphae.db", "no/such/folder/hyphae.db"] {
        let path = folder.path().join(name);
        let Err(StoreError::Missing { place }) = open(&path).await else {
            panic!("{name}");
        };
        assert_eq!(place, path.display().to_string());
        assert!(!path.exists(), "opening makes nothing");
    }
}

#[tokio::test]
async fn an_empty_file_is_missing_until_it_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hyphae.db");
    fs::write(&path, "").unwrap();
    let opened = open(&path).await;
    assert!(matches!(opened, Err(StoreError::Missing { .. })));
    create(&path).await.unwrap().default_tenant().await.unwrap();
    open(&path).await.unwrap().default_tenant().await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_reads_the_folder_and_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let made = folder.path().join("a/b");
    let store = create(&made.join("hyphae.db")).await.unwrap();
    let tenant = store.default_tenant().await.unwrap();
    store
        .revoke_credential(
            tenant,
            hyphae_core::ids::CredentialId::new(tenant.uuid()),
            jiff::Timestamp::UNIX_EPOCH,
        )
        .await
        .unwrap();
    assert_eq!(mode(&made), 0o700);
    assert_eq!(mode(&folder.path().join("a")), 0o700);
    assert_eq!(
        mode(folder.path()),
        0o755,
        "a folder that was there stays as it is"
    );
    let mut names = Vec::new();
    for entry in fs::read_dir(&made).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        names.push(path.file_name().unwrap().to_owned().into_string().unwrap());
    }
    names.sort_unstable();
    assert_eq!(names, ["hyphae.db", "hyphae.db-shm", "hyphae.db-wal"]);
}

#[tokio::test]
async fn making_a_database_twice_changes_nothing() {
    let disk = OnDisk::new().await;
    let world = World::new(&disk).await;
    let (credential, key) = world.credential(world.tenant);
    disk.store.add_credential(&credential, &key).await.unwrap();
    let again = create(&disk.path()).await.unwrap();
    assert_eq!(again.default_tenant().await.unwrap(), world.tenant);
    let found = again.credential_of_key(&key).await.unwrap();
    assert_eq!(found, Some(credential));
}

#[tokio::test]
async fn a_patience_without_end_is_taken() {
    let disk = OnDisk::new().await;
    let options = SqliteOptions {
        busy_timeout: std::time::Duration::MAX,
        readers: 0,
    };
    let store = Store::open_file(&disk.path(), options).await.unwrap();
    store.default_tenant().await.unwrap();
}

#[tokio::test]
async fn a_name_that_looks_like_a_uri_is_a_name() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["file:x?mode=memory", "a b%20c#d.db", ":memory:", "ü.db"] {
        let path = folder.path().join(name);
        create(&path).await.unwrap();
        assert!(path.is_file(), "{name}");
        open(&path).await.unwrap().default_tenant().await.unwrap();
    }
}

#[tokio::test]
async fn what_is_no_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hyphae.db");
    for bytes in [
        b"x".to_vec(),
        b"not a database\n".repeat(3),
        b"not a database\n".repeat(10_000),
        vec![0; 8192],
        b"SQLite format 3\0".to_vec(),
        [b"SQLite format 3\0".as_slice(), &[0xff; 10_000]].concat(),
    ] {
        fs::write(&path, &bytes).unwrap();
        for result in [open(&path).await, create(&path).await] {
            assert!(
                matches!(result, Err(StoreError::Damaged { .. })),
                "{} bytes: {result:?}",
                bytes.len()
            );
        }
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

#[tokio::test]
async fn a_folder_is_no_database() {
    let folder = tempfile::tempdir().unwrap();
    for result in [open(folder.path()).await, create(folder.path()).await] {
        assert!(result.is_err());
    }
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    for result in [open(&file.join("db")).await, create(&file.join("db")).await] {
        assert!(result.is_err());
    }
}

#[tokio::test]
async fn a_database_of_another_program_is_refused_and_left_alone() {
    let disk = OnDisk::new().await;
    disk.store.close().await;
    disk.run("pragma application_id = 7").await;
    let before = fs::read(disk.path()).unwrap();
    for result in [open(&disk.path()).await, create(&disk.path()).await] {
        let Err(error @ StoreError::Unavailable { .. }) = result else {
            panic!("{result:?}");
        };
        assert!(error.to_string().contains("another program"), "{error}");
    }
    assert_eq!(fs::read(disk.path()).unwrap(), before);
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let disk = OnDisk::new().await;
    disk.run("pragma user_version = 99").await;
    let Err(StoreError::Newer { found, known, .. }) = disk.open().await else {
        panic!("opened");
    };
    assert_eq!(found, 99);
    assert!(known < 99);
}

/// Makes a file as the very first version would have left it before its first table.
pub(crate) async fn version_zero(path: &Path) {
    fs::write(path, "").unwrap();
    let mut connection = connect(path).await;
    sqlx::raw_sql(
        "pragma journal_mode = wal; pragma application_id = 0x48595048; create table old (x)",
    )
    .execute(&mut connection)
    .await
    .unwrap();
}

#[tokio::test]
async fn an_older_schema_is_migrated_once_when_many_open_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hyphae.db");
    version_zero(&path).await;
    let opened = futures_all((0..10).map(|_| open(&path))).await;
    for store in opened {
        store.unwrap();
    }
    let mut connection = connect(&path).await;
    let (version, tables): (i64, i64) = sqlx::query_as(
        "select user_version, (select count(*) from sqlite_schema where name = 'cells')
         from pragma_user_version",
    )
    .fetch_one(&mut connection)
    .await
    .unwrap();
    assert_eq!((version, tables), (2, 1));
}

/// Runs futures at once in tasks of one thread.
async fn futures_all<T>(futures: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut running: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        for (future, done) in &mut running {
            if done.is_none()
                && let std::task::Poll::Ready(value) = future.as_mut().poll(context)
            {
                *done = Some(value);
            }
        }
        if running.iter().all(|(_, done)| done.is_some()) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    running.into_iter().filter_map(|(_, done)| done).collect()
}

#[tokio::test]
async fn a_copied_file_in_another_journal_mode_works() {
    let disk = OnDisk::new().await;
    let world = World::new(&disk).await;
    let scope = world.owner().await.in_project(project("p"));
    let new = world.store(&scope, "kept").await;
    let copy = OnDisk {
        store: disk.store.clone(),
        folder: std::sync::Arc::new(tempfile::tempdir().unwrap()),
    };
    let mut connection = connect(&disk.path()).await;
    let sql = format!("vacuum into '{}'", copy.path().display());
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
        .execute(&mut connection)
        .await
        .unwrap();
    let again = copy.again().await;
    let found = again.memories().cells(&scope, &[new.cell.id]).await;
    assert_eq!(found.unwrap(), [new.cell]);
    let further = world.cell(&scope, "further");
    let done = world.commit_on(&*again, &scope, vec![insert(&further)]);
    assert!(done.await.unwrap().is_done());
    let mode: String = sqlx::query_scalar("pragma journal_mode")
        .fetch_one(&mut connect(&copy.path()).await)
        .await
        .unwrap();
    assert_eq!(mode, "wal");
}

#[tokio::test]
async fn errors_and_debug_output_tell_nothing_that_is_kept() {
    let disk = OnDisk::new().await;
    let world = World::new(&disk).await;
    let scope = world.owner().await.in_project(project("p"));
    let (credential, key) = world.credential(world.tenant);
    disk.store.add_credential(&credential, &key).await.unwrap();
    let new = world.store(&scope, "a confidence").await;
    disk.run("drop table diffs").await;
    let mut other = world.cell(&scope, "another confidence");
    other.cell.id = new.cell.id;
    let errors = [
        world
            .try_commit(&scope, vec![insert(&other)])
            .await
            .unwrap_err(),
        world
            .try_commit(
                &scope,
                vec![insert(&world.cell(&scope, "third confidence"))],
            )
            .await
            .unwrap_err(),
        disk.store
            .add_credential(&credential, &key)
            .await
            .unwrap_err(),
    ];
    for error in errors {
        let mut shown = format!("{error} {error:?} {:?}", disk.store);
        let mut source = std::error::Error::source(&error);
        while let Some(error) = source {
            shown += &error.to_string();
            source = error.source();
        }
        assert!(!shown.contains("confidence"), "{shown}");
        assert!(!shown.contains(&key.reveal()[4..20]), "{shown}");
    }
}
