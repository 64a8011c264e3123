//! A keeper's life: start the agent, wait, and end only when nothing is left.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs::File,
    io,
    os::{fd::AsFd as _, unix::net::UnixStream as StdUnixStream},
    process::{ExitCode, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, getpid, kill_process_group, set_child_subreaper, setsid};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    process::{Child, Command},
    signal::unix::{SignalKind, signal},
    sync::mpsc,
    task::JoinHandle,
    time::{Instant, sleep_until, timeout},
};

use crate::{
    brood,
    exec::NOT_STARTED,
    log::Log,
    orders::{EXEC, Exit, STOP, Task, Told},
};

/// How long the end of an agent's stderr is waited for once nobody of its kin lives.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// While something is to be killed, it is looked for again after this time at the latest.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

pub(crate) fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let Some(task) = Task::read(arguments) else {
        return ExitCode::from(2);
    };
    match run(&task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn run(task: &Task) -> io::Result<()> {
    // A signal to the editor's or the front's group must not reach who cleans up behind it.
    setsid()?;
    set_child_subreaper(Some(getpid()))?;
    let line = io::stderr().as_fd().try_clone_to_owned()?;
    let line = StdUnixStream::from(line);
    line.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let (reader, writer) = UnixStream::from_std(line)?.into_split();
        let asks = BufReader::new(reader).lines();
        match start(task) {
            Ok(agent) => {
                Keeping::new(task, agent, asks, writer)
                    .until_all_is_gone()
                    .await
            }
            Err(error) => {
                let why = error.to_string();
                tell(&mut { writer }, &Told::NotStarted { why }).await;
                Ok(())
            }
        }
    })
}

/// Starts the agent on our own stdin and stdout, which are the front's pipes, and lets go of them.
fn start(task: &Task) -> io::Result<Child> {
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    #[expect(
        clippy::disallowed_methods,
        reason = "the keeper's purpose is to start the agent that its user named"
    )]
    let agent = Command::new("/proc/self/exe")
        .arg0("hyphae-server")
        .arg(EXEC)
        .arg(getpid().as_raw_nonzero().to_string())
        .arg(&task.program)
        .args(&task.arguments)
        .stdin(Stdio::inherit())
        .stdout(Stdio::inherit())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    // Or the front would never see the agent's pipes end.
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok(agent)
}

async fn tell(front: &mut OwnedWriteHalf, told: &Told) {
    // A front that is gone is noticed where it is listened to.
    let _gone = front.write_all(told.line().as_bytes()).await;
}

/// How far a stop is. Each step has its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Serving,
    /// The agent's stdin is closed; it may end by itself.
    Closing,
    /// The agent's group was asked to end.
    Terminating,
    /// Whatever is left is killed, generation by generation.
    Killing,
}

struct Keeping<'a> {
    task: &'a Task,
    agent: Child,
    /// The agent's number, while it is surely its own.
    pid: Option<Pid>,
    log: JoinHandle<Option<String>>,
    troubles: mpsc::Receiver<String>,
    asks: Lines<BufReader<OwnedReadHalf>>,
    front: OwnedWriteHalf,
    front_lives: bool,
    stage: Stage,
    until: Option<Instant>,
}

impl<'a> Keeping<'a> {
    fn new(
        task: &'a Task,
        mut agent: Child,
        asks: Lines<BufReader<OwnedReadHalf>>,
        front: OwnedWriteHalf,
    ) -> Self {
        let (sender, troubles) = mpsc::channel(1);
        let log = Log::new(task.log.clone(), task.log_bytes, sender);
        let stderr = agent.stderr.take();
        let log = tokio::spawn(async move {
            match stderr {
                Some(stderr) => log.keep(stderr).await,
                None => None,
            }
        });
        let pid = agent.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        Self {
            task,
            agent,
            pid,
            log,
            troubles,
            asks,
            front,
            front_lives: true,
            stage: Stage::Serving,
            until: None,
        }
    }

    async fn until_all_is_gone(mut self) -> io::Result<()> {
        let mut children = signal(SignalKind::child())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut hangup = signal(SignalKind::hangup())?;
        if let Some(pid) = self.agent.id() {
            tell(&mut self.front, &Told::Started { pid }).await;
        }
        loop {
            let known: BTreeSet<i32> = self.pid.iter().map(|pid| pid.as_raw_pid()).collect();
            let others = brood::others(&known)?;
            let living = brood::reap(&others);
            if self.pid.is_none() && living == 0 {
                break;
            }
            if self.stage == Stage::Killing {
                brood::signal(&others, Signal::KILL);
                self.until = Some(Instant::now() + LOOK_AGAIN);
            }
            let until = self.until;
            tokio::select! {
                biased;
                status = self.agent.wait(), if self.pid.is_some() => {
                    self.pid = None;
                    self.ended(status?.into()).await;
                    self.go_to(Stage::Terminating, self.task.grace);
                }
                ask = self.asks.next_line(), if self.front_lives => match ask {
                    Ok(Some(ask)) if ask == STOP => self.go_to(Stage::Closing, self.task.grace),
                    Ok(Some(_)) => {}
                    Ok(None) | Err(_) => {
                        self.front_lives = false;
                        self.go_to(Stage::Terminating, self.task.orphan_grace);
                    }
                },
                Some(()) = children.recv() => {}
                Some(()) = terminate.recv() => self.go_to(Stage::Terminating, self.task.orphan_grace),
                Some(()) = interrupt.recv() => self.go_to(Stage::Terminating, self.task.orphan_grace),
                Some(()) = hangup.recv() => self.go_to(Stage::Terminating, self.task.orphan_grace),
                Some(what) = self.troubles.recv() => {
                    tell(&mut self.front, &Told::Trouble { what }).await;
                }
                () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => {
                    match self.stage {
                        Stage::Serving => self.until = None,
                        Stage::Closing => self.go_to(Stage::Terminating, self.task.grace),
                        Stage::Terminating | Stage::Killing => {
                            self.go_to(Stage::Killing, Duration::ZERO);
                        }
                    }
                }
            }
        }
        let _words_lost = timeout(LAST_WORDS, &mut self.log).await;
        Ok(())
    }

    /// Goes on to a stage, never back; a shorter time for the present one counts.
    fn go_to(&mut self, stage: Stage, grace: Duration) {
        let until = Instant::now() + grace;
        if stage <= self.stage {
            self.until = Some(self.until.map_or(until, |old| old.min(until)));
            return;
        }
        self.stage = stage;
        self.until = Some(until);
        let signal = match stage {
            Stage::Serving | Stage::Closing => return,
            Stage::Terminating => Signal::TERM,
            Stage::Killing => Signal::KILL,
        };
        match self.pid {
            // Its group is its own as long as we have not reaped it.
            Some(pid) => {
                let _empty = kill_process_group(pid, signal);
            }
            None => {
                if let Ok(orphans) = brood::others(&BTreeSet::new()) {
                    brood::signal(&orphans, signal);
                }
            }
        }
    }

    async fn ended(&mut self, exit: Exit) {
        let told = if exit == Exit::Code(NOT_STARTED.into()) {
            // Its stderr ends with it: nothing else was started.
            let why = timeout(LAST_WORDS, &mut self.log).await;
            match why {
                Ok(Ok(Some(why))) => Told::NotStarted { why },
                _ => Told::Exited(exit),
            }
        } else {
            Told::Exited(exit)
        };
        tell(&mut self.front, &told).await;
    }
}
