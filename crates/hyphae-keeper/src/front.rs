//! The front's side: start keepers, hear from them, tell them to stop.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    io,
    os::fd::OwnedFd,
    os::unix::net::UnixStream as StdUnixStream,
    path::PathBuf,
    process::Stdio,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rustix::process::{Signal, getpid, set_child_subreaper};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    process::{Child, ChildStdin, ChildStdout, Command},
    signal::unix::{SignalKind, signal},
};

use crate::{
    brood,
    orders::{Exit, STOP, Task, Told},
};

/// An agent to be started.
#[derive(Debug, Clone)]
pub struct Keep {
    /// What is started; without a slash it is looked for in `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its working directory; must exist.
    pub directory: PathBuf,
    /// The file that gets what it says on stderr, secrets masked. Its folder must exist.
    pub log: PathBuf,
    /// A log that grew beyond this many bytes is put aside, in the place of the former one.
    pub log_bytes: u64,
    /// How long it may take to end after its stdin was closed, and once more after SIGTERM.
    pub grace: Duration,
    /// How long it may take to end after SIGTERM if this process died.
    pub orphan_grace: Duration,
}

/// Starts keepers, and knows those that live. One a process.
#[derive(Debug, Clone)]
pub struct Keepers {
    program: PathBuf,
    /// The numbers of living keepers; our other children are what a dead keeper left behind.
    living: Arc<Mutex<BTreeSet<i32>>>,
}

/// An agent that runs, and its two pipes.
#[derive(Debug)]
pub struct Kept {
    /// Its stdin.
    pub stdin: ChildStdin,
    /// Its stdout.
    pub stdout: ChildStdout,
    /// Who looks after it.
    pub keeper: Keeper,
}

/// The line to a keeper. If it is dropped, the keeper takes this process for dead and stops its
/// agent.
#[derive(Debug)]
pub struct Keeper {
    process: Child,
    keepers: Keepers,
    told: Lines<BufReader<OwnedReadHalf>>,
    orders: OwnedWriteHalf,
}

/// What a keeper tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// The agent's process is there.
    Started {
        /// Its number.
        pid: u32,
    },
    /// There is no such program, or it cannot be run.
    NotStarted {
        /// The system's words.
        why: String,
    },
    /// The agent's process has ended; what it had started is being ended now.
    Exited(Exit),
}

impl Keepers {
    /// `program` is a binary whose `main` begins with [`crate::entered`], best
    /// `/proc/self/exe`, which is still the same one after an update. From now on this process
    /// adopts what keepers that are killed leave behind.
    ///
    /// # Errors
    /// If the system does not let a process adopt.
    pub fn new(program: PathBuf) -> io::Result<Self> {
        set_child_subreaper(Some(getpid()))?;
        Ok(Self {
            program,
            living: Arc::default(),
        })
    }

    /// Starts an agent under a keeper of its own; takes about a millisecond. Must be called on a
    /// thread that lives as long as the agent, with a runtime of tokio.
    ///
    /// # Errors
    /// If the keeper cannot be started. Whether the agent could is told by a [`Report`].
    pub fn start(&self, keep: &Keep) -> io::Result<Kept> {
        let (ours, theirs) = StdUnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let task = Task {
            log: keep.log.clone(),
            log_bytes: keep.log_bytes,
            grace: keep.grace,
            orphan_grace: keep.orphan_grace,
            program: keep.program.clone(),
            arguments: keep.arguments.clone(),
        };
        // Held until the new one is known, or a sweep would take it for something left behind.
        let mut living = self.living();
        #[expect(
            clippy::disallowed_methods,
            reason = "keepers are what this crate starts"
        )]
        let mut process = Command::new(&self.program)
            .arg0("hyphae-server")
            .args(task.arguments())
            .current_dir(&keep.directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::from(OwnedFd::from(theirs)))
            .spawn()?;
        living.extend(process.id().map(u32::cast_signed));
        drop(living);
        let (Some(stdin), Some(stdout)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(io::Error::other("the agent has no pipes"));
        };
        let (told, orders) = UnixStream::from_std(ours)?.into_split();
        Ok(Kept {
            stdin,
            stdout,
            keeper: Keeper {
                process,
                keepers: self.clone(),
                told: BufReader::new(told).lines(),
                orders,
            },
        })
    }

    /// Kills what dead keepers left behind and returns how much of it still lives. What comes
    /// from further down is found by the next call.
    ///
    /// # Errors
    /// If `/proc` cannot be read.
    pub fn sweep(&self) -> io::Result<usize> {
        let living = self.living();
        let left = brood::others(&living)?;
        brood::signal(&left, Signal::KILL);
        Ok(brood::reap(&left))
    }

    fn living(&self) -> MutexGuard<'_, BTreeSet<i32>> {
        self.living.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Keeper {
    /// Returns what the keeper tells next; none when it has ended. Cancel-safe.
    pub async fn next(&mut self) -> Option<Report> {
        loop {
            let line = self.told.next_line().await.ok()??;
            match Told::read(&line) {
                Some(Told::Started { pid }) => return Some(Report::Started { pid }),
                Some(Told::NotStarted { why }) => return Some(Report::NotStarted { why }),
                Some(Told::Exited(exit)) => return Some(Report::Exited(exit)),
                Some(Told::Trouble { what }) => tracing::warn!(what, "an agent's keeper"),
                None => tracing::error!(line, "a keeper has a fault"),
            }
        }
    }

    /// Asks for the end: the agent has its time after the end of its stdin (which the caller
    /// closes), then after SIGTERM, then everything is killed.
    pub fn stop(&self) {
        // The line is empty but for this; if the keeper is gone there is nothing to stop.
        let _gone = self.orders.try_write(format!("{STOP}\n").as_bytes());
    }

    /// Waits until nothing is left of the agent and of all that it started.
    ///
    /// # Errors
    /// If the system does not tell.
    pub async fn gone(mut self) -> io::Result<()> {
        while self.next().await.is_some() {}
        let id = self.process.id();
        let mut children = signal(SignalKind::child())?;
        let status = self.process.wait().await?;
        if let Some(id) = id {
            self.keepers.living().remove(&id.cast_signed());
        }
        if !status.success() {
            tracing::error!(%status, "a keeper was lost; ending what it kept");
            while self.keepers.sweep()? > 0 {
                children.recv().await;
            }
        }
        Ok(())
    }
}
