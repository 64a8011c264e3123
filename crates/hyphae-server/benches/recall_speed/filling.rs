//! A store with as many memories as are wanted, written through the port like any other.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::Context;
use hyphae_core::{
    audit::Action,
    cell::Content,
    credential::{ApiKey, Credential},
    ids::{AuditId, CellId, CredentialId, DiffId},
    ports::{ChosenModel, CredentialStore, Derived, MemoryStore, NewCell, Step},
    recall::{self, Vector},
    scope::{Owner, Project, Scope},
};
use hyphae_store::{SqliteOptions, Store};
use hyphae_testkit::made_up;
use jiff::{Timestamp, ToSpan};
use uuid::Uuid;

use crate::corpus::{Corpus, Drawn};

/// A part of a store whose memories differ from each other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) project: &'a str,
    pub(crate) size: u64,
    /// The number of its first memory in the corpus.
    pub(crate) first: u64,
}

/// A filled store and who may read it.
#[derive(Debug)]
pub(crate) struct Filled {
    pub(crate) path: PathBuf,
    pub(crate) owner: Owner,
}

/// The key that opens a filled store.
pub(crate) fn key() -> ApiKey {
    ApiKey::from_random([7; 32])
}

impl Filled {
    pub(crate) async fn open(&self) -> anyhow::Result<Store> {
        Ok(Store::open_file(&self.path, SqliteOptions::default()).await?)
    }

    pub(crate) fn scope(&self, project: &str) -> anyhow::Result<Scope> {
        Ok(self.owner.in_project(Project::named(project)?))
    }
}

/// Makes a store of `parts` and of as many other memories, spread over a thousand projects, as
/// make `total` altogether. Neighbours in time belong to different projects, as they do when many
/// people work at once. A store that is there already is taken as it is.
pub(crate) async fn fill(
    path: &Path,
    corpus: &Corpus,
    model: &ChosenModel,
    parts: &[Part<'_>],
    total: u64,
) -> anyhow::Result<Filled> {
    let there = path.exists();
    let store = Store::create_file(path, SqliteOptions::default()).await?;
    let owner = owner(&store).await?;
    let filled = Filled {
        path: path.to_owned(),
        owner,
    };
    if !there {
        let started = Instant::now();
        write(&store, &filled, corpus, model, parts, total).await?;
        eprintln!(
            "{} memories written in {:.0} s",
            total.max(parts.iter().map(|part| part.size).sum()),
            started.elapsed().as_secs_f64()
        );
    }
    store.close().await;
    Ok(filled)
}

pub(crate) async fn owner(store: &Store) -> anyhow::Result<Owner> {
    let credential = match store.credential_of_key(&key()).await? {
        Some(credential) => credential,
        None => {
            let credential = Credential {
                id: CredentialId::new(Uuid::now_v7()),
                tenant: store.default_tenant().await?,
                name: "bench".to_owned(),
                created_at: Timestamp::now(),
                revoked_at: None,
            };
            store.add_credential(&credential, &key()).await?;
            credential
        }
    };
    Ok(Owner {
        tenant: credential.tenant,
        credential: credential.id,
    })
}

async fn write(
    store: &Store,
    filled: &Filled,
    corpus: &Corpus,
    model: &ChosenModel,
    parts: &[Part<'_>],
    total: u64,
) -> anyhow::Result<()> {
    let scopes: Vec<Scope> = parts
        .iter()
        .map(|part| filled.scope(part.project))
        .collect::<anyhow::Result<_>>()?;
    let others: Vec<Scope> = (0..1000)
        .map(|n| filled.scope(&format!("/other/{n}")))
        .collect::<anyhow::Result<_>>()?;
    let samples: Vec<NewCell> = (0..1000)
        .map(|n| {
            let drawn = corpus.memory(3_000_000_000 + n);
            cell(&others[0], model, &drawn, None, day(&drawn)?)
        })
        .collect::<anyhow::Result<_>>()?;
    let wanted: u64 = parts.iter().map(|part| part.size).sum();
    let total = total.max(wanted);
    for n in 0..total {
        // A prime that does not divide the total visits every place once, far from the last one.
        let mut place = n * 7919 % total;
        let mut chosen = None;
        for (part, scope) in parts.iter().zip(&scopes) {
            if place < part.size {
                chosen = Some((part, scope));
                break;
            }
            place -= part.size;
        }
        if let Some((part, scope)) = chosen {
            let drawn = corpus.memory(part.first + place);
            let before = place.checked_sub(1).map(|n| corpus.memory(part.first + n));
            let new = cell(scope, model, &drawn, before.as_ref(), day(&drawn)?)?;
            keep(store, scope, new).await?;
        } else {
            let scope = &others[(place % 1000) as usize];
            let new = copy(&samples[(n % 1000) as usize], scope, place)?;
            keep(store, scope, new).await?;
        }
    }
    Ok(())
}

/// Returns a day of the last two years. The words of a date are those of some hundred memories of
/// a large project.
fn day(drawn: &Drawn) -> anyhow::Result<Timestamp> {
    let days = i64::from(drawn.text.len() as u32 * 7 % 600);
    let at = Timestamp::now().checked_sub((24 * days).hours());
    at.context("a day of the last two years")
}

/// Makes a cell as [`Memories::store`](hyphae_core::memories::Memories::store) would, without links.
pub(crate) fn cell(
    scope: &Scope,
    model: &ChosenModel,
    drawn: &Drawn,
    before: Option<&Drawn>,
    at: Timestamp,
) -> anyhow::Result<NewCell> {
    let content = Content::new(&drawn.text)?;
    let before = before.map(|drawn| Content::new(&drawn.text)).transpose()?;
    let terms = recall::terms_of(content.as_str());
    let vector = Vector::quantise(&drawn.vector);
    Ok(NewCell {
        derived: Derived {
            context: recall::context_terms(at, before.as_ref()),
            ..made_up::derived(&content, model.clone(), vector, terms)
        },
        diff: DiffId::new(Uuid::now_v7()),
        cell: made_up::fact(scope, CellId::new(Uuid::now_v7()), at, content),
    })
}

/// Writes one cell in a transaction of its own.
async fn keep(store: &Store, scope: &Scope, new: NewCell) -> anyhow::Result<()> {
    let at = new.cell.updated_at;
    let steps = vec![Step::Insert(Box::new(new))];
    let write = made_up::write(AuditId::new(Uuid::now_v7()), Action::Store, at, steps);
    let done = store.commit(scope, &write).await?;
    anyhow::ensure!(done.is_done(), "a memory was not new: {done:?}");
    Ok(())
}

/// Makes another cell from a sample for a project that is only there to be in the way.
fn copy(sample: &NewCell, scope: &Scope, n: u64) -> anyhow::Result<NewCell> {
    let mut new = sample.clone();
    new.cell.content = Content::new(&format!("{} {n}", sample.cell.content.as_str()))?;
    new.derived.fingerprint = new.cell.content.fingerprint();
    new.cell.id = CellId::new(Uuid::now_v7());
    new.cell.project = scope.project.clone();
    new.diff = DiffId::new(Uuid::now_v7());
    Ok(new)
}
