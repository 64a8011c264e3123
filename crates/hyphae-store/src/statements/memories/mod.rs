//! Memories: cells, what recall needs of them, their history, and what leads from one to another.
//!
//! `commit` carries out a write; `insert`, `revise`, `erase`, `relations`, `conflicts` and
//! `voices` are its steps and the reads that belong to them, `audit` and `diffs` what they leave
//! behind. `entries` writes and reads what recall needs, `edges` keeps semantic links within
//! their bounds, `tags` and `names` serve completions, `transfer` moves
//! everything, `reads` and `maintenance` are the rest.

mod audit;
mod commit;
mod conflicts;
mod diffs;
mod edges;
mod entries;
mod erase;
mod insert;
mod kept;
mod maintenance;
mod names;
mod reads;
mod relations;
mod revise;
mod tags;
mod transfer;
mod voices;

use async_trait::async_trait;
use hyphae_core::{
    audit::AuditRow,
    cell::{Cell, Visibility},
    conflict::Conflict,
    diff::{Diff, DiffKind},
    ids::{CellId, ConflictId, EdgeId, SessionId},
    label::Topic,
    ports::{
        AuditFilter, Change, ChosenModel, Committed, Confirmation, Link, MemoryStore, Past, Seen,
        Sequence, StaleVector, Statistics, Step, StoreError, Wanted, Write,
    },
    recall::Vector,
    relation::Relation,
    scope::{Owner, Scope},
};
use jiff::Timestamp;
use uuid::Uuid;

use crate::{
    error::BadRow,
    statements::models,
    store::{Hold, Proof, Store, Verdict},
};

#[async_trait]
impl MemoryStore for Store {
    async fn chosen_model(&self, owner: Owner) -> Result<Option<ChosenModel>, StoreError> {
        self.read(async |connection| models::chosen(connection, owner.tenant).await)
            .await
    }

    #[tracing::instrument(skip_all, fields(model = %model.id))]
    async fn choose_model(&self, owner: Owner, model: &ChosenModel) -> Result<(), StoreError> {
        let model = model.clone();
        self.write(Hold::Tenant(owner.tenant), move |connection| {
            Box::pin(async move {
                models::choose(connection, owner.tenant, &model).await?;
                Ok(Verdict::Commit(()))
            })
        })
        .await
    }

    #[tracing::instrument(skip_all, fields(after = after.0, limit))]
    async fn changes(
        &self,
        scope: &Scope,
        after: Sequence,
        limit: usize,
        model: &ChosenModel,
    ) -> Result<Vec<Change>, StoreError> {
        self.read(async |connection| entries::changes(connection, scope, after, limit, model).await)
            .await
    }

    #[tracing::instrument(skip_all, fields(audit.id = %write.id, steps = write.steps.len()))]
    async fn commit(&self, scope: &Scope, write: &Write) -> Result<Committed, StoreError> {
        let erases = (write.steps.iter()).any(|step| matches!(step, Step::Erase { .. }));
        let proof = Proof {
            tenant: scope.tenant,
            audit: write.id,
        };
        let (scope, write) = (scope.clone(), write.clone());
        let done = self
            .write_audited(proof, move |connection| {
                Box::pin(async move { commit::commit(connection, &scope, &write).await })
            })
            .await?;
        if erases && done.is_done() {
            self.empty_log().await;
        }
        Ok(done)
    }

    async fn cells(&self, scope: &Scope, ids: &[CellId]) -> Result<Vec<Cell>, StoreError> {
        self.read(async |connection| reads::cells(connection, scope, ids).await)
            .await
    }

    async fn links(
        &self,
        scope: &Scope,
        ids: &[CellId],
        seen: Seen<'_>,
    ) -> Result<Vec<(CellId, Vec<Link>)>, StoreError> {
        self.read(async |connection| edges::links(connection, scope, ids, seen).await)
            .await
    }

    async fn last_of_session(
        &self,
        scope: &Scope,
        session: SessionId,
    ) -> Result<Option<Cell>, StoreError> {
        self.read(async |connection| reads::last_of_session(connection, scope, session).await)
            .await
    }

    async fn touch(&self, scope: &Scope, ids: &[CellId], at: Timestamp) -> Result<(), StoreError> {
        let (hold, scope, ids) = (Hold::Tenant(scope.tenant), scope.clone(), ids.to_vec());
        self.write(hold, move |connection| {
            Box::pin(async move {
                reads::touch(connection, &scope, &ids, at).await?;
                Ok(Verdict::Commit(()))
            })
        })
        .await
    }

    async fn stale_vectors(
        &self,
        owner: Owner,
        limit: usize,
    ) -> Result<Vec<StaleVector>, StoreError> {
        self.read(async |connection| {
            maintenance::stale_vectors(connection, owner.tenant, limit).await
        })
        .await
    }

