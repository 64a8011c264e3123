//! Messages on their way from the editor to the child, and back.

use std::{borrow::Cow, ops::ControlFlow};

use serde_json::json;
use tokio::time::Instant;

use super::{ASKED_BITS, AUTHENTICATE, Closing, Session};
use crate::{
    supervisor::{
        child::{Call, Child},
        messages::{quoted, refusal},
        start::failure,
    },
    wire::{Parts, RequestId},
};

impl Session {
    /// Passes a request or notification of the editor on.
    pub(super) async fn relay(&mut self, line: &[u8]) {
        let Some(parts) = Parts::of(line) else {
            return;
        };
        if self.child.is_none() {
            let Some(id) = parts.id else {
                return;
            };
            if let Err(error) = self.revive().await {
                let line = self.start_refusal(id, error);
                self.show(line);
                return;
            }
        }
        let Some(child) = &mut self.child else {
            return;
        };
        let mut rewrite = parts.rewrite();
        if let (Some(opened), Some(named)) = (&self.opened, parts.param("sessionId")) {
            rewrite = rewrite.replace(named, quoted(&opened.name));
        }
        if parts.method.as_deref() == Some(AUTHENTICATE) {
            self.authenticating = parts.params.map(str::to_owned);
        }
        let number = parts.id.map(|id| {
            let method = parts.method.as_deref().unwrap_or_default().to_owned();
            let id = id.to_owned();
            child.expect(Call::Editor { id, method })
        });
        if let (Some(id), Some(number)) = (parts.id, number) {
            rewrite = rewrite.replace(id, number.to_string());
        }
        if child.send(rewrite.finish()).is_err() {
            tracing::warn!(session = %self.id, "the child does not read what it is sent");
            if let (Some(id), Some(number)) = (parts.id, number) {
                child.answered(&number.to_string());
                let error = failure(
                    &self.shared,
                    self.id,
                    parts.method.as_deref().unwrap_or_default(),
                    "it does not read what it is sent",
                );
                self.show(refusal(id, &error));
            }
        }
    }

    pub(super) fn editor_answered(&mut self, asked: u64, line: &[u8]) {
        let (Some(id), Some(child)) = (self.asked.remove(&asked), &self.child) else {
            tracing::debug!("the editor answered what nobody waits for");
            return;
        };
        let Some(parts) = Parts::of(line) else {
            return;
        };
        if let Some(theirs) = parts.id
            && child
                .send(parts.rewrite().replace(theirs, id).finish())
                .is_err()
        {
            tracing::warn!(session = %self.id, "the child does not read what it is sent");
        }
    }

    pub(super) fn cancel_request(&mut self, wanted: &RequestId) {
        let Some(child) = &self.child else {
            return;
        };
        let number = child.calls().iter().find_map(|(number, call)| match call {
            Call::Editor { id, .. } => {
                let same = RequestId::parse(id).is_ok_and(|id| id == *wanted);
                same.then_some(*number)
            }
            Call::Ours => None,
        });
        if let Some(number) = number {
            let params = json!({ "requestId": number }).to_string();
            let _deaf = child.notify("$/cancel_request", &params);
        }
    }

    /// Hears a line of the child.
    pub(super) fn heard(&mut self, line: &[u8]) -> ControlFlow<()> {
        use ControlFlow::{Break, Continue};
        self.quiet_since = Instant::now();
        let Some(parts) = Parts::of(line) else {
            tracing::warn!(session = %self.id, bytes = line.len(), "the child said something that is no message");
            return Continue(());
        };
        let mut rewrite = parts.rewrite();
        match (&parts.method, parts.id) {
            (None, None) => {
                tracing::warn!(session = %self.id, "the child said something that is no message");
                return Continue(());
            }
            (None, Some(id)) => match self.child.as_mut().and_then(|child| child.answered(id)) {
                Some((_, Call::Editor { id: theirs, method })) => {
                    if method == AUTHENTICATE && parts.result.is_some() {
                        self.editor.remember(self.authenticating.take());
                    }
                    rewrite = rewrite.replace(id, theirs);
                }
                Some((number, Call::Ours)) => {
                    let closes = |closing: &Closing| closing.call == Some(number);
                    if self.closing.as_ref().is_some_and(closes) {
                        self.close();
                        return Break(());
                    }
                    return Continue(());
                }
                None => {
                    tracing::warn!(session = %self.id, "the child answered what it was not asked");
                    return Continue(());
                }
            },
            (Some(_), Some(id)) => {
                let asked = self.next_asked;
                self.next_asked = (asked + 1) & ((1 << ASKED_BITS) - 1);
                self.asked.insert(asked, id.to_owned());
                let ours = (self.number << ASKED_BITS) | asked;
                rewrite = rewrite.replace(id, ours.to_string());
            }
            (Some(method), None) if method == "$/cancel_request" => {
                let Some(named) = parts.param("requestId") else {
                    return Continue(());
                };
                let asked = self.asked.iter().find(|(_, id)| *id == named);
                let Some((asked, _)) = asked else {
                    return Continue(());
                };
                let ours = (self.number << ASKED_BITS) | asked;
                rewrite = rewrite.replace(named, ours.to_string());
            }
            (Some(_), None) => {}
        }
        if parts.method.is_some()
            && let (Some(opened), Some(named)) = (&self.opened, parts.param("sessionId"))
            && serde_json::from_str::<Cow<'_, str>>(named).is_ok_and(|name| name == opened.name)
        {
            rewrite = rewrite.replace(named, quoted(&self.id.to_string()));
        }
        self.show(rewrite.finish());
        let nothing_runs = |child: &Child| child.calls().is_empty();
        if self
            .closing
            .as_ref()
            .is_some_and(|closing| closing.call.is_none())
            && self.child.as_ref().is_some_and(nothing_runs)
        {
            self.close();
            return Break(());
        }
        Continue(())
    }

    /// A message that is too long to pass on. If it was an answer, somebody waits.
    pub(super) fn heard_too_much(&mut self, id: Option<RequestId>) {
        let limit = self.shared.options.frame_limit;
        tracing::warn!(session = %self.id, limit, "a message of the child was over the limit and is skipped");
        let number = match id {
            Some(RequestId::Number(number)) => number,
            Some(RequestId::String(_) | RequestId::Null) | None => return,
        };
        let call = self
            .child
            .as_mut()
            .and_then(|child| child.answered(&number));
        if let Some((_, Call::Editor { id, method })) = call {
            let why = format!("its answer is longer than the limit of {limit} bytes");
            let error = failure(&self.shared, self.id, &method, &why);
            self.show(refusal(&id, &error));
        }
    }
}
