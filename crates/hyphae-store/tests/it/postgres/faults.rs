//! Servers that cannot be used, and others who are in the way.

use std::time::Duration;

use hyphae_core::ports::{CredentialStore, MemoryStore, StoreError};
use hyphae_store::{PostgresAddress, PostgresOptions, Store};
use hyphae_testkit::{
    contract::fixture::{World, project},
    postgres::{Release, Server},
};
use tokio_postgres::NoTls;

use super::server::{OnServer, address};

/// Connects and returns what there is to say against it.
async fn refusal(url: &str) -> String {
    let address = PostgresAddress::parse(url).unwrap();
    let error = Store::create_on_server(&address, PostgresOptions::default()).await;
    let error = error.unwrap_err();
    assert!(
        !format!("{error} {error:?}").contains("hunter2"),
        "{error:?}"
    );
    error.to_string()
}

#[tokio::test]
async fn a_server_that_is_down_is_named() {
    for url in [
        "postgres://ana:hunter2@127.0.0.1:1/team",
        "postgres:///team?host=/no/such/folder&user=ana&password=hunter2",
    ] {
        let error = refusal(url).await;
        assert!(error.contains("nothing answers at postgres://"), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_is_too_old_is_told_which_one_is_not() {
    let Some(mut server) = Server::new(Release::TooOld, &["-A", "trust"]) else {
        return;
    };
    server.start("");
    let error = refusal(&server.url()).await;
    assert!(
        error.contains("is Postgres 14.") && error.contains("; 15 is the oldest"),
        "{error}"
    );
}

#[tokio::test]
async fn a_server_without_a_connection_left_says_so_and_is_used_when_there_is_one() {
    let Some(mut server) = Server::new(Release::Oldest, &["-A", "trust"]) else {
        return;
    };
    server.start("-c max_connections=3 -c superuser_reserved_connections=0 -c max_wal_senders=0");
    let mut others = Vec::new();
    for _ in 0..3 {
        let (client, connection) = tokio_postgres::connect(&server.url(), NoTls).await.unwrap();
        others.push((client, tokio::spawn(connection)));
    }
    let error = refusal(&server.url()).await;
    assert!(error.contains("has no connection left"), "{error}");
    for (client, running) in others {
        drop(client);
        running.await.unwrap().unwrap();
    }
    // A server forgets a connection a moment after its end.
    let address = PostgresAddress::parse(&server.url()).unwrap();
    let store = loop {
        match Store::create_on_server(&address, PostgresOptions::default()).await {
            Ok(store) => break store,
            Err(error) => assert!(error.to_string().contains("no connection left"), "{error}"),
        }
    };
    store.default_tenant().await.unwrap();
}

#[tokio::test]
async fn a_wrong_password_and_a_missing_database_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let password = folder.path().join("password");
    std::fs::write(&password, "right").unwrap();
    // Whoever makes the server must be able to read it.
    let shared = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), shared).unwrap();
    let file = format!("--pwfile={}", password.display());
    let Some(mut server) = Server::new(Release::Newest, &["-A", "scram-sha-256", &file]) else {
        return;
    };
    server.start("");
    let host = server.folder().display().to_string();
    let url = |password: &str, database: &str| {
        format!("postgres:///{database}?host={host}&user=postgres&password={password}")
    };
    let error = refusal(&url("hunter2", "postgres")).await;
    assert!(
        error.contains("refuses the user or the password"),
        "{error}"
    );
    let error = refusal(&url("right", "nowhere")).await;
    assert!(
        error.contains("there is no database") && error.contains("createdb"),
        "{error}"
    );
    let good = PostgresAddress::parse(&url("right", "postgres")).unwrap();
    let store = Store::create_on_server(&good, PostgresOptions::default()).await;
    store.unwrap().default_tenant().await.unwrap();
}

#[tokio::test]
async fn whoever_waits_too_long_for_another_writer_is_told_and_keeps_nothing() {
    let Some(server) = OnServer::new(Release::Oldest).await else {
        return;
    };
    let world = World::new(&server).await;
    let scope = world.owner().await.in_project(project("p"));
    let first = world.store(&scope, "first").await;
    let (other, connection) = tokio_postgres::connect(&server.database.url(), NoTls)
        .await
        .unwrap();
    let running = tokio::spawn(connection);
    other
        .batch_execute("begin; update tenants set sequence = sequence")
        .await
        .unwrap();
    let options = PostgresOptions {
        lock_timeout: Duration::from_millis(50),
        ..PostgresOptions::default()
    };
    let store = Store::connect(&address(&server.database), options)
        .await
        .unwrap();
    let second = world.cell(&scope, "second");
    let write = world.write(
        hyphae_core::audit::Action::Store,
        vec![hyphae_testkit::contract::fixture::insert(&second)],
    );
    let error = store.commit(&scope, &write).await.unwrap_err();
    assert!(matches!(error, StoreError::Locked), "{error}");
    // Others read meanwhile.
    assert_eq!(
        store.cells(&scope, &[first.cell.id]).await.unwrap().len(),
        1
    );
    other.batch_execute("rollback").await.unwrap();
    assert!(store.commit(&scope, &write).await.unwrap().is_done());
    drop(other);
    running.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_read_that_takes_too_long_is_given_up() {
    let Some(server) = OnServer::new(Release::Newest).await else {
        return;
    };
    let world = World::new(&server).await;
    let scope = world.owner().await.in_project(project("p"));
    let kept = world.store(&scope, "kept").await.cell;
    let options = PostgresOptions {
        statement_timeout: Duration::from_millis(50),
        ..PostgresOptions::default()
    };
    let store = Store::connect(&address(&server.database), options)
        .await
        .unwrap();
    let (other, connection) = tokio_postgres::connect(&server.database.url(), NoTls)
        .await
        .unwrap();
    let running = tokio::spawn(connection);
    other
        .batch_execute("begin; lock table cells in access exclusive mode")
        .await
        .unwrap();
    let error = store
        .cells(&scope, &[kept.id])
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("takes too long to answer"), "{error}");
    other.batch_execute("rollback").await.unwrap();
    assert_eq!(store.cells(&scope, &[kept.id]).await.unwrap(), [kept]);
    drop(other);
    running.await.unwrap().unwrap();
}

#[tokio::test]
async fn no_more_connections_are_made_than_allowed() {
    let Some(server) = OnServer::new(Release::Oldest).await else {
        return;
    };
    let options = PostgresOptions {
        connections: 2,
        ..PostgresOptions::default()
    };
    let store = Store::connect(&address(&server.database), options)
        .await
        .unwrap();
    let world = World::new(&server).await;
    let scope = world.owner().await.in_project(project("p"));
    let reading: Vec<_> = (0..20)
        .map(|_| {
            let (store, scope) = (store.clone(), scope.clone());
            tokio::spawn(async move { store.newest(scope.owner()).await.unwrap() })
        })
        .collect();
    for read in reading {
        read.await.unwrap();
    }
    server.store.close().await;
    let sql = "select count(*) from pg_stat_activity where datname = current_database()
        and pid <> pg_backend_pid() and backend_type = 'client backend'";
    let count: u32 = server.database.run(sql).parse().unwrap();
    assert!((1..=3).contains(&count), "{count}");
}
