//! Connections and servers that go away: what was acknowledged is there, and once.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
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
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{UnixListener, UnixStream},
};

use super::server::{OnServer, Over};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loss {
    /// It never arrives.
    Question,
    /// It arrives, and the answer does not.
    Answer,
}

/// Stands between a store and its server and loses one commit.
async fn lossy(
    listener: UnixListener,
    server: std::path::PathBuf,
    loss: Loss,
    armed: Arc<AtomicBool>,
) {
    loop {
        let (mut near, _) = listener.accept().await.unwrap();
        let (server, armed) = (server.clone(), Arc::clone(&armed));
        tokio::spawn(async move {
            let mut far = UnixStream::connect(&server).await.unwrap();
            let (mut asked, mut answered) = (vec![0; 1 << 16], vec![0; 1 << 16]);
            loop {
                tokio::select! {
                    read = near.read(&mut asked) => {
                        let Some(length) = read.ok().filter(|length| *length > 0) else { return };
                        let is_commit = asked[..length].windows(7).any(|part| part == b"commit\0");
                        if is_commit && armed.swap(false, Ordering::Relaxed) {
                            if loss == Loss::Answer {
                                far.write_all(&asked[..length]).await.unwrap();
                                let mut all = Vec::new();
                                while !all.windows(7).any(|part| part == b"COMMIT\0") {
                                    let length = far.read(&mut answered).await.unwrap();
                                    assert!(length > 0, "the server has gone away");
                                    all.extend_from_slice(&answered[..length]);
                                }
                            }
                            return;
                        }
                        far.write_all(&asked[..length]).await.unwrap();
                    }
                    read = far.read(&mut answered) => {
                        let Some(length) = read.ok().filter(|length| *length > 0) else { return };
                        near.write_all(&answered[..length]).await.unwrap();
                    }
                }
            }
        });
    }
}

/// Loses a commit and returns whether it was acknowledged and whether it was kept.
async fn lose(loss: Loss) -> Option<(bool, bool)> {
    let server = OnServer::new(Release::Newest).await?;
    let world = World::new(&server).await;
    let scope = world.owner().await.in_project(project("p"));
    let url = server.database.url();
    let (_, host) = url.split_once("host=").unwrap();
    let host = host.split('&').next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
    let armed = Arc::new(AtomicBool::new(true));
    let far = Path::new(host).join(".s.PGSQL.5432");
    let between = tokio::spawn(lossy(listener, far, loss, Arc::clone(&armed)));
    let url = url.replace(host, folder.path().to_str().unwrap());
    let address = PostgresAddress::parse(&url).unwrap();
    let store = Store::connect(&address, PostgresOptions::default())
        .await
        .unwrap();
    let new = world.cell(&scope, "lost?");
    let write = world.write(Action::Store, vec![insert(&new)]);
    let done = store.commit(&scope, &write).await;
    assert!(!armed.load(Ordering::Relaxed), "no commit came by");
    let acknowledged = done.is_ok_and(Committed::is_done);
    let kept = world.find(&scope, new.cell.id).await.is_some();
    // Whatever it was, doing it again comes to one memory.
    let again = store.commit(&scope, &write).await;
    assert_eq!(again.is_ok_and(Committed::is_done), !kept);
    assert_eq!(world.recallable(&scope).await, [new.cell.id]);
    between.abort();
    Some((acknowledged, kept))
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_acknowledged_because_it_was_kept() {
    if let Some(outcome) = lose(Loss::Answer).await {
        assert_eq!(outcome, (true, true));
    }
}

#[tokio::test]
async fn a_commit_that_never_arrives_is_not_acknowledged_and_not_kept() {
    if let Some(outcome) = lose(Loss::Question).await {
        assert_eq!(outcome, (false, false));
    }
}
