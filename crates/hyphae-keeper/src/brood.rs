//! The direct children of this process, whoever started them.
//!
//! Only direct ones are ever signalled: until we have reaped it, a child's number is nobody
//! else's. What is further down comes to us when its parent dies.

use std::{collections::BTreeSet, fs, io};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

/// Returns the direct children that are not in `known`, living or dead and not yet reaped.
pub(crate) fn others(known: &BTreeSet<i32>) -> io::Result<Vec<Pid>> {
    let mut found = Vec::new();
    for thread in fs::read_dir("/proc/self/task")? {
        let children = match fs::read_to_string(thread?.path().join("children")) {
            Ok(children) => children,
            // A thread that has just ended has none.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let numbers = children.split_ascii_whitespace();
        found.extend(
            numbers
                .filter_map(|number| number.parse().ok())
                .filter(|number| !known.contains(number))
                .filter_map(Pid::from_raw),
        );
    }
    Ok(found)
}

/// Reaps those that are dead and returns how many live.
pub(crate) fn reap(children: &[Pid]) -> usize {
    let lives = |child: &&Pid| matches!(waitpid(Some(**child), WaitOptions::NOHANG), Ok(None));
    children.iter().filter(lives).count()
}

/// Sends a signal to each. A child that is dead already does not mind.
pub(crate) fn signal(children: &[Pid], signal: Signal) {
    for child in children {
        let _dead = kill_process(*child, signal);
    }
}
