//! Schemas, written out. One type a field; no composition, references, formats or `null`: each
//! of them makes some client refuse the tool, or all tools of a session.

use std::sync::Arc;

use hyphae_core::cell::{CellType, Content, Layer};
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::object;

/// The schema of a tool's arguments.
pub(super) fn input(properties: &Value, required: &[&str]) -> Arc<JsonObject> {
    object(&json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    }))
}

/// The schema of a tool's results; every result has a scope and warnings.
pub(super) fn output(properties: &Value, required: &[&str]) -> Arc<JsonObject> {
    let mut all = properties.as_object().cloned().unwrap_or_default();
    all.insert(
        "scope".to_owned(),
        json!({
            "type": "object",
            "description": "Which project and which agent this answer is about.",
            "properties": {"project": {"type": "string"}, "agent": {"type": "string"}},
            "required": ["project", "agent"],
        }),
    );
    all.insert(
        "warnings".to_owned(),
        texts("What to know about this answer."),
    );
    let required: Vec<&str> = [required, &["scope", "warnings"]].concat();
    object(&json!({"type": "object", "properties": all, "required": required}))
}

pub(super) fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

pub(super) fn texts(description: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": description})
}

pub(super) fn whole(
    range: std::ops::RangeInclusive<usize>,
    default: usize,
    description: &str,
) -> Value {
    json!({
        "type": "integer",
        "minimum": range.start(),
        "maximum": range.end(),
        "default": default,
        "description": description,
    })
}

pub(super) fn cell_type(description: &str) -> Value {
    json!({"type": "string", "enum": CellType::ALL.map(CellType::name), "description": description})
}

pub(super) fn cell_types() -> Value {
    json!({
        "type": "array",
        "items": {"type": "string", "enum": CellType::ALL.map(CellType::name)},
        "description": "Only these types.",
    })
}

pub(super) fn layer(description: &str) -> Value {
    json!({"type": "string", "enum": Layer::ALL.map(Layer::name), "description": description})
}

pub(super) fn project() -> Value {
    text("Another project than this process' own: a linked name or a directory.")
}

pub(super) fn content(description: &str) -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": Content::MAX_CHARS, "description": description})
}

pub(super) fn share(default: f64, description: &str) -> Value {
    json!({"type": "number", "minimum": 0, "maximum": 1, "default": default, "description": description})
}
