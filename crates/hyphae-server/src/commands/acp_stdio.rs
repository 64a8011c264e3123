//! `acp-stdio`: the memory console for an editor, on stdin and stdout.

use std::{sync::Arc, time::Duration};

use hyphae_acp::{HostOptions, Unstable};
use hyphae_core::memories::Memories;

use super::Outcome;
use crate::{
    args::AcpStdio,
    config::Config,
    output, stdio, stopping,
    wiring::{ProjectNames, Wiring},
};

/// How long the database may take to close.
const CLOSING: Duration = Duration::from_millis(90);

pub(crate) async fn run(config: &Config, args: AcpStdio) -> anyhow::Result<Outcome> {
    // Whatever prints from here on, a library included, cannot reach the wire.
    let wire = output::take_stdout()?;
    let wiring = Wiring::open_at_first_sight(config, args.embedder).await?;
    let projects = ProjectNames::of(config)?;
    let options = HostOptions {
        frame_limit: args.max_frame_bytes,
        unstable: if args.unstable {
            Unstable::Offered
        } else {
            Unstable::Hidden
        },
        ..HostOptions::default()
    };
    let host = wiring.console_host(projects, options);
    let shutdown = stopping::on_signals()?;
    let touching = tokio::spawn(write_touched(Arc::clone(&wiring.memories)));
    let served = host
        .serve(stdio::input(), stdio::output(wire), shutdown)
        .await;
    touching.abort();
    match wiring.memories.write_touched().await {
        Ok(()) => {}
        Err(error) => tracing::info!(%error, "last accesses were not written"),
    }
    // The log goes into the file. A slow disk must not hold a process that nobody needs any more.
    let _late = tokio::time::timeout(CLOSING, wiring.store.close()).await;
    let ended = served?;
    tracing::info!(?ended, "the connection ended");
    Ok(Outcome::Done)
}

/// Writes last accesses in batches, off the answer path: what is read within a moment of each
/// other is written together.
pub(super) async fn write_touched(memories: Arc<Memories>) {
    const GATHER: Duration = Duration::from_secs(2);
    loop {
        memories.touched().await;
        tokio::time::sleep(GATHER).await;
        if let Err(error) = memories.write_touched().await {
            tracing::info!(%error, "last accesses were not written");
        }
    }
}
