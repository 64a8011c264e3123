//! Changes as they are told: to the topology, and to those who ask what changed.

use hyphae_core::{
    cell::{Cell, Visibility},
    diff::{Diff, DiffKind},
    ids::{CellId, CredentialId, DiffId},
    ports::Sequence,
    scope::Scope,
};
use jiff::Timestamp;

use super::{commit::Ledger, kept::Kept, limit_of};
use crate::{
    error::{BadRow, Fault},
    sql::{Connection, Row, Sql, either, sql},
    statements::{
        row::{
            Columns, from_cell_type, from_diff_kind, from_time, from_visibility, to_cell_type,
            to_diff_kind, to_share, to_uuid,
        },
        scope::{own_project, scoped, visible},
    },
};

/// A diff to be written.
#[derive(Debug)]
pub(super) struct NewDiff {
    pub(super) id: DiffId,
    pub(super) kind: DiffKind,
    pub(super) other: Option<CellId>,
    pub(super) at: Timestamp,
    pub(super) sequence: i64,
    /// The project of the cell; none is the scope's own.
    pub(super) project: Option<i64>,
}

/// Writes a diff about a state of a cell.
pub(super) async fn add(
    connection: &mut Connection,
    scope: &Scope,
    cell: &Cell,
    diff: &NewDiff,
    ledger: &mut Ledger,
) -> Result<(), Fault> {
    const SQL: Sql = sql!(
        "insert into diffs (tenant_id, changed_by, project_no, sequence, diff_id, kind, cell_id,
             revision, other, author, visibility, reach, cell_type, salience, created_at)
         values ($1, $3, coalesce($4, ",
        own_project!(),
        "), $5, $6, $7, $8, $9, $10, $11, $12, $12, $13, $14, $15)"
    );
    scoped(SQL, scope)
        .bind(diff.project)
        .bind(diff.sequence)
        .bind(diff.id.uuid())
        .bind(from_diff_kind(diff.kind))
        .bind(cell.id.uuid())
        .bind(i64::from(cell.revision))
        .bind(diff.other.map(CellId::uuid))
        .bind(cell.author.uuid())
        .bind(from_visibility(cell.visibility))
        .bind(from_cell_type(cell.cell_type))
        .bind(cell.salience.get())
        .bind(from_time(diff.at))
        .execute_later(connection)
        .await?;
    ledger.diffs.push(diff.id);
    Ok(())
}

/// Lets the earlier diffs of a cell be found by everybody who sees it from now on. Rare, and so
/// without an index of its own.
pub(super) async fn widen(
    connection: &mut Connection,
    scope: &Scope,
    kept: &Kept,
    next: &Cell,
) -> Result<(), Fault> {
    let sql = sql!(
        "update diffs set reach = 2
         where tenant_id = $1 and project_no = $4 and cell_id = $5 and reach < 2"
    );
    if next.visibility != Visibility::Shared {
        return Ok(());
    }
    scoped(sql, scope)
        .bind(kept.entry.project)
        .bind(next.id.uuid())
        .execute_later(connection)
        .await
}

/// The columns of `diffs d` that [`to_diff`] reads, of one arm of a read.
macro_rules! told {
    ($which:expr) => {
        concat!(
            "select d.sequence, d.diff_id, d.kind, d.cell_id, d.revision,
                 case when d.other is null or o.cell_id is not null or exists (
                     select 1 from diffs x", either!(" indexed by diffs_erased", ""), "
                     where x.tenant_id = $1 and x.cell_id = d.other and x.kind = 8 and ",
            visible!("x."),
            ") then d.other end, d.changed_by, d.cell_type, d.salience, d.created_at
             from diffs d left join cells c on c.tenant_id = d.tenant_id and c.cell_id = d.cell_id
             left join cells o on o.cell_id = d.other and ",
            visible!("o."),
            "
             where d.tenant_id = $1 and d.sequence > $4 and ($5 >> d.kind) & 1 = 1
             and ($6 or d.changed_by <> $3)
             and case when c.cell_id is null then ",
            visible!("d."),
            " else ",
            visible!("c."),
            " end and ",
            $which
        )
    };
}

/// Reads diffs. A cell that is there decides who sees what is told of it; of one that is gone,
/// each diff remembers. The other cell is named to
/// those who see it, or see that it was erased. The first arm reads the range of a project, the second the tenant's few
/// shared diffs of other projects.
pub(crate) async fn diffs(
    connection: &mut Connection,
    scope: &Scope,
    after: Sequence,
    kinds: &[DiffKind],
    own: bool,
    limit: usize,
) -> Result<Vec<Diff>, Fault> {
    const SQL: Sql = sql!(
        told!(concat!("d.project_no = ", own_project!())),
        " union all ",
        told!(concat!(
            "d.reach = 2 and d.project_no is distinct from ",
            own_project!()
        )),
        " order by 1 limit $7 + 0"
    );
    let kinds = if kinds.is_empty() {
        -1
    } else {
        kinds
            .iter()
            .fold(0_i64, |set, kind| set | 1 << from_diff_kind(*kind))
    };
    let rows = scoped(SQL, scope)
        .bind(i64::try_from(after.0).unwrap_or(i64::MAX))
        .bind(kinds)
        .bind(own)
        .bind(limit_of(limit))
        .fetch_all(connection)
        .await?;
    Ok(rows.iter().map(to_diff).collect::<Result<_, _>>()?)
}

fn to_diff(row: &Row) -> Result<Diff, BadRow> {
    let row = Columns(row);
    let other: Option<&[u8]> = row.get(5, "id")?;
    Ok(Diff {
        sequence: Sequence(row.count(0, "sequence")?),
        id: DiffId::new(row.id(1)?),
        kind: to_diff_kind(row.get(2, "kind of diff")?)?,
        cell: CellId::new(row.id(3)?),
        revision: row.count(4, "revision")?,
        other: other.map(to_uuid).transpose()?.map(CellId::new),
        author: CredentialId::new(row.id(6)?),
        cell_type: to_cell_type(row.get(7, "type")?)?,
        salience: to_share(row.get(8, "salience")?, "salience")?,
        at: row.time(9)?,
    })
}
