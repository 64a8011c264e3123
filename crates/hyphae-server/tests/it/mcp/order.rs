//! The calls of one connection see each other in the order in which they were sent.

use serde_json::json;

use super::{Era, Mcp, contents, succeeded};
use crate::world::World;

#[test]
fn a_recall_behind_fifty_stores_sees_them_all() {
    let world = World::new();
    for era in [Era::Legacy, Era::Modern] {
        let mut mcp = Mcp::start(&world, era);
        let all: Vec<String> = (0..50)
            .map(|n| format!("{era:?}: gauge number {n} stands by the old lock"))
            .collect();
        for content in &all {
            mcp.send_call("store", json!({"content": content}));
        }
        let query = json!({"query": format!("{era:?} gauge lock"), "k": 100, "max_tokens": 20000});
        let asked = mcp.send_call("recall", query);
        let found = contents(&succeeded(mcp.answer(asked)));
        for content in &all {
            assert!(found.contains(content), "{content} is missing");
        }
        mcp.end();
    }
}

#[test]
fn calls_that_run_when_the_input_ends_are_answered() {
    let world = World::new();
    let mut mcp = Mcp::start(&world, Era::Legacy);
    for n in 0..30 {
        mcp.send_call(
            "store",
            json!({"content": format!("the last words, number {n}")}),
        );
    }
    let answers = mcp.end();
    let stored = answers
        .iter()
        .filter(|answer| answer["result"]["structuredContent"]["outcome"] == "created");
    assert_eq!(stored.count(), 30);
}

#[test]
fn a_cancelled_call_is_not_answered_and_holds_up_nothing() {
    let world = World::new();
    let mut mcp = Mcp::start(&world, Era::Legacy);
    for n in 0..5 {
        mcp.send_call(
            "store",
            json!({"content": format!("before the cancelled one, {n}")}),
        );
    }
    let cancelled = mcp.send_call("store", json!({"content": "this one is taken back"}));
    let line = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": cancelled}});
    mcp.raw(&line.to_string());
    let found = mcp.recall("before the cancelled one");
    assert_eq!(found.len(), 5, "{found:?}");
    let answers = mcp.end();
    assert!(
        answers.iter().all(|answer| answer["id"] != cancelled),
        "{answers:?}"
    );
}
