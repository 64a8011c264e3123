//! Another process: this test binary, started again with its work on stdin.

use hyphae_testkit::contract::fixture::model;
use std::{
    io::{BufRead, BufReader, Lines, Write},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use hyphae_core::{
    cell::Content,
    credential::ApiKey,
    ids::{CellId, CredentialId, SessionId, TenantId},
    ports::{MemoryStore, SessionStore},
    scope::{Owner, Scope},
    session::TranscriptEntry,
};
use hyphae_store::{SqliteOptions, Store};
use hyphae_testkit::contract::fixture::{insert, link, project, revise};
use serde::{Deserialize, Serialize};

/// What a process is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Work {
    /// Make the database, or find it made, and tell its default tenant.
    Create,
    /// Look at the database, open it, write to it, and tell what it was answered with.
    Try {
        owner: (TenantId, CredentialId),
        key: String,
    },
    /// Store this many cells and tell each that was acknowledged.
    Store {
        owner: (TenantId, CredentialId),
        session: SessionId,
        name: String,
        cells: u64,
    },
    /// Change a cell, against whoever else does, until it is at a revision, and tell each that
    /// was acknowledged.
    Change {
        owner: (TenantId, CredentialId),
        cell: CellId,
        until: u32,
    },
    /// Store cells with all that can lie beside one, erase each later, and tell both, without
    /// end.
    Erase {
        owner: (TenantId, CredentialId),
        name: String,
    },
}

#[derive(Debug, Serialize, Deserialize)]
struct Order {
    path: String,
    work: Work,
}

/// What a process says on stdout, one a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Said {
    /// The database is there.
    Tenant(TenantId),
    /// This cell is kept at this revision.
    Kept(CellId, u32),
    /// This cell is gone for good.
    Erased(CellId),
    /// The session has at least this many entries.
    Entries(SessionId, u64),
    /// This error was the answer.
    Failed(String),
    /// Nothing more will come.
    Done,
}

const MARK: &str = "said: ";

/// A process at work.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    pub(crate) fn start(path: &Path, work: Work) -> Self {
        Self::start_behind(&[], path, work)
    }

    /// Starts it as the last arguments of another program.
    #[expect(clippy::disallowed_methods, reason = "starts itself")]
    pub(crate) fn start_behind(before: &[&str], path: &Path, work: Work) -> Self {
        let program = std::env::current_exe().unwrap();
        let mut words = before
            .iter()
            .map(std::ffi::OsStr::new)
            .chain([program.as_os_str()]);
        let mut child = Command::new(words.next().unwrap())
            .args(words)
            .args(["worker::works", "--exact", "--ignored", "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let order = Order {
            path: path.to_str().unwrap().to_owned(),
            work,
        };
        let mut stdin = child.stdin.take().unwrap();
        let order = serde_json::to_string(&order).unwrap();
        writeln!(stdin, "{order}").unwrap();
        let stdout = child.stdout.take().unwrap();
        Self {
            child,
            lines: BufReader::new(stdout).lines(),
        }
    }

    /// Returns the next thing it says; none once it has ended.
    pub(crate) fn next(&mut self) -> Option<Said> {
        self.lines.by_ref().map_while(Result::ok).find_map(|line| {
            // The test harness may have written on the same line before.
            let (_, said) = line.split_once(MARK)?;
            serde_json::from_str(said).ok()
        })
    }

    /// Waits for its end and returns all that it said.
    pub(crate) fn finish(mut self) -> Vec<Said> {
        let said: Vec<Said> = std::iter::from_fn(|| self.next()).collect();
        assert!(self.child.wait().unwrap().success());
        assert_eq!(said.last(), Some(&Said::Done));
        said
    }

    /// Ends it at once, with no chance to put anything in order, and returns what it had said.
    pub(crate) fn kill(mut self) -> Vec<Said> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::iter::from_fn(|| self.next()).collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn say(said: &Said) {
    println!("{MARK}{}", serde_json::to_string(said).unwrap());
}

/// Is no test: does what stands on stdin.
#[test]
#[ignore = "started by other tests"]
fn works() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    let Ok(order) = serde_json::from_str::<Order>(&line) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(work(order));
}

