//! Calls that take their time: waiting for each other, being taken back, being cut off.

use std::time::Duration;

use serde_json::json;

use crate::rig::Rig;

#[tokio::test]
async fn what_asks_nothing_of_the_memory_is_answered_while_a_call_runs() {
    let mut rig = Rig::new().await;
    rig.call(1, "store", json!({"content": "wait for it"}))
        .await;
    rig.call(2, "recall", json!({"query": "it"})).await;
    rig.say(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"}))
        .await;
    assert_eq!(rig.next().await.unwrap()["id"], 3);
    rig.leave.add_permits(1);
    assert_eq!(rig.next().await.unwrap()["id"], 1);
    let recalled = rig.next().await.unwrap();
    assert_eq!(
        (
            &recalled["id"],
            &recalled["result"]["structuredContent"]["matched"]
        ),
        (&json!(2), &json!(1))
    );
    rig.hang_up().await;
    rig.ended().await;
}

#[tokio::test]
async fn a_call_that_is_taken_back_leaves_nothing_and_lets_the_next_one_go_on() {
    let mut rig = Rig::new().await;
    rig.call(1, "store", json!({"content": "wait in vain"}))
        .await;
    rig.call(2, "recall", json!({"query": "vain"})).await;
    rig.say(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    )
    .await;
    let recalled = rig.next().await.unwrap();
    assert_eq!(
        (
            &recalled["id"],
            &recalled["result"]["structuredContent"]["matched"]
        ),
        (&json!(2), &json!(0))
    );
    rig.hang_up().await;
    assert_eq!(rig.next().await, None, "a cancelled call is not answered");
    rig.ended().await;
}

#[tokio::test]
async fn a_call_may_take_long_after_the_end_of_the_input() {
    let mut rig = Rig::new().await;
    rig.call(1, "store", json!({"content": "wait for it"}))
        .await;
    rig.say(&json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}))
        .await;
    assert_eq!(rig.next().await.unwrap()["id"], 2);
    rig.hang_up().await;
    tokio::time::pause();
    for _ in 0..4 {
        // All of it runs in this one thread: whatever is due is done by then.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        tokio::time::advance(Duration::from_secs(10)).await;
    }
    tokio::time::resume();
    rig.leave.add_permits(1);
    let answer = rig.next().await.unwrap();
    assert_eq!(
        (&answer["id"], &answer["result"]["isError"]),
        (&json!(1), &json!(false))
    );
    rig.ended().await;
}

#[tokio::test]
async fn a_shutdown_ends_what_runs() {
    let mut rig = Rig::new().await;
    rig.call(1, "store", json!({"content": "wait in vain"}))
        .await;
    rig.say(&json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}))
        .await;
    assert_eq!(rig.next().await.unwrap()["id"], 2);
    rig.shutdown.cancel();
    rig.ended().await;
}
