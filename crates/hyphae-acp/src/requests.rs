//! What a client asks, read out of its parameters field by field.
//!
//! Read by hand, not by `serde`: its messages quote values, and what is optional in the protocol
//! must not fail a request when it is malformed.

use std::path::{Component, Path, PathBuf};

use hyphae_core::{
    agent::{PromptBlock, PromptKinds},
    ids::SessionId,
};
use serde_json::{Map, Value};

use crate::wire::{BadParams, Params, RequestId, RpcError};

/// The fields of a request. Errors name the field and what was expected, never what was there.
#[derive(Debug)]
pub(crate) struct Fields(Map<String, Value>);

/// Why a message's parameters could not be read.
pub(crate) enum Unread {
    /// The message was no JSON after all.
    NotJson,
    Bad(RpcError),
}

impl Fields {
    pub(crate) fn read(params: Params<'_>) -> Result<Self, Unread> {
        params.object().map(Self).map_err(|bad| match bad {
            BadParams::Syntax => Unread::NotJson,
            BadParams::Kind => Unread::Bad(RpcError::params_not_an_object()),
        })
    }

    /// Returns a member that is there and not `null`.
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Tells whether a member is there and not `null`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    fn text(&self, name: &str) -> Result<&str, RpcError> {
        match self.get(name) {
            Some(Value::String(text)) => Ok(text),
            _ => Err(RpcError::invalid_params(name, "expected a string")),
        }
    }

    fn optional_text(&self, name: &str) -> Result<Option<&str>, RpcError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(RpcError::invalid_params(name, "expected a string or null")),
        }
    }

    /// The W3C trace context of the request, if it has a well-formed one.
    pub(crate) fn traceparent(&self) -> Option<&str> {
        let text = self.get("_meta")?.get("traceparent")?.as_str()?;
        let shape = |(at, byte): (usize, u8)| match at {
            2 | 35 | 52 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        };
        (text.len() == 55 && text.bytes().enumerate().all(shape)).then_some(text)
    }

    pub(crate) fn request_id(&self) -> Option<RequestId> {
        RequestId::from_value(self.0.get("requestId")?)
    }

    pub(crate) fn protocol_version(&self) -> Result<(), RpcError> {
        match self.get("protocolVersion") {
            Some(Value::Number(number)) if number.is_u64() => Ok(()),
            _ => Err(RpcError::invalid_params(
                "protocolVersion",
                "expected a whole number",
            )),
        }
    }

    pub(crate) fn client_name(&self) -> Option<&str> {
        self.get("clientInfo")?.get("name")?.as_str()
    }

    pub(crate) fn method_id(&self) -> Result<&str, RpcError> {
        self.text("methodId")
    }

    /// A session's id as it was written; whether there is such a session is another question.
    pub(crate) fn session_id(&self) -> Result<NamedSession<'_>, RpcError> {
        self.text("sessionId").map(NamedSession)
    }

    pub(crate) fn cursor(&self) -> Result<Option<&str>, RpcError> {
        self.optional_text("cursor")
    }

    pub(crate) fn cwd(&self) -> Result<PathBuf, RpcError> {
        absolute("cwd", self.text("cwd")?)
    }

    pub(crate) fn cwd_filter(&self) -> Result<Option<PathBuf>, RpcError> {
        self.optional_text("cwd")?
            .map(|text| absolute("cwd", text))
            .transpose()
    }

    /// What new, load, resume and fork have in common: checked, and the names of the servers.
    /// The servers themselves are not even kept: an entry is a command line.
    pub(crate) fn setup(&self) -> Result<Vec<String>, RpcError> {
        if self.get("systemPrompt").is_some() {
            return Err(RpcError::invalid_params(
                "systemPrompt",
                "not supported by this agent",
            ));
        }
        if let Some(directories) = self.get("additionalDirectories") {
            let all_absolute = directories.as_array().is_some_and(|entries| {
                entries.iter().all(|entry| {
                    entry
                        .as_str()
                        .is_some_and(|text| Path::new(text).is_absolute())
                })
            });
            if !all_absolute {
                return Err(RpcError::invalid_params(
                    "additionalDirectories",
                    "expected an array of absolute paths",
                ));
            }
        }
        match self.get("mcpServers") {
            None => Ok(Vec::new()),
            Some(Value::Array(servers)) => servers
                .iter()
                .enumerate()
                .map(|(at, server)| match server.get("name") {
                    Some(Value::String(name)) => Ok(name.chars().take(64).collect()),
                    _ => Err(RpcError::invalid_params(
                        &format!("mcpServers[{at}].name"),
                        "expected a string",
                    )),
                })
                .collect(),
            Some(_) => Err(RpcError::invalid_params("mcpServers", "expected an array")),
        }
    }

    /// Takes the prompt out; what the agent does not accept is an error that names the kind.
    pub(crate) fn prompt(&mut self, accepts: PromptKinds) -> Result<Vec<PromptBlock>, RpcError> {
        let Some(Value::Array(blocks)) = self.0.remove("prompt") else {
            return Err(RpcError::invalid_params(
                "prompt",
                "expected an array of content blocks",
            ));
        };
        let blocks = blocks
            .into_iter()
            .enumerate()
            .map(|(at, block)| Block { at, block }.read(accepts))
            .collect::<Result<Vec<_>, _>>()?;
        let says_something = blocks.iter().any(|block| match block {
            PromptBlock::Text { text } => !text.trim().is_empty(),
            PromptBlock::ResourceLink { .. }
            | PromptBlock::Image { .. }
            | PromptBlock::Audio { .. }
            | PromptBlock::Resource { .. } => true,
        });
        if says_something {
            Ok(blocks)
        } else {
            Err(RpcError::invalid_params(
                "prompt",
                "expected at least one block that is not blank",
            ))
        }
    }
}

