//! What storing and recalling cost on a server, beside the file and beside plain SQL, in one run.
//!
//! ```text
//! tests/postgres/run cargo bench -p hyphae-server --bench team
//! HYPHAE_BENCH_SIZES=1000,10000     other sizes of the project (default: 1000,10000,100000)
//! ```
//!
//! A server of its own, as durable as servers are, on the same disk as the file; by a Unix socket.
//! Everything that is called "store" and "recall" is a whole [`Memories::store`] or
//! [`Memories::recall`] by turns on both; vectors are looked up, so that embedding costs nothing.
//! Plain SQL is `pgbench` in the same database: the rows and the lock of a store in one
//! transaction; the reads of a recall; and the nearest ten by pgvector's exact plan.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a measurement's output, and the programs that it starts"
)]

#[path = "../recall_speed/corpus.rs"]
mod corpus;
mod crowd;
#[expect(dead_code, reason = "the other bench prints more of them")]
#[path = "../recall_speed/figures.rs"]
mod figures;
#[expect(dead_code, reason = "the other bench fills more")]
#[path = "../recall_speed/filling.rs"]
mod filling;
#[path = "../recall_speed/known.rs"]
mod known;
mod places;
mod plain;

use std::{path::PathBuf, sync::Arc};

use anyhow::Context;
use hyphae_core::{
    audit::Via,
    memories::{Memories, NewMemory, Outcome},
    scope::Scope,
};
use hyphae_testkit::postgres::{Release, Server};

use corpus::{Corpus, Drawn};
use figures::{Times, quantile};
use known::{Known, asked, memories};
use places::Place;

const DIMENSION: usize = 384;
const RECALLS: u64 = 300;
const STORES: u64 = 300;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some("--member") {
        return crowd::member(arguments).await;
    }
    let sizes = std::env::var("HYPHAE_BENCH_SIZES");
    let sizes: Vec<u64> = sizes
        .as_deref()
        .unwrap_or("1000,10000,100000")
        .split(',')
        .map(str::parse)
        .collect::<Result<_, _>>()
        .context("HYPHAE_BENCH_SIZES is numbers with commas between them")?;
    let folder = tempfile::tempdir()?;
    for size in sizes {
        let mut server = Server::new(Release::Newest, &["-A", "trust"])
            .context("no server: use tests/postgres/run")?;
        // What a small server of today is given.
        server.start("-c shared_buffers=512MB -c max_connections=120 -c max_wal_size=4GB");
        let file: PathBuf = folder.path().join(format!("{size}.db"));
        let places = [Place::File(file), Place::Server(server.url())];
        let corpus = Corpus::new(DIMENSION);
        for place in &places {
            let seconds = places::fill(place, &corpus, size).await?;
            eprintln!("{size} memories {} in {seconds:.0} s", place.name());
        }
        let bin = Release::Newest.binaries().context("no binaries")?;
        let plain = plain::Plain::prepare(&server, bin, size)?;
        println!("\n## {size} memories in the project\n");
        println!("| what | p50 | p95 | p50 / the file's |");
        println!("|---|---|---|---|");
        let [file, server] = alone(&places, &corpus, size).await?;
        row("recall, file", &file.recall, None);
        row("recall, server", &server.recall, Some(&file.recall));
        row(
            "its reads in plain SQL",
            &plain.recall(1)?,
            Some(&file.recall),
        );
        row(
            "nearest ten by pgvector's exact plan",
            &plain.nearest()?,
            Some(&file.recall),
        );
        row("store, file", &file.store, None);
        row("store, server", &server.store, Some(&file.store));
        println!("\n16 processes at once:\n");
        println!("| what | p50 | p95 | a second |");
        println!("|---|---|---|---|");
        for place in &places {
            let crowd = crowd::measure(place, size)?;
            crowd.print(place.name());
        }
        let times = plain.recall(16)?;
        crowd::print("recall's reads in plain SQL", &times, plain::SECONDS);
        // What plain SQL stores is no memory: nothing is recalled behind it.
        let times = plain.store(16)?;
        crowd::print("store's rows in plain SQL", &times, plain::SECONDS);
        println!("\nAlone again:\n");
        println!("| what | p50 | p95 | p50 / the file's |");
        println!("|---|---|---|---|");
        row(
            "store's rows in plain SQL",
            &plain.store(1)?,
            Some(&file.store),
        );
    }
    Ok(())
}

/// Milliseconds of single calls.
#[derive(Debug, Default)]
struct Alone {
    recall: Vec<f64>,
    store: Vec<f64>,
}

/// Recalls and stores by turns in both places.
async fn alone(places: &[Place; 2], corpus: &Corpus, size: u64) -> anyhow::Result<[Alone; 2]> {
    let questions: Vec<Drawn> = (0..RECALLS)
        .map(|n| corpus.question(n * 397 % size))
        .collect();
    let new: Vec<Drawn> = (0..STORES).map(|n| corpus.memory(size + n)).collect();
    let known = Arc::new(Known::new(questions.iter().chain(&new)));
    let mut open: Vec<(Memories, Scope)> = Vec::new();
    for place in places {
        let (store, owner) = place.open().await?;
        let scope = owner.in_project(places::project()?);
        open.push((memories(store, &known), scope));
    }
    let mut times = [(); 2].map(|()| (Times::default(), Times::default()));
    for (memories, scope) in &open {
        memories.recall(scope, &asked(&questions[0])).await?;
    }
    for question in &questions {
        let mut found = Vec::new();
        for ((memories, scope), (recalls, _)) in open.iter().zip(&mut times) {
            let recalled = recalls
                .take(memories.recall(scope, &asked(question)))
                .await?;
            let texts = recalled.matches.into_iter();
            found.push(
                texts
                    .map(|hit| (hit.cell.content, hit.distance))
                    .collect::<Vec<_>>(),
            );
        }
        anyhow::ensure!(
            found[0] == found[1] && !found[0].is_empty(),
            "the hits differ"
        );
    }
    for memory in &new {
        for ((memories, scope), (_, stores)) in open.iter().zip(&mut times) {
            let memory = NewMemory::new(memory.text.clone());
            let stored = stores
                .take(memories.store(scope, memory, &Via::default()))
                .await?;
            anyhow::ensure!(stored.outcome == Outcome::Created, "a memory was not new");
        }
    }
    Ok(times.map(|(recalls, stores)| Alone {
        recall: recalls.wall,
        store: stores.wall,
    }))
}

fn row(name: &str, times: &[f64], beside: Option<&[f64]>) {
    let (p50, p95) = (quantile(times, 0.5), quantile(times, 0.95));
    let ratio = beside.map_or(String::new(), |beside| {
        format!("{:.2}", p50 / quantile(beside, 0.5))
    });
    println!("| {name} | {p50:.2} ms | {p95:.2} ms | {ratio} |");
}
