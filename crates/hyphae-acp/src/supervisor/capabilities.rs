//! What the editor is told of the agent: the child's own words, and what we add to them.

use serde_json::{Map, Value, json};

/// What a child can do that decides how we treat it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Abilities {
    /// It opens a session again and shows its history.
    pub(super) load: bool,
    /// The same without history.
    pub(super) resume: bool,
    /// It ends a session when it is asked.
    pub(super) close: bool,
}

/// A child's answer to `initialize`, read.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Introduction {
    /// As the child wrote it.
    pub(super) json: String,
    pub(super) abilities: Abilities,
    answer: Map<String, Value>,
}

/// The protocol that we speak in both directions.
const VERSION: u64 = 1;

/// What we cannot keep across processes, or do not yet: not to be promised in our name.
const TAKEN_AWAY: [&str; 4] = ["list", "resume", "delete", "fork"];

impl Introduction {
    /// Reads the result of a child's answer.
    pub(super) fn read(json: &str) -> Result<Self, String> {
        let Ok(Value::Object(answer)) = serde_json::from_str(json) else {
            return Err("its answer to `initialize` is no object".to_owned());
        };
        match answer.get("protocolVersion").and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(version) => {
                return Err(format!(
                    "it speaks version {version} of the protocol, not 1"
                ));
            }
            None => return Err("its answer to `initialize` names no protocol version".to_owned()),
        }
        let capabilities = answer.get("agentCapabilities");
        let of_sessions = capabilities.and_then(|all| all.get("sessionCapabilities"));
        let can = |name| {
            of_sessions
                .and_then(|all| all.get(name))
                .is_some_and(is_offered)
        };
        let load = capabilities.and_then(|all| all.get("loadSession"));
        Ok(Self {
            json: json.to_owned(),
            abilities: Abilities {
                load: load == Some(&Value::Bool(true)),
                resume: can("resume"),
                close: can("close"),
            },
            answer,
        })
    }

    /// What the editor is answered: the child's words, without what needs the one process that
    /// knew the session, and with what the supervisor does for every child.
    pub(super) fn merged(&self, version: &str) -> Value {
        let mut answer = self.answer.clone();
        within(&mut answer, "agentCapabilities", |capabilities| {
            capabilities.insert("loadSession".to_owned(), Value::Bool(false));
            within(capabilities, "sessionCapabilities", |sessions| {
                for name in TAKEN_AWAY {
                    sessions.remove(name);
                }
                sessions.insert("close".to_owned(), json!({}));
            });
        });
        within(&mut answer, "_meta", |meta| {
            meta.insert("hyphae".to_owned(), json!({ "supervisor": version }));
        });
        Value::Object(answer)
    }
}

/// `{}`, and `true` in older words.
fn is_offered(value: &Value) -> bool {
    value.is_object() || *value == Value::Bool(true)
}

/// Changes a member that is an object, and is made one if it is not.
fn within(
    parent: &mut Map<String, Value>,
    name: &str,
    change: impl FnOnce(&mut Map<String, Value>),
) {
    let mut object = match parent.remove(name) {
        Some(Value::Object(object)) => object,
        None | Some(_) => Map::new(),
    };
    change(&mut object);
    parent.insert(name.to_owned(), Value::Object(object));
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn what_a_child_has_passes_and_what_we_cannot_keep_does_not() {
        let introduction = Introduction::read(
            r#"{"protocolVersion":1,"agentInfo":{"name":"x","version":"1"},"authMethods":[{"id":"a","name":"A"}],
            "agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true},"_odd":[1],
            "sessionCapabilities":{"list":{},"fork":{},"resume":{},"_mine":{}}},"_meta":{"y":1}}"#,
        )
        .unwrap();
        assert_eq!(
            introduction.abilities,
            Abilities {
                load: true,
                resume: true,
                close: false
            }
        );
        assert_eq!(
            introduction.merged("0.1"),
            json!({
                "protocolVersion": 1,
                "agentInfo": { "name": "x", "version": "1" },
                "authMethods": [{ "id": "a", "name": "A" }],
                "agentCapabilities": {
                    "loadSession": false,
                    "promptCapabilities": { "image": true },
                    "_odd": [1],
                    "sessionCapabilities": { "close": {}, "_mine": {} },
                },
                "_meta": { "y": 1, "hyphae": { "supervisor": "0.1" } },
            })
        );
    }

    #[test]
    fn a_child_with_odd_capabilities_is_still_understood() {
        let introduction =
            Introduction::read(r#"{"protocolVersion":1,"agentCapabilities":null,"_meta":7}"#);
        let introduction = introduction.unwrap();
        assert_eq!(introduction.abilities, Abilities::default());
        let close = introduction.merged("1");
        assert!(
            close
                .pointer("/agentCapabilities/sessionCapabilities/close")
                .is_some()
        );
    }

    #[test]
    fn a_child_of_another_protocol_is_refused() {
        for (json, want) in [
            (r#"{"protocolVersion":2}"#, "version 2"),
            (r#"{"protocolVersion":"1"}"#, "no protocol version"),
            ("{}", "no protocol version"),
            ("null", "no object"),
        ] {
            let error = Introduction::read(json).unwrap_err();
            assert!(error.contains(want), "{json}: {error}");
        }
    }
}
