//! How a session is closed, and what is left to say when its child ends.

use std::ops::ControlFlow;

use serde_json::json;
use tokio::time::Instant;

use super::{ASKED_BITS, Closing, Session};
use crate::{
    supervisor::{
        child::{Call, Child, Ended},
        messages::{answer, refusal},
        start::failure,
    },
    wire::{Outgoing, RpcError},
};

impl Session {
    /// The child is no more.
    pub(super) fn ended(&mut self, ended: &Ended) -> ControlFlow<()> {
        use ControlFlow::{Break, Continue};
        if self.closing.is_some() {
            self.close();
            return Break(());
        }
        let calls = self.child.as_mut().map(Child::give_up).unwrap_or_default();
        let mut told = false;
        for (_, call) in calls {
            if let Call::Editor { id, method } = call {
                let error = failure(&self.shared, self.id, &method, &ended.describe());
                self.show(refusal(&id, &error));
                told = true;
            }
        }
        if !told {
            tracing::warn!(session = %self.id, how = ended.describe(), "an idle child ended");
        }
        self.withdraw();
        self.stop();
        if self.opened.is_some() {
            Continue(())
        } else {
            Break(())
        }
    }

    /// Tells the editor that what the child asked need not be answered any more.
    pub(super) fn withdraw(&mut self) {
        let mut asked: Vec<u64> = self.asked.drain().map(|(asked, _)| asked).collect();
        asked.sort_unstable();
        for asked in asked {
            let params = json!({ "requestId": (self.number << ASKED_BITS) | asked });
            self.to_show
                .push_back(Outgoing::notification("$/cancel_request", params));
        }
    }

    pub(super) fn begin_to_close(&mut self, id: String) -> ControlFlow<()> {
        use ControlFlow::{Break, Continue};
        let until = Instant::now() + self.shared.options.settle;
        let mut closing = Closing {
            id,
            until,
            call: None,
        };
        if let (Some(child), Some(opened)) = (&mut self.child, &self.opened) {
            let params = json!({ "sessionId": opened.name }).to_string();
            if self.abilities.close {
                closing.call = child.ask("session/close", &params).ok();
            } else if !child.calls().is_empty() {
                let _deaf = child.notify("session/cancel", &params);
            }
        }
        let waits = closing.call.is_some()
            || self
                .child
                .as_ref()
                .is_some_and(|child| !child.calls().is_empty());
        self.closing = Some(closing);
        if waits {
            return Continue(());
        }
        self.close();
        Break(())
    }

    /// Answers everything that is open, the close last.
    pub(super) fn close(&mut self) {
        let calls = self.child.as_mut().map(Child::give_up).unwrap_or_default();
        for (_, call) in calls {
            if let Call::Editor { id, method } = call {
                let line = if method == "session/prompt" {
                    answer(&id, r#"{"stopReason":"cancelled"}"#)
                } else {
                    refusal(&id, &RpcError::cancelled())
                };
                self.show(line);
            }
        }
        self.withdraw();
        if let Some(closing) = self.closing.take() {
            self.show(answer(&closing.id, "{}"));
        }
        self.opened = None;
    }
}
