//! What the core asks of the outside world.

mod embedder;

pub use embedder::{Calibration, EmbedError, Embedder, EmbeddingModel};
