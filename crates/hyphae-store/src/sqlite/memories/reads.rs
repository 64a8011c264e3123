//! Cells by id and by session.

use hyphae_core::{
    cell::Cell,
    ids::{CellId, SessionId},
    scope::Scope,
};
use jiff::Timestamp;
use sqlx::sqlite::SqliteConnection;

use super::ids_as_json;
use crate::sqlite::{
    error::Fault,
    row::{cell_columns, from_time, to_cell},
    scope::{scoped, visible},
};

pub(crate) async fn cells(
    connection: &mut SqliteConnection,
    scope: &Scope,
    ids: &[CellId],
) -> Result<Vec<Cell>, Fault> {
    const SQL: &str = concat!(
        "select ",
        cell_columns!(),
        " from json_each($4) n
         cross join cells c on c.cell_id = unhex(n.value) and ",
        visible!("c."),
        " join projects p on p.tenant_id = c.tenant_id and p.project_no = c.project_no
         order by n.key"
    );
    let rows = scoped(SQL, scope)
        .bind(ids_as_json(ids))
        .fetch_all(connection)
        .await?;
    Ok(rows.iter().map(to_cell).collect::<Result<_, _>>()?)
}

pub(crate) async fn last_of_session(
    connection: &mut SqliteConnection,
    scope: &Scope,
    session: SessionId,
) -> Result<Option<Cell>, Fault> {
    const SQL: &str = concat!(
        "select ",
        cell_columns!(),
        " from cells c
         join projects p on p.tenant_id = c.tenant_id and p.project_no = c.project_no
         where c.tenant_id = $1 and c.session_id = $4 and ",
        visible!("c."),
        " order by c.created_at desc, c.cell_id desc limit 1"
    );
    let row = scoped(SQL, scope)
        .bind(session.uuid().as_bytes().as_slice())
        .fetch_optional(connection)
        .await?;
    Ok(row.as_ref().map(to_cell).transpose()?)
}

/// Notes that cells were read; a time earlier than the last changes nothing.
pub(crate) async fn touch(
    connection: &mut SqliteConnection,
    scope: &Scope,
    ids: &[CellId],
    at: Timestamp,
) -> Result<(), Fault> {
    const SQL: &str = concat!(
        "update cells set last_access = $5
         where cell_id in (select unhex(value) from json_each($4))
         and last_access < $5 and ",
        visible!("")
    );
    scoped(SQL, scope)
        .bind(ids_as_json(ids))
        .bind(from_time(at))
        .execute(connection)
        .await?;
    Ok(())
}
