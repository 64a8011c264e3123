//! `acp.md` §1, out: a client that reads slowly, or not at all.

use std::time::Duration;

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::rig::{Rig, gists};

#[tokio::test(start_paused = true)]
async fn pieces_of_a_message_are_joined_while_the_client_is_slow() {
    let rig = Rig::new();
    let mut wire = rig.connect_with_pipe(4096);
    wire.initialize().await;
    let session = wire.new_session().await;
    wire.prompt(1, &session, "stream 5000 10\nthink a\nthink b\nlast")
        .await;
    rig.agent.turn_started().await;
    // Everything that can happen without the client reading happens now.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (updates, answer) = wire.until_answer(1).await;
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    let mut texts: Vec<(String, String)> = Vec::new();
    let mut lines = 0;
    for update in &updates {
        let update = &update["params"]["update"];
        let (Some(id), Some(text)) = (
            update["messageId"].as_str(),
            update["content"]["text"].as_str(),
        ) else {
            continue;
        };
        lines += 1;
        match texts.last_mut() {
            Some((last, joined)) if last == id => joined.push_str(text),
            _ => texts.push((id.to_owned(), text.to_owned())),
        }
    }
    let stream: String = (0..5000).map(|n| format!("{n:010}")).collect();
    let texts: Vec<_> = texts.into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, [stream.as_str(), "a", "b", "last"]);
    assert!(lines < 500, "{lines} lines for 5003 pieces");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_gets_every_piece_at_once() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    wire.prompt(1, &session, "first\nrelease").await;
    loop {
        let update = wire.receive().await.unwrap();
        if update["params"]["update"]["content"]["text"] == "first" {
            break;
        }
    }
    rig.agent.release();
    wire.until_answer(1).await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_waits_for_its_client() {
    let mut rig = Rig::new();
    rig.options.outbox_bytes = 64 * 1024;
    let mut wire = rig.connect_with_pipe(4096);
    wire.initialize().await;
    let session = wire.new_session().await;
    wire.prompt(1, &session, "messages 100000").await;
    rig.agent.turn_started().await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let (kept, _) = rig.sessions.appended();
    assert!(kept < 1000, "{kept} entries while nobody reads");

    // A cancel gets through, and its answer comes as soon as somebody reads.
    wire.cancel(&session).await;
    let (_, answer) = wire.until_answer(1).await;
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    assert_eq!(wire.call(2, "session/list", json!({})).await["id"], 2);
}

#[tokio::test(start_paused = true)]
async fn what_an_agent_said_before_it_ended_is_shown_however_late() {
    let mut rig = Rig::new();
    rig.options.outbox_bytes = 1024;
    let mut wire = rig.connect_with_pipe(4096);
    wire.initialize().await;
    let session = wire.new_session().await;
    wire.prompt(1, &session, "messages 30\ntool a pending")
        .await;
    rig.agent.turn_started().await;
    // The agent ends while most of its words wait for a client that does not read.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(rig.agent.log().last().unwrap(), "end EndTurn");
    let (updates, answer) = wire.until_answer(1).await;
    let want: Vec<_> = (0..30).map(|n| format!("agent message {n}")).collect();
    let got: Vec<_> = gists(&updates)
        .into_iter()
        .filter(|gist| gist.starts_with("agent"))
        .collect();
    assert_eq!(got, want);
    let last = gists(&updates[updates.len() - 3..]);
    assert_eq!(
        last[..2],
        ["tool_call a pending", "tool_call_update a failed"]
    );
    assert_eq!(answer["result"]["stopReason"], "end_turn");
}
