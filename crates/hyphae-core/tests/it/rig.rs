//! An engine over a scratch database.

use std::{sync::Arc, time::Duration};

use hyphae_core::{
    audit::Via,
    cell::{Cell, Share},
    credential::{ApiKey, Credential},
    ids::{CellId, CredentialId},
    label::{Tag, Tags, Topic},
    memories::{
        ForgetRequest, Forgetting, HitCount, Memories, NewMemory, NewRelation, Outcome,
        RecallRequest, Recalled, Related, Stored, Target,
    },
    ports::{Clock, CredentialStore, MemoryStore},
    recall::Filter,
    relation::RelationKind,
    scope::{Owner, Project, Scope},
};
use hyphae_store::{SqliteOptions, Store};
use hyphae_testkit::{ManualClock, WordEmbedder};
use jiff::Timestamp;

pub(crate) struct Rig {
    pub(crate) store: Store,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) memories: Memories,
    owners: [Owner; 2],
    _folder: tempfile::TempDir,
}

impl Rig {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engine.db");
        let store = Store::create_file(&path, SqliteOptions::default())
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

    /// Somebody else in the same project.
    pub(crate) fn other(&self) -> Scope {
        self.scope_of(1, "project")
    }

    /// Lets a second pass, and returns the moment.
    pub(crate) fn tick(&self) -> Timestamp {
        self.clock.advance(Duration::from_secs(1));
        self.clock.now()
    }

    pub(crate) async fn store(&self, text: &str) -> Stored {
        self.keep(NewMemory::new(text)).await
    }

    pub(crate) async fn keep(&self, memory: NewMemory) -> Stored {
        self.keep_as(&self.scope(), memory).await
    }

    pub(crate) async fn keep_as(&self, scope: &Scope, memory: NewMemory) -> Stored {
        self.memories.store(scope, memory, via()).await.unwrap()
    }

    pub(crate) async fn created(&self, text: &str) -> Stored {
        let stored = self.store(text).await;
        assert_eq!(stored.outcome, Outcome::Created, "{text}");
        stored
    }

    pub(crate) async fn recall(&self, query: &str) -> Recalled {
        recall(&self.memories, &self.scope(), query).await
    }

    /// The memory as it is kept.
    pub(crate) async fn cell(&self, id: CellId) -> Cell {
        let cells = self.store.cells(&self.scope(), &[id]).await.unwrap();
        cells.into_iter().next().unwrap()
    }

    pub(crate) async fn link(&self, from: CellId, kind: RelationKind, to: CellId) -> Related {
        let new = relation(from, kind, to);
        let scope = self.scope();
        self.memories.link(&scope, &new, via()).await.unwrap()
    }

    /// Takes a memory back or brings it back.
    pub(crate) async fn forget(&self, id: CellId, mode: Forgetting) {
        let request = ForgetRequest {
            targets: vec![Target::Cell(id)],
            mode,
            apply: true,
            token: None,
            reason: None,
        };
        let scope = self.scope();
        self.memories.forget(&scope, &request, via()).await.unwrap();
    }

    /// What is recalled, as texts.
    pub(crate) async fn texts(&self, query: &str) -> Vec<String> {
        texts(&self.recall(query).await)
    }
}

fn engine(store: &Store, clock: &Arc<ManualClock>, embedder: WordEmbedder) -> Memories {
    Memories::new(
        Arc::new(store.clone()),
        Arc::new(embedder),
        Arc::clone(clock) as Arc<dyn Clock>,
    )
}

/// From nowhere in particular.
pub(crate) fn via() -> &'static Via {
    static NOWHERE: Via = Via {
        session: None,
        client: None,
    };
    &NOWHERE
}

pub(crate) fn topic(name: &str) -> Option<Topic> {
    Some(Topic::new(name).unwrap())
}

pub(crate) fn tag(name: &str) -> Tag {
    Tag::new(name).unwrap()
}

pub(crate) fn tags<const N: usize>(names: [&str; N]) -> Tags {
    Tags::new(names.map(tag)).unwrap()
}

pub(crate) fn relation(from: CellId, kind: RelationKind, to: CellId) -> NewRelation {
    NewRelation {
        from,
        to,
        kind,
        weight: Share::FULL,
        reason: None,
    }
}

/// A token as GitHub gives it out.
pub(crate) fn secret() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
}

pub(crate) fn request(memories: &Memories, query: &str, k: u16) -> RecallRequest {
    RecallRequest {
        query: Some(query.to_owned()),
        k: HitCount::new(k).unwrap(),
        filter: Filter::at(memories.now()),
        max_distance: None,
    }
}

pub(crate) async fn recall(memories: &Memories, scope: &Scope, query: &str) -> Recalled {
    let request = request(memories, query, 10);
    memories.recall(scope, &request).await.unwrap()
}

pub(crate) fn texts(recalled: &Recalled) -> Vec<String> {
    recalled
        .matches
        .iter()
        .map(|found| found.cell.content.as_str().to_owned())
        .collect()
}
