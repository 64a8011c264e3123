//! One session's work, one thing at a time, in the order in which it was asked for.
//!
//! A lane exists as soon as somebody asks for its session, open or not; the connection drops it
//! when it is idle and not open.

use std::{path::PathBuf, sync::Arc};

use hyphae_core::{
    agent::PromptBlock,
    ids::SessionId,
    ports::SessionError,
    session::{PageSize, Session},
    turn::TurnOutcome,
};
use serde::Serialize;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until},
};
use tracing::Instrument;

use super::{HostInner, ending::Ending, setup, ticket::Ticket, turn::TurnDriver};
use crate::{
    convert::{self, Shower},
    kept::{same_directory, store_error},
    wire::{Outbox, RpcError},
};

/// One request to a session.
#[derive(Debug)]
pub(crate) struct Errand {
    pub(crate) ticket: Ticket,
    pub(crate) job: Job,
    pub(crate) span: tracing::Span,
}

/// What a session can be asked.
#[derive(Debug)]
pub(crate) enum Job {
    Create { cwd: PathBuf },
    Fork { source: SessionId, cwd: PathBuf },
    Open { cwd: PathBuf, history: History },
    Prompt(Vec<PromptBlock>),
    Close,
    Delete,
}

/// Whether opening a session shows what was said before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum History {
    Replayed,
    Kept,
}

pub(crate) struct Lane {
    host: Arc<HostInner>,
    outbox: Outbox,
    ending: Arc<Ending>,
    id: SessionId,
    /// The session while it is open on this connection.
    open: Option<Session>,
    /// When the commands are announced for the second time.
    announce_at: Option<Instant>,
}

/// Either a result or the error that a request is answered with.
type Answered<T> = Result<T, RpcError>;

impl Lane {
    pub(crate) const fn new(
        host: Arc<HostInner>,
        outbox: Outbox,
        ending: Arc<Ending>,
        id: SessionId,
    ) -> Self {
        Self {
            host,
            outbox,
            ending,
            id,
            open: None,
            announce_at: None,
        }
    }

    /// Works until the connection drops the sending end.
    pub(crate) async fn run(mut self, mut errands: mpsc::Receiver<Errand>) {
        loop {
            let announce_at = self.announce_at;
            tokio::select! {
                biased;
                errand = errands.recv() => {
                    let Some(Errand { ticket, job, span }) = errand else { break };
                    self.work(ticket, job).instrument(span).await;
                }
                () = sleep_until(announce_at.unwrap_or_else(Instant::now)),
                    if announce_at.is_some() => self.announce_again().await,
            }
        }
        self.shut().await;
    }

    async fn work(&mut self, mut ticket: Ticket, job: Job) {
        ticket.set_lane(self.id, self.open.is_some());
        match job {
            Job::Prompt(prompt) => {
                let answer = self.prompt(prompt, &ticket).await;
                self.answer(ticket, answer).await;
            }
            Job::Create { cwd } => {
                let created = self.create(cwd).await;
                self.answer_opened(ticket, created.map(|()| convert::session_created(self.id)))
                    .await;
            }
            Job::Fork { source, cwd } => {
                let forked = self.fork(source, cwd).await;
                self.answer_opened(ticket, forked.map(|()| convert::session_forked(self.id)))
                    .await;
            }
            Job::Open { cwd, history } => {
                let opened = self.open(cwd, history, &ticket).await;
                match history {
                    History::Replayed => {
                        self.answer_opened(ticket, opened.map(|()| convert::session_loaded()))
                            .await;
                    }
                    History::Kept => {
                        self.answer_opened(ticket, opened.map(|()| convert::session_resumed()))
                            .await;
                    }
                }
            }
            Job::Close => {
                let answer = if self.shut().await {
                    Ok(convert::session_closed())
                } else {
                    Err(self.not_found())
                };
                self.answer(ticket, answer).await;
            }
            Job::Delete => {
                self.shut().await;
                let deleted = self
                    .host
                    .sessions
                    .delete_session(self.host.owner, self.id)
                    .await;
                let answer = match deleted {
                    Ok(()) | Err(SessionError::NotFound { .. }) => Ok(convert::session_deleted()),
                    Err(error) => Err(store_error(&error)),
                };
                self.answer(ticket, answer).await;
            }
        }
    }

    async fn answer(&self, mut ticket: Ticket, answer: Answered<impl Serialize>) {
        ticket.set_lane(self.id, self.open.is_some());
        ticket.answer(answer).await;
    }

