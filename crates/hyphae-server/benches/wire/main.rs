//! The program as an editor sees it, beside the protocol's own Rust SDK in the same run.
//!
//! ```text
//! cargo build --release --manifest-path bench/echo_agent/Cargo.toml --target-dir target/echo_agent
//! cargo bench -p hyphae-server --bench wire
//! HYPHAE_ECHO_AGENT=FILE     the echo agent, if it was built to another place
//! … --bench wire -- start    one part only: start, recall or slow
//! ```
//!
//! Agents are processes with pipes. Start: by turns, from before the process is made until the
//! answer to `initialize` has come; once while nobody uses the store, once while another session
//! has it open. Both programs are copied first, as an installation does: the system keeps what a
//! linker wrote in small pieces, which are slow to map. Recall: a store of 10,000 drawn memories under the model's name
//! (see `recall_speed`), questions of about 11 words, half of them English sentences and half words
//! of one memory, embedded by the real model.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measurement's output"
)]

mod agent;
#[expect(dead_code, reason = "the bench recall_speed uses the rest")]
#[path = "../recall_speed/corpus.rs"]
mod corpus;
#[expect(dead_code, reason = "the bench recall_speed uses the rest")]
#[path = "../recall_speed/figures.rs"]
mod figures;
#[expect(dead_code, reason = "the bench recall_speed uses the rest")]
#[path = "../recall_speed/filling.rs"]
mod filling;
mod slow;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use anyhow::Context;
use hyphae_core::ports::{ChosenModel, Embedder};
use hyphae_embed::BuiltIn;

use agent::{Agent, Memory, Recipe};
use corpus::Corpus;
use figures::{median, quantile, spread};
use filling::{Filled, Part};

const STARTS: usize = 200;
/// How long nobody must have changed a store that is to be quiet, with a margin.
const QUIET: Duration = Duration::from_secs(4);
const RECALLS: u64 = 300;
const CELLS: u64 = 10_000;
const PROJECT: &str = "/srv/wire";

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, database] = arguments.as_slice()
        && flag == "--slow-host"
    {
        let served = runtime.block_on(slow::host(Path::new(database)));
        // A thread that waits for stdin must not hold the process.
        runtime.shutdown_background();
        return served;
    }
    let known = ["start", "recall", "slow"];
    let parts: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let wanted = |part| !parts.iter().any(|p| known.contains(p)) || parts.contains(&part);

    let folder = tempfile::tempdir()?;
    let echo = Recipe {
        program: installed(folder.path(), &echo_agent()?)?,
        arguments: Vec::new(),
        environment: Vec::new(),
    };
    for (name, model) in [
        ("minilm", BuiltIn::minilm()),
        ("static", BuiltIn::static_table()),
    ] {
        if !wanted("recall") && (name == "static" || !wanted("start")) {
            continue;
        }
        let filled = runtime.block_on(fill(folder.path(), name, &model))?;
        let program = program(folder.path(), &filled)?;
        if name == "minilm" && wanted("start") {
            thread::sleep(QUIET);
            println!("start until `initialize` is answered, {STARTS} rounds by turns");
            println!("\nwhile nobody uses the store");
            start(&program, &echo)?;
            println!("\nwhile another session has the store open");
            let (mut other, _) = Agent::start(&program)?;
            other.session()?;
            start(&program, &echo)?;
            other.end()?;
        }
        if wanted("recall") {
            recall(name, &model, &program, &echo)?;
        }
    }
    if wanted("slow") {
        let host = Recipe {
            program: std::env::current_exe()?,
            arguments: vec![
                "--slow-host".to_owned(),
                folder.path().join("slow.db").display().to_string(),
            ],
            environment: Vec::new(),
        };
        println!("\n200,000 updates of 1 KB for a client that does not read, peak resident MiB");
        for (name, recipe) in [("hyphae's host", &host), ("SDK echo agent", &echo)] {
            let peaks = slow::measure(recipe)?;
            println!(
                "{name:<16} {:6.1}, after all was read {:6.1}",
                peaks.unread, peaks.read
            );
        }
    }
    Ok(())
}

/// The echo agent lies where the command above puts it, unless `HYPHAE_ECHO_AGENT` says so.
fn echo_agent() -> anyhow::Result<PathBuf> {
    let built = match std::env::var_os("HYPHAE_ECHO_AGENT") {
        Some(path) => PathBuf::from(path),
        // Cargo runs benches in the package's folder.
        None => "../../target/echo_agent/release/echo_agent".into(),
    };
    fs::canonicalize(&built).with_context(|| {
        format!(
            "{}: build it first, see the head of this bench",
            built.display()
        )
    })
}

async fn fill(folder: &Path, name: &str, model: &BuiltIn) -> anyhow::Result<Filled> {
    let model = model.model();
    let chosen = ChosenModel {
        id: model.id.clone(),
        dimension: model.dimension,
    };
    let part = Part {
        project: PROJECT,
        size: CELLS,
        first: 0,
    };
    let path = folder.join(format!("{name}.db"));
    filling::fill(&path, &Corpus::new(model.dimension), &chosen, &[part], 0).await
}

/// Copies a program to where it is started from.
fn installed(folder: &Path, built: &Path) -> anyhow::Result<PathBuf> {
    let name = built.file_name().context("a program's name")?;
    let place = folder.join(name);
    fs::copy(built, &place)?;
    Ok(place)
}

