//! JSON-RPC around a message: what kind it is, whom to answer, and its parameters.
//!
//! Nothing in here repeats what a client sent but its id: an error that quotes a request would
//! carry the secrets of an `mcpServers` entry back out.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::IgnoredAny};
use serde_json::value::RawValue;

use super::RpcError;

/// Names a request, exactly as its sender wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum RequestId {
    Null,
    /// Kept as text, so that no precision is lost.
    Number(String),
    String(String),
}

/// A value that cannot be a request's id.
#[derive(Debug)]
pub(crate) enum BadId {
    Syntax,
    Kind,
}

impl RequestId {
    /// Reads the JSON of an id.
    pub(crate) fn parse(json: &str) -> Result<Self, BadId> {
        match json.as_bytes().first() {
            Some(b'"') => serde_json::from_str(json)
                .map(Self::String)
                .map_err(|_| BadId::Syntax),
            Some(b'-' | b'0'..=b'9') => serde_json::from_str::<IgnoredAny>(json)
                .map(|_| Self::Number(json.to_owned()))
                .map_err(|_| BadId::Syntax),
            _ if json == "null" => Ok(Self::Null),
            _ => Err(BadId::Kind),
        }
    }

    /// Reads an id out of parsed parameters.
    pub(crate) fn from_value(value: &serde_json::Value) -> Option<Self> {
        Self::parse(&value.to_string()).ok()
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::Error as _;
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::String(text) => serializer.serialize_str(text),
            Self::Number(text) => RawValue::from_string(text.clone())
                .map_err(S::Error::custom)?
                .serialize(serializer),
        }
    }
}

/// A message as it came in.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    Request {
        id: RequestId,
        method: Cow<'a, str>,
        params: Params<'a>,
    },
    Notification {
        method: Cow<'a, str>,
        params: Params<'a>,
    },
    /// An answer. We ask clients nothing, so whatever it answers was not ours.
    Response,
}

/// The parameters of a message, not looked at yet.
#[derive(Clone, Copy)]
pub(crate) struct Params<'a>(Option<&'a RawValue>);

impl fmt::Debug for Params<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Params(…)")
    }
}

impl Params<'_> {
    /// Reads the parameters; absent ones are an empty object.
    pub(crate) fn object(self) -> Result<serde_json::Map<String, serde_json::Value>, BadParams> {
        let Some(raw) = self.0.filter(|raw| raw.get() != "null") else {
            return Ok(serde_json::Map::new());
        };
        if !raw.get().starts_with('{') {
            return Err(BadParams::Kind);
        }
        serde_json::from_str(raw.get()).map_err(|_| BadParams::Syntax)
    }
}

/// Parameters that are no object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadParams {
    /// No JSON after all: a lone surrogate, or nested too deeply.
    Syntax,
    Kind,
}

/// A line that is no message, and whom to tell.
#[derive(Debug, PartialEq)]
pub(crate) struct Rejection {
    pub(crate) id: RequestId,
    pub(crate) error: RpcError,
}

impl Rejection {
    pub(crate) const fn unparsable() -> Self {
        Self {
            id: RequestId::Null,
            error: RpcError::parse_error(),
        }
    }

    const fn invalid(id: RequestId, what: &'static str) -> Self {
        Self {
            id,
            error: RpcError::invalid_request(Cow::Borrowed(what)),
        }
    }
}

/// The members of a message, as they lie in its line.
#[derive(Deserialize)]
pub(super) struct Envelope<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    pub(super) id: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    pub(super) method: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    pub(super) params: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    pub(super) result: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    pub(super) error: Option<&'a RawValue>,
}

/// Keeps `null` apart from an absent member.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    // The error goes on as it is: broken JSON inside a member is no message at all.
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Reads one line.
pub(crate) fn parse(line: &[u8]) -> Result<Incoming<'_>, Rejection> {
    let line = std::str::from_utf8(line).map_err(|_| Rejection::unparsable())?;
    if !line.starts_with('{') {
        return Err(match serde_json::from_str::<IgnoredAny>(line) {
            Ok(_) => Rejection::invalid(RequestId::Null, "a message is a JSON object"),
            Err(_) => Rejection::unparsable(),
        });
    }
    let envelope: Envelope<'_> = serde_json::from_str(line).map_err(|error| {
        if error.is_data() {
            Rejection::invalid(RequestId::Null, "a member of the message occurs twice")
        } else {
            Rejection::unparsable()
        }
    })?;
    let id = match envelope
        .id
        .map(|raw| RequestId::parse(raw.get()))
        .transpose()
    {
        Ok(id) => id,
        Err(BadId::Syntax) => return Err(Rejection::unparsable()),
        Err(BadId::Kind) => {
            return Err(Rejection::invalid(
                RequestId::Null,
                "`id` is a string, a number or null",
            ));
        }
    };
    let Some(method) = envelope.method else {
        if envelope.result.is_some() || envelope.error.is_some() {
            return Ok(Incoming::Response);
        }
        return Err(Rejection::invalid(
            id.unwrap_or(RequestId::Null),
            "a message has a `method`, a `result` or an `error`",
        ));
    };
    if !method.get().starts_with('"') {
        return Err(Rejection::invalid(
            id.unwrap_or(RequestId::Null),
            "`method` is a string",
        ));
    }
    let method = string(method.get()).ok_or_else(Rejection::unparsable)?;
    let params = Params(envelope.params);
    let Some(id) = id else {
        return Ok(Incoming::Notification { method, params });
    };
    if envelope.jsonrpc.map(RawValue::get) != Some("\"2.0\"") {
        return Err(Rejection::invalid(id, "`jsonrpc` is \"2.0\""));
    }
    Ok(Incoming::Request { id, method, params })
}

