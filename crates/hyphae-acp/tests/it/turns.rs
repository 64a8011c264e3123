//! `acp.md` §3: turns.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::rig::{Rig, gists};

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
async fn a_cancel_ends_the_turn() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    wire.prompt(1, &session, "wait").await;
    rig.agent.turn_started().await;
    wire.cancel(&session).await;
    let (_, answer) = wire.until_answer(1).await;
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    wire.prompt(2, &session, "again").await;
    let (_, answer) = wire.until_answer(2).await;
    assert_eq!(answer["result"]["stopReason"], "end_turn");
}
