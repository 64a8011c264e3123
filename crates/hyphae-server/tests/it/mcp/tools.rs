//! What the tools do, end to end.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::json;

use super::{Era, Mcp};
use crate::world::World;

#[test]
fn what_one_process_stores_another_recalls_and_so_does_the_console() {
    let world = World::new();
    let mut one = Mcp::start(&world, Era::Legacy);
    let stored = one.call(
        "store",
        json!({"content": "We ship Postgres for V1", "type": "decision", "salience": "0.9"}),
    );
    assert_eq!(stored["outcome"], "created");
    assert_eq!(stored["searchable"], true);
    assert_eq!(stored["scope"]["project"], world.work().to_str().unwrap());
    let mut other = Mcp::start(&world, Era::Modern);
    let found = other.call(
        "recall",
        json!({"query": "which Postgres version do we ship"}),
    );
    assert_eq!(found["matched"], 1);
    let hit = &found["hits"][0];
    assert_eq!(hit["id"], stored["id"]);
    assert_eq!(hit["type"], "Decision");
    assert_eq!(hit["content"], "We ship Postgres for V1");
    assert_eq!(hit["author"], "default");
    let again = other.call(
        "store",
        json!({"content": "We ship Postgres for V1", "type": "Decision"}),
    );
    assert_eq!(
        (&again["outcome"], &again["id"]),
        (&json!("unchanged"), &stored["id"])
    );
    one.end();
    other.end();
    let shown = world
        .run(["console", "/recall", "We ship Postgres for V1"])
        .well();
    assert!(shown.starts_with(stored["id"].as_str().unwrap()), "{shown}");
}

#[test]
fn a_query_about_nothing_stored_matches_nothing() {
    let world = World::new();
    let mut mcp = Mcp::start(&world, Era::Legacy);
    mcp.store("We ship Postgres for V1");
    let found = mcp.call("recall", json!({"query": "banana bread with walnuts"}));
    assert_eq!(found["matched"], 0);
    assert_eq!(found["hits"], json!([]));
    mcp.end();
}

#[test]
fn arguments_are_read_as_clients_send_them() {
    let world = World::new();
    let mut mcp = Mcp::start(&world, Era::Legacy);
    mcp.call(
        "store",
        json!({"content": "the build takes nine minutes", "type": "RISK", "project": null}),
    );
    for arguments in [
        json!({"query": "how long the build takes", "types": "[\"risk\"]", "k": "3"}),
        json!({"query": "how long the build takes", "types": ["Risk"], "layer": "l0", "k": null}),
        json!({"query": "how long the build takes", "types": "null", "max_tokens": 300.0}),
        json!("{\"query\": \"how long the build takes\"}"),
    ] {
        assert_eq!(
            mcp.call("recall", arguments.clone())["matched"],
            1,
            "{arguments}"
        );
    }
    for (arguments, want) in [
        (json!({"query": "x", "k": 0}), "from 1 to 100"),
        (
            json!({"query": "x", "types": ["Idea"]}),
            "Decision, Constraint",
        ),
        (
            json!({"query": "x", "limit": 3}),
            "the arguments are: query",
        ),
        (
            json!({"query": "x", "as_of": "yesterday"}),
            "argument: as_of",
        ),
        (
            json!({"query": "x", "as_of": "2026-01-01", "include_inactive": true}),
            "send one of the two",
        ),
        (json!({"query": "x", "tags": ["a,b"]}), "argument: tags"),
        (json!({"query": "x", "max_distance": 2}), "from 0 to 1"),
        (json!({"query": "x".repeat(8001)}), "8000"),
        (
            json!({"query": "x", "project": "no-such-project"}),
            "code: unknown_project",
        ),
    ] {
        let said = mcp.fails("recall", arguments.clone());
        assert!(said.contains(want), "{arguments}: {said}");
    }
    let said = mcp.fails("store", json!({"content": ""}));
    assert!(said.contains("argument: content"), "{said}");
    mcp.end();
}

