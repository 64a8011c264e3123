//! `acp.md` §2: sessions.

use std::{sync::Arc, time::Duration};

use hyphae_acp::Unstable;
use hyphae_core::session::{PageSize, TranscriptEvent};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::rig::{Rig, Wire, gists, id_of};

fn not_found(id: &Value, session: &str) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": id,
        "error": {
            "code": -32002,
            "message": "session not found",
            "data": {"sessionId": session},
        },
    })
}

fn setup(rig: &Rig, session: &str) -> Value {
    json!({"sessionId": session, "cwd": rig.cwd(), "mcpServers": []})
}

async fn list(wire: &mut Wire, params: Value) -> (Vec<String>, Option<String>) {
    let answer = wire.call("list", "session/list", params).await;
    let ids = answer["result"]["sessions"]
        .as_array()
        .unwrap_or_else(|| panic!("{answer}"))
        .iter()
        .map(|row| row["sessionId"].as_str().unwrap().to_owned())
        .collect();
    (
        ids,
        answer["result"]["nextCursor"].as_str().map(str::to_owned),
    )
}

#[tokio::test(start_paused = true)]
async fn new_sessions_have_ids_of_version_7_and_are_kept_at_once() {
    let rig = Rig::new();
    let mut wire = rig.connected().await;
    let first = wire.new_session().await;
    let second = wire.new_session().await;
    assert_ne!(first, second);
    assert_eq!(id_of(&first).uuid().get_version_num(), 7);

    let mut other = rig.connected().await;
    assert_eq!(
        list(&mut other, json!({})).await,
        (vec![second, first], None)
    );
}

#[tokio::test(start_paused = true)]
async fn absent_servers_and_other_directories_are_no_reason_to_fail() {
    let rig = Rig::new();
    let mut wire = rig.connected().await;
    for params in [
        json!({"cwd": rig.cwd()}),
        json!({"cwd": rig.cwd(), "mcpServers": null}),
        json!({"cwd": format!("{}/./", rig.cwd()), "mcpServers": []}),
        json!({"cwd": rig.cwd(), "mcpServers": [], "additionalDirectories": ["/tmp"]}),
        json!({"cwd": rig.cwd(), "mcpServers": [
            {"name": "m", "command": "/bin/false", "args": ["x"], "env": []},
            {"type": "http", "name": "h", "url": "http://x", "headers": []},
        ]}),
    ] {
        let answer = wire.call(1, "session/new", params).await;
        assert!(answer["result"]["sessionId"].is_string(), "{answer}");
    }
    let (all, _) = list(&mut wire, json!({"cwd": format!("{}//", rig.cwd())})).await;
    assert_eq!(all.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn load_shows_everything_again_in_order_with_the_same_ids() {
    let rig = Rig::accepting_everything();
    let (mut wire, session) = rig.opened().await;
    let script = "one\ntool a pending\nthink hm\ntool a completed\nstream 3 4";
    let blocks = json!([
        {"type": "text", "text": script},
        {"type": "resource_link", "name": "link", "uri": "file:///l"},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "file:///t", "text": "words"}},
    ]);
    wire.request(
        1,
        "session/prompt",
        json!({"sessionId": session, "prompt": blocks}),
    )
    .await;
    let (first, _) = wire.until_answer(1).await;
    wire.prompt(2, &session, "two").await;
    let (second, _) = wire.until_answer(2).await;

    let mut other = rig.connected().await;
    other
        .request(3, "session/load", setup(&rig, &session))
        .await;
    let (replay, answer) = other.until_answer(3).await;
    assert_eq!(answer, json!({"jsonrpc": "2.0", "id": 3, "result": {}}));
    assert_eq!(
        gists(&replay),
        [
            &format!("user {script}"),
            "user_message_chunk",
            "user_message_chunk",
            "user_message_chunk",
            "agent one",
            "tool_call a pending",
            "agent_thought_chunk hm",
            "tool_call_update a completed",
            "agent 000000010002",
            "agent link",
            "agent image",
            "agent file:///t",
            "user two",
            "agent two",
        ]
    );
    let ids = |updates: &[Value], kind: &str| -> Vec<Value> {
        let mut ids: Vec<Value> = updates
            .iter()
            .map(|update| &update["params"]["update"])
            .filter(|update| update["sessionUpdate"] == kind)
            .map(|update| update["messageId"].clone())
            .collect();
        ids.dedup();
        ids
    };
    for kind in ["agent_message_chunk", "agent_thought_chunk"] {
        let live: Vec<_> = [&first[..], &second[..]].concat();
        assert_eq!(ids(&replay, kind), ids(&live, kind));
    }
    assert_eq!(
        ids(&replay, "user_message_chunk").len(),
        2,
        "one id a prompt"
    );

    let mut again = rig.connected().await;
    again
        .request(4, "session/load", setup(&rig, &session))
        .await;
    assert_eq!(
        again.until_answer(4).await.0,
        replay,
        "two loads give the same"
    );
}

