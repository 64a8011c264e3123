//! How often a process and its server wait for each other.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

use hyphae_core::{
    audit::Via,
    memories::{HitCount, Memories, NewMemory, RecallRequest},
    ports::CredentialStore,
    recall::{Filter, When},
    scope::Owner,
};
use hyphae_store::{PostgresAddress, PostgresOptions, Store};
use hyphae_testkit::{
    ManualClock, WordEmbedder,
    contract::fixture::{World, project},
    postgres::Release,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{UnixListener, UnixStream},
};

use super::server::OnServer;

/// Questions that were sent on each connection after an answer was waited for.
type Ways = Arc<Mutex<Vec<usize>>>;

/// Stands between a store and its server and counts.
async fn count(listener: UnixListener, server: PathBuf, ways: Ways) {
    loop {
        let (mut near, _) = listener.accept().await.unwrap();
        let mut far = UnixStream::connect(&server).await.unwrap();
        let ways = Arc::clone(&ways);
        let at = {
            let mut ways = ways.lock().unwrap();
            ways.push(0);
            ways.len() - 1
        };
        tokio::spawn(async move {
            let (mut asked, mut answered) = (vec![0; 1 << 16], vec![0; 1 << 16]);
            let mut waits = false;
            loop {
                tokio::select! {
                    read = near.read(&mut asked) => {
                        let Some(length) = read.ok().filter(|length| *length > 0) else { return };
                        if !std::mem::replace(&mut waits, true) {
                            ways.lock().unwrap()[at] += 1;
                        }
                        far.write_all(&asked[..length]).await.unwrap();
                    }
                    read = far.read(&mut answered) => {
                        let Some(length) = read.ok().filter(|length| *length > 0) else { return };
                        waits = false;
                        near.write_all(&answered[..length]).await.unwrap();
                    }
                }
            }
        });
    }
}

/// Returns what was counted on each connection, and begins again.
fn counted(ways: &Ways) -> Vec<usize> {
    let mut ways = ways.lock().unwrap();
    let counted = ways.clone();
    ways.fill(0);
    counted
}

/// The clock also makes the ids.
fn memories(store: Store, now: i64) -> Memories {
    Memories::new(
        Arc::new(store),
        Arc::new(WordEmbedder::new("words/1", 64)),
        Arc::new(ManualClock::at(now)),
    )
}

fn asked(text: &str) -> RecallRequest {
    RecallRequest {
        query: Some(text.to_owned()),
        k: HitCount::default(),
        filter: Filter::at(When::Now("2027-02-01T00:00:00Z".parse().unwrap())),
        max_distance: None,
    }
}

/// A connection that is free is the one that was used last, so whatever one alone waits for is
/// counted there; what is asked at the same time goes over another.
#[tokio::test]
async fn a_recall_waits_twice_at_the_most_and_a_store_not_for_every_statement() {
    let Some(server) = OnServer::new(Release::Newest).await else {
        return;
    };
    let owner: Owner = World::new(&server).await.owner().await;
    let url = server.database.url();
    let (_, host) = url.split_once("host=").unwrap();
    let host = host.split('&').next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
    let ways = Ways::default();
    let far = PathBuf::from(host).join(".s.PGSQL.5432");
    let between = tokio::spawn(count(listener, far, Arc::clone(&ways)));
    let through = url.replace(host, folder.path().to_str().unwrap());
    let address = PostgresAddress::parse(&through).unwrap();
    let store = Store::connect(&address, PostgresOptions::default()).await;
    let store = store.unwrap().acting_for(owner);
    store.default_tenant().await.unwrap();
    let here = memories(store, 1_800_000_000);
    let address = PostgresAddress::parse(&url).unwrap();
    let elsewhere = Store::connect(&address, PostgresOptions::default()).await;
    let elsewhere = memories(elsewhere.unwrap(), 1_800_000_100);
    let scope = owner.in_project(project("p"));
    let via = Via::default();

    let text = "The build needs a newer compiler than the one of the distribution.";
    here.store(&scope, NewMemory::new(text), &via)
        .await
        .unwrap();
    assert_eq!(
        here.recall(&scope, &asked("compiler"))
            .await
            .unwrap()
            .matches
            .len(),
        1
    );
    counted(&ways);

    here.recall(&scope, &asked("compiler")).await.unwrap();
    let known = counted(&ways);
    assert!(known.iter().all(|&waits| waits <= 2), "{known:?}");

    let text = "Releases are cut from main on Tuesdays.";
    elsewhere
        .store(&scope, NewMemory::new(text), &via)
        .await
        .unwrap();
    let found = here.recall(&scope, &asked("releases main")).await.unwrap();
    assert_eq!(found.matches[0].cell.content.as_str(), text);
    let changed = counted(&ways);
    assert!(changed.iter().all(|&waits| waits <= 2), "{changed:?}");

    let text = "The compiler of the build comes from a pinned container image.";
    here.store(&scope, NewMemory::new(text), &via)
        .await
        .unwrap();
    let stored: usize = counted(&ways).iter().sum();
    assert!(stored <= 6, "{stored}");
    between.abort();
}
