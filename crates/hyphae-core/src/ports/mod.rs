//! What the core asks of the outside world.

mod clock;
mod credentials;
mod embedder;
mod error;
mod living;
mod memories;
mod reads;
mod sessions;
mod transfer;
mod writes;

pub use clock::Clock;
pub use credentials::CredentialStore;
pub use embedder::{Calibration, EmbedError, Embedder, EmbeddingModel};
pub use error::StoreError;
pub use living::{
    AddedBeacon, CarriedOut, GossipStore, Graph, Grown, GrowthStore, Inbox, Job, Known, Lease,
    Letter, ListenerStore, Listening, NewPattern, NodeLinks, Raised, Rising, Run, Settled,
    Settlement, Subject, Waiting,
};
pub use memories::{MemoryStore, Seen};
pub use reads::{
    AuditFilter, Change, ChosenModel, Confirmation, Entry, Past, Sequence, StaleVector, Statistics,
    Wanted,
};
pub use sessions::{SessionError, SessionStore};
pub use transfer::{Gone, Item, ItemKey, KeptCell, KeptDiff, Put, TransferStore};
pub use writes::{Committed, Derived, Link, NewCell, NewLink, Revision, Step, Write};
