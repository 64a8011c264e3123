//! One client: reads its messages, keeps the order that they need, and hands them on.
//!
//! It never waits for a session or for the store, so a cancel always gets through.

use std::{collections::HashMap, io, panic::AssertUnwindSafe, path::PathBuf, sync::Arc};

use hyphae_core::{
    ids::SessionId,
    session::{PageSize, Session},
};
use tokio::{
    io::AsyncRead,
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    task::JoinSet,
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{
    HostInner,
    ending::Ending,
    lane::{Errand, History, Job, Lane, store_error},
    lanes_share, settle_share,
    ticket::{Done, Serial, Ticket},
};
use crate::{
    convert, cursor,
    options::Unstable,
    requests::{Fields, NamedSession, Unread},
    wire::{Frame, Incoming, LineReader, Outbox, Params, Rejection, RequestId, RpcError, parse},
};

/// Every request in flight counts as at least this many bytes.
const REQUEST_BYTES: usize = 64 * 1024;

/// How many requests may be in flight at least, whatever the frame limit.
const REQUESTS: usize = 1024;

pub(crate) struct Connection {
    host: Arc<HostInner>,
    outbox: Outbox,
    ending: Arc<Ending>,
    phase: Phase,
    lanes: HashMap<SessionId, LaneHandle>,
    in_flight: HashMap<Serial, InFlight>,
    next_serial: u64,
    /// What the requests in flight may hold in memory; a client beyond it is not read.
    room: Arc<Semaphore>,
    capacity: usize,
    done: (mpsc::Sender<Done>, mpsc::Receiver<Done>),
    tasks: JoinSet<()>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Fresh,
    Initialized,
}

struct LaneHandle {
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
struct Request<'a> {
    id: RequestId,
    method: &'a str,
    fields: Fields,
    room: OwnedSemaphorePermit,
    span: tracing::Span,
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

    async fn too_long(&self, id: Option<RequestId>) {
        let limit = self.host.options.frame_limit;
        tracing::warn!(limit, "a message was over the limit and is skipped");
        let error = RpcError::invalid_request(
            format!("the message is longer than the limit of {limit} bytes").into(),
        );
        let _gone = self
            .outbox
            .refuse(&id.unwrap_or(RequestId::Null), &error)
            .await;
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
        if let Err(Rejection { id, error }) = rejected {
            tracing::debug!(code = error.code(), "a message was refused");
            let _gone = self.outbox.refuse(&id, &error).await;
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

    /// Reads a request and starts it. What is refused here disturbs nothing.
    async fn request(
        &mut self,
        id: RequestId,
        method: &str,
        params: Params<'_>,
        bytes: usize,
    ) -> Result<(), Rejection> {
        let refused = |error| Rejection {
            id: id.clone(),
            error,
        };
        if self.phase == Phase::Fresh && method != "initialize" {
            return Err(refused(RpcError::invalid_request(
                "`initialize` comes before everything else".into(),
            )));
        }
        if !self.knows(method) {
            return Err(refused(RpcError::method_not_found()));
        }
        let fields = Fields::read(params).map_err(|unread| match unread {
            Unread::NotJson => Rejection::unparsable(),
            Unread::Bad(error) => refused(error),
        })?;
        let span = tracing::info_span!(
            "request",
            method,
            traceparent = fields.traceparent().map(tracing::field::display),
        );
        let room = self.make_room(bytes).await;
        let request = Request {
            id: id.clone(),
            method,
            fields,
            room,
            span: span.clone(),
        };
        self.dispatch(request)
            .instrument(span)
            .await
            .map_err(refused)
    }

    fn knows(&self, method: &str) -> bool {
        match method {
            "initialize" | "authenticate" | "session/new" | "session/load" | "session/resume"
            | "session/list" | "session/close" | "session/delete" | "session/prompt" => true,
            "session/fork" => self.host.options.unstable == Unstable::Offered,
            _ => false,
        }
    }

    /// Waits until a request of this size may be in flight. Others finish meanwhile.
    async fn make_room(&mut self, bytes: usize) -> OwnedSemaphorePermit {
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

    async fn dispatch(&mut self, mut request: Request<'_>) -> Result<(), RpcError> {
        let fields = &mut request.fields;
        match request.method {
            "initialize" => {
                fields.protocol_version()?;
                tracing::info!(
                    client = fields.client_name().unwrap_or("unnamed"),
                    "initialize"
                );
                self.phase = Phase::Initialized;
                let options = &self.host.options;
                let profile = self.host.agent.profile();
                let answer = convert::initialized(profile, &options.auth, options.unstable);
                let _gone = self.outbox.answer(&request.id, answer).await;
            }
            "authenticate" => {
                if fields.method_id()? != self.host.options.auth.id {
                    return Err(RpcError::invalid_params(
                        "methodId",
                        "expected an id from `authMethods`",
                    ));
                }
                let _gone = self
                    .outbox
                    .answer(&request.id, convert::authenticated())
                    .await;
            }
            "session/new" => {
                let cwd = fields.cwd()?;
                log_servers(&fields.setup()?);
                let id = SessionId::new(self.host.clock.new_id());
                self.errand(id, request, Job::Create { cwd }, None);
            }
            "session/load" => self.open(request, History::Replayed)?,
            "session/resume" => self.open(request, History::Kept)?,
            "session/fork" => {
                let cwd = fields.cwd()?;
                log_servers(&fields.setup()?);
                let named = fields.session_id()?;
                let source = named.id().ok_or_else(|| named.not_found())?;
                let id = SessionId::new(self.host.clock.new_id());
                self.errand(id, request, Job::Fork { source, cwd }, None);
            }
            "session/list" => {
                let cwd = fields.cwd_filter()?;
                let after = match fields.cursor()? {
                    None => None,
                    Some(text) => Some(cursor::read(text).ok_or_else(|| {
                        RpcError::invalid_params("cursor", "expected a `nextCursor` of this agent")
                    })?),
                };
                self.list(request, cwd, after);
            }
            "session/close" => {
                let id = self.open_session(fields.session_id()?)?;
                self.cancel_prompts(id);
                self.errand(id, request, Job::Close, None);
            }
            "session/delete" => match fields.session_id()?.id() {
                Some(id) => {
                    self.cancel_prompts(id);
                    self.errand(id, request, Job::Delete, None);
                }
                None => {
                    let answer = convert::session_deleted();
                    let _gone = self.outbox.answer(&request.id, answer).await;
                }
            },
            _ => self.prompt(request)?,
        }
        Ok(())
    }

    fn open(&mut self, request: Request<'_>, history: History) -> Result<(), RpcError> {
        let fields = &request.fields;
        let named = fields.session_id()?;
        let cwd = fields.cwd()?;
        log_servers(&fields.setup()?);
        let id = named.id().ok_or_else(|| named.not_found())?;
        self.errand(id, request, Job::Open { cwd, history }, None);
        Ok(())
    }

    /// Starts a turn. A prompt that is taken ends the turns before it; one that is not leaves
    /// them alone.
    fn prompt(&mut self, mut request: Request<'_>) -> Result<(), RpcError> {
        let agent = &self.host.agent;
        let fields = &mut request.fields;
        let named_id = fields.session_id()?.id();
        let blocks = fields.prompt(agent.profile().accepts)?;
        let id = match named_id {
            Some(id) => self.open_session_id(id).ok_or(()),
            None => Err(()),
        };
        let Ok(id) = id else {
            return Err(fields.session_id()?.not_found());
        };
        match std::panic::catch_unwind(AssertUnwindSafe(|| agent.check_prompt(&blocks))) {
            Ok(Ok(())) => {}
            Ok(Err(refusal)) => return Err(RpcError::invalid_params("prompt", &refusal.message)),
            Err(_) => return Err(RpcError::internal("the agent could not judge this prompt")),
        }
        self.cancel_prompts(id);
        self.errand(id, request, Job::Prompt(blocks), Some(id));
        Ok(())
    }

    fn open_session(&self, named: NamedSession<'_>) -> Result<SessionId, RpcError> {
        named
            .id()
            .and_then(|id| self.open_session_id(id))
            .ok_or_else(|| named.not_found())
    }

    /// Returns the id if somebody works on that session. Whether it is open its lane knows.
    fn open_session_id(&self, id: SessionId) -> Option<SessionId> {
        self.lanes.contains_key(&id).then_some(id)
    }

    fn cancel_prompts(&self, session: SessionId) {
        for request in self.in_flight.values() {
            if request.prompts == Some(session) {
                request.cancel.cancel();
            }
        }
    }

    /// Hands a request to its session's lane.
    fn errand(
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

    fn list(&mut self, request: Request<'_>, cwd: Option<PathBuf>, after: Option<SessionId>) {
        let span = request.span.clone();
        let ticket = self.ticket(request, None);
        let host = self.host.clone();
        let listing = async move {
            let answer = page(&host, cwd, after).await;
            ticket.answer(answer).await;
        };
        self.tasks.spawn(listing.instrument(span));
    }

    fn ticket(&mut self, request: Request<'_>, prompts: Option<SessionId>) -> Ticket {
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
            self.outbox.clone(),
            self.done.0.clone(),
            cancel,
            request.room,
        )
    }
}

/// Reads one page of the list, and one row more to know whether there is another page.
async fn page(
    host: &HostInner,
    cwd: Option<PathBuf>,
    after: Option<SessionId>,
) -> Result<impl serde::Serialize + use<>, RpcError> {
    let size = host.options.page.get().min(PageSize::MAX - 1);
    let one_more = PageSize::new(size + 1).unwrap_or_default();
    let mut sessions: Vec<Session> = host
        .sessions
        .sessions(host.owner, cwd.as_deref(), after, one_more)
        .await
        .map_err(|error| store_error(&error))?;
    let more = sessions.len() > usize::from(size);
    sessions.truncate(usize::from(size));
    let next = sessions
        .last()
        .filter(|_| more)
        .map(|last| cursor::after(last.id));
    Ok(convert::session_list(&sessions, next))
}

fn log_servers(names: &[String]) {
    if !names.is_empty() {
        tracing::info!(
            ?names,
            "the client's MCP servers are not used by this agent"
        );
    }
}
