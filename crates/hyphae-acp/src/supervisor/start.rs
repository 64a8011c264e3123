//! How a child comes to life: its process, its introduction, its session.

use std::{
    fmt,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use hyphae_core::ids::SessionId;
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use super::{
    Shared,
    capabilities::Introduction,
    child::{self, Child, NoAnswer},
    learned::Learned,
    messages::{quoted, with_member},
};
use crate::wire::{Parts, RpcError};

/// What the editor said that every child must hear as well.
pub(super) struct Editor {
    /// The parameters of its `initialize`, with our version of the protocol.
    pub(super) params: String,
    /// What was learned under these parameters, if it can be kept.
    pub(super) learned: Learned,
    /// The parameters of the last `authenticate` that went well.
    pub(super) credentials: Mutex<Option<String>>,
}

impl fmt::Debug for Editor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Editor(…)")
    }
}

impl Editor {
    /// Keeps how the editor authenticated, for children that ask again.
    pub(super) fn remember(&self, credentials: Option<String>) {
        *self.known() = credentials;
    }

    fn known(&self) -> MutexGuard<'_, Option<String>> {
        self.credentials
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a child is not there, or not in its session.
#[derive(Debug)]
pub(super) enum StartError {
    /// The child answered with an error: this JSON.
    Refused(String),
    /// Something of ours.
    Failed(RpcError),
    /// Nobody waits for it any more.
    Aborted,
}

/// The code for a child that wants to know first who asks.
const AUTH_REQUIRED: &str = "-32000";

/// A child that has introduced itself, and what it said meanwhile.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) child: Child,
    pub(super) introduction: Introduction,
    pub(super) early: Vec<Vec<u8>>,
}

/// Starts children for one session.
#[derive(Clone, Copy)]
pub(super) struct Starter<'a> {
    pub(super) shared: &'a Shared,
    pub(super) editor: &'a Editor,
    pub(super) id: SessionId,
    pub(super) abort: &'a CancellationToken,
}

impl Starter<'_> {
    /// Starts a process in a directory and shakes hands with it. It holds the slot until it is
    /// gone, also if it fails.
    pub(super) async fn start(
        self,
        directory: PathBuf,
        slot: Option<OwnedSemaphorePermit>,
    ) -> Result<Started, StartError> {
        let limits = (self.shared.options.frame_limit, self.shared.inbox_bytes());
        let keep = self.shared.keep(self.id, directory);
        let mut child = child::start(&self.shared.keepers, &keep, limits)
            .map_err(|error| self.failed("start", &error.to_string()))?;
        if let Some(slot) = slot {
            child.take_slot(slot);
        }
        let mut started = Started {
            child,
            introduction: Introduction::default(),
            early: Vec::new(),
        };
        let told = match self
            .ask(&mut started, "initialize", &self.editor.params)
            .await
        {
            Ok(answer) => answer.and_then(|json| {
                Introduction::read(&json).map_err(|why| self.failed("initialize", &why))
            }),
            Err(error) => Err(error),
        };
        match told {
            Ok(introduction) => {
                self.remember(&introduction);
                started.introduction = introduction;
                Ok(started)
            }
            Err(error) => {
                started.child.stop(&self.shared.leaving);
                Err(error)
            }
        }
    }

    fn remember(self, introduction: &Introduction) {
        let learned = &self.editor.learned;
        if learned.answer().as_deref() != Some(introduction.json.as_str())
            && let Err(error) = learned.keep(&introduction.json)
        {
            tracing::warn!(%error, "what the agent said of itself cannot be kept");
        }
    }

    /// Asks for a session, as the editor would after it has authenticated. Returns the whole line
    /// of the answer.
    pub(super) async fn session(
        self,
        started: &mut Started,
        method: &str,
        params: &str,
    ) -> Result<Vec<u8>, StartError> {
        let first = self.line(started, method, params).await?;
        if !wants_authentication(&first) {
            return Ok(first);
        }
        let known = self.editor.known().clone();
        let Some(credentials) = known else {
            return Ok(first);
        };
        match self.ask(started, "authenticate", &credentials).await? {
            Ok(_) => self.line(started, method, params).await,
            Err(_) => Ok(first),
        }
    }

    /// Asks the child and returns its result, or its refusal.
    async fn ask(
        self,
        started: &mut Started,
        method: &str,
        params: &str,
    ) -> Result<Result<String, StartError>, StartError> {
        let line = self.line(started, method, params).await?;
        let Some(parts) = Parts::of(&line) else {
            return Err(self.failed(method, "its answer is no message"));
        };
        Ok(match (parts.result, parts.error) {
            (Some(result), None) => Ok(result.to_owned()),
            (None, Some(error)) => Err(StartError::Refused(error.to_owned())),
            _ => Err(self.failed(method, "its answer is neither a result nor an error")),
        })
    }

    async fn line(
        self,
        started: &mut Started,
        method: &str,
        params: &str,
    ) -> Result<Vec<u8>, StartError> {
        let patience = self.shared.options.start;
        let number = started
            .child
            .ask(method, params)
            .map_err(|_| self.failed(method, "it does not read what it is sent"))?;
        let answer = started.child.answer_to(
            number,
            &mut started.early,
            self.shared.options.frame_limit,
            patience,
        );
        let answer = tokio::select! {
            biased;
            () = self.abort.cancelled() => return Err(StartError::Aborted),
            answer = answer => answer,
        };
        answer.map_err(|no_answer| {
            let phase = match &no_answer {
                NoAnswer::Ended(child::Ended::NotStarted { .. }) => "start",
                NoAnswer::Ended(_) | NoAnswer::Late | NoAnswer::Flood => method,
            };
            self.failed(phase, &no_answer.describe(patience))
        })
    }

    pub(super) fn failed(self, phase: &str, why: &str) -> StartError {
        StartError::Failed(failure(self.shared, self.id, phase, why))
    }
}

/// What the editor is told of a child that failed.
pub(super) fn failure(shared: &Shared, id: SessionId, phase: &str, why: &str) -> RpcError {
    let program = shared.options.program.to_string_lossy();
    tracing::warn!(session = %id, phase, why, "a child failed");
    RpcError::internal_with(json!({
        "details": format!("the agent `{program}` failed: {why}; its log is {}", Shared::log_name(id)),
        "phase": phase,
        "log": Shared::log_name(id),
    }))
}

fn wants_authentication(line: &[u8]) -> bool {
    let code = Parts::of(line)
        .and_then(|parts| parts.error)
        .and_then(|error| crate::wire::member(error, "code"));
    code == Some(AUTH_REQUIRED)
}

/// The parameters of `session/new`, for a session that the child knows already.
pub(super) fn again(params: &str, agent_session: &str) -> String {
    with_member(params, "sessionId", &quoted(agent_session))
}
