//! The next state of a cell. The one before stays as a revision.

use hyphae_core::{
    cell::{Cell, Status},
    ports::{Committed, Derived, Revision, Write},
    scope::Scope,
};

use super::{
    commit::{Ledger, Stop},
    diffs::{self, NewDiff},
    edges, entries, insert,
    kept::kept,
    tags,
};
use crate::{
    error::Fault,
    sql::{Connection, Sql, either, sql},
    statements::{
        row::from_time,
        scope::{scoped, visible},
    },
};

pub(super) async fn revise(
    connection: &mut Connection,
    scope: &Scope,
    write: &Write,
    revision: &Revision,
    ledger: &mut Ledger,
) -> Result<Stop, Fault> {
    let sequence = ledger.take_turn();
    let id = revision.cell.id;
    let kept = kept(connection, scope, id).await?;
    let before = revision.cell.revision.checked_sub(1);
    let Some(kept) = kept.filter(|kept| Some(kept.cell.revision) == before) else {
        return Ok(Some(Committed::Changed(id)));
    };
    let derived = revision.derived.as_ref();
    let next = next_state(&kept.cell, &revision.cell, derived)?;
    let reason = write.reason.as_deref();
    let fingerprint = next.content.fingerprint();
    let own = insert::Own {
        project: Some(kept.entry.project),
        id: Some(id),
    };
    if connection.fails_as_a_whole() && next.status == Status::Active {
        let stop = insert::twin(connection, scope, &next, fingerprint, own).await?;
        if stop.is_some() {
            return Ok(stop);
        }
    }
    add_revision(connection, scope, &next, reason).await?;
    if !replace_state(connection, scope, &next, derived, sequence).await? {
        let stop = insert::twin(connection, scope, &next, fingerprint, own).await?;
        let stop = stop.ok_or_else(|| Fault::other("a cell cannot be changed like this"))?;
        return Ok(Some(stop));
    }
    entries::replace(
        connection,
        scope,
        &kept,
        &next,
        derived,
        sequence,
        ledger.model,
    )
    .await?;
    if may_be_named(&kept.cell) != may_be_named(&next) {
        tags::remove(connection, scope, &kept).await?;
        tags::add(connection, scope, &next, Some(kept.entry.project)).await?;
    }
    let diff = NewDiff {
        id: revision.diff,
        kind: revision.kind,
        other: revision.other,
        at: write.at,
        sequence,
        project: Some(kept.entry.project),
    };
    if next.visibility != kept.cell.visibility {
        diffs::widen(connection, scope, &kept, &next).await?;
    }
    diffs::add(connection, scope, &next, &diff, ledger).await?;
    let links = derived.map_or(&[][..], |derived| &derived.links);
    edges::reconnect(connection, scope, id, links).await?;
    ledger.touch([id.uuid()]);
    Ok(None)
}

/// All that the names of a cell's tags depend on.
fn may_be_named(cell: &Cell) -> impl PartialEq {
    (cell.tags.clone(), cell.status, cell.visibility)
}

/// Checks that only what may change does.
fn next_state(kept: &Cell, next: &Cell, derived: Option<&Derived>) -> Result<Cell, Fault> {
    let stays = (next.author, &next.project, next.layer, next.created_at)
        == (kept.author, &kept.project, kept.layer, kept.created_at);
    if !stays {
        return Err(Fault::other(
            "a cell keeps its author, project, layer and time",
        ));
    }
    if derived.is_none() && next.content != kept.content {
        return Err(Fault::other(
            "a new text comes with what is derived from it",
        ));
    }
    Ok(Cell {
        updated_at: next.updated_at.max(kept.updated_at),
        // Somebody may have confirmed it since it was read: that changes no revision.
        verified_at: next.verified_at.max(kept.verified_at),
        ..next.clone()
    })
}

/// Copies the present state to the earlier ones.
async fn add_revision(
    connection: &mut Connection,
    scope: &Scope,
    next: &Cell,
    reason: Option<&str>,
) -> Result<(), Fault> {
    const SQL: Sql = sql!(
        "insert into revisions (tenant_id, cell_id, revision, content_revision, content,
             cell_type, visibility, status, salience, confidence, topic, tags, source, session_id,
             position, said_at, valid_from, valid_until, verified_at, updated_at, replaced_by,
             replaced_at, reason)
         select tenant_id, cell_id, revision, content_revision, content, cell_type, visibility,
             status, salience, confidence, topic, tags, source, session_id, position, said_at,
             valid_from, valid_until, verified_at, updated_at, $3, $5, $6
         from cells where cell_id = $4 and ",
        visible!("")
    );
    scoped(SQL, scope)
        .bind(next.id.uuid())
        .bind(from_time(next.updated_at))
        .bind(reason)
        .execute(connection)
        .await?;
    Ok(())
}

/// Returns false if another active cell says this already, or stands for this topic.
async fn replace_state(
    connection: &mut Connection,
    scope: &Scope,
    next: &Cell,
    derived: Option<&Derived>,
    sequence: i64,
) -> Result<bool, Fault> {
    const SQL: Sql = sql!(
        either!("update or ignore cells", "update cells"),
        "
         set embedded_text = coalesce($5, embedded_text), fingerprint = coalesce($6, fingerprint),
             content = $7, cell_type = $8, salience = $9, confidence = $10, visibility = $11,
             status = $12, revision = $13, content_revision = $14, topic = $15, tags = $16,
             valid_from = $17, valid_until = $18, verified_at = $19, source = $20,
             session_id = $21, position = $22, said_at = $23, updated_at = $24, sequence = $25
         where cell_id = $4 and ",
        visible!("")
    );
    let query = scoped(SQL, scope)
        .bind(next.id.uuid())
        .bind(derived.map(|derived| derived.embedded_text.as_str()))
        .bind(derived.map(|derived| derived.fingerprint.0.as_slice()));
    let done = insert::with_state(query, next)
        .bind(sequence)
        .execute(connection)
        .await?;
    Ok(done > 0)
}
