//! How a memory comes in: normalise, embed, compare, link, keep.

use std::collections::HashMap;

use super::{BASE_LAYER, Memories, MemoryError, NewMemory, Outcome, Stored};
use crate::{
    cell::{Cell, Content, Origin, Status},
    ids::{CellId, DiffId},
    mask,
    ports::{Inserted, Link, NewCell, NewLink},
    recall::{self, ProjectIndex, Vector},
    scope::Scope,
    topology::{self, Candidate},
};

impl Memories {
    /// Keeps a memory. Its id is returned only once it is durable.
    ///
    /// A memory that says exactly what a cell of the same type, project and visibility says is
    /// not kept twice; one that says it in other punctuation or inflection is merged into it,
    /// and both texts are kept.
    ///
    /// # Errors
    /// [`MemoryError`], with nothing kept.
    #[tracing::instrument(skip_all, fields(memory.type = %memory.cell_type))]
    pub async fn store(&self, scope: &Scope, memory: NewMemory) -> Result<Stored, MemoryError> {
        let masked = mask::mask(&memory.content);
        let redactions = masked.redactions;
        let content = Content::new(&masked.text)?;
        let embedded_text = recall::embedded_text(&content, &memory.origin);
        let vector = self.embed(&embedded_text).await?;

        // One memory at a time: the next one must see this one, to be compared and linked.
        let _storing = self.storing.lock().await;
        let index = self.fresh_index(scope).await?;
        let now = self.clock.now();
        let previous = match memory.origin.session {
            Some(session) => self.store.last_of_session(scope, session).await?,
            None => None,
        };
        let position = previous
            .as_ref()
            .and_then(|cell| cell.origin.position)
            .map_or(0, |position| position.saturating_add(1));
        let context = recall::context_terms(
            memory.origin.said_at.unwrap_or(now),
            previous.as_ref().map(|cell| &cell.content),
        );
        let cell = Cell {
            id: CellId::new(self.clock.new_id()),
            cell_type: memory.cell_type,
            salience: memory.salience,
            confidence: memory.confidence,
            author: scope.credential,
            project: scope.project.clone(),
            layer: BASE_LAYER,
            visibility: memory.visibility,
            status: Status::Active,
            revision: 1,
            origin: Origin {
                position: memory.origin.session.map(|_| position),
                ..memory.origin
            },
            created_at: now,
            updated_at: now,
            content,
        };
        let mut new = NewCell {
            fingerprint: cell.content.fingerprint(),
            model: self.model(),
            vector: Vector::quantise(&vector),
            embedded_text,
            terms: recall::terms_of(cell.content.as_str()),
            context,
            links: Vec::new(),
            diff: DiffId::new(self.clock.new_id()),
            cell,
        };

        if let Some((id, revision)) = self
            .same_in_other_words(scope, &index, &new, &vector)
            .await?
            && self
                .store
                .merge_into(scope, id, revision, &new)
                .await?
                .is_some()
        {
            return Ok(Stored {
                id,
                outcome: Outcome::Merged,
                redactions,
            });
        }
        // It changed meanwhile, so it may no longer say the same: this one stands alone.
        new.links = self.links(scope, &index, &vector).await?;
        let (id, outcome) = match self.store.insert_cell(scope, &new).await? {
            Inserted::New => (new.cell.id, Outcome::Created),
            Inserted::Same(id) => (id, Outcome::Unchanged),
        };
        Ok(Stored {
            id,
            outcome,
            redactions,
        })
    }

