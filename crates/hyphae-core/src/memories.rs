//! Storing, recalling, changing, linking and forgetting: the one engine behind every surface.
//!
//! `request` and `answer` are what comes in and what goes out; each group of verbs has a module.

mod answer;
mod changing;
mod error;
mod forgetting;
mod linking;
mod reading;
mod recalling;
mod relating;
mod request;
mod storing;

use std::{collections::HashMap, sync::Arc};

use jiff::Timestamp;
use tokio::sync::{Mutex, Notify, OnceCell};

pub use answer::{
    Confirmed, Details, Dispute, ForgetOutcome, Forgettable, Forgotten, ForgottenItem, Match, Mode,
    Outcome, Page, PageStart, Recalled, Related, Resolved, Similar, Stored, Update, Updated,
    Updates, Voice,
};
pub use error::MemoryError;
use forgetting::Previews;
pub use request::{
    ForgetRequest, Forgetting, HitCount, NewMemory, NewRelation, Patch, RecallRequest, Target,
};

use crate::{
    audit::{Action, Via},
    cell::Layer,
    ids::{AuditId, CellId, DiffId},
    mask,
    ports::{ChosenModel, Clock, EmbedError, Embedder, MemoryStore, Step, StoreError, Write},
    recall::{self, ProjectIndex, Scoring, When},
    scope::{Owner, Scope},
};

/// The memory of a process, over a store and an embedder.
#[derive(Debug)]
pub struct Memories {
    store: Arc<dyn MemoryStore>,
    embedder: Arc<dyn Embedder>,
    clock: Arc<dyn Clock>,
    scoring: Scoring,
    indexes: Mutex<Indexes>,
    /// Held while a memory is stored, so that one process does not race itself.
    storing: Mutex<()>,
    model_settled: OnceCell<()>,
    touched: std::sync::Mutex<HashMap<Scope, HashMap<CellId, Timestamp>>>,
    touch: Notify,
    previews: Previews,
}

/// The recall indexes that are kept filled, least recently used first.
#[derive(Debug, Default)]
struct Indexes(Vec<(Scope, Arc<Mutex<ProjectIndex>>)>);

impl Indexes {
    /// More bytes than this are given up, except for the index in use.
    const MAX_BYTES: usize = 256 << 20;

    fn get(&mut self, scope: &Scope, dimension: usize) -> Arc<Mutex<ProjectIndex>> {
        let found = self.0.iter().position(|(other, _)| other == scope);
        let entry = match found {
            Some(at) => self.0.remove(at),
            None => (
                scope.clone(),
                Arc::new(Mutex::new(ProjectIndex::new(dimension))),
            ),
        };
        let index = Arc::clone(&entry.1);
        self.0.push(entry);
        index
    }

    fn shrink(&mut self) {
        // An index that is in use right now is not counted; it will be the next time.
        let size = |index: &Mutex<ProjectIndex>| index.try_lock().map_or(0, |i| i.bytes());
        let mut total: usize = self.0.iter().map(|(_, index)| size(index)).sum();
        while total > Self::MAX_BYTES && self.0.len() > 1 {
            total -= size(&self.0.remove(0).1);
        }
    }
}

impl Memories {
    /// Makes the memory of a process. Nothing is opened, loaded or read before the first use.
    pub fn new(
        store: Arc<dyn MemoryStore>,
        embedder: Arc<dyn Embedder>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let scoring = Scoring::for_model(&embedder.model().calibration);
        Self {
            store,
            embedder,
            clock,
            scoring,
            indexes: Mutex::default(),
            storing: Mutex::default(),
            model_settled: OnceCell::new(),
            touched: std::sync::Mutex::default(),
            touch: Notify::new(),
            previews: Previews::default(),
        }
    }

    /// Replaces the scoring rule, for measuring.
    #[must_use]
    pub const fn with_scoring(mut self, scoring: Scoring) -> Self {
        self.scoring = scoring;
        self
    }

    /// Returns the present moment as a condition of a recall.
    pub fn now(&self) -> When {
        When::Now(self.clock.now())
    }

    /// Returns the store beneath, for what is read and not recalled.
    pub fn store_port(&self) -> &dyn MemoryStore {
        self.store.as_ref()
    }

    /// Returns the embedder of this process.
    pub fn embedder(&self) -> &dyn Embedder {
        self.embedder.as_ref()
    }

    async fn embed(&self, text: &str) -> Result<Vec<f32>, MemoryError> {
        let mut vectors = self.embedder.embed(vec![text.to_owned()]).await?;
        vectors
            .pop()
            .ok_or(MemoryError::Embed(EmbedError::Interrupted))
    }

    fn model(&self) -> ChosenModel {
        let model = self.embedder.model();
        ChosenModel {
            id: model.id.clone(),
            dimension: model.dimension,
        }
    }

