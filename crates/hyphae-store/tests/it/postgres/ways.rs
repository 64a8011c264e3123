//! How often a process and its server wait for each other.

use std::sync::{Arc, Mutex};

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

use super::{
    between::{Between, Fate, Watcher},
    server::OnServer,
};

/// Counts, for each connection, what was asked after an answer was waited for.
#[derive(Default)]
struct Ways(Mutex<Vec<Connection>>);

#[derive(Default)]
struct Connection {
    ways: usize,
    waits: bool,
}

impl Watcher for Ways {
    fn asked(&self, connection: usize, _bytes: &[u8]) -> Fate {
        let mut all = self.0.lock().unwrap();
        if connection >= all.len() {
            all.resize_with(connection + 1, Connection::default);
        }
        let here = &mut all[connection];
        if !std::mem::replace(&mut here.waits, true) {
            here.ways += 1;
        }
        Fate::Passes
    }

    fn answered(&self, connection: usize) {
        self.0.lock().unwrap()[connection].waits = false;
    }
}

/// Returns what was counted on each connection, and begins again.
fn counted(ways: &Ways) -> Vec<usize> {
    let mut all = ways.0.lock().unwrap();
    let ways = all.iter_mut().map(|here| std::mem::take(&mut here.ways));
    ways.collect()
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
    let ways = Arc::new(Ways::default());
    let between = Between::new(&url, Arc::clone(&ways));
    let store = Store::connect(&between.address(), PostgresOptions::default()).await;
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
}
