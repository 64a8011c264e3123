//! `reembed`: vectors of another model for all memories. Can be stopped and started again; the
//! memories are found by words meanwhile.

use std::io::{IsTerminal, Write};

use hyphae_core::ports::MemoryStore;

use super::Outcome;
use crate::{args::Reembed, config::Config, output::Printer, wiring::Wiring};

/// How many memories are embedded between two writes.
const BATCH: usize = 64;

pub(crate) async fn run(config: &Config, args: Reembed) -> anyhow::Result<Outcome> {
    let mut out = Printer::take()?;
    let wiring = Wiring::open(config, Some(args.embedder)).await?;
    let owner = wiring.owner();
    wiring.memories.choose_model(owner).await?;
    let total = wiring.store.statistics(owner).await?.stale_vectors;
    let mut done = 0;
    loop {
        let made = wiring.memories.reembed(owner, BATCH).await?;
        if made == 0 {
            break;
        }
        done += made as u64;
        progress(done, total.max(done))?;
    }
    out.line(format!("{done} memories embedded anew"))?;
    wiring.store.close().await;
    Ok(Outcome::Done)
}

fn progress(done: u64, total: u64) -> std::io::Result<()> {
    let mut err = std::io::stderr();
    if err.is_terminal() {
        write!(err, "\r{done} of {total}")?;
        if done == total {
            writeln!(err)?;
        }
    }
    Ok(())
}
