//! The errors of the protocol, and which code each has.

use std::borrow::Cow;

use serde::{Serialize, ser::SerializeMap};
use serde_json::{Value, json};

/// An error answer. Its texts are ours: none of them repeats a parameter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RpcError {
    code: i32,
    message: Cow<'static, str>,
    /// What programs can use.
    data: Option<Box<Value>>,
}

impl RpcError {
    pub(crate) const fn parse_error() -> Self {
        Self::plain(-32700, "parse error: the line is no JSON")
    }

    pub(crate) const fn invalid_request(what: Cow<'static, str>) -> Self {
        Self {
            code: -32600,
            message: what,
            data: None,
        }
    }

    pub(crate) const fn method_not_found() -> Self {
        Self::plain(-32601, "method not found")
    }

    /// Names the field and what would be taken.
    pub(crate) fn invalid_params(field: &str, expected: &str) -> Self {
        Self {
            code: -32602,
            message: Cow::Owned(format!("invalid params: `{field}`: {expected}")),
            data: Some(Box::new(json!({ "field": field }))),
        }
    }

    pub(crate) const fn params_not_an_object() -> Self {
        Self::plain(-32602, "invalid params: expected an object")
    }

    /// Something failed on our side; the details are for people.
    pub(crate) fn internal(details: impl Into<String>) -> Self {
        Self {
            code: -32603,
            message: Cow::Borrowed("internal error"),
            data: Some(Box::new(json!({ "details": details.into() }))),
        }
    }

    /// Something failed on our side, with more for programs to use.
    pub(crate) fn internal_with(data: Value) -> Self {
        Self {
            code: -32603,
            message: Cow::Borrowed("internal error"),
            data: Some(Box::new(data)),
        }
    }

    /// What was asked for cannot be had now, whatever its parameters.
    pub(crate) fn refused_with(message: String, data: Value) -> Self {
        Self {
            code: -32602,
            message: Cow::Owned(message),
            data: Some(Box::new(data)),
        }
    }

    /// The same bytes for an id that never was, one of somebody else and one that is closed.
    pub(crate) fn session_not_found(session_id: &str) -> Self {
        /// Ids of ours have 36 characters; what is much longer need not be repeated in full.
        const SHOWN_CHARS: usize = 128;
        Self {
            code: -32002,
            message: Cow::Borrowed("session not found"),
            data: Some(Box::new(json!({
                "sessionId": session_id.chars().take(SHOWN_CHARS).collect::<String>()
            }))),
        }
    }

    pub(crate) const fn cancelled() -> Self {
        Self::plain(-32800, "request cancelled")
    }

    pub(crate) const fn code(&self) -> i32 {
        self.code
    }

    const fn plain(code: i32, message: &'static str) -> Self {
        Self {
            code,
            message: Cow::Borrowed(message),
            data: None,
        }
    }
}

impl Serialize for RpcError {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("code", &self.code)?;
        map.serialize_entry("message", &self.message)?;
        if let Some(data) = &self.data {
            map.serialize_entry("data", data)?;
        }
        map.end()
    }
}
