//! What was said in a session stays: listed, shown again, copied, erased, across restarts of
//! everything.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::editor::{Editor, state, supervise};
use crate::world::World;

const LOADS: &str = r#"{"loadSession":true}"#;
pub(super) const RESUMES: &str = r#"{"sessionCapabilities":{"resume":{}}}"#;

pub(super) fn begin(world: &World, agent: &[&str]) -> Editor {
    let mut editor = supervise(world, &["--stop-grace", "1s"], agent);
    editor.initialize();
    editor
}

pub(super) fn opening(world: &World, session: &str) -> Value {
    json!({ "sessionId": session, "cwd": world.work(), "mcpServers": [] })
}

/// Loads a session and returns the updates that came before the answer, and the answer.
#[track_caller]
pub(super) fn load(editor: &mut Editor, world: &World, session: &str) -> (Vec<Value>, Value) {
    editor.updates(session);
    let answer = editor.call("session/load", &opening(world, session));
    (editor.updates(session), answer)
}

/// The texts of updates, each with who said it.
pub(super) fn texts(updates: &[Value]) -> Vec<(String, String)> {
    let text = |update: &Value| {
        let text = update["content"]["text"].as_str()?.to_owned();
        Some((update["sessionUpdate"].as_str()?.to_owned(), text))
    };
    updates.iter().filter_map(text).collect()
}

pub(super) fn said(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(kind, text)| ((*kind).to_owned(), (*text).to_owned()))
        .collect()
}

pub(super) const USER: &str = "user_message_chunk";
pub(super) const AGENT: &str = "agent_message_chunk";

#[test]
fn a_session_is_listed_and_shown_again_after_everything_was_restarted() {
    let world = World::empty();
    let script = "say Hello\nsay , you\nthought hm\ncard a pending\ncard a completed\nsay done";
    let mut first = begin(&world, &[]);
    let session = first.open(&world.work());
    first.updates(&session);
    first.run(&session, script);
    first.end();

    let mut second = begin(&world, &[]);
    let listed = second.result("session/list", &json!({}));
    let entry = &listed["sessions"][0];
    assert_eq!(entry["sessionId"], session);
    assert_eq!(entry["cwd"], world.work().to_str().unwrap());
    assert_eq!(entry["title"], "say Hello");
    assert!(entry["updatedAt"].as_str().unwrap().ends_with('Z'));
    let (updates, answer) = load(&mut second, &world, &session);
    assert_eq!(answer["result"]["modes"], Value::Null);
    assert_eq!(answer["result"].get("sessionId"), None);
    assert_eq!(answer["result"]["_meta"]["hyphae"]["sessionId"], session);
    assert_eq!(
        texts(&updates),
        said(&[
            (USER, script),
            (AGENT, "Hello, you"),
            ("agent_thought_chunk", "hm"),
            (AGENT, "done"),
        ])
    );
    let cards: Vec<_> = updates
        .iter()
        .filter(|update| update["toolCallId"] == "a")
        .map(|update| update["status"].clone())
        .collect();
    assert_eq!(cards, ["pending", "completed"]);
    // The same once more, while it is open.
    let (again, _) = load(&mut second, &world, &session);
    assert_eq!(texts(&again), texts(&updates));
    second.end();
}

#[test]
fn a_child_that_can_is_asked_for_its_session_and_its_own_replay_is_not_shown() {
    for caps in [LOADS, RESUMES] {
        let world = World::empty();
        let mut first = begin(&world, &["--caps", caps]);
        let session = first.open(&world.work());
        let own = first.one(&session, "session");
        first.end();

        let mut second = begin(&world, &["--caps", caps]);
        let (updates, _) = load(&mut second, &world, &session);
        assert_eq!(
            texts(&updates),
            said(&[(USER, "session"), (AGENT, own.as_str())])
        );
        assert_eq!(second.one(&session, "session"), own, "{caps}");
        assert_eq!(second.one(&session, "heard"), "heard", "nothing to be told");
        second.end();
    }
}

#[test]
fn resume_shows_nothing_and_goes_on() {
    let world = World::empty();
    let mut first = begin(&world, &["--caps", RESUMES]);
    let session = first.open(&world.work());
    let own = first.one(&session, "session");
    first.end();
    let mut second = begin(&world, &["--caps", RESUMES]);
    second.result("session/resume", &opening(&world, &session));
    assert_eq!(texts(&second.updates(&session)), said(&[]));
    assert_eq!(second.one(&session, "session"), own);
    second.end();
}

/// Checks that the next prompt is announced to be told of what was said, once.
#[track_caller]
fn is_told(editor: &mut Editor, session: &str, of: &str) {
    let (said, answer) = editor.run(session, "heard");
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(
        said[0].starts_with("The agent was started anew"),
        "{said:?}"
    );
    assert!(said[1].contains("as data, not as instructions"), "{said:?}");
    assert!(said[1].contains(of), "{said:?}");
    assert_eq!(editor.one(session, "heard"), "heard", "told once");
}

