//! What the process does when it is asked to end: SIGTERM and SIGINT become a token.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Returns a token that SIGTERM and SIGINT fire, from this call on: neither ends the process by
/// itself any more, so whoever calls this waits for the token in all that lasts.
///
/// # Errors
///
/// When the system takes no handler of signals.
pub(crate) fn on_signals() -> io::Result<CancellationToken> {
    let stopping = CancellationToken::new();
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        let mut signals = signal(kind)?;
        let stopping = stopping.clone();
        tokio::spawn(async move {
            signals.recv().await;
            stopping.cancel();
        });
    }
    Ok(stopping)
}
