//! A new cell, with all that belongs to it.

use hyphae_core::{
    cell::{Cell, Fingerprint, Visibility},
    diff::DiffKind,
    ids::{CellId, SessionId},
    label::Topic,
    ports::{Committed, Derived, NewCell, Write},
    scope::Scope,
};

use super::{
    commit::{Ledger, Stop},
    diffs::{self, NewDiff},
    edges, entries, tags,
};
use crate::{
    error::Fault,
    sql::{Connection, Query, Sql, sql},
    statements::{
        row::{
            Columns, from_cell_type, from_layer, from_source, from_status, from_tags, from_time,
            from_visibility,
        },
        scope::{own_project, scoped, visible},
    },
};

pub(super) async fn insert(
    connection: &mut Connection,
    scope: &Scope,
    write: &Write,
    new: &NewCell,
    ledger: &mut Ledger,
) -> Result<Stop, Fault> {
    let sequence = ledger.take_turn();
    if !add_cell(connection, scope, &new.cell, &new.derived, sequence).await? {
        let fingerprint = new.derived.fingerprint;
        let stop = twin(connection, scope, &new.cell, fingerprint, Own::default()).await?;
        let stop = stop.ok_or_else(|| Fault::other("another cell has this id"))?;
        return Ok(Some(stop));
    }
    let model = ledger.model;
    entries::add(connection, scope, &new.cell, &new.derived, sequence, model).await?;
    tags::add(connection, scope, &new.cell, None).await?;
    let diff = NewDiff {
        id: new.diff,
        kind: DiffKind::Created,
        other: None,
        at: write.at,
        sequence,
        project: None,
    };
    diffs::add(connection, scope, &new.cell, &diff, ledger).await?;
    edges::connect(connection, scope, new.cell.id, &new.derived.links).await?;
    ledger.touch([new.cell.id.uuid()]);
    Ok(None)
}

/// Returns whether the cell is new: not so if an active one says the same or stands for its
/// topic, or if any has its id.
pub(super) async fn add_cell(
    connection: &mut Connection,
    scope: &Scope,
    cell: &Cell,
    derived: &Derived,
    sequence: i64,
) -> Result<bool, Fault> {
    const SQL: Sql = sql!(
        "insert into cells (tenant_id, project_no, author, cell_id, layer, created_at,
             content, cell_type, salience, confidence, visibility, status, revision,
             content_revision, topic, tags, valid_from, valid_until, verified_at, source,
             session_id, position, said_at, updated_at, last_access, embedded_text, fingerprint,
             sequence)
         values ($1, ",
        own_project!(),
        ", $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,
             $21, $22, $23, $24, $6, $25, $26, $27)
         on conflict do nothing"
    );
    let query = scoped(SQL, scope)
        .bind(cell.id.uuid())
        .bind(from_layer(cell.layer))
        .bind(from_time(cell.created_at));
    let done = with_state(query, cell)
        .bind(derived.embedded_text.as_str())
        .bind(derived.fingerprint.0.as_slice())
        .bind(sequence)
        .execute(connection)
        .await?;
    Ok(done > 0)
}

/// Binds all of a cell that may change, in the order of its columns: 18 parameters.
pub(super) fn with_state<'q>(query: Query<'q>, cell: &'q Cell) -> Query<'q> {
    let session = cell.origin.session.map(SessionId::uuid);
    query
        .bind(cell.content.as_str())
        .bind(from_cell_type(cell.cell_type))
        .bind(cell.salience.get())
        .bind(cell.confidence.get())
        .bind(from_visibility(cell.visibility))
        .bind(from_status(cell.status))
        .bind(i64::from(cell.revision))
        .bind(i64::from(cell.content_revision))
        .bind(cell.topic.as_ref().map(Topic::as_str))
        .bind(from_tags(&cell.tags))
        .bind(cell.validity.from().map(from_time))
        .bind(cell.validity.until().map(from_time))
        .bind(cell.verified_at.map(from_time))
        .bind(from_source(cell.origin.source))
        .bind(session)
        .bind(cell.origin.position.map(i64::from))
        .bind(cell.origin.said_at.map(from_time))
        .bind(from_time(cell.updated_at))
}

/// Where a cell that cannot be kept lies.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Own {
    /// Its project; none is the scope's own.
    pub(super) project: Option<i64>,
    /// Its id, if it is there and so is no twin of itself.
    pub(super) id: Option<CellId>,
}

/// Returns the active cell that says the same to the same people, or else the one that stands
/// for the same topic.
pub(super) async fn twin(
    connection: &mut Connection,
    scope: &Scope,
    cell: &Cell,
    fingerprint: Fingerprint,
    own: Own,
) -> Result<Stop, Fault> {
    let same = same_cell(connection, scope, cell, fingerprint, own).await?;
    if let Some(id) = same {
        return Ok(Some(Committed::Same(id)));
    }
    let taken = cell_of_topic(connection, scope, cell, own).await?;
    Ok(taken.map(Committed::TopicTaken))
}

/// The people who see a cell, as the last column but one of both unique indexes has them.
fn only_for(cell: &Cell) -> Vec<u8> {
    match cell.visibility {
        Visibility::Private => cell.author.uuid().as_bytes().to_vec(),
        Visibility::Project | Visibility::Shared => Vec::new(),
    }
}

/// The condition names the columns of the index `cells_say_it_once`.
async fn same_cell(
    connection: &mut Connection,
    scope: &Scope,
    cell: &Cell,
    fingerprint: Fingerprint,
    own: Own,
) -> Result<Option<CellId>, Fault> {
    const SQL: Sql = sql!(
        "select cell_id from cells
         where tenant_id = $1 and project_no = coalesce($4, ",
        own_project!(),
        ") and cell_type = $5 and layer = $6 and visibility = $7
         and (case when visibility = 0 then author else x'' end) = $8
         and fingerprint = $9 and status = 0 and cell_id is distinct from $10 and ",
        visible!("")
    );
    let row = scoped(SQL, scope)
        .bind(own.project)
        .bind(from_cell_type(cell.cell_type))
        .bind(from_layer(cell.layer))
        .bind(from_visibility(cell.visibility))
        .bind(only_for(cell))
        .bind(fingerprint.0.as_slice())
        .bind(own.id.map(CellId::uuid))
        .fetch_optional(connection)
        .await?;
    let id = row.map(|row| Columns(&row).id(0)).transpose()?;
    Ok(id.map(CellId::new))
}

/// The condition names the columns of the index `cells_one_a_topic`.
async fn cell_of_topic(
    connection: &mut Connection,
    scope: &Scope,
    cell: &Cell,
    own: Own,
) -> Result<Option<CellId>, Fault> {
    const SQL: Sql = sql!(
        "select cell_id from cells
         where tenant_id = $1 and project_no = coalesce($4, ",
        own_project!(),
        ") and visibility = $5 and (case when visibility = 0 then author else x'' end) = $6
         and topic = $7 and status = 0 and cell_id is distinct from $8 and ",
        visible!("")
    );
    let Some(topic) = &cell.topic else {
        return Ok(None);
    };
    let row = scoped(SQL, scope)
        .bind(own.project)
        .bind(from_visibility(cell.visibility))
        .bind(only_for(cell))
        .bind(topic.as_str())
        .bind(own.id.map(CellId::uuid))
        .fetch_optional(connection)
        .await?;
    let id = row.map(|row| Columns(&row).id(0)).transpose()?;
    Ok(id.map(CellId::new))
}
