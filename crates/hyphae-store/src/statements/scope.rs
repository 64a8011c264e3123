//! The one place that says what a scope may see. Every statement over memories takes its
//! condition from here and binds its first three parameters with [`scoped`].

use crate::sql::{Query, Sql};
use hyphae_core::{
    ids::TenantId,
    scope::{Owner, Scope},
};

/// `visibility` of a private cell. The columns hold these numbers.
pub(crate) const PRIVATE: i64 = 0;
/// `visibility` of a cell that its project sees.
pub(crate) const PROJECT: i64 = 1;
/// `visibility` of a cell that the whole tenant sees.
pub(crate) const SHARED: i64 = 2;

/// The scope's own project as a number; null if nothing was ever filed under it.
macro_rules! own_project {
    () => {
        "(select project_no from projects where tenant_id = $1 and name = $2)"
    };
}

/// Holds for rows of `cells`, and of what keeps a cell's place and reach beside it, that the scope
/// may see: its tenant's, in its
/// own project and not private to somebody else, or shared. The argument qualifies the columns
/// and ends with a dot, or is empty.
macro_rules! visible {
    ($table:literal) => {
        concat!(
            "(",
            $table,
            "tenant_id = $1 and (",
            $table,
            "visibility = 2 or ",
            $table,
            "project_no = ",
            $crate::statements::scope::own_project!(),
            " and (",
            $table,
            "visibility = 1 or ",
            $table,
            "author = $3)))"
        )
    };
}

/// Joins the cells at both ends of a row as `here` and `there`: a link or a conflict is seen by
/// those who see both.
macro_rules! both_ends {
    ($from:literal, $to:literal) => {
        concat!(
            " cross join cells here on here.cell_id = ",
            $from,
            " and ",
            $crate::statements::scope::visible!("here."),
            " cross join cells there on there.cell_id = ",
            $to,
            " and ",
            $crate::statements::scope::visible!("there."),
            " "
        )
    };
}

pub(crate) use {both_ends, own_project, visible};

/// Begins a statement over memories: `$1` is the tenant, `$2` the project's name, `$3` who asks.
pub(crate) fn scoped<'q>(sql: Sql, scope: &Scope) -> Query<'q> {
    Query::new(sql)
        .bind(scope.tenant.uuid())
        .bind(scope.project.as_str().to_owned())
        .bind(scope.credential.uuid())
}

/// Begins a statement over one owner's rows: `$1` is the tenant, `$2` the owner.
pub(crate) fn owned<'q>(sql: Sql, owner: Owner) -> Query<'q> {
    Query::new(sql)
        .bind(owner.tenant.uuid())
        .bind(owner.credential.uuid())
}

/// Begins a statement over a tenant's rows: `$1` is the tenant.
pub(crate) fn of_tenant<'q>(sql: Sql, tenant: TenantId) -> Query<'q> {
    Query::new(sql).bind(tenant.uuid())
}
