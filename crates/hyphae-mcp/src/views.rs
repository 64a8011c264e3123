//! Memories, links and conflicts as JSON. What is not there is left out, never `null`.

use hyphae_core::{
    cell::Cell,
    ids::ConflictId,
    label::Tag,
    memories::{Details, Dispute, Match},
    ports::{Confirmation, Past},
    relation::Relation,
};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::{access::Names, budget};

/// A view that is being made.
#[derive(Debug, Default)]
struct View(Map<String, Value>);

impl View {
    fn field(&mut self, name: &str, value: impl Into<Value>) -> &mut Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    fn maybe(&mut self, name: &str, value: Option<impl ToString>) -> &mut Self {
        if let Some(value) = value {
            self.field(name, value.to_string());
        }
        self
    }
}

/// A memory as a list shows it.
pub(crate) fn brief(
    cell: &Cell,
    conflict: Option<ConflictId>,
    names: &Names,
) -> Map<String, Value> {
    let mut view = View::default();
    view.field("id", cell.id.to_string())
        .field("type", cell.cell_type.name())
        .field("layer", cell.layer.name())
        .field("content", cell.content.as_str())
        .field("confidence", rounded(cell.confidence.get()))
        .field("origin", cell.origin.source.name())
        .field("author", names.of(cell.author))
        .field("created_at", time(cell.created_at))
        .field("status", cell.status.name())
        .maybe("topic", cell.topic.as_ref())
        .maybe("verified_at", cell.verified_at.map(time))
        .maybe("valid_until", cell.validity.until().map(time))
        .maybe("conflict_id", conflict);
    if !cell.tags.is_empty() {
        let tags: Vec<&str> = cell.tags.iter().map(Tag::as_str).collect();
        view.field("tags", tags);
    }
    view.0
}

/// A memory that answers a query.
pub(crate) fn hit(found: &Match, names: &Names) -> Map<String, Value> {
    let mut view = View(brief(&found.cell, found.conflict, names));
    if let Some(distance) = found.distance {
        view.field("distance", rounded(f64::from(distance.get())));
        view.field("keywords", rounded(f64::from(found.words)));
    }
    if let Some(cosine) = found.cosine {
        view.field("cosine", rounded(f64::from(cosine)));
    }
    view.0
}

/// What of a memory is shown in full.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Extent {
    pub(crate) history: bool,
    pub(crate) edges: bool,
    pub(crate) sources: bool,
}

/// A memory in full.
pub(crate) fn full(
    details: &Details,
    relations: &[Relation],
    extent: Extent,
    names: &Names,
) -> Map<String, Value> {
    let cell = &details.cell;
    let mut view = View(brief(cell, details.conflict, names));
    view.field("revision", cell.revision)
        .field("salience", rounded(cell.salience.get()))
        .field("visibility", cell.visibility.name())
        .field("project", cell.project.as_str())
        .field("updated_at", time(cell.updated_at))
        .maybe("valid_from", cell.validity.from().map(time));
    if extent.history {
        let history: Vec<Value> = details
            .history
            .iter()
            .map(|past| earlier(past, names))
            .collect();
        view.field("history", history);
    }
    if extent.edges {
        let edges: Vec<Value> = relations
            .iter()
            .map(|relation| edge(relation, names))
            .collect();
        view.field("edges", edges);
    }
    if extent.sources {
        view.field("sources", sources(cell, &details.confirmations, names));
    }
    view.0
}

fn earlier(past: &Past, names: &Names) -> Value {
    let mut view = View::default();
    view.field("revision", past.cell.revision)
        .field("content", past.cell.content.as_str())
        .field("type", past.cell.cell_type.name())
        .field("status", past.cell.status.name())
        .field("replaced_at", time(past.replaced_at))
        .field("replaced_by", names.of(past.replaced_by))
        .maybe("reason", past.reason.as_ref());
    view.0.into()
}

fn edge(relation: &Relation, names: &Names) -> Value {
    let mut view = View::default();
    view.field("edge_id", relation.id.to_string())
        .field("from", relation.from.to_string())
        .field("relation", relation.kind.name())
        .field("to", relation.to.to_string())
        .field("weight", rounded(relation.weight.get()))
        .field("author", names.of(relation.author))
        .field("created_at", time(relation.created_at))
        .maybe("reason", relation.reason.as_ref());
    view.0.into()
}

fn sources(cell: &Cell, confirmations: &[Confirmation], names: &Names) -> Value {
    let mut view = View::default();
    view.field("origin", cell.origin.source.name())
        .maybe("session", cell.origin.session)
        .maybe("said_at", cell.origin.said_at.map(time));
    let confirmations: Vec<Value> = confirmations
        .iter()
        .map(|confirmation| {
            let mut view = View::default();
            view.field("by", names.of(confirmation.by))
                .field("at", time(confirmation.at))
                .field("revision", confirmation.revision)
                .maybe("evidence", confirmation.evidence.as_ref());
            view.0.into()
        })
        .collect();
    view.field("confirmations", confirmations);
    view.0.into()
}

/// A conflict with both of its sides, each shortened to `share` tokens.
pub(crate) fn dispute(dispute: &Dispute, share: usize, names: &Names) -> Map<String, Value> {
    let side = |cell: &Cell| {
        let mut side = brief(cell, None, names);
        budget::shorten(&mut side, share);
        side
    };
    let conflict = &dispute.conflict;
    let mut view = View::default();
    view.field("conflict_id", conflict.id.to_string())
        .field("kind", conflict.kind.name())
        .field("left", side(&dispute.left))
        .field("right", side(&dispute.right))
        .field("opened_at", time(conflict.opened_at))
        .field("opened_by", names.of(conflict.opened_by))
        .maybe("why", conflict.why.as_ref());
    view.0
}

/// The lists of a full memory that may be cut, each with the side that goes first.
const LISTS: [&str; 2] = ["history", "edges"];

/// Drops entries of a full memory's lists until it is taken for at most `limit` tokens, oldest
/// first, and counts them.
pub(crate) fn trim(memory: &mut Map<String, Value>, limit: usize) {
    for list in LISTS {
        let mut dropped = 0;
        while budget::tokens_of(&json!(memory)) > limit {
            match memory.get_mut(list) {
                Some(Value::Array(entries)) if !entries.is_empty() => {
                    entries.remove(0);
                    dropped += 1;
                }
                _ => break,
            }
        }
        if dropped > 0 {
            memory.insert(format!("{list}_omitted"), dropped.into());
        }
    }
}

/// A moment, to the second: more tells a reader nothing.
pub(crate) fn time(at: Timestamp) -> String {
    Timestamp::from_second(at.as_second())
        .unwrap_or(at)
        .to_string()
}

/// A number with four decimals, as distances are printed.
pub(crate) fn rounded(number: f64) -> Value {
    ((number * 10_000.0).round() / 10_000.0).into()
}