    #[tracing::instrument(skip_all, fields(model = %model.id, vectors = vectors.len()))]
    async fn replace_vectors(
        &self,
        owner: Owner,
        model: &ChosenModel,
        vectors: &[(CellId, u32, Vector)],
    ) -> Result<(), StoreError> {
        let (model, vectors) = (model.clone(), vectors.to_vec());
        self.write(Hold::Tenant(owner.tenant), move |connection| {
            Box::pin(async move {
                maintenance::replace_vectors(connection, owner.tenant, &model, &vectors).await?;
                Ok(Verdict::Commit(()))
            })
        })
        .await
    }

    async fn statistics(&self, owner: Owner) -> Result<Statistics, StoreError> {
        self.read(async |connection| maintenance::statistics(connection, owner.tenant).await)
            .await
    }

    async fn ids_beginning(
        &self,
        scope: &Scope,
        wanted: Wanted,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<Uuid>, StoreError> {
        self.read(async |connection| {
            names::ids_beginning(connection, scope, wanted, prefix, limit).await
        })
        .await
    }

    async fn cell_of_topic(
        &self,
        scope: &Scope,
        topic: &Topic,
        visibility: Visibility,
    ) -> Result<Option<Cell>, StoreError> {
        self.read(async |connection| {
            reads::cell_of_topic(connection, scope, topic, visibility).await
        })
        .await
    }

    async fn cell_of_key(
        &self,
        scope: &Scope,
        key: &[u8; 32],
    ) -> Result<Option<CellId>, StoreError> {
        self.read(async |connection| voices::cell_of_key(connection, scope, key).await)
            .await
    }

    async fn history(&self, scope: &Scope, id: CellId) -> Result<Vec<Past>, StoreError> {
        self.read(async |connection| reads::history(connection, scope, id).await)
            .await
    }

    async fn relations(
        &self,
        scope: &Scope,
        ids: &[CellId],
        retracted: bool,
    ) -> Result<Vec<Relation>, StoreError> {
        self.read(async |connection| relations::relations(connection, scope, ids, retracted).await)
            .await
    }

    async fn relations_by_id(
        &self,
        scope: &Scope,
        ids: &[EdgeId],
    ) -> Result<Vec<Relation>, StoreError> {
        self.read(async |connection| relations::relations_by_id(connection, scope, ids).await)
            .await
    }

    async fn confirmations(
        &self,
        scope: &Scope,
        ids: &[CellId],
    ) -> Result<Vec<Confirmation>, StoreError> {
        self.read(async |connection| voices::confirmations(connection, scope, ids).await)
            .await
    }

    async fn open_conflicts(
        &self,
        scope: &Scope,
        cells: &[CellId],
        after: Option<ConflictId>,
        limit: usize,
    ) -> Result<Vec<Conflict>, StoreError> {
        self.read(async |connection| {
            conflicts::open_conflicts(connection, scope, cells, after, limit).await
        })
        .await
    }

    async fn conflict(
        &self,
        scope: &Scope,
        id: ConflictId,
    ) -> Result<Option<Conflict>, StoreError> {
        self.read(async |connection| conflicts::conflict(connection, scope, id).await)
            .await
    }

    #[tracing::instrument(skip_all, fields(after = after.0, limit))]
    async fn diffs(
        &self,
        scope: &Scope,
        after: Sequence,
        kinds: &[DiffKind],
        own: bool,
        limit: usize,
    ) -> Result<Vec<Diff>, StoreError> {
        self.read(async |connection| {
            diffs::diffs(connection, scope, after, kinds, own, limit).await
        })
        .await
    }

    async fn newest(&self, owner: Owner) -> Result<Sequence, StoreError> {
        self.read(async |connection| models::newest(connection, owner.tenant).await)
            .await
    }

    async fn names(
        &self,
        scope: &Scope,
        wanted: Wanted,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        self.read(async |connection| names::names(connection, scope, wanted, prefix, limit).await)
            .await
    }

    #[tracing::instrument(skip_all, fields(limit = filter.limit))]
    async fn audit(&self, owner: Owner, filter: &AuditFilter) -> Result<Vec<AuditRow>, StoreError> {
        self.read(async |connection| audit::page(connection, owner.tenant, filter).await)
            .await
    }
}

impl Store {
    /// Writes the log back into the file and empties it: it holds what was erased from the file.
    async fn empty_log(&self) {
        if let Err(fault) = self.forget_erased().await {
            tracing::warn!(
                ?fault,
                "the log still holds what was erased, until it is reused"
            );
        }
    }
}

/// Returns ids as a list that a statement takes as rows.
fn uuids(ids: &[CellId]) -> Vec<Uuid> {
    ids.iter().map(|id| id.uuid()).collect()
}

fn hex(id: Uuid) -> String {
    id.as_simple().to_string()
}

fn json<T: serde::Serialize + ?Sized>(value: &T) -> Result<String, BadRow> {
    serde_json::to_string(value).map_err(|_| BadRow { what: "JSON" })
}

/// Returns a limit as SQLite takes it.
fn limit_of(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
