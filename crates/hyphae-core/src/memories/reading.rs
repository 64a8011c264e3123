//! Memories in full, by id, and what changed since last time.

use std::{collections::HashMap, str::FromStr};

use uuid::Uuid;

use super::{Details, Memories, MemoryError, Target, Update, Updates};
use crate::{
    cell::Cell,
    diff::DiffKind,
    ids::{CellId, ConflictId, EdgeId},
    ports::{Sequence, Wanted},
    relation::Relation,
    scope::Scope,
    text, topology,
};

/// The shortest beginning of an id that stands for it, in digits.
const MIN_PREFIX: usize = 8;

impl Memories {
    /// Returns memories in full, in the order of `ids`; unknown and foreign ones are left out.
    ///
    /// # Errors
    /// [`MemoryError::Store`].
    #[tracing::instrument(skip_all, fields(memories = ids.len()))]
    pub async fn get(
        &self,
        scope: &Scope,
        ids: &[CellId],
        with_history: bool,
        with_confirmations: bool,
    ) -> Result<Vec<Details>, MemoryError> {
        let (cells, conflicts) = self.marked(scope, ids).await?;
        let mut confirmations = HashMap::<CellId, Vec<_>>::new();
        if with_confirmations {
            for confirmation in self.store.confirmations(scope, ids).await? {
                let of_cell = confirmations.entry(confirmation.cell).or_default();
                of_cell.push(confirmation);
            }
        }
        let mut details = Vec::with_capacity(cells.len());
        for cell in cells {
            let history = if with_history && cell.revision > 1 {
                self.store.history(scope, cell.id).await?
            } else {
                Vec::new()
            };
            details.push(Details {
                history,
                confirmations: confirmations.remove(&cell.id).unwrap_or_default(),
                conflict: conflicts.get(&cell.id).copied(),
                cell,
            });
        }
        Ok(details)
    }

    /// Returns the relations around memories: of themselves (`depth` 1), and of those at the
    /// other ends too (2), each once.
    ///
    /// # Errors
    /// [`MemoryError::Store`].
    pub async fn relations(
        &self,
        scope: &Scope,
        ids: &[CellId],
        depth: u8,
    ) -> Result<Vec<Relation>, MemoryError> {
        let near = self.store.relations(scope, ids, false).await?;
        if depth < 2 {
            return Ok(near);
        }
        let mut around: Vec<CellId> = near
            .iter()
            .flat_map(|relation| [relation.from, relation.to])
            .chain(ids.iter().copied())
            .collect();
        around.sort_unstable();
        around.dedup();
        Ok(self.store.relations(scope, &around, false).await?)
    }

    /// Returns a page of what changed after `after`, oldest first, of these kinds (of all, if
    /// none is named); the caller's own changes only if they are wanted.
    ///
    /// # Errors
    /// [`MemoryError::Store`].
    #[tracing::instrument(skip_all, fields(after = after.0, limit))]
    pub async fn updates(
        &self,
        scope: &Scope,
        after: Sequence,
        kinds: &[DiffKind],
        own: bool,
        limit: usize,
    ) -> Result<Updates, MemoryError> {
        // What is committed while this reads comes with the next page.
        let newest = self.store.newest(scope.owner()).await?;
        let mut diffs = self
            .store
            .diffs(scope, after, kinds, own, limit.saturating_add(1))
            .await?;
        let more = diffs.len() > limit;
        diffs.truncate(limit);
        let read = diffs.last().map_or(after, |diff| diff.sequence);
        let next = if more { read } else { read.max(newest) };
        let ids: Vec<CellId> = diffs.iter().map(|diff| diff.cell).collect();
        let cells = self.store.cells(scope, &ids).await?;
        let cells: HashMap<CellId, Cell> = cells.into_iter().map(|cell| (cell.id, cell)).collect();
        let updates = diffs.into_iter().map(|diff| Update {
            cell: cells.get(&diff.cell).cloned(),
            hops: 0,
            energy: topology::energy_at_birth(diff.cell_type, diff.salience),
            diff,
        });
        Ok(Updates {
            updates: updates.collect(),
            next,
            more,
        })
    }

    /// Returns the memory that an id or its beginning names.
    ///
    /// # Errors
    /// [`MemoryError::BadId`], [`MemoryError::NotFound`], [`MemoryError::Ambiguous`].
    pub async fn find_cell(&self, scope: &Scope, id: &str) -> Result<CellId, MemoryError> {
        let found = self.find(scope, Wanted::Cell, id).await?;
        found.map(CellId::new).ok_or_else(|| missing("memory", id))
    }

    /// Returns the conflict that an id or its beginning names.
    ///
    /// # Errors
    /// As [`Self::find_cell`].
    pub async fn find_conflict(&self, scope: &Scope, id: &str) -> Result<ConflictId, MemoryError> {
        let found = self.find(scope, Wanted::Conflict, id).await?;
        (found.map(ConflictId::new)).ok_or_else(|| missing("conflict", id))
    }

    /// Returns the memory or the link that an id or its beginning names.
    ///
    /// # Errors
    /// As [`Self::find_cell`].
    pub async fn find_target(&self, scope: &Scope, id: &str) -> Result<Target, MemoryError> {
        let cell = self.find(scope, Wanted::Cell, id).await?;
        let relation = self.find(scope, Wanted::Relation, id).await?;
        match (cell, relation) {
            (Some(_), Some(_)) => Err(MemoryError::Ambiguous { id: id.to_owned() }),
            (Some(cell), None) => Ok(Target::Cell(CellId::new(cell))),
            (None, Some(relation)) => Ok(Target::Relation(EdgeId::new(relation))),
            (None, None) => Err(missing("memory or link", id)),
        }
    }

    async fn find(
        &self,
        scope: &Scope,
        wanted: Wanted,
        id: &str,
    ) -> Result<Option<Uuid>, MemoryError> {
        let prefix = prefix_of(id)?;
        let found = self.store.ids_beginning(scope, wanted, &prefix, 2).await?;
        match found.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(*only)),
            _ => Err(MemoryError::Ambiguous { id: id.to_owned() }),
        }
    }
}

fn missing(what: &'static str, id: &str) -> MemoryError {
    MemoryError::NotFound {
        what,
        id: text::shorten(id.trim(), 40),
    }
}

/// Returns an id or its beginning as plain digits.
fn prefix_of(id: &str) -> Result<String, MemoryError> {
    let bad = || MemoryError::BadId {
        id: text::shorten(id.trim(), 40),
    };
    if let Ok(whole) = Uuid::from_str(id.trim()) {
        return Ok(whole.as_simple().to_string());
    }
    let digits: String = id.trim().chars().filter(|c| *c != '-').collect();
    let fits = (MIN_PREFIX..=32).contains(&digits.len());
    if !fits || !digits.chars().all(|c| c.is_ascii_hexdigit()) {
        return Err(bad());
    }
    Ok(digits.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_taken_whole_or_by_its_beginning() {
        let whole = "019A0000-1111-7222-8333-444455556666";
        assert_eq!(
            prefix_of(&format!(" {whole} ")).unwrap(),
            "019a00001111722283334444555566".to_owned() + "66"
        );
        assert_eq!(prefix_of("019A0000").unwrap(), "019a0000");
        assert_eq!(prefix_of("019a0000-1").unwrap(), "019a00001");
        for bad in [
            "",
            "019a000",
            "019a000g",
            "'; drop",
            "x".repeat(40).as_str(),
        ] {
            assert!(
                matches!(prefix_of(bad), Err(MemoryError::BadId { .. })),
                "{bad}"
            );
        }
    }
}