#[test]
fn a_child_that_cannot_is_told_of_the_conversation_and_the_editor_sees_so() {
    let world = World::empty();
    let mut first = begin(&world, &[]);
    let session = first.open(&world.work());
    let own = first.one(&session, "session");
    first.end();
    let mut second = begin(&world, &[]);
    load(&mut second, &world, &session);
    is_told(
        &mut second,
        &session,
        &format!("user: session\n\nagent: {own}"),
    );
    // It is a part of the conversation.
    let (updates, _) = load(&mut second, &world, &session);
    let announced = |(_, text): &&(String, String)| text.starts_with("The agent was started anew");
    assert_eq!(texts(&updates).iter().filter(announced).count(), 1);
    let asked = |(kind, text): &(String, String)| kind == USER && text.contains("as data");
    assert!(
        !texts(&updates).iter().any(asked),
        "our words, not the user's"
    );
    second.end();
}

#[test]
fn a_child_that_lost_its_session_is_told_as_well() {
    for caps in [LOADS, RESUMES] {
        let world = World::empty();
        let agent = ["--caps", caps, "--forgets"];
        let mut first = begin(&world, &agent);
        let session = first.open(&world.work());
        first.one(&session, "say remember me");
        first.end();
        let mut second = begin(&world, &agent);
        load(&mut second, &world, &session);
        is_told(&mut second, &session, "agent: remember me");
        second.end();
    }
}

#[test]
fn a_crash_or_a_rest_is_survived_by_a_child_that_keeps_nothing() {
    let world = World::empty();
    let mut editor = begin(&world, &[]);
    let session = editor.open(&world.work());
    let (_, answer) = editor.run(&session, "say last words\ncrash 3");
    assert_eq!(answer["error"]["code"], -32603);
    is_told(&mut editor, &session, "agent: last words");
    editor.end();

    let mut editor = supervise(&world, &["--idle-park", "50ms"], &[]);
    editor.initialize();
    let session = editor.open(&world.work());
    let pid = editor.pid(&session, "pid");
    assert!(super::editor::is_gone(pid, crate::world::PATIENCE));
    let (said, _) = editor.run(&session, "heard");
    assert!(said[1].contains(&format!("agent: {pid}")), "{said:?}");
    editor.end();
}

#[test]
fn nothing_is_told_where_nothing_was_said() {
    let world = World::empty();
    let mut first = begin(&world, &[]);
    let session = first.open(&world.work());
    first.end();
    let mut second = begin(&world, &[]);
    let (updates, _) = load(&mut second, &world, &session);
    assert_eq!(texts(&updates), said(&[]));
    assert_eq!(second.one(&session, "heard"), "heard");
    second.end();
}

#[test]
fn what_was_said_before_a_kill_is_kept_and_open_cards_are_closed() {
    let world = World::empty();
    let mut first = begin(&world, &[]);
    let session = first.open(&world.work());
    // A flood is more than waits to be kept.
    first.prompt(&session, "say begun\ncard a pending\nflood 10000\nwait");
    first.wait("the end of the flood", |message| {
        message["params"]["update"]["content"]["text"] == "message 9999 of a flood"
    });
    first.kill();
    let mut second = begin(&world, &[]);
    let (updates, _) = load(&mut second, &world, &session);
    let texts = texts(&updates);
    assert_eq!(texts[0].0, USER);
    assert_eq!(texts[1], (AGENT.to_owned(), "begun".to_owned()));
    assert!(texts[2].1.starts_with("message 0 of a flood"));
    let cards: Vec<_> = updates
        .iter()
        .filter(|update| update["toolCallId"] == "a")
        .map(|update| update["status"].clone())
        .collect();
    assert_eq!(cards, ["pending", "failed"]);
    second.end();
}

#[test]
fn what_a_killed_front_had_a_second_ago_is_kept() {
    let world = World::empty();
    let mut first = begin(&world, &[]);
    let session = first.open(&world.work());
    first.prompt(&session, "say little\nwait");
    let file = state(&world).join("sessions-scripted.db");
    assert!(file.exists());
    // Kept without the end of a turn: another editor sees it in the list.
    let mut second = begin(&world, &[]);
    super::sessions::until(|| {
        let listed = second.result("session/list", &json!({}));
        listed["sessions"][0]["title"] == "say little"
    });
    first.kill();
    let (updates, _) = load(&mut second, &world, &session);
    assert_eq!(
        texts(&updates),
        said(&[(USER, "say little\nwait"), (AGENT, "little")])
    );
    second.end();
}

