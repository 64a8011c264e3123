//! `acp -- COMMAND`: any ACP agent for an editor, each session a process of its own.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use anyhow::Context;
use hyphae_acp::{Supervisor, SupervisorOptions};
use hyphae_keeper::{Keepers, LogFile};

use super::Outcome;
use crate::{
    args::Acp,
    clock::SystemClock,
    config::{self, Config},
    files, logging, output, stdio, stopping,
    transcripts::Files,
};

/// How much may wait for an editor that reads slowly, in bytes.
const OUTBOX_BYTES: usize = 1 << 20;

/// How long an agent may take to end when this process was killed: it and its kin are to be gone
/// within five seconds.
const ORPHAN_GRACE: Duration = Duration::from_secs(3);

/// How the name of every log begins.
const LOG_PREFIX: &str = "hyphae-acp-";

/// A log that nobody wrote to for so long is removed.
const LOG_AGE: Duration = Duration::from_secs(14 * 24 * 60 * 60);

pub(crate) async fn run(config: &Config, args: Acp) -> anyhow::Result<Outcome> {
    // Whatever prints from here on, a library included, cannot reach the wire.
    let wire = output::take_stdout()?;
    let folder = config.state_dir.join("acp");
    files::make_private_folder(&folder)?;
    let log = folder.join(format!("{LOG_PREFIX}{}.log", std::process::id()));
    let log = LogFile::new(log, args.log_bytes);
    logging::start(config::log_filter().as_deref(), Some(log));
    tokio::task::spawn_blocking({
        let folder = folder.clone();
        move || match remove_old_logs(&folder, SystemTime::now()) {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "old logs were removed"),
            Err(error) => tracing::warn!(%error, "old logs cannot be removed"),
        }
    });
    let mut command = args.command.into_iter();
    let program = command.next().context("no agent is named")?;
    let options = SupervisorOptions {
        program,
        arguments: command.collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        max_sessions: usize::from(args.max_sessions),
        start: args.start_timeout,
        settle: args.settle_timeout,
        grace: args.stop_grace,
        orphan_grace: ORPHAN_GRACE.min(args.stop_grace),
        idle_park: args.idle_park,
        frame_limit: args.max_frame_bytes,
        outbox_bytes: OUTBOX_BYTES,
        logs: folder.clone(),
        log_bytes: args.log_bytes,
        learned: folder.clone(),
        directory: std::env::current_dir().context("the directory that this was started in")?,
    };
    // The same binary even after an update has replaced it.
    let keepers = Keepers::new(PathBuf::from("/proc/self/exe"))?;
    let clock = Arc::new(SystemClock::default());
    let transcripts = Arc::new(Files { folder });
    let supervisor = Supervisor::new(keepers, clock, transcripts, options);

    let shutdown = stopping::on_signals()?;
    let ended = supervisor
        .serve(stdio::input(), stdio::output(wire), shutdown)
        .await?;
    tracing::info!(?ended, "the connection ended");
    Ok(Outcome::Done)
}

/// Returns how many there were. Somebody else may remove them at the same time.
fn remove_old_logs(folder: &Path, now: SystemTime) -> io::Result<usize> {
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_log = name.to_str().is_some_and(|name| {
            name.starts_with(LOG_PREFIX) && (name.ends_with(".log") || name.ends_with(".log.1"))
        });
        if !is_log {
            continue;
        }
        match remove_if_old(&entry.path(), now) {
            Ok(true) => count += 1,
            Ok(false) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

fn remove_if_old(path: &Path, now: SystemTime) -> io::Result<bool> {
    let age = now.duration_since(fs::metadata(path)?.modified()?);
    // One that was written in the future is young.
    let is_old = age.is_ok_and(|age| age > LOG_AGE);
    if is_old {
        fs::remove_file(path)?;
    }
    Ok(is_old)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_that_nobody_wrote_to_for_two_weeks_go_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        let day = Duration::from_secs(24 * 60 * 60);
        for (name, age) in [
            ("hyphae-acp-1.log", 15 * day),
            ("hyphae-acp-1.log.1", 15 * day),
            ("hyphae-acp-2.log", 13 * day),
            ("agent-1.json", 15 * day),
            ("sessions-hyphae-acp-1.log.db", 15 * day),
            ("hyphae-acp-3.log.db", 15 * day),
        ] {
            let file = fs::File::create(folder.path().join(name)).unwrap();
            file.set_modified(now - age).unwrap();
        }
        assert_eq!(remove_old_logs(folder.path(), now).unwrap(), 2);
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(
            left,
            [
                "agent-1.json",
                "hyphae-acp-2.log",
                "hyphae-acp-3.log.db",
                "sessions-hyphae-acp-1.log.db"
            ]
        );
    }
}
