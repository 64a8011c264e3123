//! Storing and recalling: the one engine behind every surface.

mod storing;

use std::{collections::HashMap, fmt, sync::Arc};

use jiff::Timestamp;
use tokio::sync::{Mutex, Notify, OnceCell};

use crate::{
    cell::{BadContent, Cell, CellType, Fingerprint, Layer, Origin, Share, Visibility},
    ids::CellId,
    ports::{ChosenModel, Clock, EmbedError, Embedder, MemoryStore, StoreError},
    recall::{self, Distance, Filter, Hit, ProjectIndex, Query, Scoring},
    scope::{Owner, Scope},
    text,
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

/// A memory as somebody hands it in.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMemory {
    /// What it says; normalised and checked by [`Memories::store`].
    pub content: String,
    /// What kind of knowledge it is.
    pub cell_type: CellType,
    /// How important it is.
    pub salience: Share,
    /// How certain it is.
    pub confidence: Share,
    /// Who may recall it.
    pub visibility: Visibility,
    /// Where it comes from; `position` is counted by the engine.
    pub origin: Origin,
}

impl NewMemory {
    /// Makes a memory with the defaults of every surface: a `Fact` of salience 0.5, certain,
    /// visible in its project.
    pub fn new(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            cell_type: CellType::default(),
            salience: Share::HALF,
            confidence: Share::FULL,
            visibility: Visibility::default(),
            origin: Origin::default(),
        }
    }
}

/// What became of a memory that was handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    /// The cell that now holds it.
    pub id: CellId,
    /// How it came to hold it.
    pub outcome: Outcome,
    /// How many secrets were masked in it.
    pub redactions: usize,
}

/// How a memory came to be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// In a cell of its own.
    Created,
    /// By a cell that already said exactly this.
    Unchanged,
    /// By a cell that said this in other punctuation or inflection; both texts are kept.
    Merged,
}

/// What is asked of the memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecallRequest {
    /// What to look for.
    pub query: String,
    /// The most hits wanted.
    pub k: HitCount,
    /// Which cells may answer.
    pub filter: Filter,
}

/// How many hits are wanted, 1 to [`HitCount::MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HitCount(u16);

impl HitCount {
    /// The most hits of one answer.
    pub const MAX: u16 = 100;

    /// Returns the count, or none if it is 0 or more than [`Self::MAX`].
    pub fn new(n: u16) -> Option<Self> {
        (1..=Self::MAX).contains(&n).then_some(Self(n))
    }

    /// Returns the number.
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl Default for HitCount {
    /// Ten.
    fn default() -> Self {
        Self(10)
    }
}

impl fmt::Display for HitCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What the memory answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// The memories, nearest first.
    pub matches: Vec<Match>,
    /// How they were looked for.
    pub mode: Mode,
}

/// One memory of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// The memory.
    pub cell: Cell,
    /// The one number that sorts the answer.
    pub distance: Distance,
    /// The cosine part, where there is one.
    pub cosine: Option<f32>,
    /// The keyword part.
    pub words: f32,
}

/// How memories were looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// By meaning and by words.
    Hybrid,
    /// Some or all by words only, because their vectors belong to another model.
    Keywords,
}

/// Why the memory could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The text cannot be a memory.
    #[error(transparent)]
    Content(#[from] BadContent),
    /// There is nothing to look for.
    #[error("there is nothing to search for; write what you want to recall")]
    EmptyQuery,
    /// The query is longer than a memory may be.
    #[error(
        "a query has at most {max} characters, this one has {chars}; shorten it",
        max = crate::cell::Content::MAX_CHARS
    )]
    LongQuery {
        /// How many it has.
        chars: usize,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The embedder failed.
    #[error(transparent)]
    Embed(#[from] EmbedError),
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
        }
    }

    /// Replaces the scoring rule, for measuring.
    #[must_use]
    pub const fn with_scoring(mut self, scoring: Scoring) -> Self {
        self.scoring = scoring;
        self
    }

    /// Returns the memories that are nearest to a query, nearest first; none if nothing is near.
    ///
    /// The same memories and the same query give the same answer, down to its order.
    ///
    /// # Errors
    /// [`MemoryError`], with nothing changed.
    #[tracing::instrument(skip_all, fields(k = request.k.get()))]
    pub async fn recall(
        &self,
        scope: &Scope,
        request: &RecallRequest,
    ) -> Result<Recalled, MemoryError> {
        let query = text::normalise(&request.query);
        if query.is_empty() {
            return Err(MemoryError::EmptyQuery);
        }
        let chars = query.chars().count();
        if chars > crate::cell::Content::MAX_CHARS {
            return Err(MemoryError::LongQuery { chars });
        }
        let vector = self.embed(&query).await?;
        let terms = recall::terms_of(&query);
        let index = self.fresh_index(scope).await?;
        let index = index.lock().await;
        let hits = index.search(
            &Query {
                vector: Some(&vector),
                terms: &terms,
                fingerprint: Fingerprint::of(&query),
                filter: request.filter,
                k: usize::from(request.k.get()),
            },
            &self.scoring,
        );
        let mode = if index.without_vector() > 0 {
            Mode::Keywords
        } else {
            Mode::Hybrid
        };
        drop(index);
        let matches = self.matches(scope, &hits).await?;
        self.note_touched(scope, &matches);
        Ok(Recalled { matches, mode })
    }

    async fn matches(&self, scope: &Scope, hits: &[Hit]) -> Result<Vec<Match>, MemoryError> {
        if hits.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<CellId> = hits.iter().map(|hit| hit.id).collect();
        let mut cells: HashMap<CellId, Cell> = self
            .store
            .cells(scope, &ids)
            .await?
            .into_iter()
            .map(|cell| (cell.id, cell))
            .collect();
        // A cell may have gone between the search and this read; it is simply no match then.
        let found = hits.iter().filter_map(|hit| {
            let Hit {
                id,
                distance,
                cosine,
                words,
            } = *hit;
            cells.remove(&id).map(|cell| Match {
                cell,
                distance,
                cosine,
                words,
            })
        });
        Ok(found.collect())
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
            let mut changes = self.store.changes(scope, filled.upto(), BATCH).await?;
            let complete = changes.len() < BATCH;
            if !changes.is_empty()
                && self.store.chosen_model(scope.owner()).await? != Some(ours.clone())
            {
                // Another process chose another model: its vectors mean nothing here.
                for entry in changes
                    .iter_mut()
                    .filter_map(|change| change.entry.as_mut())
                {
                    entry.vector = None;
                }
            }
            filled.apply(changes);
            if complete {
                drop(filled);
                return Ok(index);
            }
        }
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

/// The layer on which every memory begins and which recall looks at unless told otherwise.
pub const BASE_LAYER: Layer = Layer::L0;
