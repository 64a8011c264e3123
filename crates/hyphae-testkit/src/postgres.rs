//! Databases of Postgres servers that `tests/postgres/run` started, and servers of a test's own.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "checks fail by panicking, say what they leave out, and start the server's own client"
)]

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use uuid::Uuid;

/// Which server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// The newest, with pgvector.
    Newest,
    /// The oldest that is supported, without.
    Oldest,
    /// One that is refused. Of this, there are only binaries.
    TooOld,
}

impl Release {
    /// Returns the number of the release.
    pub const fn number(self) -> u32 {
        match self {
            Self::Newest => 18,
            Self::Oldest => 15,
            Self::TooOld => 14,
        }
    }

    fn variable(self, of: &str) -> Option<String> {
        let name = format!("HYPHAE_TEST_POSTGRES_{}{of}", self.number());
        let value = std::env::var(&name).ok();
        if value.is_none() {
            eprintln!("SKIPPED: {name} names no server; use tests/postgres/run");
        }
        value
    }

    /// Returns the folder of the server's binaries; none, and says so, if there is none.
    pub fn binaries(self) -> Option<PathBuf> {
        self.variable("_BIN").map(PathBuf::from)
    }
}

/// A database of its own, empty, which goes away when this is dropped.
#[derive(Debug)]
pub struct Database {
    name: String,
    server: String,
    binaries: PathBuf,
}

impl Database {
    /// Makes a database; none, and says so, if no server was started.
    pub fn new(release: Release) -> Option<Self> {
        let database = Self {
            name: format!("t_{}", Uuid::now_v7().as_simple()),
            server: release.variable("")?,
            binaries: release.binaries()?,
        };
        let sql = format!("create database {} template template0", database.name);
        database.psql(&database.server, &sql);
        Some(database)
    }

    /// Returns the address, of a superuser.
    pub fn url(&self) -> String {
        self.server
            .replace(":///postgres?", &format!(":///{}?", self.name))
    }

    /// Returns its address by a pooler in transaction mode, of a database of the newest server.
    pub fn pooled_url(&self) -> Option<String> {
        let name = "HYPHAE_TEST_POSTGRES_POOLER";
        let pooler = std::env::var(name).ok();
        if pooler.is_none() {
            eprintln!("SKIPPED: {name} names no pooler; use tests/postgres/run");
        }
        Some(pooler?.replace(":///postgres?", &format!(":///{}?", self.name)))
    }

    /// Runs statements and returns the values of their rows, a row a line.
    pub fn run(&self, sql: &str) -> String {
        self.psql(&self.url(), sql)
    }

    fn psql(&self, url: &str, sql: &str) -> String {
        psql(&self.binaries, url, sql)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let sql = format!("drop database {} with (force)", self.name);
            self.psql(&self.server, &sql);
        }
    }
}

/// A server of one test, which may be stopped, killed and set up in its own way. It keeps what it
/// acknowledged, as servers do, and ends when it is dropped.
#[derive(Debug)]
pub struct Server {
    binaries: PathBuf,
    folder: TempDir,
    options: String,
}

impl Server {
    /// Makes a server that does not run yet, with further arguments of `initdb`; none, and says
    /// so, if no binaries are known.
    pub fn new(release: Release, initdb: &[&str]) -> Option<Self> {
        let server = Self {
            binaries: release.binaries()?,
            folder: tempfile::tempdir().unwrap(),
            options: String::new(),
        };
        server.give_away(server.folder());
        let data = server.data();
        let data = data.to_str().unwrap();
        let common = [
            "-D",
            data,
            "-U",
            "postgres",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
            "-N",
        ];
        server.as_owner("initdb", common.iter().chain(initdb));
        Some(server)
    }

