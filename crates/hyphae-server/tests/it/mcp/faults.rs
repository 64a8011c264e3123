//! Faults from outside, and many processes at once. Nothing is lost whose id was answered.

use std::fs;

use serde_json::{Value, json};

use super::{Era, Mcp, succeeded};
use crate::{
    faults::{Holder, SmallDisk},
    world::{World, run},
};

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

#[test]
fn a_database_that_stays_locked_is_told_and_works_afterwards() {
    let world = World::new();
    let mut mcp = Mcp::start(&world, Era::Legacy);
    mcp.store("dunlins feed on the mud");
    let holder = Holder::start(&world);
    let said = mcp.fails("store", json!({"content": "knots fly in dense flocks"}));
    assert!(said.contains("code: store_locked"), "{said}");
    assert!(said.contains("next: try again"), "{said}");
    mcp.ask("tools/list", json!({}));
    holder.release();
    mcp.store("knots fly in dense flocks");
    assert_eq!(mcp.recall("knots fly")[0], "knots fly in dense flocks");
    mcp.end();
}

#[test]
fn a_full_disk_is_told_and_works_again_when_there_is_room() {
    let world = World::new();
    let Some(disk) = SmallDisk::mount(&world) else {
        return;
    };
    fs::remove_file(world.key_file()).unwrap();
    let on_disk = || {
        let mut command = world.hyphae();
        command.env("DATABASE_URL", disk.url());
        command
    };
    let mut init = on_disk();
    init.arg("init");
    run(init, "").well();
    let mut mcp = Mcp::start_with(&world, on_disk());
    mcp.store("there is room");
    let filler = disk.fill(0);
    let words = "words that take room on the disk ".repeat(200);
    let mut told = None;
    for n in 0..50 {
        let id = mcp.send_call("store", json!({"content": format!("{n} {words}")}));
        let answer = mcp.answer(id);
        if answer["result"]["isError"] == true {
            told = Some(super::failed(&answer));
            break;
        }
    }
    let told = told.unwrap();
    assert!(told.contains("code: store_full"), "{told}");
    fs::remove_file(filler).unwrap();
    mcp.store("there is room again");
    assert_eq!(mcp.recall("there is room").len(), 2);
    mcp.end();
}

#[test]
fn nothing_is_stored_in_a_database_that_was_taken_away() {
    let world = World::new();
    let mut mcp = Mcp::start(&world, Era::Legacy);
    mcp.store("kept before");
    let key = world.key();
    let away = world.database().with_extension("away");
    fs::rename(world.database(), &away).unwrap();
    for (tool, arguments) in [
        ("store", json!({"content": "kept nowhere"})),
        ("recall", json!({"query": "kept before"})),
    ] {
        let said = mcp.fails(tool, arguments);
        assert!(said.contains("code: store_unavailable"), "{tool}: {said}");
        assert!(said.contains("run `hyphae-server init`"), "{tool}: {said}");
    }
    // Back again, as after a restored backup.
    fs::rename(&away, world.database()).unwrap();
    mcp.store("kept afterwards");
    assert_eq!(mcp.recall("kept").len(), 2);
    assert_eq!(world.key(), key);

    // Another database in its place: this key means nothing there.
    let other = World::new();
    fs::rename(other.database(), world.database()).unwrap();
    let said = mcp.fails("store", json!({"content": "kept elsewhere"}));
    assert!(said.contains("was replaced"), "{said}");
    let said = mcp.fails("store", json!({"content": "kept elsewhere"}));
    assert!(said.contains("code: unauthorized"), "{said}");
    mcp.end();
}

#[test]
fn another_embedding_model_searches_by_words_and_stores_nothing() {
    let world = World::empty();
    world.run(["init", "--embedder", "static"]).well();
    let mut mcp = Mcp::start(&world, Era::Legacy);
    mcp.store("herons stand in the reeds");
    mcp.end();
    let mut command = world.hyphae();
    command.env("HYPHAE_EMBEDDER", "minilm");
    let mut mcp = Mcp::start_with(&world, command);
    let found = mcp.call("recall", json!({"query": "herons"}));
    assert_eq!(
        (&found["mode"], &found["matched"]),
        (&json!("keyword"), &json!(1))
    );
    assert!(
        found["warnings"][0].as_str().unwrap().contains("reembed"),
        "{found}"
    );
    let said = mcp.fails("store", json!({"content": "one more"}));
    assert!(said.contains("code: other_model"), "{said}");
    mcp.end();
}
