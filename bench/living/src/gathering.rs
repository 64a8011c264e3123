//! Whether scenes are topics, and patterns what was really said several times.

use std::{
    collections::{BTreeSet, HashMap},
    time::Instant,
};

use hyphae_core::{
    cell::{Content, Share},
    ids::{CellId, CredentialId},
    living::consolidation::{Grain, Input, Made, Rules, Since, plan},
    recall::Vector,
};
use uuid::Uuid;

use crate::team::{TOPICS, Team};

/// Consolidates all that a team wrote, and compares scenes with the topics it was written about.
pub fn report(team: &Team, vectors: &[Vec<f32>], rules: &Rules) {
    let grains: Vec<Grain> = (team.writings.iter().zip(vectors).enumerate())
        .map(|(at, (writing, vector))| Grain {
            id: CellId::new(Uuid::from_u128(at as u128)),
            author: CredentialId::new(Uuid::from_u128(writing.author as u128)),
            cell_type: writing.cell_type,
            salience: Share::new(writing.salience).expect("a share"),
            place: Vector::quantise(vector),
            content: Content::new(&writing.text).expect("a text"),
        })
        .collect();
    let mut made = Made::default();
    let held = BTreeSet::new();
    let input = Input {
        grains: &grains,
        made: &made,
        since: &Since::Ever,
        held: &held,
    };
    let mut ids = 0;
    let begun = Instant::now();
    let found = plan(input, rules, &|_, _| false, &mut || {
        ids += 1;
        Uuid::from_u128((1 << 100) + ids)
    });
    let took = begun.elapsed();
    made.apply(&found).expect("it was made for this state");
    let topic = |cell: &CellId| team.writings[cell.uuid().as_u128() as usize].topic;
    let (mut pure, mut inside) = (0, 0);
    let mut labels = Vec::new();
    for scene in made.scenes.values() {
        let mut counts: HashMap<usize, usize> = HashMap::new();
        for member in &scene.members {
            *counts.entry(topic(member)).or_default() += 1;
        }
        let (most, count) = (counts.iter().max_by_key(|(_, count)| **count)).expect("members");
        pure += count;
        inside += scene.members.len();
        labels.push(format!(
            "[{}: {} of {}]",
            scene.label,
            TOPICS[*most].0,
            scene.members.len()
        ));
    }
    labels.sort();
    println!(
        "topic {:.2} most {}: {} scenes, {:.2} of the cells, purity {:.3}, {} patterns, {took:?}",
        rules.topic,
        rules.most,
        made.scenes.len(),
        inside as f64 / grains.len() as f64,
        pure as f64 / f64::from(u32::try_from(inside.max(1)).expect("few")),
        made.patterns.len(),
    );
    println!(
        "  {}",
        labels.iter().take(6).cloned().collect::<Vec<_>>().join(" ")
    );
    for pattern in made.patterns.values().take(3) {
        let texts = pattern
            .sources
            .iter()
            .map(|cell| team.writings[cell.uuid().as_u128() as usize].text.clone());
        println!("  pattern: {}", texts.collect::<Vec<_>>().join(" / "));
    }
}
