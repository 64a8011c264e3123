//! Carries out what the turn machine of the core decides.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
};

use hyphae_core::{
    agent::{AgentError, AgentEvent, PromptBlock, StopReason, TurnEvents, TurnRequest},
    ids::{MessageId, TurnId},
    session::{Session, TranscriptEvent, title_of},
    turn::{AgentEnd, TranscriptBuffer, Turn, TurnEffect, TurnInput, TurnOutcome},
};
use tokio::{
    sync::mpsc,
    task::{JoinError, JoinHandle},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{HostInner, ending::Ending};
use crate::{
    convert::{self, Shower},
    wire::{Outbox, Outgoing},
};

/// How many events an agent may be ahead of its client.
const EVENTS_AHEAD: usize = 32;

/// What a person is told when an agent panics.
const CRASHED: &str =
    "the agent crashed in the middle of this turn; its log says more, the session goes on";

/// A turn at work: the machine and everything that its effects touch.
pub(crate) struct TurnDriver<'a> {
    host: &'a HostInner,
    outbox: &'a Outbox,
    ending: &'a Ending,
    session: &'a mut Session,
    id: TurnId,
    turn: Turn,
    buffer: TranscriptBuffer,
    /// The session's title, until it is kept and told.
    title: Option<String>,
    shower: Shower,
    /// What waits for room in the outbox. The agent is not listened to meanwhile.
    to_show: VecDeque<Outgoing>,
    /// The end of the transcript is to be kept.
    commit: Option<Option<StopReason>>,
    outcome: Option<TurnOutcome>,
    agent: Work,
    settle_by: Option<Instant>,
}

/// The agent's side of a turn.
struct Work {
    cancel: CancellationToken,
    events: Option<mpsc::Receiver<AgentEvent>>,
    task: Option<JoinHandle<Result<StopReason, AgentError>>>,
    end: Option<AgentEnd>,
}

