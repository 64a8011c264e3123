//! `acp.md` §3: turns.

use std::time::Duration;

use hyphae_core::session::TranscriptEvent;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::rig::{Rig, Wire, gists, id_of, prompt};

async fn stop_reason(wire: &mut Wire, id: i64) -> (Vec<String>, String) {
    let (updates, answer) = wire.until_answer(id).await;
    let reason = answer["result"]["stopReason"].as_str();
    (
        gists(&updates),
        reason.unwrap_or_else(|| panic!("{answer}")).to_owned(),
    )
}

/// Opens a session on which one turn has passed, so that title and announcements are behind us.
async fn warm(rig: &Rig) -> (Wire, String) {
    let (mut wire, session) = rig.opened().await;
    wire.prompt("warm", &session, "warm").await;
    wire.until_answer("warm").await;
    rig.agent.turn_started().await;
    (wire, session)
}

fn cancelled() -> String {
    "cancelled".to_owned()
}

fn end_turn() -> String {
    "end_turn".to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_prompt_is_answered_behind_its_updates() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    wire.prompt(1, &session, "hello\nthink hm\nmessages 2")
        .await;
    let (updates, answer) = wire.until_answer(1).await;
    assert_eq!(
        answer,
        json!({"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}})
    );
    assert_eq!(
        gists(&updates),
        [
            "available_commands_update",
            "agent hello",
            "agent_thought_chunk hm",
            "agent message 0",
            "agent message 1",
            "title hello",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn every_stop_reason_has_its_word() {
    let rig = Rig::new();
    let (mut wire, session) = warm(&rig).await;
    for reason in ["max_tokens", "max_turn_requests", "refusal"] {
        wire.prompt(1, &session, &format!("stop {reason}")).await;
        assert_eq!(stop_reason(&mut wire, 1).await.1, reason);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancel_ends_the_turn_and_the_next_prompt_works() {
    let rig = Rig::new();
    let (mut wire, session) = warm(&rig).await;
    wire.prompt(1, &session, "before\nwait").await;
    rig.agent.turn_started().await;
    wire.cancel(&session).await;
    wire.cancel(&session).await;
    assert_eq!(stop_reason(&mut wire, 1).await.1, cancelled());
    wire.prompt(2, &session, "again").await;
    assert_eq!(
        stop_reason(&mut wire, 2).await,
        (vec!["agent again".to_owned()], end_turn())
    );
}

#[tokio::test(start_paused = true)]
async fn idle_and_unknown_cancels_are_silent() {
    let rig = Rig::new();
    let (mut wire, session) = warm(&rig).await;
    wire.cancel(&session).await;
    wire.cancel("nobody").await;
    wire.cancel("0193a000-0000-7000-8000-000000000000").await;
    assert_eq!(wire.quiet().await, Vec::<Value>::new());
    wire.prompt(1, &session, "fine").await;
    assert_eq!(stop_reason(&mut wire, 1).await.1, end_turn());
}

#[tokio::test(start_paused = true)]
async fn a_cancel_reaches_what_was_asked_before_it_and_nothing_later() {
    let rig = Rig::new();
    let (mut wire, session) = warm(&rig).await;
    let line = |id: i64, text: &str| json!({"jsonrpc":"2.0","id":id,"method":"session/prompt","params":prompt(&session, text)});
    let cancel = json!({"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":session}});
    let all = format!("{}\n{cancel}\n{}\n", line(1, "wait"), line(2, "later"));
    wire.send_bytes(all.as_bytes()).await;
    assert_eq!(stop_reason(&mut wire, 1).await, (vec![], cancelled()));
    assert_eq!(
        stop_reason(&mut wire, 2).await,
        (vec!["agent later".to_owned()], end_turn())
    );
}

#[tokio::test(start_paused = true)]
async fn a_valid_prompt_supersedes_the_turns_before_it_in_arrival_order() {
    let rig = Rig::new();
    let (mut wire, session) = warm(&rig).await;
    wire.prompt(1, &session, "wait").await;
    rig.agent.turn_started().await;
    for id in 2..=20 {
        wire.prompt(id, &session, "wait").await;
    }
    wire.prompt(21, &session, "last").await;
    let mut answers = Vec::new();
    while answers.len() < 21 {
        let message = wire.receive().await.unwrap();
        if message.get("id").is_some() {
            answers.push((
                message["id"].clone(),
                message["result"]["stopReason"].clone(),
            ));
        }
    }
    let mut want: Vec<_> = (1..=20).map(|id| (json!(id), json!("cancelled"))).collect();
    want.push((json!(21), json!("end_turn")));
    assert_eq!(answers, want);
}

#[tokio::test(start_paused = true)]
async fn a_superseded_prompt_is_part_of_the_history() {
    let rig = Rig::new();
    let (mut wire, session) = warm(&rig).await;
    for (id, text) in [(1, "wait"), (2, "wait now"), (3, "last")] {
        wire.prompt(id, &session, text).await;
    }
    wire.until_answer(3).await;
    let params = json!({"sessionId": session, "cwd": rig.cwd(), "mcpServers": []});
    wire.request(4, "session/load", params).await;
    let (replay, _) = wire.until_answer(4).await;
    assert_eq!(
        gists(&replay),
        [
            "user warm",
            "agent warm",
            "user wait",
            "user wait now",
            "user last",
            "agent last"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn an_invalid_prompt_disturbs_nothing() {
    let rig = Rig::new();
    let (mut wire, session) = warm(&rig).await;
    wire.prompt(1, &session, "release\ngoes on").await;
    rig.agent.turn_started().await;
    for (id, text) in [(2, "refuse"), (3, "  "), (4, "")] {
        wire.prompt(id, &session, text).await;
        let (before, answer) = wire.until_answer(id).await;
        assert_eq!((before, &answer["error"]["code"]), (vec![], &json!(-32602)));
    }
    let image = json!([{"type": "image", "data": "aGk=", "mimeType": "image/png"}]);
    wire.request(
        5,
        "session/prompt",
        json!({"sessionId": session, "prompt": image}),
    )
    .await;
    assert_eq!(wire.until_answer(5).await.1["error"]["code"], -32602);
    rig.agent.release();
    assert_eq!(
        stop_reason(&mut wire, 1).await,
        (vec!["agent goes on".to_owned()], end_turn())
    );
    let kept = rig.sessions.kept(id_of(&session));
    let prompts = kept
        .iter()
        .filter(|e| matches!(e.event, TranscriptEvent::Prompt { .. }));
    assert_eq!(prompts.count(), 2, "refused prompts leave no trace");
}

#[tokio::test(start_paused = true)]
async fn open_tool_cards_are_closed_before_the_answer() {
    let rig = Rig::new();
    let (mut wire, session) = warm(&rig).await;
    let script = "tool a pending\ntool b in_progress\ntool b completed\ntool a in_progress";
    wire.prompt(1, &session, &format!("{script}\nwait")).await;
    rig.agent.turn_started().await;
    wire.cancel(&session).await;
    let want = |last: &str| {
        [
            "tool_call a pending",
            "tool_call b in_progress",
            "tool_call_update b completed",
            "tool_call_update a in_progress",
            last,
        ]
        .map(str::to_owned)
        .to_vec()
    };
    let (updates, reason) = stop_reason(&mut wire, 1).await;
    assert_eq!(
        (updates, reason),
        (want("tool_call_update a failed"), cancelled())
    );

    wire.prompt(2, &session, script).await;
    let (updates, reason) = stop_reason(&mut wire, 2).await;
    assert_eq!(
        (updates, reason),
        (want("tool_call_update a failed"), end_turn())
    );

    for (id, end) in [(3, "panic"), (4, "error no luck")] {
        wire.prompt(id, &session, &format!("tool c pending\n{end}"))
            .await;
        let (updates, answer) = wire.until_answer(id).await;
        assert_eq!(
            gists(&updates),
            ["tool_call c pending", "tool_call_update c failed"]
        );
        assert_eq!(answer["error"]["code"], -32603);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stuck_turn_answers_after_the_settling_time() {
    let rig = Rig::new();
    let (mut wire, session) = warm(&rig).await;
    wire.prompt(1, &session, "stuck").await;
    rig.agent.turn_started().await;
    let started = tokio::time::Instant::now();
    wire.cancel(&session).await;
    assert_eq!(stop_reason(&mut wire, 1).await, (vec![], cancelled()));
    assert_eq!(started.elapsed().as_secs(), 30);
    wire.prompt(2, &session, "alive").await;
    assert_eq!(stop_reason(&mut wire, 2).await.1, end_turn());
}

#[tokio::test(start_paused = true)]
async fn what_an_agent_says_after_a_cancel_is_dropped() {
    let rig = Rig::new();
    let (mut wire, session) = warm(&rig).await;
    wire.prompt(1, &session, "late words").await;
    rig.agent.turn_started().await;
    wire.cancel(&session).await;
    assert_eq!(stop_reason(&mut wire, 1).await, (vec![], cancelled()));
    assert_eq!(wire.quiet().await, Vec::<Value>::new());
}

#[tokio::test(start_paused = true)]
async fn an_agents_error_is_details_only() {
    let rig = Rig::new();
    let (mut wire, session) = warm(&rig).await;
    wire.prompt(1, &session, "half\nerror the database is locked; try again")
        .await;
    let (updates, answer) = wire.until_answer(1).await;
    assert_eq!(gists(&updates), ["agent half"]);
    assert_eq!(
        answer["error"],
        json!({
            "code": -32603,
            "message": "internal error",
            "data": {"details": "the database is locked; try again"},
        })
    );
    wire.prompt(2, &session, "next").await;
    assert_eq!(stop_reason(&mut wire, 2).await.1, end_turn());
}

#[tokio::test(start_paused = true)]
async fn a_panic_ends_its_turn_and_nothing_else() {
    let rig = Rig::new();
    let (mut wire, session) = warm(&rig).await;
    let other = wire.new_session().await;
    wire.prompt(1, &other, "release\nstill here").await;
    rig.agent.turn_started().await;
    wire.prompt(2, &session, "half\npanic").await;
    let (updates, answer) = wire.until_answer(2).await;
    assert_eq!(gists(&updates[updates.len() - 1..]), ["agent half"]);
    assert_eq!(answer["error"]["code"], -32603);
    assert!(
        answer["error"]["data"]["details"]
            .as_str()
            .unwrap()
            .starts_with("the agent crashed")
    );
    wire.prompt(3, &session, "next").await;
    assert_eq!(stop_reason(&mut wire, 3).await.1, end_turn());
    rig.agent.release();
    assert_eq!(stop_reason(&mut wire, 1).await.1, end_turn());
}

#[tokio::test(start_paused = true)]
async fn other_sessions_and_lists_overtake_a_running_turn() {
    let rig = Rig::new();
    let (mut wire, session) = warm(&rig).await;
    let other = wire.new_session().await;
    wire.prompt(1, &session, "wait").await;
    rig.agent.turn_started().await;
    wire.prompt(2, &other, "quick").await;
    assert_eq!(stop_reason(&mut wire, 2).await.1, end_turn());
    assert!(wire.call(3, "session/list", json!({})).await["result"]["sessions"].is_array());
    wire.cancel(&other).await;
    assert_eq!(wire.quiet().await, Vec::<Value>::new());
    wire.cancel(&session).await;
    assert_eq!(stop_reason(&mut wire, 1).await.1, cancelled());
}

#[tokio::test(start_paused = true)]
async fn requests_of_one_session_are_taken_in_arrival_order() {
    let rig = Rig::new();
    let (mut wire, session) = warm(&rig).await;
    let setup = json!({"sessionId": session, "cwd": rig.cwd(), "mcpServers": []});
    let id = json!({"sessionId": session});
    wire.prompt(1, &session, "one").await;
    wire.request(2, "session/load", setup.clone()).await;
    wire.request(3, "session/close", id.clone()).await;
    wire.prompt(4, &session, "closed").await;
    wire.request(5, "session/resume", setup).await;
    wire.prompt(6, &session, "open").await;
    let mut answers = Vec::new();
    while answers.len() < 6 {
        let message = wire.receive().await.unwrap();
        if message.get("id").is_some() {
            answers.push((
                message["id"].as_i64().unwrap(),
                message["error"]["code"].as_i64(),
            ));
        }
    }
    let want = [
        (1, None),
        (2, None),
        (3, None),
        (4, Some(-32002)),
        (5, None),
        (6, None),
    ];
    assert_eq!(answers, want);
}

#[tokio::test(start_paused = true)]
async fn cancel_request_ends_the_prompt_it_names() {
    let rig = Rig::new();
    let (mut wire, session) = warm(&rig).await;
    for id in [json!("a"), json!(7), json!("7")] {
        wire.prompt(id.clone(), &session, "wait").await;
        rig.agent.turn_started().await;
        wire.notify("$/cancel_request", json!({"requestId": "other"}))
            .await;
        wire.notify("$/cancel_request", json!({"requestId": id}))
            .await;
        let (_, answer) = wire.until_answer(id).await;
        assert_eq!(answer["result"]["stopReason"], "cancelled");
    }
}

#[tokio::test(start_paused = true)]
async fn a_transcript_that_cannot_be_kept_is_an_error_that_says_so() {
    let rig = Rig::new();
    let (mut wire, session) = warm(&rig).await;
    rig.sessions.set_full(true);
    let details = "the conversation could not be saved: no space left for the database; \
                   free some and try again, nothing stored is lost";
    // At the end of a turn, and in the middle of a long one.
    for (id, text) in [(1, "short"), (2, "stream 1000 1024\nwait")] {
        wire.prompt(id, &session, text).await;
        let (_, answer) = wire.until_answer(id).await;
        assert_eq!(
            answer["error"],
            json!({"code": -32603, "message": "internal error", "data": {"details": details}})
        );
    }
    rig.sessions.set_full(false);
    wire.prompt(3, &session, "fine").await;
    assert_eq!(stop_reason(&mut wire, 3).await.1, end_turn());
}

#[tokio::test(start_paused = true)]
async fn the_transcript_is_kept_before_the_answer_leaves() {
    let rig = Rig::new();
    let (mut wire, session) = warm(&rig).await;
    for id in 0..20 {
        wire.prompt(id, &session, "x").await;
        wire.until_answer(id).await;
        let kept = rig.sessions.kept(id_of(&session));
        let ends = kept
            .iter()
            .filter(|e| matches!(e.event, TranscriptEvent::Ended(_)));
        assert_eq!(ends.count(), usize::try_from(id).unwrap() + 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_turn_is_kept_in_batches() {
    let rig = Rig::new();
    let (mut wire, session) = warm(&rig).await;
    wire.prompt(1, &session, "messages 5000").await;
    wire.until_answer(1).await;
    let (all, largest) = rig.sessions.appended();
    assert!(all > 5000);
    assert!(largest < 1500, "{largest} entries at once");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_is_not_held_up_by_a_silent_agent() {
    let rig = Rig::new();
    let (mut wire, session) = warm(&rig).await;
    wire.prompt(1, &session, "wait").await;
    rig.agent.turn_started().await;
    let started = tokio::time::Instant::now();
    wire.cancel(&session).await;
    wire.until_answer(1).await;
    assert_eq!(started.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_panic_below_a_session_ends_that_session_only() {
    let rig = Rig::new();
    let (mut wire, session) = warm(&rig).await;
    let other = wire.new_session().await;
    wire.prompt(1, &other, "release\nfine").await;
    rig.agent.turn_started().await;
    rig.sessions.set_faulty(true);
    wire.prompt(2, &session, "stream 200 1024\nwait").await;
    wire.prompt(3, &session, "queued").await;
    for id in [2, 3] {
        let (_, answer) = wire.until_answer(id).await;
        assert_eq!(
            answer["error"]["data"]["details"],
            "the request was lost to a fault in this program; see its log"
        );
    }
    rig.sessions.set_faulty(false);
    rig.agent.release();
    assert_eq!(stop_reason(&mut wire, 1).await.1, end_turn());
    wire.prompt(4, &session, "closed by the fault").await;
    assert_eq!(wire.until_answer(4).await.1["error"]["code"], -32002);
    let setup = json!({"sessionId": session, "cwd": rig.cwd(), "mcpServers": []});
    assert_eq!(
        wire.call(5, "session/load", setup).await["result"],
        json!({})
    );
    wire.prompt(6, &session, "back").await;
    assert_eq!(stop_reason(&mut wire, 6).await.1, end_turn());
}

#[tokio::test(start_paused = true)]
async fn an_agent_may_panic_anywhere() {
    let rig = Rig::new();
    let (mut wire, session) = warm(&rig).await;
    wire.prompt(1, &session, "panic when recorded").await;
    let (_, answer) = wire.until_answer(1).await;
    let details = answer["error"]["data"]["details"].as_str().unwrap();
    assert!(details.starts_with("the agent crashed"), "{details}");
    wire.prompt(5, &session, "panic when checked").await;
    let (_, answer) = wire.until_answer(5).await;
    assert_eq!(answer["error"]["code"], -32603);
    wire.prompt(2, &session, "panic when closed").await;
    assert_eq!(stop_reason(&mut wire, 2).await.1, end_turn());
    let id = json!({"sessionId": session});
    assert_eq!(wire.call(3, "session/close", id).await["result"], json!({}));
    let setup = json!({"sessionId": session, "cwd": rig.cwd(), "mcpServers": []});
    assert_eq!(
        wire.call(4, "session/load", setup).await["result"],
        json!({})
    );
}