async fn work(order: Order) {
    let path = Path::new(&order.path);
    match order.work {
        Work::Create => {
            let store = Store::create_file(path, SqliteOptions::default())
                .await
                .unwrap();
            let tenant = hyphae_core::ports::CredentialStore::default_tenant(&store).await;
            say(&Said::Tenant(tenant.unwrap()));
        }
        Work::Try {
            owner: (tenant, credential),
            key,
        } => {
            let owner = Owner { tenant, credential };
            let key = ApiKey::parse(&key).unwrap();
            let recognised = Store::recognise(path, SqliteOptions::default(), &key);
            let error = match Store::open_file(path, SqliteOptions::default()).await {
                Err(error) => {
                    assert!(recognised.is_none(), "{error}");
                    error
                }
                Ok(store) => {
                    let scope = owner.in_project(project("storm"));
                    let new = crate::processes::cell(&scope, "by another user");
                    let write = crate::processes::write(vec![insert(&new)]);
                    store.commit(&scope, &write).await.unwrap_err()
                }
            };
            say(&Said::Failed(format!("{error:?}")));
        }
        Work::Store {
            owner: (tenant, credential),
            session,
            name,
            cells,
        } => {
            let owner = Owner { tenant, credential };
            let store = Store::open_file(path, SqliteOptions::default())
                .await
                .unwrap();
            for n in 0..cells {
                store_one(&store, owner, session, &format!("{name} {n}")).await;
                say(&Said::Entries(session, (n + 1) * 3));
            }
        }
        Work::Change {
            owner: (tenant, credential),
            cell,
            until,
        } => {
            let scope = Owner { tenant, credential }.in_project(project("storm"));
            let store = Store::open_file(path, SqliteOptions::default())
                .await
                .unwrap();
            crate::races::change(&store, &scope, cell, until, |revision| {
                say(&Said::Kept(cell, revision));
            })
            .await;
        }
        Work::Erase {
            owner: (tenant, credential),
            name,
        } => {
            let scope = Owner { tenant, credential }.in_project(project("storm"));
            let store = Store::open_file(path, SqliteOptions::default())
                .await
                .unwrap();
            crate::races::store_and_erase(&store, &scope, &name, |said| say(&said)).await;
        }
    }
    say(&Said::Done);
}

/// Stores a cell with links to some before it, gives every third another text, and notes it in
/// the session.
async fn store_one(store: &Store, owner: Owner, session: SessionId, text: &str) {
    let scope: Scope = owner.in_project(project("storm"));
    let mut new = crate::processes::cell(&scope, text);
    let known = store
        .changes(&scope, hyphae_core::ports::Sequence(0), 40, &model())
        .await
        .unwrap();
    new.derived.links = known.iter().map(|known| link(known.id, 0.5)).collect();
    let write = crate::processes::write(vec![insert(&new)]);
    let done = store.commit(&scope, &write).await.unwrap();
    assert!(done.is_done(), "{done:?}");
    say(&Said::Kept(new.cell.id, 1));
    if text.ends_with(['0', '3', '6', '9']) {
        let revision = crate::processes::revision(&new.cell, |cell| {
            cell.content = Content::new(&format!("{text} merged")).unwrap();
        });
        let write = crate::processes::write(vec![revise(revision)]);
        let done = store.commit(&scope, &write).await.unwrap();
        assert!(done.is_done(), "{done:?}");
        say(&Said::Kept(new.cell.id, 2));
    }
    let entries: [TranscriptEntry; 3] = crate::processes::entries();
    store
        .append_transcript(owner, session, &entries, None, new.cell.created_at)
        .await
        .unwrap();
}
