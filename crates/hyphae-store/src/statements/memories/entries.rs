//! What recall needs of cells, in the order in which it changed.

use hyphae_core::{
    cell::Cell,
    ids::{CellId, CredentialId},
    ports::{Change, ChosenModel, Derived, Entry, Sequence},
    recall::Terms,
    scope::Scope,
};
use uuid::Uuid;

use super::{
    kept::{EntryKey, Kept},
    limit_of,
};
use crate::{
    error::{BadRow, Fault},
    sql::{Connection, Sql, either, sql},
    statements::{
        facts::{Facts, from_vector, part, to_vector},
        row::{Columns, from_visibility},
        scope::{own_project, scoped, visible},
    },
};

/// Rows of a file that are read in one piece: a few hundred kilobytes, a few megabytes if all
/// texts are as long as they may be. To a server, each further piece would be a further way.
const PIECE: usize = 256;

/// Reads changes in pieces. A cell that changes between two pieces is told twice, the second
/// time as it is then.
pub(crate) async fn changes(
    connection: &mut Connection,
    scope: &Scope,
    after: Sequence,
    limit: usize,
    model: &ChosenModel,
) -> Result<Vec<Change>, Fault> {
    let mut changes = Vec::new();
    let mut after = after;
    while changes.len() < limit {
        let left = limit - changes.len();
        let wanted = if connection.is_far() {
            left
        } else {
            left.min(PIECE)
        };
        let found = piece(connection, scope, after, wanted, model, &mut changes).await?;
        if found < wanted {
            break;
        }
        after = changes.last().map_or(after, |change| change.sequence);
    }
    Ok(changes)
}

/// What stands in the place of a part that is missing: its length, which is 0.
macro_rules! no_part {
    () => {
        either!("x'00000000'", "'\\x00000000'::bytea")
    };
}

/// The columns of one arm of a read.
macro_rules! frames {
    ($own_project:expr, $which:expr) => {
        concat!(
            "select sequence,
             cell_id || author || ",
            $own_project,
            " || coalesce(case when ",
            visible!(""),
            " and model_no = (
                     select t.model_no from tenants t
                     join models m on m.tenant_id = t.tenant_id and m.model_no = t.model_no
                     where t.tenant_id = $1 and m.name = $6 and m.dimension = $7)
                 then vector end, ",
            no_part!(),
            ") || coalesce(case when ",
            visible!(""),
            " then facts end, ",
            no_part!(),
            ") as frame
             from recall_entries
             where tenant_id = $1 and sequence > $4 and ",
            $which
        )
    };
}

