//! What a store gives out: pages of items, and single ones to compare with.

use hyphae_core::{
    diff::Diff,
    ids::{CellId, CredentialId, DiffId, TenantId},
    ports::{ChosenModel, Gone, Item, ItemKey, KeptCell, KeptDiff, Link, Sequence},
    recall::Terms,
    scope::Project,
};

use super::{
    super::{audit, conflicts, limit_of, reads, relations, voices},
    keys::{Kind, found_by},
    sql,
};
use crate::{
    error::{BadRow, Fault},
    sql::{Connection, Query, Row, Sql},
    statements::{
        facts::{Facts, part, to_vector},
        models::NO_MODEL,
        row::{
            CELL_COLUMNS, Columns, to_cell, to_cell_type, to_credential, to_diff_kind, to_project,
            to_share, to_uuid, to_visibility,
        },
        scope::of_tenant,
    },
};

/// Returns items in the order of kinds, and within a kind by place.
pub(super) async fn items(
    connection: &mut Connection,
    tenant: TenantId,
    project: Option<&Project>,
    after: Option<&ItemKey>,
    limit: usize,
) -> Result<Vec<(ItemKey, Item)>, Fault> {
    let (first, mut place) = Kind::of_key(after)?;
    let mut found = Vec::new();
    for kind in first.onwards() {
        let page = Page {
            tenant,
            project,
            place,
            limit: limit - found.len(),
        };
        if page.limit == 0 {
            break;
        }
        read(connection, kind, &page, &mut found).await?;
        place = &[];
    }
    Ok(found)
}

/// Returns the item of a kind that is found by this place, or a diff by its id.
pub(super) async fn one(
    connection: &mut Connection,
    tenant: TenantId,
    (kind, place): (Kind, &[u8]),
) -> Result<Option<Item>, Fault> {
    let page = Page {
        tenant,
        project: None,
        place,
        limit: 1,
    };
    let sql = match kind {
        Kind::Identity => sql::ONE_IDENTITY,
        Kind::Cell => sql::ONE_CELL,
        Kind::Past => sql::ONE_PAST,
        Kind::Link => sql::ONE_LINK,
        Kind::Relation => sql::ONE_RELATION,
        Kind::Conflict => sql::ONE_CONFLICT,
        Kind::Confirmation => sql::ONE_CONFIRMATION,
        Kind::Key => sql::ONE_KEY,
        Kind::Diff => sql::ONE_DIFF,
        Kind::Audit => sql::ONE_AUDIT,
    };
    let row = page.placed(sql, kind).fetch_optional(connection).await?;
    Ok(row.map(|row| to_item(kind, &row)).transpose()?)
}

/// What is read of a kind.
struct Page<'a> {
    tenant: TenantId,
    project: Option<&'a Project>,
    /// Empty before the first.
    place: &'a [u8],
    limit: usize,
}

impl Page<'_> {
    fn query<'q>(&self, sql: Sql) -> Query<'q> {
        let project = self.project.map(|project| project.as_str().to_owned());
        of_tenant(sql, self.tenant).bind(project)
    }

    /// Binds the place; before the first are an empty id and the revision 0.
    fn placed<'q>(&self, sql: Sql, kind: Kind) -> Query<'q> {
        let query = self.query(sql).bind(self.bytes(0, 16));
        match kind {
            Kind::Identity
            | Kind::Cell
            | Kind::Relation
            | Kind::Conflict
            | Kind::Diff
            | Kind::Audit => query,
            Kind::Past => query.bind(self.number(16)),
            Kind::Link | Kind::Confirmation => query.bind(self.bytes(16, 32)),
            Kind::Key => query.bind(self.bytes(16, 48)).bind(self.bytes(48, 64)),
        }
    }

    fn bytes(&self, from: usize, to: usize) -> Vec<u8> {
        self.place.get(from..to).unwrap_or_default().to_vec()
    }

    /// Returns a number that ends the place.
    fn number(&self, from: usize) -> i64 {
        let bytes = self.place.get(from..).unwrap_or_default();
        bytes
            .iter()
            .fold(0, |number, byte| number << 8 | i64::from(*byte))
    }
}

async fn read(
    connection: &mut Connection,
    kind: Kind,
    page: &Page<'_>,
    found: &mut Vec<(ItemKey, Item)>,
) -> Result<(), Fault> {
    let sql = match kind {
        Kind::Identity => sql::IDENTITIES,
        Kind::Cell => sql::CELLS,
        Kind::Past => sql::PASTS,
        Kind::Link => sql::LINKS,
        Kind::Relation => sql::RELATIONS,
        Kind::Conflict => sql::CONFLICTS,
        Kind::Confirmation => sql::CONFIRMATIONS,
        Kind::Key => sql::KEYS,
        Kind::Audit => sql::AUDIT,
        Kind::Diff => return read_diffs(connection, page, found).await,
    };
    let query = page.placed(sql, kind).bind(limit_of(page.limit));
    for row in query.fetch_all(connection).await? {
        let item = to_item(kind, &row)?;
        let (kind, place) = found_by(&item);
        found.push((kind.key(&place), item));
    }
    Ok(())
}

