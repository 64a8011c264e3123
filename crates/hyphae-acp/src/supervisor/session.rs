//! One session: what the editor and the child say to each other passes through here.

use std::{
    collections::{HashMap, VecDeque},
    path::PathBuf,
    sync::Arc,
};

use hyphae_core::ids::SessionId;
use serde_json::json;
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc, oneshot},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    Shared,
    capabilities::{Abilities, Introduction},
    child::{Call, Child, Ended, Heard},
    messages::{answer, no_slot, quoted, refusal},
    start::{Editor, StartError, Started, Starter, again, failure},
};
use crate::wire::{Outbox, Outgoing, Parts, RequestId, Room, RpcError, member};

/// Requests of children to the editor are numbered within their session, which stands above
/// these bits of the id.
const ASKED_BITS: u32 = 20;

/// Who may do so once may do it in every child.
const AUTHENTICATE: &str = "authenticate";

/// What the front hands to a session.
#[derive(Debug)]
pub(super) enum Order {
    /// Start a child for no session yet, and say what it said of itself.
    Learn(oneshot::Sender<Result<Introduction, StartError>>),
    /// `session/new`.
    Open(Open),
    /// A request or notification for the child, and its part of what may wait.
    Relay(Vec<u8>, OwnedSemaphorePermit),
    /// The editor's answer to a request of the child.
    Answer { asked: u64, line: Vec<u8> },
    /// The editor does not need this request answered any more.
    CancelRequest(RequestId),
    /// `session/close`, under this id as JSON.
    Close { id: String },
}

/// A session that the editor wants.
#[derive(Debug)]
pub(super) struct Open {
    /// The request's id, as JSON.
    pub(super) id: String,
    pub(super) cwd: PathBuf,
    pub(super) params: String,
    pub(super) slot: OwnedSemaphorePermit,
}

/// Splits the id of a request that we passed to the editor: which session, and which of its
/// requests.
pub(super) fn asked_by(id: &str) -> Option<(u64, u64)> {
    let id: u64 = id.parse().ok()?;
    Some((id >> ASKED_BITS, id & ((1 << ASKED_BITS) - 1)))
}

/// A session and its child, if it has one now.
pub(super) struct Session {
    pub(super) shared: Arc<Shared>,
    pub(super) editor: Arc<Editor>,
    pub(super) outbox: Outbox,
    pub(super) id: SessionId,
    pub(super) number: u64,
    /// The connection ends.
    pub(super) ending: CancellationToken,
    /// A start that is on its way is not needed any more.
    pub(super) abort: CancellationToken,
    child: Option<Child>,
    abilities: Abilities,
    opened: Option<Opened>,
    /// Requests of the child that the editor has not answered, and their ids, as JSON.
    asked: HashMap<u64, String>,
    next_asked: u64,
    to_show: VecDeque<Outgoing>,
    closing: Option<Closing>,
    /// The parameters of an `authenticate` that the child has not answered.
    authenticating: Option<String>,
    quiet_since: Instant,
}

/// What the child needs to be told to open the session again.
#[derive(Debug)]
struct Opened {
    cwd: PathBuf,
    params: String,
    /// What the child calls the session.
    name: String,
}

#[derive(Debug)]
struct Closing {
    /// The editor's request, as JSON.
    id: String,
    until: Instant,
    /// Our request to the child, if it takes such.
    call: Option<u64>,
}

enum Step {
    Room(bool),
    Order(Option<Order>),
    Heard(Heard),
    CloseExpired,
    Idle,
    Ending,
}

impl Session {
    pub(super) fn new(
        shared: Arc<Shared>,
        editor: Arc<Editor>,
        outbox: Outbox,
        (id, number): (SessionId, u64),
        ending: &CancellationToken,
    ) -> Self {
        Self {
            shared,
            editor,
            outbox,
            id,
            number,
            ending: ending.clone(),
            abort: ending.child_token(),
            child: None,
            abilities: Abilities::default(),
            opened: None,
            asked: HashMap::new(),
            next_asked: 0,
            to_show: VecDeque::new(),
            closing: None,
            authenticating: None,
            quiet_since: Instant::now(),
        }
    }

    /// Serves until the session is closed, could not be opened, or the connection ends.
    pub(super) async fn run(mut self, mut orders: mpsc::Receiver<Order>) {
        let mut over = false;
        while !(over && self.to_show.is_empty()) {
            match self.next(&mut orders, over).await {
                Step::Room(true) => {}
                // Nobody reads any more.
                Step::Room(false) => self.to_show.clear(),
                Step::Order(Some(order)) => over |= self.order(order).await.is_break(),
                Step::Order(None) | Step::Ending => {
                    self.close();
                    over = true;
                }
                Step::Heard(Heard::Line(line)) => over |= self.heard(&line).is_break(),
                Step::Heard(Heard::TooLong(id)) => self.heard_too_much(id),
                Step::Heard(Heard::Ended(ended)) => over |= self.ended(&ended).is_break(),
                Step::CloseExpired => {
                    tracing::warn!(session = %self.id, "the child did not close its session in time");
                    self.close();
                    over = true;
                }
                Step::Idle => over |= self.park().is_break(),
            }
            if over {
                self.stop();
            }
        }
        self.stop();
    }

