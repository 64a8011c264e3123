//! `export`: everything in the database as JSON Lines, in a file that is there only when it is
//! whole. Whoever may open the database may export it.

use std::{
    fs::{self, Permissions},
    io::{self, BufWriter, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow, bail};
use hyphae_core::{
    ids::CredentialId,
    ports::{CredentialStore, Item, MemoryStore, TransferStore},
    scope::{Owner, Project},
};
use hyphae_store::Store;
use hyphae_transfer::record::{Counts, Header, Writer};
use tempfile::NamedTempFile;
use uuid::Uuid;

use super::Outcome;
use crate::{args::Export, config::Config, output, progress::Progress, stopping, wiring};

/// Items that are read at once.
const PAGE: usize = 500;

pub(crate) async fn run(config: &Config, args: Export) -> anyhow::Result<Outcome> {
    let stdout = output::take_stdout()?;
    let project = args
        .project
        .as_deref()
        .map(|name| Project::named(name).context("--project"))
        .transpose()?;
    let target = target(&args.file)?;
    let store = wiring::open_store(config).await?;
    // The tenant decides what is given out; whose credential asks does not matter here.
    let owner = Owner {
        tenant: store.default_tenant().await?,
        credential: CredentialId::new(Uuid::nil()),
    };
    let before = store.newest(owner).await?;
    let progress = Progress::of_things(None);
    let source = Source {
        store: &store,
        owner,
        project: project.as_ref(),
        args: &args,
        progress: &progress,
    };
    let written = match &target {
        Target::Stdout => {
            let out = BufWriter::new(stdout.try_clone()?);
            source.write(out).await.map(|(_, counts)| counts)
        }
        Target::File(path) => {
            let stopping = stopping::on_signals()?;
            tokio::select! {
                written = source.write_file(path) => written,
                // What was written so far is taken away.
                () = stopping.cancelled() => Err(anyhow!("stopped; nothing was exported")),
            }
        }
    };
    progress.end();
    let counts = written?;
    if project.is_some() && counts.total() == 0 {
        writeln!(io::stderr(), "error: nothing is filed under this project")?;
        return Ok(Outcome::Failed);
    }
    if store.newest(owner).await? != before {
        let note = "note: memories were stored meanwhile; for all of one moment, export again";
        writeln!(io::stderr(), "{note}")?;
    }
    store.close().await;
    if let Target::File(path) = target {
        let mut out = stdout;
        let counts: Vec<String> = counts
            .iter()
            .map(|(kind, count)| format!("{kind} {count}"))
            .collect();
        let place = path.display();
        writeln!(
            out,
            "exported to {place} (mode 0600): {}",
            counts.join(", ")
        )?;
    }
    Ok(Outcome::Done)
}

enum Target {
    Stdout,
    /// Not there, or an ordinary file.
    File(PathBuf),
}

fn target(file: &Path) -> anyhow::Result<Target> {
    if file == Path::new("-") {
        return Ok(Target::Stdout);
    }
    // What a link leads to is replaced, not the link.
    let path = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    match fs::metadata(&path) {
        Ok(there) if !there.is_file() => bail!(
            "{} is no file that can be replaced; name another one, or - for stdout",
            file.display()
        ),
        Ok(_) | Err(_) => Ok(Target::File(path)),
    }
}

struct Source<'a> {
    store: &'a Store,
    owner: Owner,
    project: Option<&'a Project>,
    args: &'a Export,
    progress: &'a Progress,
}

impl Source<'_> {
    async fn write_file(&self, path: &Path) -> anyhow::Result<Counts> {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let folder = folder.unwrap_or(Path::new("."));
        let place = || format!("the export cannot be written to {}", path.display());
        let file = NamedTempFile::new_in(folder).with_context(place)?;
        let (out, counts) = self.write(BufWriter::new(file)).await.with_context(place)?;
        let file = out.into_inner().map_err(io::IntoInnerError::into_error);
        let file = file.with_context(place)?;
        if self.project.is_some() && counts.total() == 0 {
            return Ok(counts);
        }
        file.as_file()
            .set_permissions(Permissions::from_mode(0o600))
            .and_then(|()| file.as_file().sync_all())
            .with_context(place)?;
        file.persist(path).with_context(place)?;
        Ok(counts)
    }

    async fn write<W: Write>(&self, out: W) -> anyhow::Result<(W, Counts)> {
        let header = Header {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            model: self.store.chosen_model(self.owner).await?,
        };
        let mut writer = Writer::begin(out, &header)?;
        let mut after = None;
        loop {
            let page = self
                .store
                .items(self.owner, self.project, after.as_ref(), PAGE);
            let page = page.await?;
            let Some((last, _)) = page.last() else { break };
            after = Some(last.clone());
            self.progress.advance(page.len() as u64);
            for (_, item) in page {
                if let Some(item) = self.wanted(item) {
                    writer.write(&item)?;
                }
            }
        }
        Ok(writer.finish()?)
    }

    fn wanted(&self, item: Item) -> Option<Item> {
        if self.args.no_audit && matches!(item, Item::Audit(_)) {
            return None;
        }
        let mut item = item;
        if let Item::Cell(kept) = &mut item
            && self.args.no_vectors
        {
            kept.vector = None;
        }
        Some(item)
    }
}
