//! How a session gets its child, and gets one again.

use std::{ops::ControlFlow, path::PathBuf};

use hyphae_core::{ids::SessionId, session::Session as Kept};
use serde_json::json;
use tokio::sync::oneshot;

use super::Session;
use crate::{
    kept::{same_directory, store_error},
    supervisor::{
        Shared,
        archive::Archive,
        capabilities::Introduction,
        messages::{answer, quoted, with_member, without_member},
        record::is_history,
        slots::Slot,
        start::{StartError, Started, again, is_auth_required},
    },
    wire::{Parts, RpcError, member},
};

/// A session that the editor wants.
#[derive(Debug)]
pub(in crate::supervisor) struct Open {
    /// The request's id, as JSON.
    pub(in crate::supervisor) id: String,
    pub(in crate::supervisor) cwd: PathBuf,
    pub(in crate::supervisor) params: String,
    pub(in crate::supervisor) origin: Origin,
}

/// What a session begins with.
#[derive(Debug)]
pub(in crate::supervisor) enum Origin {
    Nothing,
    /// What was kept of it, shown to the editor or not.
    Kept(History),
    /// What was said in another one, which is kept as soon as this sender is dropped.
    Fork {
        source: SessionId,
        kept: oneshot::Receiver<()>,
    },
}

/// Whether opening a session shows what was said before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::supervisor) enum History {
    Shown,
    Known,
}

/// What the child needs to be told to open the session again.
#[derive(Debug, Clone)]
pub(super) struct Opened {
    cwd: PathBuf,
    /// The editor's parameters, with what it wants the child to have.
    params: String,
    /// What the child calls the session.
    pub(super) name: String,
    /// What it answered, without the name.
    result: String,
}

/// A session in a child that may know it.
struct InChild {
    name: String,
    result: String,
    /// The child has never heard of it.
    is_anew: bool,
}

impl Session {
    /// Makes a child that has introduced itself ours.
    pub(super) async fn take_over(&mut self, started: Started) -> Introduction {
        self.abilities = started.introduction.abilities;
        self.child = Some(started.child);
        for line in started.early {
            let _goes_on = self.heard(&line).await;
        }
        started.introduction
    }

    /// Opens the session and answers.
    pub(super) async fn open(&mut self, open: Open) -> ControlFlow<()> {
        let opened = match open.origin {
            Origin::Nothing => self.open_new(open.cwd, open.params).await,
            Origin::Kept(history) => self.open_kept(open.cwd, open.params, history).await,
            Origin::Fork { source, kept } => {
                // Whether or not its task was still there to keep something.
                let _kept = kept.await;
                self.open_fork(open.cwd, open.params, source).await
            }
        };
        match opened {
            Ok((result, early)) => {
                self.show(answer(&open.id, &result));
                // Some editors drop what comes for a session that they do not know yet.
                for line in early {
                    let _goes_on = self.heard(&line).await;
                }
            }
            Err(error) => {
                self.show(error.line(&open.id));
            }
        }
        if self.opened.is_some() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }

    async fn open_new(
        &mut self,
        cwd: PathBuf,
        params: String,
    ) -> Result<(String, Vec<Vec<u8>>), StartError> {
        let archive = self.archive().await?;
        let slot = self.shared.slots.take(self.id)?;
        let mut started = self.child_in(cwd.clone(), slot).await?;
        let opened = self.opened_by(&mut started, "session/new", &params).await;
        let early = self.settle_in(started);
        let in_child = opened?;
        let begun = archive.begin(self.id, cwd.clone(), self.shared.clock.now());
        begun.await.map_err(|error| store_error(&error))?;
        self.begin_record(archive);
        Ok((self.opened_as(cwd, params, in_child, Named::Yes), early))
    }

