//! The embedding model that a tenant's vectors belong to.

use hyphae_core::{
    ids::TenantId,
    ports::{ChosenModel, StoreError},
    recall::Vector,
};
use sqlx::sqlite::SqliteConnection;

use super::{
    error::{BadRow, Fault},
    row::Columns,
    scope::of_tenant,
};

/// A tenant's place in the order of changes, and its model by number.
pub(crate) struct Turn {
    /// The sequence of this change.
    pub(crate) sequence: i64,
    /// The number of the model that the change's vector belongs to.
    pub(crate) model: i64,
}

pub(crate) async fn chosen(
    connection: &mut SqliteConnection,
    tenant: TenantId,
) -> Result<Option<ChosenModel>, Fault> {
    let sql = "select m.name, m.dimension from tenants t
         join models m on m.tenant_id = t.tenant_id and m.model_no = t.model_no
         where t.tenant_id = $1";
    let row = of_tenant(sql, tenant).fetch_optional(connection).await?;
    let Some(row) = row else { return Ok(None) };
    let row = Columns(&row);
    Ok(Some(ChosenModel {
        id: row.get(0, "model")?,
        dimension: row.count(1, "dimension")?,
    }))
}

/// Refuses a vector that cannot be of its model.
pub(crate) fn check_dimension(model: &ChosenModel, vector: &Vector) -> Result<(), Fault> {
    if vector.numbers.len() == model.dimension {
        Ok(())
    } else {
        Err(Fault::other("a vector is not as long as its model's are"))
    }
}

/// Takes the next `count` sequences for changes whose vectors belong to `model`, and returns the
/// first. A tenant without a model gets this one.
pub(crate) async fn take_turns(
    connection: &mut SqliteConnection,
    tenant: TenantId,
    model: &ChosenModel,
    count: usize,
) -> Result<Turn, Fault> {
    let count = i64::try_from(count).map_err(|_| Fault::other("too many changes at once"))?;
    let sql = "update tenants set sequence = sequence + $2 where tenant_id = $1
         returning sequence, model_no,
             (select name from models m
              where m.tenant_id = tenants.tenant_id and m.model_no = tenants.model_no),
             (select dimension from models m
              where m.tenant_id = tenants.tenant_id and m.model_no = tenants.model_no)";
    let row = of_tenant(sql, tenant)
        .bind(count)
        .fetch_optional(&mut *connection)
        .await?
        .ok_or_else(|| Fault::other("there is no such tenant"))?;
    let row = Columns(&row);
    let sequence = row.get::<i64>(0, "sequence")? - count + 1;
    let Some(number) = row.get::<Option<i64>>(1, "model")? else {
        let model = choose(connection, tenant, model).await?;
        return Ok(Turn { sequence, model });
    };
    let kept = ChosenModel {
        id: row.get(2, "model")?,
        dimension: row.count(3, "dimension")?,
    };
    if kept != *model {
        return Err(Fault::Store(StoreError::OtherModel {
            found: kept.id,
            wanted: model.id.clone(),
        }));
    }
    Ok(Turn {
        sequence,
        model: number,
    })
}

/// Makes this the tenant's model and returns its number.
pub(crate) async fn choose(
    connection: &mut SqliteConnection,
    tenant: TenantId,
    model: &ChosenModel,
) -> Result<i64, Fault> {
    let dimension = i64::try_from(model.dimension)
        .map_err(|_| Fault::other("a vector of that many numbers"))?;
    add(connection, tenant, &model.id, dimension).await?;
    let number = number_of(connection, tenant, &model.id, dimension).await?;
    let sql = "update tenants set model_no = $2 where tenant_id = $1";
    of_tenant(sql, tenant)
        .bind(number)
        .execute(connection)
        .await?;
    Ok(number)
}

async fn add(
    connection: &mut SqliteConnection,
    tenant: TenantId,
    name: &str,
    dimension: i64,
) -> Result<(), Fault> {
    let sql = "insert into models (tenant_id, model_no, name, dimension)
         select $1, coalesce(max(model_no), 0) + 1, $2, $3 from models where tenant_id = $1
         on conflict (tenant_id, name, dimension) do nothing";
    of_tenant(sql, tenant)
        .bind(name)
        .bind(dimension)
        .execute(connection)
        .await?;
    Ok(())
}

async fn number_of(
    connection: &mut SqliteConnection,
    tenant: TenantId,
    name: &str,
    dimension: i64,
) -> Result<i64, Fault> {
    let sql = "select model_no from models where tenant_id = $1 and name = $2 and dimension = $3";
    let row = of_tenant(sql, tenant)
        .bind(name)
        .bind(dimension)
        .fetch_optional(connection)
        .await?
        .ok_or(BadRow { what: "model" })?;
    Ok(Columns(&row).get(0, "model")?)
}
