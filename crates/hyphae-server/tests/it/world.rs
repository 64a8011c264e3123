//! One test's world: a home in which the built program runs and nothing else does.

use std::{
    ffi::OsStr,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::mpsc,
    time::Duration,
};

use hyphae_testkit::postgres::{Database, Release};
use tempfile::TempDir;

/// How long a program may take that hangs; nothing waits this long when all is well.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A key that no database knows.
pub(crate) const STRANGER: &str =
    "hyk_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A home, and a directory to work in.
#[derive(Debug)]
pub(crate) struct World {
    _folder: TempDir,
    root: PathBuf,
    /// Where the memories are if not in a file.
    postgres: Option<Database>,
}

/// How a run of the program ended and what it printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Done {
    /// Expects exit code 0 and an empty stderr; returns what was printed.
    #[track_caller]
    pub(crate) fn well(self) -> String {
        assert_eq!(
            (self.code, self.err.as_str()),
            (Some(0), ""),
            "{}",
            self.out
        );
        self.out
    }

    /// Expects exit code 2, nothing on stdout and one line on stderr; returns the line.
    #[track_caller]
    pub(crate) fn refused(self) -> String {
        assert_eq!(self.code, Some(2), "{self:?}");
        assert_eq!(self.out, "", "{self:?}");
        assert_eq!(self.err.lines().count(), 1, "{self:?}");
        assert!(!self.err.contains("panicked"), "{self:?}");
        self.err.trim_end().to_owned()
    }
}

