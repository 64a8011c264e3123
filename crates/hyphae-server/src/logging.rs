//! The log: to stderr, for people; nothing of what people store or ask ever goes there.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use hyphae_keeper::LogFile;
use tracing::{Level, Metadata};
use tracing_subscriber::{
    Layer as _,
    filter::{Targets, filter_fn},
    fmt,
    layer::SubscriberExt,
    util::SubscriberInitExt,
};

/// Starts the log. `filter` is what HYPHAE_LOG says, such as `info` or `hyphae_acp=debug`;
/// without it, only warnings are shown. A `file` gets what is worth to know afterwards as well.
///
/// The database driver logs statements at `debug` with their texts and times but not what is
/// bound to them, so even a full log holds no content and no key. The MCP library logs whole
/// messages, so of it only errors are shown, whatever the filter says.
pub(crate) fn start(filter: Option<&str>, file: Option<LogFile>) {
    let wanted = filter.map(str::parse::<Targets>);
    let misunderstood = matches!(wanted, Some(Err(_)));
    let wanted = wanted.and_then(Result::ok);
    let or_level = |level| {
        let wanted = wanted.clone();
        wanted.unwrap_or_else(|| Targets::new().with_default(level))
    };
    let shown = fmt::layer()
        .with_writer(io::stderr)
        // A reader of the log that has gone away must not take the program with it.
        .log_internal_errors(false)
        .with_ansi(false)
        .with_filter(or_level(Level::WARN));
    let kept = file.map(|file| {
        fmt::layer()
            .with_writer(Kept(Arc::new(Mutex::new(file))))
            .log_internal_errors(false)
            .with_ansi(false)
            .with_filter(or_level(Level::INFO))
    });
    let discreet = |event: &Metadata<'_>| {
        !event.target().starts_with("rmcp") || *event.level() <= Level::ERROR
    };
    // A second start is a mistake that costs nothing: the first log stays.
    let _already_started = tracing_subscriber::registry()
        .with(filter_fn(discreet))
        .with(shown)
        .with(kept)
        .try_init();
    if misunderstood {
        tracing::warn!(
            "HYPHAE_LOG is not understood; write a level such as `info`, or `hyphae_acp=debug`"
        );
    }
}

/// Writes to a file that all threads share.
#[derive(Debug, Clone)]
struct Kept(Arc<Mutex<LogFile>>);

impl io::Write for Kept {
    /// Takes a whole event, which is how events come.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.append(event)?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> fmt::MakeWriter<'a> for Kept {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
