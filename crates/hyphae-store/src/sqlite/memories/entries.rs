//! What recall needs of cells, in the order in which it changed.

use hyphae_core::{
    cell::Cell,
    ids::CellId,
    ports::{Change, Entry, NewCell, Sequence},
    scope::Scope,
};
use sqlx::sqlite::{SqliteConnection, SqliteRow};

use crate::sqlite::{
    error::{BadRow, Fault},
    facts::{Facts, from_vector, to_vector},
    models::Turn,
    row::{Columns, from_visibility},
    scope::{own_project, scoped, visible},
};

/// Reads changes. The first arm reads a project's range in order, the second the tenant's few
/// shared cells of other projects; SQLite merges them without sorting.
pub(crate) async fn changes(
    connection: &mut SqliteConnection,
    scope: &Scope,
    after: Sequence,
    limit: usize,
) -> Result<Vec<Change>, Fault> {
    const SQL: &str = concat!(
        "select sequence, cell_id, 1,
             case when ",
        visible!(""),
        " and model_no = (select model_no from tenants where tenant_id = $1) then vector end,
             case when ",
        visible!(""),
        " then facts end
         from recall_entries
         where tenant_id = $1 and project_no = ",
        own_project!(),
        " and sequence > $4 and (reach > 0 or author = $3)
         union all
         select sequence, cell_id, 0,
             case when ",
        visible!(""),
        " and model_no = (select model_no from tenants where tenant_id = $1) then vector end,
             case when ",
        visible!(""),
        " then facts end
         from recall_entries
         where tenant_id = $1 and reach = 2 and sequence > $4 and project_no is not ",
        own_project!(),
        " order by 1 limit $5"
    );
    let rows = scoped(SQL, scope)
        .bind(i64::try_from(after.0).unwrap_or(i64::MAX))
        .bind(i64::try_from(limit).unwrap_or(i64::MAX))
        .fetch_all(connection)
        .await?;
    Ok(rows.iter().map(to_change).collect::<Result<_, _>>()?)
}

fn to_change(row: &SqliteRow) -> Result<Change, BadRow> {
    let row = Columns(row);
    let own_project = row.get::<i64>(2, "project")? != 0;
    let vector: Option<&[u8]> = row.get(3, "vector")?;
    let facts: Option<&[u8]> = row.get(4, "recall entry")?;
    let entry = match facts {
        None => None,
        Some(bytes) => {
            let facts = Facts::from_bytes(bytes)?;
            Some(Entry {
                revision: facts.revision,
                cell_type: facts.cell_type,
                layer: facts.layer,
                visibility: facts.visibility,
                own_project,
                salience: facts.salience,
                updated_at: facts.updated_at,
                fingerprint: facts.fingerprint,
                vector: vector.map(to_vector).transpose()?,
                terms: facts.terms,
                context: facts.context,
            })
        }
    };
    Ok(Change {
        sequence: Sequence(row.count(0, "sequence")?),
        id: CellId::new(row.id(1)?),
        entry,
    })
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
