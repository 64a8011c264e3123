//! A client that does not read while an agent produces 200,000 pieces of 1 KB.

use std::{path::Path, sync::Arc, thread, time::Duration};

use hyphae_acp::{DirectoryProjects, Host, HostOptions};
use hyphae_store::{SqliteOptions, Store};
use hyphae_testkit::{ManualClock, ScriptedAgent};
use tokio_util::sync::CancellationToken;

use crate::{
    agent::{Agent, Recipe},
    filling,
};

const PIECES: usize = 200_000;
const PIECE_BYTES: usize = 1024;

/// The session host of the program with an agent that produces whatever it is asked for, and
/// transcripts on disk.
pub(crate) async fn host(database: &Path) -> anyhow::Result<()> {
    let store = Store::create_file(database, SqliteOptions::default()).await?;
    let owner = filling::owner(&store).await?;
    let host = Host::new(
        Arc::new(ScriptedAgent::default()),
        Arc::new(store),
        Arc::new(ManualClock::default()),
        owner,
        Arc::new(DirectoryProjects),
        HostOptions::default(),
    );
    #[expect(clippy::disallowed_methods, reason = "this process is a wire, too")]
    let wire = tokio::io::stdout();
    host.serve(tokio::io::stdin(), wire, CancellationToken::new())
        .await?;
    Ok(())
}

/// Peaks of resident memory in MiB: when all is produced that can be, and after all was read.
#[derive(Debug)]
pub(crate) struct Peaks {
    pub(crate) unread: f64,
    pub(crate) read: f64,
}

pub(crate) fn measure(recipe: &Recipe) -> anyhow::Result<Peaks> {
    let (mut agent, _) = Agent::start(recipe)?;
    let session = agent.session()?;
    let turn = agent.send_prompt(&session, &format!("stream {PIECES} {PIECE_BYTES}"))?;
    // It has produced what it can once it computes no more.
    let (mut last, mut quiet) = (agent.cpu_ms()?, 0);
    while quiet < 20 {
        thread::sleep(Duration::from_millis(100));
        let now = agent.cpu_ms()?;
        quiet = if now - last < 1.0 { quiet + 1 } else { 0 };
        last = now;
    }
    let unread = agent.memory()?.peak;
    let bytes = agent.end_of_turn(turn)?;
    anyhow::ensure!(bytes == PIECES * PIECE_BYTES, "{bytes} bytes came");
    let read = agent.memory()?.peak;
    agent.end()?;
    Ok(Peaks { unread, read })
}
