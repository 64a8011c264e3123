//! Faults from outside: the process is killed, somebody else holds the database, the disk is full.
//! Whatever happens, no memory is lost whose id was answered.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Stdio},
    time::{Duration, Instant},
};

use hyphae_acp::{ClientError, Shown};
use pretty_assertions::assert_eq;
use tokio::io::AsyncBufReadExt as _;

use crate::{
    agent::Agent,
    world::{PATIENCE, World, ended, id_of, run},
};

/// Memories whose ids were answered: content and id.
type Acknowledged = Vec<(String, String)>;

/// Checks that each is recalled as it was stored.
async fn all_there(agent: &mut Agent, acknowledged: &Acknowledged) {
    for (content, id) in acknowledged {
        let found = agent.recall(content).await;
        let first = found.first().map(|found| {
            (
                found.content.as_str(),
                found.id.as_str(),
                found.distance.as_str(),
            )
        });
        assert_eq!(first, Some((content.as_str(), id.as_str(), "0.0000")));
    }
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// Passes a moment that is shorter than the system's clock for sleepers.
pub(crate) fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill_at_any_moment() {
    const ROUNDS: u64 = 6;
    let world = World::new();
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let mut acknowledged = Acknowledged::new();
    let mut replays = Vec::new();
    for round in 0..ROUNDS {
        let mut agent = Agent::start(&world).await;
        all_there(&mut agent, &acknowledged).await;
        let before_death = 1 + dice.below(4);
        for n in 0..before_death {
            let content = format!(
                "round {round}: the gauge by lock {n} reads {}",
                dice.below(1000)
            );
            let id = agent.store(&content).await;
            acknowledged.push((content, id));
        }
        // The next one is on its way when the process dies.
        let content = format!("round {round}: the last words, number {}", dice.below(1000));
        let mut turn = agent
            .client
            .prompt(agent.session, &format!("/store {content}"))
            .await
            .unwrap();
        spin(Duration::from_micros(dice.below(40_000)));
        agent.child.start_kill().unwrap();
        let ended = loop {
            match turn.next().await {
                Ok(Some(Shown::Text { text, .. })) => {
                    acknowledged.push((content.clone(), id_of(&text).to_owned()));
                }
                Ok(Some(_)) => {}
                Ok(None) => break true,
                Err(ClientError::Closed | ClientError::Io(_)) => break false,
                Err(error) => panic!("{error}"),
            }
        };
        agent.child.wait().await.unwrap();
        replays.push((agent.session, before_death + u64::from(ended)));
    }
    let mut agent = Agent::start(&world).await;
    all_there(&mut agent, &acknowledged).await;
    assert!(acknowledged.len() as u64 > ROUNDS, "{}", acknowledged.len());
    let cwd = agent.cwd.clone();
    for (session, prompts) in replays {
        let mut replayed = 0;
        let load = agent.client.load_session(session, &cwd, |shown| {
            replayed += u64::from(matches!(shown, Shown::Text { .. }));
        });
        load.await.unwrap();
        assert!(
            replayed >= prompts,
            "{replayed} of {prompts} answers are replayed"
        );
    }
    agent.end().await;
    let report = world.run(["doctor"]).well();
    assert!(report.contains("ok   memories: "), "{report}");
}

/// Somebody else who writes to the database and does not finish.
pub(crate) struct Holder {
    child: Child,
    stdin: Option<ChildStdin>,
}

impl Holder {
    pub(crate) fn start(world: &World) -> Self {
        let program = "
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None)
held.execute('begin exclusive')
print('held', flush=True)
sys.stdin.read()
held.execute('rollback')
";
        let mut command = world.command("python3");
        command
            .args(["-c", program])
            .arg(world.database())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        assert_eq!(line, "held\n", "python3 with its sqlite3 module is needed");
        let stdin = child.stdin.take();
        Self { child, stdin }
    }

    pub(crate) fn release(mut self) {
        drop(self.stdin.take());
        assert!(ended(self.child, "the holder").status.success());
    }
}

#[tokio::test]
async fn a_store_waits_for_somebody_else_who_writes() {
    let world = World::new();
    let mut agent = Agent::start(&world).await;
    let before = agent.store("dunlins feed on the mud").await;
    let mut reader = Agent::start(&world).await;
    let holder = Holder::start(&world);
    let session = agent.session;
    let mut turn = agent
        .client
        .prompt(session, "/store knots fly in dense flocks")
        .await
        .unwrap();
    holder.release();
    let mut answer = String::new();
    while let Some(shown) = turn.next().await.unwrap() {
        if let Shown::Text { text, .. } = shown {
            answer.push_str(&text);
        }
    }
    let id = id_of(&answer).to_owned();
    let both = vec![
        ("dunlins feed on the mud".to_owned(), before),
        ("knots fly in dense flocks".to_owned(), id),
    ];
    all_there(&mut reader, &both).await;
    agent.end().await;
    reader.end().await;
}

