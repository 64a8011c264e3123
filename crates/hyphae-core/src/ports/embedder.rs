//! Text in, unit vector out.

use std::fmt;

use async_trait::async_trait;

/// Turns texts into vectors of unit length. Implementations are shared across tasks, load
/// what they need on first use, and do not block the caller's thread while they compute.
#[async_trait]
pub trait Embedder: fmt::Debug + Send + Sync {
    /// Returns what is stored beside each vector, and the distances this model was calibrated to.
    fn model(&self) -> &EmbeddingModel;

    /// Returns one vector a text, in order, each of `model().dimension` numbers and unit length.
    ///
    /// A text of any length is taken: what exceeds the model's window is split and pooled,
    /// never cut. The same text gives the same bits on every machine.
    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// A model's identity and the cosines that were calibrated for it.
///
/// Vectors of two models are never compared (`id` and `dimension` are stored with each).
#[derive(Debug, Clone, PartialEq)]
pub struct EmbeddingModel {
    /// Names weights and arithmetic, for example `minilm-l6-v2-int8/1`; changes whenever a
    /// vector's bits would.
    pub id: String,
    /// How many numbers a vector has.
    pub dimension: usize,
    /// Cosines with a meaning, measured on development data.
    pub calibration: Calibration,
}

/// Cosine values, in [-1, 1], at which a model's answer changes its meaning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// Below this a text is unrelated to the query, unless they share words.
    pub unrelated_below: f32,
    /// From this on two texts are about the same thing.
    pub same_subject_from: f32,
    /// From this on two texts say the same in other punctuation or inflection.
    pub near_duplicate_from: f32,
}

/// Why a text has no vector.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// The model's weights are missing or damaged.
    #[error("the embedding model `{model}` cannot be loaded: {reason}")]
    Unusable {
        /// The model's id.
        model: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The computation was lost, for example to a panic in a worker.
    #[error("the embedding model stopped in the middle of a text")]
    Interrupted,
}
