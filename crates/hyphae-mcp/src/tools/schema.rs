//! Schemas, written out. One type a field; no composition, references, formats or `null`: each
//! of them makes some client refuse the tool, or all tools of a session.

use std::{ops::RangeInclusive, sync::Arc};

use hyphae_core::cell::{CellType, Content, Layer};
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::object;
use crate::budget;

/// The schema of a tool's arguments. Every tool takes a project.
pub(super) fn input(properties: &Value, required: &[&str]) -> Arc<JsonObject> {
    let mut all = properties.as_object().cloned().unwrap_or_default();
    all.insert("project".to_owned(), text("Another project."));
    object(&json!({
        "type": "object",
        "properties": all,
        "required": required,
        "additionalProperties": false,
    }))
}

/// The schema of a tool's results; every result has a scope and warnings.
pub(super) fn output(properties: &Value, required: &[&str]) -> Arc<JsonObject> {
    let mut all = properties.as_object().cloned().unwrap_or_default();
    all.insert("warnings".to_owned(), texts());
    all.insert(
        "scope".to_owned(),
        shape(
            &json!({"project": string(), "agent": string()}),
            &["project", "agent"],
        ),
    );
    let required: Vec<&str> = [required, &["scope", "warnings"]].concat();
    object(&shape(&all.into(), &required))
}

/// An object of a result.
pub(super) fn shape(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

/// A list of a result.
pub(super) fn list(items: &Value) -> Value {
    json!({"type": "array", "items": items})
}

pub(super) fn string() -> Value {
    json!({"type": "string"})
}

pub(super) fn number() -> Value {
    json!({"type": "number"})
}

pub(super) fn integer() -> Value {
    json!({"type": "integer"})
}

pub(super) fn boolean() -> Value {
    json!({"type": "boolean"})
}

pub(super) fn texts() -> Value {
    list(&string())
}

pub(super) fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

pub(super) fn flag(default: bool, description: &str) -> Value {
    json!({"type": "boolean", "default": default, "description": description})
}

pub(super) fn choice(names: &[&str], description: &str) -> Value {
    json!({"type": "string", "enum": names, "description": description})
}

pub(super) fn choices(names: &[&str], description: &str) -> Value {
    json!({"type": "array", "items": {"type": "string", "enum": names}, "description": description})
}

pub(super) fn tags(most: usize, description: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "maxItems": most, "description": description})
}

pub(super) fn ids(most: usize, description: &str) -> Value {
    json!({
        "type": "array",
        "items": {"type": "string"},
        "minItems": 1,
        "maxItems": most,
        "description": description,
    })
}

pub(super) fn whole(range: RangeInclusive<usize>, default: usize, description: &str) -> Value {
    json!({
        "type": "integer",
        "minimum": range.start(),
        "maximum": range.end(),
        "default": default,
        "description": description,
    })
}

pub(super) fn max_tokens(default: usize) -> Value {
    whole(
        budget::LEAST_TOKENS..=budget::MOST_TOKENS,
        default,
        "The most tokens.",
    )
}

pub(super) fn cell_type(description: &str) -> Value {
    choice(&CellType::ALL.map(CellType::name), description)
}

pub(super) fn cell_types() -> Value {
    choices(&CellType::ALL.map(CellType::name), "Only these types.")
}

pub(super) fn layer(description: &str) -> Value {
    choice(&Layer::ALL.map(Layer::name), description)
}

pub(super) fn content(description: &str) -> Value {
    json!({"type": "string", "maxLength": Content::MAX_CHARS, "description": description})
}

pub(super) fn share(description: &str) -> Value {
    json!({"type": "number", "minimum": 0, "maximum": 1, "description": description})
}

/// A memory of a result, with what else is shown of it.
pub(super) fn memory(more: &Value) -> Value {
    let mut fields = json!({
        "id": string(),
        "type": string(),
        "layer": string(),
        "content": string(),
        "truncated": boolean(),
        "confidence": number(),
        "origin": string(),
        "author": string(),
        "created_at": string(),
        "status": string(),
        "topic": string(),
        "tags": texts(),
        "verified_at": string(),
        "valid_until": string(),
        "conflict_id": string(),
    });
    if let (Some(fields), Some(more)) = (fields.as_object_mut(), more.as_object()) {
        fields.extend(more.clone());
    }
    shape(
        &fields,
        &[
            "id",
            "type",
            "layer",
            "content",
            "confidence",
            "origin",
            "author",
            "created_at",
            "status",
        ],
    )
}

/// A memory that answers a query.
pub(super) fn hit() -> Value {
    memory(&json!({"distance": number(), "keywords": number(), "cosine": number()}))
}
