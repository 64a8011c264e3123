//! Faults from outside, and many processes at once. Nothing is lost whose id was answered.

use std::fs;

use serde_json::{Value, json};

use super::{Era, Mcp, succeeded};
use crate::world::World;

#[test]
fn four_processes_lose_nothing() {
    const EACH: usize = 250;
    let world = World::empty();
    world.run(["init", "--embedder", "static"]).well();
    let mut processes: Vec<Mcp> = (0..4)
        .map(|n| {
            let mut mcp = Mcp::start(&world, Era::Legacy);
            for k in 0..EACH {
                mcp.send_call(
                    "store",
                    json!({"content": format!("process {n} wrote {k}")}),
                );
            }
            mcp
        })
        .collect();
    let mut ids = std::collections::BTreeSet::new();
    for mcp in &mut processes {
        for _ in 0..EACH {
            let stored = succeeded(mcp.next());
            assert_eq!(stored["outcome"], "created");
            ids.insert(stored["id"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(ids.len(), 4 * EACH);
    for mcp in processes {
        mcp.end();
    }
    let mut reader = Mcp::start(&world, Era::Legacy);
    for n in 0..4 {
        for k in (0..EACH).step_by(7) {
            let content = format!("process {n} wrote {k}");
            assert_eq!(reader.recall(&content).first(), Some(&content));
        }
    }
    reader.end();
    let report = world.run(["doctor"]).well();
    assert!(report.contains("memories: 1000"), "{report}");
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let world = World::new();
    let mut acknowledged = Vec::new();
    for round in 0..6 {
        let mut mcp = Mcp::start(&world, Era::Legacy);
        let sent: Vec<(u64, String)> = (0..20)
            .map(|n| {
                let content = format!("round {round}: gauge {n} stands by the lock");
                (mcp.send_call("store", json!({"content": content})), content)
            })
            .collect();
        let mut answers: Vec<Value> = (0..=round * 2).map(|_| mcp.next()).collect();
        answers.extend(mcp.kill());
        for answer in answers {
            let content = &sent.iter().find(|(id, _)| answer["id"] == *id).unwrap().1;
            acknowledged.push((succeeded(answer)["id"].clone(), content.clone()));
        }
    }
    assert!(acknowledged.len() > 20);
    let mut mcp = Mcp::start(&world, Era::Legacy);
    for (id, content) in acknowledged {
        let found = mcp.call("recall", json!({"query": content, "k": 1}));
        assert_eq!(
            (&found["hits"][0]["id"], &found["hits"][0]["content"]),
            (&id, &json!(content))
        );
    }
    mcp.end();
}

#[test]
fn a_database_that_is_none_is_told_and_tried_again() {
    let world = World::new();
    let kept = fs::read(world.database()).unwrap();
    fs::write(world.database(), "this is no database ".repeat(500)).unwrap();
    let mut mcp = Mcp::start(&world, Era::Legacy);
    let said = mcp.fails("store", json!({"content": "x"}));
    assert!(said.contains("code: store_unavailable"), "{said}");
    assert!(said.contains("next: restore a backup"), "{said}");
    mcp.ask("tools/list", json!({}));
    fs::write(world.database(), kept).unwrap();
    mcp.store("now it is there");
    assert_eq!(mcp.recall("now it is there"), ["now it is there"]);
    mcp.end();
}