#[tokio::test(start_paused = true)]
async fn a_long_history_is_replayed_to_its_end() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    wire.prompt(1, &session, "messages 250").await;
    wire.until_answer(1).await;
    let mut other = rig.connected().await;
    other
        .request(1, "session/load", setup(&rig, &session))
        .await;
    let (replay, _) = other.until_answer(1).await;
    let want: Vec<_> = (0..250).map(|n| format!("agent message {n}")).collect();
    assert_eq!(gists(&replay)[1..], want);
}

#[tokio::test(start_paused = true)]
async fn resume_opens_without_history_and_needs_no_servers() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    wire.prompt(1, &session, "one").await;
    wire.until_answer(1).await;

    let mut other = rig.connected().await;
    let params = json!({"sessionId": session, "cwd": rig.cwd()});
    other.request(1, "session/resume", params).await;
    let (before, answer) = other.until_answer(1).await;
    assert_eq!((before, &answer["result"]), (vec![], &json!({})));
    other.prompt(2, &session, "two").await;
    assert_eq!(
        other.until_answer(2).await.1["result"]["stopReason"],
        "end_turn"
    );
}

#[tokio::test(start_paused = true)]
async fn a_session_belongs_to_its_directory() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(rig.dir.path(), &link).unwrap();
    for method in ["session/load", "session/resume"] {
        let params = json!({"sessionId": session, "cwd": elsewhere.path(), "mcpServers": []});
        let got = wire.call(1, method, params).await;
        assert_eq!(
            got["error"]["message"],
            "invalid params: `cwd`: expected the directory that the session was opened in"
        );
        let params = json!({"sessionId": session, "cwd": link, "mcpServers": []});
        let got = wire.call(2, method, params).await;
        assert_eq!(got["result"], json!({}));
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_can_be_read_after_its_directory_is_gone() {
    let mut rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    let params = setup(&rig, &session);
    std::mem::replace(&mut rig.dir, tempfile::tempdir().unwrap())
        .close()
        .unwrap();
    assert_eq!(
        wire.call(1, "session/load", params).await["result"],
        json!({})
    );
}

#[tokio::test(start_paused = true)]
async fn unknown_foreign_and_closed_sessions_look_the_same() {
    let rig = Rig::new();
    let (mut wire, mine) = rig.opened().await;
    wire.call(1, "session/close", json!({"sessionId": mine}))
        .await;
    let stranger = Rig {
        owner: 8,
        sessions: Arc::clone(&rig.sessions),
        clock: Arc::clone(&rig.clock),
        ..Rig::new()
    };
    let (_theirs, foreign) = stranger.opened().await;
    let unknown = "0193a000-0000-7000-8000-000000000000";
    let spelled_otherwise = mine.to_uppercase();
    let prompt = json!([{"type": "text", "text": "x"}]);

    for method in ["session/prompt", "session/close"] {
        for session in [&mine, &foreign, unknown, "nonsense", "", &spelled_otherwise] {
            let params = json!({"sessionId": session, "prompt": prompt});
            wire.request(9, method, params).await;
            let (before, got) = wire.until_answer(9).await;
            assert_eq!(
                (before, got),
                (vec![], not_found(&json!(9), session)),
                "{method}"
            );
        }
    }
    for method in ["session/load", "session/resume"] {
        for session in [&foreign, unknown, "nonsense"] {
            let got = wire.call(9, method, setup(&rig, session)).await;
            assert_eq!(got, not_found(&json!(9), session), "{method}");
        }
    }
    wire.cancel(&foreign).await;
    assert_eq!(wire.quiet().await, Vec::<Value>::new());
    assert_eq!(list(&mut wire, json!({})).await.0, [mine]);
}

#[tokio::test(start_paused = true)]
async fn a_long_name_is_not_repeated_in_full() {
    let rig = Rig::new();
    let mut wire = rig.connected().await;
    let got = wire
        .call(1, "session/close", json!({"sessionId": "x".repeat(5000)}))
        .await;
    assert_eq!(got, not_found(&json!(1), &"x".repeat(128)));
}

#[tokio::test(start_paused = true)]
async fn lists_are_newest_first_in_pages_that_stay_put() {
    let mut rig = Rig::new();
    rig.options.page = PageSize::new(2).unwrap();
    let mut wire = rig.connected().await;
    let mut all = Vec::new();
    for _ in 0..5 {
        all.insert(0, wire.new_session().await);
    }
    let (first, cursor) = list(&mut wire, json!({})).await;
    assert_eq!(first, all[..2]);
    // What is new, and the loss of the row at the cursor, move nothing.
    wire.new_session().await;
    wire.call(1, "session/delete", json!({"sessionId": all[1]}))
        .await;
    let (second, cursor) = list(&mut wire, json!({"cursor": cursor.unwrap()})).await;
    assert_eq!(second, all[2..4]);
    let (third, cursor) = list(&mut wire, json!({"cursor": cursor.unwrap()})).await;
    assert_eq!((&third[..], cursor), (&all[4..], None));
}

#[tokio::test(start_paused = true)]
async fn a_list_row_says_where_when_and_what() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    rig.clock.advance(Duration::from_secs(60));
    wire.prompt(1, &session, "  What   is\tthis?\nmore").await;
    wire.until_answer(1).await;
    let got = wire
        .call(2, "session/list", json!({"cwd": rig.cwd()}))
        .await;
    let row = &got["result"]["sessions"][0];
    assert_eq!(
        row,
        &json!({
            "sessionId": session,
            "cwd": rig.cwd(),
            "title": "What is this?",
            "updatedAt": row["updatedAt"],
        })
    );
    let kept = row["updatedAt"]
        .as_str()
        .unwrap()
        .parse::<jiff::Timestamp>()
        .unwrap();
    assert_eq!(kept, hyphae_core::ports::Clock::now(&*rig.clock));
    let (none, _) = list(&mut wire, json!({"cwd": "/nobody/uses/this"})).await;
    assert_eq!(none, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn the_title_is_told_once() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    wire.prompt(1, &session, "first").await;
    let (updates, _) = wire.until_answer(1).await;
    assert_eq!(gists(&updates).last().unwrap(), "title first");
    wire.prompt(2, &session, "second").await;
    let (updates, _) = wire.until_answer(2).await;
    assert_eq!(gists(&updates), ["agent second"]);
}

#[tokio::test(start_paused = true)]
async fn close_frees_and_a_closed_session_can_be_opened_again() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    let id = json!({"sessionId": session});
    assert_eq!(
        wire.call(1, "session/close", id.clone()).await["result"],
        json!({})
    );
    assert_eq!(rig.agent.log(), [format!("closed {session}")]);
    assert_eq!(
        wire.call(2, "session/close", id).await["error"]["code"],
        -32002
    );
    assert_eq!(
        wire.call(3, "session/load", setup(&rig, &session)).await["result"],
        json!({})
    );
    wire.prompt(4, &session, "back").await;
    assert_eq!(
        wire.until_answer(4).await.1["result"]["stopReason"],
        "end_turn"
    );
}

