//! `mcp-stdio`: the memory as tools for an agent, on stdin and stdout.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use anyhow::Context;
use async_trait::async_trait;
use hyphae_core::{ports::StoreError, scope::Project};
use hyphae_mcp::{CannotOpen, McpServer, OpenMemory, OpenedMemory, Projects};

use super::{Outcome, acp_stdio::write_touched};
use crate::{
    args::{Embedder, McpStdio},
    config::Config,
    output,
    projects::Links,
    secrets::{self, FoundKey},
    stdio, stopping,
    wiring::{Refused, Wiring},
};

pub(crate) async fn run(config: Config, args: McpStdio) -> anyhow::Result<Outcome> {
    // Whatever prints from here on, a library included, cannot reach the wire.
    let wire = output::take_stdout()?;
    let found = secrets::find_key(&config)?;
    let projects = KnownProjects::of(&config)?;
    let opener = Opener {
        config,
        found,
        embedder: args.embedder,
    };
    let server = McpServer::new(
        Arc::new(opener),
        Arc::new(projects),
        env!("CARGO_PKG_VERSION"),
    );
    let shutdown = stopping::on_signals()?;
    let served = hyphae_mcp::serve(&server, stdio::input(), stdio::output(wire), shutdown).await;
    if let Some(memory) = server.opened()
        && let Err(error) = memory.memories.write_touched().await
    {
        tracing::info!(%error, "last accesses were not written");
    }
    served?;
    Ok(Outcome::Done)
}

/// Opens the memory when it is needed.
#[derive(Debug)]
struct Opener {
    config: Config,
    found: FoundKey,
    embedder: Option<Embedder>,
}

#[async_trait]
impl OpenMemory for Opener {
    async fn open(&self) -> Result<OpenedMemory, CannotOpen> {
        let wiring = Wiring::open_with(&self.config, &self.found, self.embedder)
            .await
            .map_err(cannot_open)?;
        tokio::spawn(write_touched(Arc::clone(&wiring.memories)));
        Ok(OpenedMemory {
            memories: wiring.memories,
            credential: wiring.credential,
            credentials: Arc::new(wiring.store),
        })
    }
}

fn cannot_open(error: anyhow::Error) -> CannotOpen {
    match error.downcast::<StoreError>() {
        Ok(error) => CannotOpen::Store(error),
        Err(error) if error.is::<Refused>() => CannotOpen::Unauthorized {
            message: format!("{error:#}"),
        },
        Err(error) => CannotOpen::Other {
            message: format!("{error:#}"),
        },
    }
}

/// The project that this process is about, and those that its user named.
#[derive(Debug)]
struct KnownProjects {
    own: Project,
    links: Links,
    warning: Option<String>,
}

impl KnownProjects {
    fn of(config: &Config) -> anyhow::Result<Self> {
        let here = std::env::current_dir()
            .and_then(|here| here.canonicalize())
            .context("the directory that this process was started in")?;
        let links = Links::read(&config.project_links())?;
        let own = match &config.project {
            Some(project) => project.clone(),
            None => links.project_of(&here),
        };
        // Clients with windows but without a folder start their servers there.
        let nowhere = here.parent().is_none() || here == config.home;
        let warning = (nowhere && own == Project::of_directory(&here)).then(|| {
            format!(
                "{own} is no project, only where the client started hyphae-server; set HYPHAE_PROJECT in the client's configuration"
            )
        });
        Ok(Self {
            own,
            links,
            warning,
        })
    }
}

impl Projects for KnownProjects {
    fn of_process(&self) -> &Project {
        &self.own
    }

    fn named(&self, name: &str) -> Option<Project> {
        if let Some(known) = self
            .names()
            .into_iter()
            .find(|known| known.as_str() == name)
        {
            return Some(known);
        }
        let directory = Path::new(name);
        if !directory.is_absolute() || !directory.is_dir() {
            return None;
        }
        Some(self.links.project_of(&directory.canonicalize().ok()?))
    }

    fn names(&self) -> Vec<Project> {
        let linked = self.links.iter().map(|(_, name)| name);
        let names: BTreeSet<_> = linked.chain([&self.own]).cloned().collect();
        names.into_iter().collect()
    }

    fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }
}
