//! The same memories in a file and on a server.

use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Instant};

use async_trait::async_trait;
use hyphae_core::{
    audit::Action,
    cell::Content,
    credential::{ApiKey, Credential},
    ids::{AuditId, CellId, CredentialId, DiffId},
    memories::Memories,
    ports::{
        ChosenModel, Clock, CredentialStore, Derived, EmbedError, Embedder, EmbeddingModel, Link,
        MemoryStore, NewCell, NewLink, Step,
    },
    recall::{self, Vector},
    scope::{Owner, Project, Scope},
};
use hyphae_embed::BuiltIn;
use hyphae_store::{PostgresAddress, PostgresOptions, SqliteOptions, Store};
use hyphae_testkit::made_up;
use jiff::Timestamp;
use uuid::Uuid;

use crate::{
    DIMENSION,
    corpus::{Corpus, Drawn},
};

/// Cells that are written in one transaction while a store is filled.
const BATCH: u64 = 100;

/// Where memories are kept.
#[derive(Debug)]
pub(crate) enum Place {
    File(PathBuf),
    Server(String),
}

impl Place {
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::File(_) => "in the file",
            Self::Server(_) => "on the server",
        }
    }

    /// Returns what another process finds it by.
    pub(crate) fn address(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Server(url) => url.clone(),
        }
    }

    pub(crate) fn at(address: &str) -> Self {
        if address.starts_with("postgres:") {
            Self::Server(address.to_owned())
        } else {
            Self::File(PathBuf::from(address))
        }
    }

    /// Opens it as a process does that acts for the holder of a key.
    pub(crate) async fn open(&self) -> anyhow::Result<(Store, Owner)> {
        let store = match self {
            Self::File(path) => Store::create_file(path, SqliteOptions::default()).await?,
            Self::Server(url) => {
                let address = PostgresAddress::parse(url)?;
                Store::create_on_server(&address, PostgresOptions::default()).await?
            }
        };
        let key = ApiKey::from_random([7; 32]);
        let owner = match store.credential_of_key(&key).await? {
            Some(credential) => credential.owner(),
            None => {
                let credential = Credential {
                    id: CredentialId::new(Uuid::now_v7()),
                    tenant: store.default_tenant().await?,
                    name: "bench".to_owned(),
                    created_at: Timestamp::now(),
                    revoked_at: None,
                };
                store.add_credential(&credential, &key).await?;
                credential.owner()
            }
        };
        Ok((store.acting_for(owner), owner))
    }
}

pub(crate) fn project() -> anyhow::Result<Project> {
    Ok(Project::named("/srv/team")?)
}

/// Writes the first `size` memories of the corpus; returns how many seconds that took.
pub(crate) async fn fill(place: &Place, corpus: &Corpus, size: u64) -> anyhow::Result<f64> {
    let (store, owner) = place.open().await?;
    let scope = owner.in_project(project()?);
    let started = Instant::now();
    let mut ids = Vec::new();
    for first in (0..size).step_by(usize::try_from(BATCH)?) {
        let steps = (first..size.min(first + BATCH))
            .map(|n| {
                let new = cell(&scope, &corpus.memory(n), &ids)?;
                ids.push(new.cell.id);
                Ok(Step::Insert(Box::new(new)))
            })
            .collect::<anyhow::Result<_>>()?;
        let id = AuditId::new(Uuid::now_v7());
        let write = made_up::write(id, Action::Store, Timestamp::now(), steps);
        let done = store.commit(&scope, &write).await?;
        anyhow::ensure!(done.is_done(), "a memory was not new: {done:?}");
    }
    store.close().await;
    Ok(started.elapsed().as_secs_f64())
}

/// The most links of a new cell, some thousand cells apart from each other.
const LINKS: usize = 6;

fn cell(scope: &Scope, drawn: &Drawn, before: &[CellId]) -> anyhow::Result<NewCell> {
    let links = before.iter().rev().step_by(1 + before.len() / LINKS);
    let links = links.take(LINKS).zip(1_u8..).map(|(&to, n)| NewLink {
        link: Link {
            to,
            weight: 1.0 / f32::from(n),
        },
        back: true,
        drops: Vec::new(),
    });
    let content = Content::new(&drawn.text)?;
    let terms = recall::terms_of(content.as_str());
    let vector = Vector::quantise(&drawn.vector);
    // The same in both places, or of two equally near ones another would come first.
    let at = Timestamp::from_second(1_780_000_000)?;
    Ok(NewCell {
        derived: Derived {
            context: recall::context_terms(at, None),
            links: links.collect(),
            ..made_up::derived(&content, model(), vector, terms)
        },
        diff: DiffId::new(Uuid::now_v7()),
        cell: made_up::fact(scope, CellId::new(Uuid::now_v7()), at, content),
    })
}

fn model() -> ChosenModel {
    ChosenModel {
        id: "bench/1".to_owned(),
        dimension: DIMENSION,
    }
}

pub(crate) fn memories(store: Store, known: &Arc<Known>) -> Memories {
    let known = Arc::clone(known) as Arc<dyn Embedder>;
    Memories::new(Arc::new(store), known, Arc::new(WallClock))
}

/// An embedder that knows the vectors of all texts already.
#[derive(Debug)]
pub(crate) struct Known {
    model: EmbeddingModel,
    vectors: HashMap<String, Vec<f32>>,
}

impl Known {
    pub(crate) fn new<'a>(drawn: impl Iterator<Item = &'a Drawn>) -> Self {
        Self {
            model: EmbeddingModel {
                id: model().id,
                dimension: DIMENSION,
                calibration: BuiltIn::minilm().model().calibration,
            },
            vectors: drawn
                .map(|drawn| (drawn.text.clone(), drawn.vector.clone()))
                .collect(),
        }
    }

    /// Looks a text up. What is embedded of a memory is more than its text: the text is part of it.
    fn vector_of(&self, text: &str) -> Option<Vec<f32>> {
        self.vectors.get(text).cloned().or_else(|| {
            let (_, own) = text.split_once(": ")?;
            self.vectors.get(own).cloned()
        })
    }
}

#[async_trait]
impl Embedder for Known {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        let known = texts.iter().map(|text| self.vector_of(text));
        known.collect::<Option<_>>().ok_or(EmbedError::Interrupted)
    }
}

#[derive(Debug)]
struct WallClock;

impl Clock for WallClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn new_id(&self) -> Uuid {
        Uuid::now_v7()
    }
}
