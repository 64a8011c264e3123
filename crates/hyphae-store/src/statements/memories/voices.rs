//! What credentials note about cells of anybody: that they are true, and under which key they
//! were stored.

use hyphae_core::{
    ids::{CellId, CredentialId},
    ports::{Committed, Confirmation, Write},
    scope::Scope,
};

use super::{
    commit::{Ledger, Stop},
    uuids,
};
use crate::{
    error::{BadRow, Fault},
    sql::{Connection, Row, Sql, each, sql},
    statements::{
        row::{Columns, from_time},
        scope::{own_project, owned, scoped, visible},
    },
};

pub(super) async fn confirm(
    connection: &mut Connection,
    scope: &Scope,
    write: &Write,
    (id, revision): (CellId, u32),
    evidence: Option<&str>,
    ledger: &mut Ledger,
) -> Result<Stop, Fault> {
    if !verify(connection, scope, write, id, revision).await? {
        return Ok(Some(Committed::Changed(id)));
    }
    let first = sql!(
        "insert into confirmations
             (tenant_id, credential_id, cell_id, revision, confirmed_at, evidence)
         values ($1, $2, $3, $4, $5, $6) on conflict do nothing"
    );
    let again = sql!(
        "update confirmations set revision = $4, confirmed_at = $5, evidence = $6
         where tenant_id = $1 and credential_id = $2 and cell_id = $3"
    );
    let query = |sql| {
        owned(sql, scope.owner())
            .bind(id.uuid())
            .bind(i64::from(revision))
            .bind(from_time(write.at))
            .bind(evidence)
    };
    query(first).execute_or(query(again), connection).await?;
    ledger.touch([id.uuid()]);
    Ok(None)
}

/// Returns false if the cell is gone or at another revision.
async fn verify(
    connection: &mut Connection,
    scope: &Scope,
    write: &Write,
    id: CellId,
    revision: u32,
) -> Result<bool, Fault> {
    const SQL: Sql = sql!(
        "update cells set verified_at = $6 where cell_id = $4 and revision = $5 and ",
        visible!("")
    );
    let done = scoped(SQL, scope)
        .bind(id.uuid())
        .bind(i64::from(revision))
        .bind(from_time(write.at))
        .execute(connection)
        .await?;
    Ok(done > 0)
}

pub(crate) async fn confirmations(
    connection: &mut Connection,
    scope: &Scope,
    ids: &[CellId],
) -> Result<Vec<Confirmation>, Fault> {
    const SQL: Sql = sql!(
        "select v.cell_id, v.revision, v.credential_id, v.confirmed_at, v.evidence
         from (select distinct n.value from ",
        each!("$4"),
        ") n
         cross join cells c on c.cell_id = unhex(n.value) and ",
        visible!("c."),
        " cross join confirmations v on v.tenant_id = $1 and v.cell_id = c.cell_id
         order by v.confirmed_at, v.cell_id, v.credential_id"
    );
    let rows = scoped(SQL, scope)
        .bind(uuids(ids))
        .fetch_all(connection)
        .await?;
    Ok(rows.iter().map(to_confirmation).collect::<Result<_, _>>()?)
}

pub(super) fn to_confirmation(row: &Row) -> Result<Confirmation, BadRow> {
    let row = Columns(row);
    Ok(Confirmation {
        cell: CellId::new(row.id(0)?),
        revision: row.count(1, "revision")?,
        by: CredentialId::new(row.id(2)?),
        at: row.time(3)?,
        evidence: row.get(4, "evidence")?,
    })
}

pub(super) async fn keep_key(
    connection: &mut Connection,
    scope: &Scope,
    key: &[u8; 32],
    cell: CellId,
    ledger: &mut Ledger,
) -> Result<Stop, Fault> {
    const FIRST: Sql = sql!(
        "insert into store_keys (tenant_id, credential_id, key, project_no, cell_id)
         select $1, $3, $4, ",
        own_project!(),
        ", cell_id from cells where cell_id = $5 and ",
        visible!(""),
        " on conflict do nothing"
    );
    // A key of a cell that is no longer to be seen is free again.
    const AGAIN: Sql = sql!(
        "update store_keys set cell_id = $5
         where tenant_id = $1 and credential_id = $3 and key = $4 and project_no = ",
        own_project!(),
        " and exists (select 1 from cells where cell_id = $5 and ",
        visible!(""),
        ")"
    );
    if let Some(used) = cell_of_key(connection, scope, key).await? {
        return Ok(Some(Committed::KeyUsed(used)));
    }
    let query = |sql| scoped(sql, scope).bind(key.as_slice()).bind(cell.uuid());
    let done = query(FIRST).execute_or(query(AGAIN), connection).await?;
    if done == 0 {
        return Ok(Some(Committed::Changed(cell)));
    }
    ledger.touch([cell.uuid()]);
    Ok(None)
}

/// Returns the cell that the scope's credential stored under a key and that the scope sees, the
/// one of its own project first.
pub(crate) async fn cell_of_key(
    connection: &mut Connection,
    scope: &Scope,
    key: &[u8; 32],
) -> Result<Option<CellId>, Fault> {
    const SQL: Sql = sql!(
        "select c.cell_id from store_keys k
         cross join cells c on c.cell_id = k.cell_id and ",
        visible!("c."),
        " where k.tenant_id = $1 and k.credential_id = $3 and k.key = $4
         order by k.project_no is not distinct from ",
        own_project!(),
        " desc, c.cell_id limit 1"
    );
    let row = scoped(SQL, scope)
        .bind(key.as_slice())
        .fetch_optional(connection)
        .await?;
    let id = row.map(|row| Columns(&row).id(0)).transpose()?;
    Ok(id.map(CellId::new))
}