    async fn open_kept(
        &mut self,
        cwd: PathBuf,
        params: String,
        history: History,
    ) -> Result<(String, Vec<Vec<u8>>), StartError> {
        let archive = self.archive().await?;
        let kept = found(&archive, self.id).await?;
        same_directory(&kept.cwd, &cwd).await?;
        if let Some(opened) = &mut self.opened {
            opened.params = params;
            let opened = opened.clone();
            let result = self.told(&opened);
            self.replay(&archive, history).await?;
            return Ok((result, Vec::new()));
        }
        let name = archive.name_of(self.id).await;
        let name = name.map_err(|error| store_error(&error))?;
        let slot = self.shared.slots.take(self.id)?;
        let mut started = self.child_in(cwd.clone(), slot).await?;
        let opened = self.opened_again(&mut started, &params, name.as_deref());
        let opened = opened.await;
        let early = self.settle_in(started);
        let in_child = opened?;
        self.replay(&archive, history).await?;
        self.begin_record(archive);
        Ok((self.opened_as(cwd, params, in_child, Named::No), early))
    }

    async fn open_fork(
        &mut self,
        cwd: PathBuf,
        params: String,
        source: SessionId,
    ) -> Result<(String, Vec<Vec<u8>>), StartError> {
        let archive = self.archive().await?;
        let kept = found(&archive, source).await?;
        let name = archive.name_of(source).await;
        let name = name.map_err(|error| store_error(&error))?;
        let name = name.ok_or_else(|| {
            StartError::Failed(RpcError::internal("the agent has no name for the session"))
        })?;
        let slot = self.shared.slots.take(self.id)?;
        let mut started = self.child_in(cwd.clone(), slot).await?;
        let asked = again(&params, &name);
        let opened = self.opened_by(&mut started, "session/fork", &asked).await;
        let early = self.settle_in(started);
        let in_child = opened?;
        let copied = archive.fork(&kept, (self.id, cwd.clone()), self.shared.clock.now());
        copied.await.map_err(|error| store_error(&error))?;
        self.begin_record(archive);
        Ok((self.opened_as(cwd, params, in_child, Named::Yes), early))
    }

    async fn archive(&self) -> Result<Archive, StartError> {
        Ok(self.editor.archive(&self.shared).await?.clone())
    }

    /// Gives the child that is here a place, or starts one.
    async fn child_in(&mut self, cwd: PathBuf, slot: Slot) -> Result<Started, StartError> {
        match self.child.take() {
            Some(mut child) => {
                child.take_slot(slot);
                Ok(Started {
                    child,
                    introduction: Introduction::of(self.abilities),
                    early: Vec::new(),
                })
            }
            None => self.starter().start(cwd, Some(slot)).await,
        }
    }

    /// Whatever came of it: the task stops the child that it has.
    fn settle_in(&mut self, started: Started) -> Vec<Vec<u8>> {
        self.abilities = started.introduction.abilities;
        self.child = Some(started.child);
        started.early
    }

    /// Asks the child for a session that has no name yet.
    async fn opened_by(
        &self,
        started: &mut Started,
        method: &str,
        params: &str,
    ) -> Result<InChild, StartError> {
        let result = self.starter().session(started, method, params).await?;
        if !result.starts_with('{') {
            return Err(self.starter().failed(method, "its answer is no object"));
        }
        let named = member(&result, "sessionId");
        let name = named.and_then(|json| serde_json::from_str::<String>(json).ok());
        let nameless = || self.starter().failed(method, "its answer names no session");
        Ok(InChild {
            name: name.ok_or_else(nameless)?,
            result: without_member(&result, "sessionId"),
            is_anew: false,
        })
    }

