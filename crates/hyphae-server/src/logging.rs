//! The log: to stderr, for people; nothing of what people store or ask ever goes there.

use std::io;

use tracing::{Level, Metadata};
use tracing_subscriber::{
    filter::{Targets, filter_fn},
    fmt,
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

/// Starts the log. `filter` is what HYPHAE_LOG says, such as `info` or `hyphae_acp=debug`;
/// without it, only warnings are shown.
///
/// The database driver logs statements at `debug` with their texts and times but not what is
/// bound to them, so even a full log holds no content and no key. The MCP library logs whole
/// messages, so of it only errors are shown, whatever the filter says.
pub(crate) fn start(filter: Option<&str>) {
    let wanted = filter.unwrap_or("warn").parse::<Targets>();
    let misunderstood = wanted.is_err();
    let shown = fmt::layer()
        .with_writer(io::stderr)
        // A reader of the log that has gone away must not take the program with it.
        .log_internal_errors(false)
        .with_ansi(false);
    let warnings = || Targets::new().with_default(Level::WARN);
    let discreet = |event: &Metadata<'_>| {
        !event.target().starts_with("rmcp") || *event.level() <= Level::ERROR
    };
    // A second start is a mistake that costs nothing: the first log stays.
    let _already_started = tracing_subscriber::registry()
        .with(wanted.unwrap_or_else(|_| warnings()))
        .with(filter_fn(discreet))
        .with(shown)
        .try_init();
    if misunderstood {
        tracing::warn!(
            "HYPHAE_LOG is not understood; write a level such as `info`, or `hyphae_acp=debug`"
        );
    }
}
