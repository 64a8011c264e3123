//! Time and fresh ids.

use std::fmt;

use jiff::Timestamp;
use uuid::Uuid;

/// Tells the time and makes ids, so that the core reads neither clock nor randomness itself.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Returns the present moment.
    fn now(&self) -> Timestamp;

    /// Returns a new time-ordered id (UUID version 7). No two calls return the same one, and
    /// within a process each is greater than the one before.
    fn new_id(&self) -> Uuid;
}