/// The store waits before it gives up, and that is how long this test takes: the moment in
/// which it has given up shows in the log, and then the holder lets go.
#[tokio::test]
async fn a_database_that_stays_locked_is_told_and_works_afterwards() {
    let world = World::new();
    let mut agent = Agent::start_logged(&world, world.hyphae(), Stdio::piped()).await;
    let before = agent.store("dunlins feed on the mud").await;
    let holder = Holder::start(&world);
    let mut log = tokio::io::BufReader::new(agent.child.stderr.take().unwrap()).lines();
    let releasing = async {
        let line = tokio::time::timeout(PATIENCE, log.next_line()).await;
        holder.release();
        line.unwrap().unwrap().unwrap()
    };
    let (told, line) = tokio::join!(agent.say("/store knots fly in dense flocks"), releasing);
    assert!(line.contains("the agent failed"), "{line}");
    let told = told.unwrap_err().to_string();
    assert_eq!(
        told,
        "the database is locked by another process; try again, or end what holds it"
    );
    let found = agent.recall("knots fly in dense flocks").await;
    assert!(found.iter().all(|found| found.distance != "0.0000"));
    let after = agent.store("knots fly in dense flocks").await;
    let both = vec![
        ("dunlins feed on the mud".to_owned(), before),
        ("knots fly in dense flocks".to_owned(), after),
    ];
    all_there(&mut agent, &both).await;
    agent.end().await;
}

/// A file system in memory, of a few megabytes.
#[derive(Debug)]
pub(crate) struct SmallDisk {
    folder: PathBuf,
}

impl SmallDisk {
    /// Mounts one. Where the system does not allow that, the test fails, unless
    /// `HYPHAE_TEST_NO_MOUNT` says that this is known.
    pub(crate) fn mount(world: &World) -> Option<Self> {
        let folder = world.directory("small");
        let mut command = world.command("mount");
        command
            .args(["-t", "tmpfs", "-o", "size=4m,mode=0700", "tmpfs"])
            .arg(&folder);
        let done = run(command, "");
        if done.code == Some(0) {
            return Some(Self { folder });
        }
        let known = std::env::var_os("HYPHAE_TEST_NO_MOUNT").is_some();
        assert!(
            known,
            "a small disk cannot be mounted (set HYPHAE_TEST_NO_MOUNT=1 to leave this out): {done:?}"
        );
        None
    }

    fn database(&self) -> PathBuf {
        self.folder.join("hyphae.db")
    }

    pub(crate) fn url(&self) -> String {
        format!("sqlite:{}", self.database().display())
    }

    /// Takes all room but this many bytes.
    pub(crate) fn fill(&self, free: u64) -> PathBuf {
        use std::os::unix::fs::FileExt as _;
        let filler = self.folder.join("filler");
        let file = fs::File::create(&filler).unwrap();
        let (mut written, block) = (0, [1; 4096]);
        while file.write_all_at(&block, written).is_ok() {
            written += 4096;
        }
        file.set_len(written.saturating_sub(free)).unwrap();
        filler
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        unmount(&self.folder);
    }
}

fn unmount(folder: &Path) {
    let mut command = crate::world::launcher("umount".as_ref());
    command.arg("-l").arg(folder);
    // In the worst case it goes away with the machine.
    let _unmounted = command.status();
}

#[tokio::test]
async fn a_full_disk_is_told_and_nothing_acknowledged_is_lost() {
    let world = World::new();
    let Some(disk) = SmallDisk::mount(&world) else {
        return;
    };
    let on_disk = || {
        let mut command = world.hyphae();
        command.env("DATABASE_URL", disk.url());
        command
    };
    let mut init = on_disk();
    init.args(["keys", "list"]);
    let line = run(init, "").refused();
    assert!(line.contains("run `hyphae-server init`"), "{line}");
    fs::remove_file(world.key_file()).unwrap();
    let mut init = on_disk();
    init.arg("init");
    run(init, "").well();

    let mut agent = Agent::start_with(&world, on_disk()).await;
    let mut acknowledged = Acknowledged::new();
    let words = "and more words that take room on the disk ".repeat(60);
    for free in [200_000, 40_000, 0] {
        let filler = disk.fill(free);
        let mut told = None;
        for n in 0..100 {
            let content = format!("{free} {n} {words}").trim().to_owned();
            match agent.say(&format!("/store {content}")).await {
                Ok(said) if said.len() == 1 && said[0].starts_with("stored ") => {
                    acknowledged.push((content, id_of(&said[0]).to_owned()));
                }
                // Stored, while the conversation could no longer be kept: either way it is told.
                Ok(said) => told = Some(said.join("\n")),
                Err(error) => told = Some(error.to_string()),
            }
            if told.is_some() {
                break;
            }
        }
        let told = told.unwrap();
        assert!(told.contains("no space left"), "{free}: {told}");
        assert!(told.lines().count() == 1, "{free}: {told}");
        fs::remove_file(filler).unwrap();
        all_there(&mut agent, &acknowledged).await;
        let content = format!("there is room again after {free}");
        let id = agent.store(&content).await;
        acknowledged.push((content, id));
    }
    agent.end().await;
    let mut agent = Agent::start_with(&world, on_disk()).await;
    all_there(&mut agent, &acknowledged).await;
    agent.end().await;
}
