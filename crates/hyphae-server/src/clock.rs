//! The real clock.

use std::{sync::Mutex, sync::PoisonError};

use hyphae_core::ports::Clock;
use jiff::Timestamp;
use uuid::{ContextV7, Uuid};

/// Tells the time of the system and makes ids that only ever grow within this process.
#[derive(Debug, Default)]
pub(crate) struct SystemClock {
    context: Mutex<ContextV7>,
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn new_id(&self) -> Uuid {
        let context = self.context.lock().unwrap_or_else(PoisonError::into_inner);
        Uuid::new_v7(uuid::Timestamp::now(&*context))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_only_grow() {
        let clock = SystemClock::default();
        let ids: Vec<Uuid> = (0..10_000).map(|_| clock.new_id()).collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
    }
}
