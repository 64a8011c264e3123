//! Which semantic links a new memory gets.

use std::collections::HashMap;

use super::{BASE_LAYER, Memories, MemoryError};
use crate::{
    ids::CellId,
    ports::{Link, NewLink},
    recall::{ProjectIndex, Vector},
    scope::Scope,
    topology::{self, Candidate},
};

impl Memories {
    /// Chooses the neighbours of a node, and what each of them gives up for the link back. A
    /// node that is in the index already is named as `itself`.
    pub(super) async fn semantic_links(
        &self,
        scope: &Scope,
        index: &tokio::sync::Mutex<ProjectIndex>,
        vector: &[f32],
        itself: Option<CellId>,
    ) -> Result<Vec<NewLink>, MemoryError> {
        let degree = BASE_LAYER.degree();
        let (kept, vectors) = {
            let index = index.lock().await;
            let mut near = index.nearest(vector, BASE_LAYER, topology::CANDIDATES);
            near.retain(|near| Some(near.id) != itself);
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
            let theirs: Vec<Link> = linked
                .get(&candidate.id)
                .into_iter()
                .flatten()
                .filter(|link| Some(link.to) != itself)
                .copied()
                .collect();
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
            // A new node is not in the index yet; it stands for itself under an id of nobody.
            let new_node = itself.unwrap_or(CellId::new(uuid::Uuid::nil()));
            let mut around = vectors.clone();
            around.insert(new_node, Vector::quantise(vector));
            for link in &theirs {
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
