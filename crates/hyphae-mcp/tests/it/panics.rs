//! A panic in one call is an answer, and ends nothing else.

use serde_json::json;

use crate::rig::Rig;

#[tokio::test]
async fn a_panic_in_a_tool_is_a_result_and_the_next_call_works() {
    let mut rig = Rig::new().await;
    rig.call(1, "store", json!({"content": "panic now"})).await;
    let answer = rig.next().await.unwrap();
    assert_eq!(
        (&answer["id"], &answer["result"]["isError"]),
        (&json!(1), &json!(true))
    );
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("code: internal"), "{text}");
    rig.call(2, "store", json!({"content": "all is well"}))
        .await;
    assert_eq!(rig.next().await.unwrap()["result"]["isError"], false);
    rig.hang_up().await;
    rig.ended().await;
}
