//! A bar on stderr that shows how far a long command has come, where there is a terminal.

use std::{
    fmt::Display,
    io::{self, IsTerminal, Read, Write},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::config;

/// How often a bar moves at most, a second.
const RATE: u8 = 10;

/// A bar, or nothing where nobody looks.
#[derive(Debug, Clone)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Counts bytes, of a total if that is known.
    pub(crate) fn of_bytes(total: Option<u64>) -> Self {
        Self::new(
            total,
            "{wide_bar} {bytes} of {total_bytes}, {eta} left  {msg}",
            "{spinner} {bytes}  {msg}",
        )
    }

    /// Counts things, of a total if that is known.
    pub(crate) fn of_things(total: Option<u64>) -> Self {
        Self::new(
            total,
            "{wide_bar} {pos} of {len}, {eta} left  {msg}",
            "{spinner} {pos}  {msg}",
        )
    }

    fn new(total: Option<u64>, bar: &str, spinner: &str) -> Self {
        if !io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let template = if total.is_some() { bar } else { spinner };
        let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new);
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(RATE));
        // A template that is wrong shows the bar of the library.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(if config::colours_wanted() {
                style.progress_chars("━╸ ")
            } else {
                style.progress_chars("=> ")
            });
        }
        bar.enable_steady_tick(Duration::from_millis(250));
        Self(bar)
    }

    /// Goes on by so much.
    pub(crate) fn advance(&self, by: u64) {
        self.0.inc(by);
    }

    /// Shows a short text behind the bar.
    pub(crate) fn say(&self, text: impl Into<std::borrow::Cow<'static, str>>) {
        self.0.set_message(text);
    }

    /// Writes a line to stderr, above the bar.
    pub(crate) fn tell(&self, line: &impl Display) -> io::Result<()> {
        self.0.suspend(|| writeln!(io::stderr(), "{line}"))
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        self.0.finish_and_clear();
    }

    /// Moves the bar with what is read.
    pub(crate) fn reading<R: Read>(&self, input: R) -> impl Read + use<R> {
        self.0.wrap_read(input)
    }
}
