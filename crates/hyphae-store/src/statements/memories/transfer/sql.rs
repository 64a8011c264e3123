//! What is read to give out items, a page or one at a time: `$1` is the tenant, `$2` the project
//! or null for all, and what follows is a place: the one behind which a page begins, before its
//! limit, or the one of the item.

use super::super::{conflicts::conflict_columns, relations::relation_columns};
use crate::{
    sql::{Sql, sql},
    statements::row::cell_columns,
};

/// Holds for rows of the wanted project.
macro_rules! wanted {
    ($table:ident) => {
        concat!(
            "($2 is null or ",
            stringify!($table),
            ".project_no = (select project_no from projects where tenant_id = $1 and name = $2))"
        )
    };
}

/// Joins the cell at an end of a row, which must be of the wanted project.
macro_rules! end {
    ($cell:ident, $id:literal) => {
        concat!(
            " cross join cells ",
            stringify!($cell),
            " on ",
            stringify!($cell),
            ".tenant_id = $1 and ",
            stringify!($cell),
            ".cell_id = ",
            $id,
            " and ",
            wanted!($cell),
            " "
        )
    };
}

/// Joins the name of a row's project.
macro_rules! project {
    ($table:ident) => {
        concat!(
            " cross join projects p on p.tenant_id = $1 and p.project_no = ",
            stringify!($table),
            ".project_no "
        )
    };
}

macro_rules! identities {
    ($which:literal) => {
        concat!(
            "select k.credential_id, k.tenant_id, k.name, k.created_at, k.revoked_at
             from credentials k where k.tenant_id = $1 and ",
            $which
        )
    };
}

/// Of those who wrote something.
pub(super) const IDENTITIES: Sql = sql!(
    "with writers (id) as materialized (
         select c.author from cells c where c.tenant_id = $1 and ",
    wanted!(c),
    " union select r.replaced_by from revisions r",
    end!(c, "r.cell_id"),
    "where r.tenant_id = $1
     union select e.author from edges e",
    end!(here, "e.src"),
    end!(there, "e.dst"),
    "where e.tenant_id = $1 and e.kind >= 4
     union select k.opened_by from conflicts k",
    end!(here, "k.left_id"),
    end!(there, "k.right_id"),
    "where k.tenant_id = $1
     union select k.decided_by from conflicts k",
    end!(here, "k.left_id"),
    end!(there, "k.right_id"),
    "where k.tenant_id = $1 and k.decided_by is not null
     union select v.credential_id from confirmations v",
    end!(c, "v.cell_id"),
    "where v.tenant_id = $1
     union select s.credential_id from store_keys s",
    end!(c, "s.cell_id"),
    "where s.tenant_id = $1
     union select d.changed_by from diffs d where d.tenant_id = $1 and ",
    wanted!(d),
    " union select d.author from diffs d where d.tenant_id = $1 and ",
    wanted!(d),
    " union select a.credential_id from audit a where a.tenant_id = $1 and ",
    wanted!(a),
    ")",
    identities!(
        "k.credential_id > $3 and k.credential_id in (select id from writers)
         order by k.credential_id limit $4 + 0"
    )
);

pub(super) const ONE_IDENTITY: Sql = sql!(identities!("k.credential_id = $3"));

macro_rules! cells {
    ($which:literal) => {
        concat!(
            "select ",
            cell_columns!("c."),
            ", c.embedded_text, c.last_access, m.name, e.vector, e.facts from cells c",
            project!(c),
            "left join recall_entries e on e.tenant_id = $1 and e.project_no = c.project_no
                 and e.sequence = c.sequence
             left join models m on m.tenant_id = $1 and m.model_no = e.model_no
             where c.tenant_id = $1 and ",
            wanted!(c),
            " and ",
            $which
        )
    };
}

pub(super) const CELLS: Sql = sql!(cells!("c.cell_id > $3 order by c.cell_id limit $4 + 0"));
pub(super) const ONE_CELL: Sql = sql!(cells!("c.cell_id = $3"));

macro_rules! pasts {
    ($which:literal) => {
        concat!(
            "select ",
            cell_columns!("r."),
            ", r.replaced_by, r.replaced_at, r.reason from revisions r",
            end!(c, "r.cell_id"),
            project!(c),
            "where r.tenant_id = $1 and ",
            $which
        )
    };
}

pub(super) const PASTS: Sql = sql!(pasts!(
    "(r.cell_id, r.revision) > ($3, $4) order by r.cell_id, r.revision limit $5 + 0"
));
pub(super) const ONE_PAST: Sql = sql!(pasts!("r.cell_id = $3 and r.revision = $4"));

macro_rules! links {
    ($which:literal) => {
        concat!(
            "select e.src, e.dst, e.weight from edges e",
            end!(here, "e.src"),
            end!(there, "e.dst"),
            "where e.tenant_id = $1 and e.kind = 0 and ",
            $which
        )
    };
}