#[test]
fn credentials_are_masked_before_anything_keeps_them() {
    let world = World::new();
    let mut mcp = Mcp::start(&world, Era::Legacy);
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let stored = mcp.call(
        "store",
        json!({"content": format!("the deploy token is {secret}")}),
    );
    assert_eq!(stored["redactions"], 1);
    assert_eq!(stored["warnings"].as_array().unwrap().len(), 1);
    let said = mcp.fails("recall", json!({"query": "x", "k": secret}));
    assert!(!said.contains(secret), "{said}");
    assert!(!mcp.recall("deploy token")[0].contains(secret));
    mcp.end();
    for file in [Mcp::log(&world), world.database()] {
        let bytes = fs::read(&file).unwrap();
        let found = bytes
            .windows(secret.len())
            .any(|part| part == secret.as_bytes());
        assert!(!found, "{}", file.display());
    }
}

#[test]
fn the_log_holds_neither_questions_nor_memories() {
    let world = World::new();
    let mut mcp = Mcp::start(&world, Era::Modern);
    mcp.store("the heron nests by the weir");
    mcp.recall("where does the heron nest");
    mcp.fails("recall", json!({"query": "heron", "heronry": 1}));
    mcp.end();
    let log = fs::read_to_string(Mcp::log(&world)).unwrap();
    assert!(log.contains("a tool was called"), "{log}");
    assert!(!log.contains("heron"), "{log}");
    assert!(!log.contains(&world.key()), "{log}");
}

#[test]
fn a_project_is_the_start_directory_unless_it_is_named() {
    let world = World::new();
    let mut here = Mcp::start(&world, Era::Legacy);
    here.store("only the first project knows of the heron");
    here.end();

    let other = world.directory("other");
    let mut command = world.hyphae();
    command.current_dir(&other);
    let mut there = Mcp::start_with(&world, command);
    assert_eq!(there.recall("heron"), [""; 0]);
    let work = world.work();
    let found = there.call("recall", json!({"query": "heron", "project": work}));
    assert_eq!(found["matched"], 1);
    assert_eq!(found["scope"]["project"], work.to_str().unwrap());
    there.end();

    world
        .run(["project", "link", "team", work.to_str().unwrap()])
        .well();
    let mut named = world.hyphae();
    named.current_dir("/").env("HYPHAE_PROJECT", "team");
    let mut named = Mcp::start_with(&world, named);
    named.store("the whole team knows of the heron");
    named.end();
    let mut linked = Mcp::start(&world, Era::Legacy);
    assert_eq!(
        linked.recall("heron"),
        ["the whole team knows of the heron"]
    );
    linked.end();
    let mut nowhere = world.hyphae();
    nowhere.current_dir("/");
    let mut nowhere = Mcp::start_with(&world, nowhere);
    let found = nowhere.call("recall", json!({"query": "heron"}));
    assert_eq!(found["matched"], 0);
    assert!(
        found["warnings"][0]
            .as_str()
            .unwrap()
            .contains("HYPHAE_PROJECT"),
        "{found}"
    );
    nowhere.end();
}

#[test]
fn an_answer_keeps_to_its_tokens_and_counts_what_it_left_out() {
    let world = World::new();
    let mut mcp = Mcp::start(&world, Era::Legacy);
    for n in 0..40 {
        let rest = format!("gauge {n} ").repeat(200);
        mcp.send_call("store", json!({"content": format!("heron {n} {rest}")}));
    }
    for max in [300, 1000, 4000] {
        let found = mcp.call(
            "recall",
            json!({"query": "heron", "k": 40, "max_tokens": max}),
        );
        let shown = found["hits"].as_array().unwrap().len();
        assert!(shown > 0, "{max}");
        assert_eq!(found["matched"], 40);
        assert_eq!(found["omitted"], 40 - shown);
        // Four bytes a token is what such a text comes to.
        assert!(
            found.to_string().len() / 4 <= max + max / 10,
            "{max}: {}",
            found.to_string().len()
        );
    }
    mcp.end();
}
