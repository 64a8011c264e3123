//! mem0: the JSON that `get_all` and an export give, `{"results": […]}` or an older bare list.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    draft::{Draft, Drafts},
    text::words,
    time::Moment,
};
use crate::place::{NO_OBJECT, Spot, json_fault};

/// Of the metadata only the categories are taken; the rest is for programs.
#[derive(Deserialize)]
struct Memory {
    id: Option<String>,
    memory: String,
    created_at: Option<Moment>,
    updated_at: Option<Moment>,
    expiration_date: Option<Moment>,
    user_id: Option<String>,
    agent_id: Option<String>,
    categories: Option<Vec<String>>,
}

/// A relation of the graph that mem0 keeps beside its memories.
#[derive(Deserialize)]
struct Relation {
    source: String,
    relationship: String,
    #[serde(alias = "destination")]
    target: String,
}

pub(super) fn read(text: &str, drafts: &mut Drafts) {
    if text.trim().is_empty() {
        return;
    }
    let root = match serde_json::from_str(text) {
        Ok(root) => root,
        Err(error) => {
            drafts.spot = Spot::Line(error.line() as u64);
            return drafts.bad(json_fault(&error));
        }
    };
    let (memories, relations) = match root {
        Value::Array(memories) => (memories, Vec::new()),
        Value::Object(mut root) => {
            let memories = ["results", "memories"]
                .into_iter()
                .find_map(|name| list(&mut root, name));
            let Some(memories) = memories else {
                return drafts.bad("it has no list `results`");
            };
            (memories, list(&mut root, "relations").unwrap_or_default())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return drafts.bad("it is neither a list of memories nor has one as `results`");
        }
    };
    each(memories, drafts, memory);
    each(relations, drafts, relation);
}

fn list(root: &mut Map<String, Value>, name: &str) -> Option<Vec<Value>> {
    match root.remove(name) {
        Some(Value::Array(list)) => Some(list),
        Some(_) | None => None,
    }
}

fn each<T: for<'de> Deserialize<'de>>(
    list: Vec<Value>,
    drafts: &mut Drafts,
    add: fn(&T, &mut Drafts),
) {
    for (at, value) in list.into_iter().enumerate() {
        drafts.spot = Spot::Entry(at as u64 + 1);
        if !value.is_object() {
            drafts.bad(NO_OBJECT);
            continue;
        }
        match serde_json::from_value(value) {
            Ok(found) => add(&found, drafts),
            Err(error) => drafts.bad(json_fault(&error)),
        }
    }
}

fn memory(memory: &Memory, drafts: &mut Drafts) {
    let whose = [&memory.user_id, &memory.agent_id];
    let categories = memory.categories.iter().flatten().map(String::as_str);
    drafts.add(&Draft {
        text: memory.memory.clone(),
        id: memory.id.as_deref().unwrap_or_default(),
        tags: whose
            .into_iter()
            .filter_map(|name| name.as_deref())
            .chain(categories)
            .collect(),
        // The text is the one of the last change.
        said_at: memory
            .updated_at
            .or(memory.created_at)
            .map(|moment| moment.0),
        valid_until: memory.expiration_date.map(|moment| moment.0),
        ..Draft::default()
    });
}

fn relation(relation: &Relation, drafts: &mut Drafts) {
    let name = words(&relation.relationship);
    drafts.add(&Draft {
        text: format!(
            "{} {name} {}",
            relation.source.trim(),
            relation.target.trim()
        ),
        id: &relation.source,
        tags: vec!["relation"],
        ..Draft::default()
    });
}
