//! The end of a connection, as its sessions see it.

use std::{sync::OnceLock, time::Duration};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Begins once; from then on everything is in a hurry.
#[derive(Debug)]
pub(crate) struct Ending {
    begun: CancellationToken,
    at: OnceLock<Instant>,
    settle: Duration,
}

impl Ending {
    /// `settle` is how long turns may take to stop once the end has begun.
    pub(crate) fn new(settle: Duration) -> Self {
        Self {
            begun: CancellationToken::new(),
            at: OnceLock::new(),
            settle,
        }
    }

    pub(crate) fn begin(&self) {
        self.at.get_or_init(Instant::now);
        self.begun.cancel();
    }

    pub(crate) async fn begun(&self) {
        self.begun.cancelled().await;
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.begun.is_cancelled()
    }

    /// Returns when the last agent is left behind.
    pub(crate) fn settle_by(&self) -> Instant {
        *self.at.get_or_init(Instant::now) + self.settle
    }
}
