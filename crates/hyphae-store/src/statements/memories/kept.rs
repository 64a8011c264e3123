//! A cell that is about to change, as it is.

use hyphae_core::{cell::Cell, ids::CellId, scope::Scope};

use crate::{
    error::Fault,
    sql::{Connection, Sql, sql},
    statements::{
        row::{CELL_COLUMNS, Columns, cell_columns, to_cell},
        scope::{scoped, visible},
    },
};

/// Where an entry of `recall_entries` lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryKey {
    pub(super) project: i64,
    pub(super) sequence: i64,
}

/// A cell and where what recall knows of it lies.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) cell: Cell,
    pub(super) entry: EntryKey,
}

/// Returns a cell of any status; none if it is gone or the scope cannot see it.
pub(super) async fn kept(
    connection: &mut Connection,
    scope: &Scope,
    id: CellId,
) -> Result<Option<Kept>, Fault> {
    const SQL: Sql = sql!(
        "select ",
        cell_columns!("c."),
        ", c.project_no, c.sequence
         from cells c join projects p on p.tenant_id = c.tenant_id and p.project_no = c.project_no
         where c.cell_id = $4 and ",
        visible!("c.")
    );
    let row = scoped(SQL, scope)
        .bind(id.uuid())
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(Kept {
        cell: to_cell(&row)?,
        entry: EntryKey {
            project: Columns(&row).get(CELL_COLUMNS, "project")?,
            sequence: Columns(&row).get(CELL_COLUMNS + 1, "sequence")?,
        },
    }))
}
