//! The memory as tools, resources and prompts of the Model Context Protocol.
//!
//! [`serve`] answers one client over a pair of byte streams, in both eras of the protocol: those
//! that open with `initialize` (2024-11-05 to 2025-11-25) and those of 2026-07-28. Everything
//! that names a type of the protocol is in here and stays in here; what a memory is and how it is
//! found is the core's.
//!
//! The handshake is answered before anything is opened. The memory is opened behind it, through
//! [`OpenMemory`]; if it cannot be, each call says what to do and tries again.
//!
//! Start reading at `tools`; `server` answers the protocol, `transport` and `order` see to it
//! that each line is answered and that calls see each other.

mod access;
mod budget;
mod call;
mod completions;
mod decode;
mod errors;
mod lines;
mod messages;
mod order;
mod projects;
mod prompts;
mod resources;
mod server;
mod tools;
mod transport;
mod views;

use std::{
    io,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

pub use access::{CannotOpen, OpenMemory, OpenedMemory};
pub use projects::Projects;

use access::Access;
use server::{Handler, Shared};
use transport::{LineTransport, Milestones};

/// How long a client that does not read may hold up the end.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// What one process serves.
#[derive(Debug, Clone)]
pub struct McpServer(Arc<Shared>);

impl McpServer {
    /// Puts a server together. Opens nothing; `version` is the program's.
    pub fn new(opener: Arc<dyn OpenMemory>, projects: Arc<dyn Projects>, version: &str) -> Self {
        Self(Arc::new(Shared {
            access: Access::new(opener),
            projects,
            version: version.to_owned(),
        }))
    }

    /// Returns the memory, if it was opened.
    pub fn opened(&self) -> Option<Arc<OpenedMemory>> {
        self.0.access.opened()
    }
}

/// Serves one client until its input ends or `shutdown` fires. At the end of the input, calls
/// that still run are finished and answered first.
///
/// # Errors
/// If the client's end cannot be written to.
pub async fn serve<R, W>(
    server: &McpServer,
    input: R,
    output: W,
    shutdown: CancellationToken,
) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let milestones = Milestones::default();
    let (transport, writer) = LineTransport::new(input, output, milestones.clone());
    let opening = open_behind(server, milestones.answered);
    let session = serve_server_with_ct(
        Handler(Arc::clone(&server.0)),
        transport,
        shutdown.child_token(),
    )
    .await;
    match session {
        Ok(session) => {
            milestones.serving.store(true, Ordering::Relaxed);
            session.waiting().await.map_err(io::Error::other)?;
        }
        // It left before it said anything, which is no fault of ours.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {}
        Err(error) => tracing::warn!(%error, "the session was not opened"),
    }
    drop(opening);
    let mut writer = AbortOnDropHandle::new(writer);
    match tokio::time::timeout(LAST_WORDS, &mut writer).await {
        Ok(written) => written.map_err(io::Error::other)?,
        Err(_) => {
            tracing::warn!("the client did not read its last answers");
            Ok(())
        }
    }
}

/// Opens the memory once the handshake has been answered, so that the first call finds it open.
fn open_behind(server: &McpServer, answered: CancellationToken) -> AbortOnDropHandle<()> {
    let shared = Arc::clone(&server.0);
    AbortOnDropHandle::new(tokio::spawn(async move {
        answered.cancelled().await;
        if let Err(error) = shared.access.memory().await {
            tracing::warn!(%error, "the memory cannot be opened; it is tried again at the next call");
        }
    }))
}
