//! What the editor asks of sessions, handed to whom it concerns.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use hyphae_core::{ids::SessionId, session::PageSize};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::{Front, Handle};
use crate::{
    kept::{page, store_error},
    requests::Fields,
    supervisor::{
        Shared,
        archive::Archive,
        messages::{answer, refusal},
        session::{History, Open, Order, Origin, Then},
        start::{Editor, StartError, Starter},
    },
    wire::{Outgoing, Parts, RequestId, RpcError},
};

impl Front {
    /// Opens a session that nobody has had yet.
    pub(super) fn open_new(
        &mut self,
        id: &RequestId,
        editor: &Arc<Editor>,
        fields: &Fields,
        line: &[u8],
    ) -> Result<(), RpcError> {
        let open = open(id, existing(fields.cwd()?)?, line, Origin::Nothing);
        // The child that we learned from serves, if it works in the right place.
        let spare = self
            .spare
            .take_if(|spare| same_place(&spare.cwd, &open.cwd));
        self.spare = None;
        self.begin(editor, spare, open);
        Ok(())
    }

    /// Opens a session that was kept, or shows an open one again.
    pub(super) fn open_kept(
        &mut self,
        id: &RequestId,
        editor: &Arc<Editor>,
        fields: &Fields,
        (line, history): (&[u8], History),
    ) -> Result<(), RpcError> {
        let named = fields.session_id()?;
        let open = open(id, fields.cwd()?, line, Origin::Kept(history));
        let session = named.id().ok_or_else(|| named.not_found())?;
        self.begin_again(editor, session, open)
    }

    fn begin_again(
        &mut self,
        editor: &Arc<Editor>,
        session: SessionId,
        open: Open,
    ) -> Result<(), RpcError> {
        let cwd = open.cwd.clone();
        let order = match self.sessions.get(&session) {
            Some(handle) => match handle.orders.try_send(Order::Open(open)) {
                Ok(()) => return Ok(()),
                Err(mpsc::error::TrySendError::Full(_)) => return Err(busy()),
                Err(mpsc::error::TrySendError::Closed(order)) => order,
            },
            None => Order::Open(open),
        };
        let handle = self.start(editor, session, cwd, order);
        self.sessions.insert(session, handle);
        Ok(())
    }

    /// Opens a copy of a session, if the child can make one.
    pub(super) fn fork(
        &mut self,
        id: &RequestId,
        editor: &Arc<Editor>,
        fields: &Fields,
        line: &[u8],
    ) -> Result<(), RpcError> {
        if !editor.may_fork() {
            return Err(RpcError::method_not_found());
        }
        let named = fields.session_id()?;
        let cwd = existing(fields.cwd()?)?;
        let source = named.id().ok_or_else(|| named.not_found())?;
        let (keep, kept) = oneshot::channel();
        if let Some(handle) = self.sessions.get(&source) {
            handle
                .orders
                .try_send(Order::Keep(keep))
                .map_err(|_| busy())?;
        }
        let open = open(id, cwd, line, Origin::Fork { source, kept });
        self.begin(editor, None, open);
        Ok(())
    }

    /// Begins a session of a new name, in the task of a spare child if there is one.
    fn begin(&mut self, editor: &Arc<Editor>, spare: Option<Handle>, open: Open) {
        let cwd = open.cwd.clone();
        let order = Order::Open(open);
        let handle = match spare {
            Some(spare) => match spare.orders.try_send(order) {
                Ok(()) => spare,
                Err(
                    mpsc::error::TrySendError::Full(order)
                    | mpsc::error::TrySendError::Closed(order),
                ) => self.start_anew(editor, cwd, order),
            },
            None => self.start_anew(editor, cwd, order),
        };
        self.sessions.insert(handle.id, handle);
    }

    /// Sees to what was ordered from a session that was over already.
    pub(super) fn too_late(&mut self, editor: &Arc<Editor>, session: SessionId, order: Order) {
        match order {
            Order::Open(open) => match open.origin {
                Origin::Kept(_) => {
                    let id = open.id.clone();
                    if let Err(error) = self.begin_again(editor, session, open) {
                        self.reply(Outgoing::Line(refusal(&id, &error)));
                    }
                }
                Origin::Nothing | Origin::Fork { .. } => self.begin(editor, None, open),
            },
            Order::Relay(line, _) => {
                if let Some(id) = Parts::of(&line).and_then(|parts| parts.id) {
                    let error = RpcError::session_not_found(&session.to_string());
                    self.reply(Outgoing::Line(refusal(id, &error)));
                }
            }
            Order::Close { id, then } => self.close_nothing(editor, session, id, then),
            Order::Learn(_) | Order::Answer { .. } | Order::CancelRequest(_) | Order::Keep(_) => {}
        }
    }

    pub(super) fn close(
        &mut self,
        id: &RequestId,
        editor: &Arc<Editor>,
        fields: &Fields,
        then: Then,
    ) -> Result<(), RpcError> {
        let named = fields.session_id()?;
        let handle = named.id().and_then(|id| self.sessions.remove(&id));
        let Some(handle) = handle else {
            return match (then, named.id()) {
                (Then::Keep, _) => Err(named.not_found()),
                (Then::Erase, Some(session)) => {
                    self.close_nothing(editor, session, as_json(id), then);
                    Ok(())
                }
                (Then::Erase, None) => {
                    self.reply(Outgoing::answer(id, json!({})));
                    Ok(())
                }
            };
        };
        handle.abort.cancel();
        self.numbers.remove(&handle.number);
        let order = Order::Close {
            id: as_json(id),
            then,
        };
        if handle.orders.try_send(order).is_err() {
            // Its task ends with its handle; what it had to do is answered by it.
            self.close_nothing(editor, handle.id, as_json(id), then);
        }
        Ok(())
    }

