//! `@modelcontextprotocol/server-memory`: a graph as JSON Lines, one entity or relation a line.

use serde::Deserialize;

use super::{
    LineReader,
    draft::{Draft, Drafts},
    text::words,
};
use crate::place::object;

/// Reads the graph.
#[derive(Debug)]
pub(super) struct Graph;

#[derive(Deserialize)]
struct Probe {
    r#type: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entity {
    name: String,
    entity_type: String,
    observations: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Relation {
    from: String,
    to: String,
    relation_type: String,
}

impl LineReader for Graph {
    fn line(&mut self, text: &str, drafts: &mut Drafts) -> Result<(), String> {
        let probe: Probe = object(text)?;
        match probe.r#type.as_str() {
            "entity" => entity(&object(text)?, drafts),
            "relation" => relation(&object(text)?, drafts),
            _ => return Err("its `type` is neither entity nor relation".to_owned()),
        }
        Ok(())
    }
}

/// An observation says nothing without whom it is about, so that stands before it.
fn entity(entity: &Entity, drafts: &mut Drafts) {
    let (name, kind) = (entity.name.trim(), entity.entity_type.trim());
    let mut add = |text: String| {
        drafts.add(&Draft {
            text,
            id: name,
            tags: vec![kind],
            ..Draft::default()
        });
    };
    let observations = entity.observations.iter().map(|text| text.trim());
    let mut observations = observations.filter(|text| !text.is_empty()).peekable();
    if observations.peek().is_none() && !name.is_empty() {
        add(format!("{name} ({kind})"));
    }
    for observation in observations {
        add(format!("{name} ({kind}): {observation}"));
    }
}

fn relation(relation: &Relation, drafts: &mut Drafts) {
    let (from, to) = (relation.from.trim(), relation.to.trim());
    drafts.add(&Draft {
        text: format!("{from} {} {to}", words(&relation.relation_type)),
        id: from,
        tags: vec!["relation"],
        ..Draft::default()
    });
}