    /// Returns the cell that says the same as `new` in other punctuation or inflection: near
    /// enough by the model's measure, of the same kind, and with the same words, negations and
    /// numbers included. Being near is not enough: `Postgres 15` is very near to `Postgres 16`.
    async fn same_in_other_words(
        &self,
        scope: &Scope,
        index: &tokio::sync::Mutex<ProjectIndex>,
        new: &NewCell,
        vector: &[f32],
    ) -> Result<Option<(CellId, u32)>, MemoryError> {
        let limit = self.embedder.model().calibration.near_duplicate_from;
        let near: Vec<(CellId, u32)> = {
            let index = index.lock().await;
            index
                .nearest(vector, BASE_LAYER, 8)
                .into_iter()
                .filter(|near| near.cosine >= limit)
                .filter_map(|near| Some((near.id, index.summary(near.id)?)))
                .filter(|(_, other)| {
                    other.own_project
                        && other.cell_type == new.cell.cell_type
                        && other.visibility == new.cell.visibility
                })
                .map(|(id, other)| (id, other.revision))
                .collect()
        };
        if near.is_empty() {
            return Ok(None);
        }
        let ids: Vec<CellId> = near.iter().map(|(id, _)| *id).collect();
        let same = self
            .store
            .cells(scope, &ids)
            .await?
            .into_iter()
            .find(|cell| {
                cell.content != new.cell.content
                    && cell.origin.said_at == new.cell.origin.said_at
                    && recall::say_the_same(cell.content.as_str(), new.cell.content.as_str())
            });
        Ok(same.map(|cell| (cell.id, cell.revision)))
    }

    /// Chooses the neighbours of a new node, and what each of them gives up for the link back.
    async fn links(
        &self,
        scope: &Scope,
        index: &tokio::sync::Mutex<ProjectIndex>,
        vector: &[f32],
    ) -> Result<Vec<NewLink>, MemoryError> {
        let degree = BASE_LAYER.degree();
        let (kept, vectors) = {
            let index = index.lock().await;
            let near = index.nearest(vector, BASE_LAYER, topology::CANDIDATES);
            let vectors: HashMap<CellId, Vector> = near
                .iter()
                .filter_map(|near| Some((near.id, index.vector(near.id)?)))
                .collect();
            let candidates = near
                .iter()
                .map(|near| Candidate {
                    id: near.id,
                    cosine: near.cosine,
                })
                .collect();
            (
                topology::neighbours(candidates, degree, |a, b| cosine(&vectors, a, b)),
                vectors,
            )
        };
        let ids: Vec<CellId> = kept.iter().map(|candidate| candidate.id).collect();
        let linked: HashMap<CellId, Vec<Link>> =
            self.store.links(scope, &ids).await?.into_iter().collect();
        let index = index.lock().await;
        let links = kept.iter().map(|candidate| {
            let theirs = linked
                .get(&candidate.id)
                .map(Vec::as_slice)
                .unwrap_or_default();
            let link = Link {
                to: candidate.id,
                weight: topology::weight(candidate.cosine),
            };
            if theirs.len() < degree {
                return NewLink {
                    link,
                    drops: Vec::new(),
                    back: true,
                };
            }
            // The new node is not in the index yet; it stands for itself under a fresh id.
            let new_node = CellId::new(uuid::Uuid::nil());
            let mut around = vectors.clone();
            around.insert(new_node, Vector::quantise(vector));
            for link in theirs {
                if let Some(vector) = index.vector(link.to) {
                    around.insert(link.to, vector);
                }
            }
            let candidates = theirs
                .iter()
                .map(|link| Candidate {
                    id: link.to,
                    cosine: link.weight,
                })
                .chain([Candidate {
                    id: new_node,
                    cosine: candidate.cosine,
                }])
                .collect();
            let stay = topology::neighbours(candidates, degree, |a, b| cosine(&around, a, b));
            let stays = |id: CellId| stay.iter().any(|candidate| candidate.id == id);
            NewLink {
                link,
                drops: theirs
                    .iter()
                    .map(|link| link.to)
                    .filter(|id| !stays(*id))
                    .collect(),
                back: stays(new_node),
            }
        });
        Ok(links.collect())
    }
}

/// Returns the cosine of two cells; cells whose vectors are unknown count as far apart.
fn cosine(vectors: &HashMap<CellId, Vector>, a: CellId, b: CellId) -> f32 {
    match (vectors.get(&a), vectors.get(&b)) {
        (Some(a), Some(b)) => a.cosine(b),
        _ => 0.0,
    }
}
