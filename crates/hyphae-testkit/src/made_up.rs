//! Cells and writes for tests and benches that need many and care about few of their fields.

use hyphae_core::{
    audit::{Action, Via},
    cell::{Cell, CellType, Content, Layer, Origin, Share, Status, Validity, Visibility},
    ids::{AuditId, CellId},
    label::Tags,
    ports::{ChosenModel, Derived, Step, Write},
    recall::{Terms, Vector},
    scope::Scope,
};
use jiff::Timestamp;

/// Makes a new fact of middling salience up: active, true at all times, without topic or tags,
/// seen by its project.
pub fn fact(scope: &Scope, id: CellId, at: Timestamp, content: Content) -> Cell {
    Cell {
        id,
        content,
        cell_type: CellType::Fact,
        salience: Share::HALF,
        confidence: Share::FULL,
        author: scope.credential,
        project: scope.project.clone(),
        layer: Layer::L0,
        visibility: Visibility::Project,
        status: Status::Active,
        revision: 1,
        content_revision: 1,
        topic: None,
        tags: Tags::default(),
        validity: Validity::ALWAYS,
        verified_at: None,
        origin: Origin::default(),
        created_at: at,
        updated_at: at,
    }
}

/// Puts together what is derived from a text, without surroundings and links.
pub fn derived(content: &Content, model: ChosenModel, vector: Vector, terms: Terms) -> Derived {
    Derived {
        fingerprint: content.fingerprint(),
        model,
        vector,
        embedded_text: content.as_str().to_owned(),
        terms,
        context: Terms::default(),
        links: Vec::new(),
    }
}

/// Makes a write up that comes from nowhere and has no reason.
pub fn write(id: AuditId, action: Action, at: Timestamp, steps: Vec<Step>) -> Write {
    Write {
        id,
        action,
        via: Via::default(),
        at,
        reason: None,
        redactions: 0,
        steps,
    }
}
