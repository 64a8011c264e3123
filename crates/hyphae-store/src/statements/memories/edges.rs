//! Semantic links between cells, which nobody gave. A cell's links lead away from it; a link that two cells have
//! with each other is two rows, and either may go without the other.

use std::collections::BTreeSet;

use hyphae_core::{
    cell::Layer,
    ids::{CellId, TenantId},
    ports::{Link, NewLink, Seen},
    scope::Scope,
};
use uuid::Uuid;

use super::{hex, json, uuids};
use crate::{
    error::{BadRow, Fault},
    sql::{Connection, Query, Row, Sql, each, either, sql},
    statements::{
        row::Columns,
        scope::{of_tenant, scoped, visible},
    },
};

/// The most links of a cell `c`, by its layer: parameters `$2`, `$3` and `$4`.
macro_rules! degree {
    () => {
        "(case c.layer when 0 then $2 when 1 then $3 else $4 end)"
    };
}

/// The links of cell `$4` that a list names, as rows of `given`. What is not there, or not to be
/// seen, is passed over. `offset 0` has Postgres look for each end by its id, whatever it
/// believes of the number of cells; it learns that once a minute.
macro_rules! given_ends {
    () => {
        concat!(
            "with ends (dst, weight, back) as materialized (
                 select c.cell_id, ",
            $crate::sql::either!(
                "l.value ->> 1, l.value ->> 2",
                "(l.value ->> 1)::float8, (l.value ->> 2)::boolean"
            ),
            " from ",
            $crate::sql::either!(
                "json_each($5) l",
                "jsonb_array_elements($5::jsonb) l (value)"
            ),
            " cross join ",
            $crate::sql::either!("cells c on", "lateral (select c.cell_id from cells c where"),
            " c.cell_id = ",
            $crate::sql::either!("unhex(l.value ->> 0)", "decode(l.value ->> 0, 'hex')"),
            " and c.status = 0 and c.cell_id <> $4 and ",
            $crate::statements::scope::visible!("c."),
            $crate::sql::either!("", " offset 0) c on true"),
            "), given (src, dst, weight) as materialized (
                 select $4, dst, weight from ends
                 union all
                 select dst, $4, weight from ends where back)"
        )
    };
}

/// Holds for the semantic links that the rows of a list `(src, dst)` name. Postgres is led to them
/// by their ends: as long as it believes that there are few links (it looks once a minute), it
/// would rather read all of them.
macro_rules! named_in {
    ($list:literal) => {
        concat!(
            "tenant_id = $1 and kind = 0 and (src, dst) in (select src, dst from ",
            $list,
            ")",
            $crate::sql::either!(
                "",
                concat!(
                    " and src = any (array (select src from ",
                    $list,
                    ")) and dst = any (array (select dst from ",
                    $list,
                    "))"
                )
            )
        )
    };
}

/// Links a cell that is new with others, in both directions, and takes links away from those that
/// then have too many. Neighbours that are gone, or that the scope cannot see, are passed over.
pub(crate) async fn connect(
    connection: &mut Connection,
    scope: &Scope,
    id: CellId,
    links: &[NewLink],
) -> Result<(), Fault> {
    if links.is_empty() {
        return Ok(());
    }
    let given = Given::by(id, links)?;
    given.add(connection, scope).await?;
    given.prune(connection, scope).await
}

/// Links a cell with others as [`connect`] does, in the place of those that it leads to. Links
/// that others have with it stay; one that is given anew takes its weight.
pub(crate) async fn reconnect(
    connection: &mut Connection,
    scope: &Scope,
    id: CellId,
    links: &[NewLink],
) -> Result<(), Fault> {
    if links.is_empty() {
        return Ok(());
    }
    let sql = sql!("delete from edges where tenant_id = $1 and src = $2 and kind = 0");
    of_tenant(sql, scope.tenant)
        .bind(id.uuid())
        .execute_later(connection)
        .await?;
    let given = Given::by(id, links)?;
    given.weigh(connection, scope).await?;
    given.add(connection, scope).await?;
    given.prune(connection, scope).await
}

