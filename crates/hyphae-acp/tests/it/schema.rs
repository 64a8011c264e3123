//! Every line that the host sends, in every test here, held against the protocol's JSON Schema
//! as the schema crate generates it.

use std::{collections::HashMap, sync::OnceLock};

use agent_client_protocol_schema::v1 as acp;
use jsonschema::Validator;
use serde_json::{Value, json};

struct Kind {
    validator: Validator,
    /// The members that the schema knows at the root.
    members: Vec<String>,
}

fn kind<T: schemars::JsonSchema>() -> Kind {
    let schema = schemars::schema_for!(T).to_value();
    let members = schema["properties"]
        .as_object()
        .expect("an object")
        .keys()
        .cloned()
        .collect();
    Kind {
        validator: jsonschema::validator_for(&schema).expect("a schema"),
        members,
    }
}

/// By the method that was asked, and by the two things that are nobody's answer.
fn kinds() -> &'static HashMap<&'static str, Kind> {
    static KINDS: OnceLock<HashMap<&'static str, Kind>> = OnceLock::new();
    KINDS.get_or_init(|| {
        HashMap::from([
            ("initialize", kind::<acp::InitializeResponse>()),
            ("authenticate", kind::<acp::AuthenticateResponse>()),
            ("session/new", kind::<acp::NewSessionResponse>()),
            ("session/load", kind::<acp::LoadSessionResponse>()),
            ("session/resume", kind::<acp::ResumeSessionResponse>()),
            ("session/fork", kind::<acp::ForkSessionResponse>()),
            ("session/list", kind::<acp::ListSessionsResponse>()),
            ("session/close", kind::<acp::CloseSessionResponse>()),
            ("session/delete", kind::<acp::DeleteSessionResponse>()),
            ("session/prompt", kind::<acp::PromptResponse>()),
            ("error", kind::<acp::Error>()),
            ("session/update", kind::<acp::SessionNotification>()),
        ])
    })
}

/// Fails unless `message` is one that an agent may send. `asked` knows the method behind an id.
#[track_caller]
pub(crate) fn check<'a>(message: &Value, asked: impl Fn(&Value) -> Option<&'a str>) {
    assert_eq!(message["jsonrpc"], "2.0", "{message}");
    let members: Vec<_> = message.as_object().expect("an object").keys().collect();
    let (name, body) = match (message.get("method"), message.get("result")) {
        (Some(method), _) => {
            assert_eq!(members, ["jsonrpc", "method", "params"], "{message}");
            assert_eq!(method, "session/update", "{message}");
            ("session/update", &message["params"])
        }
        (None, Some(result)) => {
            assert_eq!(members, ["jsonrpc", "id", "result"], "{message}");
            let method = asked(&message["id"]).unwrap_or_else(|| panic!("unasked: {message}"));
            (method, result)
        }
        (None, None) => {
            assert_eq!(members, ["jsonrpc", "id", "error"], "{message}");
            let text = message["error"]["message"].as_str().unwrap_or_default();
            assert!(!text.is_empty() && !text.contains('\n'), "{message}");
            ("error", &message["error"])
        }
    };
    let kind = &kinds()[name];
    let faults: Vec<_> = kind
        .validator
        .iter_errors(body)
        .map(|e| e.to_string())
        .collect();
    assert!(faults.is_empty(), "{message}: {faults:?}");
    for member in body.as_object().expect("an object").keys() {
        assert!(kind.members.contains(member), "{member} in {message}");
    }
}

#[test]
fn the_check_finds_what_is_wrong() {
    let asked = |_: &Value| Some("session/new");
    check(
        &json!({"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "x"}}),
        asked,
    );
    for wrong in [
        json!({"id": 1, "result": {"sessionId": "x"}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"sessionId": 7}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "x", "extra": 1}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": null}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": "x", "message": "m"}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": ""}}),
        json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "x"}}),
        json!({"jsonrpc": "2.0", "method": "session/update", "params": {
            "sessionId": "x", "update": {"sessionUpdate": "agent_message_chunk", "content": 7}}}),
    ] {
        let found = std::panic::catch_unwind(|| check(&wrong, asked));
        assert!(found.is_err(), "{wrong}");
    }
}