    /// Closes, or erases, a session that is not open.
    fn close_nothing(&mut self, editor: &Arc<Editor>, session: SessionId, id: String, then: Then) {
        if then == Then::Keep {
            self.reply(Outgoing::Line(answer(&id, "{}")));
            return;
        }
        let (shared, editor) = (self.shared.clone(), editor.clone());
        let (outbox, ending) = (self.outbox.clone(), self.ending.clone());
        self.tasks.spawn(async move {
            let line = match erase(&shared, &editor, session, &ending).await {
                Ok(()) => answer(&id, "{}"),
                Err(error) => error.line(&id),
            };
            let _gone = outbox.send(Outgoing::Line(line)).await;
            None
        });
    }

    pub(super) fn list(
        &mut self,
        id: &RequestId,
        editor: &Arc<Editor>,
        fields: &Fields,
    ) -> Result<(), RpcError> {
        let (cwd, after) = (fields.cwd_filter()?, fields.after()?);
        let (shared, editor) = (self.shared.clone(), editor.clone());
        let (outbox, id) = (self.outbox.clone(), id.clone());
        self.tasks.spawn(async move {
            let listed = async {
                let Archive { store, owner } = editor.archive(&shared).await?;
                page(&**store, *owner, PageSize::default(), cwd, after).await
            };
            let answer = match listed.await {
                Ok(page) => Outgoing::answer(&id, page),
                Err(error) => Outgoing::refusal(&id, &error),
            };
            let _gone = outbox.send(answer).await;
            None
        });
        Ok(())
    }

    pub(super) fn relay(&mut self, fields: &Fields, line: &[u8]) -> Result<(), RpcError> {
        let named = fields.session_id()?;
        let handle = named.id().and_then(|id| self.sessions.get(&id));
        let handle = handle.ok_or_else(|| named.not_found())?;
        hand_over(handle, line)
    }

    /// A request about no session goes to the child that has been here longest.
    pub(super) fn relay_to_any(
        &mut self,
        editor: &Arc<Editor>,
        line: &[u8],
    ) -> Result<(), RpcError> {
        let oldest = self.sessions.values().min_by_key(|handle| handle.number);
        if let Some(handle) = self.spare.as_ref().or(oldest) {
            return hand_over(handle, line);
        }
        let (tell, _nobody_waits) = oneshot::channel();
        let directory = self.shared.options.directory.clone();
        let spare = self.start_anew(editor, directory, Order::Learn(tell));
        let handed = hand_over(&spare, line);
        self.spare = Some(spare);
        handed
    }
}

fn open(id: &RequestId, cwd: PathBuf, line: &[u8], origin: Origin) -> Open {
    let params = Parts::of(line).and_then(|parts| parts.params);
    Open {
        id: as_json(id),
        cwd,
        params: params.unwrap_or("{}").to_owned(),
        origin,
    }
}

fn existing(cwd: PathBuf) -> Result<PathBuf, RpcError> {
    if cwd.is_dir() {
        Ok(cwd)
    } else {
        Err(RpcError::invalid_params(
            "cwd",
            "expected an existing directory",
        ))
    }
}

/// Erases a session that is not open: what we keep of it, and what the agent does if it erases.
async fn erase(
    shared: &Shared,
    editor: &Editor,
    session: SessionId,
    ending: &CancellationToken,
) -> Result<(), StartError> {
    const METHOD: &str = "session/delete";
    let failed = |error| StartError::Failed(store_error(&error));
    let archive = editor.archive(shared).await?;
    if editor.may_erase()
        && let Ok(kept) = archive.session(session).await
        && let Some(name) = archive.name_of(session).await.map_err(failed)?
    {
        let starter = Starter {
            shared,
            editor,
            id: session,
            abort: ending,
        };
        let directory = Some(kept.cwd).filter(|cwd| cwd.is_dir());
        let directory = directory.unwrap_or_else(|| shared.options.directory.clone());
        let slot = shared.slots.take(session)?;
        let mut started = starter.start(directory, Some(slot)).await?;
        let params = json!({ "sessionId": name }).to_string();
        let erased = starter.session(&mut started, METHOD, &params).await;
        started.child.stop(&shared.leaving);
        erased?;
    }
    archive.delete(session).await.map_err(failed)
}

pub(super) fn hand_over(handle: &Handle, line: &[u8]) -> Result<(), RpcError> {
    let bytes = u32::try_from(line.len()).unwrap_or(u32::MAX);
    let room = handle.room.clone().try_acquire_many_owned(bytes);
    let room = room.map_err(|_| busy())?;
    handle
        .orders
        .try_send(Order::Relay(line.to_vec(), room))
        .map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => busy(),
            mpsc::error::TrySendError::Closed(_) => {
                RpcError::session_not_found(&handle.id.to_string())
            }
        })
}

fn busy() -> RpcError {
    RpcError::internal("too much waits for this session; its agent is busy")
}

fn as_json(id: &RequestId) -> String {
    serde_json::to_string(id).unwrap_or_else(|_| "null".to_owned())
}

fn same_place(one: &Path, other: &Path) -> bool {
    one == other
        || one
            .canonicalize()
            .is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}
