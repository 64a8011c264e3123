//! The session host: what every agent gets, whoever the client is.
//!
//! A connection ([`connection`]) reads messages, [`dispatch`] hands them to the lanes of their
//! sessions ([`lane`]); a lane works on one thing at a time, a turn ([`turn`]) among them. All of them
//! write into one outbox, and every request has a ticket ([`ticket`]) that is answered once.

mod connection;
mod dispatch;
mod ending;
mod lane;
mod setup;
mod ticket;
mod turn;

use std::{fmt, io, sync::Arc, time::Duration};

use hyphae_core::{
    agent::Agent,
    ports::{Clock, SessionStore},
    scope::Owner,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::{
    options::{HostOptions, Projects},
    wire::{LineReader, Outbox},
};
use connection::Connection;

/// Serves one agent to one credential, over any number of connections. Cheap to clone.
#[derive(Clone)]
pub struct Host(Arc<HostInner>);

pub(crate) struct HostInner {
    pub(crate) agent: Arc<dyn Agent>,
    pub(crate) sessions: Arc<dyn SessionStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) owner: Owner,
    pub(crate) projects: Arc<dyn Projects>,
    pub(crate) options: HostOptions,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("agent", &self.0.agent.profile().name)
            .field("owner", &self.0.owner)
            .finish_non_exhaustive()
    }
}

/// Why a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// The client closed its side.
    Eof,
    /// The shutdown token fired.
    Shutdown,
    /// The client stopped reading for good: writing to it failed.
    ClientGone,
}

impl Host {
    /// Puts a host together. Nothing is read or opened before a client asks for it.
    pub fn new(
        agent: Arc<dyn Agent>,
        sessions: Arc<dyn SessionStore>,
        clock: Arc<dyn Clock>,
        owner: Owner,
        projects: Arc<dyn Projects>,
        options: HostOptions,
    ) -> Self {
        Self(Arc::new(HostInner {
            agent,
            sessions,
            clock,
            owner,
            projects,
            options,
        }))
    }

    /// Serves one client until it closes its side or `shutdown` fires. Then running turns are
    /// cancelled, their transcripts kept and their answers written, all within
    /// [`HostOptions::wind_down`].
    ///
    /// # Errors
    /// If reading fails. A client that can no longer be written to is [`Served::ClientGone`].
    pub async fn serve<R, W>(
        &self,
        reader: R,
        writer: W,
        shutdown: CancellationToken,
    ) -> io::Result<Served>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let options = &self.0.options;
        let outbox = Outbox::new(options.outbox_bytes);
        let gone = CancellationToken::new();
        let mut lines = LineReader::new(reader, options.frame_limit);
        let mut connection = Connection::new(self.0.clone(), outbox.clone());

        let reading = async {
            let served = tokio::select! {
                biased;
                () = gone.cancelled() => Ok(Served::ClientGone),
                () = shutdown.cancelled() => Ok(Served::Shutdown),
                read = connection.run(&mut lines) => read.map(|()| Served::Eof),
            };
            connection.wind_down().await;
            outbox.finish();
            served
        };
        let writing = async {
            let written = outbox.write_to(writer).await;
            if let Err(error) = &written {
                tracing::info!(%error, "the client does not take answers any more");
                outbox.abandon();
                gone.cancel();
            }
            written.is_ok()
        };
        tokio::pin!(reading, writing);
        tokio::select! {
            biased;
            served = &mut reading => {
                // All but the writing is done. A client that does not read must not hold us.
                let _late = tokio::time::timeout(flush_share(options.wind_down), writing).await;
                served
            }
            _ = &mut writing => reading.await,
        }
    }
}

/// The part of the wind-down in which agents may still stop by themselves.
fn settle_share(wind_down: Duration) -> Duration {
    wind_down / 2
}

/// The part in which the lanes finish.
fn lanes_share(wind_down: Duration) -> Duration {
    wind_down * 4 / 5
}

/// The part that is left to write what is queued.
fn flush_share(wind_down: Duration) -> Duration {
    wind_down / 5
}