    /// Answers what opens a session, and announces its commands behind the answer: a client
    /// knows the session only then.
    async fn answer_opened(&mut self, ticket: Ticket, answer: Answered<impl Serialize>) {
        let opened = answer.is_ok();
        self.answer(ticket, answer).await;
        if opened {
            self.announce().await;
            self.announce_at = Some(Instant::now() + self.host.options.announce_again);
        }
    }

    async fn create(&mut self, cwd: PathBuf) -> Answered<()> {
        let project = setup::project_of(&self.host, &cwd).await?;
        let now = self.host.clock.now();
        let session = Session {
            id: self.id,
            cwd,
            project,
            title: None,
            created_at: now,
            updated_at: now,
        };
        let created = self
            .host
            .sessions
            .create_session(self.host.owner, &session)
            .await;
        created.map_err(|error| store_error(&error))?;
        self.open = Some(session);
        Ok(())
    }

    async fn fork(&mut self, source: SessionId, cwd: PathBuf) -> Answered<()> {
        let owner = self.host.owner;
        let original = self.host.sessions.session(owner, source).await;
        let original = original.map_err(|error| store_error(&error))?;
        let project = setup::project_of(&self.host, &cwd).await?;
        let now = self.host.clock.now();
        let copy = Session {
            id: self.id,
            cwd,
            project,
            title: original.title,
            created_at: now,
            updated_at: now,
        };
        let forked = self.host.sessions.fork_session(owner, source, &copy).await;
        forked.map_err(|error| store_error(&error))?;
        self.open = Some(copy);
        Ok(())
    }

    async fn open(&mut self, cwd: PathBuf, history: History, ticket: &Ticket) -> Answered<()> {
        let session = self.host.sessions.session(self.host.owner, self.id).await;
        let session = session.map_err(|error| store_error(&error))?;
        same_directory(&session.cwd, &cwd).await?;
        if history == History::Replayed {
            self.replay(ticket).await?;
        }
        self.open = Some(session);
        Ok(())
    }

    /// Shows the whole conversation again: the same order, the same ids.
    async fn replay(&self, ticket: &Ticket) -> Answered<()> {
        let mut shower = Shower::new(self.id);
        let page = PageSize::default();
        let mut skip = 0;
        loop {
            let entries = self
                .host
                .sessions
                .transcript(self.host.owner, self.id, skip, page)
                .await
                .map_err(|error| store_error(&error))?;
            let (count, full) = (
                entries.len() as u64,
                usize::from(page.get()) == entries.len(),
            );
            for entry in entries {
                if ticket.cancel().is_cancelled() || self.ending.has_begun() {
                    return Err(RpcError::cancelled());
                }
                let Some(shown) = shower.replayed(entry.event) else {
                    continue;
                };
                if self.outbox.send(shown).await.is_err() {
                    return Err(RpcError::cancelled());
                }
            }
            if !full {
                return Ok(());
            }
            skip += count;
        }
    }

    async fn prompt(
        &mut self,
        prompt: Vec<PromptBlock>,
        ticket: &Ticket,
    ) -> Answered<impl Serialize + use<>> {
        if self.announce_at.is_some() {
            // Who prompts knows the session. Now is the last good moment: nothing may stand
            // behind the answer.
            self.announce_again().await;
        }
        let Some(session) = &mut self.open else {
            return Err(self.not_found());
        };
        let driver = TurnDriver::new(&self.host, &self.outbox, &self.ending, session);
        match driver.run(prompt, ticket.cancel()).await {
            TurnOutcome::Stopped(reason) => Ok(convert::prompt_answer(reason)),
            TurnOutcome::Failed { message } => Err(RpcError::internal(message)),
        }
    }

    async fn announce_again(&mut self) {
        self.announce_at = None;
        self.announce().await;
    }

    async fn announce(&self) {
        let commands = &self.host.agent.profile().commands;
        let _gone = self.outbox.send(convert::commands(self.id, commands)).await;
    }

    /// Closes the session; tells whether it was open.
    async fn shut(&mut self) -> bool {
        self.announce_at = None;
        let was_open = self.open.take().is_some();
        if was_open {
            // In a task, so that a fault of the agent does not become one of the session.
            let (agent, id) = (self.host.agent.clone(), self.id);
            let told = tokio::spawn(async move { agent.session_closed(id).await });
            if told.await.is_err() {
                tracing::error!(session = %id, "the agent crashed when a session was closed");
            }
        }
        was_open
    }

    fn not_found(&self) -> RpcError {
        RpcError::session_not_found(&self.id.to_string())
    }
}
