//! Servers without room on their disk.

use std::{fs, time::Duration};

use hyphae_core::{
    audit::Action,
    cell::Cell,
    ports::{Committed, StoreError, Write},
    scope::Scope,
};
use hyphae_store::{PostgresAddress, PostgresOptions, Store};
use hyphae_testkit::{
    contract::fixture::{World, insert, project},
    postgres::{Release, Server},
};

use super::server::Over;
use crate::disk::SmallDisk;

async fn create(url: &str) -> Store {
    let options = PostgresOptions {
        connect_timeout: Duration::from_secs(2),
        ..PostgresOptions::default()
    };
    let address = PostgresAddress::parse(url).unwrap();
    Store::create_on_server(&address, options).await.unwrap()
}

/// Stores until that fails, and returns the write that did.
async fn store_until_full(
    world: &World<'_>,
    scope: &Scope,
    kept: &mut Vec<Cell>,
) -> (Write, Cell, StoreError) {
    let words = "and more words that take room ".repeat(60);
    for _ in 0..5_000 {
        let new = world.cell(scope, &format!("{} {words}", world.id()));
        let write = world.write(Action::Store, vec![insert(&new)]);
        match world.subject.memories().commit(scope, &write).await {
            Ok(done) => {
                assert!(done.is_done(), "{done:?}");
                kept.push(new.cell);
            }
            Err(error) => return (write, new.cell, error),
        }
    }
    panic!("there is still room after {} cells", kept.len());
}

async fn all_there(world: &World<'_>, scope: &Scope, kept: &[Cell]) {
    let ids: Vec<_> = kept.iter().map(|cell| cell.id).collect();
    let found = world.subject.memories().cells(scope, &ids).await.unwrap();
    assert_eq!(found, kept);
    assert_eq!(world.recallable(scope).await.len(), kept.len());
    assert_eq!(world.audited(scope.owner()).await.len(), kept.len());
}

#[tokio::test]
async fn no_room_for_rows_is_told_and_nothing_acknowledged_is_lost() {
    let Some(mut server) = Server::new(Release::Oldest, &["-A", "trust"]) else {
        return;
    };
    let Some(small) = SmallDisk::mount_of("size=24m") else {
        return;
    };
    server.start("");
    let space = small.folder.path().join("space");
    fs::create_dir(&space).unwrap();
    server.give_away(&space);
    let sql = format!("create tablespace small location '{}'", space.display());
    server.run(&sql);
    server.run("create database team template template0 tablespace small");
    let store = create(&server.url().replace(":///postgres?", ":///team?")).await;
    let subject = Over(store);
    let world = World::new(&subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let mut kept = Vec::new();
    for free in [200_000, 0] {
        let filler = small.fill(free);
        let (write, cell, error) = store_until_full(&world, &scope, &mut kept).await;
        assert!(matches!(error, StoreError::Full), "{error:?}");
        all_there(&world, &scope, &kept).await;
        fs::remove_file(filler).unwrap();
        let memories = world.subject.memories();
        assert!(memories.commit(&scope, &write).await.unwrap().is_done());
        kept.push(cell);
        all_there(&world, &scope, &kept).await;
    }
}

#[tokio::test]
async fn a_server_without_room_for_its_log_goes_down_and_keeps_what_it_acknowledged() {
    let Some(small) = SmallDisk::mount_of("size=24m") else {
        return;
    };
    let log = small.folder.path().join("log");
    let log = log.to_str().unwrap();
    let initdb = ["-A", "trust", "--wal-segsize=1", "-X", log];
    let Some(mut server) = Server::new(Release::Oldest, &initdb) else {
        return;
    };
    server.start("-c restart_after_crash=off -c min_wal_size=2MB -c max_wal_size=8MB");
    let store = create(&server.url()).await;
    let subject = Over(store);
    let world = World::new(&subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let mut kept = vec![world.store(&scope, "first").await.cell];
    let filler = small.fill(0);
    let (write, cell, error) = store_until_full(&world, &scope, &mut kept).await;
    // It ended itself over a statement, or over a commit that it may have kept.
    let message = error.to_string();
    assert!(
        matches!(error, StoreError::Full)
            || message.contains("has gone away")
            || message.contains("it is not known whether that was kept"),
        "{message}"
    );
    server.wait_until_gone();
    let ids = [kept[0].id];
    let error = world.subject.memories().cells(&scope, &ids).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("nothing answers at"), "{error}");
    fs::remove_file(filler).unwrap();
    server.start_again();
    // Whether or not it was kept, now it is, once.
    let done = world.subject.memories().commit(&scope, &write).await;
    assert!(
        matches!(done.unwrap(), Committed::Done(_) | Committed::Same(_)),
        "the last one"
    );
    kept.push(cell);
    all_there(&world, &scope, &kept).await;
}
