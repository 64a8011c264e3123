//! An engine over a scratch database.

use std::sync::Arc;

use hyphae_core::{
    credential::{ApiKey, Credential},
    ids::CredentialId,
    memories::{HitCount, Memories, NewMemory, Outcome, RecallRequest, Recalled, Stored},
    ports::{Clock, CredentialStore},
    recall::Filter,
    scope::{Owner, Project, Scope},
};
use hyphae_store::{SqliteOptions, SqliteStore};
use hyphae_testkit::{ManualClock, WordEmbedder};

pub(crate) struct Rig {
    pub(crate) store: SqliteStore,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) memories: Memories,
    owners: [Owner; 2],
    _folder: tempfile::TempDir,
}

impl Rig {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engine.db");
        let store = SqliteStore::create(&path, SqliteOptions::default())
            .await
            .unwrap();
        let clock = Arc::new(ManualClock::at(1_700_000_000));
        let tenant = store.default_tenant().await.unwrap();
        let mut owners = Vec::new();
        for n in 1..=2 {
            let credential = Credential {
                id: CredentialId::new(clock.new_id()),
                tenant,
                name: format!("agent {n}"),
                created_at: clock.now(),
                revoked_at: None,
            };
            store
                .add_credential(&credential, &ApiKey::from_random([n; 32]))
                .await
                .unwrap();
            owners.push(Owner {
                tenant,
                credential: credential.id,
            });
        }
        let memories = engine(&store, &clock, WordEmbedder::new("words/1", 512));
        Self {
            store,
            clock,
            memories,
            owners: [owners[0], owners[1]],
            _folder: folder,
        }
    }

    /// Another process on the same database, with another model.
    pub(crate) fn with_model(&self, id: &str, dimension: usize) -> Memories {
        engine(&self.store, &self.clock, WordEmbedder::new(id, dimension))
    }

    pub(crate) fn owner(&self) -> Owner {
        self.owners[0]
    }

    pub(crate) fn scope(&self) -> Scope {
        self.scope_of(0, "project")
    }

    pub(crate) fn scope_of(&self, owner: usize, project: &str) -> Scope {
        self.owners[owner].in_project(Project::named(project).unwrap())
    }

    pub(crate) async fn store(&self, text: &str) -> Stored {
        self.memories
            .store(&self.scope(), NewMemory::new(text))
            .await
            .unwrap()
    }

    pub(crate) async fn created(&self, text: &str) -> Stored {
        let stored = self.store(text).await;
        assert_eq!(stored.outcome, Outcome::Created, "{text}");
        stored
    }

    pub(crate) async fn recall(&self, query: &str) -> Recalled {
        recall(&self.memories, &self.scope(), query).await
    }

    /// What is recalled, as texts.
    pub(crate) async fn texts(&self, query: &str) -> Vec<String> {
        texts(&self.recall(query).await)
    }
}

fn engine(store: &SqliteStore, clock: &Arc<ManualClock>, embedder: WordEmbedder) -> Memories {
    Memories::new(
        Arc::new(store.clone()),
        Arc::new(embedder),
        Arc::clone(clock) as Arc<dyn Clock>,
    )
}

pub(crate) fn request(query: &str, k: u16) -> RecallRequest {
    RecallRequest {
        query: query.to_owned(),
        k: HitCount::new(k).unwrap(),
        filter: Filter::default(),
    }
}

pub(crate) async fn recall(memories: &Memories, scope: &Scope, query: &str) -> Recalled {
    memories.recall(scope, &request(query, 10)).await.unwrap()
}

pub(crate) fn texts(recalled: &Recalled) -> Vec<String> {
    recalled
        .matches
        .iter()
        .map(|found| found.cell.content.as_str().to_owned())
        .collect()
}
