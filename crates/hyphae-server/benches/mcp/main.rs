//! The program as an agent's client sees it, beside a bare server of the protocol's own Rust SDK
//! and beside the reference memory server, in the same run.
//!
//! ```text
//! cargo build --release --manifest-path bench/bare_rmcp/Cargo.toml --target-dir target/bare_rmcp
//! npm install --prefix DIR @modelcontextprotocol/server-memory@2026.8.31
//! HYPHAE_SERVER_MEMORY=DIR cargo bench -p hyphae-server --bench mcp
//! HYPHAE_BARE_RMCP=FILE      the bare server, if it was built to another place
//! … --bench mcp -- start     one part only: start, store or recall
//! ```
//!
//! Servers are processes with pipes. Start: by turns, from before the process is made until the
//! answer to `initialize` has come. Store: drawn memories of 10 to 30 words, one at a time, by
//! turns; then as many sent at once, and how many are there afterwards; beside none and beside
//! 10,000 others. Recall: a store of 10,000
//! drawn memories, questions half of English and half of the words of one memory.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measurement's output"
)]

#[expect(dead_code, reason = "the bench wire uses the rest")]
#[path = "../wire/agent.rs"]
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
mod peer;

use std::{
    collections::HashSet,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::Context;
use hyphae_core::ports::{ChosenModel, Embedder};
use hyphae_embed::BuiltIn;
use serde_json::{Value, json};

use agent::{Agent, Recipe};
use corpus::Corpus;
use figures::{median, quantile, spread};
use filling::Part;

const STARTS: usize = 60;
const STORES: u64 = 300;
const RECALLS: u64 = 300;
const CELLS: u64 = 10_000;
const PROJECT: &str = "/srv/mcp";

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let known = ["start", "store", "recall"];
    let parts: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let wanted = |part| !parts.iter().any(|p| known.contains(p)) || parts.contains(&part);
    let folder = tempfile::tempdir()?;
    if wanted("start") {
        let program = runtime.block_on(program(folder.path(), "start", &BuiltIn::minilm(), 10))?;
        start(&program)?;
    }
    if wanted("store") {
        for held in [0, CELLS] {
            store(&runtime, folder.path(), held)?;
        }
    }
    if wanted("recall") {
        for (name, model) in [
            ("minilm", BuiltIn::minilm()),
            ("static", BuiltIn::static_table()),
        ] {
            let file = format!("recall-{name}");
            let program = runtime.block_on(program(folder.path(), &file, &model, CELLS))?;
            recall(name, &model, &program)?;
        }
    }
    Ok(())
}

/// The program with a home that holds a key, and a store of `cells` memories.
async fn program(folder: &Path, name: &str, model: &BuiltIn, cells: u64) -> anyhow::Result<Recipe> {
    let model = model.model();
    let chosen = ChosenModel {
        id: model.id.clone(),
        dimension: model.dimension,
    };
    let part = Part {
        project: PROJECT,
        size: cells,
        first: 0,
    };
    let path = folder.join(format!("{name}.db"));
    let corpus = Corpus::new(model.dimension);
    let filled = filling::fill(&path, &corpus, &chosen, &[part], 0).await?;
    let config = folder.join(".config/hyphae");
    fs::create_dir_all(&config)?;
    let key = config.join("key");
    fs::write(&key, filling::key().reveal())?;
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600))?;
    Ok(Recipe {
        program: env!("CARGO_BIN_EXE_hyphae-server").into(),
        arguments: vec!["mcp-stdio".to_owned()],
        environment: vec![
            ("HOME", folder.display().to_string()),
            ("DATABASE_URL", format!("sqlite:{}", filled.path.display())),
            ("HYPHAE_PROJECT", PROJECT.to_owned()),
        ],
    })
}

/// The bare server lies where the command above puts it, unless `HYPHAE_BARE_RMCP` says so.
fn bare_server() -> anyhow::Result<Recipe> {
    let built = match std::env::var_os("HYPHAE_BARE_RMCP") {
        Some(path) => PathBuf::from(path),
        // Cargo runs benches in the package's folder.
        None => "../../target/bare_rmcp/release/bare_rmcp".into(),
    };
    let program = fs::canonicalize(&built).with_context(|| {
        format!(
            "{}: build it first, see the head of this bench",
            built.display()
        )
    })?;
    Ok(Recipe {
        program,
        arguments: Vec::new(),
        environment: Vec::new(),
    })
}

