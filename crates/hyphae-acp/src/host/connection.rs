//! One client: reads its messages, keeps the order that they need, and hands them on.
//!
//! It never waits for a session or for the store, so a cancel always gets through.

use std::{collections::HashMap, io, sync::Arc};

use hyphae_core::ids::SessionId;
use tokio::{
    io::AsyncRead,
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    task::JoinSet,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::{
    HostInner,
    ending::Ending,
    lane::{Errand, Job, Lane},
    lanes_share, settle_share,
    ticket::{Done, Serial, Ticket},
};
use crate::{
    requests::{Fields, NamedSession},
    wire::{
        Frame, Incoming, LineReader, Outbox, Outgoing, Params, Rejection, RequestId, RpcError,
        parse,
    },
};

/// Every request in flight counts as at least this many bytes.
pub(super) const REQUEST_BYTES: usize = 64 * 1024;

/// How many requests may be in flight at least, whatever the frame limit.
const REQUESTS: usize = 1024;

pub(crate) struct Connection {
    pub(super) host: Arc<HostInner>,
    outbox: Outbox,
    ending: Arc<Ending>,
    pub(super) phase: Phase,
    pub(super) lanes: HashMap<SessionId, LaneHandle>,
    in_flight: HashMap<Serial, InFlight>,
    next_serial: u64,
    /// What the requests in flight may hold in memory; a client beyond it is not read.
    room: Arc<Semaphore>,
    capacity: usize,
    done: (mpsc::Sender<Done>, mpsc::Receiver<Done>),
    pub(super) tasks: JoinSet<()>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Fresh,
    Initialized,
}

pub(super) struct LaneHandle {
    errands: mpsc::Sender<Errand>,
    /// Errands that were sent and not reported done.
    pending: usize,
}

struct InFlight {
    id: RequestId,
    cancel: CancellationToken,
    /// The session, if the request is a prompt.
    prompts: Option<SessionId>,
}

/// A request that has been read.
pub(super) struct Request<'a> {
    pub(super) id: RequestId,
    pub(super) method: &'a str,
    pub(super) fields: Fields,
    pub(super) room: OwnedSemaphorePermit,
    pub(super) span: tracing::Span,
}

impl Connection {
    pub(crate) fn new(host: Arc<HostInner>, outbox: Outbox) -> Self {
        let capacity = (host.options.frame_limit * 2)
            .clamp(REQUEST_BYTES * REQUESTS, Semaphore::MAX_PERMITS >> 4);
        Self {
            outbox,
            ending: Arc::new(Ending::new(settle_share(host.options.wind_down))),
            phase: Phase::Fresh,
            lanes: HashMap::new(),
            in_flight: HashMap::new(),
            next_serial: 0,
            room: Arc::new(Semaphore::new(capacity)),
            capacity,
            // One place for every request that fits into `room`.
            done: mpsc::channel(capacity / REQUEST_BYTES + 1),
            tasks: JoinSet::new(),
            host,
        }
    }

    /// Serves until the client closes its side.
    pub(crate) async fn run<R: AsyncRead + Unpin>(
        &mut self,
        lines: &mut LineReader<R>,
    ) -> io::Result<()> {
        loop {
            tokio::select! {
                biased;
                Some(done) = self.done.1.recv() => self.settle(&done),
                Some(_) = self.tasks.join_next(), if !self.tasks.is_empty() => {}
                frame = lines.next() => match frame? {
                    Some(Frame::Line(line)) => self.take(line).await,
                    Some(Frame::TooLong { id }) => self.too_long(id).await,
                    None => return Ok(()),
                },
            }
        }
    }

    /// Ends everything: turns are cancelled, what is queued is answered.
    pub(crate) async fn wind_down(&mut self) {
        self.ending.begin();
        for request in self.in_flight.values().filter(|r| r.prompts.is_some()) {
            request.cancel.cancel();
        }
        self.lanes.clear();
        let finished = async { while self.tasks.join_next().await.is_some() {} };
        let limit = lanes_share(self.host.options.wind_down);
        if timeout(limit, finished).await.is_err() {
            tracing::warn!(left = self.tasks.len(), "sessions did not finish in time");
            // Their tickets answer for them.
            self.tasks.shutdown().await;
        }
    }

    /// Books a finished request out.
    fn settle(&mut self, done: &Done) {
        self.in_flight.remove(&done.serial);
        let Some(state) = done.lane else { return };
        if let Some(lane) = self.lanes.get_mut(&state.session) {
            lane.pending = lane.pending.saturating_sub(1);
            if lane.pending == 0 && !state.open {
                self.lanes.remove(&state.session);
            }
        }
    }

    async fn too_long(&mut self, id: Option<RequestId>) {
        let limit = self.host.options.frame_limit;
        tracing::warn!(limit, "a message was over the limit and is skipped");
        let error = RpcError::invalid_request(
            format!("the message is longer than the limit of {limit} bytes").into(),
        );
        let id = id.unwrap_or(RequestId::Null);
        self.refuse(Rejection { id, error }).await;
    }