/// The name that a client used for a session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedSession<'a>(&'a str);

impl NamedSession<'_> {
    /// Returns the id if the name is one, written as we write it. Another spelling of the same
    /// UUID is no name of ours.
    pub(crate) fn id(self) -> Option<SessionId> {
        let id: SessionId = self.0.parse().ok()?;
        (id.to_string() == self.0).then_some(id)
    }

    pub(crate) fn not_found(self) -> RpcError {
        RpcError::session_not_found(self.0)
    }
}

/// Returns the path without what changes nothing: `.`, doubled and trailing slashes.
fn absolute(field: &str, text: &str) -> Result<PathBuf, RpcError> {
    let path = Path::new(text);
    if !path.is_absolute() || text.contains('\0') {
        return Err(RpcError::invalid_params(field, "expected an absolute path"));
    }
    Ok(path
        .components()
        .filter(|component| *component != Component::CurDir)
        .collect())
}

/// One block of a prompt and its place.
struct Block {
    at: usize,
    block: Value,
}

impl Block {
    fn read(mut self, accepts: PromptKinds) -> Result<PromptBlock, RpcError> {
        let kind = self
            .block
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let accepted = match kind {
            "text" | "resource_link" => true,
            "image" => accepts.image,
            "audio" => accepts.audio,
            "resource" => accepts.embedded_resource,
            _ => {
                return Err(self.error(
                    ".type",
                    "expected text, image, audio, resource_link or resource",
                ));
            }
        };
        if !accepted {
            let expected = match kind {
                "image" => "image content is not accepted by this agent",
                "audio" => "audio content is not accepted by this agent",
                _ => "embedded resource content is not accepted by this agent; link to it",
            };
            return Err(self.error("", expected));
        }
        match kind {
            "text" => Ok(PromptBlock::Text {
                text: self.take("/text")?,
            }),
            "resource_link" => Ok(PromptBlock::ResourceLink {
                name: self.take("/name")?,
                uri: self.take("/uri")?,
            }),
            "image" => Ok(PromptBlock::Image {
                mime_type: self.take("/mimeType")?,
                data: self.take("/data")?,
            }),
            "audio" => Ok(PromptBlock::Audio {
                mime_type: self.take("/mimeType")?,
                data: self.take("/data")?,
            }),
            _ => {
                let uri = self.take("/resource/uri")?;
                let field = if self.block.pointer("/resource/blob").is_some() {
                    "/resource/blob"
                } else {
                    "/resource/text"
                };
                let contents = self.take(field)?;
                Ok(PromptBlock::Resource { uri, contents })
            }
        }
    }

    /// Moves a text out, so that a large one is not held twice.
    fn take(&mut self, pointer: &str) -> Result<String, RpcError> {
        match self.block.pointer_mut(pointer).map(Value::take) {
            Some(Value::String(text)) => Ok(text),
            _ => Err(self.error(&pointer.replace('/', "."), "expected a string")),
        }
    }

    fn error(&self, field: &str, expected: &str) -> RpcError {
        RpcError::invalid_params(&format!("prompt[{}]{field}", self.at), expected)
    }
}
