//! The Agent Client Protocol: wire, session host, supervisor and a small client.
//!
//! [`Host`] serves an agent of the core over any pair of byte streams, [`Supervisor`] any other
//! ACP agent, each session a process of its own; [`Client`] is the other end. Everything that names a type of the protocol is in here and stays in here.
//!
//! Start reading at [`host`](Host), go on with its connection, lane and turn; the wire below
//! them knows nothing of sessions.

mod client;
mod convert;
mod cursor;
mod host;
mod options;
mod requests;
mod supervisor;
mod wire;

pub use client::{Client, ClientError, Prompting, ServerInfo, SessionSummary, Shown};
pub use host::{Host, Served};
pub use options::{AuthMethod, DirectoryProjects, HostOptions, Projects, Unstable};
pub use supervisor::{Supervisor, SupervisorOptions};
#[doc(hidden)]
pub use wire::fuzz_line_reader;
