//! Programs that are started and leave nothing behind, whoever dies first.
//!
//! Between a front (our process) and an agent (somebody else's program) stands a **keeper**: our
//! own binary, started once more. It passes no bytes on: the agent gets the front's pipes
//! themselves. The keeper adopts whatever the agent leaves behind, sees a dead front by the end
//! of its line to it, and ends only when nothing is left of what it started.
//!
//! - The front dies by any means: the keeper's line ends, it stops the agent and all below it.
//! - The keeper dies: the agent has a parent-death signal, what the agent had started comes to
//!   the front, which adopts as well and ends it ([`Keepers::sweep`]).
//! - Both are killed at one instant: the agent dies of its signal; what it had started lives.
//!
//! Start reading at [`Keepers::start`]; the keeper's own life is in `keep.rs`. Linux only: it
//! stands on subreapers, parent-death signals and `/proc`.

mod brood;
mod exec;
mod front;
mod keep;
mod log;
mod orders;

use std::{ffi::OsString, process::ExitCode};

pub use front::{Keep, Keeper, Keepers, Kept, Report};
pub use orders::Exit;

/// Runs the part of a keeper if that is what this process was started as. The first thing that a
/// program does which starts keepers; `arguments` are those behind the program's name.
pub fn entered(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let first = arguments.next()?;
    if first == orders::KEEP {
        Some(keep::main(arguments))
    } else if first == orders::EXEC {
        Some(exec::main(arguments))
    } else {
        None
    }
}
