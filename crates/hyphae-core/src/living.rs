//! How the memory lives: changes travel from node to node, memories age, rise and gather.
//!
//! Pure rules over values. What is read comes through [`ports::Graph`](crate::ports::Graph); the
//! time and fresh ids come from the caller. [`worker`] puts the two together. Start reading at [`gossip`].

pub mod consolidation;
pub mod decay;
pub mod gossip;
pub mod node;
pub mod place;
pub mod promotion;
pub mod worker;
