//! How a memory comes in: mask, normalise, embed, compare, link, keep.

use jiff::Timestamp;
use tokio::sync::Mutex;

use super::{ATTEMPTS, BASE_LAYER, Memories, MemoryError, NewMemory, Outcome, Similar, Stored};
use crate::{
    audit::{Action, Via},
    cell::{Cell, Content, Origin, Source, Status},
    diff::DiffKind,
    ids::CellId,
    label::{Tag, Topic},
    mask,
    ports::{Committed, Derived, NewCell, Revision, Step},
    recall::{self, Filter, Near, ProjectIndex, Query, Vector},
    scope::Scope,
    topology,
};

/// A memory that was masked, checked and embedded.
struct Ready {
    memory: NewMemory,
    content: Content,
    embedded_text: String,
    vector: Vec<f32>,
    key: Option<[u8; 32]>,
    redactions: u32,
    at: Timestamp,
}

impl Ready {
    /// What is done, for the audit.
    fn action(&self) -> Action {
        match self.memory.origin.source {
            Source::Imported => Action::Import,
            Source::UserStated | Source::AgentInferred | Source::ToolOutput => Action::Store,
        }
    }
}

impl Memories {
    /// Keeps a memory. Its id is returned only once it is durable.
    ///
    /// A memory that says exactly what a cell of the same type, project and visibility says is
    /// not kept twice; one that says it in other punctuation or inflection is merged into it,
    /// and both texts are kept. One with a topic takes the place of the memory that stands for
    /// the topic, whose text stays as history.
    ///
    /// # Errors
    /// [`MemoryError`], with nothing kept.
    #[tracing::instrument(skip_all, fields(memory.type = %memory.cell_type))]
    pub async fn store(
        &self,
        scope: &Scope,
        memory: NewMemory,
        via: &Via,
    ) -> Result<Stored, MemoryError> {
        let ready = self.make_ready(memory).await?;
        // One memory at a time: the next one must see this one, to be compared and linked.
        let _storing = self.storing.lock().await;
        for _ in 0..ATTEMPTS {
            if let Some(stored) = self.try_store(scope, &ready, via).await? {
                return Ok(stored);
            }
        }
        Err(MemoryError::Contended)
    }

    async fn make_ready(&self, memory: NewMemory) -> Result<Ready, MemoryError> {
        let masked = mask::mask(&memory.content);
        let mut redactions = masked.redactions;
        let content = Content::new(&masked.text)?;
        let labels = memory.tags.iter().map(Tag::as_str);
        let labels = labels.chain(memory.topic.as_ref().map(Topic::as_str));
        redactions += labels.map(mask::marks).sum::<usize>();
        let embedded_text = recall::embedded_text(&content, &memory.origin);
        let vector = self.embed(&embedded_text).await?;
        Ok(Ready {
            key: (memory.key.as_deref()).map(|key| *blake3::hash(key.as_bytes()).as_bytes()),
            memory,
            content,
            embedded_text,
            vector,
            redactions: u32::try_from(redactions).unwrap_or(u32::MAX),
            at: self.clock.now(),
        })
    }

    /// Returns none if somebody else's change was in the way.
    async fn try_store(
        &self,
        scope: &Scope,
        ready: &Ready,
        via: &Via,
    ) -> Result<Option<Stored>, MemoryError> {
        if let Some(key) = &ready.key
            && let Some(id) = self.store.cell_of_key(scope, key).await?
        {
            return self.already(scope, ready, id, true).await;
        }
        let index = self.fresh_index(scope).await?;
        let near = (index.lock().await).nearest(&ready.vector, BASE_LAYER, topology::CANDIDATES);
        let mut similar = None;
        let (step, id, outcome) = match self.place_of(scope, ready, &index, &near).await? {
            Place::Own => {
                let new = self.new_cell(scope, ready, &index, &near).await?;
                let id = new.cell.id;
                similar = Some(self.similar_in(&*index.lock().await, ready, id));
                (Step::Insert(Box::new(new)), id, Outcome::Created)
            }
            Place::In(cell, outcome) => {
                let id = cell.id;
                match self.revision(scope, ready, &index, *cell).await? {
                    Some(revision) => (Step::Revise(Box::new(revision)), id, outcome),
                    None => return self.keep_key(scope, ready, via, id).await,
                }
            }
        };
        let mut steps = vec![step];
        steps.extend(ready.key.map(|key| Step::Key { key, cell: id }));
        let mut write = self.write(ready.action(), via, steps);
        write.redactions = ready.redactions;
        match self.store.commit(scope, &write).await? {
            Committed::Done(_) => match similar {
                Some(similar) => Ok(Some(created(ready, id, similar))),
                None => self.held(scope, ready, id, outcome).await.map(Some),
            },
            Committed::Same(id) => self.same_text(scope, ready, via, id).await,
            Committed::KeyUsed(id) => self.already(scope, ready, id, true).await,
            Committed::TopicTaken(_)
            | Committed::Changed(_)
            | Committed::SameRelation(_)
            | Committed::RelationGone(_)
            | Committed::ConflictGone(_) => Ok(None),
        }
    }