/// Reads a JSON string, without a copy where it has no escapes.
pub(super) fn string(json: &str) -> Option<Cow<'_, str>> {
    serde_json::from_str::<&str>(json)
        .map(Cow::Borrowed)
        .or_else(|_| serde_json::from_str::<String>(json).map(Cow::Owned))
        .ok()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[track_caller]
    fn check(line: &[u8], want: &str) {
        let got = match parse(line) {
            Ok(Incoming::Request { id, method, .. }) => {
                format!("request {} {method}", serde_json::to_string(&id).unwrap())
            }
            Ok(Incoming::Notification { method, .. }) => format!("notification {method}"),
            Ok(Incoming::Response) => "response".to_owned(),
            Err(Rejection { id, error }) => {
                format!(
                    "{} to {}",
                    error.code(),
                    serde_json::to_string(&id).unwrap()
                )
            }
        };
        assert_eq!(got, want);
    }

    #[test]
    fn ids_are_repeated_as_they_were_written() {
        for id in [
            "1",
            "-7",
            "0",
            "9007199254740993",
            "18446744073709551616",
            "1.0",
            "1e3",
            "\"a\"",
            "\"\"",
            "\"\\\"q\"",
            "null",
        ] {
            check(
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#).as_bytes(),
                &format!("request {id} m"),
            );
        }
    }

    #[test]
    fn what_is_no_json_is_a_parse_error() {
        for line in [
            &b"{"[..],
            b"nope",
            b"{\"id\":1,}",
            b"[1,",
            b"\xff\xfe",
            b"{\"id\":\"\xff\"}",
            br#"{"jsonrpc":"2.0","id":"\ud800","method":"m"}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"\udc00"}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"m"} {"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"\q"}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"m","params":{]}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"m","params":nul}"#,
            b"{\"jsonrpc\":\"2.0\",\"id\":\"a\x01b\",\"method\":\"m\"}",
            br#"{"jsonrpc":"2.0","id":01,"method":"m"}"#,
        ] {
            check(line, "-32700 to null");
        }
    }

    #[test]
    fn what_is_no_message_is_an_invalid_request() {
        for (line, want) in [
            (r"[]", "-32600 to null"),
            (
                r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#,
                "-32600 to null",
            ),
            ("1", "-32600 to null"),
            ("null", "-32600 to null"),
            (r#""x""#, "-32600 to null"),
            ("{}", "-32600 to null"),
            (r#"{"jsonrpc":"2.0","id":4}"#, "-32600 to 4"),
            (
                r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#,
                "-32600 to null",
            ),
            (
                r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#,
                "-32600 to null",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#,
                "-32600 to null",
            ),
            (
                r#"{"jsonrpc":"2.0","id":"a","method":7}"#,
                r#"-32600 to "a""#,
            ),
            (r#"{"jsonrpc":"1.0","id":3,"method":"m"}"#, "-32600 to 3"),
            (r#"{"id":3,"method":"m"}"#, "-32600 to 3"),
        ] {
            check(line.as_bytes(), want);
        }
    }

    #[test]
    fn responses_and_notifications_are_told_apart() {
        check(
            br#"{"jsonrpc":"2.0","id":null,"error":{"code":1}}"#,
            "response",
        );
        check(br#"{"jsonrpc":"2.0","id":9,"result":null}"#, "response");
        check(
            br#"{"jsonrpc":"2.0","method":"m","params":3}"#,
            "notification m",
        );
        check(br#"{"method":"\u006d"}"#, "notification m");
    }

    #[test]
    fn parameters_are_an_object_or_nothing() {
        let params = |json: &str| {
            let raw = RawValue::from_string(json.to_owned()).unwrap();
            Params(Some(&raw)).object().map(|map| map.len())
        };
        assert_eq!(Params(None).object().map(|map| map.len()), Ok(0));
        assert_eq!(params("null"), Ok(0));
        assert_eq!(params(r#"{"a":1}"#), Ok(1));
        assert_eq!(params("[1]"), Err(BadParams::Kind));
        assert_eq!(params("\"x\""), Err(BadParams::Kind));
        assert_eq!(params(r#"{"a":"\ud800"}"#), Err(BadParams::Syntax));
    }
}
