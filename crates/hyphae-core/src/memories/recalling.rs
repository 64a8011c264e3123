//! How memories are found.

use std::collections::{HashMap, HashSet};

use super::{Match, Memories, MemoryError, Mode, Page, PageStart, RecallRequest, Recalled};
use crate::{
    cell::{Cell, Content, Fingerprint},
    ids::{CellId, ConflictId},
    ports::Past,
    recall::{self, Filter, Hit, Query, When},
    scope::Scope,
    text,
};

/// More hits than this are never ranked for one answer, all pages together.
const DEEPEST: usize = 1000;

impl Memories {
    /// Returns the memories that are nearest to a query, nearest first; none if nothing is near.
    /// Without a query, those that matter most.
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
        let k = usize::from(request.k.get());
        let (mut hits, mode) = match &request.query {
            Some(query) => self.search(scope, query, &request.filter, k).await?,
            None => (
                self.briefing(scope, &request.filter, k).await?,
                Mode::Briefing,
            ),
        };
        if let Some(max) = request.max_distance {
            hits.retain(|hit| hit.distance <= max);
        }
        let matches = self
            .matches(scope, &hits, request.filter.when, mode)
            .await?;
        self.note_touched(scope, &matches);
        Ok(Recalled { matches, mode })
    }

    /// Returns a page of memories, by age or, with a query, nearest first. Looking through them
    /// is no use of them: it does not count as an access.
    ///
    /// # Errors
    /// [`MemoryError`], with nothing changed.
    #[tracing::instrument(skip_all, fields(limit))]
    pub async fn list(
        &self,
        scope: &Scope,
        query: Option<&str>,
        filter: &Filter,
        start: Option<PageStart>,
        limit: usize,
    ) -> Result<Page, MemoryError> {
        match query {
            Some(query) => {
                let skip = match start {
                    Some(PageStart::Skip(skip)) => skip as usize,
                    Some(PageStart::After(..)) | None => 0,
                };
                self.list_nearest(scope, query, filter, skip, limit).await
            }
            None => {
                let after = match start {
                    Some(PageStart::After(at, id)) => Some((at, id)),
                    Some(PageStart::Skip(_)) | None => None,
                };
                self.list_newest(scope, filter, after, limit).await
            }
        }
    }

    async fn list_nearest(
        &self,
        scope: &Scope,
        query: &str,
        filter: &Filter,
        skip: usize,
        limit: usize,
    ) -> Result<Page, MemoryError> {
        let (hits, mode) = self.search(scope, query, filter, DEEPEST).await?;
        let total = hits.len();
        let end = skip.saturating_add(limit).min(total);
        let page = hits.get(skip.min(end)..end).unwrap_or_default();
        Ok(Page {
            matches: self.matches(scope, page, filter.when, mode).await?,
            total: total as u64,
            mode: Some(mode),
            next: (end < total)
                .then(|| u32::try_from(end).ok().map(PageStart::Skip))
                .flatten(),
        })
    }

    async fn list_newest(
        &self,
        scope: &Scope,
        filter: &Filter,
        after: Option<(jiff::Timestamp, CellId)>,
        limit: usize,
    ) -> Result<Page, MemoryError> {
        let index = self.fresh_index(scope).await?;
        let (ids, total) = index.lock().await.newest(filter, after, limit);
        let (cells, conflicts) = self.marked(scope, &ids).await?;
        let last = cells.last().filter(|_| ids.len() == limit);
        let next = last.map(|cell| PageStart::After(cell.created_at, cell.id));
        let matches = cells.into_iter().map(|cell| Match {
            conflict: conflicts.get(&cell.id).copied(),
            cell,
            distance: None,
            cosine: None,
            words: 0.0,
        });
        Ok(Page {
            matches: matches.collect(),
            total: total as u64,
            mode: None,
            next,
        })
    }

    async fn search(
        &self,
        scope: &Scope,
        query: &str,
        filter: &Filter,
        k: usize,
    ) -> Result<(Vec<Hit>, Mode), MemoryError> {
        let query = text::normalise(query);
        if query.is_empty() {
            return Err(MemoryError::EmptyQuery);
        }
        let chars = query.chars().count();
        if chars > Content::MAX_CHARS {
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
                filter,
                k,
            },
            &self.scoring,
        );
        let mode = if index.without_vector() > 0 {
            Mode::Keywords
        } else {
            Mode::Hybrid
        };
        Ok((hits, mode))
    }

    async fn briefing(
        &self,
        scope: &Scope,
        filter: &Filter,
        k: usize,
    ) -> Result<Vec<Hit>, MemoryError> {
        let index = self.fresh_index(scope).await?;
        let ids = index.lock().await.briefing(filter, k);
        let hit = |id| Hit {
            id,
            distance: recall::Distance::IDENTICAL,
            cosine: None,
            words: 0.0,
        };
        Ok(ids.into_iter().map(hit).collect())
    }

    async fn matches(
        &self,
        scope: &Scope,
        hits: &[Hit],
        when: When,
        mode: Mode,
    ) -> Result<Vec<Match>, MemoryError> {
        if hits.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<CellId> = hits.iter().map(|hit| hit.id).collect();
        let (cells, conflicts) = self.marked(scope, &ids).await?;
        let mut cells: HashMap<CellId, Cell> =
            cells.into_iter().map(|cell| (cell.id, cell)).collect();
        let mut matches = Vec::with_capacity(hits.len());
        for hit in hits {
            // A cell may have gone between the search and this read; it is simply no match then.
            let Some(mut cell) = cells.remove(&hit.id) else {
                continue;
            };
            if let When::AsOf(at) = when
                && cell.updated_at > at
            {
                cell = as_it_was(cell, self.store.history(scope, hit.id).await?, at);
            }
            matches.push(Match {
                conflict: conflicts.get(&cell.id).copied(),
                cell,
                distance: (mode != Mode::Briefing).then_some(hit.distance),
                cosine: hit.cosine,
                words: hit.words,
            });
        }
        Ok(matches)
    }

    /// Returns these cells, and an open conflict of each that is part of one. Both are asked for
    /// at once: the store may be far away.
    pub(super) async fn marked(
        &self,
        scope: &Scope,
        ids: &[CellId],
    ) -> Result<(Vec<Cell>, HashMap<CellId, ConflictId>), MemoryError> {
        // No cell is no condition.
        if ids.is_empty() {
            return Ok((Vec::new(), HashMap::new()));
        }
        let (cells, conflicts) =
            tokio::join!(self.store.cells(scope, ids), self.conflicts_of(scope, ids));
        Ok((cells?, conflicts?))
    }

    /// Returns an open conflict of each of some cells, at least one, that is part of one.
    pub(super) async fn conflicts_of(
        &self,
        scope: &Scope,
        ids: &[CellId],
    ) -> Result<HashMap<CellId, ConflictId>, MemoryError> {
        let open = self.store.open_conflicts(scope, ids, None, DEEPEST).await?;
        let wanted: HashSet<CellId> = ids.iter().copied().collect();
        // The oldest of several stays.
        let sides = open
            .iter()
            .rev()
            .flat_map(|conflict| [(conflict.left, conflict.id), (conflict.right, conflict.id)]);
        Ok(sides.filter(|(cell, _)| wanted.contains(cell)).collect())
    }
}

/// Returns a cell as it was at a moment: the state that was replaced first after it.
fn as_it_was(cell: Cell, history: Vec<Past>, at: jiff::Timestamp) -> Cell {
    history
        .into_iter()
        .find(|past| past.replaced_at > at)
        .map_or(cell, |past| past.cell)
}
