//! Owners, ids, times and cells for checks; the same in every run.

use std::sync::atomic::{AtomicU64, Ordering};

use hyphae_core::{
    cell::{Cell, CellType, Content, Layer, Origin, Share, Status, Visibility},
    credential::{ApiKey, Credential, KEY_BITS},
    ids::{CellId, CredentialId, DiffId, SessionId, TenantId},
    ports::{Change, ChosenModel, Inserted, Link, NewCell, NewLink, Sequence},
    recall::{Term, Terms, Vector},
    scope::{Owner, Project, Scope},
    session::Session,
};
use jiff::Timestamp;
use uuid::Uuid;

use super::Subject;

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
        let at = self.now();
        NewCell {
            fingerprint: content.fingerprint(),
            model: model(),
            vector: vector(content.as_str()),
            embedded_text: format!("someone: {}", content.as_str()),
            terms: terms(content.as_str()),
            context: terms("before"),
            links: Vec::new(),
            diff: DiffId::new(self.id()),
            cell: Cell {
                id: CellId::new(self.id()),
                content,
                cell_type: CellType::Fact,
                salience: Share::HALF,
                confidence: Share::FULL,
                author: scope.credential,
                project: scope.project.clone(),
                layer: Layer::L0,
                visibility: Visibility::Project,
                status: Status::Active,
                revision: 1,
                origin: Origin::default(),
                created_at: at,
                updated_at: at,
            },
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

    /// Stores a cell that must be new.
    pub async fn keep(&self, scope: &Scope, new: NewCell) -> NewCell {
        let done = self.subject.memories().insert_cell(scope, &new).await;
        assert_eq!(done.unwrap(), Inserted::New);
        new
    }

    /// Stores a fact.
    pub async fn store(&self, scope: &Scope, text: &str) -> NewCell {
        self.keep(scope, self.cell(scope, text)).await
    }

    /// Returns all changes that a scope can see.
    pub async fn changes(&self, scope: &Scope) -> Vec<Change> {
        let all = self
            .subject
            .memories()
            .changes(scope, Sequence(0), usize::MAX);
        all.await.unwrap()
    }

    /// Returns what a scope can recall, by id, in the order of changes.
    pub async fn recallable(&self, scope: &Scope) -> Vec<CellId> {
        let changes = self.changes(scope).await;
        let there = changes.iter().filter(|change| change.entry.is_some());
        there.map(|change| change.id).collect()
    }

    /// Returns the cell that a scope sees under this id.
    pub async fn find(&self, scope: &Scope, id: CellId) -> Option<Cell> {
        let found = self.subject.memories().cells(scope, &[id]).await.unwrap();
        found.into_iter().next()
    }

    /// Returns the links that lead away from a cell; none if the scope cannot see it.
    pub async fn links(&self, scope: &Scope, id: CellId) -> Vec<Link> {
        let found = self.subject.memories().links(scope, &[id]).await.unwrap();
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
