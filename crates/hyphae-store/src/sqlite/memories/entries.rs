//! What recall needs of cells, in the order in which it changed.

use hyphae_core::{
    cell::Cell,
    ids::CellId,
    ports::{Change, Entry, NewCell, Sequence},
    scope::Scope,
};
use sqlx::sqlite::SqliteConnection;
use uuid::Uuid;

use crate::sqlite::{
    error::{BadRow, Fault},
    facts::{Facts, from_vector, part, to_vector},
    models::Turn,
    row::{Columns, from_visibility},
    scope::{own_project, scoped, visible},
};

/// Rows that are read in one piece: a few hundred kilobytes, a few megabytes if all texts are as
/// long as they may be.
const PIECE: usize = 256;

/// Reads changes in pieces. A cell that changes between two pieces is told twice, the second
/// time as it is then.
pub(crate) async fn changes(
    connection: &mut SqliteConnection,
    scope: &Scope,
    after: Sequence,
    limit: usize,
) -> Result<Vec<Change>, Fault> {
    let mut changes = Vec::new();
    let mut after = after;
    while changes.len() < limit {
        let wanted = PIECE.min(limit - changes.len());
        let found = piece(connection, scope, after, wanted, &mut changes).await?;
        if found < wanted {
            break;
        }
        after = changes.last().map_or(after, |change| change.sequence);
    }
    Ok(changes)
}

/// Reads at most `limit` changes and returns how many there were.
///
/// All of them come as one row, because a row that is handed over to us costs ten times what
/// SQLite needs to find it. `||` and `group_concat` join blobs byte by byte, and a cast to a blob
/// gives the bytes back; a vector and the facts begin with their lengths. The first arm reads a
/// project's range in order, the second the tenant's few shared cells of other projects; SQLite
/// merges them without sorting.
async fn piece(
    connection: &mut SqliteConnection,
    scope: &Scope,
    after: Sequence,
    limit: usize,
    changes: &mut Vec<Change>,
) -> Result<usize, Fault> {
    const SQL: &str = concat!(
        "select group_concat(sequence, ','), cast(group_concat(frame, '') as blob) from (
             select sequence, cell_id || x'01' || coalesce(case when ",
        visible!(""),
        " and model_no = (select model_no from tenants where tenant_id = $1)
                 then vector end, x'00000000') || coalesce(case when ",
        visible!(""),
        " then facts end, x'00000000') as frame
             from recall_entries
             where tenant_id = $1 and project_no = ",
        own_project!(),
        " and sequence > $4 and (reach > 0 or author = $3)
             union all
             select sequence, cell_id || x'00' || coalesce(case when ",
        visible!(""),
        " and model_no = (select model_no from tenants where tenant_id = $1)
                 then vector end, x'00000000') || coalesce(case when ",
        visible!(""),
        " then facts end, x'00000000')
             from recall_entries
             where tenant_id = $1 and reach = 2 and sequence > $4 and project_no is not ",
        own_project!(),
        " order by 1 limit $5 + 0
         )"
    );
    let row = scoped(SQL, scope)
        .bind(i64::try_from(after.0).unwrap_or(i64::MAX))
        .bind(i64::try_from(limit).unwrap_or(i64::MAX))
        .fetch_one(connection)
        .await?;
    let row = Columns(&row);
    let sequences: Option<&str> = row.get(0, "sequence")?;
    let frames: Option<&[u8]> = row.get(1, "recall entry")?;
    let before = changes.len();
    let mut rest = frames.unwrap_or_default();
    for sequence in sequences.into_iter().flat_map(|all| all.split(',')) {
        let sequence = sequence.parse().map_err(|_| BadRow { what: "sequence" })?;
        let (change, further) = to_change(Sequence(sequence), rest)?;
        changes.push(change);
        rest = further;
    }
    let found = &changes[before..];
    if !rest.is_empty() || !found.is_sorted_by(|a, b| a.sequence < b.sequence) {
        return Err(BadRow { what: "sequence" }.into());
    }
    Ok(found.len())
}

/// Reads a change from the beginning of `frames` and returns what lies behind it.
fn to_change(sequence: Sequence, frames: &[u8]) -> Result<(Change, &[u8]), BadRow> {
    let what = "recall entry";
    let (id, frames) = frames.split_first_chunk().ok_or(BadRow { what })?;
    let (&[own_project], frames) = frames.split_first_chunk().ok_or(BadRow { what })?;
    let (vector, frames) = part(frames).ok_or(BadRow { what })?;
    let (facts, frames) = part(frames).ok_or(BadRow { what })?;
    let entry = if facts.is_empty() {
        None
    } else {
        let facts = Facts::from_part(facts)?;
        let has_vector = !vector.is_empty();
        Some(Entry {
            revision: facts.revision,
            cell_type: facts.cell_type,
            layer: facts.layer,
            visibility: facts.visibility,
            own_project: own_project == 1,
            salience: facts.salience,
            updated_at: facts.updated_at,
            fingerprint: facts.fingerprint,
            vector: has_vector.then(|| to_vector(vector)).transpose()?,
            terms: facts.terms,
            context: facts.context,
        })
    };
    let id = CellId::new(Uuid::from_bytes(*id));
    let change = Change {
        sequence,
        id,
        entry,
    };
    Ok((change, frames))
}

/// Writes the entry of a new cell.
pub(crate) async fn add(
    connection: &mut SqliteConnection,
    scope: &Scope,
    new: &NewCell,
    turn: &Turn,
) -> Result<(), Fault> {
    const SQL: &str = concat!(
        "insert into recall_entries (tenant_id, project_no, author, sequence, cell_id,
             visibility, reach, model_no, vector, facts)
         values ($1, ",
        own_project!(),
        ", $3, $4, $5, $6, $6, $7, $8, $9)"
    );
    scoped(SQL, scope)
        .bind(turn.sequence)
        .bind(new.cell.id.uuid().as_bytes().as_slice())
        .bind(from_visibility(new.cell.visibility))
        .bind(turn.model)
        .bind(from_vector(&new.vector))
        .bind(facts_of(&new.cell, new).to_bytes())
        .execute(connection)
        .await?;
    Ok(())
}

/// Where an entry lies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EntryKey {
    pub(crate) project: i64,
    pub(crate) sequence: i64,
}

