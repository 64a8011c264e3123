//! The supervisor: any ACP agent, each session a process of its own.
//!
//! To the editor it is one agent. Its front ([`front`]) reads the editor's messages and hands
//! them to the tasks of their sessions ([`session`]), each of which has a child ([`child`]) that
//! speaks the protocol as if the editor had started it. Ids are rewritten on the way, all other
//! bytes stay as they are.

mod capabilities;
mod child;
mod front;
mod learned;
mod messages;
mod session;
mod start;

use std::{ffi::OsString, fmt, io, path::PathBuf, sync::Arc, time::Duration};

use hyphae_core::{ids::SessionId, ports::Clock};
use hyphae_keeper::{Keep, Keepers};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::Semaphore,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    host::Served,
    wire::{LineReader, Outbox},
};
use front::Front;

/// Limits and choices of a supervisor.
#[derive(Debug, Clone)]
pub struct SupervisorOptions {
    /// The agent's program; without a slash it is looked for in `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Our own version, told to editors.
    pub version: String,
    /// The most sessions that have a running child at a time.
    pub max_sessions: usize,
    /// How long a child may take for each step of its start.
    pub start: Duration,
    /// How long a child may take to close a session.
    pub settle: Duration,
    /// How long a child may take to end once its stdin is closed, and once more after SIGTERM.
    pub grace: Duration,
    /// How long it may take after SIGTERM when this process has died.
    pub orphan_grace: Duration,
    /// A child that has been idle for this long is stopped, if it can open its session again.
    pub idle_park: Duration,
    /// The longest line that is taken from either side, in bytes.
    pub frame_limit: usize,
    /// How much may wait for an editor that reads slowly, in bytes.
    pub outbox_bytes: usize,
    /// Where logs go. The folder must exist and be private.
    pub logs: PathBuf,
    /// A log that grew beyond this is put aside, in bytes.
    pub log_bytes: u64,
    /// Where it is kept what agents say of themselves. The folder must exist and be private.
    pub learned: PathBuf,
    /// Where this process was started; a child that belongs to no session yet works there.
    pub directory: PathBuf,
}

/// Supervises an agent for one editor.
pub struct Supervisor(Arc<Shared>);

/// What all sessions have in common.
struct Shared {
    options: SupervisorOptions,
    keepers: Keepers,
    clock: Arc<dyn Clock>,
    slots: Arc<Semaphore>,
    /// Children that are on their way out.
    leaving: TaskTracker,
}

impl fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Supervisor")
            .field("program", &self.0.options.program)
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn log_name(id: SessionId) -> String {
        format!("hyphae-acp-{id}.log")
    }

    fn keep(&self, id: SessionId, directory: PathBuf) -> Keep {
        let options = &self.options;
        Keep {
            program: options.program.clone(),
            arguments: options.arguments.clone(),
            directory,
            log: options.logs.join(Self::log_name(id)),
            log_bytes: options.log_bytes,
            grace: options.grace,
            orphan_grace: options.orphan_grace,
        }
    }

    /// How many bytes may wait for one child.
    fn inbox_bytes(&self) -> usize {
        self.options
            .frame_limit
            .saturating_mul(2)
            .min(Semaphore::MAX_PERMITS >> 4)
    }
}

impl Supervisor {
    /// Puts a supervisor together. Nothing is started before an editor asks for it.
    pub fn new(keepers: Keepers, clock: Arc<dyn Clock>, options: SupervisorOptions) -> Self {
        Self(Arc::new(Shared {
            slots: Arc::new(Semaphore::new(options.max_sessions)),
            options,
            keepers,
            clock,
            leaving: TaskTracker::new(),
        }))
    }

    /// Serves one editor until it closes its side or `shutdown` fires. Returns when all children
    /// and whatever they started are gone.
    ///
    /// # Errors
    /// If reading fails.
    pub async fn serve<R, W>(
        self,
        reader: R,
        writer: W,
        shutdown: CancellationToken,
    ) -> io::Result<Served>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        /// How long an editor that does not read may hold what is left for it.
        const FLUSH: Duration = Duration::from_millis(200);
        let options = &self.0.options;
        let outbox = Outbox::new(options.outbox_bytes);
        let gone = CancellationToken::new();
        let mut lines = LineReader::new(reader, options.frame_limit);
        let mut front = Front::new(self.0.clone(), outbox.clone());
        let reading = async {
            let served = tokio::select! {
                biased;
                () = gone.cancelled() => Ok(Served::ClientGone),
                () = shutdown.cancelled() => Ok(Served::Shutdown),
                read = front.run(&mut lines) => read.map(|()| Served::Eof),
            };
            front.wind_down().await;
            outbox.finish();
            self.0.leaving.close();
            served
        };
        let writing = async {
            if let Err(error) = outbox.write_to(writer).await {
                tracing::info!(%error, "the editor does not take messages any more");
                outbox.abandon();
                gone.cancel();
            }
        };
        tokio::pin!(reading, writing);
        let served = tokio::select! {
            biased;
            served = &mut reading => {
                let _late = tokio::time::timeout(FLUSH, writing).await;
                served
            }
            () = &mut writing => reading.await,
        };
        self.0.leaving.wait().await;
        served
    }
}