    /// Answers for a memory that says what another cell says: that one takes the place of what
    /// stood for the topic, and comes to stand for it, unless it stands for another already.
    async fn same_text(
        &self,
        scope: &Scope,
        ready: &Ready,
        via: &Via,
        id: CellId,
    ) -> Result<Option<Stored>, MemoryError> {
        let cells = self.store.cells(scope, &[id]).await?;
        let Some(cell) = cells.into_iter().next() else {
            return Ok(None);
        };
        let Some(topic) = &ready.memory.topic else {
            return self.keep_key(scope, ready, via, id).await;
        };
        let visibility = ready.memory.visibility;
        let holder = self.store.cell_of_topic(scope, topic, visibility).await?;
        let mut steps = match holder.filter(|holder| holder.id != id) {
            Some(holder) => {
                let reason = "a later memory of its topic";
                self.supersede(scope, &cell, &holder, reason).await?
            }
            None => Vec::new(),
        };
        let mut outcome = Outcome::Unchanged;
        if cell.topic.is_none() {
            outcome = Outcome::Revised;
            steps.push(Step::Revise(Box::new(Revision {
                cell: Cell {
                    topic: Some(topic.clone()),
                    revision: cell.revision.saturating_add(1),
                    updated_at: cell.updated_at.max(ready.at),
                    ..cell
                },
                derived: None,
                kind: DiffKind::Updated,
                other: None,
                diff: self.new_diff(),
            })));
        }
        if steps.is_empty() {
            return self.keep_key(scope, ready, via, id).await;
        }
        steps.extend(ready.key.map(|key| Step::Key { key, cell: id }));
        let mut write = self.write(ready.action(), via, steps);
        write.redactions = ready.redactions;
        if !self.store.commit(scope, &write).await?.is_done() {
            return Ok(None);
        }
        self.held(scope, ready, id, outcome).await.map(Some)
    }

    /// Notes the key of a memory that is there already, so that it will be known by it.
    async fn keep_key(
        &self,
        scope: &Scope,
        ready: &Ready,
        via: &Via,
        id: CellId,
    ) -> Result<Option<Stored>, MemoryError> {
        if let Some(key) = ready.key {
            let write = self.write(ready.action(), via, vec![Step::Key { key, cell: id }]);
            let done = self.store.commit(scope, &write).await?;
            if let Committed::KeyUsed(id) = done {
                return self.already(scope, ready, id, true).await;
            }
            if !done.is_done() {
                return Ok(None);
            }
        }
        self.already(scope, ready, id, false).await
    }

    async fn already(
        &self,
        scope: &Scope,
        ready: &Ready,
        id: CellId,
        by_key: bool,
    ) -> Result<Option<Stored>, MemoryError> {
        let cells = self.store.cells(scope, &[id]).await?;
        let Some(cell) = cells.first() else {
            return Ok(None);
        };
        let mut key_reused = by_key && cell.content != ready.content;
        if key_reused {
            // It may have come to say something else since.
            let history = self.store.history(scope, id).await?;
            key_reused = history
                .iter()
                .all(|past| past.cell.content != ready.content);
        }
        let stored = self.held(scope, ready, id, Outcome::Unchanged).await?;
        Ok(Some(Stored {
            key_reused,
            ..stored
        }))
    }

