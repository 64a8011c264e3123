//! Fakes for tests: a clock that is set by hand, a store of sessions and a queue of
//! gossip in memory, an agent that
//! follows a script; makers of cells; and the contracts that adapters are held to. No fake
//! sleeps, and none reads a clock or randomness; measurements have the real clock.

pub mod contract;
pub mod made_up;
pub mod postgres;

mod agent;
mod clock;
mod embedder;
mod gossip;
mod sessions;

pub use agent::ScriptedAgent;
pub use clock::{ManualClock, WallClock};
pub use embedder::WordEmbedder;
pub use gossip::MemoryGossip;
pub use sessions::{MemorySessions, Transcripts};

use hyphae_core::{
    ids::{CredentialId, TenantId},
    scope::Owner,
};
use uuid::Uuid;

/// Returns an owner; the same number gives the same one.
pub const fn owner(number: u128) -> Owner {
    Owner {
        tenant: TenantId::new(Uuid::from_u128(1)),
        credential: CredentialId::new(Uuid::from_u128(number)),
    }
}