#[tokio::test(start_paused = true)]
async fn close_and_delete_end_a_running_turn_first() {
    for method in ["session/close", "session/delete"] {
        let rig = Rig::new();
        let (mut wire, session) = rig.opened().await;
        wire.prompt(1, &session, "wait").await;
        rig.agent.turn_started().await;
        wire.request(2, method, json!({"sessionId": session})).await;
        let (_, prompt) = wire.until_answer(1).await;
        assert_eq!(prompt["result"]["stopReason"], "cancelled");
        let (between, done) = wire.until_answer(2).await;
        assert_eq!((between, &done["result"]), (vec![], &json!({})));
        assert_eq!(wire.quiet().await, Vec::<Value>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn delete_erases_and_unknown_ids_succeed() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    for id in [
        &session,
        &session,
        "0193a000-0000-7000-8000-000000000000",
        "nonsense",
    ] {
        let got = wire
            .call(1, "session/delete", json!({"sessionId": id}))
            .await;
        assert_eq!(got, json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    }
    assert_eq!(list(&mut wire, json!({})).await.0, Vec::<String>::new());
    let got = wire.call(2, "session/load", setup(&rig, &session)).await;
    assert_eq!(got, not_found(&json!(2), &session));
}

#[tokio::test(start_paused = true)]
async fn somebody_elses_session_is_not_deleted() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    let stranger = Rig {
        owner: 8,
        sessions: Arc::clone(&rig.sessions),
        clock: Arc::clone(&rig.clock),
        ..Rig::new()
    };
    let mut theirs = stranger.connected().await;
    let got = theirs
        .call(1, "session/delete", json!({"sessionId": session}))
        .await;
    assert_eq!(got["result"], json!({}));
    assert_eq!(list(&mut wire, json!({})).await.0, [session]);
}

#[tokio::test(start_paused = true)]
async fn commands_are_announced_behind_the_answer_and_once_more() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    wire.call(1, "session/close", json!({"sessionId": session}))
        .await;
    for (method, params) in [
        ("session/new", json!({"cwd": rig.cwd(), "mcpServers": []})),
        ("session/load", setup(&rig, &session)),
        ("session/resume", setup(&rig, &session)),
    ] {
        let answer = wire.call(2, method, params).await;
        let opened = answer["result"]["sessionId"]
            .as_str()
            .unwrap_or(&session)
            .to_owned();
        let started = tokio::time::Instant::now();
        let want = json!({
            "jsonrpc": "2.0",
            "method": "session/update",
            "params": {"sessionId": opened, "update": {
                "sessionUpdate": "available_commands_update",
                "availableCommands": [
                    {"name": "echo", "description": "says it again", "input": {"hint": "<text>"}},
                    {"name": "help", "description": "shows what there is"},
                ],
            }},
        });
        assert_eq!(wire.receive().await, Some(want.clone()));
        assert!(started.elapsed() < Duration::from_millis(50));
        assert_eq!(wire.receive().await, Some(want), "{method}");
        assert!(started.elapsed() >= Duration::from_millis(100));
        assert!(started.elapsed() <= Duration::from_millis(150));
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_announced_for_a_session_that_was_closed_meanwhile() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    wire.call(1, "session/close", json!({"sessionId": session}))
        .await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(wire.quiet().await, Vec::<Value>::new());
}

#[tokio::test(start_paused = true)]
async fn a_first_prompt_brings_the_second_announcement_forward() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    wire.prompt(1, &session, "quick").await;
    let (updates, _) = wire.until_answer(1).await;
    assert_eq!(gists(&updates)[0], "available_commands_update");
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(
        wire.quiet().await,
        Vec::<Value>::new(),
        "nothing behind the answer"
    );
}

#[tokio::test(start_paused = true)]
async fn a_damaged_session_is_a_clear_error_and_stops_no_other() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    let other = wire.new_session().await;
    rig.sessions.damage(id_of(&session));
    let got = wire.call(1, "session/load", setup(&rig, &session)).await;
    assert_eq!(
        got["error"],
        json!({
            "code": -32603,
            "message": "internal error",
            "data": {"details": format!(
                "session {session} is damaged and was set aside: an entry is no JSON"
            )},
        })
    );
    assert_eq!(
        wire.call(2, "session/load", setup(&rig, &other)).await["result"],
        json!({})
    );
    assert_eq!(list(&mut wire, json!({})).await.0, [other, session]);
}

