//! The calls of one connection see each other in the order in which they were sent.
//!
//! The protocol's library starts a task for each request, so the order is lost once a request
//! has been handed over. A [`Ticket`] is therefore taken where messages are received.

use tokio_util::sync::{CancellationToken, DropGuard};

/// Whether a call changes what a later call can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Reads,
    Writes,
}

/// Hands out tickets in the order of arrival: a read waits for the writes before it, a write for
/// all before it. Reads between two writes run at the same time.
#[derive(Debug, Default)]
pub(crate) struct Order {
    reads: Vec<CancellationToken>,
    writes: Vec<CancellationToken>,
}

/// A call's place in the order. Dropping it lets those behind it go on, however the call ended.
#[derive(Debug)]
pub(crate) struct Ticket {
    before: Vec<CancellationToken>,
    _done: DropGuard,
}

impl Order {
    /// Takes the next place.
    pub(crate) fn take(&mut self, effect: Effect) -> Ticket {
        let done = CancellationToken::new();
        for earlier in [&mut self.reads, &mut self.writes] {
            earlier.retain(|call| !call.is_cancelled());
        }
        // All of them, not just the latest: that one may give up while others still run.
        let mut before = self.writes.clone();
        match effect {
            Effect::Reads => self.reads.push(done.clone()),
            Effect::Writes => {
                before.extend_from_slice(&self.reads);
                self.writes.push(done.clone());
            }
        }
        Ticket {
            before,
            _done: done.drop_guard(),
        }
    }
}

impl Ticket {
    /// Waits until it is this call's turn.
    pub(crate) async fn turn(&self) {
        for earlier in &self.before {
            earlier.cancelled().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::Future,
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use super::*;

    fn ready(ticket: &Ticket) -> bool {
        let turn = pin!(ticket.turn());
        turn.poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
    }

    #[test]
    fn a_read_waits_for_the_writes_before_it_only() {
        let mut order = Order::default();
        let first = order.take(Effect::Writes);
        let read = order.take(Effect::Reads);
        let other = order.take(Effect::Reads);
        let second = order.take(Effect::Writes);
        assert!(ready(&first));
        assert!(!ready(&read) && !ready(&other) && !ready(&second));
        drop(first);
        assert!(ready(&read) && ready(&other));
        assert!(!ready(&second));
        drop(read);
        assert!(!ready(&second));
        drop(other);
        assert!(ready(&second));
    }

    #[test]
    fn writes_take_turns_even_if_one_gives_up() {
        let mut order = Order::default();
        let first = order.take(Effect::Writes);
        let second = order.take(Effect::Writes);
        let third = order.take(Effect::Writes);
        drop(second);
        drop(first);
        assert!(ready(&third));
    }

    #[test]
    fn a_write_that_gave_up_does_not_let_a_read_past_the_one_before_it() {
        let mut order = Order::default();
        let first = order.take(Effect::Writes);
        let second = order.take(Effect::Writes);
        let read = order.take(Effect::Reads);
        drop(second);
        assert!(!ready(&read));
        drop(first);
        assert!(ready(&read));
    }

    #[test]
    fn reads_without_a_write_leave_nothing_behind() {
        let mut order = Order::default();
        for _ in 0..1000 {
            drop(order.take(Effect::Reads));
        }
        assert!(order.reads.len() <= 1);
    }
}