/// The program with a home that holds a key, as `init` leaves it.
fn program(folder: &Path, filled: &Filled) -> anyhow::Result<Recipe> {
    let config = folder.join(".config/hyphae");
    fs::create_dir_all(&config)?;
    let key = config.join("key");
    fs::write(&key, filling::key().reveal())?;
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600))?;
    Ok(Recipe {
        program: installed(folder, Path::new(env!("CARGO_BIN_EXE_hyphae-server")))?,
        arguments: vec!["acp-stdio".to_owned()],
        environment: vec![
            ("HOME", folder.display().to_string()),
            ("DATABASE_URL", format!("sqlite:{}", filled.path.display())),
            ("HYPHAE_PROJECT", PROJECT.to_owned()),
        ],
    })
}

/// What one start came to.
#[derive(Debug, Default)]
struct Starts {
    wall: Vec<f64>,
    cpu: Vec<f64>,
    resident: Vec<f64>,
    proportional: Vec<f64>,
}

impl Starts {
    fn take(&mut self, recipe: &Recipe) -> anyhow::Result<()> {
        let (agent, took) = Agent::start(recipe)?;
        let memory = agent.memory()?;
        self.wall.push(took);
        self.cpu.push(agent.cpu_ms()?);
        self.resident.push(memory.resident);
        self.proportional.push(memory.proportional);
        agent.end()
    }
}

fn start(program: &Recipe, echo: &Recipe) -> anyhow::Result<()> {
    let threads = Recipe {
        arguments: vec!["--threads".to_owned()],
        ..echo.clone()
    };
    let recipes = [program, echo, &threads];
    let mut all: [Starts; 3] = Default::default();
    // The first ones bring the files into memory.
    for _ in 0..3 {
        for recipe in recipes {
            Starts::default().take(recipe)?;
        }
    }
    for n in 0..STARTS {
        // Whoever comes first changes from round to round.
        for at in (0..3).map(|k| (n + k) % 3) {
            all[at].take(recipes[at])?;
        }
    }
    let names = [
        "hyphae-server",
        "SDK echo agent, one thread",
        "SDK echo agent, tokio's pool",
    ];
    for (name, starts) in names.iter().zip(&all) {
        println!("{name:<28} wall {}", spread(&starts.wall));
        println!("                              CPU {}", spread(&starts.cpu));
        println!(
            "                             resident {:.1} MiB, proportional {:.1} MiB",
            median(&starts.resident),
            median(&starts.proportional)
        );
    }
    let [ours, others @ ..] = &all;
    for (name, other) in names[1..].iter().zip(others) {
        println!("hyphae-server / {name}");
        ratios("wall", &ours.wall, &other.wall);
        ratios("CPU", &ours.cpu, &other.cpu);
    }
    Ok(())
}

fn ratios(name: &str, ours: &[f64], theirs: &[f64]) {
    let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| a / b).collect();
    println!(
        "  {name:<4} ratio of medians {:.2}, median of ratios {:.2} (p25 {:.2}, p75 {:.2})",
        median(ours) / median(theirs),
        median(&ratios),
        quantile(&ratios, 0.25),
        quantile(&ratios, 0.75),
    );
}

fn recall(name: &str, model: &BuiltIn, program: &Recipe, echo: &Recipe) -> anyhow::Result<()> {
    let corpus = Corpus::new(model.model().dimension);
    let (mut agent, _) = Agent::start(program)?;
    let session = agent.session()?;
    let before = agent.memory()?;
    let started = Instant::now();
    agent.prompt(&session, "/recall which database did we pick")?;
    let first = started.elapsed().as_secs_f64() * 1e3;
    for question in questions() {
        agent.prompt(&session, &format!("/recall {question}"))?;
    }
    let english = agent.memory()?;
    let (mut other, _) = Agent::start(echo)?;
    let other_session = other.session()?;
    other.prompt(&other_session, "warm")?;

    let (mut wall, mut cpu, mut echoed) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..RECALLS {
        let text = question(&corpus, n);
        let computed = agent.cpu_ms()?;
        let started = Instant::now();
        let bytes = agent.prompt(&session, &text)?;
        wall.push(started.elapsed().as_secs_f64() * 1e3);
        cpu.push(agent.cpu_ms()? - computed);
        anyhow::ensure!(bytes > 200, "{text} found nothing");
        let started = Instant::now();
        other.prompt(&other_session, &text)?;
        echoed.push(started.elapsed().as_secs_f64() * 1e3);
    }
    let after = agent.memory()?;
    println!("\n/recall over stdio, {CELLS} cells, {name}");
    println!("first recall (model and index)    wall {first:.1} ms");
    println!("recall                            wall {}", spread(&wall));
    println!("                                   CPU {}", spread(&cpu));
    println!("the SDK echo agent, same prompts  wall {}", spread(&echoed));
    let show = |when: &str, memory: Memory| {
        println!(
            "{when}resident {:.1} MiB ({:.1} of it anonymous), proportional {:.1} MiB",
            memory.resident, memory.anonymous, memory.proportional
        );
    };
    show("before the first recall           ", before);
    show("after 70 questions in English     ", english);
    show("after words from all over         ", after);
    agent.end()?;
    other.end()
}

/// Questions as people ask them.
fn questions() -> Vec<&'static str> {
    include_str!("../../../hyphae-embed/calibration/pairs.tsv")
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(_, question)| question)
        .collect()
}

/// A question in English about two drawn words of a memory; together they touch most of the
/// model's vocabulary.
fn question(corpus: &Corpus, n: u64) -> String {
    let questions = questions();
    let memory = corpus.memory(n * 31 % CELLS);
    let words: Vec<&str> = memory.text.split(' ').take(2).collect();
    format!(
        "/recall {} {}",
        questions[n as usize % questions.len()],
        words.join(" ")
    )
}
