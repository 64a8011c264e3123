//! A new cell, with all that belongs to it, in one transaction.

use hyphae_core::{
    cell::{Cell, Visibility},
    ids::{CellId, DiffId},
    ports::{Inserted, NewCell},
    scope::Scope,
};
use sqlx::sqlite::SqliteConnection;

use super::{edges, entries};
use crate::sqlite::{
    connections::Verdict,
    error::Fault,
    models::{check_dimension, take_turns},
    row::{Columns, from_cell_type, from_layer, from_status, from_time, from_visibility},
    scope::{own_project, scoped},
};

pub(crate) async fn insert(
    connection: &mut SqliteConnection,
    scope: &Scope,
    new: &NewCell,
) -> Result<Verdict<Inserted>, Fault> {
    if new.cell.author != scope.credential || new.cell.project != scope.project {
        return Err(Fault::other(
            "a cell is written by its author and into its project",
        ));
    }
    check_dimension(&new.model, &new.vector)?;
    let turn = take_turns(connection, scope.tenant, &new.model, 1).await?;
    ensure_project(connection, scope).await?;
    if !add_cell(connection, scope, new, turn.sequence).await? {
        let kept = same_cell(connection, scope, new).await?;
        let kept = kept.ok_or_else(|| Fault::other("another cell has this id"))?;
        return Ok(Verdict::Rollback(Inserted::Same(kept)));
    }
    entries::add(connection, scope, new, &turn).await?;
    let diff = NewDiff {
        id: new.diff,
        kind: DiffKind::Created,
        sequence: turn.sequence,
    };
    add_diff(connection, scope, &new.cell, &diff).await?;
    edges::connect(connection, scope, new.cell.id, &new.links).await?;
    Ok(Verdict::Commit(Inserted::New))
}

async fn ensure_project(connection: &mut SqliteConnection, scope: &Scope) -> Result<(), Fault> {
    let sql = "insert into projects (tenant_id, project_no, name)
         select $1, coalesce(max(project_no), 0) + 1, $2 from projects where tenant_id = $1
         on conflict (tenant_id, name) do nothing";
    scoped(sql, scope).execute(connection).await?;
    Ok(())
}

/// Returns whether the cell is new: not so if an active one says the same, or has its id.
async fn add_cell(
    connection: &mut SqliteConnection,
    scope: &Scope,
    new: &NewCell,
    sequence: i64,
) -> Result<bool, Fault> {
    const SQL: &str = concat!(
        "insert into cells (tenant_id, project_no, author, cell_id, cell_type, layer,
             visibility, status, salience, confidence, revision, content, embedded_text,
             fingerprint, session_id, position, said_at, created_at, updated_at, last_access,
             sequence)
         values ($1, ",
        own_project!(),
        ", $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $18, $20)
         on conflict do nothing"
    );
    let cell = &new.cell;
    let session = cell.origin.session.map(|id| id.uuid().as_bytes().to_vec());
    let done = scoped(SQL, scope)
        .bind(cell.id.uuid().as_bytes().as_slice())
        .bind(from_cell_type(cell.cell_type))
        .bind(from_layer(cell.layer))
        .bind(from_visibility(cell.visibility))
        .bind(from_status(cell.status))
        .bind(cell.salience.get())
        .bind(cell.confidence.get())
        .bind(i64::from(cell.revision))
        .bind(cell.content.as_str())
        .bind(new.embedded_text.as_str())
        .bind(new.fingerprint.0.as_slice())
        .bind(session)
        .bind(cell.origin.position.map(i64::from))
        .bind(cell.origin.said_at.map(from_time))
        .bind(from_time(cell.created_at))
        .bind(from_time(cell.updated_at))
        .bind(sequence)
        .execute(connection)
        .await?;
    Ok(done.rows_affected() > 0)
}

/// Returns the active cell that says the same to the same people. Its condition names the
/// columns of the index `cells_say_it_once`.
async fn same_cell(
    connection: &mut SqliteConnection,
    scope: &Scope,
    new: &NewCell,
) -> Result<Option<CellId>, Fault> {
    const SQL: &str = concat!(
        "select cell_id from cells
         where tenant_id = $1 and project_no = ",
        own_project!(),
        " and cell_type = $4 and layer = $5 and visibility = $6
         and (case when visibility = 0 then author else x'' end) = $7
         and fingerprint = $8 and status = 0"
    );
    let only_for = match new.cell.visibility {
        Visibility::Private => scope.credential.uuid().as_bytes().to_vec(),
        Visibility::Project | Visibility::Shared => Vec::new(),
    };
    let row = scoped(SQL, scope)
        .bind(from_cell_type(new.cell.cell_type))
        .bind(from_layer(new.cell.layer))
        .bind(from_visibility(new.cell.visibility))
        .bind(only_for)
        .bind(new.fingerprint.0.as_slice())
        .fetch_optional(connection)
        .await?;
    let id = row.map(|row| Columns(&row).id(0)).transpose()?;
    Ok(id.map(CellId::new))
}

/// What a diff tells.
#[derive(Debug, Clone, Copy)]
pub(crate) enum DiffKind {
    Created,
    Updated,
}

/// A diff to be written.
#[derive(Debug)]
pub(crate) struct NewDiff {
    pub(crate) id: DiffId,
    pub(crate) kind: DiffKind,
    pub(crate) sequence: i64,
}

/// Writes a diff about the present state of `cell`.
pub(crate) async fn add_diff(
    connection: &mut SqliteConnection,
    scope: &Scope,
    cell: &Cell,
    diff: &NewDiff,
) -> Result<(), Fault> {
    let sql = "insert into diffs (tenant_id, author, diff_id, sequence, kind, cell_id, revision,
             cell_type, salience, created_at)
         values ($1, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    let kind: i64 = match diff.kind {
        DiffKind::Created => 0,
        DiffKind::Updated => 1,
    };
    scoped(sql, scope)
        .bind(diff.id.uuid().as_bytes().as_slice())
        .bind(diff.sequence)
        .bind(kind)
        .bind(cell.id.uuid().as_bytes().as_slice())
        .bind(i64::from(cell.revision))
        .bind(from_cell_type(cell.cell_type))
        .bind(cell.salience.get())
        .bind(from_time(cell.updated_at))
        .execute(connection)
        .await?;
    Ok(())
}
