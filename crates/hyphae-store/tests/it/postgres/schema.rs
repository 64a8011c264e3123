//! How the tables are made, and by whom they are refused.

use hyphae_core::{
    audit::Action,
    ports::{CredentialStore, MemoryStore, Sequence, StoreError},
};
use hyphae_store::{PostgresOptions, Store};
use hyphae_testkit::{
    contract::fixture::{World, insert, project},
    postgres::{Database, Release},
};

use super::server::{OnServer, Over, address, rights};

async fn open(database: &Database) -> Result<Store, StoreError> {
    Store::connect(&address(database), PostgresOptions::default()).await
}

#[tokio::test]
async fn of_ten_that_begin_at_once_one_makes_the_tables() {
    let Some(database) = Database::new(Release::Oldest) else {
        return;
    };
    let making: Vec<_> = (0..10)
        .map(|_| {
            let address = address(&database);
            tokio::spawn(async move {
                let store = Store::create_on_server(&address, PostgresOptions::default()).await;
                store.unwrap().default_tenant().await.unwrap()
            })
        })
        .collect();
    let mut tenants = Vec::new();
    for made in making {
        tenants.push(made.await.unwrap());
    }
    tenants.dedup();
    assert_eq!(tenants.len(), 1);
    assert_eq!(
        database.run("select count(*), min(version) from hyphae_schema"),
        "1|1"
    );
}

#[tokio::test]
async fn a_database_without_tables_is_missing_and_shows_no_password() {
    let Some(database) = Database::new(Release::Newest) else {
        return;
    };
    let url = database.url().replace("&user=", "&password=hunter2&user=");
    let address = hyphae_store::PostgresAddress::parse(&url).unwrap();
    let error = Store::connect(&address, PostgresOptions::default())
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error}");
    assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
}

#[tokio::test]
async fn newer_tables_are_refused_and_left_alone() {
    let Some(server) = OnServer::new(Release::Newest).await else {
        return;
    };
    server.database.run("update hyphae_schema set version = 99");
    for error in [
        open(&server.database).await.unwrap_err(),
        Store::create_on_server(&address(&server.database), PostgresOptions::default())
            .await
            .unwrap_err(),
    ] {
        assert!(
            matches!(
                error,
                StoreError::Newer {
                    found: 99,
                    known: 1,
                    ..
                }
            ),
            "{error}"
        );
    }
    assert_eq!(
        server.database.run("select version from hyphae_schema"),
        "99"
    );
}

#[tokio::test]
async fn the_role_of_the_manual_stores_and_recalls_and_can_drop_nothing() {
    let Some(server) = OnServer::new(Release::Newest).await else {
        return;
    };
    let role = server.database.run("select 'r' || current_database()");
    server
        .database
        .run(&format!("create role {role} login; {}", rights(&role)));
    let url = server
        .database
        .url()
        .replace("user=postgres", &format!("user={role}"));
    let theirs = hyphae_store::PostgresAddress::parse(&url).unwrap();
    let store = Store::connect(&theirs, PostgresOptions::default())
        .await
        .unwrap();
    let subject = Over(store);
    let world = World::new(&subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let kept = world.store(&scope, "kept").await.cell;
    assert_eq!(world.find(&scope, kept.id).await, Some(kept.clone()));
    let kept = kept.id;
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls)
        .await
        .unwrap();
    let running = tokio::spawn(connection);
    for sql in [
        "drop table cells",
        "truncate audit",
        "alter table cells add column more text",
        "create table more (id int)",
        "update hyphae_schema set version = 0",
        "delete from settings",
    ] {
        let error = client.batch_execute(sql).await.unwrap_err();
        let denied = tokio_postgres::error::SqlState::INSUFFICIENT_PRIVILEGE;
        assert_eq!(error.code(), Some(&denied), "{sql}");
    }
    // A statement that forgets whose rows it may see finds those of the one tenant that is named.
    let stranger = world.stranger().await.in_project(project("p"));
    let theirs = world.store(&stranger, "theirs").await.cell;
    let all = "select encode(cell_id, 'hex') from cells";
    let ids = async |tenant: Option<String>| {
        client.batch_execute("begin").await.unwrap();
        if let Some(tenant) = tenant {
            let sql = format!("set local hyphae.tenant = '{tenant}'");
            client.batch_execute(&sql).await.unwrap();
        }
        let rows = client.query(all, &[]).await.unwrap();
        client.batch_execute("commit").await.unwrap();
        rows.iter().map(|row| row.get(0)).collect::<Vec<String>>()
    };
    let hex = |id: uuid::Uuid| id.as_simple().to_string();
    assert_eq!(ids(None).await, Vec::<String>::new());
    assert_eq!(
        ids(Some(hex(scope.tenant.uuid()))).await,
        [hex(kept.uuid())]
    );
    assert_eq!(
        ids(Some(hex(stranger.tenant.uuid()))).await,
        [hex(theirs.id.uuid())]
    );
    // A process that acts for one tenant does not reach another, whatever it is asked for.
    let acting = subject.0.clone().acting_for(scope.owner());
    assert_eq!(acting.cells(&stranger, &[theirs.id]).await.unwrap(), []);
    assert_eq!(acting.newest(stranger.owner()).await.unwrap(), Sequence(0));
    let write = world.write(Action::Store, vec![insert(&world.cell(&stranger, "more"))]);
    assert!(acting.commit(&stranger, &write).await.is_err());
    drop(client);
    running.await.unwrap().unwrap();
    subject.0.close().await;
    server
        .database
        .run(&format!("drop owned by {role}; drop role {role}"));
}

#[tokio::test]
async fn a_database_that_may_only_be_read_is_read_and_says_why_it_is_not_written() {
    let Some(server) = OnServer::new(Release::Oldest).await else {
        return;
    };
    let world = World::new(&server).await;
    let scope = world.owner().await.in_project(project("p"));
    let kept = world.store(&scope, "kept").await;
    let name = server.database.run("select current_database()");
    let sql = format!("alter database {name} set default_transaction_read_only = on");
    server.database.run(&sql);
    let store = open(&server.database).await.unwrap();
    let found = store.cells(&scope, &[kept.cell.id]).await.unwrap();
    assert_eq!(found, [kept.cell]);
    let error = store
        .touch(&scope, &[found[0].id], world.now())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("only repeats what another server writes"),
        "{error}"
    );
}
