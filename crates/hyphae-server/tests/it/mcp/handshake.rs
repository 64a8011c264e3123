//! How a conversation opens, in both eras, and what it opens on.

use std::{fs, io::Write as _, time::Instant};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{Era, Mcp};
use crate::world::{STRANGER, World, run};

fn initialize(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "tests", "version": "1"},
    })
}

#[test]
fn each_older_revision_is_spoken_and_others_get_the_newest_of_them() {
    let world = World::new();
    for (asked, want) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2001-01-01", "2025-11-25"),
    ] {
        let mut mcp = Mcp::silent(&world, world.hyphae());
        let said = mcp.ask("initialize", initialize(asked));
        assert_eq!(said["protocolVersion"], want, "{asked}");
        assert_eq!(said["serverInfo"]["name"], "hyphae");
        assert!(said["instructions"].as_str().unwrap().len() < 1024);
        assert_eq!(mcp.end(), [Value::Null; 0]);
    }
}

#[test]
fn a_client_of_2026_discovers_and_every_request_says_its_version() {
    let world = World::new();
    let mut mcp = Mcp::silent(&world, world.hyphae());
    let found = mcp.shake_hands(Era::Modern);
    let versions = found["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    assert!(versions.contains(&json!("2025-06-18")), "{found}");
    assert_eq!(found["resultType"], "complete");
    let tools = mcp.ask("tools/list", json!({}));
    assert_eq!(tools["resultType"], "complete");
    assert_eq!(tools["cacheScope"], "public");
    mcp.store("the gauge by the lock reads four");
    assert_eq!(
        mcp.recall("gauge by the lock"),
        ["the gauge by the lock reads four"]
    );
    mcp.raw(r#"{"jsonrpc":"2.0","id":"x","method":"tools/list","params":{}}"#);
    assert_eq!(mcp.next()["error"]["code"], -32602);
    mcp.end();
}

#[test]
fn a_client_may_ask_in_one_era_and_go_on_in_the_other() {
    let world = World::new();
    let mut mcp = Mcp::silent(&world, world.hyphae());
    mcp.shake_hands(Era::Modern);
    mcp.shake_hands(Era::Legacy);
    mcp.store("the gauge by the lock reads four");
    mcp.shake_hands(Era::Modern);
    assert_eq!(mcp.recall("gauge by the lock").len(), 1);
    mcp.end();
}

#[test]
fn tools_are_listed_before_there_is_any_database() {
    let world = World::new();
    fs::remove_file(world.database()).unwrap();
    let mut mcp = Mcp::silent(&world, world.hyphae());
    let started = Instant::now();
    mcp.shake_hands(Era::Legacy);
    let listed = mcp.ask("tools/list", json!({}));
    assert!(!listed["tools"].as_array().unwrap().is_empty());
    // The bound is 100 ms on an idle machine; this only catches a start that waits for something.
    assert!(started.elapsed().as_secs() < 5);
    let said = mcp.fails("recall", json!({"query": "anything"}));
    assert!(said.contains("run `hyphae-server init`"), "{said}");
    assert!(said.contains("code: store_unavailable"), "{said}");
    assert!(!world.database().exists(), "reading makes no database");
    // Each call tries again.
    world.run(["init"]);
    let key = world.key();
    assert!(!key.is_empty());
    mcp.end();
}

#[test]
fn a_key_that_cannot_be_one_ends_the_start_and_one_that_opens_nothing_is_told_to_the_model() {
    let world = World::new();
    let start = |key: &str| {
        let mut command = world.hyphae();
        command.arg("mcp-stdio").env("HYPHAE_API_KEY", key);
        run(command, "")
    };
    for key in ["", "hyk_short", "file:/nowhere"] {
        let line = start(key).refused();
        assert!(line.starts_with("hyphae-server: "), "{line}");
    }
    let mut command = world.hyphae();
    command.env("HYPHAE_API_KEY", STRANGER);
    let mut mcp = Mcp::start_with(&world, command);
    let said = mcp.fails("store", json!({"content": "nobody may keep this"}));
    assert!(said.contains("code: unauthorized"), "{said}");
    assert!(said.contains("hyphae-server keys create"), "{said}");
    assert!(!said.contains(STRANGER), "{said}");
    mcp.end();

    let key = world.another_key("leaver");
    let id = world.run(["keys", "list"]).well();
    let id = id.lines().find(|line| line.contains("leaver")).unwrap();
    let id = id.split_whitespace().next().unwrap();
    world.run(["keys", "revoke", id]).well();
    let mut command = world.hyphae();
    command.env("HYPHAE_API_KEY", key);
    let mut mcp = Mcp::start_with(&world, command);
    let said = mcp.fails("recall", json!({"query": "anything"}));
    assert!(said.contains("was revoked"), "{said}");
    assert!(said.contains("code: unauthorized"), "{said}");
    mcp.end();
}

#[test]
fn a_client_that_leaves_at_once_is_no_failure() {
    let world = World::new();
    let mcp = Mcp::silent(&world, world.hyphae());
    assert_eq!(mcp.end(), [Value::Null; 0]);
    let mut mcp = Mcp::silent(&world, world.hyphae());
    mcp.raw(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    mcp.raw(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    mcp.shake_hands(Era::Legacy);
    mcp.end();
}

#[test]
fn files_serve_as_well_as_pipes() {
    let world = World::new();
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize("2025-11-25")}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "store", "arguments": {"content": "kept from a file"}}}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call",
            "params": {"name": "recall", "arguments": {"query": "kept from a file"}}}),
    ];
    let (asked, answered) = (world.work().join("asked"), world.work().join("answered"));
    let mut file = fs::File::create(&asked).unwrap();
    // The last line has no end.
    let text = lines.map(|line| line.to_string()).join("\n");
    file.write_all(text.as_bytes()).unwrap();
    let mut command = world.hyphae();
    command
        .arg("mcp-stdio")
        .stdin(fs::File::open(&asked).unwrap())
        .stdout(fs::File::create(&answered).unwrap());
    assert_eq!(command.status().unwrap().code(), Some(0));
    let said = fs::read_to_string(&answered).unwrap();
    let said: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(said.len(), 3, "{said:?}");
    let recalled = said.iter().find(|message| message["id"] == 3).unwrap();
    assert_eq!(
        recalled["result"]["structuredContent"]["hits"][0]["content"],
        "kept from a file"
    );
}

#[test]
fn what_cannot_be_read_is_answered_and_ends_nothing() {
    let world = World::new();
    let mut mcp = Mcp::start(&world, Era::Legacy);
    for (line, code) in [
        ("{", -32700),
        (r#"{"jsonrpc":"2.0","id":7,"method":"\ud800"}"#, -32700),
        ("[1,2]", -32600),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"no/such/method"}"#,
            -32601,
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"arguments":{}}}"#,
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"remember"}}"#,
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"x"}}"#,
            -32602,
        ),
    ] {
        mcp.raw(line);
        let answer = mcp.next();
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
    }
    mcp.raw(&format!(
        r#"{{"jsonrpc":"2.0","id":8,"method":"ping","params":{{"x":"{}"}}}}"#,
        "x".repeat(17 << 20)
    ));
    assert_eq!(mcp.next()["error"]["code"], -32600);
    mcp.ask("ping", json!({}));
    mcp.end();
    let log = fs::read_to_string(Mcp::log(&world)).unwrap();
    assert!(!log.contains("no/such/method"), "{log}");
}