/// Reads at most `limit` changes and returns how many there were.
///
/// All of them come as one row, because a row that is handed over to us costs ten times what
/// SQLite needs to find it. `||` and `group_concat` join blobs byte by byte, and a cast to a blob
/// gives the bytes back; a vector and the facts begin with their lengths. The first arm reads a
/// project's range in order, the second the tenant's few shared cells of other projects; SQLite
/// merges them without sorting.
async fn piece(
    connection: &mut Connection,
    scope: &Scope,
    after: Sequence,
    limit: usize,
    model: &ChosenModel,
    changes: &mut Vec<Change>,
) -> Result<usize, Fault> {
    const SQL: Sql = sql!(
        "select ",
        either!(
            "group_concat(sequence, ','), cast(group_concat(frame, '') as blob)",
            "string_agg(sequence::text, ',' order by sequence),
             string_agg(frame, ''::bytea order by sequence)"
        ),
        " from (",
        frames!(
            either!("x'01'", "'\\x01'::bytea"),
            concat!(
                "project_no = ",
                own_project!(),
                " and (reach > 0 or author = $3)"
            )
        ),
        " union all ",
        frames!(
            either!("x'00'", "'\\x00'::bytea"),
            concat!("reach = 2 and project_no is distinct from ", own_project!())
        ),
        " order by 1 limit $5 + 0) changed"
    );
    let row = scoped(SQL, scope)
        .bind(i64::try_from(after.0).unwrap_or(i64::MAX))
        .bind(limit_of(limit))
        .bind(model.id.as_str())
        .bind(i64::try_from(model.dimension).unwrap_or(i64::MAX))
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
    let (author, frames) = frames.split_first_chunk().ok_or(BadRow { what })?;
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
            status: facts.status,
            own_project: own_project == 1,
            author: CredentialId::new(Uuid::from_bytes(*author)),
            salience: facts.salience,
            created_at: facts.created_at,
            updated_at: facts.updated_at,
            validity: facts.validity,
            tags: facts.tags,
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
pub(super) async fn add(
    connection: &mut Connection,
    scope: &Scope,
    cell: &Cell,
    derived: &Derived,
    sequence: i64,
    model: i64,
) -> Result<(), Fault> {
    const SQL: Sql = sql!(
        "insert into recall_entries (tenant_id, project_no, author, sequence, cell_id,
             visibility, reach, model_no, vector, facts)
         values ($1, ",
        own_project!(),
        ", $3, $4, $5, $6, $6, $7, $8, $9)"
    );
    let (terms, context) = (derived.terms.clone(), derived.context.clone());
    scoped(SQL, scope)
        .bind(sequence)
        .bind(cell.id.uuid())
        .bind(from_visibility(cell.visibility))
        .bind(model)
        .bind(from_vector(&derived.vector))
        .bind(facts_of(cell, terms, context).to_bytes())
        .execute_later(connection)
        .await
}

/// Brings the entry of a cell to its next state, which moves it to the end of the order. An
/// inactive cell keeps all of it: it may be asked for.
pub(super) async fn replace(
    connection: &mut Connection,
    scope: &Scope,
    kept: &Kept,
    next: &Cell,
    derived: Option<&Derived>,
    sequence: i64,
    model: i64,
) -> Result<(), Fault> {
    const SQL: Sql = sql!(
        "update recall_entries
         set sequence = $4, visibility = $5, reach = ",
        either!("max(reach, $5)", "greatest(reach, $5)"),
        ", facts = $6,
             model_no = coalesce($7, model_no), vector = coalesce($8, vector)
         where project_no = $9 and sequence = $10 and ",
        visible!("")
    );
    let (terms, context) = match derived {
        Some(derived) => (derived.terms.clone(), derived.context.clone()),
        None => words(connection, scope, kept).await?,
    };
    let done = scoped(SQL, scope)
        .bind(sequence)
        .bind(from_visibility(next.visibility))
        .bind(facts_of(next, terms, context).to_bytes())
        .bind(derived.map(|_| model))
        .bind(derived.map(|derived| from_vector(&derived.vector)))
        .bind(kept.entry.project)
        .bind(kept.entry.sequence)
        .execute(connection)
        .await?;
    changed_one(done)
}

/// Returns the words of a cell's text and of what surrounds it.
async fn words(
    connection: &mut Connection,
    scope: &Scope,
    kept: &Kept,
) -> Result<(Terms, Terms), Fault> {
    const SQL: Sql = sql!(
        "select facts from recall_entries where project_no = $4 and sequence = $5 and ",
        visible!("")
    );
    let what = "recall entry";
    let row = scoped(SQL, scope)
        .bind(kept.entry.project)
        .bind(kept.entry.sequence)
        .fetch_optional(connection)
        .await?
        .ok_or(BadRow { what })?;
    let facts = Columns(&row).get::<Option<&[u8]>>(0, what)?;
    let (facts, _) = facts.and_then(part).ok_or(BadRow { what })?;
    let facts = Facts::from_part(facts)?;
    Ok((facts.terms, facts.context))
}

/// Leaves of an entry only that the cell is gone.
pub(super) async fn clear(
    connection: &mut Connection,
    scope: &Scope,
    key: EntryKey,
    sequence: i64,
) -> Result<(), Fault> {
    const SQL: Sql = sql!(
        "update recall_entries set sequence = $4, facts = null, vector = null, model_no = null
         where project_no = $5 and sequence = $6 and ",
        visible!("")
    );
    let done = scoped(SQL, scope)
        .bind(sequence)
        .bind(key.project)
        .bind(key.sequence)
        .execute(connection)
        .await?;
    changed_one(done)
}

fn changed_one(done: u64) -> Result<(), Fault> {
    if done == 0 {
        return Err(Fault::BadRow(BadRow {
            what: "recall entry",
        }));
    }
    Ok(())
}

fn facts_of(cell: &Cell, terms: Terms, context: Terms) -> Facts {
    Facts {
        cell_type: cell.cell_type,
        layer: cell.layer,
        visibility: cell.visibility,
        revision: cell.revision,
        salience: cell.salience,
        updated_at: cell.updated_at,
        fingerprint: cell.content.fingerprint(),
        status: cell.status,
        created_at: cell.created_at,
        validity: cell.validity,
        tags: cell.tags.clone(),
        terms,
        context,
    }
}
