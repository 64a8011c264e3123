//! Work on all of a tenant's cells, whoever wrote them: vectors of a new model, and counts.

use hyphae_core::{
    ids::{CellId, TenantId},
    ports::{ChosenModel, StaleVector, Statistics},
    recall::Vector,
};

use super::{kept::EntryKey, limit_of};
use crate::{
    error::{BadRow, Fault},
    sql::{Connection, Sql, sql},
    statements::{
        facts::from_vector,
        models::{check_dimension, take_turns},
        row::Columns,
        scope::of_tenant,
    },
};

/// Vectors of another model than the tenant's, as two ranges of the index on models.
macro_rules! stale {
    ($columns:literal) => {
        concat!(
            "select ",
            $columns,
            " from recall_entries where tenant_id = $1 and model_no <
                 (select model_no from tenants where tenant_id = $1)
             union all
             select ",
            $columns,
            " from recall_entries where tenant_id = $1 and model_no >
                 (select model_no from tenants where tenant_id = $1)"
        )
    };
}

pub(crate) async fn stale_vectors(
    connection: &mut Connection,
    tenant: TenantId,
    limit: usize,
) -> Result<Vec<StaleVector>, Fault> {
    const SQL: Sql = sql!(
        "select c.cell_id, c.revision, c.embedded_text
         from (select cell_id from (",
        stale!("cell_id"),
        ") old limit $2 + 0) s
         cross join cells c on c.tenant_id = $1 and c.cell_id = s.cell_id"
    );
    let rows = of_tenant(SQL, tenant)
        .bind(limit_of(limit))
        .fetch_all(connection)
        .await?;
    rows.iter()
        .map(|row| {
            let row = Columns(row);
            Ok(StaleVector {
                id: CellId::new(row.id(0)?),
                revision: row.count(1, "revision")?,
                embedded_text: row.get(2, "embedded text")?,
            })
        })
        .collect()
}

pub(crate) async fn replace_vectors(
    connection: &mut Connection,
    tenant: TenantId,
    model: &ChosenModel,
    vectors: &[(CellId, u32, Vector)],
) -> Result<(), Fault> {
    for (_, _, vector) in vectors {
        check_dimension(model, vector)?;
    }
    let mut turns = take_turns(connection, tenant, vectors.len()).await?;
    let model = turns.model(connection, tenant, model).await?;
    for (sequence, (id, revision, vector)) in (turns.first..).zip(vectors) {
        let Some(key) = advance(connection, tenant, *id, *revision, sequence).await? else {
            continue;
        };
        replace(connection, tenant, key, sequence, model, vector).await?;
    }
    Ok(())
}

/// Gives a cell a new place in the order of changes and returns its old one; none if it
/// is not at this revision.
async fn advance(
    connection: &mut Connection,
    tenant: TenantId,
    id: CellId,
    revision: u32,
    sequence: i64,
) -> Result<Option<EntryKey>, Fault> {
    let row = of_tenant(
        sql!(
            "select project_no, sequence from cells
             where tenant_id = $1 and cell_id = $2 and revision = $3"
        ),
        tenant,
    )
    .bind(id.uuid())
    .bind(i64::from(revision))
    .fetch_optional(&mut *connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let key = EntryKey {
        project: Columns(&row).get(0, "project")?,
        sequence: Columns(&row).get(1, "sequence")?,
    };
    set_sequence(connection, tenant, id, sequence).await?;
    Ok(Some(key))
}

async fn set_sequence(
    connection: &mut Connection,
    tenant: TenantId,
    id: CellId,
    sequence: i64,
) -> Result<(), Fault> {
    let sql = sql!("update cells set sequence = $3 where tenant_id = $1 and cell_id = $2");
    of_tenant(sql, tenant)
        .bind(id.uuid())
        .bind(sequence)
        .execute(connection)
        .await?;
    Ok(())
}

async fn replace(
    connection: &mut Connection,
    tenant: TenantId,
    key: EntryKey,
    sequence: i64,
    model: i64,
    vector: &Vector,
) -> Result<(), Fault> {
    let sql = sql!(
        "update recall_entries set sequence = $4, model_no = $5, vector = $6
         where tenant_id = $1 and project_no = $2 and sequence = $3"
    );
    let done = of_tenant(sql, tenant)
        .bind(key.project)
        .bind(key.sequence)
        .bind(sequence)
        .bind(model)
        .bind(from_vector(vector))
        .execute(connection)
        .await?;
    if done == 0 {
        return Err(Fault::BadRow(BadRow {
            what: "recall entry",
        }));
    }
    Ok(())
}

pub(crate) async fn statistics(
    connection: &mut Connection,
    tenant: TenantId,
) -> Result<Statistics, Fault> {
    const SQL: Sql = sql!(
        "select
             (select count(*) from cells where tenant_id = $1 and status = 0),
             (select count(*) from sessions where tenant_id = $1),
             (select count(*) from projects p where p.tenant_id = $1 and exists (
                 select 1 from cells c
                 where c.tenant_id = $1 and c.project_no = p.project_no and c.status = 0)),
             (select count(*) from (",
        stale!("1"),
        ") old),
             (select count(*) from conflicts where tenant_id = $1 and verdict is null)"
    );
    let row = of_tenant(SQL, tenant).fetch_one(connection).await?;
    let row = Columns(&row);
    Ok(Statistics {
        cells: row.count(0, "count")?,
        sessions: row.count(1, "count")?,
        projects: row.count(2, "count")?,
        stale_vectors: row.count(3, "count")?,
        conflicts: row.count(4, "count")?,
    })
}
