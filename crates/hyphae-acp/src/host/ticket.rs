//! The right, and the duty, to answer one request.

use std::sync::Arc;

use hyphae_core::ids::SessionId;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio_util::sync::CancellationToken;

use super::ending::Ending;
use crate::wire::{Outbox, Outgoing, RequestId, RpcError};

/// Numbers the requests of a connection in the order of their arrival. A client may use an id
/// twice; these are ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Serial(pub(crate) u64);

/// Tells the connection that a request is answered, before the answer leaves: what a client
/// sends after it has read the answer finds the connection up to date.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) serial: Serial,
    pub(crate) lane: Option<LaneState>,
}

/// What is left of a session's lane after a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LaneState {
    pub(crate) session: SessionId,
    pub(crate) open: bool,
}

/// Belongs to whoever works on a request. If it is dropped unanswered, which only a panic or the
/// end of the connection brings about, the client is told so and does not wait in vain.
#[derive(Debug)]
pub(crate) struct Ticket {
    serial: Serial,
    id: RequestId,
    cancel: CancellationToken,
    outbox: Outbox,
    ending: Arc<Ending>,
    done: mpsc::Sender<Done>,
    lane: Option<LaneState>,
    answered: bool,
    /// This request's part of what a client may have in flight.
    _room: OwnedSemaphorePermit,
}

impl Ticket {
    pub(crate) fn new(
        serial: Serial,
        id: RequestId,
        (outbox, ending): (Outbox, Arc<Ending>),
        done: mpsc::Sender<Done>,
        cancel: CancellationToken,
        room: OwnedSemaphorePermit,
    ) -> Self {
        Self {
            serial,
            id,
            cancel,
            outbox,
            ending,
            done,
            lane: None,
            answered: false,
            _room: room,
        }
    }

    /// Fires when the request should end early.
    pub(crate) const fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Sets what the connection learns of the session's lane with the answer.
    pub(crate) const fn set_lane(&mut self, session: SessionId, open: bool) {
        self.lane = Some(LaneState { session, open });
    }

    /// Answers. A client that is gone needs no answer, so there is no error to handle.
    pub(crate) async fn answer(mut self, result: Result<impl Serialize, RpcError>) {
        self.report();
        let answer = match result {
            Ok(result) => Outgoing::answer(&self.id, result),
            Err(error) => Outgoing::refusal(&self.id, &error),
        };
        let _gone = self.outbox.send(answer).await;
    }

    fn report(&mut self) {
        self.answered = true;
        // There is a place for every request in flight, and a connection that is gone needs
        // no report.
        let _full = self.done.try_send(Done {
            serial: self.serial,
            lane: self.lane,
        });
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.answered {
            if let Some(lane) = &mut self.lane {
                lane.open = false;
            }
            self.report();
            let error = RpcError::internal(if self.ending.has_begun() {
                "the connection ended before this was done"
            } else {
                "the request was lost to a fault in this program; see its log"
            });
            self.outbox
                .send_uncounted(Outgoing::refusal(&self.id, &error));
        }
    }
}