#[tokio::test(start_paused = true)]
async fn fork_copies_the_history_when_it_is_offered() {
    let mut rig = Rig::new();
    rig.options.unstable = Unstable::Offered;
    let (mut wire, session) = rig.opened().await;
    wire.prompt(1, &session, "one").await;
    wire.until_answer(1).await;
    let got = wire.call(2, "session/fork", setup(&rig, &session)).await;
    let fork = got["result"]["sessionId"].as_str().unwrap().to_owned();
    assert_ne!(fork, session);
    wire.prompt(3, &fork, "two").await;
    wire.until_answer(3).await;

    let mut other = rig.connected().await;
    other.request(1, "session/load", setup(&rig, &fork)).await;
    let (replay, _) = other.until_answer(1).await;
    assert_eq!(
        gists(&replay),
        ["user one", "agent one", "user two", "agent two"]
    );
    let unknown = "0193a000-0000-7000-8000-000000000000";
    let got = wire.call(4, "session/fork", setup(&rig, unknown)).await;
    assert_eq!(got, not_found(&json!(4), unknown));
}

#[tokio::test(start_paused = true)]
async fn what_is_kept_of_a_turn_is_prompt_words_and_end() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    wire.prompt(1, &session, "stream 3 2").await;
    wire.until_answer(1).await;
    let kept = rig.sessions.kept(id_of(&session));
    let kinds: Vec<_> = kept
        .iter()
        .map(|entry| match &entry.event {
            TranscriptEvent::Prompt { .. } => "prompt",
            TranscriptEvent::Agent(_) => "agent",
            TranscriptEvent::Relayed { .. } | TranscriptEvent::AgentSession { .. } => "foreign",
            TranscriptEvent::Ended(_) => "ended",
        })
        .collect();
    assert_eq!(kinds, ["prompt", "agent", "ended"]);
    assert!(kept.iter().all(|entry| entry.turn == kept[0].turn));
}