    /// Returns the scope's index with everything that was committed before the call.
    async fn fresh_index(&self, scope: &Scope) -> Result<Arc<Mutex<ProjectIndex>>, MemoryError> {
        /// Rows a read brings at the most, so that memory stays flat while an index is filled.
        const BATCH: usize = 512;
        let ours = self.model();
        self.model_settled
            .get_or_try_init(|| async {
                match self.store.chosen_model(scope.owner()).await? {
                    Some(_) => Ok(()),
                    None => self.store.choose_model(scope.owner(), &ours).await,
                }
            })
            .await?;
        let index = {
            let mut indexes = self.indexes.lock().await;
            indexes.shrink();
            indexes.get(scope, ours.dimension)
        };
        let mut filled = index.lock().await;
        if filled.is_worn() {
            *filled = ProjectIndex::new(ours.dimension);
        }
        loop {
            let changes = self.store.changes(scope, filled.upto(), BATCH, &ours);
            let changes = changes.await?;
            let complete = changes.len() < BATCH;
            filled.apply(changes);
            if complete {
                drop(filled);
                return Ok(index);
            }
        }
    }

    fn write(&self, action: Action, via: &Via, steps: Vec<Step>) -> Write {
        Write {
            id: AuditId::new(self.clock.new_id()),
            action,
            via: via.clone(),
            at: self.clock.now(),
            reason: None,
            redactions: 0,
            steps,
        }
    }

    fn new_diff(&self) -> DiffId {
        DiffId::new(self.clock.new_id())
    }

    fn note_touched(&self, scope: &Scope, matches: &[Match]) {
        if matches.is_empty() {
            return;
        }
        let now = self.clock.now();
        let mut touched = self
            .touched
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let cells = touched.entry(scope.clone()).or_default();
        cells.extend(matches.iter().map(|found| (found.cell.id, now)));
        drop(touched);
        self.touch.notify_one();
    }

    /// Waits until memories were read whose last access is not written yet.
    pub async fn touched(&self) {
        self.touch.notified().await;
    }

    /// Writes when memories were last read. Called off the answer path, in batches; what is not
    /// written when a process dies only makes a memory look older than it is.
    ///
    /// # Errors
    /// [`StoreError`]; what was not written is tried again the next time.
    pub async fn write_touched(&self) -> Result<(), StoreError> {
        let taken = std::mem::take(
            &mut *self
                .touched
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner),
        );
        for (scope, cells) in taken {
            let ids: Vec<CellId> = cells.keys().copied().collect();
            let Some(at) = cells.values().max().copied() else {
                continue;
            };
            self.store.touch(&scope, &ids, at).await?;
        }
        Ok(())
    }

    /// Makes vectors of the chosen model for at most `limit` cells that have none, and returns
    /// how many that were; 0 when nothing is left to do.
    ///
    /// # Errors
    /// [`MemoryError`]; what was done before it stays done.
    pub async fn reembed(&self, owner: Owner, limit: usize) -> Result<usize, MemoryError> {
        let stale = self.store.stale_vectors(owner, limit).await?;
        let texts = stale
            .iter()
            .map(|cell| cell.embedded_text.clone())
            .collect();
        let vectors = self.embedder.embed(texts).await?;
        let made: Vec<_> = stale
            .iter()
            .zip(&vectors)
            .map(|(cell, vector)| (cell.id, cell.revision, recall::Vector::quantise(vector)))
            .collect();
        self.store
            .replace_vectors(owner, &self.model(), &made)
            .await?;
        Ok(made.len())
    }

    /// Chooses this process' model for the tenant, so that new vectors are made with it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn choose_model(&self, owner: Owner) -> Result<(), StoreError> {
        self.store.choose_model(owner, &self.model()).await
    }
}

/// A text beside a memory, without its secrets, and how many it had.
fn beside(what: &'static str, text: Option<&str>) -> Result<(Option<String>, u32), MemoryError> {
    /// The longest reason or evidence, in characters.
    const MAX_CHARS: usize = 1000;
    let masked = mask::mask(text.unwrap_or_default().trim());
    let chars = masked.text.chars().count();
    if chars > MAX_CHARS {
        return Err(MemoryError::LongText {
            what,
            max: MAX_CHARS,
            chars,
        });
    }
    let redactions = u32::try_from(masked.redactions).unwrap_or(u32::MAX);
    Ok(((!masked.text.is_empty()).then_some(masked.text), redactions))
}

/// How often a write is tried again that found somebody else's change in its way.
const ATTEMPTS: usize = 16;

/// The layer on which every memory begins and which recall looks at unless told otherwise.
pub const BASE_LAYER: Layer = Layer::L0;
