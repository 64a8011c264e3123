//! Links that somebody gave. They are edges with an id, seen by those who see both ends.

use hyphae_core::{
    ids::{CellId, CredentialId, EdgeId},
    ports::Committed,
    relation::Relation,
    scope::Scope,
};
use uuid::Uuid;

use super::{
    commit::{Ledger, Stop},
    uuids,
};
use crate::{
    error::{BadRow, Fault},
    sql::{Connection, Row, Sql, each, sql},
    statements::{
        row::{Columns, from_relation_kind, from_time, to_relation_kind, to_share},
        scope::{both_ends, scoped, visible},
    },
};

pub(super) async fn relate(
    connection: &mut Connection,
    scope: &Scope,
    relation: &Relation,
    ledger: &mut Ledger,
) -> Result<Stop, Fault> {
    for end in [relation.from, relation.to] {
        if !is_there(connection, scope, end).await? {
            return Ok(Some(Committed::Changed(end)));
        }
    }
    let id = match find(connection, scope, relation).await? {
        Some((id, true)) => return Ok(Some(Committed::SameRelation(id))),
        Some((id, false)) => {
            bring_back(connection, scope, id, relation).await?;
            id
        }
        None => {
            add(connection, scope, relation).await?;
            relation.id
        }
    };
    ledger.touch([id.uuid(), relation.from.uuid(), relation.to.uuid()]);
    Ok(None)
}

/// Tells whether the scope sees a cell.
pub(super) async fn is_there(
    connection: &mut Connection,
    scope: &Scope,
    id: CellId,
) -> Result<bool, Fault> {
    const SQL: Sql = sql!("select 1 from cells where cell_id = $4 and ", visible!(""));
    let row = scoped(SQL, scope)
        .bind(id.uuid())
        .fetch_optional(connection)
        .await?;
    Ok(row.is_some())
}

/// Returns the relation of this kind between these cells, and whether it holds.
async fn find(
    connection: &mut Connection,
    scope: &Scope,
    relation: &Relation,
) -> Result<Option<(EdgeId, bool)>, Fault> {
    const SQL: Sql = sql!(
        "select e.edge_id, e.active from edges e",
        both_ends!("e.src", "e.dst"),
        "where e.tenant_id = $1 and e.src = $4 and e.kind = $5 and e.dst = $6"
    );
    let row = scoped(SQL, scope)
        .bind(relation.from.uuid())
        .bind(from_relation_kind(relation.kind))
        .bind(relation.to.uuid())
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else { return Ok(None) };
    let row = Columns(&row);
    Ok(Some((EdgeId::new(row.id(0)?), row.get(1, "link")?)))
}

async fn add(connection: &mut Connection, scope: &Scope, relation: &Relation) -> Result<(), Fault> {
    let sql = sql!(
        "insert into edges (tenant_id, edge_id, src, kind, dst, weight, author, created_at,
             reason, active)
         values ($1, $4, $5, $6, $7, $8, $9, $10, $11, $12)"
    );
    scoped(sql, scope)
        .bind(relation.id.uuid())
        .bind(relation.from.uuid())
        .bind(from_relation_kind(relation.kind))
        .bind(relation.to.uuid())
        .bind(relation.weight.get())
        .bind(relation.author.uuid())
        .bind(from_time(relation.created_at))
        .bind(relation.reason.as_deref())
        .bind(relation.active)
        .execute(connection)
        .await?;
    Ok(())
}

async fn bring_back(
    connection: &mut Connection,
    scope: &Scope,
    id: EdgeId,
    relation: &Relation,
) -> Result<(), Fault> {
    let sql = sql!(
        "update edges set weight = $5, author = $6, created_at = $7, reason = $8, active = true
         where tenant_id = $1 and edge_id = $4"
    );
    scoped(sql, scope)
        .bind(id.uuid())
        .bind(relation.weight.get())
        .bind(relation.author.uuid())
        .bind(from_time(relation.created_at))
        .bind(relation.reason.as_deref())
        .execute(connection)
        .await?;
    Ok(())
}

