//! The queue and the inboxes of gossip in memory, over any store of memories.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use hyphae_core::{
    cell::{Cell, Layer, Status, Visibility},
    diff::{Diff, DiffKind},
    ids::{CellId, CredentialId, DiffId, NodeId, TenantId, WorkerId},
    living::{
        gossip::Told,
        node::{Neighbour, Node, NodeKind},
    },
    ports::{
        AuditFilter, GossipStore, Graph, Inbox, Lease, Letter, MemoryStore, Sequence, Settled,
        Settlement, StoreError, Subject, Waiting,
    },
    recall::Vector,
    scope::{Owner, Project, Scope},
};
use jiff::{SignedDuration, Timestamp};

/// Keeps what travels in memory, by the contract of [`GossipStore`]. A clone is another handle of
/// the same queue.
#[derive(Debug, Clone)]
pub struct MemoryGossip {
    memories: Arc<dyn MemoryStore>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    leases: HashMap<DiffId, Leased>,
    settled: HashMap<DiffId, (Diff, Settled)>,
    boxes: BTreeMap<(CredentialId, Project), Mailbox>,
    listeners: Vec<(CellId, Layer, Neighbour)>,
}

#[derive(Debug)]
struct Leased {
    lease: Lease,
    end: Timestamp,
    diff: Diff,
    /// A scope that can see its cell, if any can.
    scope: Scope,
}

#[derive(Debug, Default)]
struct Mailbox {
    letters: Vec<Letter>,
    /// Every diff that ever arrived.
    known: HashMap<DiffId, CellId>,
    dropped: u64,
    next: u64,
}

impl Mailbox {
    fn put(&mut self, diff: &Diff, told: Option<Told>, at: Timestamp) {
        if self.known.insert(diff.id, diff.cell).is_some() {
            return;
        }
        self.next += 1;
        self.letters.push(Letter {
            number: self.next,
            diff: diff.clone(),
            told,
            at,
            read: false,
        });
        let unread = self.letters.iter().filter(|letter| !letter.read).count();
        if unread > Inbox::MOST
            && let Some(oldest) = self.letters.iter().position(|letter| !letter.read)
        {
            self.letters.remove(oldest);
            self.dropped += 1;
        }
    }
}

impl MemoryGossip {
    /// Begins with every diff of a store waiting.
    pub fn new(memories: Arc<dyn MemoryStore>) -> Self {
        Self {
            memories,
            state: Arc::default(),
        }
    }

