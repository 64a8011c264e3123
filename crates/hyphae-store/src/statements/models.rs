//! A tenant's order of changes, and the embedding model that a tenant's vectors belong to.

use hyphae_core::{
    ids::TenantId,
    ports::{ChosenModel, Sequence, StoreError},
    recall::Vector,
};

use crate::{
    error::{BadRow, Fault},
    sql::{Connection, sql},
    statements::{row::Columns, scope::of_tenant},
};

/// The name of a model that no tenant ever chooses: whatever stands in the place of a vector that
/// is missing belongs to it, and is made again like that of any other model.
pub(crate) const NO_MODEL: &str = "none";

/// Places in a tenant's order of changes, and its model.
pub(crate) struct Turns {
    /// The first of the places.
    pub(crate) first: i64,
    model: Option<(i64, ChosenModel)>,
}

impl Turns {
    /// Tells whether the tenant has chosen a model.
    pub(crate) const fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// Returns the number of the model that vectors of these changes belong to. A tenant without
    /// a model gets this one.
    pub(crate) async fn model(
        &mut self,
        connection: &mut Connection,
        tenant: TenantId,
        model: &ChosenModel,
    ) -> Result<i64, Fault> {
        match &self.model {
            Some((number, kept)) if kept == model => Ok(*number),
            Some((_, kept)) => Err(Fault::Store(StoreError::OtherModel {
                found: kept.id.clone(),
                wanted: model.id.clone(),
            })),
            None => {
                let number = choose(connection, tenant, model).await?;
                self.model = Some((number, model.clone()));
                Ok(number)
            }
        }
    }
}

pub(crate) async fn chosen(
    connection: &mut Connection,
    tenant: TenantId,
) -> Result<Option<ChosenModel>, Fault> {
    let sql = sql!(
        "select m.name, m.dimension from tenants t
         join models m on m.tenant_id = t.tenant_id and m.model_no = t.model_no
         where t.tenant_id = $1"
    );
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

/// Takes the next `count` places in a tenant's order of changes.
pub(crate) async fn take_turns(
    connection: &mut Connection,
    tenant: TenantId,
    count: usize,
) -> Result<Turns, Fault> {
    let count = i64::try_from(count).map_err(|_| Fault::other("too many changes at once"))?;
    let sql = sql!(
        "update tenants set sequence = sequence + $2 where tenant_id = $1
         returning sequence, model_no,
             (select name from models m
              where m.tenant_id = $1 and m.model_no = tenants.model_no),
             (select dimension from models m
              where m.tenant_id = $1 and m.model_no = tenants.model_no)"
    );
    let row = of_tenant(sql, tenant)
        .bind(count)
        .fetch_optional(connection)
        .await?
        .ok_or_else(|| Fault::other("there is no such tenant"))?;
    let row = Columns(&row);
    let model = match row.get::<Option<i64>>(1, "model")? {
        Some(number) => {
            let model = ChosenModel {
                id: row.get(2, "model")?,
                dimension: row.count(3, "dimension")?,
            };
            Some((number, model))
        }
        None => None,
    };
    Ok(Turns {
        first: row.get::<i64>(0, "sequence")? - count + 1,
        model,
    })
}

/// Gives the last `count` places back that were taken and not used.
pub(crate) async fn give_back(
    connection: &mut Connection,
    tenant: TenantId,
    count: i64,
) -> Result<(), Fault> {
    let sql = sql!("update tenants set sequence = sequence - $2 where tenant_id = $1");
    of_tenant(sql, tenant)
        .bind(count)
        .execute(connection)
        .await?;
    Ok(())
}

/// Returns the newest place in a tenant's order of changes; 0 if nothing ever changed.
pub(crate) async fn newest(
    connection: &mut Connection,
    tenant: TenantId,
) -> Result<Sequence, Fault> {
    let sql = sql!("select sequence from tenants where tenant_id = $1");
    let row = of_tenant(sql, tenant).fetch_optional(connection).await?;
    let Some(row) = row else {
        return Ok(Sequence::default());
    };
    Ok(Sequence(Columns(&row).count(0, "sequence")?))
}

/// Returns the number of a model that a tenant may have vectors of, chosen or not.
pub(crate) async fn number(
    connection: &mut Connection,
    tenant: TenantId,
    model: &ChosenModel,
) -> Result<i64, Fault> {
    let dimension = i64::try_from(model.dimension)
        .map_err(|_| Fault::other("a vector of that many numbers"))?;
    add(connection, tenant, &model.id, dimension).await?;
    number_of(connection, tenant, &model.id, dimension).await
}

/// Makes this the tenant's model and returns its number.
pub(crate) async fn choose(
    connection: &mut Connection,
    tenant: TenantId,
    model: &ChosenModel,
) -> Result<i64, Fault> {
    let number = number(connection, tenant, model).await?;
    let sql = sql!("update tenants set model_no = $2 where tenant_id = $1");
    of_tenant(sql, tenant)
        .bind(number)
        .execute(connection)
        .await?;
    Ok(number)
}

async fn add(
    connection: &mut Connection,
    tenant: TenantId,
    name: &str,
    dimension: i64,
) -> Result<(), Fault> {
    let sql = sql!(
        "insert into models (tenant_id, model_no, name, dimension)
         select $1, coalesce(max(model_no), 0) + 1, $2, $3 from models where tenant_id = $1
         on conflict do nothing"
    );
    of_tenant(sql, tenant)
        .bind(name)
        .bind(dimension)
        .execute(connection)
        .await?;
    Ok(())
}

async fn number_of(
    connection: &mut Connection,
    tenant: TenantId,
    name: &str,
    dimension: i64,
) -> Result<i64, Fault> {
    let sql =
        sql!("select model_no from models where tenant_id = $1 and name = $2 and dimension = $3");
    let row = of_tenant(sql, tenant)
        .bind(name)
        .bind(dimension)
        .fetch_optional(connection)
        .await?
        .ok_or(BadRow { what: "model" })?;
    Ok(Columns(&row).get(0, "model")?)
}
