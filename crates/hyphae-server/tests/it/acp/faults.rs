//! Children that misbehave: the editor hears of it, the other sessions do not.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::editor::{Editor, state, supervise, supervise_any};
use crate::world::{World, mode};

/// Checks that `initialize` fails and says this.
#[track_caller]
fn fails(editor: &mut Editor, phase: &str, words: &str) {
    let answer = editor.call("initialize", &json!({ "protocolVersion": 1 }));
    let error = &answer["error"];
    assert_eq!(error["code"], -32603, "{answer}");
    assert_eq!(error["data"]["phase"], phase, "{answer}");
    let details = error["data"]["details"].as_str().unwrap();
    assert!(details.contains(words), "{details}");
    let log = error["data"]["log"].as_str().unwrap();
    assert!(log.starts_with("hyphae-acp-"), "{log}");
}

#[test]
fn an_agent_that_is_not_there_is_named() {
    let world = World::empty();
    let mut editor = supervise_any(&world, &[], &["no-such-agent", "acp"]);
    fails(
        &mut editor,
        "start",
        "the agent `no-such-agent` failed: it cannot be started: No such file",
    );
    // And once more: nothing was learned from it.
    fails(&mut editor, "start", "No such file");
    assert_eq!(editor.end().code(), Some(0));
}

#[test]
fn an_agent_that_cannot_be_run_is_named() {
    let world = World::empty();
    let file = world.work().join("agent");
    fs::write(&file, "text").unwrap();
    let mut editor = supervise_any(&world, &[], &[file.to_str().unwrap()]);
    fails(&mut editor, "start", "Permission denied");
    editor.end();
}

#[test]
fn an_agent_that_ends_at_once_is_told_with_its_code() {
    let world = World::empty();
    let mut editor = supervise(&world, &[], &["--exit", "7"]);
    fails(&mut editor, "initialize", "exit code 7");
    editor.end();
    // An agent's own 127 is no missing program.
    let mut editor = supervise(&world, &[], &["--exit", "127"]);
    fails(&mut editor, "initialize", "exit code 127");
    editor.end();
}

#[test]
fn an_agent_that_says_nothing_is_given_up() {
    let world = World::empty();
    let mut editor = supervise(&world, &["--start-timeout", "200ms"], &["--silent"]);
    fails(&mut editor, "initialize", "did not answer within 200 ms");
    editor.end();
}

#[test]
fn a_banner_on_stdout_is_passed_over() {
    let world = World::empty();
    let mut editor = supervise(&world, &[], &["--banner"]);
    editor.initialize();
    let session = editor.open(&world.work());
    assert_eq!(
        editor.one(&session, "raw Update available!\nraw [1]\nraw {}\nsay fine"),
        "fine"
    );
    editor.end();
}

#[test]
fn an_answer_to_nothing_is_dropped() {
    let world = World::empty();
    let mut editor = supervise(&world, &[], &[]);
    editor.initialize();
    let session = editor.open(&world.work());
    let script = "raw {\"jsonrpc\":\"2.0\",\"id\":999999,\"result\":{}}\nraw {\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{}}\nsay fine";
    let before = editor.prompt(&session, script);
    let (answer, _) = editor.wait("an answer", |message| {
        message.get("id").is_some() && message.get("method").is_none()
    });
    assert_eq!(answer["id"], before);
    assert_eq!(editor.said(&session), ["fine"]);
    editor.end();
}

#[test]
fn an_agent_that_refuses_a_session_is_heard_and_its_place_is_free() {
    let world = World::empty();
    let mut editor = supervise(&world, &["--max-sessions", "1"], &["--refuse-new"]);
    editor.initialize();
    let new = json!({ "cwd": world.work(), "mcpServers": [] });
    let want = json!({ "code": -32602, "message": "model unavailable", "data": { "n": 1 } });
    let mut refused = 0;
    while refused < 3 {
        let answer = editor.call("session/new", &new);
        // While the process of the former one is not gone yet, its place is taken.
        if answer["error"]["data"].get("maxSessions").is_none() {
            assert_eq!(answer["error"], want);
            refused += 1;
        }
    }
    editor.end();
}

#[test]
fn an_agent_that_dies_while_it_opens_a_session_fails_that_session() {
    let world = World::empty();
    let mut editor = supervise(&world, &[], &["--die-in", "session/new"]);
    editor.initialize();
    let answer = editor.call(
        "session/new",
        &json!({ "cwd": world.work(), "mcpServers": [] }),
    );
    assert_eq!(answer["error"]["code"], -32603);
    assert_eq!(answer["error"]["data"]["phase"], "session/new");
    assert!(
        answer["error"]["data"]["details"]
            .as_str()
            .unwrap()
            .contains("exit code 9")
    );
    editor.end();
}

#[track_caller]
fn crashed(answer: &Value, how: &str) {
    let data = &answer["error"]["data"];
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    assert_eq!(data["phase"], "session/prompt", "{answer}");
    assert!(data["details"].as_str().unwrap().contains(how), "{answer}");
}

#[test]
fn a_crash_fails_its_turn_and_no_other() {
    let world = World::empty();
    let mut editor = supervise(&world, &[], &[]);
    editor.initialize();
    let other = editor.open(&world.work());
    for (script, how) in [
        ("say last words\ncrash 3", "exit code 3"),
        ("say last words\ndie", "signal 9"),
        ("say last words\nhalf", "exit code 0"),
    ] {
        let session = editor.open(&world.work());
        let (said, answer) = editor.run(&session, script);
        assert_eq!(said, ["last words"], "{script}");
        crashed(&answer, how);
        assert_eq!(editor.one(&other, "say unharmed"), "unharmed");
        // It cannot open a session again, and says so.
        let (_, again) = editor.run(&session, "say back");
        assert!(
            again["error"]["data"]["details"]
                .as_str()
                .unwrap()
                .contains("open a new one")
        );
    }
    editor.end();
}

