//! `acp.md` §1: end of input, signals, and a client that is gone.

use std::time::Duration;

use hyphae_acp::Served;
use hyphae_core::{agent::StopReason, session::TranscriptEvent};
use pretty_assertions::assert_eq;
use serde_json::json;
use tokio::io::AsyncWriteExt;

use crate::rig::{Rig, id_of, prompt};

#[tokio::test(start_paused = true)]
async fn end_of_input_cancels_turns_and_answers_them() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    let other = wire.new_session().await;
    wire.prompt(1, &session, "tool a pending\nwait").await;
    wire.prompt(2, &other, "wait").await;
    rig.agent.turn_started().await;
    rig.agent.turn_started().await;
    let started = tokio::time::Instant::now();
    let (rest, served) = wire.finish().await;
    assert_eq!(served, Served::Eof);
    assert!(started.elapsed() < Duration::from_secs(1));
    for id in [1, 2] {
        let answer = rest.iter().find(|message| message["id"] == id).unwrap();
        assert_eq!(answer["result"]["stopReason"], "cancelled");
    }
    let kept = rig.sessions.kept(id_of(&session));
    assert_eq!(
        kept.last().unwrap().event,
        TranscriptEvent::Ended(StopReason::Cancelled)
    );
    assert!(rig.agent.log().contains(&format!("closed {session}")));
}

#[tokio::test(start_paused = true)]
async fn the_shutdown_token_does_the_same() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    wire.prompt(1, &session, "wait").await;
    rig.agent.turn_started().await;
    wire.shutdown.cancel();
    let (_, answer) = wire.until_answer(1).await;
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    assert_eq!(wire.finish().await.1, Served::Shutdown);
}

#[tokio::test(start_paused = true)]
async fn a_stuck_agent_does_not_hold_the_end_up() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    wire.prompt(1, &session, "stuck").await;
    rig.agent.turn_started().await;
    wire.cancel(&session).await;
    wire.prompt(2, &session, "queued").await;
    // It is settling already, with all the time that a living connection has.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let started = tokio::time::Instant::now();
    let (rest, _) = wire.finish().await;
    assert!(
        started.elapsed() < Duration::from_secs(1),
        "{:?}",
        started.elapsed()
    );
    let reasons: Vec<_> = rest
        .iter()
        .filter(|message| message.get("id").is_some())
        .map(|message| {
            (
                message["id"].clone(),
                message["result"]["stopReason"].clone(),
            )
        })
        .collect();
    assert_eq!(
        reasons,
        [
            (json!(1), json!("cancelled")),
            (json!(2), json!("cancelled"))
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_does_not_hold_the_end_up() {
    let rig = Rig::new();
    let mut wire = rig.connect_with_pipe(8192);
    wire.initialize().await;
    let session = wire.new_session().await;
    wire.prompt(1, &session, "stream 10000 1024").await;
    rig.agent.turn_started().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let started = tokio::time::Instant::now();
    assert_eq!(wire.hang_up().await, Served::Eof);
    assert!(
        started.elapsed() <= Duration::from_secs(1),
        "{:?}",
        started.elapsed()
    );
    let kept = rig.sessions.kept(id_of(&session));
    assert_eq!(
        kept.last().unwrap().event,
        TranscriptEvent::Ended(StopReason::Cancelled)
    );
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_gone_ends_the_connection_and_loses_nothing() {
    let rig = Rig::new();
    let session = rig.opened().await.1;
    let (mut input, reader) = tokio::io::duplex(8192);
    let (output, writer) = tokio::io::duplex(8192);
    let token = tokio_util::sync::CancellationToken::new();
    let host = rig.host();
    let serving = tokio::spawn(async move { host.serve(reader, writer, token).await.unwrap() });
    let resume = json!({"sessionId": session, "cwd": rig.cwd()});
    for (id, method, params) in [
        (1, "initialize", json!({"protocolVersion": 1})),
        (2, "session/resume", resume),
        (
            3,
            "session/prompt",
            prompt(&session, "stream 100 1024\nwait"),
        ),
    ] {
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        input
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
    }
    rig.agent.turn_started().await;
    drop(output);
    assert_eq!(serving.await.unwrap(), Served::ClientGone);
    let kept = rig.sessions.kept(id_of(&session));
    assert_eq!(
        kept.last().unwrap().event,
        TranscriptEvent::Ended(StopReason::Cancelled)
    );
}

#[tokio::test(start_paused = true)]
async fn requests_that_came_before_the_end_are_answered() {
    let rig = Rig::new();
    let mut wire = rig.connected().await;
    for id in 0..50 {
        wire.request(
            id,
            "session/new",
            json!({"cwd": rig.cwd(), "mcpServers": []}),
        )
        .await;
    }
    let (rest, _) = wire.finish().await;
    let answered = rest
        .iter()
        .filter(|m| m["result"]["sessionId"].is_string())
        .count();
    assert_eq!(answered, 50);
}

#[tokio::test(start_paused = true)]
async fn nothing_at_all_is_a_good_conversation_too() {
    let rig = Rig::new();
    let (rest, served) = rig.connect().finish().await;
    assert_eq!((rest.len(), served), (0, Served::Eof));
}

#[tokio::test(start_paused = true)]
async fn who_reads_no_answers_can_still_end_the_connection() {
    let mut rig = Rig::new();
    rig.options.outbox_bytes = 4096;
    let mut wire = rig.connect_with_pipe(4096);
    wire.initialize().await;
    for _ in 0..5000 {
        wire.send_line("no json at all").await;
    }
    for id in 0..500 {
        wire.request(id, "nope", json!({})).await;
        wire.request(id, "session/list", json!({})).await;
    }
    let started = tokio::time::Instant::now();
    assert_eq!(wire.hang_up().await, Served::Eof);
    assert!(started.elapsed() <= Duration::from_secs(1));
}
