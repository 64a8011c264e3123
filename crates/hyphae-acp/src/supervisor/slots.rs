//! Places for running children.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hyphae_core::ids::SessionId;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::wire::RpcError;

/// As many places as there may be children in sessions, and who has them.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    count: usize,
    free: Arc<Semaphore>,
    holders: Arc<Mutex<Holders>>,
}

/// Who has a place, by the number of the place. A session that is closed and opened again may
/// have two for a moment.
#[derive(Debug, Default)]
struct Holders {
    next: u64,
    sessions: BTreeMap<u64, SessionId>,
}

/// A place, free again when it is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    number: u64,
    holders: Arc<Mutex<Holders>>,
    _permit: OwnedSemaphorePermit,
}

impl Slots {
    pub(super) fn new(count: usize) -> Self {
        Self {
            count,
            free: Arc::new(Semaphore::new(count)),
            holders: Arc::default(),
        }
    }

    /// Takes a place for a session, or says who has them.
    pub(super) fn take(&self, id: SessionId) -> Result<Slot, RpcError> {
        let Ok(permit) = self.free.clone().try_acquire_owned() else {
            let count = self.count;
            let mut holders: Vec<SessionId> =
                locked(&self.holders).sessions.values().copied().collect();
            holders.sort_unstable();
            let holders: Vec<String> = holders.iter().map(ToString::to_string).collect();
            return Err(RpcError::refused_with(
                format!(
                    "all {count} sessions are in use; close one, or start with a larger --max-sessions"
                ),
                json!({ "maxSessions": count, "openSessions": holders }),
            ));
        };
        let mut holders = locked(&self.holders);
        let number = holders.next;
        holders.next += 1;
        holders.sessions.insert(number, id);
        drop(holders);
        Ok(Slot {
            number,
            holders: self.holders.clone(),
            _permit: permit,
        })
    }
}

impl Slot {
    /// Its session is not open any more; the place is free when its child is gone.
    pub(super) fn is_leaving(&self) {
        locked(&self.holders).sessions.remove(&self.number);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.is_leaving();
    }
}

fn locked(holders: &Mutex<Holders>) -> MutexGuard<'_, Holders> {
    // Nothing panics while it holds the lock.
    holders.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use uuid::Uuid;

    use super::*;

    fn id(n: u128) -> SessionId {
        SessionId::new(Uuid::from_u128(n))
    }

    /// Who has the places, as a refusal tells it.
    fn named(slots: &Slots) -> serde_json::Value {
        let refusal = serde_json::to_value(slots.take(id(9)).unwrap_err()).unwrap();
        assert_eq!(refusal["code"], -32602);
        refusal["data"].clone()
    }

    #[test]
    fn a_full_house_names_who_is_in_it_and_not_who_is_about_to_leave() {
        let slots = Slots::new(2);
        let one = slots.take(id(1)).unwrap();
        let two = slots.take(id(2)).unwrap();
        let [first, second] = [1, 2].map(|n| id(n).to_string());
        assert_eq!(
            named(&slots),
            json!({ "maxSessions": 2, "openSessions": [first, second] })
        );
        one.is_leaving();
        assert_eq!(
            named(&slots),
            json!({ "maxSessions": 2, "openSessions": [second] })
        );
        drop(one);
        let three = slots.take(id(3)).unwrap();
        drop((two, three));
        assert!(slots.take(id(1)).is_ok());
    }
}
