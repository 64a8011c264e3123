//! Measures the cosines that a model's calibration is chosen from.
//!
//!     cargo run --release -p hyphae-embed --example calibrate -- corpus.txt
//!
//! The file has sentences that have nothing to do with the questions of `calibration/pairs.tsv`; the
//! first 1,500 are used (`scripts/embed/corpus.py` writes one).
#![expect(clippy::print_stdout, reason = "a measurement's output")]

use std::error::Error;
use std::fs;

use hyphae_core::ports::Embedder;
use hyphae_embed::BuiltIn;

fn main() -> Result<(), Box<dyn Error>> {
    let corpus = std::env::args_os()
        .nth(1)
        .ok_or("give a file of sentences")?;
    let corpus = fs::read_to_string(corpus)?;
    let unrelated: Vec<String> = corpus.lines().take(1500).map(str::to_owned).collect();
    for model in [BuiltIn::minilm(), BuiltIn::static_table()] {
        println!("{}", model.model().id);
        let (memories, questions) = pairs(&model, include_str!("../calibration/pairs.tsv"), "")?;
        let unrelated = model.embed_blocking(&unrelated)?;
        let answers: Vec<f32> = memories
            .iter()
            .zip(&questions)
            .map(|(a, b)| cosine(a, b))
            .collect();
        let others: Vec<f32> = questions
            .iter()
            .flat_map(|q| unrelated.iter().map(|u| cosine(q, u)))
            .collect();
        let crossed = questions.iter().enumerate().flat_map(|(n, question)| {
            let memories = memories.iter().enumerate().filter(move |(m, _)| *m != n);
            memories.map(|(_, memory)| cosine(question, memory))
        });
        let ranks = ranks(&memories, &questions, &unrelated);
        let share = |most: usize| {
            ranks.iter().filter(|rank| **rank < most).count() as f64 / ranks.len() as f64
        };
        println!(
            "  its memory is first: {:.3}, of the first ten: {:.3}",
            share(1),
            share(10)
        );
        for (name, cosines) in [("its memory", &answers), ("any sentence", &others)] {
            for least in [0.14, 0.18, 0.22, 0.3, 0.4, 0.45] {
                let count = cosines.iter().filter(|cosine| **cosine >= least).count();
                print!(
                    "  {:.2} % from {least}",
                    100.0 * count as f64 / cosines.len() as f64
                );
            }
            println!(" of questions and {name}");
        }
        show("question, its memory", answers);
        show("question, any sentence", others);
        show("question, other memory", crossed.collect());
        for kind in ["same", "other"] {
            let (a, b) = pairs(&model, include_str!("../calibration/edits.tsv"), kind)?;
            let cosines: Vec<f32> = a.iter().zip(&b).map(|(a, b)| cosine(a, b)).collect();
            for least in [0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.995] {
                let count = cosines.iter().filter(|cosine| **cosine >= least).count();
                print!("  {count} from {least}");
            }
            println!();
            show(&format!("edits, {kind}"), cosines);
        }
    }
    Ok(())
}

/// Returns how many memories and unrelated sentences are closer to each question than its memory.
fn ranks(memories: &Vectors, questions: &Vectors, unrelated: &Vectors) -> Vec<usize> {
    let rank = |(question, memory): (&Vec<f32>, &Vec<f32>)| {
        let own = cosine(question, memory);
        memories
            .iter()
            .chain(unrelated)
            .filter(|other| cosine(question, other) > own)
            .count()
    };
    questions.iter().zip(memories).map(rank).collect()
}

type Vectors = Vec<Vec<f32>>;

/// Embeds both sides of the lines of tab-separated texts that start with `kind`.
fn pairs(model: &BuiltIn, lines: &str, kind: &str) -> Result<(Vectors, Vectors), Box<dyn Error>> {
    let lines = lines.lines().filter_map(|line| line.strip_prefix(kind));
    let pairs = lines.filter_map(|line| line.trim_start().split_once('\t'));
    let (a, b): (Vec<_>, Vec<_>) = pairs.map(|(a, b)| (a.to_owned(), b.to_owned())).unzip();
    Ok((model.embed_blocking(&a)?, model.embed_blocking(&b)?))
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn show(name: &str, mut cosines: Vec<f32>) {
    cosines.sort_by(f32::total_cmp);
    // In thousandths of the list.
    let shares = [0, 10, 50, 100, 250, 500, 750, 900, 950, 990, 999, 1000];
    print!("  {name:24} n {:6} ", cosines.len());
    for share in shares {
        let at = cosines.len().saturating_sub(1) * share / 1000;
        let cosine = cosines.get(at).copied().unwrap_or_default();
        print!(" {}%:{cosine:.3}", share as f64 / 10.0);
    }
    println!();
}
