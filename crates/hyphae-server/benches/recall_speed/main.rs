//! What a recall costs beyond embedding the question, beside numpy and FTS5 in the same run.
//!
//! ```text
//! cargo bench -p hyphae-server --bench recall_speed
//! HYPHAE_BENCH_CELLS=1000000 HYPHAE_BENCH_DIR=/dev/shm … for the figures in docs/measurements.md
//! HYPHAE_BENCH_PYTHON=…/bin/python                       a Python with numpy
//! HYPHAE_BENCH_STORE=FILE                                kept, and taken again by the next run
//! ```
//!
//! Everything called "recall" is a whole [`Memories::recall`] over a real SQLite store. CPU time is
//! that of all threads of the process. Memories are drawn: Zipf words, vectors with subjects. A
//! question's vector is looked up, so that embedding it costs nothing. `HYPHAE_BENCH_DIR` (default:
//! the system's folder for temporary files) holds the large store; memories that are stored one by
//! one, with full durability, always lie in the system's folder.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measurement's output"
)]

mod baseline;
mod corpus;
mod figures;
mod filling;
mod known;
mod storing;

use std::{path::PathBuf, sync::Arc};

use anyhow::Context;
use hyphae_core::{
    cell::Fingerprint,
    ids::CellId,
    ports::{Embedder, MemoryStore, Sequence},
    recall::{self, Filter, ProjectIndex, Query, Scoring, When},
};
use jiff::Timestamp;

use baseline::Baseline;
use corpus::{Corpus, Drawn};
use figures::{Times, cpu_ms, median, spread};
use filling::{Filled, Part};
use known::{Known, asked, memories};

const DIMENSION: usize = 384;
const ROUNDS: usize = 5;
const QUESTIONS_A_ROUND: usize = 40;