    /// Sends a small answer of our own. While the outbox is full it waits in a task, with its
    /// request's room: who does not read his answers can still cancel, and still end the
    /// connection.
    pub(super) fn reply(&mut self, answer: Outgoing, room: OwnedSemaphorePermit) {
        let Err(answer) = self.outbox.try_send(answer) else {
            return;
        };
        let outbox = self.outbox.clone();
        self.tasks.spawn(async move {
            let _gone = outbox.send(answer).await;
            drop(room);
        });
    }

    async fn refuse(&mut self, Rejection { id, error }: Rejection) {
        tracing::debug!(code = error.code(), "a message was refused");
        let Err(refusal) = self.outbox.try_send(Outgoing::refusal(&id, &error)) else {
            return;
        };
        if id == RequestId::Null {
            // Nobody waits for this one, and whoever sends garbage and reads nothing must not
            // take the place of requests.
            tracing::warn!("a client that does not read its answers misses one");
            return;
        }
        let room = self.make_room(REQUEST_BYTES).await;
        self.reply(refusal, room);
    }

    async fn take(&mut self, line: &[u8]) {
        let rejected = match parse(line) {
            Ok(Incoming::Request { id, method, params }) => {
                self.request(id, &method, params, line.len()).await
            }
            Ok(Incoming::Notification { method, params }) => {
                self.notification(&method, params);
                return;
            }
            // We asked nothing. Some clients answer notifications; that is no reason to fail.
            Ok(Incoming::Response) => {
                tracing::debug!("an answer to nothing was ignored");
                return;
            }
            Err(rejection) => Err(rejection),
        };
        if let Err(rejection) = rejected {
            self.refuse(rejection).await;
        }
    }

    fn notification(&self, method: &str, params: Params<'_>) {
        let cancelled = |matches: &dyn Fn(&InFlight) -> bool| {
            for request in self.in_flight.values().filter(|request| matches(request)) {
                request.cancel.cancel();
            }
        };
        let Ok(fields) = Fields::read(params) else {
            return;
        };
        match method {
            "session/cancel" => {
                // Everything that was asked before this arrived, and nothing that comes later.
                if let Some(session) = fields.session_id().ok().and_then(NamedSession::id) {
                    cancelled(&|request| request.prompts == Some(session));
                }
            }
            "$/cancel_request" => {
                if let Some(id) = fields.request_id() {
                    cancelled(&|request| request.id == id);
                }
            }
            _ => tracing::debug!("an unknown notification was ignored"),
        }
    }

    /// Waits until a request of this size may be in flight. Others finish meanwhile.
    pub(super) async fn make_room(&mut self, bytes: usize) -> OwnedSemaphorePermit {
        let cost = u32::try_from(bytes.clamp(REQUEST_BYTES, self.capacity)).unwrap_or(u32::MAX);
        let mut room = std::pin::pin!(self.room.clone().acquire_many_owned(cost));
        loop {
            tokio::select! {
                biased;
                Some(done) = self.done.1.recv() => self.settle(&done),
                permit = &mut room => match permit {
                    Ok(permit) => return permit,
                    // The semaphore is ours and never closed.
                    Err(_) => std::future::pending::<()>().await,
                },
            }
        }
    }

    pub(super) fn cancel_prompts(&self, session: SessionId) {
        for request in self.in_flight.values() {
            if request.prompts == Some(session) {
                request.cancel.cancel();
            }
        }
    }

    /// Hands a request to its session's lane.
    pub(super) fn errand(
        &mut self,
        id: SessionId,
        request: Request<'_>,
        job: Job,
        prompts: Option<SessionId>,
    ) {
        let span = request.span.clone();
        let mut ticket = self.ticket(request, prompts);
        ticket.set_lane(id, false);
        let lane = self.lanes.entry(id).or_insert_with(|| {
            let (errands, receiver) = mpsc::channel(self.done.0.max_capacity());
            let lane = Lane::new(
                self.host.clone(),
                self.outbox.clone(),
                self.ending.clone(),
                id,
            );
            self.tasks.spawn(lane.run(receiver));
            LaneHandle {
                errands,
                pending: 0,
            }
        });
        lane.pending += 1;
        // There is a place for every request in flight, so it fails only if the lane is lost;
        // then the ticket comes back and answers for it.
        let _lost = lane.errands.try_send(Errand { ticket, job, span });
    }

    pub(super) fn ticket(&mut self, request: Request<'_>, prompts: Option<SessionId>) -> Ticket {
        let serial = Serial(self.next_serial);
        self.next_serial += 1;
        let cancel = CancellationToken::new();
        self.in_flight.insert(
            serial,
            InFlight {
                id: request.id.clone(),
                cancel: cancel.clone(),
                prompts,
            },
        );
        Ticket::new(
            serial,
            request.id,
            (self.outbox.clone(), self.ending.clone()),
            self.done.0.clone(),
            cancel,
            request.room,
        )
    }
}
