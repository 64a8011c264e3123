//! A file of the first version, made of rows as that version wrote them.

use std::path::Path;

use hyphae_core::{
    cell::{Cell, CellType, Content, Layer, Origin, Share, Status, Validity, Visibility},
    credential::ApiKey,
    diff::{Diff, DiffKind},
    ids::{CellId, CredentialId, DiffId, SessionId, TenantId},
    label::Tags,
    ports::{Entry, Sequence},
    recall::{Terms, Vector},
    scope::{Owner, Scope},
    session::Session,
};
use hyphae_testkit::{
    contract::fixture::{project, terms, vector},
    made_up,
};
use jiff::Timestamp;
use sqlx::sqlite::SqliteConnection;
use uuid::Uuid;

use crate::subject::connect;

/// What the first version kept of a memory.
pub(crate) struct Old {
    pub(crate) cell: Cell,
    /// Earlier texts, each with the moment at which it was replaced, and by whom.
    texts: Vec<(&'static str, Timestamp, CredentialId)>,
    /// Its diffs: the place in the order of changes, the id, who, and when.
    diffs: Vec<(i64, DiffId, CredentialId, Timestamp)>,
    links: Vec<(CellId, f32)>,
}

impl Old {
    /// Its place in the order of changes.
    fn sequence(&self) -> i64 {
        self.diffs.last().unwrap().0
    }

    pub(crate) fn entry(&self, own_project: bool) -> Entry {
        let cell = &self.cell;
        Entry {
            revision: cell.revision,
            cell_type: cell.cell_type,
            layer: cell.layer,
            visibility: cell.visibility,
            status: Status::Active,
            own_project,
            author: cell.author,
            salience: cell.salience,
            created_at: cell.created_at,
            updated_at: cell.updated_at,
            validity: Validity::ALWAYS,
            tags: Tags::default(),
            fingerprint: cell.content.fingerprint(),
            vector: Some(vector(cell.content.as_str())),
            terms: terms(cell.content.as_str()),
            context: terms("before"),
        }
    }

    pub(crate) fn told(&self) -> Vec<Diff> {
        let told = (1..).zip(&self.diffs).map(|(revision, diff)| Diff {
            id: diff.1,
            sequence: Sequence(diff.0 as u64),
            kind: if revision == 1 {
                DiffKind::Created
            } else {
                DiffKind::Updated
            },
            cell: self.cell.id,
            revision,
            other: None,
            author: diff.2,
            cell_type: self.cell.cell_type,
            salience: self.cell.salience,
            at: diff.3,
        });
        told.collect()
    }
}

/// All that is in the old file.
pub(crate) struct OldWorld {
    pub(crate) tenant: TenantId,
    pub(crate) ana: CredentialId,
    pub(crate) bob: CredentialId,
    pub(crate) key: ApiKey,
    pub(crate) session: Session,
    /// A plain cell with an origin, one merged twice, a private and a shared one.
    pub(crate) cells: [Old; 4],
}

fn id(n: u128) -> Uuid {
    Uuid::from_u128(0x018b_cfe5_6800_7000_8000_0000_0000_0000 + n)
}

/// Not the time that is in any id.
pub(crate) fn time(n: i64) -> Timestamp {
    Timestamp::from_microsecond(1_650_000_000_000_007 + n * 1_000_003).unwrap()
}

fn old_world() -> OldWorld {
    let tenant = TenantId::new(id(1));
    let [ana, bob] = [2, 3].map(|n| CredentialId::new(id(n)));
    let session = SessionId::new(id(4));
    let scope = |credential, name| {
        let owner = Owner { tenant, credential };
        owner.in_project(project(name))
    };
    let make = |n: u128, scope: &Scope, text: &str| {
        let content = Content::new(text).unwrap();
        made_up::fact(scope, CellId::new(id(n)), time(n as i64), content)
    };
    let created = |n: i64, cell: &Cell| {
        let diff = DiffId::new(id(cell.id.uuid().as_u128() % 1000 + 100));
        vec![(n, diff, cell.author, cell.created_at)]
    };
    let mut plain = make(10, &scope(ana, "p"), "said ☂ \"in\" a session");
    plain.cell_type = CellType::Decision;
    plain.salience = Share::new(0.9).unwrap();
    plain.confidence = Share::new(0.25).unwrap();
    plain.origin = Origin {
        session: Some(session),
        position: Some(7),
        said_at: Some(time(-100)),
        ..Origin::default()
    };
    let mut merged = make(20, &scope(ana, "p"), "the third text");
    merged.revision = 3;
    merged.updated_at = time(60);
    merged.layer = Layer::L1;
    let mut hidden = make(30, &scope(ana, "p"), "hidden");
    hidden.visibility = Visibility::Private;
    let mut shared = make(40, &scope(bob, "q"), "seen everywhere");
    shared.visibility = Visibility::Shared;
    OldWorld {
        tenant,
        ana,
        bob,
        key: ApiKey::from_random([9; 32]),
        session: Session {
            id: session,
            cwd: "/p".into(),
            project: project("p"),
            title: Some("a title".to_owned()),
            created_at: time(5),
            updated_at: time(6),
        },
        cells: [
            Old {
                diffs: created(1, &plain),
                texts: Vec::new(),
                links: vec![(merged.id, 0.3)],
                cell: plain,
            },
            Old {
                diffs: [
                    created(2, &merged),
                    vec![
                        (5, DiffId::new(id(151)), bob, time(50)),
                        (6, DiffId::new(id(152)), ana, time(60)),
                    ],
                ]
                .concat(),
                texts: vec![
                    ("the first text", time(50), bob),
                    ("the second text", time(60), ana),
                ],
                links: vec![(CellId::new(id(10)), 0.3), (shared.id, 0.123)],
                cell: merged,
            },
            Old {
                diffs: created(3, &hidden),
                texts: Vec::new(),
                links: Vec::new(),
                cell: hidden,
            },
            Old {
                diffs: created(4, &shared),
                texts: Vec::new(),
                links: Vec::new(),
                cell: shared,
            },
        ],
    }
}

fn bytes(id: Uuid) -> Vec<u8> {
    id.as_bytes().to_vec()
}

fn number(visibility: Visibility) -> i64 {
    match visibility {
        Visibility::Private => 0,
        Visibility::Project => 1,
        Visibility::Shared => 2,
    }
}

fn type_number(cell: &Cell) -> i64 {
    let found = CellType::ALL
        .iter()
        .position(|kind| *kind == cell.cell_type);
    found.unwrap() as i64
}

fn layer_number(cell: &Cell) -> i64 {
    let found = Layer::ALL.iter().position(|layer| *layer == cell.layer);
    found.unwrap() as i64
}

fn with_length(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_le_bytes(), bytes].concat()
}

