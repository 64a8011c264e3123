//! The log: to stderr, for people; nothing of what people store or ask ever goes there.

use std::io;

use tracing_subscriber::EnvFilter;

/// Starts the log. `filter` is what HYPHAE_LOG says; without it, only warnings are shown.
///
/// The database driver logs statements at `debug` with their texts and times but not what is
/// bound to them, so even a full log holds no content and no key.
pub(crate) fn start(filter: Option<&str>) {
    let filter =
        EnvFilter::try_new(filter.unwrap_or("warn")).unwrap_or_else(|_| EnvFilter::new("warn"));
    // A second start is a mistake that costs nothing: the first log stays.
    let _already_started = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        // A reader of the log that has gone away must not take the program with it.
        .log_internal_errors(false)
        .with_ansi(false)
        .try_init();
}
