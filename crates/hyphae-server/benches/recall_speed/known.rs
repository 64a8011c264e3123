//! Memories whose vectors nobody computes, and how they are asked.

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use hyphae_core::{
    memories::{HitCount, Memories, RecallRequest},
    ports::{ChosenModel, EmbedError, Embedder, EmbeddingModel},
    recall::{Filter, When},
};
use hyphae_embed::BuiltIn;
use hyphae_store::Store;
use hyphae_testkit::WallClock;
use jiff::Timestamp;

use crate::{DIMENSION, corpus::Drawn};

/// What its model is called.
const ID: &str = "bench/1";

/// An embedder that knows the vectors of all texts already.
#[derive(Debug)]
pub(crate) struct Known {
    model: EmbeddingModel,
    vectors: HashMap<String, Vec<f32>>,
}

impl Known {
    pub(crate) fn new<'a>(drawn: impl Iterator<Item = &'a Drawn>) -> Self {
        let vectors = drawn.map(|drawn| (drawn.text.clone(), drawn.vector.clone()));
        Self {
            model: EmbeddingModel {
                id: ID.to_owned(),
                dimension: DIMENSION,
                calibration: BuiltIn::minilm().model().calibration,
            },
            vectors: vectors.collect(),
        }
    }

    pub(crate) fn chosen() -> ChosenModel {
        ChosenModel {
            id: ID.to_owned(),
            dimension: DIMENSION,
        }
    }
}

#[async_trait]
impl Embedder for Known {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        let known = texts.iter().map(|text| self.vectors.get(text).cloned());
        known.collect::<Option<_>>().ok_or(EmbedError::Interrupted)
    }
}

pub(crate) fn memories(store: Store, known: &Arc<Known>) -> Memories {
    let known = Arc::clone(known) as Arc<dyn Embedder>;
    Memories::new(Arc::new(store), known, Arc::new(WallClock))
}

pub(crate) fn asked(question: &Drawn) -> RecallRequest {
    RecallRequest {
        query: Some(question.text.clone()),
        k: HitCount::default(),
        filter: Filter::at(When::Now(Timestamp::now())),
        max_distance: None,
    }
}
