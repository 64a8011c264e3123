//! An export of ours: items go into the store as they are, in transactions of many.

use std::io::BufReader;

use hyphae_core::ports::{Item, MemoryStore, Put, TransferStore};
use hyphae_transfer::{
    Bad, Place,
    record::{Reader, Record, masked},
};

use super::{Became, Source, Tally};
use crate::wiring::Wiring;

/// Items of one transaction.
const BATCH: usize = 256;

pub(super) async fn import(
    wiring: &Wiring,
    source: Source,
    dry_run: bool,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let input = BufReader::new(tally.progress.reading(source.single()?));
    let mut reader = Reader::open(input)?;
    if let Some(model) = &reader.header().model
        && !dry_run
        && wiring.store.chosen_model(wiring.owner()).await?.is_none()
    {
        // A database without a model keeps the vectors that it is given.
        wiring.store.choose_model(wiring.owner(), model).await?;
    }
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        let record = reader.next().transpose()?;
        let ended = record.is_none();
        match record {
            Some(Record::Item { line, item }) => match masked(item) {
                Ok((item, secrets)) => {
                    tally.secrets += secrets;
                    batch.push(item);
                }
                Err(error) => tally.bad(&Bad {
                    place: Place::of_line(line),
                    why: error.to_string(),
                })?,
            },
            Some(Record::Bad(bad)) => tally.bad(&bad)?,
            None => {}
        }
        if batch.len() == BATCH || ended {
            put(wiring, &mut batch, dry_run, tally).await?;
        }
        if ended {
            return Ok(());
        }
    }
}

async fn put(
    wiring: &Wiring,
    batch: &mut Vec<Item>,
    dry_run: bool,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    if dry_run {
        batch.drain(..).for_each(|_| tally.count(Became::New));
        return Ok(());
    }
    for put in wiring.store.put_items(wiring.owner(), batch).await? {
        tally.count(match put {
            Put::New => Became::New,
            Put::Same => Became::There,
            Put::Other => Became::Other,
            Put::Taken(_) => Became::Taken,
            Put::Orphan => Became::Orphan,
        });
    }
    batch.clear();
    Ok(())
}