impl World {
    /// A home with nothing in it.
    pub(crate) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("home")).unwrap();
        fs::create_dir(root.join("project")).unwrap();
        Self {
            _folder: folder,
            root,
            postgres: Self::release().and_then(Database::new),
        }
    }

    /// A home with an empty database on a server; none, and says so, if none was started.
    pub(crate) fn empty_on(release: Release) -> Option<Self> {
        let postgres = Some(Database::new(release)?);
        Some(Self {
            postgres,
            ..Self::empty()
        })
    }

    /// A home whose memories are on a server; none, and says so, if none was started.
    pub(crate) fn on(release: Release) -> Option<Self> {
        let world = Self::empty_on(release)?;
        world.run(["init"]).well();
        Some(world)
    }

    /// The address of the memories, if they are on a server.
    pub(crate) fn address(&self) -> Option<String> {
        self.postgres.as_ref().map(Database::url)
    }

    /// Runs statements where the memories are, on a server.
    pub(crate) fn sql(&self, sql: &str) -> String {
        self.postgres.as_ref().unwrap().run(sql)
    }

    /// Returns on which server all worlds are, if `HYPHAE_TEST_ON` says so: the suites that do not
    /// depend on a file are run there once more.
    fn release() -> Option<Release> {
        let number = std::env::var("HYPHAE_TEST_ON").ok()?;
        let all = [Release::Newest, Release::Oldest];
        let release = all
            .into_iter()
            .find(|release| release.number().to_string() == number);
        Some(release.unwrap())
    }

    /// A home after `hyphae-server init`.
    pub(crate) fn new() -> Self {
        let world = Self::empty();
        world.run(["init"]).well();
        world
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Where the program works unless it is told otherwise.
    pub(crate) fn work(&self) -> PathBuf {
        self.root.join("project")
    }

    /// Makes a directory beside the one to work in.
    pub(crate) fn directory(&self, name: &str) -> PathBuf {
        let path = self.root.join(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.home().join(".local/share/hyphae/hyphae.db")
    }

    pub(crate) fn key_file(&self) -> PathBuf {
        self.home().join(".config/hyphae/key")
    }

    /// The key that `init` kept.
    pub(crate) fn key(&self) -> String {
        fs::read_to_string(self.key_file())
            .unwrap()
            .trim()
            .to_owned()
    }

    /// Makes another key.
    pub(crate) fn another_key(&self, name: &str) -> String {
        self.run(["keys", "create", "--name", name])
            .well()
            .trim()
            .to_owned()
    }

    /// Any program, as if started by the person who lives here.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = launcher(program.as_ref());
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LANG", "C.UTF-8")
            .env("HOME", self.home())
            .current_dir(self.work());
        if let Some(database) = &self.postgres {
            command.env("DATABASE_URL", database.url());
        }
        command
    }

    /// The built program.
    pub(crate) fn hyphae(&self) -> Command {
        self.command(BINARY)
    }

    /// Runs the built program to its end, with nothing on stdin.
    pub(crate) fn run<const N: usize>(&self, arguments: [&str; N]) -> Done {
        let mut command = self.hyphae();
        command.args(arguments);
        run(command, "")
    }

    /// Runs console commands, one a line from stdin.
    pub(crate) fn script(&self, lines: &str) -> Done {
        let mut command = self.hyphae();
        command.arg("console");
        run(command, lines)
    }

    /// Stores a memory in a process of its own and returns its id.
    #[track_caller]
    pub(crate) fn store(&self, content: &str) -> String {
        let out = self.run(["console", "/store", content]).well();
        id_of(&out).to_owned()
    }

    /// Replaces what differs from run to run: this world's folder, ids and keys.
    pub(crate) fn plain(&self, text: &str) -> String {
        let text = text.replace(self.root.to_str().unwrap(), "<root>");
        let mut plain = String::new();
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            if let Some(end) = uuid_at(rest) {
                plain.push_str("<id>");
                rest = &rest[end..];
            } else if let Some(end) = key_at(rest) {
                plain.push_str("<key>");
                rest = &rest[end..];
            } else {
                plain.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
        plain
    }
}

/// The program under test.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_hyphae-server");

/// The one place in these tests where programs are started from.
#[expect(clippy::disallowed_methods, reason = "the launcher of the tests")]
pub(crate) fn launcher(program: &OsStr) -> Command {
    Command::new(program)
}

/// Runs a program to its end.
#[track_caller]
pub(crate) fn run(mut command: Command, input: &str) -> Done {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writing = std::thread::spawn(move || {
        // A program that ends early does not read all of it.
        let _unread = stdin.write_all(input.as_bytes());
    });
    let Output {
        status,
        stdout,
        stderr,
    } = ended(child, &format!("{command:?}"));
    writing.join().unwrap();
    Done {
        code: status.code(),
        out: String::from_utf8(stdout).unwrap(),
        err: String::from_utf8(stderr).unwrap(),
    }
}

/// Waits for a program; one that hangs is ended and fails the test.
#[track_caller]
pub(crate) fn ended(child: Child, what: &str) -> Output {
    let pid = rustix::process::Pid::from_child(&child);
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(PATIENCE) else {
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        panic!("{what} did not end");
    };
    output.unwrap()
}

/// Returns the id that an answer to `/store` names.
#[track_caller]
pub(crate) fn id_of(answer: &str) -> &str {
    let id = answer
        .strip_prefix("stored ")
        .and_then(|rest| rest.lines().next());
    let Some(id) = id else {
        panic!("nothing was stored: {answer}");
    };
    assert_eq!(uuid_at(id), Some(id.len()), "{answer}");
    id
}

/// A memory as an answer shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) id: String,
    pub(crate) distance: String,
    pub(crate) cell_type: String,
    pub(crate) content: String,
}

/// Reads one message of an answer to a recall; none if it is no match.
pub(crate) fn shown(message: &str) -> Option<Shown> {
    let (head, content) = message.split_once('\n')?;
    let mut words = head.split(' ');
    let (id, distance, cell_type) = (words.next()?, words.next()?, words.next()?);
    (words.next().is_none() && uuid_at(id) == Some(id.len())).then_some(())?;
    Some(Shown {
        id: id.to_owned(),
        distance: distance.strip_prefix("distance=")?.to_owned(),
        cell_type: cell_type.strip_prefix("type=")?.to_owned(),
        content: content.to_owned(),
    })
}

/// Returns where a UUID at the beginning of a text ends.
fn uuid_at(text: &str) -> Option<usize> {
    let head = text.as_bytes().get(..36)?;
    let fits = head.iter().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(byte),
    });
    fits.then_some(36)
}

/// Returns where an API key at the beginning of a text ends.
pub(crate) fn key_at(text: &str) -> Option<usize> {
    let hex = text.strip_prefix("hyk_")?.as_bytes().get(..64)?;
    hex.iter().all(u8::is_ascii_hexdigit).then_some(68)
}

/// Returns the permission bits of a file.
pub(crate) fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}
