//! What a store takes in. What is there already stays as it is.

use hyphae_core::{
    audit::AuditRow,
    cell::{Cell, Visibility},
    conflict::Conflict,
    diff::Diff,
    ids::{CellId, CredentialId, TenantId},
    ports::{
        ChosenModel, Committed, Confirmation, Derived, Item, KeptCell, KeptDiff, Link, Past, Put,
    },
    recall::{self, Vector},
    relation::Relation,
    scope::{Project, Scope},
};
use jiff::Timestamp;

use super::{
    super::{audit, commit::ensure_project, entries, insert, tags},
    items::one,
    keys::{Kind, found_by},
};
use crate::{
    error::{BadRow, Fault},
    sql::{Connection, either, sql},
    statements::{
        models::{self, NO_MODEL, Turns, check_dimension, give_back, take_turns},
        row::{
            Columns, from_cell_type, from_conflict_kind, from_diff_kind, from_relation_kind,
            from_time, from_verdict, from_visibility, to_visibility,
        },
        scope::of_tenant,
    },
};

pub(super) async fn put_items(
    connection: &mut Connection,
    tenant: TenantId,
    items: &[Item],
) -> Result<Vec<Put>, Fault> {
    let places = items.iter().filter(|item| takes_turn(item)).count();
    let turns = take_turns(connection, tenant, places).await?;
    let mut taking = Taking {
        tenant,
        next: turns.first,
        turns,
    };
    let end = taking.next + i64::try_from(places).unwrap_or(i64::MAX);
    let mut puts = Vec::with_capacity(items.len());
    for item in items {
        puts.push(Box::pin(taking.put(connection, item)).await?);
    }
    if taking.next < end {
        give_back(connection, tenant, end - taking.next).await?;
    }
    Ok(puts)
}

/// Whether an item takes a place in the order of changes, if it is new.
const fn takes_turn(item: &Item) -> bool {
    matches!(item, Item::Cell(_) | Item::Diff(_))
}

/// What is known while items are taken in.
struct Taking {
    tenant: TenantId,
    /// The next place in the order of changes.
    next: i64,
    turns: Turns,
}

/// Where a cell lies and who sees it.
struct Home {
    project: i64,
    author: CredentialId,
    visibility: Visibility,
}

impl Taking {
    async fn put(&mut self, connection: &mut Connection, item: &Item) -> Result<Put, Fault> {
        let (kind, place) = found_by(item);
        if let Some(there) = one(connection, self.tenant, (kind, &place)).await? {
            return Ok(compare(&there, item));
        }
        match item {
            Item::Identity {
                id,
                name,
                created_at,
                revoked_at,
            } => {
                self.put_identity(connection, *id, name, *created_at, *revoked_at)
                    .await
            }
            Item::Cell(kept) => self.put_cell(connection, kept).await,
            Item::Past(past) => self.put_past(connection, past).await,
            Item::Link { from, link } => self.put_link(connection, *from, link).await,
            Item::Relation(relation) => self.put_relation(connection, relation).await,
            Item::Conflict(conflict) => self.put_conflict(connection, conflict).await,
            Item::Confirmation(voice) => self.put_confirmation(connection, voice).await,
            Item::Key {
                credential,
                key,
                cell,
            } => self.put_key(connection, *credential, key, *cell).await,
            Item::Diff(kept) => self.put_diff(connection, kept).await,
            Item::Audit(row) => self.put_audit(connection, row).await,
        }
    }

    /// The key is a hash that no key has: 32 random bytes.
    async fn put_identity(
        &self,
        connection: &mut Connection,
        id: CredentialId,
        name: &str,
        created_at: Timestamp,
        revoked_at: Option<Timestamp>,
    ) -> Result<Put, Fault> {
        let mut hash = [0; 32];
        getrandom::fill(&mut hash).map_err(|_| Fault::other("no randomness"))?;
        let sql = sql!(
            "insert into credentials
                 (tenant_id, credential_id, key_hash, name, created_at, revoked_at)
             values ($1, $2, $3, $4, $5, $6)"
        );
        of_tenant(sql, self.tenant)
            .bind(id.uuid())
            .bind(hash.as_slice())
            .bind(name)
            .bind(from_time(created_at))
            .bind(revoked_at.map(from_time))
            .execute(connection)
            .await?;
        Ok(Put::New)
    }

