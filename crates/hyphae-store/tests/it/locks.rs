//! Somebody else holds the database.

use hyphae_core::ports::{SessionError, StoreError};
use hyphae_testkit::contract::{
    Subject,
    fixture::{World, insert, project},
};

use crate::subject::{OnDisk, connect, impatient};
use hyphae_store::Store;

#[tokio::test]
async fn a_write_waits_and_then_says_that_the_database_is_locked() {
    let disk = OnDisk::new().await;
    let world = World::new(&disk).await;
    let owner = world.owner().await;
    let scope = owner.in_project(project("p"));
    let kept = world.store(&scope, "before").await;
    let impatient = OnDisk {
        store: disk.open().await.unwrap(),
        folder: disk.folder.clone(),
    };
    let mut other = connect(&disk.path()).await;
    sqlx::query("begin immediate")
        .execute(&mut other)
        .await
        .unwrap();

    let new = world.cell(&scope, "during");
    let steps = vec![insert(&new)];
    let done = world.commit_on(&impatient, &scope, steps.clone()).await;
    assert!(matches!(done, Err(StoreError::Locked)), "{done:?}");
    let session = world.session("/a");
    let done = impatient.sessions().create_session(owner, &session).await;
    let locked = matches!(done, Err(SessionError::Store(StoreError::Locked)));
    assert!(locked, "{done:?}");
    let read = impatient.memories().cells(&scope, &[kept.cell.id]).await;
    assert_eq!(read.unwrap(), [kept.cell], "reading goes on");
    impatient.credentials().default_tenant().await.unwrap();
    Store::open_file(&disk.path(), crate::subject::impatient())
        .await
        .unwrap();

    sqlx::query("rollback").execute(&mut other).await.unwrap();
    let done = world.commit_on(&impatient, &scope, steps).await;
    assert!(done.unwrap().is_done());
    assert_eq!(world.find(&scope, new.cell.id).await, Some(new.cell));
}

#[tokio::test]
async fn a_database_that_somebody_has_for_themselves_is_locked() {
    let disk = OnDisk::new().await;
    disk.store.close().await;
    let mut other = connect(&disk.path()).await;
    sqlx::raw_sql("pragma locking_mode = exclusive; begin exclusive")
        .execute(&mut other)
        .await
        .unwrap();
    let opened = Store::open_file(&disk.path(), impatient()).await;
    assert!(matches!(opened, Err(StoreError::Locked)), "{opened:?}");
}

#[tokio::test]
async fn a_patient_write_goes_through_when_the_other_has_ended() {
    let disk = OnDisk::new().await;
    let world = World::new(&disk).await;
    let scope = world.owner().await.in_project(project("p"));
    let mut other = connect(&disk.path()).await;
    sqlx::query("begin immediate")
        .execute(&mut other)
        .await
        .unwrap();
    let new = world.cell(&scope, "patience");
    let write = world.try_commit(&scope, vec![insert(&new)]);
    let end = async {
        // Let the write begin first; it is waiting for us when it is polled again.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        sqlx::query("commit").execute(&mut other).await.unwrap();
    };
    let (done, ()) = tokio::join!(write, end);
    assert!(done.unwrap().is_done());
}
