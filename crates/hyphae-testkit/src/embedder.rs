//! An embedder whose vectors are known without a model.

use async_trait::async_trait;
use hyphae_core::ports::{Calibration, EmbedError, Embedder, EmbeddingModel};

/// Gives each word an axis of its own, by a hash of the word in lower case: texts that share
/// words are near, the same words give the same vector whatever their order.
#[derive(Debug)]
pub struct WordEmbedder {
    model: EmbeddingModel,
}

impl WordEmbedder {
    /// Makes an embedder under a model's id, with vectors of `dimension` numbers.
    pub fn new(id: &str, dimension: usize) -> Self {
        Self {
            model: EmbeddingModel {
                id: id.to_owned(),
                dimension,
                calibration: Calibration {
                    unrelated_below: 0.2,
                    same_subject_from: 0.5,
                    near_duplicate_from: 0.95,
                },
            },
        }
    }
}

#[async_trait]
impl Embedder for WordEmbedder {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts
            .iter()
            .map(|text| vector(text, self.model.dimension))
            .collect())
    }
}

fn vector(text: &str, dimension: usize) -> Vec<f32> {
    let mut vector = vec![0.0; dimension];
    for word in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        // FNV-1a: any spread-out hash would do.
        let hash = word
            .to_lowercase()
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        vector[(hash % dimension as u64) as usize] += 1.0;
    }
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if norm > 0.0 {
        vector.iter_mut().for_each(|x| *x /= norm);
    } else {
        vector[0] = 1.0;
    }
    vector
}