/// The first format of facts, byte for byte.
fn first_facts(cell: &Cell, terms: &Terms, context: &Terms) -> Vec<u8> {
    let numbers = [
        1,
        type_number(cell),
        layer_number(cell),
        number(cell.visibility),
    ];
    let facts = [
        &numbers.map(|number| number as u8)[..],
        &cell.revision.to_le_bytes(),
        &cell.salience.get().to_le_bytes(),
        &cell.updated_at.as_microsecond().to_le_bytes(),
        &cell.content.fingerprint().0,
        &with_length(&terms.to_bytes()),
        &context.to_bytes(),
    ];
    with_length(&facts.concat())
}

fn first_vector(vector: &Vector) -> Vec<u8> {
    let mut bytes = vector.scale.to_le_bytes().to_vec();
    bytes.extend(vector.numbers.iter().map(|number| number.cast_unsigned()));
    with_length(&bytes)
}

/// Writes the file as the first version of the program would have left it.
async fn write_file(path: &Path, world: &OldWorld) {
    std::fs::write(path, "").unwrap();
    let mut connection = connect(path).await;
    for sql in [
        "pragma page_size = 8192; pragma application_id = 0x48595048",
        include_str!("../../migrations/sqlite/0001_first.sql"),
        "pragma user_version = 1; pragma journal_mode = wal",
    ] {
        sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    }
    let secret = [3_u8; 32];
    let tenant = bytes(world.tenant.uuid());
    for (sql, more) in [
        (
            "insert into settings (name, value) values ('key_secret', $2)",
            secret.to_vec(),
        ),
        (
            "insert into tenants (tenant_id, name, sequence, model_no)
             values ($1, 'default', 6, 1)",
            Vec::new(),
        ),
        (
            "insert into models (tenant_id, model_no, name, dimension)
             values ($1, 1, 'test/1', 16)",
            Vec::new(),
        ),
        (
            "insert into projects (tenant_id, project_no, name) values ($1, 1, 'p'), ($1, 2, 'q')",
            Vec::new(),
        ),
        (
            "insert into sessions (tenant_id, owner, session_id, cwd, project, title, entries,
                 created_at, updated_at)
             values ($1, $2, $3, cast('/p' as blob), 'p', 'a title', 0, $4, $5)",
            bytes(world.ana.uuid()),
        ),
    ] {
        sqlx::query(sql)
            .bind(&tenant)
            .bind(more)
            .bind(bytes(world.session.id.uuid()))
            .bind(world.session.created_at.as_microsecond())
            .bind(world.session.updated_at.as_microsecond())
            .execute(&mut connection)
            .await
            .unwrap();
    }
    for (credential, hash) in [(world.ana, world.key.hash(&secret).0), (world.bob, [7; 32])] {
        sqlx::query(
            "insert into credentials (tenant_id, credential_id, key_hash, name, created_at)
             values ($1, $2, $3, 'somebody', 0)",
        )
        .bind(&tenant)
        .bind(bytes(credential.uuid()))
        .bind(hash.to_vec())
        .execute(&mut connection)
        .await
        .unwrap();
    }
    for old in &world.cells {
        write_cell(&mut connection, &tenant, old).await;
    }
}

