//! `copy`: everything from one database into another, whichever kind each is of. Whoever may open
//! both may do so.

use std::io::{self, Write as _};

use anyhow::{anyhow, bail};
use hyphae_core::{
    ids::CredentialId,
    ports::{CredentialStore, Item, MemoryStore, Put, TransferStore},
    scope::Owner,
};
use hyphae_store::Store;
use uuid::Uuid;

use super::Outcome;
use crate::{args::Copy, config::Database, output::Printer, progress::Progress, stopping, wiring};

/// What does not travel. A key's hash means something only in the database that made it.
const NOT_COPIED: &str = "keys and conversations stay where they are: who shall use the copy needs \
    a key of `hyphae-server keys create --name NAME` made in";

/// Items of one transaction.
const BATCH: usize = 256;

pub(crate) async fn run(args: Copy) -> anyhow::Result<Outcome> {
    let mut out = Printer::take()?;
    let from = Database::named("--from", &args.from)?;
    let to = Database::named("--to", &args.to)?;
    if from == to {
        bail!("--from and --to name the same database");
    }
    let source = End::of(wiring::open_database(&from).await?).await?;
    let target = End::of(wiring::create_database(&to).await?).await?;
    // A database without a model keeps the vectors that it is given.
    if target.store.chosen_model(target.owner).await?.is_none()
        && let Some(model) = source.store.chosen_model(source.owner).await?
    {
        target.store.choose_model(target.owner, &model).await?;
    }
    let progress = Progress::of_things(None);
    let stopping = stopping::on_signals()?;
    let copied = tokio::select! {
        copied = copy_and_check(&source, &target, &progress) => copied,
        () = stopping.cancelled() => Err(anyhow!("stopped; run it again to go on")),
    };
    progress.end();
    let copied = copied?;
    source.store.close().await;
    target.store.close().await;
    out.line(format!(
        "{} copied, {} were there, all of them checked: {from} to {to}",
        copied.new, copied.same
    ))?;
    if copied.new > 0 {
        out.line(format!("{NOT_COPIED} {to}"))?;
    }
    if copied.other == 0 {
        return Ok(Outcome::Done);
    }
    let others = copied.other;
    writeln!(
        io::stderr(),
        "error: {others} are not there, because something else stands in their place"
    )?;
    Ok(Outcome::Failed)
}

/// A database and whose memories are copied.
#[derive(Debug)]
struct End {
    store: Store,
    owner: Owner,
}

impl End {
    async fn of(store: Store) -> anyhow::Result<Self> {
        // The tenant decides what is given out; whose credential asks does not matter here.
        let owner = Owner {
            tenant: store.default_tenant().await?,
            credential: CredentialId::new(Uuid::nil()),
        };
        Ok(Self { store, owner })
    }
}

/// What became of the items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    new: u64,
    same: u64,
    other: u64,
}

/// Copies everything, and then everything once more: by then all of it must be there.
async fn copy_and_check(source: &End, target: &End, progress: &Progress) -> anyhow::Result<Counts> {
    let copied = copy(source, target, progress).await?;
    let checked = copy(source, target, progress).await?;
    if checked.other != copied.other {
        bail!("what was copied is not what is there; run it again");
    }
    Ok(copied)
}

async fn copy(source: &End, target: &End, progress: &Progress) -> anyhow::Result<Counts> {
    let mut counts = Counts::default();
    let mut after = None;
    loop {
        let page = source
            .store
            .items(source.owner, None, after.as_ref(), BATCH);
        let page = page.await?;
        let Some((last, _)) = page.last() else {
            return Ok(counts);
        };
        after = Some(last.clone());
        let items: Vec<Item> = page.into_iter().map(|(_, item)| item).collect();
        for put in target.store.put_items(target.owner, &items).await? {
            match put {
                Put::New => counts.new += 1,
                Put::Same => counts.same += 1,
                Put::Other | Put::Taken(_) | Put::Orphan => counts.other += 1,
            }
        }
        progress.advance(items.len() as u64);
    }
}