#[tokio::test(start_paused = true)]
async fn a_replay_can_be_cancelled() {
    let mut rig = Rig::new();
    rig.options.outbox_bytes = 8192;
    let (mut wire, session) = rig.opened().await;
    wire.prompt(1, &session, "messages 2000").await;
    wire.until_answer(1).await;
    let mut other = rig.connect_with_pipe(4096);
    other.initialize().await;
    other
        .request(2, "session/load", setup(&rig, &session))
        .await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    other
        .notify("$/cancel_request", json!({"requestId": 2}))
        .await;
    let (shown, answer) = other.until_answer(2).await;
    assert!(shown.len() < 200, "{} updates", shown.len());
    assert_eq!(
        answer["error"],
        json!({"code": -32800, "message": "request cancelled"})
    );
    let got = other
        .call(3, "session/close", json!({"sessionId": session}))
        .await;
    assert_eq!(got, not_found(&json!(3), &session), "it was not opened");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_opened_right_behind_its_close_is_open() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    let id = json!({"sessionId": session});
    wire.request(1, "session/close", id).await;
    wire.request(2, "session/resume", setup(&rig, &session))
        .await;
    wire.until_answer(2).await;
    assert_eq!(wire.quiet().await.len(), 1, "the announcement");
    wire.prompt(3, &session, "open").await;
    assert_eq!(
        wire.until_answer(3).await.1["result"]["stopReason"],
        "end_turn"
    );
}

#[tokio::test(start_paused = true)]
async fn a_load_that_fails_leaves_an_open_session_open() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    rig.sessions.damage(id_of(&session));
    wire.request(1, "session/load", setup(&rig, &session)).await;
    assert_eq!(wire.until_answer(1).await.1["error"]["code"], -32603);
    let again = wire.receive().await.unwrap();
    assert_eq!(gists(&[again]), ["available_commands_update"]);
    wire.prompt(2, &session, "open").await;
    assert_eq!(
        wire.until_answer(2).await.1["result"]["stopReason"],
        "end_turn"
    );
}

#[tokio::test(start_paused = true)]
async fn another_spelling_of_an_id_names_no_session() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    for spelled in [
        session.to_uppercase(),
        session.replace('-', ""),
        format!("{{{session}}}"),
        format!("urn:uuid:{session}"),
        format!(" {session}"),
    ] {
        assert_ne!(spelled, session);
        let prompt = json!([{"type": "text", "text": "x"}]);
        let params = json!({"sessionId": spelled, "prompt": prompt});
        let got = wire.call(1, "session/prompt", params).await;
        assert_eq!(got, not_found(&json!(1), &spelled));
        let got = wire.call(2, "session/load", setup(&rig, &spelled)).await;
        assert_eq!(got, not_found(&json!(2), &spelled));
    }
}