    /// Tells what became of a memory that a cell now holds.
    async fn held(
        &self,
        scope: &Scope,
        ready: &Ready,
        id: CellId,
        outcome: Outcome,
    ) -> Result<Stored, MemoryError> {
        let (cells, conflicts) = self.marked(scope, &[id]).await?;
        let (revision, layer) = cells
            .first()
            .map_or((1, BASE_LAYER), |cell| (cell.revision, cell.layer));
        Ok(Stored {
            id,
            revision,
            layer,
            outcome,
            similar: self.similar(scope, ready, id).await?,
            conflict: conflicts.get(&id).copied(),
            redactions: ready.redactions as usize,
            key_reused: false,
        })
    }

    async fn similar(
        &self,
        scope: &Scope,
        ready: &Ready,
        itself: CellId,
    ) -> Result<Vec<Similar>, MemoryError> {
        let index = self.fresh_index(scope).await?;
        let index = index.lock().await;
        Ok(self.similar_in(&index, ready, itself))
    }

    fn similar_in(&self, index: &ProjectIndex, ready: &Ready, itself: CellId) -> Vec<Similar> {
        let hits = index.search(
            &Query {
                vector: Some(&ready.vector),
                terms: &recall::terms_of(ready.content.as_str()),
                fingerprint: ready.content.fingerprint(),
                filter: &Filter::at(self.now()),
                k: Stored::SIMILAR + 1,
            },
            &self.scoring,
        );
        let others = hits.into_iter().filter(|hit| hit.id != itself);
        let similar = others.take(Stored::SIMILAR).map(|hit| Similar {
            id: hit.id,
            distance: hit.distance,
        });
        similar.collect()
    }

    async fn place_of(
        &self,
        scope: &Scope,
        ready: &Ready,
        index: &Mutex<ProjectIndex>,
        near: &[Near],
    ) -> Result<Place, MemoryError> {
        if let Some(topic) = &ready.memory.topic {
            let visibility = ready.memory.visibility;
            let cell = self.store.cell_of_topic(scope, topic, visibility).await?;
            return Ok(cell.map_or(Place::Own, |cell| {
                Place::In(Box::new(cell), Outcome::Revised)
            }));
        }
        let same = self.same_in_other_words(scope, index, near, ready).await?;
        Ok(same.map_or(Place::Own, |cell| {
            Place::In(Box::new(cell), Outcome::Merged)
        }))
    }

    async fn new_cell(
        &self,
        scope: &Scope,
        ready: &Ready,
        index: &Mutex<ProjectIndex>,
        near: &[Near],
    ) -> Result<NewCell, MemoryError> {
        let memory = &ready.memory;
        let previous = match memory.origin.session {
            Some(session) => self.store.last_of_session(scope, session).await?,
            None => None,
        };
        let position = previous
            .as_ref()
            .and_then(|cell| cell.origin.position)
            .map_or(0, |position| position.saturating_add(1));
        let links = self
            .semantic_links(scope, index, &ready.vector, near, None)
            .await?;
        let cell = Cell {
            id: CellId::new(self.clock.new_id()),
            content: ready.content.clone(),
            cell_type: memory.cell_type,
            salience: memory.salience,
            confidence: memory.confidence,
            author: scope.credential,
            project: scope.project.clone(),
            layer: BASE_LAYER,
            visibility: memory.visibility,
            status: Status::Active,
            revision: 1,
            content_revision: 1,
            topic: memory.topic.clone(),
            tags: memory.tags.clone(),
            validity: memory.validity,
            verified_at: None,
            origin: Origin {
                position: memory.origin.session.map(|_| position),
                ..memory.origin.clone()
            },
            created_at: ready.at,
            updated_at: ready.at,
        };
        let context = recall::context_terms(
            memory.origin.said_at.unwrap_or(ready.at),
            previous.as_ref().map(|cell| &cell.content),
        );
        let derived = Derived {
            fingerprint: cell.content.fingerprint(),
            model: self.model(),
            vector: Vector::quantise(&ready.vector),
            embedded_text: ready.embedded_text.clone(),
            terms: recall::terms_of(cell.content.as_str()),
            context,
            links,
        };
        Ok(NewCell {
            cell,
            derived,
            diff: self.new_diff(),
        })
    }

