//! How much of what concerns somebody reaches them unasked, and how much else does: gossip against
//! broadcast to all and against as many messages sent by chance.
//!
//! Two ways for an agent to listen are compared: at the one centre of its work, and at each thing
//! that it wrote. `attention` is the least score with which somebody is told.
//!
//! `cargo run --manifest-path bench/living/Cargo.toml -- [minilm|static] [agents] [cells]`

mod gathering;
mod team;
mod world;

use std::sync::Arc;

use hyphae_core::{living::consolidation::Rules, ports::Embedder};
use hyphae_embed::BuiltIn;
use team::{Dice, Team};
use world::{Ears, World};

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let model = args.first().map_or("minilm", String::as_str);
    let number = |at: usize, or: usize| args.get(at).and_then(|n| n.parse().ok()).unwrap_or(or);
    let (agents, cells) = (number(1, 20), number(2, 600).min(5000));
    let embedder: Arc<dyn Embedder> = match model {
        "static" => Arc::new(BuiltIn::static_table()),
        _ => Arc::new(BuiltIn::minilm()),
    };
    let team = Team::new(7, agents, cells);
    let mut vectors = Vec::new();
    for part in team.writings.chunks(64) {
        let texts = part.iter().map(|writing| writing.text.clone()).collect();
        vectors.extend(embedder.embed(texts).await.expect("the model is built in"));
    }
    println!("{model}, {agents} agents, {cells} cells, 20 topics, 2 of them for each agent");
    let usual = Rules::for_model(&embedder.model().calibration);
    for topic in [usual.topic, 0.6] {
        for most in [64, 1_000_000] {
            gathering::report(
                &team,
                &vectors,
                &Rules {
                    topic,
                    most,
                    ..usual
                },
            );
        }
    }
    let relevance = 0.3;
    for ears in [
        Ears::Centre(24),
        Ears::Centre(8),
        Ears::Works(1),
        Ears::Works(3),
    ] {
        for attention in [0.3, 0.4, 0.5, 0.55, 0.6, 0.7] {
            let mut world = World::new(&team, relevance, attention, ears);
            let warm = cells / 5;
            let (mut told, mut right, mut needed, mut nodes) = (0_usize, 0, 0, 0);
            let mut by_chance = 0;
            let mut dice = Dice::new(99);
            for (at, vector) in vectors.iter().enumerate() {
                let reached = world.write(at, vector);
                if at < warm {
                    continue;
                }
                let writing = &team.writings[at];
                let needs = |agent: usize| {
                    agent != writing.author && team.needs[agent].contains(&writing.topic)
                };
                needed += (0..agents).filter(|agent| needs(*agent)).count();
                told += reached.agents.len();
                nodes += reached.nodes;
                right += reached.agents.iter().filter(|agent| needs(**agent)).count();
                by_chance += (0..reached.agents.len())
                    .filter(|_| needs(dice.below(agents)))
                    .count();
            }
            let share = |a: usize, b: usize| a as f64 / b.max(1) as f64;
            println!(
                "{ears:?}  sigma {relevance:.2} attention {attention:.2}: share {:.3}  precision {:.3}  told a cell {:.2}  nodes {:.1}  | by chance: share {:.3} precision {:.3} | to all: precision {:.3}",
                share(right, needed),
                share(right, told),
                share(told, cells - warm),
                share(nodes, cells - warm),
                share(by_chance, needed),
                share(by_chance, told),
                share(needed, (cells - warm) * (agents - 1)),
            );
        }
    }
}
