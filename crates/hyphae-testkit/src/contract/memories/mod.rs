//! Checks of [`MemoryStore`](hyphae_core::ports::MemoryStore).

mod atomic;
mod audit;
mod cells;
mod changes;
mod confirmations;
mod conflicts;
mod diffs;
mod drops;
mod erasures;
mod keys;
mod links;
mod models;
mod names;
mod relations;
mod revisions;
mod topics;

pub use atomic::*;
pub use audit::*;
pub use cells::*;
pub use changes::*;
pub use confirmations::*;
pub use conflicts::*;
pub use diffs::*;
pub use drops::*;
pub use erasures::*;
pub use keys::*;
pub use links::*;
pub use models::*;
pub use names::*;
pub use relations::*;
pub use revisions::*;
pub use topics::*;

use hyphae_core::{
    cell::{Cell, Content, Status},
    ports::{Derived, Entry, Revision},
    scope::Scope,
};

use super::fixture::{World, terms};

/// Returns what recall is to learn of a cell.
fn entry_of(cell: &Cell, derived: &Derived, own_project: bool) -> Entry {
    Entry {
        revision: cell.revision,
        cell_type: cell.cell_type,
        layer: cell.layer,
        visibility: cell.visibility,
        status: cell.status,
        own_project,
        author: cell.author,
        salience: cell.salience,
        created_at: cell.created_at,
        updated_at: cell.updated_at,
        validity: cell.validity,
        tags: cell.tags.clone(),
        fingerprint: derived.fingerprint,
        vector: Some(derived.vector.clone()),
        terms: derived.terms.clone(),
        context: derived.context.clone(),
    }
}

/// Returns what gives a cell another text and other surroundings.
fn another_text(world: &World<'_>, cell: &Cell, text: &str) -> Revision {
    let mut revision = world.revise(cell, |next| next.content = Content::new(text).unwrap());
    if let Some(derived) = &mut revision.derived {
        derived.context = terms("another context");
    }
    revision
}

/// Gives a cell another status, and returns it.
async fn with_status(world: &World<'_>, scope: &Scope, cell: &Cell, status: Status) -> Cell {
    let changed = world.change(scope, cell, |cell| cell.status = status);
    changed.await
}
