//! One running child: its pipes, its keeper, and what it was asked.

use std::{collections::HashMap, io, time::Duration};

use hyphae_keeper::{Exit, Keeper, Kept, Report};
use tokio::{
    process::ChildStdout,
    sync::OwnedSemaphorePermit,
    task::JoinHandle,
    time::{Instant, sleep_until, timeout},
};
use tokio_util::task::TaskTracker;

use crate::wire::{Frame, LineReader, Outbox, Outgoing, Parts, RequestId};

/// How long the rest of a dead child's words, or the report of its death, may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What a request to the child was for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Call {
    /// We ask; nobody else waits.
    Ours,
    /// The editor waits under this id.
    Editor { id: String, method: String },
}

/// A child and everything that ends with it.
#[derive(Debug)]
pub(super) struct Child {
    keeper: Keeper,
    lines: LineReader<ChildStdout>,
    inbox: Outbox,
    writing: JoinHandle<()>,
    calls: HashMap<u64, Call>,
    next_call: u64,
    lines_ended: bool,
    ended: Option<Ended>,
    /// When the wait for the other half of an end is over.
    drained_by: Option<Instant>,
    slot: Option<OwnedSemaphorePermit>,
}

/// Something from the child.
#[derive(Debug)]
pub(super) enum Heard {
    Line(Vec<u8>),
    /// A message over the limit, whose id may be known.
    TooLong(Option<RequestId>),
    Ended(Ended),
}

/// How a child ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ended {
    /// There is no such program, or it cannot be run.
    NotStarted {
        why: String,
    },
    Exited(Exit),
    /// It lives, but has closed its stdout.
    Mute,
    /// Its keeper was killed.
    Lost,
}

impl Ended {
    /// One line for people.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::NotStarted { why } => format!("it cannot be started: {why}"),
            Self::Exited(exit) => format!("its process ended ({exit})"),
            Self::Mute => "it closed its stdout".to_owned(),
            Self::Lost => "its process was lost".to_owned(),
        }
    }
}

/// The child takes no more: it does not read what it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Deaf;

impl Child {
    /// `inbox` is how many bytes may wait for it.
    pub(super) fn new(kept: Kept, frame_limit: usize, inbox: usize) -> Self {
        let outbox = Outbox::new(inbox);
        let writing = tokio::spawn({
            let (outbox, stdin) = (outbox.clone(), kept.stdin);
            async move {
                if let Err(error) = outbox.write_to(stdin).await {
                    // That it ended is told by its keeper.
                    tracing::debug!(%error, "the child does not take messages any more");
                    outbox.abandon();
                }
            }
        });
        Self {
            keeper: kept.keeper,
            lines: LineReader::new(kept.stdout, frame_limit),
            inbox: outbox,
            writing,
            calls: HashMap::new(),
            next_call: 1,
            lines_ended: false,
            ended: None,
            drained_by: None,
            slot: None,
        }
    }

    /// From now on the child takes one of the places for sessions, until it is gone.
    pub(super) fn take_slot(&mut self, slot: OwnedSemaphorePermit) {
        self.slot = Some(slot);
    }

    /// Returns what comes next. Cancel-safe. After an end there is nothing more.
    pub(super) async fn next(&mut self) -> Heard {
        loop {
            if self.lines_ended
                && let Some(ended) = self.ended.clone()
            {
                return Heard::Ended(ended);
            }
            let drained_by = self.drained_by;
            tokio::select! {
                biased;
                frame = self.lines.next(), if !self.lines_ended => match frame {
                    Ok(Some(Frame::Line(line))) => return Heard::Line(line.to_vec()),
                    Ok(Some(Frame::TooLong { id })) => return Heard::TooLong(id),
                    Ok(None) | Err(_) => {
                        self.lines_ended = true;
                        self.drained_by = Some(Instant::now() + LAST_WORDS);
                    }
                },
                report = self.keeper.next(), if self.ended.is_none() => {
                    self.ended = match report {
                        Some(Report::Started { pid }) => {
                            tracing::info!(pid, "a child was started");
                            continue;
                        }
                        Some(Report::NotStarted { why }) => Some(Ended::NotStarted { why }),
                        Some(Report::Exited(exit)) => Some(Ended::Exited(exit)),
                        None => Some(Ended::Lost),
                    };
                    self.drained_by = Some(Instant::now() + LAST_WORDS);
                }
                () = sleep_until(drained_by.unwrap_or_else(Instant::now)), if drained_by.is_some() => {
                    // Somebody else holds its stdout, or it lives on without one.
                    self.drained_by = None;
                    self.lines_ended = true;
                    self.ended.get_or_insert(Ended::Mute);
                }
            }
        }
    }

