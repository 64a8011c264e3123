//! What the editor asks of sessions, handed to whom it concerns.

use std::{path::Path, sync::Arc};

use serde_json::json;
use tokio::sync::{mpsc, oneshot};

use super::{Front, Handle};
use crate::{
    requests::Fields,
    supervisor::{
        messages::no_slot,
        session::{Open, Order},
        start::Editor,
    },
    wire::{Outgoing, Parts, RequestId, RpcError},
};

impl Front {
    pub(super) fn open(
        &mut self,
        id: &RequestId,
        editor: &Arc<Editor>,
        fields: &Fields,
        line: &[u8],
    ) -> Result<(), RpcError> {
        let cwd = fields.cwd()?;
        if !cwd.is_dir() {
            return Err(RpcError::invalid_params(
                "cwd",
                "expected an existing directory",
            ));
        }
        let slot = self.shared.slots.clone().try_acquire_owned();
        let slot = slot.map_err(|_| {
            let mut open: Vec<_> = self.sessions.keys().copied().collect();
            open.sort_unstable();
            no_slot(self.shared.options.max_sessions, &open)
        })?;
        let parts = Parts::of(line);
        let params = parts.and_then(|parts| parts.params).unwrap_or("{}");
        let open = Order::Open(Open {
            id: as_json(id),
            cwd: cwd.clone(),
            params: params.to_owned(),
            slot,
        });
        // The child that we learned from serves, if it works in the right place.
        let handle = match self.spare.take_if(|spare| same_place(&spare.cwd, &cwd)) {
            Some(spare) => match spare.orders.try_send(open) {
                Ok(()) => spare,
                Err(
                    mpsc::error::TrySendError::Full(order)
                    | mpsc::error::TrySendError::Closed(order),
                ) => self.start(editor, cwd, order),
            },
            None => {
                self.spare = None;
                self.start(editor, cwd, open)
            }
        };
        self.sessions.insert(handle.id, handle);
        Ok(())
    }

    pub(super) fn close(&mut self, id: &RequestId, fields: &Fields) -> Result<(), RpcError> {
        let named = fields.session_id()?;
        let handle = named.id().and_then(|id| self.sessions.remove(&id));
        let handle = handle.ok_or_else(|| named.not_found())?;
        handle.abort.cancel();
        self.numbers.remove(&handle.number);
        let order = Order::Close { id: as_json(id) };
        if handle.orders.try_send(order).is_err() {
            // Its task ends with its handle; what it had to do is answered by it.
            self.reply(Outgoing::answer(id, json!({})));
        }
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
        let spare = self.start(editor, directory, Order::Learn(tell));
        let handed = hand_over(&spare, line);
        self.spare = Some(spare);
        handed
    }
}

pub(super) fn hand_over(handle: &Handle, line: &[u8]) -> Result<(), RpcError> {
    let busy = || RpcError::internal("too much waits for this session; its agent is busy");
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

fn as_json(id: &RequestId) -> String {
    serde_json::to_string(id).unwrap_or_else(|_| "null".to_owned())
}

fn same_place(one: &Path, other: &Path) -> bool {
    one == other
        || one
            .canonicalize()
            .is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}
