//! What a line from the client says. Pure.
//!
//! The protocol's library passes over what it cannot read, and the caller waits until its own
//! deadline. Here each line that asks something is answered.

use rmcp::{
    ErrorData,
    model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage},
};
use serde_json::{Map, Value};

/// What to do with a line.
#[derive(Debug)]
pub(crate) enum Understood {
    /// It is for the protocol.
    Message(Box<ClientJsonRpcMessage>),
    /// It asks nothing that could be answered.
    Nothing,
    /// It is answered at once.
    Refused(Box<ServerJsonRpcMessage>),
}

/// Reads a line. No answer repeats any of it.
pub(crate) fn understand(line: &[u8]) -> Understood {
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return refused(None, ErrorData::parse_error("the line is not JSON", None));
    };
    let Value::Object(mut message) = value else {
        return refused(
            None,
            ErrorData::invalid_request("a message is one JSON object a line", None),
        );
    };
    let id = message.get("id").cloned();
    let method = message
        .get("method")
        .and_then(Value::as_str)
        .map(str::to_owned);
    if method.as_deref() == Some("tools/call") {
        mend_arguments(&mut message);
    }
    match serde_json::from_value(Value::Object(message)) {
        Ok(read) => Understood::Message(Box::new(read)),
        // A notification is never answered, and a stray response asks nothing.
        Err(_) if id.is_none() || method.is_none() => Understood::Nothing,
        Err(_) => refused(
            id.and_then(|id| serde_json::from_value(id).ok()),
            ErrorData::invalid_request(
                "the message is no JSON-RPC 2.0 request; its `jsonrpc` is \"2.0\", its `id` a string or an integer",
                None,
            ),
        ),
    }
}

/// The answer to a line that was too long to be read.
pub(crate) fn too_long(limit: usize) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(
        ErrorData::invalid_request(
            format!("the message is over the limit of {limit} bytes and was passed over"),
            None,
        ),
        None,
    )
}

fn refused(id: Option<RequestId>, error: ErrorData) -> Understood {
    Understood::Refused(Box::new(ServerJsonRpcMessage::error(error, id)))
}

/// Some clients send the arguments of a tool as a JSON text, or `null` for none.
fn mend_arguments(message: &mut Map<String, Value>) {
    let Some(Value::Object(params)) = message.get_mut("params") else {
        return;
    };
    match params.get("arguments") {
        Some(Value::String(text)) => {
            if let Ok(Value::Object(read)) = serde_json::from_str(text) {
                params.insert("arguments".to_owned(), Value::Object(read));
            }
        }
        Some(Value::Null) => {
            params.remove("arguments");
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use rmcp::model::{ClientRequest, JsonRpcMessage};
    use serde_json::json;

    use super::*;

    fn answer(line: &str) -> Option<Value> {
        match understand(line.as_bytes()) {
            Understood::Refused(error) => Some(serde_json::to_value(error).unwrap()),
            Understood::Nothing => None,
            Understood::Message(message) => panic!("{message:?}"),
        }
    }

    #[test]
    fn what_is_no_message_is_answered() {
        for (line, code, id) in [
            ("{", -32700, None),
            ("\u{1}", -32700, None),
            (r#"{"id":1,"method":"\ud800"}"#, -32700, None),
            ("[]", -32600, None),
            ("7", -32600, None),
            (r#"{"id":1,"method":"ping"}"#, -32600, Some(json!(1))),
            (
                r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#,
                -32600,
                Some(json!("a")),
            ),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, None),
        ] {
            let answer = answer(line).unwrap_or_else(|| panic!("{line} is not answered"));
            assert_eq!(answer["error"]["code"], code, "{line}");
            assert_eq!(answer.get("id"), id.as_ref(), "{line}");
        }
    }

    #[test]
    fn what_asks_nothing_is_not_answered() {
        for line in [
            r#"{"method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":4}"#,
            r#"{}"#,
        ] {
            assert_eq!(answer(line), None, "{line}");
        }
    }

    #[test]
    fn arguments_may_come_as_text_or_as_null() {
        for (arguments, want) in [
            (json!({"k": 1}), Some(json!({"k": 1}))),
            (json!("{\"k\": 1}"), Some(json!({"k": 1}))),
            (Value::Null, None),
        ] {
            let line = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "recall", "arguments": arguments}});
            let Understood::Message(message) = understand(line.to_string().as_bytes()) else {
                panic!("{line}");
            };
            let JsonRpcMessage::Request(request) = *message else {
                panic!("{line}");
            };
            let ClientRequest::CallToolRequest(call) = request.request else {
                panic!("{line}");
            };
            assert_eq!(call.params.arguments.map(Value::Object), want);
        }
    }
}
