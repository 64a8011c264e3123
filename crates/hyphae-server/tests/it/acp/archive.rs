//! Whose conversations are kept, what of them is not, and who sees them.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{
    editor::{kill, state, supervise},
    transcript::{AGENT, RESUMES, USER, begin, load, opening, said, texts},
};
use crate::world::World;

#[test]
fn a_list_comes_in_pages_newest_first_and_by_directory() {
    let world = World::empty();
    let other = world.directory("other");
    let options = ["--max-sessions", "100", "--idle-park", "0"];
    let mut editor = supervise(&world, &options, &[]);
    editor.initialize();
    let mut opened: Vec<String> = (0..51).map(|_| editor.open(&world.work())).collect();
    let elsewhere = editor.open(&other);
    opened.reverse();
    let ids = |page: &Value| -> Vec<String> {
        let sessions = page["sessions"].as_array().unwrap();
        let id = |session: &Value| session["sessionId"].as_str().unwrap().to_owned();
        sessions.iter().map(id).collect()
    };
    let first = editor.result("session/list", &json!({ "cwd": world.work() }));
    assert_eq!(ids(&first), opened[..50]);
    let cursor = &first["nextCursor"];
    let second = editor.result(
        "session/list",
        &json!({ "cwd": world.work(), "cursor": cursor }),
    );
    assert_eq!(ids(&second), opened[50..]);
    assert_eq!(second.get("nextCursor"), None);
    let there = editor.result("session/list", &json!({ "cwd": other }));
    assert_eq!(ids(&there), [elsewhere]);
    let bad = editor.call("session/list", &json!({ "cursor": "nonsense" }));
    assert_eq!(bad["error"]["data"]["field"], "cursor");
    editor.end();
}

#[test]
fn agents_do_not_see_each_others_sessions() {
    let world = World::empty();
    let mut one = begin(&world, &[]);
    let session = one.open(&world.work());
    let mut other = begin(&world, &["--name", "../other agent"]);
    assert_eq!(
        other.result("session/list", &json!({})),
        json!({ "sessions": [] })
    );
    let answer = other.call("session/load", &opening(&world, &session));
    assert_eq!(answer["error"]["code"], -32002);
    one.end();
    other.end();
}

#[test]
fn a_prompt_that_the_child_refuses_is_not_shown_again() {
    let world = World::empty();
    let mut editor = begin(&world, &[]);
    let session = editor.open(&world.work());
    editor.run(&session, "refuse -32602");
    editor.run(&session, "say heard\nrefuse -32602");
    editor.run(&session, "refuse -32603");
    let (updates, _) = load(&mut editor, &world, &session);
    assert_eq!(
        texts(&updates),
        said(&[
            (USER, "say heard\nrefuse -32602"),
            (AGENT, "heard"),
            (USER, "refuse -32603"),
        ])
    );
    editor.end();
}

#[test]
fn secrets_in_prompts_are_not_kept() {
    let world = World::empty();
    let mut editor = begin(&world, &[]);
    let session = editor.open(&world.work());
    let key = format!("hyk_{}", "0123456789abcdef".repeat(4));
    editor.run(&session, &format!("log {key}"));
    let (updates, _) = load(&mut editor, &world, &session);
    assert!(texts(&updates)[0].1.contains("[masked"), "{updates:?}");
    editor.end();
    for file in fs::read_dir(state(&world)).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        let found = bytes
            .windows(key.len())
            .any(|window| window == key.as_bytes());
        assert!(!found);
    }
}

#[test]
fn a_transcript_that_cannot_be_kept_is_said() {
    let world = World::empty();
    let mut editor = begin(&world, &[]);
    let session = editor.open(&world.work());
    let mut eraser = begin(&world, &[]);
    eraser.result("session/delete", &json!({ "sessionId": session }));
    eraser.end();
    let (said, answer) = editor.run(&session, "say anything");
    assert_eq!(said, ["anything"]);
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
    editor.end();

    // No place to keep anything.
    let world = World::empty();
    let mut editor = begin(&world, &[]);
    fs::write(state(&world).join("sessions-scripted.db"), "no database").unwrap();
    let answer = editor.call(
        "session/new",
        &json!({ "cwd": world.work(), "mcpServers": [] }),
    );
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    editor.end();
}

#[test]
fn two_editors_share_what_is_kept() {
    let world = World::empty();
    let mut one = begin(&world, &["--caps", RESUMES]);
    let mut two = begin(&world, &["--caps", RESUMES]);
    let (a, b) = (one.open(&world.work()), two.open(&world.work()));
    let prompts = [one.prompt(&a, "flood 500"), two.prompt(&b, "flood 500")];
    assert_eq!(one.answer(prompts[0])["result"]["stopReason"], "end_turn");
    assert_eq!(two.answer(prompts[1])["result"]["stopReason"], "end_turn");
    let listed = one.result("session/list", &json!({}));
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 2);
    two.said(&b);
    let pid = two.pid(&b, "pid");
    kill(pid);
    one.end();
    let (updates, _) = load(&mut two, &world, &a);
    assert!(texts(&updates).len() >= 2);
    two.end();
}