#[test]
fn a_session_that_the_agent_can_open_again_survives_its_crash() {
    let world = World::empty();
    let mut editor = supervise(&world, &[], &["--caps", r#"{"loadSession":true}"#]);
    editor.initialize();
    let session = editor.open(&world.work());
    let (_, answer) = editor.run(&session, "crash 3");
    crashed(&answer, "exit code 3");
    // Its replay has been seen.
    assert_eq!(editor.one(&session, "say back"), "back");
    editor.end();
}

#[test]
fn a_question_of_a_child_that_died_is_withdrawn() {
    let world = World::empty();
    let mut editor = supervise(&world, &[], &[]);
    editor.initialize();
    let session = editor.open(&world.work());
    let pid = editor.pid(&session, "pid");
    let id = editor.prompt(&session, "ask");
    let (ask, _) = editor.wait("request", |message| {
        message["method"] == "session/request_permission"
    });
    super::editor::kill(pid);
    crashed(&editor.answer(id), "signal 9");
    let (withdrawn, _) = editor.wait("withdrawal", |message| {
        message["method"] == "$/cancel_request"
    });
    assert_eq!(withdrawn["params"]["requestId"], ask["id"]);
    // A late answer disturbs nobody.
    editor.raw(&json!({ "jsonrpc": "2.0", "id": ask["id"], "result": {} }).to_string());
    editor.open(&world.work());
    editor.end();
}

#[test]
fn a_flood_arrives_whole_and_in_order_while_others_are_served() {
    const MANY: usize = 10_000;
    let world = World::empty();
    let mut editor = supervise(&world, &[], &[]);
    editor.initialize();
    let (flood, other) = (editor.open(&world.work()), editor.open(&world.work()));
    let id = editor.prompt(&flood, &format!("flood {MANY}"));
    assert_eq!(editor.one(&other, "say between"), "between");
    assert_eq!(editor.answer(id)["result"]["stopReason"], "end_turn");
    let said = editor.said(&flood);
    assert_eq!(said.len(), MANY);
    assert!(
        said.iter()
            .enumerate()
            .all(|(n, text)| *text == format!("message {n} of a flood"))
    );
    editor.end();
}

#[test]
fn a_child_that_does_not_read_refuses_what_is_too_much_and_others_go_on() {
    let world = World::empty();
    let mut editor = supervise(
        &world,
        &["--max-frame-bytes", "100000", "--stop-grace", "100ms"],
        &["--deaf"],
    );
    editor.initialize();
    let deaf = editor.open(&world.work());
    let big = "x".repeat(90_000);
    let first = editor.prompt(&deaf, &big);
    let mut refused = None;
    for _ in 0..8 {
        refused = Some(editor.prompt(&deaf, &big));
    }
    let answer = editor.answer(refused.unwrap());
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    assert!(first < refused.unwrap());
    let other = editor.open(&world.work());
    assert_ne!(other, deaf);
    editor.end();
}

#[test]
fn a_message_that_is_too_long_is_passed_over_and_its_request_answered() {
    let world = World::empty();
    let mut editor = supervise(&world, &["--max-frame-bytes", "5000"], &[]);
    editor.initialize();
    let session = editor.open(&world.work());
    let long = "y".repeat(6000);
    editor.raw(&format!(r#"{{"jsonrpc":"2.0","id":"long","method":"_echo","params":{{"sessionId":"{session}","x":"{long}"}}}}"#));
    let (answer, _) = editor.wait("refusal", |message| message["id"] == "long");
    assert_eq!(answer["error"]["code"], -32600);
    // And an answer of the child that is too long.
    let almost = "y".repeat(4850);
    let id = editor.request(
        "_echo",
        &json!({ "sessionId": session, "x": almost, "z": "" }),
    );
    let answer = editor.answer(id);
    let (said, _) = editor.run(
        &session,
        &format!("raw {{\"x\":\"{}\"}}\nsay on", "z".repeat(4700)),
    );
    assert_eq!(said, ["on"]);
    assert!(answer.get("result").is_some() || answer["error"]["code"] == -32603);
    editor.end();
}

#[test]
fn what_an_agent_says_on_stderr_is_in_its_log_without_secrets() {
    let world = World::empty();
    let mut editor = supervise(&world, &[], &[]);
    editor.initialize();
    let session = editor.open(&world.work());
    let key = format!("hyk_{}", "0123456789abcdef".repeat(4));
    editor.run(&session, &format!("log using {key}\nsay done"));
    editor.end();
    let log = state(&world).join(format!("hyphae-acp-{session}.log"));
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.starts_with("using [masked"), "{text}");
    assert!(!text.contains(&key));
    assert_eq!((mode(&log), mode(&state(&world))), (0o600, 0o700));
}

#[test]
fn a_directory_that_vanishes_fails_what_needs_it() {
    let world = World::empty();
    let cwd = world.directory("short-lived");
    let options = ["--idle-park", "20ms"];
    let mut editor = supervise(&world, &options, &["--caps", r#"{"loadSession":true}"#]);
    editor.initialize();
    let session = editor.open(&cwd);
    let pid = editor.pid(&session, "pid");
    assert!(super::editor::is_gone(pid, crate::world::PATIENCE));
    fs::remove_dir(&cwd).unwrap();
    let (_, answer) = editor.run(&session, "say back");
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    let answer = editor.call("session/new", &json!({ "cwd": cwd, "mcpServers": [] }));
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(answer["error"]["data"]["field"], "cwd");
    editor.end();
}
