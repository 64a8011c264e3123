//! Owners, ids, times and cells for checks; the same in every run.

use std::sync::atomic::{AtomicU64, Ordering};

use hyphae_core::{
    audit::Action,
    cell::{Cell, Content, Share, Visibility},
    conflict::{Conflict, ConflictKind},
    credential::{ApiKey, Credential, KEY_BITS},
    diff::{Diff, DiffKind},
    ids::{AuditId, CellId, ConflictId, CredentialId, DiffId, EdgeId, SessionId, TenantId},
    label::{Tag, Tags, Topic},
    ports::{
        AuditFilter, Change, ChosenModel, Committed, Derived, Link, NewCell, NewLink, Revision,
        Sequence, Step, StoreError, Write,
    },
    recall::{Term, Terms, Vector},
    relation::{Relation, RelationKind},
    scope::{Owner, Project, Scope},
    session::Session,
};
use jiff::Timestamp;
use uuid::Uuid;

use super::Subject;
use crate::made_up;

/// A subject, and all that is made up for it.
#[derive(Debug)]
pub struct World<'s> {
    /// The store.
    pub subject: &'s dyn Subject,
    /// Its first tenant.
    pub tenant: TenantId,
    made: AtomicU64,
}

/// The first moment of these worlds, in microseconds.
const BEGINNING: u64 = 1_700_000_000_000_000;
/// How all ids begin that worlds make, in digits.
pub const BEGINNING_OF_IDS: &str = "018bcf";

impl<'s> World<'s> {
    /// Begins with nobody in it.
    pub async fn new(subject: &'s dyn Subject) -> Self {
        Self {
            subject,
            tenant: subject.credentials().default_tenant().await.unwrap(),
            made: AtomicU64::new(1),
        }
    }