    async fn next(&mut self, orders: &mut mpsc::Receiver<Order>, over: bool) -> Step {
        let close_by = self.closing.as_ref().map(|closing| closing.until);
        let idle_by = self.idle_by();
        let shown = self.to_show.front();
        let listening = shown.is_none() && !over;
        tokio::select! {
            biased;
            () = self.ending.cancelled(), if !over => Step::Ending,
            order = orders.recv(), if !over && self.closing.is_none() => Step::Order(order),
            room = room_for(&self.outbox, shown), if shown.is_some() => match room {
                Some(room) => {
                    if let Some(shown) = self.to_show.pop_front() {
                        self.outbox.put(room, shown);
                    }
                    Step::Room(true)
                }
                None => Step::Room(false),
            },
            heard = next_of(self.child.as_mut()), if listening && self.child.is_some() => Step::Heard(heard),
            () = sleep_until(close_by.unwrap_or_else(Instant::now)), if close_by.is_some() => Step::CloseExpired,
            () = sleep_until(idle_by.unwrap_or_else(Instant::now)), if idle_by.is_some() => Step::Idle,
        }
    }

    /// When the child has been idle for long enough to go; none if it may not go.
    fn idle_by(&self) -> Option<Instant> {
        let child = self.child.as_ref()?;
        let may_go = self.opened.is_none() || self.abilities.load || self.abilities.resume;
        let idle = child.calls().is_empty() && self.asked.is_empty() && self.closing.is_none();
        (may_go && idle).then(|| self.quiet_since + self.shared.options.idle_park)
    }

    fn show(&mut self, line: Vec<u8>) {
        self.to_show.push_back(Outgoing::Line(line));
    }

    fn stop(&mut self) {
        if let Some(child) = self.child.take() {
            child.stop(&self.shared.leaving);
        }
    }

    /// Lets an idle child go. A session comes back with its next request.
    fn park(&mut self) -> std::ops::ControlFlow<()> {
        tracing::info!(session = %self.id, "an idle child is stopped");
        self.stop();
        if self.opened.is_some() {
            std::ops::ControlFlow::Continue(())
        } else {
            std::ops::ControlFlow::Break(())
        }
    }

    fn starter(&self) -> Starter<'_> {
        Starter {
            shared: &self.shared,
            editor: &self.editor,
            id: self.id,
            abort: &self.abort,
        }
    }

    async fn order(&mut self, order: Order) -> std::ops::ControlFlow<()> {
        use std::ops::ControlFlow::{Break, Continue};
        self.quiet_since = Instant::now();
        match order {
            Order::Learn(tell) => {
                let directory = self.shared.options.directory.clone();
                let started = self.starter().start(directory, None).await;
                let told = started.map(|started| self.take_over(started));
                let failed = told.is_err();
                let _nobody_waits = tell.send(told);
                if failed { Break(()) } else { Continue(()) }
            }
            Order::Open(open) => self.open(open).await,
            Order::Relay(line, _room) => {
                self.relay(&line).await;
                Continue(())
            }
            Order::Answer { asked, line } => {
                self.editor_answered(asked, &line);
                Continue(())
            }
            Order::CancelRequest(id) => {
                self.cancel_request(&id);
                Continue(())
            }
            Order::Close { id } => self.begin_to_close(id),
        }
    }

    /// Makes a child that has introduced itself ours; its early words are to be heard by the
    /// caller when it is time.
    fn take_over(&mut self, started: Started) -> Introduction {
        self.abilities = started.introduction.abilities;
        self.child = Some(started.child);
        for line in started.early {
            let _goes_on = self.heard(&line);
        }
        started.introduction
    }

    /// Opens the session in a child, in the one that is here if there is one.
    async fn open(&mut self, open: Open) -> std::ops::ControlFlow<()> {
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
                return std::ops::ControlFlow::Continue(());
            }
            Err(error) => (
                self.start_refusal(&id, error),
                std::ops::ControlFlow::Break(()),
            ),
        };
        self.show(line);
        goes_on
    }

    async fn opened_in_child(
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

    fn start_refusal(&self, id: &str, error: StartError) -> Vec<u8> {
        match error {
            StartError::Refused(error) => {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#).into_bytes()
            }
            StartError::Failed(error) => refusal(id, &error),
            StartError::Aborted => refusal(id, &RpcError::cancelled()),
        }
    }

    /// Brings a session back whose child has gone.
    async fn revive(&mut self) -> Result<(), StartError> {
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

    /// Passes a request or notification of the editor on.
    async fn relay(&mut self, line: &[u8]) {
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

    fn editor_answered(&mut self, asked: u64, line: &[u8]) {
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

    fn cancel_request(&mut self, wanted: &RequestId) {
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
    fn heard(&mut self, line: &[u8]) -> std::ops::ControlFlow<()> {
        use std::ops::ControlFlow::{Break, Continue};
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
            && serde_json::from_str::<std::borrow::Cow<'_, str>>(named)
                .is_ok_and(|name| name == opened.name)
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
    fn heard_too_much(&mut self, id: Option<RequestId>) {
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

    /// The child is no more.
    fn ended(&mut self, ended: &Ended) -> std::ops::ControlFlow<()> {
        use std::ops::ControlFlow::{Break, Continue};
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
    fn withdraw(&mut self) {
        let mut asked: Vec<u64> = self.asked.drain().map(|(asked, _)| asked).collect();
        asked.sort_unstable();
        for asked in asked {
            let params = json!({ "requestId": (self.number << ASKED_BITS) | asked });
            self.to_show
                .push_back(Outgoing::notification("$/cancel_request", params));
        }
    }

    fn begin_to_close(&mut self, id: String) -> std::ops::ControlFlow<()> {
        use std::ops::ControlFlow::{Break, Continue};
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
    fn close(&mut self) {
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

async fn room_for<'a>(outbox: &'a Outbox, outgoing: Option<&Outgoing>) -> Option<Room<'a>> {
    match outgoing {
        Some(outgoing) => outbox.room_for(outgoing).await.ok(),
        None => std::future::pending().await,
    }
}

async fn next_of(child: Option<&mut Child>) -> Heard {
    match child {
        Some(child) => child.next().await,
        None => std::future::pending().await,
    }
}
