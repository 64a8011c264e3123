//! Small messages of our own making, and parts of others' that we need.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::value::RawValue;

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

/// Returns the object without this member. The others may stand in another order.
pub(super) fn without_member(object: &str, name: &str) -> String {
    let Ok(mut members) = serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(object) else {
        return object.to_owned();
    };
    members.remove(name);
    serde_json::to_string(&members).unwrap_or_else(|_| object.to_owned())
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
    fn a_member_is_taken_out_of_an_object() {
        for (object, want) in [
            (r#"{"s":1}"#, "{}"),
            (
                r#"{"b":1e400,"s":{"s":1},"a":[2 ]}"#,
                r#"{"a":[2 ],"b":1e400}"#,
            ),
            ("{}", "{}"),
        ] {
            assert_eq!(without_member(object, "s"), want);
        }
    }
}