    /// Lets a link lead from a cell to one who listens.
    pub fn listen(&self, from: CellId, layer: Layer, to: Neighbour) {
        self.state().listeners.push((from, layer, to));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the scopes in which somebody of a tenant ever wrote something.
    async fn scopes(&self, tenant: TenantId) -> Result<Vec<Scope>, StoreError> {
        let anybody = Owner {
            tenant,
            credential: CredentialId::new(uuid::Uuid::nil()),
        };
        let all = AuditFilter {
            limit: usize::MAX,
            ..AuditFilter::default()
        };
        let mut scopes: Vec<Scope> = Vec::new();
        for row in self.memories.audit(anybody, &all).await? {
            let owner = Owner {
                tenant,
                credential: row.credential,
            };
            let scope = owner.in_project(row.project);
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
        Ok(scopes)
    }

    /// Returns all diffs of a tenant in their order, each with a scope that can see it.
    async fn diffs(&self, tenant: TenantId) -> Result<Vec<(Diff, Scope)>, StoreError> {
        let mut found = BTreeMap::new();
        for scope in self.scopes(tenant).await? {
            let diffs = self
                .memories
                .diffs(&scope, Sequence(0), &[], true, usize::MAX);
            for diff in diffs.await? {
                found
                    .entry((diff.sequence, diff.id))
                    .or_insert_with(|| (diff, scope.clone()));
            }
        }
        Ok(found.into_values().collect())
    }

    async fn cell(&self, scope: &Scope, id: CellId) -> Result<Option<Cell>, StoreError> {
        let cells = self.memories.cells(scope, &[id]).await?;
        Ok(cells.into_iter().next())
    }

    /// Tells whether anybody in a tenant can see a cell.
    async fn exists(&self, tenant: TenantId, id: CellId) -> Result<bool, StoreError> {
        for scope in self.scopes(tenant).await? {
            if self.cell(&scope, id).await?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn vectors(&self, commons: &Scope) -> Result<HashMap<CellId, Vector>, StoreError> {
        let Some(model) = self.memories.chosen_model(commons.owner()).await? else {
            return Ok(HashMap::new());
        };
        let all = self
            .memories
            .changes(commons, Sequence(0), usize::MAX, &model)
            .await?;
        let vectors = (all.into_iter())
            .filter_map(|change| Some((change.id, change.entry?.vector?)))
            .collect();
        Ok(vectors)
    }

    fn spent(&self, diff: &Diff) -> f64 {
        let hour = diff.at - SignedDuration::from_hours(1);
        let state = self.state();
        let others = (state.settled.values())
            .filter(|(other, _)| other.author == diff.author && other.id != diff.id);
        others
            .filter(|(other, _)| hour < other.at && other.at <= diff.at)
            .map(|(_, settled)| match settled {
                Settled::Travelled { energy, .. } => *energy,
                Settled::Followed | Settled::Stayed(_) => 0.0,
            })
            .sum()
    }

    async fn subject(
        &self,
        diff: &Diff,
        cell: &Cell,
        place: &Vector,
        commons: &Scope,
    ) -> Result<Subject, StoreError> {
        let other = match diff.other {
            Some(other) if diff.kind == DiffKind::Contradiction => {
                self.cell(commons, other).await?.map(|cell| cell.salience)
            }
            Some(_) | None => None,
        };
        Ok(Subject {
            layer: cell.layer,
            scene: None,
            tags: cell.tags.clone(),
            place: place.clone(),
            other,
        })
    }
}

impl State {
    fn is_free(&self, diff: DiffId, now: Timestamp) -> bool {
        let runs = self
            .leases
            .get(&diff)
            .is_some_and(|leased| leased.end > now);
        !runs && !self.settled.contains_key(&diff)
    }

    fn lease(
        &mut self,
        diff: &Diff,
        scope: Scope,
        worker: WorkerId,
        now: Timestamp,
        end: Timestamp,
    ) -> Option<Lease> {
        if !self.is_free(diff.id, now) {
            return None;
        }
        let before = self.leases.get(&diff.id);
        let number = before.map_or(0, |leased| leased.lease.number) + 1;
        let lease = Lease { worker, number };
        let diff = diff.clone();
        let leased = Leased {
            lease,
            end,
            diff,
            scope,
        };
        self.leases.insert(leased.diff.id, leased);
        Some(lease)
    }

    /// Returns a diff that waits, if this is its latest lease.
    fn leased(&self, tenant: TenantId, diff: DiffId, lease: Lease) -> Option<(Diff, Scope)> {
        let leased = self.leases.get(&diff)?;
        let ours = leased.lease == lease && leased.scope.tenant == tenant;
        let waits = !self.settled.contains_key(&diff);
        (ours && waits).then(|| (leased.diff.clone(), leased.scope.clone()))
    }
}

#[async_trait]
impl GossipStore for MemoryGossip {
    async fn lease_diffs(
        &self,
        tenant: TenantId,
        worker: WorkerId,
        now: Timestamp,
        until: Timestamp,
        expired: Timestamp,
        limit: usize,
    ) -> Result<Vec<Waiting>, StoreError> {
        let mut taken = Vec::new();
        let mut vectors = HashMap::new();
        for (diff, scope) in self.diffs(tenant).await? {
            if taken.len() == limit {
                break;
            }
            if !self.state().is_free(diff.id, now) {
                continue;
            }
            let cell = self.cell(&scope, diff.cell).await?;
            let project = cell.as_ref().map_or(&scope.project, |cell| &cell.project);
            let commons = Scope::commons(tenant, project.clone());
            if !vectors.contains_key(project) {
                vectors.insert(project.clone(), self.vectors(&commons).await?);
            }
            let place = vectors.get(project).and_then(|all| all.get(&diff.cell));
            let seen = cell.filter(|cell| cell.visibility != Visibility::Private);
            let subject = match (&seen, place) {
                (Some(cell), Some(place)) => {
                    Some(self.subject(&diff, cell, place, &commons).await?)
                }
                (Some(_), None) if diff.at > expired => continue,
                _ => None,
            };
            let spent = self.spent(&diff);
            if let Some(lease) = self.state().lease(&diff, scope, worker, now, until) {
                taken.push(Waiting {
                    diff,
                    lease,
                    commons,
                    subject,
                    spent,
                });
            }
        }
        Ok(taken)
    }

    async fn settle(
        &self,
        tenant: TenantId,
        diff: DiffId,
        lease: Lease,
        settled: &Settled,
        at: Timestamp,
    ) -> Result<Settlement, StoreError> {
        let found = self.state().leased(tenant, diff, lease);
        let Some((diff, scope)) = found else {
            return Ok(Settlement::Lost);
        };
        let cell = self.cell(&scope, diff.cell).await?;
        let project = cell.map_or(scope.project, |cell| cell.project);
        let mut state = self.state();
        if state.leased(tenant, diff.id, lease).is_none() {
            return Ok(Settlement::Lost);
        }
        match settled {
            Settled::Travelled { journey, .. } => {
                for told in journey.told() {
                    let mailbox = state.boxes.entry((told.whom, project.clone())).or_default();
                    mailbox.put(&diff, Some(told), at);
                }
            }
            Settled::Followed => {
                for ((whom, _), mailbox) in &mut state.boxes {
                    let knows = mailbox.known.values().any(|cell| *cell == diff.cell);
                    if knows && *whom != diff.author {
                        mailbox.put(&diff, None, at);
                    }
                }
            }
            Settled::Stayed(_) => {}
        }
        state.settled.insert(diff.id, (diff, settled.clone()));
        Ok(Settlement::Done)
    }

    async fn release(&self, _tenant: TenantId, worker: WorkerId) -> Result<(), StoreError> {
        for leased in self.state().leases.values_mut() {
            if leased.lease.worker == worker {
                leased.end = Timestamp::MIN;
            }
        }
        Ok(())
    }

    async fn waiting(&self, tenant: TenantId) -> Result<u64, StoreError> {
        let all = self.diffs(tenant).await?;
        let state = self.state();
        let waiting = all
            .iter()
            .filter(|(diff, _)| !state.settled.contains_key(&diff.id));
        Ok(waiting.count() as u64)
    }

    async fn settled(&self, scope: &Scope, diff: DiffId) -> Result<Option<Settled>, StoreError> {
        let Some((diff, mut settled)) = self.state().settled.get(&diff).cloned() else {
            return Ok(None);
        };
        if self.cell(scope, diff.cell).await?.is_none() {
            return Ok(None);
        }
        if let Settled::Travelled { journey, .. } = &mut settled {
            let ids = journey.reached.iter().map(|arrival| arrival.node);
            let ids = ids.chain(journey.stops.iter().filter_map(|stop| stop.to));
            let ids: Vec<NodeId> = ids.collect();
            let mut hidden = Vec::new();
            for id in ids {
                let cell = CellId::new(id.uuid());
                if self.cell(scope, cell).await?.is_none()
                    && self.exists(scope.tenant, cell).await?
                {
                    hidden.push(id);
                }
            }
            journey.reached.retain(|at| !hidden.contains(&at.node));
            (journey.stops).retain(|stop| {
                !hidden.contains(&stop.from) && !stop.to.is_some_and(|to| hidden.contains(&to))
            });
        }
        Ok(Some(settled))
    }

    async fn inbox(
        &self,
        scope: &Scope,
        after: u64,
        read: bool,
        limit: usize,
    ) -> Result<Inbox, StoreError> {
        let key = (scope.credential, scope.project.clone());
        let (letters, dropped) = match self.state().boxes.get(&key) {
            None => return Ok(Inbox::default()),
            Some(mailbox) => (mailbox.letters.clone(), mailbox.dropped),
        };
        let mut inbox = Inbox {
            dropped,
            ..Inbox::default()
        };
        for letter in letters {
            let erased = letter.diff.kind == DiffKind::Erased;
            if !erased && self.cell(scope, letter.diff.cell).await?.is_none() {
                continue;
            }
            inbox.unread += u64::from(!letter.read);
            let wanted = letter.number > after && (read || !letter.read);
            if wanted && inbox.letters.len() < limit {
                inbox.letters.push(letter);
            }
        }
        Ok(inbox)
    }

    async fn mark_read(&self, scope: &Scope, upto: u64) -> Result<(), StoreError> {
        let key = (scope.credential, scope.project.clone());
        if let Some(mailbox) = self.state().boxes.get_mut(&key) {
            mailbox.dropped = 0;
            let read = |letter: &&mut Letter| letter.number <= upto;
            for letter in mailbox.letters.iter_mut().filter(read) {
                letter.read = true;
            }
        }
        Ok(())
    }

    fn graph(&self, commons: &Scope) -> Box<dyn Graph + '_> {
        Box::new(Commons {
            gossip: self,
            scope: commons.clone(),
        })
    }
}

#[derive(Debug)]
struct Commons<'s> {
    gossip: &'s MemoryGossip,
    scope: Scope,
}

#[async_trait]
impl Graph for Commons<'_> {
    async fn around(
        &self,
        layer: Layer,
        nodes: &[NodeId],
    ) -> Result<Vec<Vec<Neighbour>>, StoreError> {
        let vectors = self.gossip.vectors(&self.scope).await?;
        let memories = &self.gossip.memories;
        let mut lists = Vec::new();
        for node in nodes {
            let from = CellId::new(node.uuid());
            let mut weights: Vec<(CellId, f32)> = Vec::new();
            for (_, links) in memories.links(&self.scope, &[from], &|_| false).await? {
                weights.extend(links.iter().map(|link| (link.to, link.weight)));
            }
            for relation in memories.relations(&self.scope, &[from], false).await? {
                if relation.from == from {
                    weights.push((relation.to, relation.weight.get() as f32));
                }
            }
            let mut list = Vec::new();
            for (to, weight) in weights {
                let Some(cell) = self.gossip.cell(&self.scope, to).await? else {
                    continue;
                };
                let there = cell.layer == layer && cell.project == self.scope.project;
                if there && cell.status == Status::Active {
                    list.push(Neighbour {
                        node: Node {
                            id: to.into(),
                            place: vectors.get(&to).cloned(),
                            kind: NodeKind::Cell {
                                salience: cell.salience,
                                last_access: cell.updated_at,
                                scene: None,
                            },
                        },
                        weight,
                    });
                }
            }
            let state = self.gossip.state();
            let listening = (state.listeners.iter())
                .filter(|(cell, on, _)| *cell == from && *on == layer)
                .map(|(_, _, to)| to.clone());
            list.extend(listening);
            lists.push(list);
        }
        Ok(lists)
    }
}