    fn next(&self) -> u64 {
        self.made.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns a new time-ordered id.
    pub fn id(&self) -> Uuid {
        let n = self.next();
        let mut random = [0; 10];
        random[2..].copy_from_slice(&n.to_be_bytes());
        uuid::Builder::from_unix_timestamp_millis(BEGINNING / 1000 + n, &random).into_uuid()
    }

    /// Returns a moment later than every one before.
    pub fn now(&self) -> Timestamp {
        let n = self.next() * 1_000_001 + BEGINNING;
        Timestamp::from_microsecond(i64::try_from(n).unwrap()).unwrap()
    }

    /// Adds somebody to the first tenant.
    pub async fn owner(&self) -> Owner {
        self.owner_in(self.tenant).await
    }

    /// Adds somebody to a tenant of their own.
    pub async fn stranger(&self) -> Owner {
        self.owner_in(TenantId::new(self.id())).await
    }

    async fn owner_in(&self, tenant: TenantId) -> Owner {
        let (credential, key) = self.credential(tenant);
        self.subject
            .credentials()
            .add_credential(&credential, &key)
            .await
            .unwrap();
        Owner {
            tenant,
            credential: credential.id,
        }
    }

    /// Makes a credential up, with its key.
    pub fn credential(&self, tenant: TenantId) -> (Credential, ApiKey) {
        let mut random = [0x5a; KEY_BITS / 8];
        random[..8].copy_from_slice(&self.next().to_le_bytes());
        let id = CredentialId::new(self.id());
        let credential = Credential {
            id,
            tenant,
            name: format!("key {id}"),
            created_at: self.now(),
            revoked_at: None,
        };
        (credential, ApiKey::from_random(random))
    }

    /// Makes a session up.
    pub fn session(&self, cwd: &str) -> Session {
        let at = self.now();
        Session {
            id: SessionId::new(self.id()),
            cwd: cwd.into(),
            project: project(cwd),
            title: None,
            created_at: at,
            updated_at: at,
        }
    }

    /// Makes a cell up: a fact of middling salience, without links.
    pub fn cell(&self, scope: &Scope, text: &str) -> NewCell {
        let content = Content::new(text).unwrap();
        NewCell {
            derived: derived(&content),
            cell: made_up::fact(scope, CellId::new(self.id()), self.now(), content),
            diff: DiffId::new(self.id()),
        }
    }

    /// Makes a cell up that only its author sees.
    pub fn private(&self, scope: &Scope, text: &str) -> NewCell {
        let mut new = self.cell(scope, text);
        new.cell.visibility = Visibility::Private;
        new
    }

    /// Makes a cell up that the whole tenant sees.
    pub fn shared(&self, scope: &Scope, text: &str) -> NewCell {
        let mut new = self.cell(scope, text);
        new.cell.visibility = Visibility::Shared;
        new
    }

    /// Makes the next revision of a cell up. What is derived comes with it if the text changed.
    pub fn revise(&self, cell: &Cell, change: impl FnOnce(&mut Cell)) -> Revision {
        let mut next = cell.clone();
        next.revision += 1;
        next.updated_at = self.now();
        change(&mut next);
        Revision {
            derived: (next.content != cell.content).then(|| derived(&next.content)),
            cell: next,
            kind: DiffKind::Updated,
            other: None,
            diff: DiffId::new(self.id()),
        }
    }

    /// Makes a relation up.
    pub fn relation(
        &self,
        scope: &Scope,
        from: CellId,
        kind: RelationKind,
        to: CellId,
    ) -> Relation {
        Relation {
            id: EdgeId::new(self.id()),
            from,
            kind,
            to,
            weight: Share::HALF,
            author: scope.credential,
            created_at: self.now(),
            reason: None,
            active: true,
        }
    }

    /// Makes an open conflict up.
    pub fn conflict(&self, scope: &Scope, left: CellId, right: CellId) -> Conflict {
        Conflict {
            id: ConflictId::new(self.id()),
            left,
            right,
            kind: ConflictKind::Stated,
            why: None,
            opened_by: scope.credential,
            opened_at: self.now(),
            resolution: None,
        }
    }

    /// Makes the step up that opens a conflict.
    pub fn open(&self, conflict: &Conflict) -> Step {
        Step::OpenConflict {
            conflict: Box::new(conflict.clone()),
            diff: DiffId::new(self.id()),
        }
    }

    /// Makes the step up that erases a cell.
    pub fn erase(&self, cell: &Cell) -> Step {
        Step::Erase {
            id: cell.id,
            revision: cell.revision,
            diff: DiffId::new(self.id()),
        }
    }

    /// Makes a write up.
    pub fn write(&self, action: Action, steps: Vec<Step>) -> Write {
        made_up::write(AuditId::new(self.id()), action, self.now(), steps)
    }

    /// Commits steps that may stop, and returns what became of them.
    pub async fn commit(&self, scope: &Scope, steps: Vec<Step>) -> Committed {
        self.try_commit(scope, steps).await.unwrap()
    }

    /// Commits steps that may fail.
    pub async fn try_commit(
        &self,
        scope: &Scope,
        steps: Vec<Step>,
    ) -> Result<Committed, StoreError> {
        self.commit_on(self.subject, scope, steps).await
    }

    /// Commits steps through another handle of the store.
    pub async fn commit_on(
        &self,
        subject: &dyn Subject,
        scope: &Scope,
        steps: Vec<Step>,
    ) -> Result<Committed, StoreError> {
        let write = self.write(Action::Update, steps);
        subject.memories().commit(scope, &write).await
    }

    /// Commits steps that must go through, and returns their place.
    #[track_caller]
    pub fn done(&self, scope: &Scope, steps: Vec<Step>) -> impl Future<Output = Sequence> {
        let caller = std::panic::Location::caller();
        async move {
            let done = self.commit(scope, steps).await;
            let Committed::Done(sequence) = done else {
                panic!("{done:?} at {caller}");
            };
            sequence
        }
    }

    /// Stores a cell that must be new.
    #[track_caller]
    pub fn keep(&self, scope: &Scope, new: NewCell) -> impl Future<Output = NewCell> {
        let done = self.done(scope, vec![insert(&new)]);
        async move {
            done.await;
            new
        }
    }

    /// Changes a cell, which must go through, and returns its next state.
    #[track_caller]
    pub fn change(
        &self,
        scope: &Scope,
        cell: &Cell,
        change: impl FnOnce(&mut Cell),
    ) -> impl Future<Output = Cell> {
        let revision = self.revise(cell, change);
        let next = revision.cell.clone();
        let done = self.done(scope, vec![revise(revision)]);
        async move {
            done.await;
            next
        }
    }

    /// Keeps a relation that must be new.
    #[track_caller]
    pub fn relate(
        &self,
        scope: &Scope,
        from: CellId,
        kind: RelationKind,
        to: CellId,
    ) -> impl Future<Output = Relation> {
        let relation = self.relation(scope, from, kind, to);
        let done = self.done(scope, vec![relate(&relation)]);
        async move {
            done.await;
            relation
        }
    }

    /// Opens a conflict.
    #[track_caller]
    pub fn dispute(
        &self,
        scope: &Scope,
        left: CellId,
        right: CellId,
    ) -> impl Future<Output = Conflict> {
        let conflict = self.conflict(scope, left, right);
        let done = self.done(scope, vec![self.open(&conflict)]);
        async move {
            done.await;
            conflict
        }
    }

    /// Stores a fact.
    pub async fn store(&self, scope: &Scope, text: &str) -> NewCell {
        self.keep(scope, self.cell(scope, text)).await
    }

    /// Returns all changes that a scope can see, with vectors of the chosen model.
    pub async fn changes(&self, scope: &Scope) -> Vec<Change> {
        let store = self.subject.memories();
        let chosen = store.chosen_model(scope.owner()).await.unwrap();
        let chosen = chosen.unwrap_or_else(model);
        let all = store.changes(scope, Sequence(0), usize::MAX, &chosen);
        all.await.unwrap()
    }

    /// Returns what a scope can recall, by id, in the order of changes.
    pub async fn recallable(&self, scope: &Scope) -> Vec<CellId> {
        let changes = self.changes(scope).await;
        let there = changes.iter().filter(|change| change.entry.is_some());
        there.map(|change| change.id).collect()
    }

    /// Returns all diffs that a scope can see.
    pub async fn diffs(&self, scope: &Scope) -> Vec<Diff> {
        let store = self.subject.memories();
        let all = store.diffs(scope, Sequence(0), &[], true, usize::MAX);
        all.await.unwrap()
    }

    /// Returns the ids of all rows of a tenant's audit, newest first.
    pub async fn audited(&self, owner: Owner) -> Vec<AuditId> {
        let filter = AuditFilter {
            limit: usize::MAX,
            ..AuditFilter::default()
        };
        let rows = self.subject.memories().audit(owner, &filter).await.unwrap();
        rows.iter().map(|row| row.id).collect()
    }

    /// Returns the cell that a scope sees under this id.
    pub async fn find(&self, scope: &Scope, id: CellId) -> Option<Cell> {
        let found = self.subject.memories().cells(scope, &[id]).await.unwrap();
        found.into_iter().next()
    }

    /// Returns the links that lead away from a cell; none if the scope cannot see it.
    pub async fn links(&self, scope: &Scope, id: CellId) -> Vec<Link> {
        let found = self
            .subject
            .memories()
            .links(scope, &[id], &|_| false)
            .await
            .unwrap();
        found.into_iter().flat_map(|(_, links)| links).collect()
    }
}

/// Names a project.
pub fn project(name: &str) -> Project {
    Project::named(name).unwrap()
}

/// Returns the model of all vectors of these worlds.
pub fn model() -> ChosenModel {
    ChosenModel {
        id: "test/1".to_owned(),
        dimension: 16,
    }
}

/// Returns another model of the same dimension.
pub fn other_model() -> ChosenModel {
    ChosenModel {
        id: "test/2".to_owned(),
        dimension: 16,
    }
}

/// Names a topic.
pub fn topic(name: &str) -> Topic {
    Topic::new(name).unwrap()
}

/// Names tags.
pub fn tags<const N: usize>(names: [&str; N]) -> Tags {
    Tags::new(names.map(|name| Tag::new(name).unwrap())).unwrap()
}

/// Makes the step up that keeps a cell.
pub fn insert(new: &NewCell) -> Step {
    Step::Insert(Box::new(new.clone()))
}

/// Makes the step up that changes a cell.
pub fn revise(revision: Revision) -> Step {
    Step::Revise(Box::new(revision))
}

/// Makes the step up that keeps a relation.
pub fn relate(relation: &Relation) -> Step {
    Step::Relate(Box::new(relation.clone()))
}

/// Returns what is derived from a text, surrounded by the word `before`.
pub fn derived(content: &Content) -> Derived {
    let text = content.as_str();
    Derived {
        embedded_text: format!("someone: {text}"),
        context: terms("before"),
        ..made_up::derived(content, model(), vector(text), terms(text))
    }
}

/// Returns a vector that depends on the text, and means nothing.
pub fn vector(text: &str) -> Vector {
    let mut state = word(text) | 1;
    let numbers: Vec<f32> = (0..16)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % 2001) as f32 / 1000.0 - 1.0
        })
        .collect();
    Vector::quantise(&numbers)
}

/// Counts the words of a text.
pub fn terms(text: &str) -> Terms {
    Terms::count(text.split_whitespace().map(|text| Term(word(text))))
}

fn word(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Makes a link that leads both ways.
pub fn link(to: CellId, weight: f32) -> NewLink {
    NewLink {
        link: Link { to, weight },
        drops: Vec::new(),
        back: true,
    }
}
