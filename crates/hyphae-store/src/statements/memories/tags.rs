//! The tags of active cells, where names are looked up.

use hyphae_core::{
    cell::{Cell, Status},
    scope::Scope,
};

use super::kept::Kept;
use crate::{
    error::Fault,
    sql::{Connection, Sql, each, sql},
    statements::{
        row::from_visibility,
        scope::{own_project, scoped, visible},
    },
};

/// Notes the tags of a cell. A project that is not named is the scope's own.
pub(super) async fn add(
    connection: &mut Connection,
    scope: &Scope,
    cell: &Cell,
    project: Option<i64>,
) -> Result<(), Fault> {
    const SQL: Sql = sql!(
        "insert into cell_tags (tenant_id, project_no, tag, cell_id, author, visibility)
         select $1, coalesce($4, ",
        own_project!(),
        "), n.value, $5, $6, $7 from ",
        each!("$8")
    );
    if cell.status != Status::Active || cell.tags.is_empty() {
        return Ok(());
    }
    scoped(SQL, scope)
        .bind(project)
        .bind(cell.id.uuid())
        .bind(cell.author.uuid())
        .bind(from_visibility(cell.visibility))
        .bind(names(cell))
        .execute_later(connection)
        .await
}

/// Forgets the tags of a cell.
pub(super) async fn remove(
    connection: &mut Connection,
    scope: &Scope,
    kept: &Kept,
) -> Result<(), Fault> {
    const SQL: Sql = sql!(
        "delete from cell_tags
         where project_no = $4 and cell_id = $5
         and tag in (select n.value from ",
        each!("$6"),
        ") and ",
        visible!("")
    );
    if kept.cell.tags.is_empty() {
        return Ok(());
    }
    scoped(SQL, scope)
        .bind(kept.entry.project)
        .bind(kept.cell.id.uuid())
        .bind(names(&kept.cell))
        .execute_later(connection)
        .await
}

fn names(cell: &Cell) -> Vec<String> {
    cell.tags
        .iter()
        .map(|tag| tag.as_str().to_owned())
        .collect()
}
