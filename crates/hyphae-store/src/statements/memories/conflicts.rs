//! Pairs of cells that cannot both be true, seen by those who see both.

use hyphae_core::{
    conflict::{Conflict, Resolution, Verdict},
    diff::DiffKind,
    ids::{CellId, ConflictId, CredentialId, DiffId},
    ports::{Committed, Write},
    scope::Scope,
};

use super::{
    commit::{Ledger, Stop},
    diffs::{self, NewDiff},
    kept::{Kept, kept},
    limit_of,
    relations::is_there,
    uuids,
};
use crate::{
    error::{BadRow, Fault},
    sql::{Connection, Row, Sql, each, either, sql},
    statements::{
        row::{
            Columns, from_conflict_kind, from_time, from_verdict, to_conflict_kind, to_time,
            to_uuid, to_verdict,
        },
        scope::{both_ends, scoped},
    },
};

pub(super) async fn open(
    connection: &mut Connection,
    scope: &Scope,
    write: &Write,
    conflict: &Conflict,
    diff: DiffId,
    ledger: &mut Ledger,
) -> Result<Stop, Fault> {
    let Some(left) = kept(connection, scope, conflict.left).await? else {
        return Ok(Some(Committed::Changed(conflict.left)));
    };
    if !is_there(connection, scope, conflict.right).await? {
        return Ok(Some(Committed::Changed(conflict.right)));
    }
    if !add(connection, scope, conflict).await? {
        return Ok(None);
    }
    let kind = DiffKind::Contradiction;
    tell(
        connection, scope, write, &left, conflict, kind, diff, ledger,
    )
    .await?;
    Ok(None)
}

/// Returns false if these cells are in conflict already.
async fn add(
    connection: &mut Connection,
    scope: &Scope,
    conflict: &Conflict,
) -> Result<bool, Fault> {
    let sql = sql!(
        "insert into conflicts (tenant_id, conflict_id, left_id, right_id, kind, why,
             opened_by, opened_at)
         select $1, $4, $5, $6, $7, $8, $9, $10 where not exists (
             select 1 from conflicts where tenant_id = $1 and verdict is null
             and ",
        either!(
            "min(left_id, right_id) = min($5, $6)
             and max(left_id, right_id) = max($5, $6)",
            "least(left_id, right_id) = least($5, $6)
             and greatest(left_id, right_id) = greatest($5, $6)"
        ),
        ")"
    );
    let done = scoped(sql, scope)
        .bind(conflict.id.uuid())
        .bind(conflict.left.uuid())
        .bind(conflict.right.uuid())
        .bind(from_conflict_kind(conflict.kind))
        .bind(conflict.why.as_deref())
        .bind(conflict.opened_by.uuid())
        .bind(from_time(conflict.opened_at))
        .execute(connection)
        .await?;
    Ok(done > 0)
}

/// How a conflict is to end.
#[derive(Debug)]
pub(super) struct Decision<'w> {
    pub(super) id: ConflictId,
    pub(super) verdict: Verdict,
    pub(super) reason: &'w str,
}

pub(super) async fn close(
    connection: &mut Connection,
    scope: &Scope,
    write: &Write,
    decision: &Decision<'_>,
    diff: DiffId,
    ledger: &mut Ledger,
) -> Result<Stop, Fault> {
    let sql = sql!(
        "update conflicts
         set verdict = $5, reason = $6, decided_by = $3, decided_at = $7
         where tenant_id = $1 and conflict_id = $4"
    );
    let gone = Ok(Some(Committed::ConflictGone(decision.id)));
    let found = conflict(connection, scope, decision.id).await?;
    let Some(found) = found.filter(|found| found.resolution.is_none()) else {
        return gone;
    };
    let Some(left) = kept(connection, scope, found.left).await? else {
        return gone;
    };
    scoped(sql, scope)
        .bind(decision.id.uuid())
        .bind(from_verdict(decision.verdict))
        .bind(decision.reason)
        .bind(from_time(write.at))
        .execute(&mut *connection)
        .await?;
    let kind = DiffKind::Resolved;
    tell(connection, scope, write, &left, &found, kind, diff, ledger).await?;
    Ok(None)
}

