//! What is done in the background: changes that wait set out, batch by batch.

use jiff::{SignedDuration, Timestamp};

use super::gossip::{self, Route, Rules, Stayed, Walk, route, travel};
use crate::{
    diff::Diff,
    ids::{CredentialId, TenantId, WorkerId},
    ports::{GossipStore, Settled, Settlement, StoreError, Waiting},
    scope::Project,
};

/// How many changes are taken on at once.
pub const BATCH: usize = 64;

/// For how long changes are taken on: much longer than a batch takes, and not so long that the
/// changes of a process that died are missed.
pub const TERM: SignedDuration = SignedDuration::from_secs(60);

/// How often a change is taken on before it is given up: a change that ends processes must not
/// end all of them, for ever.
pub const ATTEMPTS: u32 = 5;

/// What became of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Batch {
    /// How many changes were settled.
    pub settled: usize,
    /// How many somebody else settled in the meantime.
    pub lost: usize,
}

impl Batch {
    /// Tells whether there was nothing to do.
    pub const fn is_empty(self) -> bool {
        self.settled + self.lost == 0
    }
}

/// Lets the changes of a tenant that wait set out, at most [`BATCH`] of them, in the order in which
/// they were committed. `rules` gives the numbers of a project.
///
/// # Errors
/// [`StoreError`]; what was settled before it stays settled, the rest is taken on again when its
/// lease has run out.
pub async fn gossip(
    store: &dyn GossipStore,
    tenant: TenantId,
    worker: WorkerId,
    rules: &(dyn Fn(&Project) -> Rules + Sync),
    now: Timestamp,
) -> Result<Batch, StoreError> {
    let mut batch = Batch::default();
    let until = now.saturating_add(TERM).unwrap_or(Timestamp::MAX);
    let expired = now
        .saturating_sub(Rules::default().lifetime)
        .unwrap_or(Timestamp::MIN);
    let taken = store
        .lease_diffs(tenant, worker, now, until, expired, BATCH)
        .await?;
    // What the batch itself has spent is not in `Waiting::spent`.
    let mut spent: Vec<(CredentialId, Timestamp, f64)> = Vec::new();
    for mut waiting in taken {
        let rules = rules(&waiting.commons.project);
        let Diff { author, at, .. } = waiting.diff;
        let since = at.saturating_sub(gossip::HOUR).unwrap_or(Timestamp::MIN);
        let before = spent.iter().filter(|one| one.0 == author && one.1 > since);
        waiting.spent += before.map(|one| one.2).sum::<f64>();
        let settled = settled(store, &waiting, rules, now).await?;
        let (diff, lease) = (waiting.diff.id, waiting.lease);
        match store.settle(tenant, diff, lease, &settled, now).await? {
            Settlement::Done => {
                batch.settled += 1;
                if let Settled::Travelled { energy, .. } = settled {
                    spent.push((author, at, energy));
                }
            }
            Settlement::Lost => batch.lost += 1,
        }
    }
    Ok(batch)
}

async fn settled(
    store: &dyn GossipStore,
    waiting: &Waiting,
    rules: Rules,
    now: Timestamp,
) -> Result<Settled, StoreError> {
    if waiting.lease.number > ATTEMPTS {
        tracing::warn!(diff.id = %waiting.diff.id, "a change was given up: it did not settle");
        return Ok(Settled::Stayed(Stayed::Failed));
    }
    if route(waiting.diff.kind) == Route::Follow {
        return Ok(Settled::Followed);
    }
    let Some(carried) = waiting.carried() else {
        return Ok(Settled::Stayed(Stayed::Hidden));
    };
    let energy = carried.energy;
    match Walk::begin(carried, rules, now) {
        Err(stayed) => Ok(Settled::Stayed(stayed)),
        Ok(walk) => {
            let graph = store.graph(&waiting.commons);
            let journey = travel(graph.as_ref(), walk).await?;
            Ok(Settled::Travelled { energy, journey })
        }
    }
}
