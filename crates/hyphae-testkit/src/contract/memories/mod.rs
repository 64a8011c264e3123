//! Checks of [`MemoryStore`](hyphae_core::ports::MemoryStore).

mod cells;
mod changes;
mod drops;
mod links;
mod models;

pub use cells::*;
pub use changes::*;
pub use drops::*;
pub use links::*;
pub use models::*;

use hyphae_core::{
    cell::{Cell, Content},
    ports::{Derived, Entry, Revision},
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
