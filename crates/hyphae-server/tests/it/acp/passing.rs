//! What passes through, and what is changed on the way.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::editor::{Editor, prompt, supervise, supervise_any};
use crate::world::{BINARY, World};

/// What the scripted agent wrote down of what it heard.
fn journal(world: &World) -> Vec<String> {
    let text = fs::read_to_string(world.work().join("journal")).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn journalled(world: &World, options: &[&str], agent: &[&str]) -> Editor {
    let path = world.work().join("journal");
    let mut arguments = vec!["--journal", path.to_str().unwrap()];
    arguments.extend(agent);
    supervise(world, options, &arguments)
}

#[test]
fn an_agent_is_introduced_as_itself_and_closes_sessions() {
    let world = World::empty();
    let caps = r#"{"promptCapabilities":{"image":true},"loadSession":true,"_x":7}"#;
    let mut editor = supervise(&world, &[], &["--caps", caps]);
    let introduced = editor.initialize();
    assert_eq!(
        introduced,
        json!({
            "protocolVersion": 1,
            "agentInfo": { "name": "scripted", "version": "1" },
            "agentCapabilities": {
                "promptCapabilities": { "image": true },
                "loadSession": false,
                "_x": 7,
                "sessionCapabilities": { "close": {} },
            },
            "_meta": {
                "scripted": { "name": "tests", "version": "1" },
                "hyphae": { "supervisor": env!("CARGO_PKG_VERSION") },
            },
        })
    );
    assert_eq!(editor.end().code(), Some(0));
}

#[test]
fn the_second_start_knows_the_agent_and_waits_for_none() {
    let world = World::empty();
    let mut first = journalled(&world, &[], &[]);
    let introduced = first.initialize();
    assert_eq!(first.end().code(), Some(0));
    assert_eq!(journal(&world).len(), 1);
    let mut second = journalled(&world, &[], &[]);
    assert_eq!(second.initialize(), introduced);
    assert_eq!(journal(&world).len(), 1, "no child was asked");
    let session = second.open(&world.work());
    assert_eq!(second.one(&session, "say hello"), "hello");
    second.end();
}

#[test]
fn two_sessions_are_two_processes_each_in_its_place() {
    let world = World::empty();
    let (one, two) = (world.directory("one"), world.directory("two"));
    let mut editor = supervise(&world, &[], &[]);
    editor.initialize();
    let (a, b) = (editor.open(&one), editor.open(&two));
    assert_ne!(a, b);
    let (first, second) = (editor.prompt(&a, "cwd\npid"), editor.prompt(&b, "cwd\npid"));
    for id in [first, second] {
        assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    }
    let (a, b) = (editor.said(&a), editor.said(&b));
    assert_eq!(a[0], one.to_str().unwrap());
    assert_eq!(b[0], two.to_str().unwrap());
    assert_ne!(a[1], b[1]);
    assert_eq!(editor.end().code(), Some(0));
}

#[test]
fn the_first_child_serves_the_first_session_of_its_directory() {
    let world = World::empty();
    let mut editor = journalled(&world, &[], &[]);
    editor.initialize();
    editor.open(&world.work());
    editor.end();
    let methods: Vec<String> = journal(&world)
        .iter()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["method"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(methods, ["initialize", "session/new"]);
}

#[test]
fn the_answer_to_new_names_the_session_of_the_agent_and_its_log() {
    let world = World::empty();
    let mut editor = supervise(&world, &[], &[]);
    editor.initialize();
    let opened = editor.result(
        "session/new",
        &json!({ "cwd": world.work(), "mcpServers": [] }),
    );
    let session = opened["sessionId"].as_str().unwrap();
    let about = &opened["_meta"]["hyphae"];
    assert_eq!(about["sessionId"], session);
    assert!(
        about["agentSessionId"]
            .as_str()
            .unwrap()
            .starts_with("own-")
    );
    assert_eq!(about["log"], format!("hyphae-acp-{session}.log"));
    assert_eq!(opened["modes"], Value::Null);
    assert!(
        opened.as_object().unwrap().contains_key("modes"),
        "as the child wrote it"
    );
    // What the child announced before its answer comes behind it, under our id.
    let (update, _) = editor.wait("update", |message| message["method"] == "session/update");
    assert_eq!(update["params"]["sessionId"], session);
    editor.end();
}

#[test]
fn all_but_the_ids_keeps_its_bytes_in_both_directions() {
    let world = World::empty();
    let mut editor = journalled(&world, &[], &[]);
    editor.initialize();
    let session = editor.open(&world.work());
    let odd = r#"{"params":{"_n":1.50E+2,"sessionId":"ID", "nested":{"sessionId":"ID"},"big":18446744073709551617},"id":"q\u0031","method":"_echo/odd","jsonrpc":"2.0", "extra":[ ]}"#;
    let sent = odd.replace("ID", &session);
    editor.raw(&sent);
    let (_, line) = editor.wait("echo", |message| message["id"] == "q1");
    // The journal has what the child heard: numbered, and with its own name of the session.
    let heard = journal(&world).pop().unwrap();
    let message: Value = serde_json::from_str(&heard).unwrap();
    let own = message["params"]["sessionId"].as_str().unwrap();
    assert!(own.starts_with("own-"));
    let want = odd
        .replacen("ID", own, 1)
        .replacen("ID", &session, 1)
        .replace(r#""q\u0031""#, &message["id"].to_string());
    assert_eq!(heard, want);
    assert!(
        line.contains(r#""id":"q\u0031""#),
        "as it was written: {line}"
    );
    // And a line of the child, as odd.
    let said = r#"{ "method":"_odd\u0031" ,"params":{"x":1.50E+2,"sessionId":"SESSION","y":{ } }, "jsonrpc":"2.0"}"#;
    let id = editor.prompt(&session, &format!("raw {said}"));
    editor.answer(id);
    let line = editor.wait_raw("1.50E+2");
    assert_eq!(line, said.replace("SESSION", &session));
    editor.end();
}

#[test]
fn requests_of_two_children_with_one_id_are_told_apart() {
    let world = World::empty();
    let mut editor = supervise(&world, &[], &[]);
    editor.initialize();
    let (a, b) = (editor.open(&world.work()), editor.open(&world.work()));
    let prompts = [editor.prompt(&a, "ask"), editor.prompt(&b, "ask")];
    let mut asked = Vec::new();
    for session in [&a, &b] {
        let (ask, _) = editor.wait("request", |message| {
            message["method"] == "session/request_permission"
                && message["params"]["sessionId"] == **session
        });
        asked.push(ask["id"].clone());
    }
    assert_ne!(asked[0], asked[1]);
    for (id, option) in asked.iter().zip(["a", "b"]) {
        let result = json!({ "outcome": { "outcome": "selected", "optionId": option } });
        editor.raw(&json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string());
    }
    for id in prompts {
        assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    }
    for (session, option) in [(&a, "a"), (&b, "b")] {
        let said = editor.said(session);
        let outcome: Value = serde_json::from_str(&said[0]).unwrap();
        assert_eq!(outcome["id"], "ask-0", "as the child wrote it");
        assert_eq!(outcome["result"]["outcome"]["optionId"], option);
    }
    editor.end();
}

#[test]
fn a_cancel_reaches_its_session_only() {
    let world = World::empty();
    let mut editor = supervise(&world, &[], &[]);
    editor.initialize();
    let (a, b) = (editor.open(&world.work()), editor.open(&world.work()));
    let (first, second) = (editor.prompt(&a, "wait"), editor.prompt(&b, "say on\nwait"));
    editor.wait("word", |message| {
        message["params"]["update"]["content"]["text"] == "on"
    });
    editor.notify("session/cancel", &json!({ "sessionId": a }));
    assert_eq!(editor.answer(first)["result"]["stopReason"], "cancelled");
    // Unknown and idle ones are silently fine.
    editor.notify("session/cancel", &json!({ "sessionId": "nobody" }));
    editor.notify("session/cancel", &json!({ "sessionId": a }));
    assert_eq!(editor.one(&a, "say again"), "again");
    editor.notify("session/cancel", &json!({ "sessionId": b }));
    assert_eq!(editor.answer(second)["result"]["stopReason"], "cancelled");
    editor.end();
}

#[test]
fn whoever_authenticated_once_has_done_so_in_every_child() {
    let world = World::empty();
    let mut editor = supervise(&world, &[], &["--auth"]);
    editor.initialize();
    let cwd = world.directory("elsewhere");
    let new = json!({ "cwd": cwd, "mcpServers": [] });
    assert_eq!(editor.call("session/new", &new)["error"]["code"], -32000);
    assert_eq!(
        editor.result("authenticate", &json!({ "methodId": "key" })),
        json!({})
    );
    let session = editor.open(&cwd);
    assert_eq!(editor.one(&session, "say in"), "in");
    editor.open(&world.work());
    editor.end();
}

#[test]
fn our_own_console_is_a_child_like_any_other() {
    let world = World::new();
    let mut editor = supervise_any(&world, &[], &[BINARY, "acp-stdio"]);
    let introduced = editor.initialize();
    assert_eq!(introduced["agentInfo"]["name"], "hyphae");
    let session = editor.open(&world.work());
    let id = editor.request(
        "session/prompt",
        &prompt(&session, "/store We ship on Thursdays"),
    );
    assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    let said = editor.said(&session);
    assert!(said[0].starts_with("stored "), "{said:?}");
    assert_eq!(
        editor.result("session/close", &json!({ "sessionId": session })),
        json!({})
    );
    assert_eq!(editor.end().code(), Some(0));
}
