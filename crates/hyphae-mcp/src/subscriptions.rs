//! Telling a client that others changed something.
//!
//! Other processes write to the same store and nobody tells this one, so it asks: only while a
//! client has subscribed, and at the cost of reading one number.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use hyphae_core::{audit::Via, ports::Sequence};
use rmcp::{
    Peer, RoleServer,
    model::{ResourceUpdatedNotificationParam, SubscriptionFilter},
    service::SubscriptionContext,
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::{errors::ToolError, resources::UPDATES, server::Shared};

/// How often is asked.
const EVERY: Duration = Duration::from_secs(2);

/// Sees changes by others in the project of this process.
#[derive(Debug)]
struct Watch {
    shared: Arc<Shared>,
    seen: Option<Sequence>,
}

impl Watch {
    /// Begins to watch: what changes from now on is told.
    async fn begin(shared: Arc<Shared>) -> Self {
        let mut watch = Self { shared, seen: None };
        watch.try_look().await;
        watch
    }

    /// Returns when others have changed something.
    async fn next(&mut self) {
        loop {
            tokio::time::sleep(EVERY).await;
            if self.try_look().await {
                return;
            }
        }
    }

    /// A store that cannot be asked now is asked again; who calls a tool is told why.
    async fn try_look(&mut self) -> bool {
        let found = self.look().await;
        found.unwrap_or_else(|error| {
            tracing::debug!(
                code = error.code(),
                "the store could not be asked for changes"
            );
            false
        })
    }

    async fn look(&mut self) -> Result<bool, ToolError> {
        let call = self.shared.call(None, Via::default()).await?;
        let store = call.memories().store_port();
        let newest = store.newest(call.scope.owner()).await?;
        let Some(seen) = self.seen.filter(|seen| *seen != newest) else {
            self.seen = Some(newest);
            return Ok(false);
        };
        let others = store.diffs(&call.scope, seen, &[], false, 1).await?;
        self.seen = Some(newest);
        Ok(!others.is_empty())
    }
}

/// The one subscription that a connection of the older era may have.
#[derive(Debug, Clone, Default)]
pub(crate) struct Subscription(Arc<Mutex<Option<AbortOnDropHandle<()>>>>);

impl Subscription {
    /// Tells the client from now on.
    pub(crate) async fn begin(&self, shared: Arc<Shared>, peer: Peer<RoleServer>) {
        let mut watch = Watch::begin(shared).await;
        let telling = tokio::spawn(async move {
            loop {
                watch.next().await;
                let changed = ResourceUpdatedNotificationParam::new(UPDATES);
                if peer.notify_resource_updated(changed).await.is_err() {
                    return;
                }
            }
        });
        self.put(Some(AbortOnDropHandle::new(telling)));
    }

    /// Tells it no more.
    pub(crate) fn end(&self) {
        self.put(None);
    }

    fn put(&self, telling: Option<AbortOnDropHandle<()>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = telling;
    }
}

/// What of a subscription is taken: there is one resource that tells of changes.
pub(crate) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let all = SubscriptionFilter::builder()
        .resource_subscriptions([UPDATES])
        .build();
    requested.intersection(&all)
}

/// Serves a subscription of the newer era until it is taken back or the connection ends.
pub(crate) async fn listen(
    shared: Arc<Shared>,
    context: &SubscriptionContext,
    ended: &CancellationToken,
) {
    let telling = async {
        if context.accepted().resource_subscriptions.is_none() {
            return std::future::pending().await;
        }
        let mut watch = Watch::begin(shared).await;
        loop {
            watch.next().await;
            if context
                .sink()
                .notify_resource_updated(UPDATES)
                .await
                .is_err()
            {
                return;
            }
        }
    };
    tokio::select! {
        () = telling => {}
        () = context.cancelled() => {}
        () = ended.cancelled() => {}
    }
}
