//! Text in, unit vectors out: the two embedding models that are built into the program.
//!
//! Start reading at [`BuiltIn`]. Behind it, `minilm` and `static_table` each turn texts into vectors;
//! both share the `tokenizer` and the way a vector without a direction gets one (`pool`, which also
//! cuts long texts for the sentence model). The sentence model's arithmetic is in `forward`,
//! `arithmetic` and `kernel`; `weights` reads its file in place.
//!
//! Nothing in here knows what a text is for, reads a file or reaches a network. This is the one
//! crate that may use `unsafe`, for the CPU's vector instructions and nothing else.

mod arithmetic;
mod built_in;
mod forward;
mod kernel;
mod minilm;
mod pool;
mod static_table;
mod tokenizer;
mod weights;

pub use built_in::BuiltIn;
pub use kernel::CpuPath;
