//! Memories as JSON.

use hyphae_core::{
    cell::{Cell, Status},
    memories::Match,
};
use serde_json::{Map, Value};

use crate::access::Names;

/// A memory as a list shows it.
pub(crate) fn brief(cell: &Cell, names: &Names) -> Map<String, Value> {
    let mut view = Map::new();
    let mut field = |name: &str, value: Value| view.insert(name.to_owned(), value);
    field("id", cell.id.to_string().into());
    field("type", cell.cell_type.name().into());
    field("layer", cell.layer.name().into());
    field("content", cell.content.as_str().into());
    field("confidence", rounded(cell.confidence.get()));
    field("author", names.of(cell.author).into());
    field("created_at", cell.created_at.to_string().into());
    field("status", status(cell.status).into());
    view
}

/// A memory that answers a query.
pub(crate) fn hit(found: &Match, names: &Names) -> Map<String, Value> {
    let mut view = brief(&found.cell, names);
    let mut field = |name: &str, value: Value| view.insert(name.to_owned(), value);
    field("distance", rounded(f64::from(found.distance.get())));
    if let Some(cosine) = found.cosine {
        field("cosine", rounded(f64::from(cosine)));
    }
    field("keywords", rounded(f64::from(found.words)));
    view
}

pub(crate) const fn status(status: Status) -> &'static str {
    match status {
        Status::Active => "active",
        Status::Superseded => "superseded",
        Status::Retracted => "retracted",
    }
}

/// A number with four decimals, as distances are printed.
fn rounded(number: f64) -> Value {
    ((number * 10_000.0).round() / 10_000.0).into()
}
