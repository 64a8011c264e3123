//! What the life of the memory asks of a store. Nothing here is on a writer's answer path.
//!
//! Who works in the background does so as nobody, with the scope [`Scope::commons`] of a project:
//! it sees what everybody in the project may see, and nothing that is private.

mod gossip;
mod growth;
mod listeners;

pub use gossip::{GossipStore, Graph, Inbox, Lease, Letter, Settled, Settlement, Subject, Waiting};
pub use growth::{CarriedOut, Grown, GrowthStore, Job, Known, NewPattern, Raised, Rising, Run};
pub use listeners::{AddedBeacon, ListenerStore, Listening, NodeLinks};

#[cfg(doc)]
use crate::scope::Scope;
