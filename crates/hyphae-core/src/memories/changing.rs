//! How a memory is changed, by somebody who knows its present revision.

use super::{Memories, MemoryError, Patch, Updated, beside};
use crate::{
    audit::{Action, Via},
    cell::{Cell, Content, Status, Validity},
    diff::DiffKind,
    ids::CellId,
    label::Tags,
    mask,
    ports::{Committed, Revision, Step},
    recall,
    scope::Scope,
};

impl Memories {
    /// Changes a memory; what it was before stays as history.
    ///
    /// # Errors
    /// [`MemoryError::RevisionConflict`] if it is no longer at `expected` revision,
    /// [`MemoryError::NotFound`], [`MemoryError::Inactive`], [`MemoryError::Duplicate`], or what
    /// is wrong with the patch; nothing is changed then.
    #[tracing::instrument(skip_all, fields(cell.id = %id, expected))]
    pub async fn update(
        &self,
        scope: &Scope,
        id: CellId,
        expected: u32,
        patch: &Patch,
        via: &Via,
    ) -> Result<Updated, MemoryError> {
        let (reason, mut redactions) = beside("the reason", patch.reason.as_deref())?;
        let content = match &patch.content {
            Some(content) => {
                let masked = mask::mask(content);
                redactions += u32::try_from(masked.redactions).unwrap_or(u32::MAX);
                Some(Content::new(&masked.text)?)
            }
            None => None,
        };
        let found: usize = (patch.add_tags.iter())
            .map(|tag| mask::marks(tag.as_str()))
            .sum();
        redactions += u32::try_from(found).unwrap_or(u32::MAX);

        let _storing = self.storing.lock().await;
        let cell = self.active_cell(scope, id).await?;
        if cell.revision != expected {
            return Err(MemoryError::RevisionConflict {
                id,
                expected,
                current: cell.revision,
            });
        }
        let mut next = patched(&cell, content, patch)?;
        let conflict = self.conflicts_of(scope, &[id]).await?.get(&id).copied();
        if next == cell {
            return Ok(Updated {
                id,
                revision: cell.revision,
                diff: None,
                conflict,
                redactions: redactions as usize,
            });
        }
        next.revision = cell.revision.saturating_add(1);
        next.updated_at = cell.updated_at.max(self.clock.now());
        let derived = if next.content == cell.content {
            None
        } else {
            next.content_revision = next.revision;
            let vector = self
                .embed(&recall::embedded_text(&next.content, &next.origin))
                .await?;
            let index = self.fresh_index(scope).await?;
            let at = next.origin.said_at.unwrap_or(next.created_at);
            Some(self.derived(scope, &index, &next, at, &vector).await?)
        };
        let diff = self.new_diff();
        let revision = next.revision;
        let step = Step::Revise(Box::new(Revision {
            cell: next,
            derived,
            kind: DiffKind::Updated,
            other: None,
            diff,
        }));
        let mut write = self.write(Action::Update, via, vec![step]);
        write.reason = reason;
        write.redactions = redactions;
        let done = self.store.commit(scope, &write).await?;
        if done.is_done() {
            return Ok(Updated {
                id,
                revision,
                diff: Some(diff),
                conflict,
                redactions: redactions as usize,
            });
        }
        if let Committed::Same(id) | Committed::TopicTaken(id) = done {
            return Err(MemoryError::Duplicate { id });
        }
        // Another process was faster.
        let current = self.active_cell(scope, id).await?.revision;
        Err(MemoryError::RevisionConflict {
            id,
            expected,
            current,
        })
    }

    /// Returns a cell that takes part in recall.
    pub(super) async fn active_cell(&self, scope: &Scope, id: CellId) -> Result<Cell, MemoryError> {
        let cell = self.cell(scope, id).await?;
        if cell.status != Status::Active {
            return Err(MemoryError::Inactive {
                id,
                status: cell.status,
            });
        }
        Ok(cell)
    }

    /// Returns a cell of any status.
    pub(super) async fn cell(&self, scope: &Scope, id: CellId) -> Result<Cell, MemoryError> {
        let cells = self.store.cells(scope, &[id]).await?;
        cells
            .into_iter()
            .next()
            .ok_or_else(|| MemoryError::NotFound {
                what: "memory",
                id: id.to_string(),
            })
    }
}

/// Returns what a cell becomes, at the same revision.
fn patched(cell: &Cell, content: Option<Content>, patch: &Patch) -> Result<Cell, MemoryError> {
    let kept = cell
        .tags
        .iter()
        .filter(|tag| !patch.remove_tags.contains(tag));
    let tags = Tags::new(kept.chain(&patch.add_tags).cloned())?;
    let validity = match patch.valid_until {
        Some(until) => {
            Validity::new(cell.validity.from(), Some(until)).ok_or(MemoryError::NoTime)?
        }
        None => cell.validity,
    };
    Ok(Cell {
        content: content.unwrap_or_else(|| cell.content.clone()),
        cell_type: patch.cell_type.unwrap_or(cell.cell_type),
        salience: patch.salience.unwrap_or(cell.salience),
        tags,
        validity,
        ..cell.clone()
    })
}
