//! The same memories in a file and on a server.

use std::{path::PathBuf, time::Instant};

use hyphae_core::{
    audit::Action,
    ids::{AuditId, CellId},
    ports::{ChosenModel, Link, MemoryStore, NewCell, NewLink, Step},
    scope::{Owner, Project, Scope},
};
use hyphae_store::{PostgresAddress, PostgresOptions, SqliteOptions, Store};
use hyphae_testkit::made_up;
use jiff::Timestamp;
use uuid::Uuid;

use crate::{
    corpus::{Corpus, Drawn},
    filling,
    known::Known,
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
        let owner = filling::owner(&store).await?;
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
    let model = Known::chosen();
    let mut ids = Vec::new();
    for first in (0..size).step_by(usize::try_from(BATCH)?) {
        let steps = (first..size.min(first + BATCH))
            .map(|n| {
                let new = cell(&scope, &model, &corpus.memory(n), &ids)?;
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

fn cell(
    scope: &Scope,
    model: &ChosenModel,
    drawn: &Drawn,
    before: &[CellId],
) -> anyhow::Result<NewCell> {
    let links = before.iter().rev().step_by(1 + before.len() / LINKS);
    let links = links.take(LINKS).zip(1_u8..).map(|(&to, n)| NewLink {
        link: Link {
            to,
            weight: 1.0 / f32::from(n),
        },
        back: true,
        drops: Vec::new(),
    });
    // The same in both places, or of two equally near ones another would come first.
    let at = Timestamp::from_second(1_780_000_000)?;
    let mut new = filling::cell(scope, model, drawn, None, at)?;
    new.derived.links = links.collect();
    Ok(new)
}
