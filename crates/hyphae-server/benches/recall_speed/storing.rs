//! What embedding and storing one memory cost with the models of the program.

use std::sync::Arc;

use anyhow::Context;
use hyphae_core::{
    audit::Via,
    memories::{Memories, NewMemory, Outcome},
    ports::Embedder,
    scope::Project,
};
use hyphae_embed::BuiltIn;
use hyphae_store::{SqliteOptions, Store};
use hyphae_testkit::WallClock;

use crate::figures::{Times, median, spread};

const MEMORIES: usize = 500;

fn models() -> [(&'static str, Arc<dyn Embedder>); 2] {
    [
        ("minilm", Arc::new(BuiltIn::minilm())),
        ("static", Arc::new(BuiltIn::static_table())),
    ]
}

/// Embeds one text a call, as a recall does.
pub(crate) async fn embedding() -> anyhow::Result<()> {
    let texts = texts();
    let words: usize = texts.iter().map(|text| text.split(' ').count()).sum();
    println!("one text of {} words on average", words / texts.len());
    for (name, model) in models() {
        model.embed(vec![texts[0].clone()]).await?;
        let mut times = Times::default();
        for text in texts.iter().take(200) {
            times.take(model.embed(vec![text.clone()])).await?;
        }
        println!(
            "embed, {name}                             CPU {}",
            spread(&times.cpu)
        );
    }
    Ok(())
}

/// Stores memories one by one, each on disk before the next, beside appends that are synced.
pub(crate) async fn storing() -> anyhow::Result<()> {
    println!("\n{MEMORIES} memories into a new project, each durable before the next");
    for (name, model) in models() {
        let folder = tempfile::tempdir()?;
        let store =
            Store::create_file(&folder.path().join("bench.db"), SqliteOptions::default()).await?;
        let owner = crate::filling::owner(&store).await?;
        let memories = Memories::new(Arc::new(store), model, Arc::new(WallClock));
        let scope = owner.in_project(Project::named("/srv/new")?);
        let (mut times, mut syncs) = (Times::default(), Times::default());
        let mut file = std::fs::File::create(folder.path().join("appended"))?;
        let mut created = 0;
        for text in texts().into_iter().take(MEMORIES) {
            let stored = times
                .take(memories.store(&scope, NewMemory::new(text), &Via::default()))
                .await?;
            created += usize::from(stored.outcome == Outcome::Created);
            syncs.take(async { append(&mut file) }).await?;
        }
        println!(
            "store, {name} ({created} created)              wall {}",
            spread(&times.wall)
        );
        println!(
            "                                          CPU {}",
            spread(&times.cpu)
        );
        println!(
            "  4 KB appended to a file and synced     wall {}",
            spread(&syncs.wall)
        );
        println!(
            "  store / append                              {:.2}",
            median(&times.wall) / median(&syncs.wall)
        );
    }
    Ok(())
}

fn append(file: &mut std::fs::File) -> anyhow::Result<()> {
    use std::io::Write;
    file.write_all(&[7; 4096])?;
    file.sync_data().context("the file cannot be synced")
}

/// Texts of four sentences that people could have stored, about 30 words each.
fn texts() -> Vec<String> {
    let sentences: Vec<&str> = include_str!("../../../hyphae-embed/calibration/pairs.tsv")
        .lines()
        .flat_map(|line| line.split('\t'))
        .collect();
    let count = sentences.len();
    (0..MEMORIES)
        .map(|n| {
            let picked = (0..4).map(|k| sentences[(n * 9 + k * (n / count + 1)) % count]);
            picked.collect::<Vec<_>>().join(". ")
        })
        .collect()
}
