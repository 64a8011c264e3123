//! Connections and servers that go away: what was acknowledged is there, and once.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use hyphae_core::{
    audit::Action,
    ids::{AuditId, CellId},
    ports::{Committed, MemoryStore, Write},
};
use hyphae_store::{PostgresAddress, PostgresOptions, Store};
use hyphae_testkit::{
    contract::fixture::{World, insert, project},
    postgres::{Release, Server},
};

use super::{
    between::{Between, Fate, Watcher},
    server::{OnServer, Over},
};

async fn create(url: &str) -> Store {
    let address = PostgresAddress::parse(url).unwrap();
    let store = Store::create_on_server(&address, PostgresOptions::default()).await;
    store.unwrap()
}

#[tokio::test]
async fn a_restart_of_the_server_is_not_noticed_by_who_comes_afterwards() {
    let Some(mut server) = Server::new(Release::Newest, &["-A", "trust"]) else {
        return;
    };
    server.start("");
    let store = create(&server.url()).await;
    let subject = Over(store.clone());
    let world = World::new(&subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let first = world.store(&scope, "first").await.cell;
    server.stop();
    server.start_again();
    // Its connections are lost: a read finds out, and so does a write.
    assert_eq!(store.cells(&scope, &[first.id]).await.unwrap(), [first]);
    server.stop();
    server.start_again();
    let second = world.store(&scope, "second").await.cell;
    server.stop();
    let error = store
        .cells(&scope, &[second.id])
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("nothing answers at"), "{error}");
    server.start_again();
    assert_eq!(store.cells(&scope, &[second.id]).await.unwrap(), [second]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_keeps_what_it_acknowledged_once() {
    const STORES: usize = 200;
    let Some(mut server) = Server::new(Release::Oldest, &["-A", "trust"]) else {
        return;
    };
    server.start("");
    let store = create(&server.url()).await;
    let subject = Over(store.clone());
    let world = World::new(&subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let writes: Vec<(CellId, Write)> = (0..STORES)
        .map(|n| {
            let new = world.cell(&scope, &format!("memory {n}"));
            (new.cell.id, world.write(Action::Store, vec![insert(&new)]))
        })
        .collect();
    let killed = Arc::new(AtomicBool::new(false));
    let storing = {
        let (store, scope, killed) = (store.clone(), scope.clone(), Arc::clone(&killed));
        tokio::spawn(async move {
            let mut acknowledged: Vec<(CellId, AuditId)> = Vec::new();
            for (index, (cell, write)) in writes.into_iter().enumerate() {
                while let Err(_gone) = store.commit(&scope, &write).await {
                    tokio::task::yield_now().await;
                }
                acknowledged.push((cell, write.id));
                if index == STORES / 4 {
                    killed.store(true, Ordering::Relaxed);
                }
            }
            acknowledged
        })
    };
    while !killed.load(Ordering::Relaxed) {
        tokio::task::yield_now().await;
    }
    let server = tokio::task::spawn_blocking(move || {
        server.kill();
        server.start_again();
        server
    });
    let _server = server.await.unwrap();
    let acknowledged = storing.await.unwrap();

    assert_eq!(acknowledged.len(), STORES);
    let ids: Vec<CellId> = acknowledged.iter().map(|(cell, _)| *cell).collect();
    assert_eq!(store.cells(&scope, &ids).await.unwrap().len(), STORES);
    let mut audited = world.audited(scope.owner()).await;
    let mut want: Vec<AuditId> = acknowledged.iter().map(|(_, audit)| *audit).collect();
    audited.sort();
    want.sort();
    assert_eq!(audited, want);
    assert_eq!(world.recallable(&scope).await.len(), STORES);
}

/// What happens to a commit on its way.
/// Loses one commit.
struct Lossy {
    fate: Fate,
    armed: AtomicBool,
}

impl Watcher for Lossy {
    fn asked(&self, _connection: usize, bytes: &[u8]) -> Fate {
        let is_commit = bytes.windows(7).any(|part| part == b"commit\0");
        if is_commit && self.armed.swap(false, Ordering::Relaxed) {
            self.fate
        } else {
            Fate::Passes
        }
    }
}

/// Loses a commit and returns whether it was acknowledged and whether it was kept.
async fn lose(fate: Fate) -> Option<(bool, bool)> {
    let server = OnServer::new(Release::Newest).await?;
    let world = World::new(&server).await;
    let scope = world.owner().await.in_project(project("p"));
    let lossy = Arc::new(Lossy {
        fate,
        armed: AtomicBool::new(true),
    });
    let between = Between::new(&server.database.url(), Arc::clone(&lossy));
    let store = Store::connect(&between.address(), PostgresOptions::default())
        .await
        .unwrap();
    let new = world.cell(&scope, "lost?");
    let write = world.write(Action::Store, vec![insert(&new)]);
    let done = store.commit(&scope, &write).await;
    assert!(!lossy.armed.load(Ordering::Relaxed), "no commit came by");
    let acknowledged = done.is_ok_and(Committed::is_done);
    let kept = world.find(&scope, new.cell.id).await.is_some();
    // Whatever it was, doing it again comes to one memory.
    let again = store.commit(&scope, &write).await;
    assert_eq!(again.is_ok_and(Committed::is_done), !kept);
    assert_eq!(world.recallable(&scope).await, [new.cell.id]);
    Some((acknowledged, kept))
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_acknowledged_because_it_was_kept() {
    if let Some(outcome) = lose(Fate::Unanswered(b"COMMIT\0")).await {
        assert_eq!(outcome, (true, true));
    }
}

#[tokio::test]
async fn a_commit_that_never_arrives_is_not_acknowledged_and_not_kept() {
    if let Some(outcome) = lose(Fate::Lost).await {
        assert_eq!(outcome, (false, false));
    }
}
