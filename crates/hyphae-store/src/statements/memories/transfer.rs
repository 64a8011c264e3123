//! Everything of a tenant, for whoever runs the store: no scope applies here.
//!
//! `items` gives out and `put` takes in; `keys` says in which order, `sql` holds what is read.

mod items;
mod keys;
mod put;
mod sql;

use async_trait::async_trait;
use hyphae_core::{
    ports::{Item, ItemKey, Put, StoreError, TransferStore},
    scope::{Owner, Project},
};

use crate::store::{Hold, Store, Verdict};

#[async_trait]
impl TransferStore for Store {
    #[tracing::instrument(skip_all, fields(limit))]
    async fn items(
        &self,
        owner: Owner,
        project: Option<&Project>,
        after: Option<&ItemKey>,
        limit: usize,
    ) -> Result<Vec<(ItemKey, Item)>, StoreError> {
        self.read(async |connection| {
            items::items(connection, owner.tenant, project, after, limit).await
        })
        .await
    }

    #[tracing::instrument(skip_all, fields(items = items.len()))]
    async fn put_items(&self, owner: Owner, items: &[Item]) -> Result<Vec<Put>, StoreError> {
        let items = items.to_vec();
        self.write(Hold::Tenant(owner.tenant), move |connection| {
            Box::pin(async move {
                let puts = put::put_items(connection, owner.tenant, &items).await?;
                Ok(Verdict::Commit(puts))
            })
        })
        .await
    }
}