pub(super) const LINKS: Sql = sql!(links!(
    "e.src >= $3 and (e.src > $3 or e.dst > $4) order by e.src, e.kind, e.dst limit $5 + 0"
));
pub(super) const ONE_LINK: Sql = sql!(links!("e.src = $3 and e.dst = $4"));

macro_rules! relations {
    ($which:literal) => {
        concat!(
            "select ",
            relation_columns!(),
            " from edges e",
            end!(here, "e.src"),
            end!(there, "e.dst"),
            "where e.tenant_id = $1 and e.edge_id is not null and ",
            $which
        )
    };
}

pub(super) const RELATIONS: Sql =
    sql!(relations!("e.edge_id > $3 order by e.edge_id limit $4 + 0"));
pub(super) const ONE_RELATION: Sql = sql!(relations!("e.edge_id = $3"));

macro_rules! conflicts {
    ($which:literal) => {
        concat!(
            "select ",
            conflict_columns!(),
            " from conflicts k",
            end!(here, "k.left_id"),
            end!(there, "k.right_id"),
            "where k.tenant_id = $1 and ",
            $which
        )
    };
}

pub(super) const CONFLICTS: Sql = sql!(conflicts!(
    "k.conflict_id > $3 order by k.conflict_id limit $4 + 0"
));
pub(super) const ONE_CONFLICT: Sql = sql!(conflicts!("k.conflict_id = $3"));

macro_rules! confirmations {
    ($which:literal) => {
        concat!(
            "select v.cell_id, v.revision, v.credential_id, v.confirmed_at, v.evidence
             from confirmations v",
            end!(c, "v.cell_id"),
            "where v.tenant_id = $1 and ",
            $which
        )
    };
}

pub(super) const CONFIRMATIONS: Sql = sql!(confirmations!(
    "(v.cell_id, v.credential_id) > ($3, $4) order by v.cell_id, v.credential_id limit $5 + 0"
));
pub(super) const ONE_CONFIRMATION: Sql =
    sql!(confirmations!("v.cell_id = $3 and v.credential_id = $4"));

/// Keys whose request was made in the project of their cell, as all are that a cell was new for.
macro_rules! keys {
    ($which:literal) => {
        concat!(
            "select s.credential_id, s.key, s.cell_id from store_keys s",
            end!(c, "s.cell_id"),
            "where s.tenant_id = $1 and s.project_no = c.project_no and ",
            $which
        )
    };
}

pub(super) const KEYS: Sql = sql!(keys!(
    "(s.credential_id, s.key) >= ($3, $4)
     and ((s.credential_id, s.key) > ($3, $4) or s.cell_id > $5)
     order by s.credential_id, s.key, s.cell_id limit $6 + 0"
));
pub(super) const ONE_KEY: Sql = sql!(keys!(
    "s.credential_id = $3 and s.key = $4 and s.cell_id = $5"
));

/// The next sequence of a diff behind `$3`.
pub(super) const NEXT_DIFF: Sql = sql!(
    "select min((select min(d.sequence) from diffs d
         where d.tenant_id = $1 and d.project_no = p.project_no and d.sequence > $3))
     from projects p where p.tenant_id = $1 and ",
    wanted!(p)
);

macro_rules! diffs {
    ($from:literal, $which:literal) => {
        concat!(
            "select d.sequence, d.diff_id, d.kind, d.cell_id, d.revision,
                 case when $2 is null or ",
            wanted!(o),
            " then d.other end, d.changed_by, d.cell_type, d.salience, d.created_at,
                 d.visibility, c.cell_id is not null, p.name, d.author from ",
            $from,
            " left join cells c on c.tenant_id = $1 and c.cell_id = d.cell_id
             left join cells o on o.tenant_id = $1 and o.cell_id = d.other
             where d.tenant_id = $1 and ",
            wanted!(p),
            " and ",
            $which
        )
    };
}

/// A range of sequences, which each project is searched for.
pub(super) const DIFFS: Sql = sql!(diffs!(
    "projects p cross join diffs d on d.tenant_id = $1 and d.project_no = p.project_no
         and p.tenant_id = $1",
    "d.sequence between $3 and $4 order by d.sequence limit $5 + 0"
));
pub(super) const ONE_DIFF: Sql = sql!(diffs!(
    "diffs d cross join projects p on p.tenant_id = $1 and p.project_no = d.project_no",
    "d.diff_id = $3"
));

macro_rules! audit {
    ($which:literal) => {
        concat!(
            "select a.audit_id, a.at, a.action, a.credential_id, a.session_id, a.client, p.name,
                 a.subjects, a.diffs, a.reason, a.redactions from audit a",
            project!(a),
            "where a.tenant_id = $1 and ",
            wanted!(a),
            " and ",
            $which
        )
    };
}

pub(super) const AUDIT: Sql = sql!(audit!("a.audit_id > $3 order by a.audit_id limit $4 + 0"));
pub(super) const ONE_AUDIT: Sql = sql!(audit!("a.audit_id = $3"));
