//! Another text for a cell. The old one stays as a revision.

use hyphae_core::{cell::Cell, ids::CellId, ports::NewCell, scope::Scope};
use sqlx::sqlite::SqliteConnection;

use super::{
    edges,
    entries::{self, EntryKey},
    insert::{DiffKind, NewDiff, add_diff},
};
use crate::sqlite::{
    connections::Verdict,
    error::Fault,
    models::{check_dimension, take_turns},
    row::{Columns, cell_columns, from_time, to_cell},
    scope::{scoped, visible},
};

pub(crate) async fn merge(
    connection: &mut SqliteConnection,
    scope: &Scope,
    id: CellId,
    expected_revision: u32,
    new: &NewCell,
) -> Result<Verdict<Option<u32>>, Fault> {
    check_dimension(&new.model, &new.vector)?;
    let turn = take_turns(connection, scope.tenant, &new.model, 1).await?;
    let Some(kept) = at_revision(connection, scope, id, expected_revision).await? else {
        return Ok(Verdict::Rollback(None));
    };
    let Some(revision) = expected_revision.checked_add(1) else {
        return Ok(Verdict::Rollback(None));
    };
    let updated_at = kept.cell.updated_at.max(new.cell.updated_at);
    let next = Cell {
        content: new.cell.content.clone(),
        revision,
        updated_at,
        ..kept.cell.clone()
    };
    add_revision(connection, scope, &kept.cell, &next).await?;
    if !replace_text(connection, scope, &next, new, turn.sequence).await? {
        return Ok(Verdict::Rollback(None));
    }
    let facts = entries::facts_of(&next, new);
    entries::replace(connection, scope, kept.entry, new, &facts, &turn).await?;
    let diff = NewDiff {
        id: new.diff,
        kind: DiffKind::Updated,
        sequence: turn.sequence,
    };
    add_diff(connection, scope, &next, &diff).await?;
    if !new.links.is_empty() {
        edges::disconnect(connection, scope, id).await?;
        edges::connect(connection, scope, id, &new.links).await?;
    }
    Ok(Verdict::Commit(Some(revision)))
}

struct Kept {
    cell: Cell,
    entry: EntryKey,
}

async fn at_revision(
    connection: &mut SqliteConnection,
    scope: &Scope,
    id: CellId,
    revision: u32,
) -> Result<Option<Kept>, Fault> {
    const SQL: &str = concat!(
        "select ",
        cell_columns!(),
        ", c.project_no, c.sequence
         from cells c join projects p on p.tenant_id = c.tenant_id and p.project_no = c.project_no
         where c.cell_id = $4 and c.revision = $5 and c.status = 0 and ",
        visible!("c.")
    );
    let row = scoped(SQL, scope)
        .bind(id.uuid().as_bytes().as_slice())
        .bind(i64::from(revision))
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(Kept {
        cell: to_cell(&row)?,
        entry: EntryKey {
            project: Columns(&row).get(16, "project")?,
            sequence: Columns(&row).get(17, "sequence")?,
        },
    }))
}

async fn add_revision(
    connection: &mut SqliteConnection,
    scope: &Scope,
    old: &Cell,
    next: &Cell,
) -> Result<(), Fault> {
    let sql = "insert into revisions
         (tenant_id, replaced_by, cell_id, revision, content, replaced_at)
         values ($1, $3, $4, $5, $6, $7)";
    scoped(sql, scope)
        .bind(old.id.uuid().as_bytes().as_slice())
        .bind(i64::from(old.revision))
        .bind(old.content.as_str())
        .bind(from_time(next.updated_at))
        .execute(connection)
        .await?;
    Ok(())
}

/// Returns false if another active cell says this already.
async fn replace_text(
    connection: &mut SqliteConnection,
    scope: &Scope,
    next: &Cell,
    new: &NewCell,
    sequence: i64,
) -> Result<bool, Fault> {
    const SQL: &str = concat!(
        "update or ignore cells
         set content = $5, embedded_text = $6, fingerprint = $7, revision = $8, updated_at = $9,
             sequence = $10
         where cell_id = $4 and ",
        visible!("")
    );
    let done = scoped(SQL, scope)
        .bind(next.id.uuid().as_bytes().as_slice())
        .bind(next.content.as_str())
        .bind(new.embedded_text.as_str())
        .bind(new.fingerprint.0.as_slice())
        .bind(i64::from(next.revision))
        .bind(from_time(next.updated_at))
        .bind(sequence)
        .execute(connection)
        .await?;
    Ok(done.rows_affected() > 0)
}