/// Writes the diff about the left cell.
#[expect(
    clippy::too_many_arguments,
    reason = "what a write knows, and what happened"
)]
async fn tell(
    connection: &mut Connection,
    scope: &Scope,
    write: &Write,
    left: &Kept,
    conflict: &Conflict,
    kind: DiffKind,
    diff: DiffId,
    ledger: &mut Ledger,
) -> Result<(), Fault> {
    let diff = NewDiff {
        id: diff,
        kind,
        other: Some(conflict.right),
        at: write.at,
        sequence: ledger.take_turn(),
        project: Some(left.entry.project),
    };
    diffs::add(connection, scope, &left.cell, &diff, ledger).await?;
    ledger.touch([
        conflict.id.uuid(),
        conflict.left.uuid(),
        conflict.right.uuid(),
    ]);
    Ok(())
}

/// The columns of `conflicts k` that [`to_conflict`] reads.
macro_rules! conflict_columns {
    () => {
        "k.conflict_id, k.left_id, k.right_id, k.kind, k.why, k.opened_by, k.opened_at,
         k.verdict, k.reason, k.decided_by, k.decided_at"
    };
}
pub(super) use conflict_columns;

pub(crate) async fn conflict(
    connection: &mut Connection,
    scope: &Scope,
    id: ConflictId,
) -> Result<Option<Conflict>, Fault> {
    const SQL: Sql = sql!(
        "select ",
        conflict_columns!(),
        " from conflicts k",
        both_ends!("k.left_id", "k.right_id"),
        "where k.tenant_id = $1 and k.conflict_id = $4"
    );
    let row = scoped(SQL, scope)
        .bind(id.uuid())
        .fetch_optional(connection)
        .await?;
    Ok(row.as_ref().map(to_conflict).transpose()?)
}

pub(crate) async fn open_conflicts(
    connection: &mut Connection,
    scope: &Scope,
    cells: &[CellId],
    after: Option<ConflictId>,
    limit: usize,
) -> Result<Vec<Conflict>, Fault> {
    const ALL: Sql = sql!(
        "select ",
        conflict_columns!(),
        " from conflicts k",
        either!(" indexed by conflicts_open", ""),
        both_ends!("k.left_id", "k.right_id"),
        "where k.tenant_id = $1 and k.verdict is null and k.conflict_id > $4
         order by k.conflict_id limit $5 + 0"
    );
    const ABOUT: Sql = sql!(
        "select ",
        conflict_columns!(),
        " from (
             select l.conflict_id from ",
        each!("$6"),
        "
             cross join conflicts l",
        either!(" indexed by conflicts_of_left", ""),
        "
                 on l.tenant_id = $1 and l.left_id = unhex(n.value)
             where l.verdict is null
             union
             select r.conflict_id from ",
        each!("$6"),
        "
             cross join conflicts r",
        either!(" indexed by conflicts_of_right", ""),
        "
                 on r.tenant_id = $1 and r.right_id = unhex(n.value)
             where r.verdict is null
         ) about
         cross join conflicts k on k.tenant_id = $1 and k.conflict_id = about.conflict_id",
        both_ends!("k.left_id", "k.right_id"),
        "where k.conflict_id > $4 order by k.conflict_id limit $5 + 0"
    );
    let sql = if cells.is_empty() { ALL } else { ABOUT };
    let mut query = scoped(sql, scope)
        .bind(after.map_or_else(Vec::new, |id| id.uuid().as_bytes().to_vec()))
        .bind(limit_of(limit));
    if !cells.is_empty() {
        query = query.bind(uuids(cells));
    }
    let rows = query.fetch_all(connection).await?;
    Ok(rows.iter().map(to_conflict).collect::<Result<_, _>>()?)
}

pub(super) fn to_conflict(row: &Row) -> Result<Conflict, BadRow> {
    let row = Columns(row);
    let resolution = match row.get::<Option<i64>>(7, "verdict")? {
        None => None,
        Some(verdict) => Some(Resolution {
            verdict: to_verdict(verdict)?,
            reason: row.get(8, "reason")?,
            by: CredentialId::new(to_uuid(row.get(9, "id")?)?),
            at: to_time(row.get(10, "time")?)?,
        }),
    };
    Ok(Conflict {
        id: ConflictId::new(row.id(0)?),
        left: CellId::new(row.id(1)?),
        right: CellId::new(row.id(2)?),
        kind: to_conflict_kind(row.get(3, "kind of conflict")?)?,
        why: row.get(4, "reason")?,
        opened_by: CredentialId::new(row.id(5)?),
        opened_at: row.time(6)?,
        resolution,
    })
}
