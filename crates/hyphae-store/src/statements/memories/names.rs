//! What begins with some digits or letters: ids and names.
//!
//! A beginning is a range of a key, never a pattern: nothing in it needs escaping.

use hyphae_core::{ports::Wanted, scope::Scope};
use uuid::Uuid;

use super::limit_of;
use crate::{
    error::{BadRow, Fault},
    sql::{Connection, Row, Sql, sql},
    statements::{
        row::Columns,
        scope::{both_ends, own_project, scoped, visible},
    },
};

pub(crate) async fn ids_beginning(
    connection: &mut Connection,
    scope: &Scope,
    wanted: Wanted,
    prefix: &str,
    limit: usize,
) -> Result<Vec<Uuid>, Fault> {
    const CELLS: Sql = sql!(
        "select cell_id from cells where cell_id between $4 and $5 and ",
        visible!(""),
        " order by cell_id limit $6 + 0"
    );
    const RELATIONS: Sql = sql!(
        "select e.edge_id from edges e",
        both_ends!("e.src", "e.dst"),
        "where e.tenant_id = $1 and e.edge_id between $4 and $5
         order by e.edge_id limit $6 + 0"
    );
    const CONFLICTS: Sql = sql!(
        "select k.conflict_id from conflicts k",
        both_ends!("k.left_id", "k.right_id"),
        "where k.tenant_id = $1 and k.conflict_id between $4 and $5
         order by k.conflict_id limit $6 + 0"
    );
    let sql = match wanted {
        Wanted::Cell => CELLS,
        Wanted::Relation => RELATIONS,
        Wanted::Conflict => CONFLICTS,
        // They have names, not ids.
        Wanted::Topic | Wanted::Tag | Wanted::Project => return Ok(Vec::new()),
    };
    let Some((least, greatest)) = range_of(prefix) else {
        return Ok(Vec::new());
    };
    let rows = scoped(sql, scope)
        .bind(least.as_slice())
        .bind(greatest.as_slice())
        .bind(limit_of(limit))
        .fetch_all(connection)
        .await?;
    let ids = rows.iter().map(|row| Columns(row).id(0));
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Returns the least and the greatest id that begin with these digits; none if no id does.
fn range_of(prefix: &str) -> Option<([u8; 16], [u8; 16])> {
    let digits: Vec<u8> = prefix
        .chars()
        .map(|digit| digit.to_digit(16).filter(|_| !digit.is_ascii_uppercase()))
        .map(|digit| digit.and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()?;
    (digits.len() <= 32).then_some(())?;
    let filled_with = |fill: u8| {
        std::array::from_fn(|at| {
            let digit = |at: usize| digits.get(at).copied().unwrap_or(fill);
            digit(2 * at) << 4 | digit(2 * at + 1)
        })
    };
    Some((filled_with(0), filled_with(15)))
}

/// What every beginning of `$4` stands before: no byte of a text is so great. Postgres takes no
/// such byte; the last of all characters, which is none that anybody writes, is as good.
macro_rules! end {
    () => {
        $crate::sql::either!("$4 || cast(x'ff' as text)", "$4 || chr(1114111)")
    };
}

/// The least tag from a bound on that the scope sees: of its own project, and of shared cells.
/// Goes from name to name, however many cells have one.
macro_rules! next_tag {
    ($bound:literal) => {
        concat!(
            "(select min(column1) from (values
                 ((select t.tag from cell_tags t
                   where t.tenant_id = $1 and t.project_no = ",
            own_project!(),
            " and t.tag ",
            $bound,
            " and t.tag < ",
            end!(),
            " and ",
            visible!("t."),
            " order by t.tag limit 1)),
                 ((select t.tag from cell_tags t
                   where t.tenant_id = $1 and t.visibility = 2 and t.tag ",
            $bound,
            " and t.tag < ",
            end!(),
            " and ",
            visible!("t."),
            " order by t.tag limit 1))) least)"
        )
    };
}

/// The topics of active cells of one range of an index.
macro_rules! topics {
    ($where:expr) => {
        concat!(
            "select topic as name from cells
             where tenant_id = $1 and status = 0 and topic is not null and topic >= $4
             and topic < ",
            end!(),
            " and ",
            visible!(""),
            " and ",
            $where
        )
    };
}

pub(crate) async fn names(
    connection: &mut Connection,
    scope: &Scope,
    wanted: Wanted,
    prefix: &str,
    limit: usize,
) -> Result<Vec<String>, Fault> {
    const TAGS: Sql = sql!(
        "with recursive found (name) as (
             select ",
        next_tag!(">= $4"),
        " union all
             select ",
        next_tag!("> found.name"),
        " from found where found.name is not null
         )
         select name from found where name is not null limit $5 + 0"
    );
    const TOPICS: Sql = sql!(
        topics!(concat!(
            "project_no = ",
            own_project!(),
            " and visibility = 0 and (case when visibility = 0 then author else x'' end) = $3"
        )),
        " union ",
        topics!(concat!(
            "project_no = ",
            own_project!(),
            " and visibility = 1 and (case when visibility = 0 then author else x'' end) = x''"
        )),
        " union ",
        topics!("visibility = 2"),
        " order by 1 limit $5 + 0"
    );
    const PROJECTS: Sql = sql!(
        "select p.name from projects p
         where p.tenant_id = $1 and p.name >= $4 and p.name < ",
        end!(),
        " and (
             (p.name = $2 and exists (
                 select 1 from cells c
                 where c.tenant_id = $1 and c.project_no = p.project_no and c.status = 0 and ",
        visible!("c."),
        "))
             or exists (
                 select 1 from cells c
                 where c.tenant_id = $1 and c.project_no = p.project_no and c.status = 0
                 and c.visibility = 2 and ",
        visible!("c."),
        "))
         order by p.name limit $5 + 0"
    );
    let sql = match wanted {
        Wanted::Topic => TOPICS,
        Wanted::Tag => TAGS,
        Wanted::Project => PROJECTS,
        // They have ids, not names.
        Wanted::Cell | Wanted::Relation | Wanted::Conflict => return Ok(Vec::new()),
    };
    let rows = scoped(sql, scope)
        .bind(prefix)
        .bind(limit_of(limit))
        .fetch_all(connection)
        .await?;
    Ok(rows.iter().map(to_name).collect::<Result<_, _>>()?)
}

fn to_name(row: &Row) -> Result<String, BadRow> {
    Columns(row).get(0, "name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_an_id_is_a_range() {
        let (least, greatest) = range_of("0189a").unwrap();
        assert_eq!(least[..4], [0x01, 0x89, 0xa0, 0]);
        assert_eq!(greatest[..4], [0x01, 0x89, 0xaf, 0xff]);
        assert_eq!(range_of(""), Some(([0; 16], [0xff; 16])));
        let whole = "0123456789abcdef".repeat(2);
        let (least, greatest) = range_of(&whole).unwrap();
        assert_eq!(least, greatest);
        assert_eq!(least[..2], [0x01, 0x23]);
        for none in ["g", "01-2", "AB", "%", &"0".repeat(33)] {
            assert_eq!(range_of(none), None, "{none}");
        }
    }
}