    async fn put_cell(
        &mut self,
        connection: &mut Connection,
        kept: &KeptCell,
    ) -> Result<Put, Fault> {
        let cell = &kept.cell;
        let scope = self.scope_of(cell.author, &cell.project);
        let (model, number, vector) = self.vector(connection, kept.vector.as_ref()).await?;
        let derived = Derived {
            fingerprint: cell.content.fingerprint(),
            model,
            vector,
            embedded_text: kept.embedded_text.clone(),
            terms: recall::terms_of(cell.content.as_str()),
            context: kept.context.clone(),
            links: Vec::new(),
        };
        ensure_project(connection, &scope).await?;
        if !insert::add_cell(connection, &scope, cell, &derived, self.next).await? {
            let own = insert::Own::default();
            let twin = insert::twin(connection, &scope, cell, derived.fingerprint, own).await?;
            return match twin {
                Some(Committed::Same(id) | Committed::TopicTaken(id)) => Ok(Put::Taken(id)),
                _ => Err(Fault::other(
                    "a cell cannot be kept, and it is not known why",
                )),
            };
        }
        entries::add(connection, &scope, cell, &derived, self.next, number).await?;
        tags::add(connection, &scope, cell, None).await?;
        let sql = sql!("update cells set last_access = $3 where tenant_id = $1 and cell_id = $2");
        of_tenant(sql, self.tenant)
            .bind(cell.id.uuid())
            .bind(from_time(kept.last_access))
            .execute(connection)
            .await?;
        self.next += 1;
        Ok(Put::New)
    }

    /// Returns a vector to keep and the number of its model. In the place of one that is missing
    /// stands one of a model that is never chosen, so that it is made again.
    async fn vector(
        &mut self,
        connection: &mut Connection,
        vector: Option<&(ChosenModel, Vector)>,
    ) -> Result<(ChosenModel, i64, Vector), Fault> {
        let Some((model, vector)) = vector else {
            let model = ChosenModel {
                id: NO_MODEL.to_owned(),
                dimension: 1,
            };
            let number = models::number(connection, self.tenant, &model).await?;
            return Ok((model, number, Vector::quantise(&[0.0])));
        };
        check_dimension(model, vector)?;
        let number = if self.turns.has_model() {
            models::number(connection, self.tenant, model).await?
        } else {
            self.turns.model(connection, self.tenant, model).await?
        };
        Ok((model.clone(), number, vector.clone()))
    }