impl Drop for Work {
    /// Whatever ends the turn, a fault of ours included, the agent does not work on for nobody.
    fn drop(&mut self) {
        self.cancel.cancel();
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

impl<'a> TurnDriver<'a> {
    pub(crate) fn new(
        host: &'a HostInner,
        outbox: &'a Outbox,
        ending: &'a Ending,
        session: &'a mut Session,
    ) -> Self {
        let id = TurnId::new(host.clock.new_id());
        Self {
            shower: Shower::new(session.id),
            host,
            outbox,
            ending,
            session,
            id,
            turn: Turn::new(id),
            buffer: TranscriptBuffer::new(id),
            title: None,
            to_show: VecDeque::new(),
            commit: None,
            outcome: None,
            agent: Work {
                cancel: CancellationToken::new(),
                events: None,
                task: None,
                end: None,
            },
            settle_by: None,
        }
    }

    /// Runs the turn and returns what its prompt is answered with. By then everything is kept
    /// and on its way to the client.
    pub(crate) async fn run(
        mut self,
        prompt: Vec<PromptBlock>,
        cancel: &CancellationToken,
    ) -> TurnOutcome {
        self.begin(prompt, cancel);
        let (mut cancelled, mut ending) = (false, false);
        loop {
            if let Some(reason) = self.commit.take() {
                self.keep(Some(reason)).await;
            } else if self.buffer.is_full() {
                self.keep(None).await;
            }
            if self.to_show.is_empty()
                && let Some(outcome) = self.outcome.take()
            {
                return outcome;
            }
            if self.agent.events.is_none()
                && let Some(end) = self.agent.end.take()
            {
                self.step(TurnInput::Returned { turn: self.id, end });
                continue;
            }
            let settle_by = self.settle_by;
            let listening = self.to_show.is_empty();
            tokio::select! {
                biased;
                () = cancel.cancelled(), if !cancelled => {
                    cancelled = true;
                    self.step(TurnInput::Cancelled);
                }
                () = self.ending.begun(), if !ending => {
                    ending = true;
                    self.step(TurnInput::Cancelled);
                    self.settle_by = self.settle_by.map(|by| by.min(self.ending.settle_by()));
                }
                () = sleep_until(settle_by.unwrap_or_else(Instant::now)), if settle_by.is_some() => {
                    self.settle_by = None;
                    self.step(TurnInput::SettleExpired);
                }
                room = room_for(self.outbox, self.to_show.front()), if !listening => {
                    match (room, self.to_show.pop_front()) {
                        (Ok(room), Some(outgoing)) => self.outbox.put(room, outgoing),
                        // Nobody reads any more; the transcript is all that matters now.
                        _ => self.to_show.clear(),
                    }
                }
                event = next(self.agent.events.as_mut()), if listening && self.agent.events.is_some() => {
                    match event {
                        Some(event) => self.step(TurnInput::Said { turn: self.id, event }),
                        None => self.agent.events = None,
                    }
                }
                end = joined(self.agent.task.as_mut()), if self.agent.task.is_some() => {
                    self.agent.task = None;
                    self.agent.end = Some(end);
                    // What it had said before it ended is still in the channel.
                    if let Some(events) = &mut self.agent.events {
                        events.close();
                    }
                }
            }
        }
    }

    /// Records the prompt and sets the agent to work, unless there is nothing to do any more.
    fn begin(&mut self, prompt: Vec<PromptBlock>, cancel: &CancellationToken) {
        let agent = &self.host.agent;
        let record = catch_unwind(AssertUnwindSafe(|| agent.prompt_for_record(&prompt)));
        let Ok(record) = record else {
            self.agent.end = Some(AgentEnd::Failed {
                message: CRASHED.to_owned(),
            });
            return;
        };
        if self.session.title.is_none() {
            self.title = title_of(&record);
        }
        let message = MessageId::new(self.host.clock.new_id());
        for block in record {
            self.buffer.push(TranscriptEvent::Prompt { message, block });
        }
        if cancel.is_cancelled() || self.ending.has_begun() {
            self.step(TurnInput::Cancelled);
            self.agent.end = Some(AgentEnd::Stopped(StopReason::Cancelled));
            return;
        }
        self.agent.cancel = cancel.child_token();
        let request = TurnRequest {
            session: self.session.id,
            scope: self.host.owner.in_project(self.session.project.clone()),
            cwd: self.session.cwd.clone(),
            turn: self.id,
            prompt,
            cancel: self.agent.cancel.clone(),
        };
        let (sender, events) = mpsc::channel(EVENTS_AHEAD);
        let agent = self.host.agent.clone();
        let span = tracing::info_span!("turn", turn = %self.id);
        let work = async move { agent.run_turn(request, TurnEvents::new(sender)).await };
        self.agent.task = Some(tokio::spawn(tracing::Instrument::instrument(work, span)));
        self.agent.events = Some(events);
    }

    fn step(&mut self, input: TurnInput) {
        for effect in self.turn.step(input) {
            match effect {
                TurnEffect::StopAgent => {
                    self.agent.cancel.cancel();
                    self.settle_by = Some(Instant::now() + self.host.options.settle);
                    if self.ending.has_begun() {
                        self.settle_by = Some(self.ending.settle_by());
                    }
                }
                TurnEffect::AbandonAgent => {
                    tracing::warn!(turn = %self.id, "the agent did not stop in time, left behind");
                    self.agent.events = None;
                    if let Some(task) = self.agent.task.take() {
                        task.abort();
                    }
                }
                TurnEffect::Show(event) => {
                    self.buffer.push(TranscriptEvent::Agent(event.clone()));
                    self.to_show.push_back(self.shower.agent(event));
                }
                TurnEffect::Commit(reason) => {
                    self.settle_by = None;
                    self.commit = Some(reason);
                }
                TurnEffect::Answer(outcome) => self.outcome = Some(outcome),
            }
        }
    }

    /// Keeps what is recorded; with `end`, all of it.
    async fn keep(&mut self, end: Option<Option<StopReason>>) {
        if let Some(Some(reason)) = end {
            self.buffer.push(TranscriptEvent::Ended(reason));
        }
        let now = self.host.clock.now();
        if self.buffer.entries().is_empty() {
            if end.is_some() {
                self.step(TurnInput::Committed);
            }
            return;
        }
        let kept = self
            .host
            .sessions
            .append_transcript(
                self.host.owner,
                self.session.id,
                self.buffer.entries(),
                self.title.as_deref(),
                now,
            )
            .await;
        if let Err(error) = kept {
            tracing::error!(turn = %self.id, error = %error, "the transcript could not be kept");
            // What cannot be kept must not grow either.
            self.buffer.clear();
            self.step(TurnInput::StoreFailed {
                message: format!("the conversation could not be saved: {error}"),
            });
            return;
        }
        self.buffer.clear();
        self.session.updated_at = now;
        if let Some(title) = self.title.take() {
            self.to_show
                .push_back(convert::session_info(self.session.id, &title, now));
            self.session.title = Some(title);
        }
        if end.is_some() {
            self.step(TurnInput::Committed);
        }
    }
}

async fn room_for<'a>(
    outbox: &'a Outbox,
    outgoing: Option<&Outgoing>,
) -> Result<crate::wire::Room<'a>, crate::wire::Gone> {
    match outgoing {
        Some(outgoing) => outbox.room_for(outgoing).await,
        None => std::future::pending().await,
    }
}

async fn next(events: Option<&mut mpsc::Receiver<AgentEvent>>) -> Option<AgentEvent> {
    match events {
        Some(events) => events.recv().await,
        None => std::future::pending().await,
    }
}

async fn joined(task: Option<&mut JoinHandle<Result<StopReason, AgentError>>>) -> AgentEnd {
    let Some(task) = task else {
        return std::future::pending().await;
    };
    match task.await {
        Ok(Ok(reason)) => AgentEnd::Stopped(reason),
        Ok(Err(error)) => {
            let message = error.to_string();
            tracing::error!(error = %message, cause = ?std::error::Error::source(&error), "the agent failed");
            AgentEnd::Failed { message }
        }
        Err(error) => AgentEnd::Failed {
            message: lost(&error),
        },
    }
}

fn lost(error: &JoinError) -> String {
    tracing::error!(
        panicked = error.is_panic(),
        "the agent was lost in the middle of a turn"
    );
    CRASHED.to_owned()
}
