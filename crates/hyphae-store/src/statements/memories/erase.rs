//! The end of a cell. Its history, confirmations, keys and conflicts go with its row; what is
//! left tells that there was a cell, and nothing of what it said.

use hyphae_core::{
    diff::DiffKind,
    ids::{CellId, DiffId},
    ports::{Committed, Write},
    scope::Scope,
};

use super::{
    commit::{Ledger, Stop},
    diffs::{self, NewDiff},
    entries,
    kept::kept,
    tags,
};
use crate::{
    error::Fault,
    sql::{Connection, Sql, sql},
    statements::scope::{scoped, visible},
};

pub(super) async fn erase(
    connection: &mut Connection,
    scope: &Scope,
    write: &Write,
    (id, revision): (CellId, u32),
    diff: DiffId,
    ledger: &mut Ledger,
) -> Result<Stop, Fault> {
    let sequence = ledger.take_turn();
    let kept = kept(connection, scope, id).await?;
    let Some(kept) = kept.filter(|kept| kept.cell.revision == revision) else {
        return Ok(Some(Committed::Changed(id)));
    };
    let diff = NewDiff {
        id: diff,
        kind: DiffKind::Erased,
        other: None,
        at: write.at,
        sequence,
        project: Some(kept.entry.project),
    };
    diffs::add(connection, scope, &kept.cell, &diff, ledger).await?;
    tags::remove(connection, scope, &kept).await?;
    entries::clear(connection, scope, kept.entry, sequence).await?;
    remove(connection, scope, id).await?;
    ledger.erased.push(id);
    ledger.touch([id.uuid()]);
    Ok(None)
}

async fn remove(connection: &mut Connection, scope: &Scope, id: CellId) -> Result<(), Fault> {
    const SQL: Sql = sql!("delete from cells where cell_id = $4 and ", visible!(""));
    scoped(SQL, scope)
        .bind(id.uuid())
        .execute(connection)
        .await?;
    Ok(())
}
