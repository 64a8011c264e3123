//! Who wrote what. Rows are only ever added; they hold no text of a memory.

use hyphae_core::{
    audit::{AuditRow, Via},
    ids::{AuditId, CredentialId, DiffId, SessionId, TenantId},
    ports::{AuditFilter, Write},
    scope::Scope,
};
use uuid::Uuid;

use super::{commit::Ledger, limit_of};
use crate::{
    error::{BadRow, Fault},
    sql::{Connection, Query, Row, Sql, each, sql},
    statements::{
        row::{Columns, from_action, from_time, to_action, to_project, to_uuid},
        scope::{of_tenant, own_project, scoped},
    },
};

pub(super) async fn add(
    connection: &mut Connection,
    scope: &Scope,
    write: &Write,
    ledger: &Ledger,
) -> Result<(), Fault> {
    let row = AuditRow {
        id: write.id,
        at: write.at,
        action: write.action,
        credential: scope.credential,
        via: write.via.clone(),
        project: scope.project.clone(),
        subjects: ledger.subjects.clone(),
        diffs: ledger.diffs.clone(),
        reason: write.reason.clone(),
        redactions: write.redactions,
    };
    add_row(connection, scope, &row).await
}

/// Adds a row, which is about the scope's project and by its credential.
pub(super) async fn add_row(
    connection: &mut Connection,
    scope: &Scope,
    row: &AuditRow,
) -> Result<(), Fault> {
    const SQL: Sql = sql!(
        "insert into audit (tenant_id, credential_id, audit_id, at, action, session_id, client,
             project_no, subjects, diffs, reason, redactions)
         values ($1, $3, $4, $5, $6, $7, $8, ",
        own_project!(),
        ", $9, $10, $11, $12)"
    );
    let session = row.via.session.map(SessionId::uuid);
    scoped(SQL, scope)
        .bind(row.id.uuid())
        .bind(from_time(row.at))
        .bind(from_action(row.action))
        .bind(session)
        .bind(row.via.client.as_deref())
        .bind(joined(row.subjects.iter().copied()))
        .bind(joined(row.diffs.iter().map(|id| id.uuid())))
        .bind(row.reason.as_deref())
        .bind(i64::from(row.redactions))
        .execute_later(connection)
        .await?;
    add_subjects(connection, scope, row).await
}

async fn add_subjects(
    connection: &mut Connection,
    scope: &Scope,
    row: &AuditRow,
) -> Result<(), Fault> {
    let sql = sql!(
        "insert into audit_subjects (tenant_id, subject, audit_id)
         select distinct $1, unhex(n.value), $4 from ",
        each!("$5")
    );
    let diffs = row.diffs.iter().map(|id| id.uuid());
    scoped(sql, scope)
        .bind(row.id.uuid())
        .bind(
            row.subjects
                .iter()
                .copied()
                .chain(diffs)
                .collect::<Vec<_>>(),
        )
        .execute_later(connection)
        .await
}

fn joined(ids: impl Iterator<Item = Uuid>) -> Vec<u8> {
    ids.flat_map(Uuid::into_bytes).collect()
}

fn parted(bytes: &[u8]) -> Result<impl Iterator<Item = Uuid>, BadRow> {
    let (ids, rest) = bytes.as_chunks::<16>();
    if rest.is_empty() {
        Ok(ids.iter().map(|id| Uuid::from_bytes(*id)))
    } else {
        Err(BadRow { what: "audit" })
    }
}

/// The columns of `audit a` that [`to_row`] reads, and the conditions of a filter but that on
/// subjects: parameters `$2` to `$8`.
macro_rules! page {
    ($from:literal) => {
        concat!(
            "select a.audit_id, a.at, a.action, a.credential_id, a.session_id, a.client, p.name,
                 a.subjects, a.diffs, a.reason, a.redactions from ",
            $from,
            " join projects p on p.tenant_id = a.tenant_id and p.project_no = a.project_no
             where a.tenant_id = $1 and a.audit_id < $2 and ($3 >> a.action) & 1 = 1
             and ($4 is null or a.credential_id = $4) and ($5 is null or p.name = $5)
             and ($6 is null or a.at >= $6) and ($7 is null or a.at < $7)
             order by a.audit_id desc limit $8 + 0"
        )
    };
}

pub(crate) async fn page(
    connection: &mut Connection,
    tenant: TenantId,
    filter: &AuditFilter,
) -> Result<Vec<AuditRow>, Fault> {
    const ALL: Sql = sql!(page!("audit a"));
    const ABOUT: Sql = sql!(page!(
        "audit_subjects s cross join audit a
             on s.tenant_id = $1 and s.subject = $9 and a.tenant_id = $1
             and a.audit_id = s.audit_id"
    ));
    let rows = match filter.subject {
        None => filtered(ALL, tenant, filter).fetch_all(connection).await?,
        Some(subject) => {
            let query = filtered(ABOUT, tenant, filter);
            let subject = subject.as_bytes().to_vec();
            query.bind(subject).fetch_all(connection).await?
        }
    };
    Ok(rows.iter().map(to_row).collect::<Result<_, _>>()?)
}

fn filtered<'q>(sql: Sql, tenant: TenantId, filter: &AuditFilter) -> Query<'q> {
    let id = |id: Uuid| id.as_bytes().to_vec();
    let actions = if filter.actions.is_empty() {
        -1
    } else {
        let actions = filter.actions.iter();
        actions.fold(0_i64, |set, action| set | 1 << from_action(*action))
    };
    of_tenant(sql, tenant)
        // One byte longer than any id, so that it is behind them all.
        .bind(
            filter
                .before
                .map_or_else(|| vec![0xff; 17], |before| id(before.uuid())),
        )
        .bind(actions)
        .bind(filter.credential.map(|credential| id(credential.uuid())))
        .bind(filter.project.as_ref().map(|name| name.as_str().to_owned()))
        .bind(filter.since.map(from_time))
        .bind(filter.until.map(from_time))
        .bind(limit_of(filter.limit))
}

pub(super) fn to_row(row: &Row) -> Result<AuditRow, BadRow> {
    let row = Columns(row);
    let session: Option<&[u8]> = row.get(4, "session")?;
    Ok(AuditRow {
        id: AuditId::new(row.id(0)?),
        at: row.time(1)?,
        action: to_action(row.get(2, "action")?)?,
        credential: CredentialId::new(row.id(3)?),
        via: Via {
            session: session.map(to_uuid).transpose()?.map(SessionId::new),
            client: row.get(5, "client")?,
        },
        project: to_project(row.get(6, "project")?)?,
        subjects: parted(row.get(7, "audit")?)?.collect(),
        diffs: parted(row.get(8, "audit")?)?.map(DiffId::new).collect(),
        reason: row.get(9, "reason")?,
        redactions: row.count(10, "redactions")?,
    })
}
