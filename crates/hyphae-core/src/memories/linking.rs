//! Which semantic links a new memory gets.

use std::collections::HashMap;

use super::{BASE_LAYER, Memories, MemoryError};
use crate::{
    ids::CellId,
    ports::{Link, NewLink},
    recall::{Near, ProjectIndex, Vector, View},
    scope::Scope,
    topology::{self, Candidate},
};

impl Memories {
    /// Chooses the neighbours of a node among the cells that are `near` to its vector, and what
    /// each of them gives up for the link back. A node that is in the index already is named as
    /// `itself`.
    pub(super) async fn semantic_links(
        &self,
        scope: &Scope,
        index: &tokio::sync::Mutex<ProjectIndex>,
        vector: &[f32],
        near: &[Near],
        itself: Option<CellId>,
    ) -> Result<Vec<NewLink>, MemoryError> {
        let degree = BASE_LAYER.degree();
        let candidates: Vec<Candidate> = near
            .iter()
            .filter(|near| Some(near.id) != itself)
            .map(|near| Candidate {
                id: near.id,
                cosine: near.cosine,
            })
            .collect();
        let kept = choose(&*index.lock().await, &candidates, degree, None);
        let ids: Vec<CellId> = kept.iter().map(|candidate| candidate.id).collect();
        let own = Vector::quantise(vector);
        // A new node is not in the index yet; it stands for itself under an id of nobody.
        let own = (itself.unwrap_or(CellId::new(uuid::Uuid::nil())), own.view());
        let index = index.lock().await;
        let seen = |id| index.contains(id);
        let linked = self.store.links(scope, &ids, &seen).await?;
        let linked: HashMap<CellId, Vec<Link>> = linked.into_iter().collect();
        let links = kept.iter().map(|candidate| {
            let link = Link {
                to: candidate.id,
                weight: topology::weight(candidate.cosine),
            };
            let theirs = linked.get(&candidate.id).into_iter().flatten();
            let mut rivals: Vec<Candidate> = theirs
                .filter(|link| Some(link.to) != itself)
                .map(|link| Candidate {
                    id: link.to,
                    cosine: link.weight,
                })
                .collect();
            if rivals.len() < degree {
                return NewLink {
                    link,
                    drops: Vec::new(),
                    back: true,
                };
            }
            rivals.push(Candidate {
                id: own.0,
                cosine: candidate.cosine,
            });
            let stay = choose(&index, &rivals, degree, Some(own));
            let goes = |id: CellId| stay.iter().all(|candidate| candidate.id != id);
            rivals.pop();
            let gone = rivals.iter().map(|rival| rival.id).filter(|id| goes(*id));
            NewLink {
                link,
                drops: gone.collect(),
                back: !goes(own.0),
            }
        });
        Ok(links.collect())
    }
}

/// Returns those of `candidates` that a node keeps. Cells whose vectors are not known, neither
/// to the index nor as `own`, count as far apart.
fn choose(
    index: &ProjectIndex,
    candidates: &[Candidate],
    degree: usize,
    own: Option<(CellId, View<'_>)>,
) -> Vec<Candidate> {
    let vector = |id: CellId| match own {
        Some((own, vector)) if own == id => Some(vector),
        _ => index.vector(id),
    };
    let vectors: Vec<Option<View<'_>>> = candidates.iter().map(|c| vector(c.id)).collect();
    let cosine = |a: usize, b: usize| match (vectors[a], vectors[b]) {
        (Some(a), Some(b)) => a.cosine(b),
        _ => 0.0,
    };
    topology::neighbours(candidates, degree, cosine)
}
