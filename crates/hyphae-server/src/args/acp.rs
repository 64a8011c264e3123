//! `acp -- COMMAND`: what can be said about supervised agents.

use std::{ffi::OsString, time::Duration};

use clap::Args;

use super::FRAME;

pub(super) const NOTES: &str = "\
Examples:
  hyphae-server acp -- npx @agentclientprotocol/claude-agent-acp
  hyphae-server acp --max-sessions 4 -- gemini --experimental-acp

An editor starts this in the place of the agent. Times are seconds, or such as 500ms and 15m.";

#[derive(Debug, Args)]
pub(crate) struct Acp {
    /// The most sessions that run at a time.
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) max_sessions: u16,
    /// Stop the process of a session that was idle for so long; it comes back with the next prompt.
    #[arg(long, default_value = "900", value_name = "TIME", value_parser = time)]
    pub(crate) idle_park: Duration,
    /// How long the agent may take for each step of its start.
    #[arg(long, default_value = "60", value_name = "TIME", value_parser = time)]
    pub(crate) start_timeout: Duration,
    /// How long the agent may take to close a session.
    #[arg(long, default_value = "30", value_name = "TIME", value_parser = time)]
    pub(crate) settle_timeout: Duration,
    /// How long the agent may take to end when its stdin is closed, and again after SIGTERM.
    #[arg(long, default_value = "5", value_name = "TIME", value_parser = time)]
    pub(crate) stop_grace: Duration,
    /// The longest message taken from either side, in bytes; a longer one is passed over.
    #[arg(long, default_value_t = FRAME, value_name = "N")]
    pub(crate) max_frame_bytes: usize,
    /// The size at which a session's log is put aside, in bytes.
    #[arg(long, default_value_t = 1 << 20, value_name = "N")]
    pub(crate) log_bytes: u64,
    /// The agent's command.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Reads seconds, or a time with its unit.
fn time(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse() {
        return Ok(Duration::from_secs(seconds));
    }
    let time: jiff::SignedDuration = text
        .parse()
        .map_err(|_| "expected seconds, or a time such as 500ms or 15m".to_owned())?;
    Duration::try_from(time).map_err(|_| "a time is not negative".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_seconds_or_has_a_unit() {
        for (text, want) in [
            ("900", Some(900_000)),
            ("0", Some(0)),
            ("500ms", Some(500)),
            ("15m", Some(900_000)),
            ("-1s", None),
            ("soon", None),
            ("", None),
        ] {
            let got = time(text).ok().map(|time| time.as_millis());
            assert_eq!(got, want, "{text}");
        }
    }
}
