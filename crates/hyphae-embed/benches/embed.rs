//! What a text costs, per model and instruction set; what starting costs; how much memory is used.
//!
//!     cargo bench -p hyphae-embed
//!
//! Times are of this thread on the CPU, so other work on the machine disturbs them little.
#![expect(clippy::print_stdout, reason = "a measurement's output")]

use std::fs;
use std::time::Instant;

use hyphae_embed::{BuiltIn, CpuPath};

fn main() {
    let texts = texts();
    let words: usize = texts
        .iter()
        .map(|text| text.split_whitespace().count())
        .sum();
    println!(
        "{} texts of {:.1} words",
        texts.len(),
        words as f64 / texts.len() as f64
    );

    println!("first vector, program start not included");
    start("static table", &BuiltIn::static_table(), &texts);
    start("minilm (tokenizer loaded)", &BuiltIn::minilm(), &texts);
    println!("per text, each on its own / all in one call");
    for path in CpuPath::available() {
        let model = BuiltIn::minilm().with_path(path);
        each(&format!("minilm, {}", path.name()), &model, &texts, 1);
    }
    each("static table", &BuiltIn::static_table(), &texts, 200);
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    for name in ["VmHWM", "RssAnon", "RssFile"] {
        for line in status.lines().filter(|line| line.starts_with(name)) {
            println!("{line}");
        }
    }
}

fn start(name: &str, model: &BuiltIn, texts: &[String]) {
    let (clock, cpu) = (Instant::now(), cpu_ms());
    embed(model, &texts[..1]);
    let cpu = cpu_ms() - cpu;
    println!(
        "  {name:<28} {:7.2} ms, of which CPU {cpu:7.2}",
        clock.elapsed().as_secs_f64() * 1e3
    );
}

fn each(name: &str, model: &BuiltIn, texts: &[String], rounds: usize) {
    embed(model, &texts[..4]);
    let mut times = Vec::new();
    for text in texts.chunks(1) {
        let cpu = cpu_ms();
        for _ in 0..rounds {
            embed(model, text);
        }
        times.push((cpu_ms() - cpu) / rounds as f64);
    }
    times.sort_by(f64::total_cmp);
    let cpu = cpu_ms();
    for _ in 0..rounds {
        embed(model, texts);
    }
    let together = (cpu_ms() - cpu) / (rounds * texts.len()) as f64;
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    println!(
        "  {name:<18} p50 {:8.4} ms  p95 {:8.4}  mean {:8.4} / {together:8.4}",
        at(50),
        at(95),
        times.iter().sum::<f64>() / times.len() as f64,
    );
}

fn embed(model: &BuiltIn, texts: &[String]) {
    assert!(model.embed_blocking(texts).is_ok());
}

/// 200 texts of 30 words, put together from parts so that they have different pieces.
fn texts() -> Vec<String> {
    let words: Vec<&str> = "the service that reads invoices from the queue was moved to a second \
        cluster because its memory ran out whenever two imports overlapped and nobody had noticed \
        until customers complained so we now alert on resident size and retry with exponential \
        backoff after deploying the migration which renames created_at and drops an unused index \
        while Marta prefers tabs over spaces in configuration files and short answers without \
        bullet lists since reviewing them takes less time on Thursday afternoons before releases"
        .split_whitespace()
        .collect();
    (0..200)
        .map(|n| {
            let picked = (0..30).map(|k| words[(n * 7 + k * (1 + n % 5)) % words.len()]);
            picked.collect::<Vec<_>>().join(" ")
        })
        .collect()
}

/// Milliseconds that this thread has computed so far.
fn cpu_ms() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}
