//! Tenants on several servers behind one, laid out as the manual says.

use std::sync::Arc;

use async_trait::async_trait;
use hyphae_core::{
    audit::Action,
    cell::{Cell, Content},
    credential::ApiKey,
    ids::TenantId,
    ports::{CredentialStore, MemoryStore, Sequence, Step},
    relation::RelationKind,
    scope::{Owner, Scope},
};
use hyphae_store::{PostgresAddress, PostgresOptions, Store};
use hyphae_testkit::{
    contract::{
        Ports, Subject,
        fixture::{World, insert, link, project, tags},
    },
    postgres::{Database, Release, Server, copy_tables},
};
use tokio_postgres::NoTls;

use super::server::{OnServer, Over};

/// The statements of the manual that spread the tables over nodes, for other nodes.
fn layout(nodes: [&str; 3]) -> String {
    let manual = include_str!("../../../../../docs/many-servers.md");
    let (_, section) = manual.split_once("create extension postgres_fdw;").unwrap();
    let (block, _) = section.split_once("```").unwrap();
    let mut servers = nodes.iter().enumerate();
    let mut server = || {
        let (n, url) = servers.next().unwrap();
        let (database, parameters) = url.strip_prefix("postgres:///")?.split_once("?host=")?;
        let (host, _) = parameters.split_once('&')?;
        Some(format!(
            "create server node{n} foreign data wrapper postgres_fdw options (host '{host}', dbname '{database}');"
        ))
    };
    let lines = block.lines().map(|line| {
        if line.starts_with("create server ") {
            server().unwrap()
        } else if let Some((mapping, _)) = line.split_once(" options (user ") {
            format!("{mapping} options (user 'postgres');")
        } else {
            line.to_owned()
        }
    });
    let lines: Vec<String> = lines.collect();
    assert!(servers.next().is_none());
    format!("create extension postgres_fdw;\n{}", lines.join("\n"))
}

/// Spreads the tables that were made on a coordinator.
async fn spread(release: Release, coordinator: &str, nodes: [&str; 3]) -> Option<()> {
    for node in nodes {
        copy_tables(release, coordinator, node)?;
    }
    let (client, connection) = tokio_postgres::connect(coordinator, NoTls).await.unwrap();
    let running = tokio::spawn(connection);
    client.batch_execute(&layout(nodes)).await.unwrap();
    drop(client);
    running.await.unwrap().unwrap();
    Some(())
}

/// A store whose tables are spread over databases.
#[derive(Debug)]
struct Spread {
    coordinator: Box<dyn Subject>,
    nodes: Arc<[Database; 3]>,
}

#[async_trait]
impl Subject for Spread {
    fn ports(&self) -> &dyn Ports {
        self.coordinator.ports()
    }

    async fn again(&self) -> Box<dyn Subject> {
        Box::new(Self {
            coordinator: self.coordinator.again().await,
            nodes: Arc::clone(&self.nodes),
        })
    }
}

/// Over three databases of one server: what they can do and say is the same.
pub(crate) async fn spread_out() -> Option<Box<dyn Subject>> {
    let release = Release::Oldest;
    let coordinator = OnServer::new(release).await?;
    let nodes = [(); 3].map(|()| Database::new(release).unwrap());
    let urls = nodes.each_ref().map(Database::url);
    spread(
        release,
        &coordinator.database.url(),
        urls.each_ref().map(String::as_str),
    )
    .await?;
    Some(Box::new(Spread {
        coordinator: Box::new(coordinator),
        nodes: Arc::new(nodes),
    }))
}

mod memories {
    hyphae_testkit::memory_contract!(crate::postgres::nodes::spread_out);
}

/// All but appends to one session at the same instant, of which some may be told to try again.
mod sessions {
    hyphae_testkit::one_writer_session_contract!(crate::postgres::nodes::spread_out);
}

mod credentials {
    hyphae_testkit::credential_contract!(crate::postgres::nodes::spread_out);
}

mod transfer {
    hyphae_testkit::transfer_contract!(crate::postgres::nodes::spread_out);
}

async fn create(url: &str) -> Store {
    let address = PostgresAddress::parse(url).unwrap();
    let store = Store::create_on_server(&address, PostgresOptions::default()).await;
    store.unwrap()
}

/// Somebody, and where their tenant's rows are.
struct Settler {
    owner: Owner,
    key: ApiKey,
    node: usize,
}

/// Makes tenants until there is one on each of the nodes.
async fn settle(world: &World<'_>, nodes: &[Server]) -> Vec<Settler> {
    let mut settled: Vec<Settler> = Vec::new();
    while settled.len() < nodes.len() {
        let tenant = TenantId::new(world.id());
        let (credential, key) = world.credential(tenant);
        let credentials = world.subject.credentials();
        credentials.add_credential(&credential, &key).await.unwrap();
        let sql = format!(
            "select count(*) from tenants where tenant_id = '\\x{}'",
            tenant.uuid().as_simple()
        );
        let node = nodes.iter().position(|node| node.run(&sql) == "1").unwrap();
        if settled.iter().all(|settler| settler.node != node) {
            let owner = credential.owner();
            settled.push(Settler { owner, key, node });
        }
    }
    settled
}

