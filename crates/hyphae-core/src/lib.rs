//! What a memory, a session and a turn are, and the rules over them.
//!
//! Nothing in here does IO or knows a protocol, a database or a model: those are behind
//! [`ports`]. Start reading at [`agent`] for conversations.
#![deny(missing_docs)]

pub mod agent;
pub mod audit;
pub mod cell;
pub mod conflict;
pub mod console;
pub mod credential;
pub mod diff;
pub mod ids;
pub mod label;
pub mod living;
pub mod mask;
pub mod memories;
pub mod ports;
pub mod recall;
pub mod relation;
pub mod scope;
pub mod session;
pub mod text;
pub mod topology;
pub mod turn;
