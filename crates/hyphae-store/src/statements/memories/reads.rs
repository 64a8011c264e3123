//! Cells by id, by session and by topic, and their earlier states.

use hyphae_core::{
    cell::{Cell, Visibility},
    ids::{CellId, CredentialId, SessionId},
    label::Topic,
    ports::Past,
    scope::Scope,
};
use jiff::Timestamp;

use super::uuids;
use crate::{
    error::{BadRow, Fault},
    sql::{Connection, Row, Sql, each, sql},
    statements::{
        row::{CELL_COLUMNS, Columns, cell_columns, from_time, from_visibility, to_cell},
        scope::{own_project, scoped, visible},
    },
};

pub(crate) async fn cells(
    connection: &mut Connection,
    scope: &Scope,
    ids: &[CellId],
) -> Result<Vec<Cell>, Fault> {
    const SQL: Sql = sql!(
        "select ",
        cell_columns!("c."),
        " from ",
        each!("$4"),
        "
         cross join cells c on c.cell_id = unhex(n.value) and ",
        visible!("c."),
        " join projects p on p.tenant_id = c.tenant_id and p.project_no = c.project_no
         order by n.key"
    );
    let rows = scoped(SQL, scope)
        .bind(uuids(ids))
        .fetch_all(connection)
        .await?;
    Ok(rows.iter().map(to_cell).collect::<Result<_, _>>()?)
}

pub(crate) async fn last_of_session(
    connection: &mut Connection,
    scope: &Scope,
    session: SessionId,
) -> Result<Option<Cell>, Fault> {
    const SQL: Sql = sql!(
        "select ",
        cell_columns!("c."),
        " from cells c
         join projects p on p.tenant_id = c.tenant_id and p.project_no = c.project_no
         where c.tenant_id = $1 and c.session_id = $4 and ",
        visible!("c."),
        " order by c.created_at desc, c.cell_id desc limit 1"
    );
    let row = scoped(SQL, scope)
        .bind(session.uuid())
        .fetch_optional(connection)
        .await?;
    Ok(row.as_ref().map(to_cell).transpose()?)
}

/// Returns the active cell of a topic. The condition names the columns of the index
/// `cells_one_a_topic`.
pub(crate) async fn cell_of_topic(
    connection: &mut Connection,
    scope: &Scope,
    topic: &Topic,
    visibility: Visibility,
) -> Result<Option<Cell>, Fault> {
    const SQL: Sql = sql!(
        "select ",
        cell_columns!("c."),
        " from cells c
         join projects p on p.tenant_id = c.tenant_id and p.project_no = c.project_no
         where c.tenant_id = $1 and c.project_no = ",
        own_project!(),
        " and c.visibility = $4
         and (case when c.visibility = 0 then c.author else x'' end) = case when $4 = 0 then $3 else x'' end
         and c.topic = $5 and c.status = 0 and ",
        visible!("c.")
    );
    let row = scoped(SQL, scope)
        .bind(from_visibility(visibility))
        .bind(topic.as_str())
        .fetch_optional(connection)
        .await?;
    Ok(row.as_ref().map(to_cell).transpose()?)
}

pub(crate) async fn history(
    connection: &mut Connection,
    scope: &Scope,
    id: CellId,
) -> Result<Vec<Past>, Fault> {
    const SQL: Sql = sql!(
        "select ",
        cell_columns!("r."),
        ", r.replaced_by, r.replaced_at, r.reason
         from cells c
         join projects p on p.tenant_id = c.tenant_id and p.project_no = c.project_no
         join revisions r on r.tenant_id = c.tenant_id and r.cell_id = c.cell_id
         where c.cell_id = $4 and ",
        visible!("c."),
        " order by r.revision"
    );
    let rows = scoped(SQL, scope)
        .bind(id.uuid())
        .fetch_all(connection)
        .await?;
    Ok(rows.iter().map(to_past).collect::<Result<_, _>>()?)
}

pub(super) fn to_past(row: &Row) -> Result<Past, BadRow> {
    let rest = Columns(row);
    Ok(Past {
        cell: to_cell(row)?,
        replaced_by: CredentialId::new(rest.id(CELL_COLUMNS)?),
        replaced_at: rest.time(CELL_COLUMNS + 1)?,
        reason: rest.get(CELL_COLUMNS + 2, "reason")?,
    })
}

/// Notes that cells were read; a time earlier than the last changes nothing.
pub(crate) async fn touch(
    connection: &mut Connection,
    scope: &Scope,
    ids: &[CellId],
    at: Timestamp,
) -> Result<(), Fault> {
    const SQL: Sql = sql!(
        "update cells set last_access = $5
         where cell_id in (select unhex(n.value) from ",
        each!("$4"),
        ")
         and last_access < $5 and ",
        visible!("")
    );
    scoped(SQL, scope)
        .bind(uuids(ids))
        .bind(from_time(at))
        .execute(connection)
        .await?;
    Ok(())
}
