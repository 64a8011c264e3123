//! What the front and a keeper say to each other, and how a keeper is called. Lines of words.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    os::unix::process::ExitStatusExt as _,
    path::PathBuf,
    process::ExitStatus,
    time::Duration,
};

/// First argument of a keeper.
pub(crate) const KEEP: &str = "keep-agent";

/// First argument of what becomes the agent.
pub(crate) const EXEC: &str = "become-agent";

/// What the front asks of its keeper.
pub(crate) const STOP: &str = "stop";

/// How an agent's process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, signal) => Self::Signal(signal.unwrap_or_default()),
        }
    }
}

/// What a keeper tells the front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    Started {
        pid: u32,
    },
    NotStarted {
        why: String,
    },
    Exited(Exit),
    /// Something that the agent does not notice.
    Trouble {
        what: String,
    },
}

impl Told {
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Started { pid } => format!("started {pid}\n"),
            Self::NotStarted { why } => format!("not-started {}\n", why.replace('\n', " ")),
            Self::Trouble { what } => format!("trouble {}\n", what.replace('\n', " ")),
            Self::Exited(Exit::Code(code)) => format!("exited code {code}\n"),
            Self::Exited(Exit::Signal(signal)) => format!("exited signal {signal}\n"),
        }
    }

    /// Reads a line; none if a keeper says no such thing.
    pub(crate) fn read(line: &str) -> Option<Self> {
        let line = line.trim_end();
        let (word, rest) = line.split_once(' ')?;
        Some(match word {
            "started" => Self::Started {
                pid: rest.parse().ok()?,
            },
            "not-started" => Self::NotStarted {
                why: rest.to_owned(),
            },
            "trouble" => Self::Trouble {
                what: rest.to_owned(),
            },
            "exited" => Self::Exited(match rest.split_once(' ')? {
                ("code", code) => Exit::Code(code.parse().ok()?),
                ("signal", signal) => Exit::Signal(signal.parse().ok()?),
                _ => return None,
            }),
            _ => return None,
        })
    }
}

/// What a keeper is to do, as its arguments say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    /// Where the agent's stderr goes.
    pub(crate) log: PathBuf,
    /// A log that grew beyond this is put aside, in bytes.
    pub(crate) log_bytes: u64,
    /// How long the agent may take at each step of a stop.
    pub(crate) grace: Duration,
    /// The same if the front is dead and somebody may look for what is left.
    pub(crate) orphan_grace: Duration,
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
}

impl Task {
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let mut all = vec![
            OsString::from(KEEP),
            self.log.clone().into_os_string(),
            self.log_bytes.to_string().into(),
            self.grace.as_millis().to_string().into(),
            self.orphan_grace.as_millis().to_string().into(),
            self.program.clone(),
        ];
        all.extend(self.arguments.iter().cloned());
        all
    }

    /// Reads what stands behind [`KEEP`].
    pub(crate) fn read(mut arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        let log = arguments.next()?.into();
        let log_bytes = number(&arguments.next()?)?;
        let grace = Duration::from_millis(number(&arguments.next()?)?);
        let orphan_grace = Duration::from_millis(number(&arguments.next()?)?);
        Some(Self {
            log,
            log_bytes,
            grace,
            orphan_grace,
            program: arguments.next()?,
            arguments: arguments.collect(),
        })
    }
}

fn number(text: &OsStr) -> Option<u64> {
    text.to_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_what_is_read() {
        for told in [
            Told::Started { pid: 7 },
            Told::NotStarted {
                why: "no such file".to_owned(),
            },
            Told::Trouble {
                what: "disk full".to_owned(),
            },
            Told::Exited(Exit::Code(3)),
            Told::Exited(Exit::Signal(9)),
        ] {
            assert_eq!(Told::read(&told.line()), Some(told));
        }
        for line in [
            "",
            "started",
            "started x",
            "exited code",
            "thread 'main' panicked",
        ] {
            assert_eq!(Told::read(line), None, "{line}");
        }
    }

    #[test]
    fn a_task_survives_the_way_through_arguments() {
        let task = Task {
            log: "/tmp/a b".into(),
            log_bytes: 9,
            grace: Duration::from_secs(5),
            orphan_grace: Duration::from_millis(2500),
            program: "agent".into(),
            arguments: vec!["--".into(), String::new().into(), "--x=1".into()],
        };
        let arguments = task.arguments().into_iter().skip(1);
        assert_eq!(Task::read(arguments), Some(task));
        assert_eq!(Task::read(std::iter::once("log".into())), None);
    }
}
