//! `acp.md` §1 version, §4 `initialize` and `authenticate`.

use hyphae_acp::Unstable;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::rig::Rig;

fn initialized() -> Value {
    json!({
        "protocolVersion": 1,
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": {"image": false, "audio": false, "embeddedContext": false},
            "mcpCapabilities": {"http": false, "sse": false},
            "sessionCapabilities": {"list": {}, "delete": {}, "resume": {}, "close": {}},
            "auth": {},
        },
        "authMethods": [{
            "id": "hyphae-api-key",
            "name": "HyphaeDB key",
            "description": "The API key that this process was started with",
        }],
        "agentInfo": {"name": "scripted", "title": "Scripted agent", "version": "1.2.3"},
    })
}

#[tokio::test]
async fn initialize_declares_what_is_implemented_and_no_more() {
    let rig = Rig::new();
    assert_eq!(rig.connect().initialize().await["result"], initialized());
}

#[tokio::test]
async fn initialize_follows_the_agent_and_the_options() {
    let mut rig = Rig::accepting_everything();
    rig.options.unstable = Unstable::Offered;
    let got = rig.connect().initialize().await;
    let capabilities = &got["result"]["agentCapabilities"];
    assert_eq!(
        capabilities["promptCapabilities"],
        json!({"image": true, "audio": true, "embeddedContext": true})
    );
    assert_eq!(capabilities["sessionCapabilities"]["fork"], json!({}));
}

#[tokio::test]
async fn version_1_for_1_and_our_latest_for_anything_else() {
    for version in [0_u64, 1, 2, 3, 65535, 65536, u64::MAX] {
        let rig = Rig::new();
        let params = json!({
            "protocolVersion": version,
            "info": {"name": "v2 style"},
            "clientCapabilities": "malformed is no reason to fail",
            "clientInfo": 7,
            "_meta": {"x": [1]},
        });
        let got = rig.connect().call(1, "initialize", params).await;
        assert_eq!(got["result"], initialized());
    }
}

#[tokio::test]
async fn a_version_that_is_no_number_is_refused_by_name() {
    for version in [json!("1"), json!(-1), json!(1.5), json!(null), json!([1])] {
        let rig = Rig::new();
        let got = rig
            .connect()
            .call(1, "initialize", json!({"protocolVersion": version}))
            .await;
        assert_eq!(
            got["error"],
            json!({
                "code": -32602,
                "message": "invalid params: `protocolVersion`: expected a whole number",
                "data": {"field": "protocolVersion"},
            })
        );
    }
}

#[tokio::test]
async fn a_second_initialize_is_answered_and_changes_nothing() {
    let rig = Rig::new();
    let (mut wire, session) = rig.opened().await;
    assert_eq!(wire.initialize().await["result"], initialized());
    wire.prompt(2, &session, "still there").await;
    let (_, answer) = wire.until_answer(2).await;
    assert_eq!(answer["result"]["stopReason"], "end_turn");
}

#[tokio::test]
async fn two_initializes_with_a_session_between_them_all_succeed() {
    let rig = Rig::new();
    let mut wire = rig.connect();
    let init = json!({"protocolVersion": 1});
    wire.request(1, "initialize", init.clone()).await;
    wire.request(2, "initialize", init).await;
    wire.request(
        3,
        "session/new",
        json!({"cwd": rig.cwd(), "mcpServers": []}),
    )
    .await;
    let (before, new) = wire.until_answer(3).await;
    assert_eq!(before.len(), 2);
    assert!(new["result"]["sessionId"].is_string());
}

#[tokio::test]
async fn authenticate_takes_its_one_method() {
    let rig = Rig::new();
    let mut wire = rig.connected().await;
    let got = wire
        .call(1, "authenticate", json!({"methodId": "hyphae-api-key"}))
        .await;
    assert_eq!(got, json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    let got = wire
        .call(2, "authenticate", json!({"methodId": "hyk_secret"}))
        .await;
    assert_eq!(
        got["error"],
        json!({
            "code": -32602,
            "message": "invalid params: `methodId`: expected an id from `authMethods`",
            "data": {"field": "methodId"},
        })
    );
    let session = wire.new_session().await;
    assert_eq!(session.len(), 36);
}