    /// Asks the child for a session that it may have had under this name: by its own means if it
    /// has some, and anew if it has none or has lost it.
    async fn opened_again(
        &self,
        started: &mut Started,
        params: &str,
        name: Option<&str>,
    ) -> Result<InChild, StartError> {
        let abilities = started.introduction.abilities;
        let method = match (abilities.resume, abilities.load) {
            (true, _) => Some("session/resume"),
            (false, true) => Some("session/load"),
            (false, false) => None,
        };
        if let (Some(method), Some(name)) = (method, name) {
            let params = again(params, name);
            let opened = self.starter().session(started, method, &params).await;
            // The editor has seen the history, or sees it as it was kept.
            started.early.retain(|line| !is_replay(line));
            match opened {
                Ok(result) => {
                    tracing::info!(session = %self.id, method, "a child has its session again");
                    let is_object = result.starts_with('{');
                    return Ok(InChild {
                        name: name.to_owned(),
                        result: if is_object { result } else { "{}".to_owned() },
                        is_anew: false,
                    });
                }
                Err(StartError::Refused(error)) if !is_auth_required(&error) => {
                    tracing::warn!(session = %self.id, method, "the child has lost its session");
                }
                Err(error) => return Err(error),
            }
        }
        let params = without_member(params, "sessionId");
        let opened = self.opened_by(started, "session/new", &params).await?;
        tracing::info!(session = %self.id, "a session goes on in a child that is told of it");
        Ok(InChild {
            is_anew: true,
            ..opened
        })
    }

    /// The session is open. Returns what the editor is answered.
    fn opened_as(&mut self, cwd: PathBuf, params: String, child: InChild, named: Named) -> String {
        if let Some(record) = &mut self.record {
            record.agent_session(&child.name, child.is_anew);
        }
        let opened = Opened {
            cwd,
            params,
            name: child.name,
            result: child.result,
        };
        let told = self.told(&opened);
        self.opened = Some(opened);
        match named {
            Named::Yes => with_member(&told, "sessionId", &quoted(&self.id.to_string())),
            Named::No => told,
        }
    }

    /// The child's answer, and what we have to say.
    fn told(&self, opened: &Opened) -> String {
        let about = json!({
            "sessionId": self.id.to_string(),
            "agentSessionId": opened.name,
            "log": Shared::log_name(self.id),
        });
        let about = about.to_string();
        let meta = member(&opened.result, "_meta").filter(|meta| meta.starts_with('{'));
        let meta = with_member(meta.unwrap_or("{}"), "hyphae", &about);
        with_member(&opened.result, "_meta", &meta)
    }

    /// Brings a session back whose child has gone.
    pub(super) async fn revive(&mut self) -> Result<(), StartError> {
        let Some(Opened {
            cwd, params, name, ..
        }) = self.opened.clone()
        else {
            return Err(self.starter().failed("idle", "it has ended"));
        };
        self.show_now().await?;
        let slot = self.shared.slots.take(self.id)?;
        let mut started = self.starter().start(cwd, Some(slot)).await?;
        let opened = self.opened_again(&mut started, &params, Some(&name)).await;
        let early = self.settle_in(started);
        let in_child = match opened {
            Ok(in_child) => in_child,
            Err(error) => {
                self.stop();
                return Err(error);
            }
        };
        if let Some(record) = &mut self.record
            && in_child.is_anew
        {
            record.agent_session(&in_child.name, true);
        }
        if let Some(opened) = &mut self.opened {
            opened.name = in_child.name;
        }
        for line in early {
            let _goes_on = self.heard(&line).await;
        }
        Ok(())
    }
}

/// Whether the answer says how the session is called: only where the editor does not know.
#[derive(Debug, Clone, Copy)]
enum Named {
    Yes,
    No,
}

async fn found(archive: &Archive, id: SessionId) -> Result<Kept, StartError> {
    let found = archive.session(id).await;
    found.map_err(|error| StartError::Failed(store_error(&error)))
}

/// Tells whether a line shows what was said.
fn is_replay(line: &[u8]) -> bool {
    Parts::of(line).is_some_and(|parts| {
        parts.method.as_deref() == Some(crate::convert::SESSION_UPDATE)
            && parts.param("update").is_some_and(is_history)
    })
}