/// Starts a server and shakes hands; returns the milliseconds that took.
fn greet(recipe: &Recipe) -> anyhow::Result<(Agent, f64)> {
    let started = Instant::now();
    let mut server = Agent::spawn(recipe)?;
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    });
    let answer = server.call("initialize", &hello)?;
    let took = started.elapsed().as_secs_f64() * 1e3;
    anyhow::ensure!(answer["serverInfo"].is_object(), "{answer}");
    Ok((server, took))
}

/// Calls a tool and returns its structured result.
fn call(server: &mut Agent, tool: &str, arguments: &Value) -> anyhow::Result<Value> {
    let params = json!({"name": tool, "arguments": arguments});
    result(server.call("tools/call", &params)?)
}

fn result(mut answer: Value) -> anyhow::Result<Value> {
    anyhow::ensure!(answer["isError"] != true, "{answer}");
    Ok(answer["structuredContent"].take())
}

fn start(program: &Recipe) -> anyhow::Result<()> {
    let bare = bare_server()?;
    let threads = Recipe {
        arguments: vec!["--threads".to_owned()],
        ..bare.clone()
    };
    let recipes = [program, &bare, &threads];
    let mut all: [Vec<f64>; 3] = Default::default();
    let mut resident = [0.0; 3];
    // The first rounds bring the files into memory.
    for n in 0..STARTS + 3 {
        // Whoever comes first changes from round to round.
        for at in (0..3).map(|k| (n + k) % 3) {
            let (server, took) = greet(recipes[at])?;
            if n >= 3 {
                all[at].push(took);
                resident[at] = server.memory()?.resident;
            }
            server.end()?;
        }
    }
    println!("start until `initialize` is answered, {STARTS} rounds by turns");
    let names = [
        "hyphae-server",
        "bare rmcp, one thread",
        "bare rmcp, tokio's pool",
    ];
    for ((name, times), resident) in names.iter().zip(&all).zip(resident) {
        println!(
            "{name:<28} wall {} resident {resident:.1} MiB",
            spread(times)
        );
    }
    let [ours, others @ ..] = &all;
    for (name, theirs) in names[1..].iter().zip(others) {
        let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| a / b).collect();
        println!(
            "hyphae-server / {name}: ratio of medians {:.2}, median of ratios {:.2} (p25 {:.2}, p75 {:.2})",
            median(ours) / median(theirs),
            median(&ratios),
            quantile(&ratios, 0.25),
            quantile(&ratios, 0.75),
        );
    }
    Ok(())
}

/// The three that store, and what each needs.
struct Storing {
    name: &'static str,
    server: Agent,
    is_peer: bool,
}

impl Storing {
    /// A call that stores memory `n`.
    fn ask(&self, n: u64, text: &str) -> (&'static str, Value) {
        if self.is_peer {
            ("create_entities", peer::entity(n, text))
        } else {
            ("store", json!({"content": text}))
        }
    }
}