/// Takes away the links of all kinds that lead from or to erased cells.
pub(crate) async fn forget(
    connection: &mut Connection,
    tenant: TenantId,
    ids: &[CellId],
) -> Result<(), Fault> {
    let sql = sql!(
        "delete from edges where tenant_id = $1 and (
             src in (select unhex(n.value) from ",
        each!("$2"),
        ")
             or dst in (select unhex(n.value) from ",
        each!("$2"),
        "))"
    );
    if ids.is_empty() {
        return Ok(());
    }
    of_tenant(sql, tenant)
        .bind(uuids(ids))
        .execute_later(connection)
        .await
}

/// The links of one cell as a statement takes them.
struct Given {
    id: CellId,
    links: String,
    ends: Vec<Uuid>,
    drops: String,
}

impl Given {
    fn by(id: CellId, links: &[NewLink]) -> Result<Self, Fault> {
        let hexed: Vec<(String, f64, bool)> = links
            .iter()
            .map(|new| {
                (
                    hex(new.link.to.uuid()),
                    f64::from(new.link.weight),
                    new.back,
                )
            })
            .collect();
        let drops: Vec<(String, String)> = links
            .iter()
            .flat_map(|new| {
                new.drops
                    .iter()
                    .map(|drop| (hex(new.link.to.uuid()), hex(drop.uuid())))
            })
            .collect();
        Ok(Self {
            id,
            links: json(&hexed)?,
            ends: links
                .iter()
                .map(|new| new.link.to)
                .chain([id])
                .map(CellId::uuid)
                .collect(),
            drops: json(&drops)?,
        })
    }

    fn query(&self, sql: Sql, scope: &Scope) -> Query<'_> {
        scoped(sql, scope)
            .bind(self.id.uuid())
            .bind(self.links.as_str())
    }

    async fn add(&self, connection: &mut Connection, scope: &Scope) -> Result<(), Fault> {
        const SQL: Sql = sql!(
            given_ends!(),
            " insert into edges (tenant_id, src, kind, dst, weight)
             select $1, src, 0, dst, weight from given where true on conflict do nothing"
        );
        self.query(SQL, scope).execute_later(connection).await
    }

    /// Gives those that are there their new weight.
    async fn weigh(&self, connection: &mut Connection, scope: &Scope) -> Result<(), Fault> {
        const SQL: Sql = sql!(
            given_ends!(),
            " update edges set weight =
                 (select g.weight from given g where g.src = edges.src and g.dst = edges.dst)
             where ",
            named_in!("given")
        );
        self.query(SQL, scope).execute_later(connection).await
    }

    /// Takes links away from those of the ends that have too many: all that are named in the
    /// drops, then the weakest, of equal ones the link to the younger cell.
    ///
    /// `offset 0` has Postgres go cell by cell, for the reason given at [`named_in`].
    async fn prune(&self, connection: &mut Connection, scope: &Scope) -> Result<(), Fault> {
        const SQL: Sql = sql!(
            "with ends (src, degree) as materialized (
                 select c.cell_id, ",
            degree!(),
            " from ",
            each!("$5"),
            "
                 cross join cells c on c.tenant_id = $1 and c.cell_id = unhex(n.value)
             ), drops (src, dst) as materialized (
                 select ",
            either!(
                "unhex(d.value ->> 0), unhex(d.value ->> 1) from json_each($6) d",
                "decode(d.value ->> 0, 'hex'), decode(d.value ->> 1, 'hex')
                 from jsonb_array_elements($6::jsonb) d (value)"
            ),
            "
             ), crowded (src, degree) as materialized (
                 select src, degree from ends where degree < (
                     select count(*) from edges e
                     where e.tenant_id = $1 and e.src = ends.src and e.kind = 0)
             ), crowd (src, dst, degree, dropped, weight) as materialized (
                 select e.src, e.dst, degree, (e.src, e.dst) in (select src, dst from drops), e.weight
                 from crowded c cross join ",
            either!(
                "edges e on e.tenant_id = $1 and e.src = c.src and e.kind = 0",
                "lateral (
                     select e.src, e.dst, e.weight from edges e
                     where e.tenant_id = $1 and e.src = c.src and e.kind = 0 offset 0) e on true"
            ),
            "
             ), gone (src, dst) as materialized (
                 select src, dst from (
                     select src, dst, degree, dropped, row_number() over (
                         partition by src order by dropped, weight desc, dst) as place
                     from crowd
                 ) ranked where dropped or place > degree
             )
             delete from edges where ",
            named_in!("gone")
        );
        bounded(SQL, scope)
            .bind(self.ends.clone())
            .bind(self.drops.as_str())
            .execute_later(connection)
            .await
    }
}

