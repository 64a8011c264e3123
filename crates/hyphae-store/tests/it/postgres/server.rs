//! A database of its own on a server.

use std::sync::Arc;

use async_trait::async_trait;
use hyphae_store::{PostgresAddress, PostgresOptions, Store};
use hyphae_testkit::{
    contract::{Ports, Subject},
    postgres::{Database, Release},
};

/// A store and its database, which goes away with the last of its handles.
#[derive(Debug)]
pub(crate) struct OnServer {
    pub(crate) store: Store,
    pub(crate) database: Arc<Database>,
    /// How another process connects.
    address: PostgresAddress,
}

impl OnServer {
    pub(crate) async fn new(release: Release) -> Option<Self> {
        let database = Arc::new(Database::new(release)?);
        let address = address(&database);
        let store = Store::create_on_server(&address, PostgresOptions::default()).await;
        Some(Self {
            store: store.unwrap(),
            database,
            address,
        })
    }
}

pub(crate) fn address(database: &Database) -> PostgresAddress {
    PostgresAddress::parse(&database.url()).unwrap()
}

/// Behind a pooler that gives each transaction another connection.
pub(crate) async fn pooled() -> Option<Box<dyn Subject>> {
    let database = Arc::new(Database::new(Release::Newest)?);
    let pooled = PostgresAddress::parse(&database.pooled_url()?).unwrap();
    let store = Store::create_on_server(&pooled, PostgresOptions::default()).await;
    Some(Box::new(OnServer {
        store: store.unwrap(),
        address: address(&database),
        database,
    }))
}

/// The statements of the manual that give the role `hyphae` its rights.
pub(crate) fn rights(role: &str) -> String {
    let manual = include_str!("../../../../../docs/postgres.md");
    let rights: Vec<String> = manual
        .lines()
        .filter(|line| {
            ["grant ", "revoke "]
                .iter()
                .any(|word| line.starts_with(word))
        })
        .map(|line| line.replace(" hyphae;", &format!(" {role};")))
        .collect();
    assert_eq!(rights.len(), 3, "{rights:?}");
    rights.concat()
}

/// As the role of the manual, for which the tables' policies hold.
pub(crate) async fn restricted() -> Option<Box<dyn Subject>> {
    let owner = OnServer::new(Release::Oldest).await?;
    let sql = "do $$ begin create role hyphae_app login;
        exception when duplicate_object or unique_violation then null; end $$;";
    owner
        .database
        .run(&format!("{sql} {}", rights("hyphae_app")));
    let address = restricted_address(&owner.database);
    let store = Store::connect(&address, PostgresOptions::default()).await;
    Some(Box::new(OnServer {
        store: store.unwrap(),
        database: owner.database,
        address,
    }))
}

/// With pgvector in the database, which must change nothing.
pub(crate) async fn newest() -> Option<Box<dyn Subject>> {
    let newest = OnServer::new(Release::Newest).await?;
    newest.database.run("create extension vector");
    Some(Box::new(newest))
}

pub(crate) async fn oldest() -> Option<Box<dyn Subject>> {
    Some(Box::new(OnServer::new(Release::Oldest).await?))
}

#[async_trait]
impl Subject for OnServer {
    fn ports(&self) -> &dyn Ports {
        &self.store
    }

    async fn again(&self) -> Box<dyn Subject> {
        let store = Store::connect(&self.address, PostgresOptions::default()).await;
        Box::new(Self {
            store: store.unwrap(),
            database: Arc::clone(&self.database),
            address: self.address.clone(),
        })
    }
}

/// A store whose database is somebody else's to end.
#[derive(Debug)]
pub(crate) struct Over(pub(crate) Store);

#[async_trait]
impl Subject for Over {
    fn ports(&self) -> &dyn Ports {
        &self.0
    }

    async fn again(&self) -> Box<dyn Subject> {
        Box::new(Self(self.0.clone()))
    }
}

fn restricted_address(database: &Database) -> PostgresAddress {
    let url = database.url().replace("user=postgres", "user=hyphae_app");
    PostgresAddress::parse(&url).unwrap()
}
