//! What the core asks of the outside world.

mod clock;
mod embedder;
mod error;
mod sessions;

pub use clock::Clock;
pub use embedder::{Calibration, EmbedError, Embedder, EmbeddingModel};
pub use error::StoreError;
pub use sessions::{SessionError, SessionStore};
