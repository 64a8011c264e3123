//! `acp -- COMMAND`: any ACP agent for an editor, each session a process of its own.

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::Context;
use hyphae_acp::{Supervisor, SupervisorOptions};
use hyphae_keeper::Keepers;

use super::Outcome;
use crate::{args::Acp, clock::SystemClock, config::Config, files, output, stdio, stopping};

/// How much may wait for an editor that reads slowly, in bytes.
const OUTBOX_BYTES: usize = 1 << 20;

/// How long an agent may take to end when this process was killed: it and its kin are to be gone
/// within five seconds.
const ORPHAN_GRACE: Duration = Duration::from_secs(3);

pub(crate) async fn run(config: &Config, args: Acp) -> anyhow::Result<Outcome> {
    // Whatever prints from here on, a library included, cannot reach the wire.
    let wire = output::take_stdout()?;
    let folder = config.state_dir.join("acp");
    files::make_private_folder(&folder)?;
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
        learned: folder,
        directory: std::env::current_dir().context("the directory that this was started in")?,
    };
    // The same binary even after an update has replaced it.
    let keepers = Keepers::new(PathBuf::from("/proc/self/exe"))?;
    let supervisor = Supervisor::new(keepers, Arc::new(SystemClock::default()), options);

    let shutdown = stopping::on_signals()?;
    let ended = supervisor
        .serve(stdio::input(), stdio::output(wire), shutdown)
        .await?;
    tracing::info!(?ended, "the connection ended");
    Ok(Outcome::Done)
}