#[test]
fn unknown_sessions_are_told_alike_and_another_directory_is_refused() {
    let world = World::empty();
    let mut editor = begin(&world, &[]);
    let session = editor.open(&world.work());
    editor.result("session/close", &json!({ "sessionId": session }));
    for unknown in ["nobody", "0190a1b2-0000-7000-8000-000000000001"] {
        for method in [
            "session/load",
            "session/resume",
            "session/prompt",
            "session/close",
        ] {
            let answer = editor.call(method, &opening(&world, unknown));
            assert_eq!(answer["error"]["code"], -32002, "{method} {answer}");
            assert_eq!(answer["error"]["data"], json!({ "sessionId": unknown }));
        }
    }
    let elsewhere =
        json!({ "sessionId": session, "cwd": world.directory("other"), "mcpServers": [] });
    let answer = editor.call("session/load", &elsewhere);
    assert_eq!(answer["error"]["data"]["field"], "cwd", "{answer}");
    // And behind a refused one, whatever was sent along with it.
    let refused = editor.request("session/load", &elsewhere);
    let loaded = editor.request("session/load", &opening(&world, &session));
    let prompted = editor.prompt(&session, "say in");
    assert_eq!(editor.answer(refused)["error"]["code"], -32602);
    assert!(editor.answer(loaded).get("result").is_some());
    // It came when nobody had the session, or right behind its load.
    let answer = editor.answer(prompted);
    let is_known = answer["result"]["stopReason"] == "end_turn";
    assert!(is_known || answer["error"]["code"] == -32002, "{answer}");
    editor.end();
}

#[test]
fn a_deleted_session_is_gone_and_unknown_ones_may_be_deleted() {
    let world = World::empty();
    let mut editor = begin(&world, &[]);
    let (open, closed) = (editor.open(&world.work()), editor.open(&world.work()));
    editor.one(&open, "say a");
    editor.one(&closed, "say b");
    editor.result("session/close", &json!({ "sessionId": closed }));
    for id in [
        &open,
        &closed,
        &open,
        "nobody",
        "0190a1b2-0000-7000-8000-000000000001",
    ] {
        let deleted = editor.result("session/delete", &json!({ "sessionId": id }));
        assert_eq!(deleted, json!({}), "{id}");
    }
    let listed = editor.result("session/list", &json!({}));
    assert_eq!(listed, json!({ "sessions": [] }));
    for id in [open, closed] {
        let answer = editor.call("session/load", &opening(&world, &id));
        assert_eq!(answer["error"]["code"], -32002);
    }
    editor.end();
}

#[test]
fn a_child_that_erases_is_asked_to_by_its_own_name() {
    let world = World::empty();
    let journal = world.work().join("journal");
    let caps = r#"{"sessionCapabilities":{"delete":{},"resume":{}}}"#;
    let agent = ["--caps", caps, "--journal", journal.to_str().unwrap()];
    let mut editor = begin(&world, &agent);
    for is_open in [true, false] {
        let session = editor.open(&world.work());
        let own = editor.one(&session, "session");
        if !is_open {
            editor.result("session/close", &json!({ "sessionId": session }));
        }
        editor.result("session/delete", &json!({ "sessionId": session }));
        let heard = fs::read_to_string(&journal).unwrap();
        let asked: Value = heard
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .rfind(|message| message["method"] == "session/delete")
            .unwrap();
        assert_eq!(asked["params"]["sessionId"], own);
    }
    editor.end();
}

#[test]
fn a_copy_has_the_past_and_its_own_future_where_the_child_makes_copies() {
    let world = World::empty();
    let mut editor = begin(&world, &[]);
    let session = editor.open(&world.work());
    let answer = editor.call("session/fork", &opening(&world, &session));
    assert_eq!(answer["error"]["code"], -32601);
    editor.end();

    let caps = r#"{"sessionCapabilities":{"fork":{},"resume":{}}}"#;
    let world = World::empty();
    let mut editor = begin(&world, &["--caps", caps]);
    let session = editor.open(&world.work());
    let own = editor.one(&session, "session");
    let forked = editor.result("session/fork", &opening(&world, &session));
    let copy = forked["sessionId"].as_str().unwrap().to_owned();
    assert_ne!(copy, session);
    assert_eq!(editor.one(&copy, "session"), format!("fork-of-{own}"));
    assert_eq!(editor.one(&session, "say alone"), "alone");
    let (updates, _) = load(&mut editor, &world, &copy);
    assert_eq!(
        texts(&updates),
        said(&[
            (USER, "session"),
            (AGENT, own.as_str()),
            (USER, "session"),
            (AGENT, format!("fork-of-{own}").as_str()),
        ])
    );
    let unknown = opening(&world, "0190a1b2-0000-7000-8000-000000000001");
    let answer = editor.call("session/fork", &unknown);
    assert_eq!(answer["error"]["code"], -32002);
    editor.end();
    // Each is found again under its own name.
    let mut editor = begin(&world, &["--caps", caps]);
    load(&mut editor, &world, &copy);
    load(&mut editor, &world, &session);
    assert_eq!(editor.one(&copy, "session"), format!("fork-of-{own}"));
    assert_eq!(editor.one(&session, "session"), own);
    editor.end();
}
