//! Places for sessions, closing, parking.

use std::time::Duration;

use pretty_assertions::assert_eq;
use serde_json::json;

use super::editor::{is_gone, parent, supervise};
use crate::world::{PATIENCE, World};

/// The least that a supervisor may take to notice; nothing waits this long when all is well.
const NOW: Duration = Duration::from_secs(10);

#[test]
fn nothing_comes_before_initialize() {
    let world = World::empty();
    let mut editor = supervise(&world, &[], &[]);
    let answer = editor.call(
        "session/new",
        &json!({ "cwd": world.work(), "mcpServers": [] }),
    );
    assert_eq!(answer["error"]["code"], -32600);
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("initialize")
    );
    editor.end();
}

#[test]
fn what_is_sent_behind_initialize_waits_for_its_answer() {
    let world = World::empty();
    let mut editor = supervise(&world, &[], &[]);
    let first = editor.request("initialize", &json!({ "protocolVersion": 1 }));
    let new = json!({ "cwd": world.work(), "mcpServers": [] });
    let second = editor.request("session/new", &new);
    let (answer, _) = editor.wait("an answer", |message| message.get("id").is_some());
    assert_eq!(answer["id"], first);
    assert!(editor.answer(second)["result"]["sessionId"].is_string());
    editor.end();
}

#[test]
fn places_are_taken_before_the_start_and_free_when_the_process_is_gone() {
    let world = World::empty();
    let mut editor = supervise(&world, &["--max-sessions", "1"], &[]);
    editor.initialize();
    let session = editor.open(&world.work());
    let pid = editor.pid(&session, "pid");
    let new = json!({ "cwd": world.work(), "mcpServers": [] });
    let full = editor.call("session/new", &new);
    assert_eq!(full["error"]["code"], -32602);
    assert_eq!(
        full["error"]["data"],
        json!({ "maxSessions": 1, "openSessions": [session] })
    );
    assert_eq!(
        editor.result("session/close", &json!({ "sessionId": session })),
        json!({})
    );
    assert!(is_gone(pid, NOW));
    let keeper_gone = || editor.call("session/new", &new).get("result").is_some();
    assert!(until(keeper_gone), "the place is free");
    editor.end();
}

/// Asks again until it is so; each time is a round trip to another process.
fn until(mut is_so: impl FnMut() -> bool) -> bool {
    let deadline = std::time::Instant::now() + PATIENCE;
    while std::time::Instant::now() < deadline {
        if is_so() {
            return true;
        }
    }
    false
}

#[test]
fn a_closed_session_is_unknown_and_the_others_go_on() {
    let world = World::empty();
    let mut editor = supervise(
        &world,
        &[],
        &["--caps", r#"{"sessionCapabilities":{"close":{}}}"#],
    );
    editor.initialize();
    let (a, b) = (editor.open(&world.work()), editor.open(&world.work()));
    let pid = editor.pid(&a, "pid");
    let keeper = parent(pid);
    editor.result("session/close", &json!({ "sessionId": a }));
    for method in ["session/prompt", "session/close", "session/set_mode"] {
        let answer = editor.call(method, &json!({ "sessionId": a, "prompt": [] }));
        assert_eq!(answer["error"]["code"], -32002, "{method}");
        assert_eq!(
            answer["error"]["data"],
            json!({ "sessionId": a }),
            "{method}"
        );
    }
    assert!(is_gone(pid, NOW) && is_gone(keeper, NOW));
    assert_eq!(editor.one(&b, "say still here"), "still here");
    editor.end();
}

#[test]
fn closing_ends_a_turn_of_a_child_that_listens_and_of_one_that_does_not() {
    let world = World::empty();
    for (script, options) in [
        ("say on\nwait", &[][..]),
        ("say on\nhang", &["--settle-timeout", "200ms"]),
    ] {
        let mut editor = supervise(&world, options, &[]);
        editor.initialize();
        let session = editor.open(&world.work());
        let prompt = editor.prompt(&session, script);
        editor.wait("word", |message| {
            message["params"]["update"]["content"]["text"] == "on"
        });
        let close = editor.request("session/close", &json!({ "sessionId": session }));
        let (first, _) = editor.wait("an answer", |message| message.get("id").is_some());
        assert_eq!(first["id"], prompt, "the turn is answered first");
        assert_eq!(first["result"], json!({ "stopReason": "cancelled" }));
        assert_eq!(editor.answer(close)["result"], json!({}));
        editor.end();
    }
}

#[test]
fn an_idle_child_goes_and_comes_back_with_the_next_prompt() {
    let world = World::empty();
    for caps in [
        r#"{"loadSession":true}"#,
        r#"{"sessionCapabilities":{"resume":{}}}"#,
    ] {
        let options = ["--idle-park", "50ms", "--max-sessions", "1"];
        let mut editor = supervise(&world, &options, &["--caps", caps]);
        editor.initialize();
        let session = editor.open(&world.work());
        // In one prompt: it may go right behind its answer.
        let (said, _) = editor.run(&session, "pid\nkeeper");
        let [first, keeper] = [0, 1].map(|at: usize| said[at].parse().unwrap());
        assert!(is_gone(first, NOW) && is_gone(keeper, NOW), "{caps}");
        // Its place may be free only a moment later.
        let mut second = String::new();
        assert!(until(|| {
            let (mut said, _) = editor.run(&session, "pid");
            second = said.pop().unwrap_or_default();
            !second.is_empty()
        }));
        assert_ne!(second, first.to_string());
        editor.end();
    }
}

#[test]
fn an_idle_child_that_would_forget_stays() {
    let world = World::empty();
    let mut editor = supervise(&world, &["--idle-park", "1ms"], &[]);
    editor.initialize();
    let session = editor.open(&world.work());
    let first = editor.pid(&session, "pid");
    assert!(!is_gone(first, Duration::from_millis(300)));
    assert_eq!(editor.pid(&session, "pid"), first);
    editor.end();
}

#[test]
fn an_odd_number_of_sessions_is_refused_by_name() {
    let world = World::empty();
    for count in ["0", "-1", "many"] {
        let done = world.run(["acp", &format!("--max-sessions={count}"), "--", "agent"]);
        assert_eq!(done.code, Some(2));
        assert!(
            done.err.contains("--max-sessions") && done.err.contains(count),
            "{}",
            done.err
        );
    }
    let done = world.run(["acp"]);
    assert_eq!(done.code, Some(2));
}