    /// Returns the next state of a cell that takes a memory in; none if that changes nothing.
    async fn revision(
        &self,
        scope: &Scope,
        ready: &Ready,
        index: &Mutex<ProjectIndex>,
        cell: Cell,
    ) -> Result<Option<Revision>, MemoryError> {
        let memory = &ready.memory;
        let by_topic = memory.topic.is_some();
        let mut next = cell.clone();
        if by_topic {
            next.cell_type = memory.cell_type;
            next.salience = memory.salience;
            next.confidence = memory.confidence;
            next.validity = memory.validity;
            if !memory.tags.is_empty() {
                next.tags = memory.tags.clone();
            }
        }
        next.content = ready.content.clone();
        if next == cell {
            return Ok(None);
        }
        next.revision = cell.revision.saturating_add(1);
        next.updated_at = cell.updated_at.max(ready.at);
        let says_other = next.content != cell.content;
        if says_other && by_topic {
            next.content_revision = next.revision;
            next.origin = Origin {
                session: cell.origin.session,
                position: cell.origin.position,
                ..memory.origin.clone()
            };
        }
        let derived = if says_other {
            let at = next.origin.said_at.unwrap_or(cell.created_at);
            Some(self.derived(scope, index, &next, at, &ready.vector).await?)
        } else {
            None
        };
        Ok(Some(Revision {
            cell: next,
            derived,
            kind: DiffKind::Updated,
            other: None,
            diff: self.new_diff(),
        }))
    }

    /// Derives what belongs to a cell that came to say something else.
    pub(super) async fn derived(
        &self,
        scope: &Scope,
        index: &Mutex<ProjectIndex>,
        cell: &Cell,
        at: Timestamp,
        vector: &[f32],
    ) -> Result<Derived, MemoryError> {
        let near = (index.lock().await).nearest(vector, BASE_LAYER, topology::CANDIDATES);
        let links = self
            .semantic_links(scope, index, vector, &near, Some(cell.id))
            .await?;
        Ok(Derived {
            fingerprint: cell.content.fingerprint(),
            model: self.model(),
            vector: Vector::quantise(vector),
            embedded_text: recall::embedded_text(&cell.content, &cell.origin),
            terms: recall::terms_of(cell.content.as_str()),
            // What was said before the cell's first text is not said before this one.
            context: recall::context_terms(at, None),
            links,
        })
    }

    /// Returns the cell that says the same in other punctuation or inflection: near enough by
    /// the model's measure, of the same kind, and with the same words, negations and numbers
    /// included. Being near is not enough: `Postgres 15` is very near to `Postgres 16`.
    async fn same_in_other_words(
        &self,
        scope: &Scope,
        index: &Mutex<ProjectIndex>,
        near: &[Near],
        ready: &Ready,
    ) -> Result<Option<Cell>, MemoryError> {
        /// More of the nearest than ever say the same in other words.
        const LOOKED_AT: usize = 8;
        let limit = self.embedder.model().calibration.near_duplicate_from;
        let near: Vec<CellId> = {
            let index = index.lock().await;
            near.iter()
                .take(LOOKED_AT)
                .filter(|near| near.cosine >= limit)
                .filter(|near| {
                    index.summary(near.id).is_some_and(|other| {
                        other.own_project
                            && other.cell_type == ready.memory.cell_type
                            && other.visibility == ready.memory.visibility
                    })
                })
                .map(|near| near.id)
                .collect()
        };
        if near.is_empty() {
            return Ok(None);
        }
        let cells = self.store.cells(scope, &near).await?;
        Ok(cells.into_iter().find(|cell| {
            cell.status == Status::Active
                && cell.content != ready.content
                && cell.topic.is_none()
                && cell.validity == ready.memory.validity
                && cell.origin.said_at == ready.memory.origin.said_at
                && recall::say_the_same(cell.content.as_str(), ready.content.as_str())
        }))
    }
}

/// Tells what became of a memory that a new cell holds: nobody can have revised it or disputed
/// it yet.
fn created(ready: &Ready, id: CellId, similar: Vec<Similar>) -> Stored {
    Stored {
        id,
        revision: 1,
        layer: BASE_LAYER,
        outcome: Outcome::Created,
        similar,
        conflict: None,
        redactions: ready.redactions as usize,
        key_reused: false,
    }
}

/// Where a memory goes.
enum Place {
    /// Into a cell of its own.
    Own,
    /// Into this cell.
    In(Box<Cell>, Outcome),
}
