//! The editor's connection: reads its messages and hands each to whom it concerns.
//!
//! It never waits for a child but in one place: the first `initialize` ever under a command, whose
//! answer only the agent knows.

mod requests;

use std::{
    collections::{HashMap, VecDeque},
    io,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use hyphae_core::ids::SessionId;
use tokio::{
    io::AsyncRead,
    sync::{Semaphore, mpsc, oneshot},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use self::requests::hand_over;
use super::{
    Shared,
    capabilities::Introduction,
    learned::{Learned, Question},
    messages::with_member,
    session::{Order, Session, asked_by},
    start::{Editor, StartError},
};
use crate::{
    requests::{Fields, NamedSession, Unread},
    wire::{
        Frame, Incoming, LineReader, Outbox, Outgoing, Params, Parts, Rejection, RequestId,
        RpcError, parse,
    },
};

/// How many messages may wait for one session.
const ORDERS: usize = 256;

/// How many answers of our own may wait for an editor that does not read.
const REPLIES: usize = 1024;

pub(super) struct Front {
    shared: Arc<Shared>,
    outbox: Outbox,
    ending: CancellationToken,
    phase: Phase,
    sessions: HashMap<SessionId, Handle>,
    /// The sessions by the numbers in the ids of their children's requests.
    numbers: HashMap<u64, SessionId>,
    next_number: u64,
    /// A child that was started to learn what the agent is, and has no session yet.
    spare: Option<Handle>,
    tasks: JoinSet<Option<SessionId>>,
}

enum Phase {
    Fresh,
    /// `initialize` waits for the first child.
    Learning {
        id: RequestId,
        editor: Arc<Editor>,
        told: oneshot::Receiver<Result<Introduction, StartError>>,
        /// What the editor sent meanwhile, and how many bytes that is.
        backlog: VecDeque<Vec<u8>>,
        bytes: usize,
    },
    Initialized(Arc<Editor>),
}

/// A session's task, and how to reach it.
struct Handle {
    id: SessionId,
    number: u64,
    cwd: PathBuf,
    orders: mpsc::Sender<Order>,
    /// Bytes of messages that may still wait for it.
    room: Arc<Semaphore>,
    abort: CancellationToken,
}

enum Event {
    Over(Option<SessionId>),
    Learned(Result<Introduction, StartError>),
    Line(Vec<u8>),
    TooLong(Option<RequestId>),
    Eof,
}

impl Front {
    pub(super) fn new(shared: Arc<Shared>, outbox: Outbox) -> Self {
        Self {
            shared,
            outbox,
            ending: CancellationToken::new(),
            phase: Phase::Fresh,
            sessions: HashMap::new(),
            numbers: HashMap::new(),
            next_number: 1,
            spare: None,
            tasks: JoinSet::new(),
        }
    }

    /// Serves until the editor closes its side.
    pub(super) async fn run<R: AsyncRead + Unpin>(
        &mut self,
        lines: &mut LineReader<R>,
    ) -> io::Result<()> {
        loop {
            match self.next(lines).await? {
                Event::Over(id) => self.forget(id),
                Event::Learned(told) => self.learned(told),
                Event::Line(line) => match &mut self.phase {
                    Phase::Learning { backlog, bytes, .. } => {
                        *bytes += line.len();
                        backlog.push_back(line);
                    }
                    Phase::Fresh | Phase::Initialized(_) => self.take(&line),
                },
                Event::TooLong(id) => self.too_long(id),
                Event::Eof => return Ok(()),
            }
        }
    }

    async fn next<R: AsyncRead + Unpin>(&mut self, lines: &mut LineReader<R>) -> io::Result<Event> {
        let limit = self.shared.options.frame_limit;
        let (told, reads) = match &mut self.phase {
            Phase::Learning { told, bytes, .. } => (Some(told), *bytes <= limit),
            Phase::Fresh | Phase::Initialized(_) => (None, true),
        };
        // An editor that takes no answers gets no more.
        let reads = reads && self.tasks.len() < self.sessions.len() + REPLIES;
        let is_learning = told.is_some();
        Ok(tokio::select! {
            biased;
            Some(over) = self.tasks.join_next(), if !self.tasks.is_empty() => Event::Over(over.unwrap_or_default()),
            told = answer_of(told), if is_learning => Event::Learned(told),
            frame = lines.next(), if reads => match frame? {
                Some(Frame::Line(line)) => Event::Line(line.to_vec()),
                Some(Frame::TooLong { id }) => Event::TooLong(id),
                None => Event::Eof,
            },
        })
    }

    /// Ends every session. Their children leave at their own pace.
    pub(super) async fn wind_down(&mut self) {
        self.ending.cancel();
        self.sessions.clear();
        self.spare = None;
        while self.tasks.join_next().await.is_some() {}
    }

    fn forget(&mut self, id: Option<SessionId>) {
        let Some(id) = id else { return };
        self.sessions.remove(&id);
        self.numbers.retain(|_, session| *session != id);
        if self.spare.as_ref().is_some_and(|spare| spare.id == id) {
            self.spare = None;
        }
    }

    fn take(&mut self, line: &[u8]) {
        let rejected = match parse(line) {
            Ok(Incoming::Request { id, method, params }) => {
                self.request(&id, &method, params, line)
            }
            Ok(Incoming::Notification { method, params }) => {
                self.notification(&method, params, line);
                return;
            }
            Ok(Incoming::Response) => {
                self.response(line);
                return;
            }
            Err(rejection) => Err(rejection),
        };
        if let Err(Rejection { id, error }) = rejected {
            tracing::debug!(code = error.code(), "a message was refused");
            self.reply(Outgoing::refusal(&id, &error));
        }
    }

    fn request(
        &mut self,
        id: &RequestId,
        method: &str,
        params: Params<'_>,
        line: &[u8],
    ) -> Result<(), Rejection> {
        let refused = |error| Rejection {
            id: id.clone(),
            error,
        };
        let fields = Fields::read(params).map_err(|unread| match unread {
            Unread::NotJson => Rejection::unparsable(),
            Unread::Bad(error) => refused(error),
        })?;
        let editor = match (&self.phase, method) {
            (Phase::Fresh, "initialize") => {
                return self.initialize(id, &fields, line).map_err(refused);
            }
            (Phase::Initialized(editor), "initialize") => {
                return self.introduce_again(id, &editor.clone()).map_err(refused);
            }
            (Phase::Initialized(editor), _) => editor.clone(),
            (Phase::Fresh | Phase::Learning { .. }, _) => {
                return Err(refused(RpcError::invalid_request(
                    "`initialize` comes before everything else".into(),
                )));
            }
        };
        match method {
            "session/new" => self.open(id, &editor, &fields, line),
            "session/load" | "session/resume" | "session/list" | "session/delete"
            | "session/fork" => Err(RpcError::method_not_found()),
            "session/close" => self.close(id, &fields),
            _ if fields.has("sessionId") => self.relay(&fields, line),
            _ => self.relay_to_any(&editor, line),
        }
        .map_err(refused)
    }

    fn initialize(&mut self, id: &RequestId, fields: &Fields, line: &[u8]) -> Result<(), RpcError> {
        fields.protocol_version()?;
        tracing::info!(
            client = fields.client_name().unwrap_or("unnamed"),
            "initialize"
        );
        let params = Parts::of(line)
            .and_then(|parts| parts.params)
            .unwrap_or("{}");
        let params = with_member(params, "protocolVersion", "1");
        let options = &self.shared.options;
        let command = std::iter::once(&options.program).chain(&options.arguments);
        let command = command.map(|word| word.to_string_lossy().into_owned());
        let question = Question {
            command: command.collect(),
            params: params.clone(),
        };
        let editor = Arc::new(Editor {
            params,
            learned: Learned::new(&options.learned, question),
            credentials: Mutex::default(),
        });
        let known = editor.learned.answer();
        if let Some(known) = known.and_then(|json| Introduction::read(&json).ok()) {
            self.introduced(id, &known);
            self.phase = Phase::Initialized(editor);
            return Ok(());
        }
        let (tell, told) = oneshot::channel();
        let spare = self.start(&editor, options.directory.clone(), Order::Learn(tell));
        self.spare = Some(spare);
        self.phase = Phase::Learning {
            id: id.clone(),
            editor,
            told,
            backlog: VecDeque::new(),
            bytes: 0,
        };
        Ok(())
    }

    fn introduce_again(&mut self, id: &RequestId, editor: &Editor) -> Result<(), RpcError> {
        let known = editor.learned.answer();
        let known = known.and_then(|json| Introduction::read(&json).ok());
        let known = known.ok_or_else(|| {
            RpcError::invalid_request("the connection is initialized already".into())
        })?;
        self.introduced(id, &known);
        Ok(())
    }

    fn introduced(&mut self, id: &RequestId, known: &Introduction) {
        self.reply(Outgoing::answer(
            id,
            known.merged(&self.shared.options.version),
        ));
    }

    /// The first child said what it is, or is none.
    fn learned(&mut self, told: Result<Introduction, StartError>) {
        let Phase::Learning {
            id,
            editor,
            backlog,
            ..
        } = std::mem::replace(&mut self.phase, Phase::Fresh)
        else {
            return;
        };
        match told {
            Ok(introduction) => {
                self.introduced(&id, &introduction);
                self.phase = Phase::Initialized(editor);
            }
            Err(StartError::Failed(error)) => self.reply(Outgoing::refusal(&id, &error)),
            Err(StartError::Aborted) => {
                self.reply(Outgoing::refusal(&id, &RpcError::cancelled()));
            }
            Err(StartError::Refused(json)) => match serde_json::from_str(&json) {
                Ok(error) => self.reply(Outgoing::foreign_refusal(&id, error)),
                Err(_) => self.reply(Outgoing::refusal(
                    &id,
                    &RpcError::internal("the agent refused"),
                )),
            },
        }
        for line in backlog {
            self.take(&line);
        }
    }

    /// Begins a session's task with its first order.
    fn start(&mut self, editor: &Arc<Editor>, cwd: PathBuf, first: Order) -> Handle {
        let id = SessionId::new(self.shared.clock.new_id());
        let number = self.next_number;
        self.next_number += 1;
        self.numbers.insert(number, id);
        let session = Session::new(
            self.shared.clone(),
            editor.clone(),
            self.outbox.clone(),
            (id, number),
            &self.ending,
        );
        let abort = session.abort.clone();
        let (orders, receiver) = mpsc::channel(ORDERS);
        // The channel is empty and open.
        let _sent = orders.try_send(first);
        self.tasks.spawn(async move {
            session.run(receiver).await;
            Some(id)
        });
        Handle {
            id,
            number,
            cwd,
            orders,
            room: Arc::new(Semaphore::new(self.shared.inbox_bytes())),
            abort,
        }
    }

    fn notification(&mut self, method: &str, params: Params<'_>, line: &[u8]) {
        let Ok(fields) = Fields::read(params) else {
            return;
        };
        if method == "$/cancel_request" {
            let Some(id) = fields.request_id() else {
                return;
            };
            for handle in self.sessions.values().chain(&self.spare) {
                let _full = handle.orders.try_send(Order::CancelRequest(id.clone()));
            }
            return;
        }
        if fields.has("sessionId") {
            let named = fields.session_id().ok().and_then(NamedSession::id);
            let handle = named.and_then(|id| self.sessions.get(&id));
            if let Some(handle) = handle
                && hand_over(handle, line).is_err()
            {
                tracing::warn!(session = %handle.id, "a notification was lost: the session does not take any more");
            }
            return;
        }
        for handle in self.sessions.values().chain(&self.spare) {
            let _full = hand_over(handle, line);
        }
    }

    fn response(&mut self, line: &[u8]) {
        let asked = Parts::of(line).and_then(|parts| asked_by(parts.id?));
        let Some((number, asked)) = asked else {
            tracing::debug!("an answer to nothing was ignored");
            return;
        };
        let id = self.numbers.get(&number);
        let session = id.and_then(|id| self.sessions.get(id));
        let handle = session.or_else(|| self.spare.as_ref().filter(|spare| spare.number == number));
        let order = Order::Answer {
            asked,
            line: line.to_vec(),
        };
        if let Some(handle) = handle
            && handle.orders.try_send(order).is_err()
        {
            tracing::warn!(session = %handle.id, "an answer was lost: the session does not take any more");
        }
    }

    fn too_long(&mut self, id: Option<RequestId>) {
        let limit = self.shared.options.frame_limit;
        tracing::warn!(limit, "a message was over the limit and is skipped");
        let error = RpcError::invalid_request(
            format!("the message is longer than the limit of {limit} bytes").into(),
        );
        self.reply(Outgoing::refusal(&id.unwrap_or(RequestId::Null), &error));
    }

    /// Sends a small answer of our own; while the outbox is full it waits in a task.
    fn reply(&mut self, answer: Outgoing) {
        let Err(answer) = self.outbox.try_send(answer) else {
            return;
        };
        let outbox = self.outbox.clone();
        self.tasks.spawn(async move {
            let _gone = outbox.send(answer).await;
            None
        });
    }
}

async fn answer_of(
    told: Option<&mut oneshot::Receiver<Result<Introduction, StartError>>>,
) -> Result<Introduction, StartError> {
    match told {
        Some(told) => told.await.unwrap_or(Err(StartError::Aborted)),
        None => std::future::pending().await,
    }
}