/// Begins a statement that uses [`degree`].
fn bounded<'q>(sql: Sql, scope: &Scope) -> Query<'q> {
    let [l0, l1, l2] = Layer::ALL.map(|layer| i64::try_from(layer.degree()).unwrap_or(i64::MAX));
    of_tenant(sql, scope.tenant).bind(l0).bind(l1).bind(l2)
}

/// Returns the links of those of `ids` that the scope can see, in the order of `ids`.
///
/// A cell's links come in one row, for the reason given at `changes`. Nine digits tell a number
/// of single precision from all others.
pub(crate) async fn links(
    connection: &mut Connection,
    scope: &Scope,
    ids: &[CellId],
    seen: Seen<'_>,
) -> Result<Vec<(CellId, Vec<Link>)>, Fault> {
    const SQL: Sql = sql!(
        "select here.cell_id, ",
        either!(
            "cast(group_concat(e.dst, '') as blob),
             group_concat(iif(e.dst is null, null, printf('%.9g', e.weight)), ',')",
            "string_agg(e.dst, ''::bytea order by e.dst),
             string_agg(e.weight::real::text, ',' order by e.dst)"
        ),
        " from ",
        each!("$4"),
        "
         cross join cells here on here.cell_id = unhex(n.value) and ",
        visible!("here."),
        " left join edges e on e.tenant_id = $1 and e.src = here.cell_id and e.kind = 0
         group by n.key, here.cell_id order by n.key"
    );
    let rows = scoped(SQL, scope)
        .bind(uuids(ids))
        .fetch_all(connection)
        .await?;
    let mut found: Vec<(CellId, Vec<Link>)> =
        rows.iter().map(to_links).collect::<Result<_, _>>()?;
    let ends = found.iter().flat_map(|(_, links)| links);
    let unknown: BTreeSet<CellId> = ends.map(|link| link.to).filter(|&id| !seen(id)).collect();
    if !unknown.is_empty() {
        let can_see = visible_of(connection, scope, &unknown).await?;
        for (_, links) in &mut found {
            links.retain(|link| can_see.contains(&link.to) || !unknown.contains(&link.to));
        }
    }
    Ok(found)
}

/// Returns those of some cells that the scope can see.
async fn visible_of(
    connection: &mut Connection,
    scope: &Scope,
    ids: &BTreeSet<CellId>,
) -> Result<BTreeSet<CellId>, Fault> {
    const SQL: Sql = sql!(
        "select ",
        either!(
            "cast(group_concat(c.cell_id, '') as blob)",
            "string_agg(c.cell_id, ''::bytea)"
        ),
        " from ",
        each!("$4"),
        " cross join cells c on c.cell_id = unhex(n.value) and ",
        visible!("c.")
    );
    let row = scoped(SQL, scope)
        .bind(ids.iter().map(|id| id.uuid()).collect::<Vec<_>>())
        .fetch_one(connection)
        .await?;
    let found: Option<&[u8]> = Columns(&row).get(0, "cell")?;
    let (found, _) = found.unwrap_or_default().as_chunks::<16>();
    let ids = found.iter().map(|id| CellId::new(Uuid::from_bytes(*id)));
    Ok(ids.collect())
}

fn to_links(row: &Row) -> Result<(CellId, Vec<Link>), BadRow> {
    let what = "link";
    let row = Columns(row);
    let ids: Option<&[u8]> = row.get(1, what)?;
    let weights: Option<&str> = row.get(2, what)?;
    let (ids, rest) = ids.unwrap_or_default().as_chunks::<16>();
    let weights = weights.into_iter().flat_map(|weights| weights.split(','));
    let weights: Vec<f32> = weights
        .map(|weight| weight.parse().map_err(|_| BadRow { what }))
        .collect::<Result<_, _>>()?;
    if !rest.is_empty() || ids.len() != weights.len() {
        return Err(BadRow { what });
    }
    let mut links: Vec<Link> = ids
        .iter()
        .zip(weights)
        .map(|(id, weight)| Link {
            to: CellId::new(Uuid::from_bytes(*id)),
            weight,
        })
        .collect();
    links.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.to.cmp(&b.to)));
    Ok((CellId::new(row.id(0)?), links))
}
