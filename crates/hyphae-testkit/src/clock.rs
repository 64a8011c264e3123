//! A clock that moves when it is told to, and the real one for measurements.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hyphae_core::ports::Clock;
use jiff::Timestamp;
use uuid::Uuid;

/// Stands still between two calls of [`ManualClock::advance`]. Its ids count upwards, so that
/// two runs of a test make the same ones.
#[derive(Debug)]
pub struct ManualClock(Mutex<State>);

#[derive(Debug)]
struct State {
    now: Timestamp,
    ids: u64,
}

impl ManualClock {
    /// Starts at a moment, given in seconds since 1970.
    pub fn at(seconds: i64) -> Self {
        Self(Mutex::new(State {
            now: Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH),
            ids: 0,
        }))
    }

    /// Moves on.
    pub fn advance(&self, by: Duration) {
        let mut state = self.state();
        state.now = state.now.checked_add(by).unwrap_or(Timestamp::MAX);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for ManualClock {
    /// A morning in 2026.
    fn default() -> Self {
        Self::at(1_796_000_000)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.state().now
    }

    fn new_id(&self) -> Uuid {
        let mut state = self.state();
        state.ids += 1;
        let millis = u128::try_from(state.now.as_millisecond()).unwrap_or(0);
        // The layout of version 7: 48 bits of time, version, variant, and a number that counts.
        Uuid::from_u128(millis << 80 | 0x7 << 76 | 0x2 << 62 | u128::from(state.ids))
    }
}

/// The system's clock, for measurements; tests use [`ManualClock`].
#[derive(Debug, Clone, Copy)]
pub struct WallClock;

impl Clock for WallClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn new_id(&self) -> Uuid {
        Uuid::now_v7()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_version_7_and_grow() {
        let clock = ManualClock::default();
        let first = clock.new_id();
        let second = clock.new_id();
        clock.advance(Duration::from_secs(1));
        let third = clock.new_id();
        assert!(first < second && second < third);
        assert_eq!(first.get_version_num(), 7);
        assert_eq!(first.get_variant(), uuid::Variant::RFC4122);
    }
}