/// Replaces the text's part of an entry, which moves to the end of the order.
pub(crate) async fn replace(
    connection: &mut SqliteConnection,
    scope: &Scope,
    key: EntryKey,
    new: &NewCell,
    facts: &Facts,
    turn: &Turn,
) -> Result<(), Fault> {
    const SQL: &str = concat!(
        "update recall_entries set sequence = $4, model_no = $5, vector = $6, facts = $7
         where project_no = $8 and sequence = $9 and ",
        visible!("")
    );
    let done = scoped(SQL, scope)
        .bind(turn.sequence)
        .bind(turn.model)
        .bind(from_vector(&new.vector))
        .bind(facts.to_bytes())
        .bind(key.project)
        .bind(key.sequence)
        .execute(connection)
        .await?;
    if done.rows_affected() == 0 {
        return Err(Fault::BadRow(BadRow {
            what: "recall entry",
        }));
    }
    Ok(())
}

/// Returns what recall needs of `cell`, whose text is now that of `new`.
pub(crate) fn facts_of(cell: &Cell, new: &NewCell) -> Facts {
    Facts {
        cell_type: cell.cell_type,
        layer: cell.layer,
        visibility: cell.visibility,
        revision: cell.revision,
        salience: cell.salience,
        updated_at: cell.updated_at,
        fingerprint: new.fingerprint,
        terms: new.terms.clone(),
        context: new.context.clone(),
    }
}
