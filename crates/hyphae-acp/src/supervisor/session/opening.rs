//! How a session gets its child, and gets one again.

use std::{ops::ControlFlow, path::PathBuf};

use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;

use super::{Open, Opened, Session};
use crate::{
    supervisor::{
        Shared,
        capabilities::Introduction,
        messages::{no_slot, quoted, refusal},
        start::{StartError, Started, again},
    },
    wire::{Parts, RpcError, member},
};

impl Session {
    /// Makes a child that has introduced itself ours; its early words are to be heard by the
    /// caller when it is time.
    pub(super) fn take_over(&mut self, started: Started) -> Introduction {
        self.abilities = started.introduction.abilities;
        self.child = Some(started.child);
        for line in started.early {
            let _goes_on = self.heard(&line);
        }
        started.introduction
    }

    /// Opens the session in a child, in the one that is here if there is one.
    pub(super) async fn open(&mut self, open: Open) -> ControlFlow<()> {
        let Open {
            id,
            cwd,
            params,
            slot,
        } = open;
        let opened = self.opened_in_child(&id, cwd, params, slot).await;
        let (line, goes_on) = match opened {
            Ok((line, early)) => {
                self.show(line);
                // Some editors drop what comes for a session that they do not know yet.
                for line in early {
                    let _goes_on = self.heard(&line);
                }
                return ControlFlow::Continue(());
            }
            Err(error) => (self.start_refusal(&id, error), ControlFlow::Break(())),
        };
        self.show(line);
        goes_on
    }

    pub(super) async fn opened_in_child(
        &mut self,
        id: &str,
        cwd: PathBuf,
        params: String,
        slot: OwnedSemaphorePermit,
    ) -> Result<(Vec<u8>, Vec<Vec<u8>>), StartError> {
        const METHOD: &str = "session/new";
        let mut started = match self.child.take() {
            Some(mut child) => {
                child.take_slot(slot);
                Started {
                    child,
                    introduction: Introduction::default(),
                    early: Vec::new(),
                }
            }
            None => {
                let started = self.starter().start(cwd.clone(), Some(slot)).await?;
                self.abilities = started.introduction.abilities;
                started
            }
        };
        let line = self.starter().session(&mut started, METHOD, &params).await;
        let early = std::mem::take(&mut started.early);
        // Whatever came of it: the task stops the child that it has.
        self.child = Some(started.child);
        let line = line?;
        let parts = Parts::of(&line);
        let nonsense = |what: &str| self.starter().failed(METHOD, what);
        let parts = parts.ok_or_else(|| nonsense("its answer is no message"))?;
        if let Some(error) = parts.error {
            return Err(StartError::Refused(error.to_owned()));
        }
        let result = parts.result.filter(|result| result.starts_with('{'));
        let result = result.ok_or_else(|| nonsense("its answer is no object"))?;
        let named = member(result, "sessionId");
        let name = named.and_then(|json| serde_json::from_str::<String>(json).ok());
        let (Some(named), Some(name)) = (named, name) else {
            return Err(nonsense("its answer names no session"));
        };
        let about = json!({
            "sessionId": self.id.to_string(),
            "agentSessionId": name,
            "log": Shared::log_name(self.id),
        });
        let mut rewrite = parts
            .rewrite()
            .replace(parts.id.unwrap_or_default(), id)
            .replace(named, quoted(&self.id.to_string()));
        rewrite = match member(result, "_meta") {
            Some(meta) if meta.starts_with('{') && member(meta, "hyphae").is_none() => {
                rewrite.add(meta, "hyphae", &about.to_string())
            }
            Some(meta) => rewrite.replace(meta, json!({ "hyphae": about }).to_string()),
            None => rewrite.add(result, "_meta", &json!({ "hyphae": about }).to_string()),
        };
        let line = rewrite.finish();
        self.opened = Some(Opened { cwd, params, name });
        Ok((line, early))
    }

    pub(super) fn start_refusal(&self, id: &str, error: StartError) -> Vec<u8> {
        match error {
            StartError::Refused(error) => {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#).into_bytes()
            }
            StartError::Failed(error) => refusal(id, &error),
            StartError::Aborted => refusal(id, &RpcError::cancelled()),
        }
    }

    /// Brings a session back whose child has gone.
    pub(super) async fn revive(&mut self) -> Result<(), StartError> {
        let Some(Opened { cwd, params, name }) = &self.opened else {
            return Err(self.starter().failed("idle", "it has ended"));
        };
        let method = match (self.abilities.resume, self.abilities.load) {
            (true, _) => "session/resume",
            (false, true) => "session/load",
            (false, false) => {
                return Err(self.starter().failed(
                    "idle",
                    "it has ended and cannot open a session again; open a new one",
                ));
            }
        };
        let slot = self.shared.slots.clone().try_acquire_owned();
        let slot =
            slot.map_err(|_| StartError::Failed(no_slot(self.shared.options.max_sessions, &[])))?;
        let params = again(params, name);
        let mut started = self.starter().start(cwd.clone(), Some(slot)).await?;
        let line = self.starter().session(&mut started, method, &params).await;
        let early = std::mem::take(&mut started.early);
        self.abilities = started.introduction.abilities;
        self.child = Some(started.child);
        let line = match line {
            Ok(line) => line,
            Err(error) => {
                self.stop();
                return Err(error);
            }
        };
        if let Some(error) = Parts::of(&line).and_then(|parts| parts.error) {
            let error = error.to_owned();
            self.stop();
            return Err(StartError::Refused(error));
        }
        tracing::info!(session = %self.id, method, "a session has a child again");
        for line in early {
            // The editor has seen the history.
            let is_replay = method == "session/load"
                && Parts::of(&line)
                    .is_some_and(|parts| parts.method.as_deref() == Some("session/update"));
            if !is_replay {
                let _goes_on = self.heard(&line);
            }
        }
        Ok(())
    }
}
