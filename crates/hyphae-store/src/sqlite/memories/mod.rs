//! Memories: cells, what recall needs of them, and the links between them.
//!
//! `insert` and `merge` write cells, `entries` writes and reads what recall needs, `edges` keeps
//! links within their bounds, `reads` and `maintenance` are the rest.

mod edges;
mod entries;
mod insert;
mod maintenance;
mod merge;
mod reads;

use async_trait::async_trait;
use hyphae_core::{
    cell::Cell,
    ids::{CellId, SessionId},
    ports::{
        Change, ChosenModel, Inserted, Link, MemoryStore, NewCell, Sequence, StaleVector,
        Statistics, StoreError,
    },
    recall::Vector,
    scope::{Owner, Scope},
};
use jiff::Timestamp;

use super::{SqliteStore, connections::Verdict, models};

#[async_trait]
impl MemoryStore for SqliteStore {
    async fn chosen_model(&self, owner: Owner) -> Result<Option<ChosenModel>, StoreError> {
        self.read(async |connection| models::chosen(connection, owner.tenant).await)
            .await
    }

    #[tracing::instrument(skip_all, fields(model = %model.id))]
    async fn choose_model(&self, owner: Owner, model: &ChosenModel) -> Result<(), StoreError> {
        let model = model.clone();
        self.write(move |connection| {
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
    ) -> Result<Vec<Change>, StoreError> {
        self.read(async |connection| entries::changes(connection, scope, after, limit).await)
            .await
    }

    #[tracing::instrument(skip_all, fields(cell.id = %new.cell.id))]
    async fn insert_cell(&self, scope: &Scope, new: &NewCell) -> Result<Inserted, StoreError> {
        let (scope, new) = (scope.clone(), new.clone());
        self.write(move |connection| {
            Box::pin(async move { insert::insert(connection, &scope, &new).await })
        })
        .await
    }

    #[tracing::instrument(skip_all, fields(cell.id = %id))]
    async fn merge_into(
        &self,
        scope: &Scope,
        id: CellId,
        expected_revision: u32,
        new: &NewCell,
    ) -> Result<Option<u32>, StoreError> {
        let (scope, new) = (scope.clone(), new.clone());
        self.write(move |connection| {
            Box::pin(
                async move { merge::merge(connection, &scope, id, expected_revision, &new).await },
            )
        })
        .await
    }

    async fn cells(&self, scope: &Scope, ids: &[CellId]) -> Result<Vec<Cell>, StoreError> {
        self.read(async |connection| reads::cells(connection, scope, ids).await)
            .await
    }

    async fn links(
        &self,
        scope: &Scope,
        ids: &[CellId],
    ) -> Result<Vec<(CellId, Vec<Link>)>, StoreError> {
        self.read(async |connection| edges::links(connection, scope, ids).await)
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
        let (scope, ids) = (scope.clone(), ids.to_vec());
        self.write(move |connection| {
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
        self.write(move |connection| {
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
}

/// Returns ids as a JSON array of hexadecimal texts, for `json_each`.
fn ids_as_json(ids: &[CellId]) -> String {
    let texts: Vec<String> = ids.iter().map(|id| hex(*id)).collect();
    // Nothing in it needs escaping.
    if texts.is_empty() {
        "[]".to_owned()
    } else {
        format!("[\"{}\"]", texts.join("\",\""))
    }
}

fn hex(id: CellId) -> String {
    id.uuid().as_simple().to_string()
}