/// Reads diffs by their sequence, which is a tenant's, while the table is ordered by projects
/// first: window by window, each beginning at the next sequence that any project has.
async fn read_diffs(
    connection: &mut Connection,
    page: &Page<'_>,
    found: &mut Vec<(ItemKey, Item)>,
) -> Result<(), Fault> {
    let mut after = page.number(0);
    let mut wanted = page.limit;
    while wanted > 0 {
        let row = page
            .query(sql::NEXT_DIFF)
            .bind(after)
            .fetch_one(&mut *connection)
            .await?;
        let Some(next) = Columns(&row).get::<Option<i64>>(0, "sequence")? else {
            break;
        };
        let last = next.saturating_add(limit_of(wanted) - 1);
        let rows = page
            .query(sql::DIFFS)
            .bind(next)
            .bind(last)
            .bind(limit_of(wanted))
            .fetch_all(&mut *connection)
            .await?;
        wanted -= rows.len();
        after = last;
        for row in rows {
            after = Columns(&row).get(0, "sequence")?;
            let key = Kind::Diff.key(&after.to_be_bytes());
            found.push((key, to_item(Kind::Diff, &row)?));
        }
    }
    Ok(())
}

fn to_item(kind: Kind, row: &Row) -> Result<Item, BadRow> {
    Ok(match kind {
        Kind::Identity => {
            let credential = to_credential(row)?;
            Item::Identity {
                id: credential.id,
                name: credential.name,
                created_at: credential.created_at,
                revoked_at: credential.revoked_at,
            }
        }
        Kind::Cell => Item::Cell(Box::new(to_kept(row)?)),
        Kind::Past => Item::Past(Box::new(reads::to_past(row)?)),
        Kind::Link => {
            let row = Columns(row);
            let weight: f64 = row.get(2, "link")?;
            Item::Link {
                from: CellId::new(row.id(0)?),
                link: Link {
                    to: CellId::new(row.id(1)?),
                    // It was a number of single precision when it was kept.
                    weight: weight as f32,
                },
            }
        }
        Kind::Relation => Item::Relation(Box::new(relations::to_relation(row)?)),
        Kind::Conflict => Item::Conflict(Box::new(conflicts::to_conflict(row)?)),
        Kind::Confirmation => Item::Confirmation(Box::new(voices::to_confirmation(row)?)),
        Kind::Key => {
            let row = Columns(row);
            let key: &[u8] = row.get(1, "key")?;
            Item::Key {
                credential: CredentialId::new(row.id(0)?),
                key: key.try_into().map_err(|_| BadRow { what: "key" })?,
                cell: CellId::new(row.id(2)?),
            }
        }
        Kind::Diff => Item::Diff(Box::new(to_diff(row)?)),
        Kind::Audit => Item::Audit(Box::new(audit::to_row(row)?)),
    })
}

fn to_kept(row: &Row) -> Result<KeptCell, BadRow> {
    let cell = to_cell(row)?;
    let rest = Columns(row);
    let model: Option<String> = rest.get(CELL_COLUMNS + 2, "model")?;
    let vector: Option<&[u8]> = rest.get(CELL_COLUMNS + 3, "vector")?;
    let vector = match model.zip(vector).filter(|(model, _)| model != NO_MODEL) {
        None => None,
        Some((id, bytes)) => {
            let (bytes, _) = part(bytes).ok_or(BadRow { what: "vector" })?;
            let vector = to_vector(bytes)?;
            let dimension = vector.numbers.len();
            Some((ChosenModel { id, dimension }, vector))
        }
    };
    Ok(KeptCell {
        context: context(rest.get(CELL_COLUMNS + 4, "recall entry")?)?,
        embedded_text: rest.get(CELL_COLUMNS, "embedded text")?,
        last_access: rest.time(CELL_COLUMNS + 1)?,
        cell,
        vector,
    })
}

fn context(facts: Option<&[u8]>) -> Result<Terms, BadRow> {
    let what = "recall entry";
    let (facts, _) = facts.and_then(part).ok_or(BadRow { what })?;
    Ok(Facts::from_part(facts)?.context)
}

fn to_diff(row: &Row) -> Result<KeptDiff, BadRow> {
    let row = Columns(row);
    let other: Option<&[u8]> = row.get(5, "id")?;
    let gone = if row.get(11, "id")? {
        None
    } else {
        Some(Gone {
            project: to_project(row.get(12, "project")?)?,
            author: CredentialId::new(row.id(13)?),
        })
    };
    Ok(KeptDiff {
        diff: Diff {
            sequence: Sequence::default(),
            id: DiffId::new(row.id(1)?),
            kind: to_diff_kind(row.get(2, "kind of diff")?)?,
            cell: CellId::new(row.id(3)?),
            revision: row.count(4, "revision")?,
            other: other.map(to_uuid).transpose()?.map(CellId::new),
            author: CredentialId::new(row.id(6)?),
            cell_type: to_cell_type(row.get(7, "type")?)?,
            salience: to_share(row.get(8, "salience")?, "salience")?,
            at: row.time(9)?,
        },
        visibility: to_visibility(row.get(10, "visibility")?)?,
        gone,
    })
}
