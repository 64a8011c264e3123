//! What the core asks of the outside world.

mod clock;
mod credentials;
mod embedder;
mod error;
mod memories;
mod sessions;

pub use clock::Clock;
pub use credentials::CredentialStore;
pub use embedder::{Calibration, EmbedError, Embedder, EmbeddingModel};
pub use error::StoreError;
pub use memories::{
    Change, ChosenModel, Entry, Inserted, Link, MemoryStore, NewCell, NewLink, Sequence,
    StaleVector, Statistics,
};
pub use sessions::{SessionError, SessionStore};
