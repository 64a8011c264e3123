//! Small messages of our own making, and parts of others' that we need.

use hyphae_core::ids::SessionId;
use serde_json::json;

use crate::wire::{RpcError, member};

/// Returns a JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns the object with this member, in the place of one that it may have.
pub(super) fn with_member(object: &str, name: &str, json: &str) -> String {
    let trimmed = object.trim();
    if let Some(old) = member(trimmed, name) {
        let start = old.as_ptr() as usize - trimmed.as_ptr() as usize;
        return format!(
            "{}{json}{}",
            &trimmed[..start],
            &trimmed[start + old.len()..]
        );
    }
    let inside = trimmed
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
        .unwrap_or_default()
        .trim();
    let comma = if inside.is_empty() { "" } else { "," };
    format!("{{\"{name}\":{json}{comma}{inside}}}")
}

/// An error answer under an id that is given as JSON.
pub(super) fn refusal(id: &str, error: &RpcError) -> Vec<u8> {
    let error = serde_json::to_string(error).unwrap_or_else(|_| "{\"code\":-32603}".to_owned());
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#).into_bytes()
}

/// An answer under an id that is given as JSON.
pub(super) fn answer(id: &str, result: &str) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).into_bytes()
}

/// No place for another session.
pub(super) fn no_slot(max_sessions: usize, open: &[SessionId]) -> RpcError {
    let open: Vec<String> = open.iter().map(ToString::to_string).collect();
    RpcError::refused_with(
        format!(
            "all {max_sessions} sessions are in use; close one, or start with a larger --max-sessions"
        ),
        json!({ "maxSessions": max_sessions, "openSessions": open }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_put_into_an_object_or_replaced() {
        for (object, want) in [
            ("{}", r#"{"s":1}"#),
            (" { } ", r#"{"s":1}"#),
            (r#"{"a":[2]}"#, r#"{"s":1,"a":[2]}"#),
            (r#"{"a":[2], "s" : {"s":3} }"#, r#"{"a":[2], "s" : 1 }"#),
        ] {
            assert_eq!(with_member(object, "s", "1"), want);
        }
    }

    #[test]
    fn a_full_house_names_who_is_in_it() {
        let id: SessionId = "0190a1b2-0000-7000-8000-000000000001".parse().unwrap();
        let line = String::from_utf8(refusal("\"x\"", &no_slot(1, &[id]))).unwrap();
        let message: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["id"], "x");
        assert_eq!(message["error"]["code"], -32602);
        assert_eq!(
            message["error"]["data"],
            json!({ "maxSessions": 1, "openSessions": [id.to_string()] })
        );
    }
}
