//! Databases of Postgres servers that `tests/postgres/run` started.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "checks fail by panicking, say what they leave out, and start the server's own client"
)]

use std::{path::PathBuf, process::Command};

use uuid::Uuid;

/// Which server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// The newest, with pgvector.
    Newest,
    /// The oldest that is supported, without.
    Oldest,
}

impl Release {
    /// Returns the number of the release.
    pub const fn number(self) -> u32 {
        match self {
            Self::Newest => 18,
            Self::Oldest => 15,
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

    /// Runs statements and returns the values of their rows, a row a line.
    pub fn run(&self, sql: &str) -> String {
        self.psql(&self.url(), sql)
    }

    fn psql(&self, url: &str, sql: &str) -> String {
        let done = Command::new(self.binaries.join("psql"))
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
}

impl Drop for Database {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let sql = format!("drop database {} with (force)", self.name);
            self.psql(&self.server, &sql);
        }
    }
}
