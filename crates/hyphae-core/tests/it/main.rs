//! The memory engine over a real store, with an embedder whose vectors are known.

mod console;
mod recalling;
mod rig;
mod storing;