/// Returns what was logged since, of statements.
fn asked(node: &Server, since: usize) -> Vec<String> {
    let log = node.log();
    let lines = log[since..].lines().filter(|line| line.contains("LOG:  "));
    let statements = lines.filter(|line| line.contains("statement: ") || line.contains("execute "));
    statements.map(str::to_owned).collect()
}

/// Stores, changes, reads and erases, and returns a cell that is left.
async fn work(world: &World<'_>, scope: &Scope) -> Cell {
    let first = world.store(scope, "first").await.cell;
    let mut second = world.cell(scope, "second");
    second.derived.links = vec![link(first.id, 0.5)];
    let mut steps = vec![insert(&second)];
    steps.push(Step::Key {
        key: [7; 32],
        cell: second.cell.id,
    });
    steps.push(Step::Confirm {
        id: second.cell.id,
        revision: 1,
        evidence: None,
    });
    world.done(scope, steps).await;
    let second = second.cell;
    let ids = [first.id, second.id];
    let kind = RelationKind::Supports;
    world.relate(scope, first.id, kind, second.id).await;
    world.dispute(scope, first.id, second.id).await;
    let changed = world
        .change(scope, &first, |cell| {
            cell.content = Content::new("changed").unwrap();
            cell.tags = tags(["a", "b"]);
        })
        .await;
    let third = world.store(scope, "third").await.cell;
    world.done(scope, vec![world.erase(&third)]).await;

    let memories = world.subject.memories();
    assert_eq!(world.recallable(scope).await.len(), 2);
    assert_eq!(memories.cells(scope, &ids).await.unwrap().len(), 2);
    assert!(memories.newest(scope.owner()).await.unwrap() > Sequence(0));
    assert!(
        memories
            .chosen_model(scope.owner())
            .await
            .unwrap()
            .is_some()
    );
    let links = memories.links(scope, &ids, &|_| false).await.unwrap();
    assert_eq!(links.len(), 2);
    memories.touch(scope, &ids, world.now()).await.unwrap();
    assert!(world.diffs(scope).await.len() > 4);
    assert!(world.audited(scope.owner()).await.len() > 4);
    let session = world.session("/p");
    let sessions = world.subject.sessions();
    sessions
        .create_session(scope.owner(), &session)
        .await
        .unwrap();
    sessions.session(scope.owner(), session.id).await.unwrap();
    changed
}

#[tokio::test]
async fn a_tenant_is_on_one_node_and_a_lost_node_takes_only_its_tenants_away() {
    let release = Release::Oldest;
    let Some(mut coordinator) = Server::new(release, &["-A", "trust"]) else {
        return;
    };
    coordinator.start("");
    let nodes = [(); 3].map(|()| {
        let mut node = Server::new(release, &["-A", "trust"]).unwrap();
        node.start("-c log_statement=all");
        node
    });
    let store = create(&coordinator.url()).await;
    let urls = nodes.each_ref().map(Server::url);
    let urls = urls.each_ref().map(String::as_str);
    spread(release, &coordinator.url(), urls).await.unwrap();
    let subject = Over(store.clone());
    let world = World::new(&subject).await;
    let settled = settle(&world, &nodes).await;

    let mut kept = Vec::new();
    for settler in &settled {
        let scope = settler.owner.in_project(project("p"));
        let before = nodes.each_ref().map(|node| node.log().len());
        kept.push((scope.clone(), work(&world, &scope).await));
        for (n, node) in nodes.iter().enumerate() {
            let asked = asked(node, before[n]);
            match n == settler.node {
                true => assert!(asked.len() > 20, "{asked:#?}"),
                false => assert_eq!(asked, [""; 0], "node {n}, not {}", settler.node),
            }
        }
    }

    let lost = &nodes[settled[0].node];
    lost.kill();
    // Also whoever begins now.
    let anew = create(&coordinator.url()).await;
    for store in [&store, &anew] {
        for settler in &settled {
            let found = store.credential_of_key(&settler.key).await.unwrap();
            assert_eq!(found.unwrap().owner(), settler.owner);
        }
        let (scope, cell) = &kept[0];
        let write = world.write(Action::Store, vec![insert(&world.cell(scope, "lost"))]);
        for error in [
            store.cells(scope, &[cell.id]).await.unwrap_err(),
            store.commit(scope, &write).await.unwrap_err(),
        ] {
            let error = error.to_string();
            assert!(
                error.contains("cannot reach the server that keeps these memories"),
                "{error}"
            );
        }
        for (scope, cell) in &kept[1..] {
            let found = store.cells(scope, &[cell.id]).await.unwrap();
            assert_eq!(found[0].content, cell.content);
            let new = world.cell(scope, &format!("more {}", world.id()));
            let write = world.write(Action::Store, vec![insert(&new)]);
            assert!(store.commit(scope, &write).await.unwrap().is_done());
        }
    }
    lost.start_again();
    let (scope, cell) = &kept[0];
    for store in [&store, &anew] {
        let found = store.cells(scope, &[cell.id]).await.unwrap();
        assert_eq!(found[0].content, cell.content);
    }
    world.store(scope, "again").await;
}