    async fn put_past(&self, connection: &mut Connection, past: &Past) -> Result<Put, Fault> {
        let id = past.cell.id.uuid();
        let key = (Kind::Cell, &id.as_bytes()[..]);
        let Some(Item::Cell(now)) = one(connection, self.tenant, key).await? else {
            return Ok(Put::Orphan);
        };
        if !comes_before(&past.cell, &now.cell) {
            return Ok(Put::Other);
        }
        let sql = sql!(
            "insert into revisions (tenant_id, cell_id, content, cell_type, salience,
                 confidence, visibility, status, revision, content_revision, topic, tags,
                 valid_from, valid_until, verified_at, source, session_id, position, said_at,
                 updated_at, replaced_by, replaced_at, reason)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
                 $18, $19, $20, $21, $22, $23)"
        );
        let query = of_tenant(sql, self.tenant).bind(past.cell.id.uuid());
        insert::with_state(query, &past.cell)
            .bind(past.replaced_by.uuid())
            .bind(from_time(past.replaced_at))
            .bind(past.reason.as_deref())
            .execute(connection)
            .await?;
        Ok(Put::New)
    }

    async fn put_link(
        &self,
        connection: &mut Connection,
        from: CellId,
        link: &Link,
    ) -> Result<Put, Fault> {
        if !self.are_there(connection, [from, link.to]).await? {
            return Ok(Put::Orphan);
        }
        let sql = sql!(
            "insert into edges (tenant_id, src, kind, dst, weight) values ($1, $2, 0, $3, $4)"
        );
        of_tenant(sql, self.tenant)
            .bind(from.uuid())
            .bind(link.to.uuid())
            .bind(f64::from(link.weight))
            .execute(connection)
            .await?;
        Ok(Put::New)
    }

    async fn put_relation(
        &self,
        connection: &mut Connection,
        relation: &Relation,
    ) -> Result<Put, Fault> {
        if !self
            .are_there(connection, [relation.from, relation.to])
            .await?
        {
            return Ok(Put::Orphan);
        }
        let sql = sql!(
            "insert into edges (tenant_id, edge_id, src, kind, dst, weight, author,
                 created_at, reason, active)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
             on conflict do nothing"
        );
        let done = of_tenant(sql, self.tenant)
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
        Ok(new_or_other(done))
    }

    async fn put_conflict(
        &self,
        connection: &mut Connection,
        conflict: &Conflict,
    ) -> Result<Put, Fault> {
        if !self
            .are_there(connection, [conflict.left, conflict.right])
            .await?
        {
            return Ok(Put::Orphan);
        }
        let sql = sql!(
            "insert into conflicts (tenant_id, conflict_id, left_id, right_id, kind, why,
                 opened_by, opened_at, verdict, reason, decided_by, decided_at)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict do nothing"
        );
        let end = conflict.resolution.as_ref();
        let done = of_tenant(sql, self.tenant)
            .bind(conflict.id.uuid())
            .bind(conflict.left.uuid())
            .bind(conflict.right.uuid())
            .bind(from_conflict_kind(conflict.kind))
            .bind(conflict.why.as_deref())
            .bind(conflict.opened_by.uuid())
            .bind(from_time(conflict.opened_at))
            .bind(end.map(|end| from_verdict(end.verdict)))
            .bind(end.map(|end| end.reason.as_str()))
            .bind(end.map(|end| end.by.uuid()))
            .bind(end.map(|end| from_time(end.at)))
            .execute(connection)
            .await?;
        Ok(new_or_other(done))
    }

    async fn put_confirmation(
        &self,
        connection: &mut Connection,
        voice: &Confirmation,
    ) -> Result<Put, Fault> {
        if !self.are_there(connection, [voice.cell]).await? {
            return Ok(Put::Orphan);
        }
        let sql = sql!(
            "insert into confirmations
                 (tenant_id, cell_id, credential_id, revision, confirmed_at, evidence)
             values ($1, $2, $3, $4, $5, $6)"
        );
        of_tenant(sql, self.tenant)
            .bind(voice.cell.uuid())
            .bind(voice.by.uuid())
            .bind(i64::from(voice.revision))
            .bind(from_time(voice.at))
            .bind(voice.evidence.as_deref())
            .execute(connection)
            .await?;
        Ok(Put::New)
    }

    async fn put_key(
        &self,
        connection: &mut Connection,
        credential: CredentialId,
        key: &[u8; 32],
        cell: CellId,
    ) -> Result<Put, Fault> {
        let Some(home) = self.home(connection, cell).await? else {
            return Ok(Put::Orphan);
        };
        let sql = sql!(
            "insert into store_keys (tenant_id, credential_id, key, project_no, cell_id)
             values ($1, $2, $3, $4, $5) on conflict do nothing"
        );
        let done = of_tenant(sql, self.tenant)
            .bind(credential.uuid())
            .bind(key.as_slice())
            .bind(home.project)
            .bind(cell.uuid())
            .execute(connection)
            .await?;
        Ok(new_or_other(done))
    }

    /// A diff whose memory is there lies where that does.
    async fn put_diff(
        &mut self,
        connection: &mut Connection,
        kept: &KeptDiff,
    ) -> Result<Put, Fault> {
        let diff = &kept.diff;
        let home = match (self.home(connection, diff.cell).await?, &kept.gone) {
            (Some(home), None) => home,
            (None, Some(gone)) => {
                let scope = self.scope_of(gone.author, &gone.project);
                ensure_project(connection, &scope).await?;
                Home {
                    project: self.project(connection, &gone.project).await?,
                    author: gone.author,
                    visibility: kept.visibility,
                }
            }
            (None, None) => return Ok(Put::Orphan),
            // What is erased there is not erased here.
            (Some(_), Some(_)) => return Ok(Put::Other),
        };
        let sql = sql!(
            "insert into diffs (tenant_id, project_no, sequence, diff_id, kind, cell_id,
                 revision, other, changed_by, author, visibility, reach, cell_type, salience,
                 created_at)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, ",
            either!("max($11, $12)", "greatest($11, $12)"),
            ", $13, $14, $15)"
        );
        of_tenant(sql, self.tenant)
            .bind(home.project)
            .bind(self.next)
            .bind(diff.id.uuid())
            .bind(from_diff_kind(diff.kind))
            .bind(diff.cell.uuid())
            .bind(i64::from(diff.revision))
            .bind(diff.other.map(CellId::uuid))
            .bind(diff.author.uuid())
            .bind(home.author.uuid())
            .bind(from_visibility(kept.visibility))
            .bind(from_visibility(home.visibility))
            .bind(from_cell_type(diff.cell_type))
            .bind(diff.salience.get())
            .bind(from_time(diff.at))
            .execute(connection)
            .await?;
        self.next += 1;
        Ok(Put::New)
    }

    async fn put_audit(&self, connection: &mut Connection, row: &AuditRow) -> Result<Put, Fault> {
        let scope = self.scope_of(row.credential, &row.project);
        ensure_project(connection, &scope).await?;
        audit::add_row(connection, &scope, row).await?;
        Ok(Put::New)
    }

    /// Returns who wrote something where, which sees it whatever its visibility is.
    fn scope_of(&self, author: CredentialId, project: &Project) -> Scope {
        Scope {
            tenant: self.tenant,
            credential: author,
            project: project.clone(),
        }
    }

    async fn are_there<const N: usize>(
        &self,
        connection: &mut Connection,
        ids: [CellId; N],
    ) -> Result<bool, Fault> {
        for id in ids {
            if self.home(connection, id).await?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn home(&self, connection: &mut Connection, id: CellId) -> Result<Option<Home>, Fault> {
        let sql = sql!(
            "select project_no, author, visibility from cells
             where tenant_id = $1 and cell_id = $2"
        );
        let row = of_tenant(sql, self.tenant)
            .bind(id.uuid())
            .fetch_optional(connection)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let row = Columns(&row);
        Ok(Some(Home {
            project: row.get(0, "project")?,
            author: CredentialId::new(row.id(1)?),
            visibility: to_visibility(row.get(2, "visibility")?)?,
        }))
    }

    async fn project(&self, connection: &mut Connection, project: &Project) -> Result<i64, Fault> {
        let sql = sql!("select project_no from projects where tenant_id = $1 and name = $2");
        let row = of_tenant(sql, self.tenant)
            .bind(project.as_str())
            .fetch_optional(connection)
            .await?
            .ok_or(BadRow { what: "project" })?;
        Ok(Columns(&row).get(0, "project")?)
    }
}

/// Compares what is there with what is to be put. When a memory was last read, and how its
/// vector was made, makes no other memory of it.
fn compare(there: &Item, item: &Item) -> Put {
    let same = match (there, item) {
        (Item::Cell(there), Item::Cell(kept)) => there.cell == kept.cell,
        (Item::Diff(there), Item::Diff(kept)) => {
            let diff = Diff {
                sequence: there.diff.sequence,
                ..kept.diff.clone()
            };
            (&there.diff, there.visibility, &there.gone) == (&diff, kept.visibility, &kept.gone)
        }
        _ => there == item,
    };
    if same { Put::Same } else { Put::Other }
}

/// Tells whether a state is an earlier one of a cell.
fn comes_before(past: &Cell, now: &Cell) -> bool {
    past.revision < now.revision
        && (past.author, &past.project, past.layer, past.created_at)
            == (now.author, &now.project, now.layer, now.created_at)
}

/// Something under another id stands where this would.
fn new_or_other(done: u64) -> Put {
    if done > 0 { Put::New } else { Put::Other }
}