    /// Sends a line as it is.
    pub(super) fn send(&self, line: Vec<u8>) -> Result<(), Deaf> {
        self.inbox.try_send(Outgoing::Line(line)).map_err(|_| Deaf)
    }

    /// Returns the number for a request that is about to be sent.
    pub(super) fn expect(&mut self, call: Call) -> u64 {
        let number = self.next_call;
        self.next_call += 1;
        self.calls.insert(number, call);
        number
    }

    /// Asks for something on our own account.
    pub(super) fn ask(&mut self, method: &str, params: &str) -> Result<u64, Deaf> {
        let number = self.expect(Call::Ours);
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{params}}}"#);
        self.send(line.into_bytes())?;
        Ok(number)
    }

    pub(super) fn notify(&self, method: &str, params: &str) -> Result<(), Deaf> {
        let line = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
        self.send(line.into_bytes())
    }

    /// Returns what an answer is to, once.
    pub(super) fn answered(&mut self, id: &str) -> Option<(u64, Call)> {
        let number = id.parse().ok()?;
        let call = self.calls.remove(&number)?;
        Some((number, call))
    }

    /// What the child was asked and did not answer yet.
    pub(super) const fn calls(&self) -> &HashMap<u64, Call> {
        &self.calls
    }

    /// Forgets what it was asked; whoever waits is answered by the caller.
    pub(super) fn give_up(&mut self) -> Vec<(u64, Call)> {
        let mut calls: Vec<_> = self.calls.drain().collect();
        calls.sort_by_key(|(number, _)| *number);
        calls
    }

    /// Waits for the answer to a request of ours. Whatever else comes is kept in `early`, which
    /// must not grow beyond `early_bytes`.
    pub(super) async fn answer_to(
        &mut self,
        number: u64,
        early: &mut Vec<Vec<u8>>,
        early_bytes: usize,
        patience: Duration,
    ) -> Result<Vec<u8>, NoAnswer> {
        let waiting = async {
            let mut bytes = 0;
            loop {
                let line = match self.next().await {
                    Heard::Line(line) => line,
                    Heard::TooLong(_) => continue,
                    Heard::Ended(ended) => return Err(NoAnswer::Ended(ended)),
                };
                let Some(parts) = Parts::of(&line) else {
                    tracing::warn!(
                        bytes = line.len(),
                        "the child said something that is no message"
                    );
                    continue;
                };
                match (&parts.method, parts.id) {
                    (None, Some(id)) => match self.answered(id) {
                        Some((answered, _)) if answered == number => return Ok(line),
                        _ => tracing::warn!("the child answered what it was not asked"),
                    },
                    _ => {
                        bytes += line.len();
                        if bytes > early_bytes {
                            return Err(NoAnswer::Flood);
                        }
                        early.push(line);
                    }
                }
            }
        };
        match timeout(patience, waiting).await {
            Ok(answer) => answer,
            Err(_) => Err(NoAnswer::Late),
        }
    }

    /// Ends the child and all that it started. Its slot is free when nothing is left.
    pub(super) fn stop(self, tasks: &TaskTracker) {
        let Self {
            keeper,
            mut lines,
            inbox,
            writing,
            slot,
            ..
        } = self;
        inbox.finish();
        keeper.stop();
        tasks.spawn(async move {
            // It must not hang in its last words.
            let listening =
                tokio::spawn(async move { while let Ok(Some(_)) = lines.next().await {} });
            if let Err(error) = keeper.gone().await {
                tracing::error!(%error, "the end of a child could not be waited for");
            }
            listening.abort();
            writing.abort();
            drop(slot);
        });
    }
}

/// Why a request of ours has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoAnswer {
    Ended(Ended),
    /// It did not come in time.
    Late,
    /// Too much else came before it.
    Flood,
}

impl NoAnswer {
    pub(super) fn describe(&self, patience: Duration) -> String {
        match self {
            Self::Ended(ended) => ended.describe(),
            Self::Late => format!("it did not answer within {} ms", patience.as_millis()),
            Self::Flood => "it sent too much before its answer".to_owned(),
        }
    }
}

/// Starts a child, or says why the system would not.
pub(super) fn start(
    keepers: &hyphae_keeper::Keepers,
    keep: &hyphae_keeper::Keep,
    limits: (usize, usize),
) -> io::Result<Child> {
    let kept = keepers.start(keep)?;
    Ok(Child::new(kept, limits.0, limits.1))
}