pub(super) async fn set(
    connection: &mut Connection,
    scope: &Scope,
    id: EdgeId,
    active: bool,
    ledger: &mut Ledger,
) -> Result<Stop, Fault> {
    let sql = sql!("update edges set active = $5 where tenant_id = $1 and edge_id = $4");
    let relation = relations_by_id(connection, scope, &[id]).await?.pop();
    let Some(relation) = relation.filter(|relation| relation.active != active) else {
        return Ok(Some(Committed::RelationGone(id)));
    };
    scoped(sql, scope)
        .bind(id.uuid())
        .bind(active)
        .execute(connection)
        .await?;
    ledger.touch([id.uuid(), relation.from.uuid(), relation.to.uuid()]);
    Ok(None)
}

pub(super) async fn erase(
    connection: &mut Connection,
    scope: &Scope,
    id: EdgeId,
    ledger: &mut Ledger,
) -> Result<Stop, Fault> {
    let sql = sql!("delete from edges where tenant_id = $1 and edge_id = $4");
    let Some(relation) = relations_by_id(connection, scope, &[id]).await?.pop() else {
        return Ok(Some(Committed::RelationGone(id)));
    };
    scoped(sql, scope)
        .bind(id.uuid())
        .execute(connection)
        .await?;
    ledger.touch([id.uuid(), relation.from.uuid(), relation.to.uuid()]);
    Ok(None)
}

/// The columns of `edges e` that [`to_relation`] reads.
macro_rules! relation_columns {
    () => {
        "e.edge_id, e.src, e.kind, e.dst, e.weight, e.author, e.created_at, e.reason, e.active"
    };
}
pub(super) use relation_columns;

pub(crate) async fn relations(
    connection: &mut Connection,
    scope: &Scope,
    ids: &[CellId],
    retracted: bool,
) -> Result<Vec<Relation>, Fault> {
    const SQL: Sql = sql!(
        "select ",
        relation_columns!(),
        " from (
             select o.edge_id from ",
        each!("$4"),
        "
             cross join edges o
                 on o.tenant_id = $1 and o.src = unhex(n.value) and o.kind >= 4
             union
             select i.edge_id from ",
        each!("$4"),
        "
             cross join edges i
                 on i.tenant_id = $1 and i.dst = unhex(n.value) and i.kind >= 4
         ) near
         cross join edges e on e.tenant_id = $1 and e.edge_id = near.edge_id",
        both_ends!("e.src", "e.dst"),
        "where (e.active or $5) order by e.created_at, e.edge_id"
    );
    let rows = scoped(SQL, scope)
        .bind(uuids(ids))
        .bind(retracted)
        .fetch_all(connection)
        .await?;
    Ok(rows.iter().map(to_relation).collect::<Result<_, _>>()?)
}

pub(crate) async fn relations_by_id(
    connection: &mut Connection,
    scope: &Scope,
    ids: &[EdgeId],
) -> Result<Vec<Relation>, Fault> {
    const SQL: Sql = sql!(
        "select ",
        relation_columns!(),
        " from ",
        each!("$4"),
        "
         cross join edges e on e.tenant_id = $1 and e.edge_id = unhex(n.value)",
        both_ends!("e.src", "e.dst"),
        "order by n.key"
    );
    let rows = scoped(SQL, scope)
        .bind(ids.iter().map(|id| id.uuid()).collect::<Vec<_>>())
        .fetch_all(connection)
        .await?;
    Ok(rows.iter().map(to_relation).collect::<Result<_, _>>()?)
}

pub(super) fn to_relation(row: &Row) -> Result<Relation, BadRow> {
    let row = Columns(row);
    let id = |index| -> Result<Uuid, BadRow> { row.id(index) };
    Ok(Relation {
        id: EdgeId::new(id(0)?),
        from: CellId::new(id(1)?),
        kind: to_relation_kind(row.get(2, "kind of link")?)?,
        to: CellId::new(id(3)?),
        weight: to_share(row.get(4, "weight")?, "weight")?,
        author: CredentialId::new(id(5)?),
        created_at: row.time(6)?,
        reason: row.get(7, "reason")?,
        active: row.get(8, "link")?,
    })
}