    /// Returns a folder that the server may read: its files and its socket lie there.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn data(&self) -> PathBuf {
        self.folder().join("data")
    }

    /// Gives a file to the user that the server runs as.
    pub fn give_away(&self, path: &Path) {
        if is_root() {
            let done = Command::new("chown").arg("postgres").arg(path).status();
            assert!(done.unwrap().success());
        }
    }

    /// Starts the server, with further options of `postgres`.
    pub fn start(&mut self, options: &str) {
        options.clone_into(&mut self.options);
        self.start_again();
    }

    /// Starts the server as it was before.
    pub fn start_again(&self) {
        let folder = self.folder().to_str().unwrap();
        let options = format!(
            "-c listen_addresses= -c unix_socket_directories={folder} -c shared_buffers=16MB {}",
            self.options
        );
        let (data, log) = (self.data(), self.folder().join("log"));
        let (data, log) = (data.to_str().unwrap(), log.to_str().unwrap());
        self.as_owner(
            "pg_ctl",
            ["-D", data, "-l", log, "-w", "-o", &options, "start"],
        );
    }

    /// Stops the server, which ends what is under way.
    pub fn stop(&self) {
        let data = self.data();
        let data = data.to_str().unwrap();
        self.as_owner("pg_ctl", ["-D", data, "-m", "fast", "-w", "stop"]);
    }

    /// Makes a server that repeats what this one writes, and does not run yet.
    pub fn replica(&self) -> Self {
        let replica = Self {
            binaries: self.binaries.clone(),
            folder: tempfile::tempdir().unwrap(),
            options: String::new(),
        };
        replica.give_away(replica.folder());
        let (data, host) = (replica.data(), self.folder());
        let (data, host) = (data.to_str().unwrap(), host.to_str().unwrap());
        let arguments = ["-D", data, "-h", host, "-U", "postgres", "-R", "-N"];
        replica.as_owner("pg_basebackup", arguments.iter().chain(&["-c", "fast"]));
        replica
    }

    /// Waits until this replica has all that its first server has written.
    pub fn catch_up(&self, first: &Self) {
        let written = first.run("select pg_current_wal_lsn()");
        let sql = format!("select pg_last_wal_replay_lsn() >= '{written}'");
        while self.run(&sql) != "t" {
            std::thread::yield_now();
        }
    }

    /// Makes a replica a server that is written to.
    pub fn promote(&self) {
        let data = self.data();
        self.as_owner("pg_ctl", ["-D", data.to_str().unwrap(), "-w", "promote"]);
    }

    /// Ends the server as a loss of power does.
    pub fn kill(&self) {
        let file = self.data().join("postmaster.pid");
        let text = fs::read_to_string(&file).unwrap();
        let number = text.lines().next().unwrap().trim().parse().unwrap();
        let pid = Pid::from_raw(number).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
        // Its processes see that it is gone, and go too.
        self.wait_until_gone();
        // Where nobody asks how it ended, its number stays in use, and it seems to run.
        fs::remove_file(file).unwrap();
        fs::remove_file(self.folder().join(".s.PGSQL.5432.lock")).unwrap();
    }

    /// Waits until no process of the server is left.
    pub fn wait_until_gone(&self) {
        while self.is_open() {
            std::thread::yield_now();
        }
    }

    /// Tells whether a process of the server still holds its data.
    fn is_open(&self) -> bool {
        let data = self.data().canonicalize().unwrap();
        let processes = fs::read_dir("/proc").unwrap();
        processes.filter_map(Result::ok).any(|process| {
            fs::read_link(process.path().join("cwd")).is_ok_and(|place| place == data)
        })
    }

    /// Runs statements and returns the values of their rows, a row a line.
    pub fn run(&self, sql: &str) -> String {
        psql(&self.binaries, &self.url(), sql)
    }

    /// Returns what the server has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder().join("log")).unwrap()
    }

    /// Returns the address of the database `postgres` by the socket, of a superuser.
    pub fn url(&self) -> String {
        format!(
            "postgres:///postgres?host={}&user=postgres",
            self.folder().display()
        )
    }

    /// Runs a program of the server as a user who may.
    fn as_owner<S: AsRef<OsStr>>(&self, program: &str, arguments: impl IntoIterator<Item = S>) {
        let program = self.binaries.join(program);
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
            command.arg(program);
            command
        } else {
            Command::new(program)
        };
        let log = fs::File::create(self.folder().join("programs.log")).unwrap();
        let done = command
            .args(arguments)
            .current_dir("/")
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .status()
            .unwrap();
        let said = ["programs.log", "log"]
            .map(|name| fs::read_to_string(self.folder().join(name)).unwrap_or_default());
        assert!(done.success(), "{said:#?}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.data().join("postmaster.pid").exists() {
            let data = self.data();
            let data = data.to_str().unwrap();
            self.as_owner("pg_ctl", ["-D", data, "-m", "immediate", "-w", "stop"]);
        }
    }
}

/// Runs statements and returns the values of their rows, a row a line.
fn psql(binaries: &Path, url: &str, sql: &str) -> String {
    let done = Command::new(binaries.join("psql"))
        .args([
            "-X",
            "-q",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-c",
            sql,
            url,
        ])
        .output()
        .unwrap();
    let (out, err) = (done.stdout, done.stderr);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&err));
    String::from_utf8(out).unwrap().trim_end().to_owned()
}

/// Makes the tables of one database in another, empty one, by `pg_dump --schema-only`.
pub fn copy_tables(release: Release, from: &str, to: &str) -> Option<()> {
    let binaries = release.binaries()?;
    let mut dump = Command::new(binaries.join("pg_dump"));
    let dumped = dump.args(["--schema-only", "--no-owner", from]).output();
    let dumped = dumped.unwrap();
    let error = String::from_utf8_lossy(&dumped.stderr);
    assert!(dumped.status.success(), "{error}");
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), dumped.stdout).unwrap();
    let mut psql = Command::new(binaries.join("psql"));
    psql.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-f"]);
    let made = psql.arg(file.path()).arg(to).output().unwrap();
    let error = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "{error}");
    Some(())
}

/// Makes a certificate for a host in a folder, and whoever vouches for it: `NAME.pem`, `NAME.key` and
/// `NAME-ca.pem`.
pub fn make_certificate(folder: &Path, name: &str, host: &str) {
    let file = |end: &str| folder.join(format!("{name}{end}")).display().to_string();
    let openssl = |arguments: &[&str]| {
        let done = Command::new("openssl").args(arguments).output().unwrap();
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    };
    let new = [
        "req",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-batch",
    ];
    let (ca, ca_key) = (file("-ca.pem"), file("-ca.key"));
    let root = [
        "-x509",
        "-subj",
        "/CN=test root",
        "-keyout",
        &ca_key,
        "-out",
        &ca,
    ];
    openssl(&[&new[..], &root].concat());
    let subject = format!("/CN={host}");
    let names = format!("subjectAltName=DNS:{host}");
    let (certificate, key) = (file(".pem"), file(".key"));
    let vouched = ["-x509", "-CA", &ca, "-CAkey", &ca_key, "-subj", &subject];
    let constraints = "basicConstraints=critical,CA:FALSE";
    let output = [
        "-addext",
        &names,
        "-addext",
        constraints,
        "-keyout",
        &key,
        "-out",
        &certificate,
    ];
    openssl(&[&new[..], &vouched, &output].concat());
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
