//! One session: what the editor and the child say to each other passes through here.

mod ending;
mod opening;
mod passing;

use std::{
    collections::{HashMap, VecDeque},
    path::PathBuf,
    sync::Arc,
};

use hyphae_core::ids::SessionId;
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc, oneshot},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    Shared,
    capabilities::{Abilities, Introduction},
    child::{Child, Heard},
    start::{Editor, StartError, Starter},
};
use crate::wire::{Outbox, Outgoing, RequestId, Room};

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