const PARTS: [Part<'static>; 3] = [
    Part {
        project: "/srv/small",
        size: 1_400,
        first: 0,
    },
    Part {
        project: "/srv/medium",
        size: 10_000,
        first: 1_000_000,
    },
    Part {
        project: "/srv/large",
        size: 100_000,
        first: 2_000_000,
    },
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let cells: u64 = match std::env::var("HYPHAE_BENCH_CELLS") {
        Ok(text) => text.parse().context("HYPHAE_BENCH_CELLS is a number")?,
        Err(_) => 200_000,
    };
    let folder = match std::env::var_os("HYPHAE_BENCH_DIR") {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
    let path = match std::env::var_os("HYPHAE_BENCH_STORE") {
        Some(path) => PathBuf::from(path),
        None => folder.path().join("bench.db"),
    };
    storing::embedding().await?;
    storing::storing().await?;

    let corpus = Corpus::new(DIMENSION);
    let questions = Questions::new(&corpus);
    let filled = filling::fill(&path, &corpus, &Known::chosen(), &PARTS, cells).await?;
    println!("\n{cells} cells in one store");
    nothing_to_recall(&filled, &questions).await?;
    for part in PARTS {
        first_recalls(&filled, part, &questions).await?;
    }
    for part in PARTS {
        recalls(&filled, part, &corpus, &questions).await?;
        parts_of_a_recall(&filled, part, &questions).await?;
    }
    Ok(())
}

/// A whole recall in a project without memories: all but the scan and the reading of cells.
async fn nothing_to_recall(filled: &Filled, questions: &Questions) -> anyhow::Result<()> {
    let memories = memories(filled.open().await?, &questions.embedder);
    let scope = filled.scope("/srv/empty")?;
    let mut times = Times::default();
    for question in questions.of(PARTS[0]).iter().cycle().take(500) {
        let recalled = times
            .take(memories.recall(&scope, &asked(question)))
            .await?;
        anyhow::ensure!(recalled.matches.is_empty(), "an empty project answers");
    }
    println!(
        "recall in an empty project                CPU {}",
        spread(&times.cpu)
    );
    println!(
        "                                         wall {}",
        spread(&times.wall)
    );
    Ok(())
}

/// The first recall of a process, which fills the index; the file is in the system's memory.
async fn first_recalls(
    filled: &Filled,
    part: Part<'_>,
    questions: &Questions,
) -> anyhow::Result<()> {
    let rounds = if part.size > 50_000 { 5 } else { 15 };
    let scope = filled.scope(part.project)?;
    let mut times = Times::default();
    for question in questions.of(part).iter().take(rounds) {
        let memories = memories(filled.open().await?, &questions.embedder);
        let recalled = times
            .take(memories.recall(&scope, &asked(question)))
            .await?;
        anyhow::ensure!(!recalled.matches.is_empty(), "nothing was found");
    }
    println!(
        "first recall, {:>7} cells               CPU {}",
        part.size,
        spread(&times.cpu)
    );
    println!(
        "                                         wall {}",
        spread(&times.wall)
    );
    Ok(())
}

/// Recalls by turns with the baselines.
async fn recalls(
    filled: &Filled,
    part: Part<'_>,
    corpus: &Corpus,
    questions: &Questions,
) -> anyhow::Result<()> {
    let memories = memories(filled.open().await?, &questions.embedder);
    let scope = filled.scope(part.project)?;
    let questions = questions.of(part);
    let drawn = (0..part.size).map(|n| corpus.memory(part.first + n));
    let mut baseline = Baseline::start(drawn, questions, DIMENSION)?;
    memories.recall(&scope, &asked(&questions[0])).await?;
    baseline.round(0, 3)?;

    let mut all = Times::default();
    let (mut scan, mut words) = (Vec::new(), Vec::new());
    let (mut to_scan, mut to_words) = (Vec::new(), Vec::new());
    let mut found = 0;
    for round in 0..ROUNDS {
        let first = round * QUESTIONS_A_ROUND;
        let mut times = Times::default();
        for (n, question) in questions
            .iter()
            .enumerate()
            .skip(first)
            .take(QUESTIONS_A_ROUND)
        {
            let recalled = times
                .take(memories.recall(&scope, &asked(question)))
                .await?;
            let about = format!("case{}", subject(part, n));
            let is_it = |text: &str| text.rsplit(' ').next() == Some(&about);
            found += usize::from(
                recalled
                    .matches
                    .iter()
                    .any(|m| is_it(m.cell.content.as_str())),
            );
        }
        let other = baseline.round(first, QUESTIONS_A_ROUND)?;
        to_scan.push(median(&times.cpu) / median(&other.scan));
        to_words.push(median(&times.cpu) / median(&other.words));
        all.cpu.extend(times.cpu);
        all.wall.extend(times.wall);
        scan.extend(other.scan);
        words.extend(other.words);
    }
    println!("\nproject of {} cells, {}", part.size, baseline.versions);
    println!(
        "recall                                    CPU {}",
        spread(&all.cpu)
    );
    println!(
        "                                         wall {}",
        spread(&all.wall)
    );
    println!(
        "  (found what the question is about       {found} of {})",
        all.cpu.len()
    );
    println!(
        "numpy, exact scan of f32, best 10         CPU {}",
        spread(&scan)
    );
    println!(
        "FTS5 alone, best 10                       CPU {}",
        spread(&words)
    );
    for (name, ratios) in [("numpy's scan", to_scan), ("FTS5", to_words)] {
        println!(
            "recall / {name:<12}                     {:.2} (median of {} rounds; {:.2} to {:.2})",
            median(&ratios),
            ratios.len(),
            figures::quantile(&ratios, 0.0),
            figures::quantile(&ratios, 1.0),
        );
    }
    Ok(())
}

/// What the parts of a recall cost, each on its own.
async fn parts_of_a_recall(
    filled: &Filled,
    part: Part<'_>,
    questions: &Questions,
) -> anyhow::Result<()> {
    let store = filled.open().await?;
    let scope = filled.scope(part.project)?;
    let scoring = Scoring::for_model(&questions.embedder.model().calibration);
    let mut index = ProjectIndex::new(DIMENSION);
    loop {
        let changes = store
            .changes(&scope, index.upto(), 4096, &Known::chosen())
            .await?;
        if changes.is_empty() {
            break;
        }
        index.apply(changes);
    }
    println!(
        "  its parts, CPU; index of {} MB",
        index.bytes() / 1_000_000
    );
    let upto: Sequence = index.upto();
    let (mut changes, mut cells) = (Times::default(), Times::default());
    let (mut terms_of, mut search, mut words_only) = (Vec::new(), Vec::new(), Vec::new());
    let filter = Filter::at(When::Now(Timestamp::now()));
    let model = Known::chosen();
    for question in questions.of(part) {
        changes
            .take(store.changes(&scope, upto, 4096, &model))
            .await?;
        let before = cpu_ms();
        let terms = recall::terms_of(&question.text);
        terms_of.push(cpu_ms() - before);
        let query = Query {
            vector: Some(&question.vector),
            terms: &terms,
            fingerprint: Fingerprint::of(&question.text),
            filter: &filter,
            k: 10,
        };
        let before = cpu_ms();
        let hits = index.search(&query, &scoring);
        search.push(cpu_ms() - before);
        let by_words = Query {
            vector: None,
            ..query
        };
        let before = cpu_ms();
        std::hint::black_box(index.search(&by_words, &scoring));
        words_only.push(cpu_ms() - before);
        let ids: Vec<CellId> = hits.iter().map(|hit| hit.id).collect();
        cells.take(store.cells(&scope, &ids)).await?;
    }
    println!(
        "    the question's words                      {}",
        spread(&terms_of)
    );
    println!(
        "    no change in the store                    {}",
        spread(&changes.cpu)
    );
    println!(
        "    search of the index                       {}",
        spread(&search)
    );
    println!(
        "    (the same by words alone)                 {}",
        spread(&words_only)
    );
    println!(
        "    ten cells by id                           {}",
        spread(&cells.cpu)
    );
    Ok(())
}

/// Questions about each part.
#[derive(Debug)]
struct Questions {
    embedder: Arc<Known>,
    of_parts: Vec<(u64, Vec<Drawn>)>,
}

impl Questions {
    fn new(corpus: &Corpus) -> Self {
        let of_parts: Vec<(u64, Vec<Drawn>)> = PARTS
            .iter()
            .map(|part| {
                let numbers = 0..ROUNDS * QUESTIONS_A_ROUND;
                let drawn = numbers.map(|n| corpus.question(subject(*part, n)));
                (part.first, drawn.collect())
            })
            .collect();
        let all = of_parts.iter().flat_map(|(_, questions)| questions);
        Self {
            embedder: Arc::new(Known::new(all)),
            of_parts,
        }
    }

    fn of(&self, part: Part<'_>) -> &[Drawn] {
        self.of_parts
            .iter()
            .find(|(first, _)| *first == part.first)
            .map_or(&[], |(_, questions)| questions)
    }
}

/// Which memory the `n`th question is about.
fn subject(part: Part<'_>, n: usize) -> u64 {
    part.first + n as u64 * 397 % part.size
}
