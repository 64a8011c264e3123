//! The last moment before a process becomes the agent: it ties its life to its keeper's.

use std::{ffi::OsString, io::Write as _, os::unix::process::CommandExt as _, process::ExitCode};

use rustix::process::{Signal, getppid, set_parent_process_death_signal};

/// Begins what is written to stderr if there is no such agent; no agent's log begins so.
pub(crate) const FAILED: &[u8] = b"\0become-agent: ";

/// What a shell answers as well if a program cannot be started.
pub(crate) const NOT_STARTED: u8 = 127;

pub(crate) fn main(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let (Some(keeper), Some(program)) = (arguments.next(), arguments.next()) else {
        return ExitCode::from(NOT_STARTED);
    };
    let tied = set_parent_process_death_signal(Some(Signal::KILL));
    // If the keeper died before that, the signal will never come.
    let parent = getppid().map(|pid| pid.as_raw_nonzero().to_string());
    if tied.is_err() || parent.as_deref() != keeper.to_str() {
        return ExitCode::from(NOT_STARTED);
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "this process becomes the agent that its user named"
    )]
    let error = std::process::Command::new(program).args(arguments).exec();
    let mut line = FAILED.to_vec();
    line.extend_from_slice(error.to_string().as_bytes());
    // There is nobody else to tell.
    let _unheard = std::io::stderr().write_all(&line);
    ExitCode::from(NOT_STARTED)
}
