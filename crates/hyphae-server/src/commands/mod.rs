//! The commands, a module each.

pub(crate) mod acp;
pub(crate) mod acp_stdio;
pub(crate) mod audit;
pub(crate) mod console;
pub(crate) mod copy;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod keys;
pub(crate) mod mcp_stdio;
pub(crate) mod migrate;
pub(crate) mod project;
pub(crate) mod reembed;

/// How a command ended when it did not fail to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Exit code 0.
    Done,
    /// Exit code 1: it was understood and failed; people were told.
    Failed,
}
