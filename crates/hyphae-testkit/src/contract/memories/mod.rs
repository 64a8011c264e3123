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
    ports::{Entry, NewCell},
    scope::Scope,
};

use super::fixture::{World, terms};

/// Returns what recall is to learn of a new cell.
fn entry_of(new: &NewCell, own_project: bool) -> Entry {
    Entry {
        revision: new.cell.revision,
        cell_type: new.cell.cell_type,
        layer: new.cell.layer,
        visibility: new.cell.visibility,
        own_project,
        salience: new.cell.salience,
        updated_at: new.cell.updated_at,
        fingerprint: new.fingerprint,
        vector: Some(new.vector.clone()),
        terms: new.terms.clone(),
        context: new.context.clone(),
    }
}

/// Returns what a merge would bring.
fn another_text(world: &World<'_>, scope: &Scope, text: &str) -> NewCell {
    let mut new = world.cell(scope, text);
    new.context = terms("another context");
    new
}