async fn write_cell(connection: &mut SqliteConnection, tenant: &[u8], old: &Old) {
    let cell = &old.cell;
    let project: i64 = if cell.project.as_str() == "p" { 1 } else { 2 };
    let text = cell.content.as_str();
    sqlx::query(
        "insert into cells (tenant_id, cell_id, project_no, author, cell_type, layer, visibility,
             status, salience, confidence, revision, content, embedded_text, fingerprint,
             session_id, position, said_at, created_at, updated_at, last_access, sequence)
         values ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
             $18, $17, $19)",
    )
    .bind(tenant)
    .bind(bytes(cell.id.uuid()))
    .bind(project)
    .bind(bytes(cell.author.uuid()))
    .bind(type_number(cell))
    .bind(layer_number(cell))
    .bind(number(cell.visibility))
    .bind(cell.salience.get())
    .bind(cell.confidence.get())
    .bind(i64::from(cell.revision))
    .bind(text)
    .bind(format!("someone: {text}"))
    .bind(cell.content.fingerprint().0.to_vec())
    .bind(cell.origin.session.map(|id| bytes(id.uuid())))
    .bind(cell.origin.position.map(i64::from))
    .bind(cell.origin.said_at.map(Timestamp::as_microsecond))
    .bind(cell.created_at.as_microsecond())
    .bind(cell.updated_at.as_microsecond())
    .bind(old.sequence())
    .execute(&mut *connection)
    .await
    .unwrap();
    sqlx::query(
        "insert into recall_entries (tenant_id, project_no, sequence, cell_id, author, visibility,
             reach, model_no, vector, facts)
         values ($1, $2, $3, $4, $5, $6, $6, 1, $7, $8)",
    )
    .bind(tenant)
    .bind(project)
    .bind(old.sequence())
    .bind(bytes(cell.id.uuid()))
    .bind(bytes(cell.author.uuid()))
    .bind(number(cell.visibility))
    .bind(first_vector(&vector(text)))
    .bind(first_facts(cell, &terms(text), &terms("before")))
    .execute(&mut *connection)
    .await
    .unwrap();
    for (revision, (text, replaced_at, by)) in (1_i64..).zip(&old.texts) {
        sqlx::query(
            "insert into revisions (tenant_id, cell_id, revision, content, replaced_by,
                 replaced_at)
             values ($1, $2, $3, $4, $5, $6)",
        )
        .bind(tenant)
        .bind(bytes(cell.id.uuid()))
        .bind(revision)
        .bind(*text)
        .bind(bytes(by.uuid()))
        .bind(replaced_at.as_microsecond())
        .execute(&mut *connection)
        .await
        .unwrap();
    }
    for (revision, (sequence, diff, author, at)) in (1_i64..).zip(&old.diffs) {
        sqlx::query(
            "insert into diffs (tenant_id, diff_id, sequence, kind, cell_id, revision, author,
                 cell_type, salience, created_at)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        )
        .bind(tenant)
        .bind(bytes(diff.uuid()))
        .bind(sequence)
        .bind(i64::from(revision > 1))
        .bind(bytes(cell.id.uuid()))
        .bind(revision)
        .bind(bytes(author.uuid()))
        .bind(type_number(cell))
        .bind(cell.salience.get())
        .bind(at.as_microsecond())
        .execute(&mut *connection)
        .await
        .unwrap();
    }
    for (to, weight) in &old.links {
        sqlx::query(
            "insert into edges (tenant_id, src, kind, dst, weight) values ($1, $2, 0, $3, $4)",
        )
        .bind(tenant)
        .bind(bytes(cell.id.uuid()))
        .bind(bytes(to.uuid()))
        .bind(f64::from(*weight))
        .execute(&mut *connection)
        .await
        .unwrap();
    }
}

/// A file of the first version, and what is in it.
pub(crate) async fn old_file() -> (tempfile::TempDir, OldWorld) {
    let folder = tempfile::tempdir().unwrap();
    let world = old_world();
    write_file(&folder.path().join("hyphae.db"), &world).await;
    (folder, world)
}