fn store(runtime: &tokio::runtime::Runtime, folder: &Path, held: u64) -> anyhow::Result<()> {
    let corpus = Corpus::new(16);
    let text = |n: u64| corpus.memory(1_000_000 + n).text;
    let memory = folder.join(format!("memory-{held}.jsonl"));
    peer::fill(&memory, (0..held).map(|n| corpus.memory(n).text))?;
    let mut all = Vec::new();
    for (name, model) in [
        ("hyphae-server, minilm", BuiltIn::minilm()),
        ("hyphae-server, static", BuiltIn::static_table()),
    ] {
        let file = format!("store-{held}-{}", model.model().dimension);
        let program = runtime.block_on(program(folder, &file, &model, held.max(1)))?;
        all.push(Storing {
            name,
            server: greet(&program)?.0,
            is_peer: false,
        });
    }
    all.push(Storing {
        name: "server-memory",
        server: greet(&peer::recipe(&memory)?)?.0,
        is_peer: true,
    });

    let mut walls = vec![Vec::new(); all.len()];
    for n in 0..STORES + 5 {
        for (storing, walls) in all.iter_mut().zip(&mut walls) {
            let (tool, arguments) = storing.ask(n, &text(n));
            let started = Instant::now();
            let stored = call(&mut storing.server, tool, &arguments)?;
            let took = started.elapsed().as_secs_f64() * 1e3;
            anyhow::ensure!(
                storing.is_peer || stored["outcome"] == "created",
                "{stored}"
            );
            // The first ones load models and fill indexes.
            if n >= 5 {
                walls.push(took);
            }
        }
    }
    println!("\nstore beside {held} memories, {STORES} new ones one at a time, by turns");
    let rate = |walls: &[f64]| 1e3 * walls.len() as f64 / walls.iter().sum::<f64>();
    for (storing, walls) in all.iter().zip(&walls) {
        println!(
            "{:<24} {} {:.0} writes/s",
            storing.name,
            spread(walls),
            rate(walls)
        );
    }
    for (storing, ours) in all.iter().zip(&walls).take(2) {
        println!(
            "{} / server-memory: {:.2} times the writes",
            storing.name,
            rate(ours) / rate(&walls[2])
        );
    }

    println!("store beside {held} memories, {STORES} new ones sent at once");
    let first = STORES + 5;
    for storing in &mut all {
        let before = count(storing)?;
        let started = Instant::now();
        let mut asked = Vec::new();
        for n in first..first + STORES {
            let (tool, arguments) = storing.ask(n, &text(n));
            let params = json!({"name": tool, "arguments": arguments});
            asked.push(storing.server.send("tools/call", &params)?);
        }
        // They may be answered in any order.
        let mut answered = HashSet::new();
        for id in asked {
            if !answered.contains(&id) {
                let server = &mut storing.server;
                server.answer(id, |other| answered.extend(other["id"].as_u64()))?;
            }
        }
        let seconds = started.elapsed().as_secs_f64();
        let kept = count(storing)?.saturating_sub(before);
        println!(
            "{:<24} {:.0} answers/s, {kept} of {STORES} are there: {:.0} kept/s",
            storing.name,
            STORES as f64 / seconds,
            kept as f64 / seconds
        );
    }
    for storing in all {
        storing.server.end()?;
    }
    Ok(())
}

/// How many memories a server holds.
fn count(storing: &mut Storing) -> anyhow::Result<u64> {
    if storing.is_peer {
        return peer::count(&mut storing.server);
    }
    let listed = call(
        &mut storing.server,
        "query",
        &json!({"layer": "L0", "k": 1}),
    )?;
    listed["total"].as_u64().context("a total")
}

fn recall(name: &str, model: &BuiltIn, program: &Recipe) -> anyhow::Result<()> {
    let corpus = Corpus::new(model.model().dimension);
    let (mut server, _) = greet(program)?;
    let started = Instant::now();
    call(
        &mut server,
        "recall",
        &json!({"query": "which database did we pick"}),
    )?;
    let first = started.elapsed().as_secs_f64() * 1e3;
    let (mut wall, mut cpu) = (Vec::new(), Vec::new());
    for n in 0..RECALLS {
        let arguments = json!({"query": question(&corpus, n)});
        let computed = server.cpu_ms()?;
        let started = Instant::now();
        let found = call(&mut server, "recall", &arguments)?;
        wall.push(started.elapsed().as_secs_f64() * 1e3);
        cpu.push(server.cpu_ms()? - computed);
        anyhow::ensure!(found["matched"] != 0, "{arguments}: {found}");
    }
    println!("\nrecall, {CELLS} cells, {name}");
    println!("first (opens, loads, fills)       wall {first:.1} ms");
    println!("recall                            wall {}", spread(&wall));
    println!("                                   CPU {}", spread(&cpu));
    println!(
        "resident afterwards               {:.1} MiB",
        server.memory()?.resident
    );
    server.end()
}

/// A question in English about two drawn words of a memory.
fn question(corpus: &Corpus, n: u64) -> String {
    let questions: Vec<&str> = include_str!("../../../hyphae-embed/calibration/pairs.tsv")
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(_, question)| question)
        .collect();
    let memory = corpus.memory(n * 31 % CELLS);
    let words: Vec<&str> = memory.text.split(' ').take(2).collect();
    format!(
        "{} {}",
        questions[n as usize % questions.len()],
        words.join(" ")
    )
}
