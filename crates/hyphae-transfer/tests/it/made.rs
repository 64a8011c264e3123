//! Items of every kind, made up by proptest.

use hyphae_core::{
    audit::{Action, AuditRow, Via},
    cell::{Cell, CellType, Content, Layer, Origin, Share, Source, Status, Validity, Visibility},
    conflict::{Conflict, ConflictKind, Resolution, Verdict},
    diff::{Diff, DiffKind},
    ids::{AuditId, CellId, ConflictId, CredentialId, DiffId, EdgeId, SessionId},
    label::{Tag, Tags, Topic},
    ports::{ChosenModel, Confirmation, Gone, Item, KeptCell, KeptDiff, Link, Past, Sequence},
    recall::{Term, Terms, Vector},
    relation::{Relation, RelationKind},
    scope::Project,
};
use jiff::Timestamp;
use proptest::{collection::vec, option, prelude::*, sample::select};
use uuid::Uuid;

/// A few ids, so that things refer to each other.
fn uuid() -> impl Strategy<Value = Uuid> {
    prop_oneof![
        any::<u128>().prop_map(Uuid::from_u128),
        (0_u128..4).prop_map(Uuid::from_u128)
    ]
}

fn cell_id() -> impl Strategy<Value = CellId> {
    uuid().prop_map(CellId::new)
}

fn credential() -> impl Strategy<Value = CredentialId> {
    uuid().prop_map(CredentialId::new)
}

fn diff_id() -> impl Strategy<Value = DiffId> {
    uuid().prop_map(DiffId::new)
}

/// Any moment of a store, to the microsecond, from the year -9999 to 9999.
fn time() -> impl Strategy<Value = Timestamp> {
    let (first, last) = (Timestamp::MIN, Timestamp::MAX);
    prop_oneof![
        first.as_microsecond()..=last.as_microsecond(),
        1_600_000_000_000_000_i64..1_900_000_000_000_000,
    ]
    .prop_map(|at| Timestamp::from_microsecond(at).unwrap())
}

fn share() -> impl Strategy<Value = Share> {
    prop_oneof![(0.0..=1.0), Just(0.0), Just(1.0), Just(5e-324), Just(0.1)]
        .prop_map(|number| Share::new(number).unwrap())
}

/// Any text: of all planes, with line ends, quotes, control characters and separators.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "\\PC{1,40}",
        "[\\u{0}-\\u{1f}\\u{2028}\\u{2029}\"\\\\/\\n\\r a]{1,20}",
    ]
}

fn some_text() -> impl Strategy<Value = Option<String>> {
    option::of(text())
}

fn content() -> impl Strategy<Value = Content> {
    text().prop_filter_map("no content", |text| Content::new(&text).ok())
}

fn project() -> impl Strategy<Value = Project> {
    prop_oneof![
        "[a-z/ .]{1,12}".prop_filter_map("no name", |name| Project::named(&name).ok()),
        " ?/[a-z\\n\"é]{0,12} ?".prop_map(|path| Project::of_directory(path.as_ref())),
    ]
}

fn topic() -> impl Strategy<Value = Option<Topic>> {
    option::of("\\PC{1,20}".prop_filter_map("no topic", |name| Topic::new(&name).ok()))
}

fn tags() -> impl Strategy<Value = Tags> {
    let tag = "#?\\PC{1,20}".prop_filter_map("no tag", |name| Tag::new(&name).ok());
    vec(tag, 0..5).prop_map(|tags| Tags::new(tags).unwrap())
}

fn validity() -> impl Strategy<Value = Validity> {
    (option::of(time()), option::of(time()))
        .prop_map(|(from, until)| Validity::new(from, until).unwrap_or_default())
}

fn terms() -> impl Strategy<Value = Terms> {
    vec(any::<u64>().prop_map(Term), 0..8).prop_map(Terms::count)
}

/// Vectors of any scale, zero, denormal and the largest included.
fn vector() -> impl Strategy<Value = (ChosenModel, Vector)> {
    let scale = prop_oneof![
        (0_u32..0x7f80_0000).prop_map(f32::from_bits),
        Just(0.0),
        Just(f32::MAX)
    ];
    let numbers = vec(any::<i8>(), 1..40);
    ("[a-z0-9/.-]{1,12}", scale, numbers).prop_map(|(id, scale, numbers)| {
        let model = ChosenModel {
            id,
            dimension: numbers.len(),
        };
        let numbers = numbers.into();
        (model, Vector { scale, numbers })
    })
}

fn origin() -> impl Strategy<Value = Origin> {
    let session = option::of(uuid().prop_map(SessionId::new));
    let source = select(Source::ALL.to_vec());
    (source, session, any::<Option<u32>>(), option::of(time())).prop_map(
        |(source, session, position, said_at)| Origin {
            source,
            session,
            position,
            said_at,
        },
    )
}

/// A revision, and one not after it.
fn revisions() -> impl Strategy<Value = (u32, u32)> {
    (1..=u32::MAX).prop_flat_map(|revision| (Just(revision), 1..=revision))
}

/// Two cells.
fn ends() -> impl Strategy<Value = (CellId, CellId)> {
    (cell_id(), cell_id()).prop_filter("one cell", |(one, other)| one != other)
}

pub(crate) fn cell() -> impl Strategy<Value = Cell> {
    let what = (cell_id(), content(), select(CellType::ALL.to_vec()));
    let weights = (share(), share());
    let whose = (credential(), project());
    let state = (
        select(Layer::ALL.to_vec()),
        select(Visibility::ALL.to_vec()),
        select(Status::ALL.to_vec()),
        revisions(),
    );
    let labels = (topic(), tags(), validity());
    let when = (option::of(time()), origin(), time(), time());
    (what, weights, whose, state, labels, when).prop_map(
        |(
            (id, content, cell_type),
            (salience, confidence),
            (author, project),
            (layer, visibility, status, (revision, content_revision)),
            (topic, tags, validity),
            (verified_at, origin, created_at, updated_at),
        )| Cell {
            id,
            content,
            cell_type,
            salience,
            confidence,
            author,
            project,
            layer,
            visibility,
            status,
            revision,
            content_revision,
            topic,
            tags,
            validity,
            verified_at,
            origin,
            created_at,
            updated_at,
        },
    )
}

fn kept() -> impl Strategy<Value = Item> {
    let derived = (option::of(text()), terms(), option::of(vector()), time());
    (cell(), derived).prop_map(|(cell, (embedded, context, vector, last_access))| {
        let content = cell.content.as_str().to_owned();
        Item::Cell(Box::new(KeptCell {
            cell,
            embedded_text: embedded.unwrap_or(content),
            context,
            vector,
            last_access,
        }))
    })
}

fn past() -> impl Strategy<Value = Item> {
    (cell(), credential(), time(), some_text()).prop_map(
        |(cell, replaced_by, replaced_at, reason)| {
            Item::Past(Box::new(Past {
                cell,
                replaced_by,
                replaced_at,
                reason,
            }))
        },
    )
}

fn link() -> impl Strategy<Value = Item> {
    let weight = (1_u32..=0x3f80_0000).prop_map(f32::from_bits);
    (ends(), weight).prop_map(|((from, to), weight)| Item::Link {
        from,
        link: Link { to, weight },
    })
}

fn relation() -> impl Strategy<Value = Item> {
    let ends = (uuid(), ends());
    let kind = select(RelationKind::ALL.to_vec());
    let weight = share().prop_filter("no weight", |weight| weight.get() > 0.0);
    let given = (weight, credential(), time(), some_text(), any::<bool>());
    (ends, kind, given).prop_map(
        |((id, (from, to)), kind, (weight, author, created_at, reason, active))| {
            Item::Relation(Box::new(Relation {
                id: EdgeId::new(id),
                from,
                kind,
                to,
                weight,
                author,
                created_at,
                reason,
                active,
            }))
        },
    )
}

fn conflict() -> impl Strategy<Value = Item> {
    let ends = (uuid(), ends());
    let opened = (
        select(vec![ConflictKind::Stated, ConflictKind::Judged]),
        some_text(),
        credential(),
        time(),
    );
    let verdict = select(Verdict::ALL.to_vec());
    let resolution = option::of((verdict, text(), credential(), time()).prop_map(
        |(verdict, reason, by, at)| Resolution {
            verdict,
            reason,
            by,
            at,
        },
    ));
    (ends, opened, resolution).prop_map(
        |((id, (left, right)), (kind, why, opened_by, opened_at), resolution)| {
            Item::Conflict(Box::new(Conflict {
                id: ConflictId::new(id),
                left,
                right,
                kind,
                why,
                opened_by,
                opened_at,
                resolution,
            }))
        },
    )
}

fn confirmation() -> impl Strategy<Value = Item> {
    (cell_id(), 1..=u32::MAX, credential(), time(), some_text()).prop_map(
        |(cell, revision, by, at, evidence)| {
            Item::Confirmation(Box::new(Confirmation {
                cell,
                revision,
                by,
                at,
                evidence,
            }))
        },
    )
}

/// The sequence of a diff is the order of lines, so it is 0 here as it is when read.
fn diff() -> impl Strategy<Value = Item> {
    let what = (
        diff_id(),
        select(DiffKind::ALL.to_vec()),
        cell_id(),
        1..=u32::MAX,
        option::of(cell_id()),
    );
    let who = (
        credential(),
        select(CellType::ALL.to_vec()),
        share(),
        time(),
    );
    let seen = (
        select(Visibility::ALL.to_vec()),
        option::of(
            (project(), credential()).prop_map(|(project, author)| Gone { project, author }),
        ),
    );
    (what, who, seen).prop_map(
        |(
            (id, kind, cell, revision, other),
            (author, cell_type, salience, at),
            (visibility, gone),
        )| {
            let diff = Diff {
                id,
                sequence: Sequence(0),
                kind,
                cell,
                revision,
                other,
                author,
                cell_type,
                salience,
                at,
            };
            Item::Diff(Box::new(KeptDiff {
                diff,
                visibility,
                gone,
            }))
        },
    )
}

fn audit() -> impl Strategy<Value = Item> {
    let what = (uuid(), time(), select(Action::ALL.to_vec()), credential());
    let via = (option::of(uuid()), some_text(), project());
    let which = (vec(uuid(), 0..4), vec(diff_id(), 0..4));
    (what, via, which, some_text(), any::<u32>()).prop_map(
        |((id, at, action, credential), (session, client, project), which, reason, redactions)| {
            Item::Audit(Box::new(AuditRow {
                id: AuditId::new(id),
                at,
                action,
                credential,
                via: Via {
                    session: session.map(SessionId::new),
                    client,
                },
                project,
                subjects: which.0,
                diffs: which.1,
                reason,
                redactions,
            }))
        },
    )
}

fn identity() -> impl Strategy<Value = Item> {
    (credential(), text(), time(), option::of(time())).prop_map(
        |(id, name, created_at, revoked_at)| Item::Identity {
            id,
            name,
            created_at,
            revoked_at,
        },
    )
}

fn key() -> impl Strategy<Value = Item> {
    (credential(), any::<[u8; 32]>(), cell_id()).prop_map(|(credential, key, cell)| Item::Key {
        credential,
        key,
        cell,
    })
}

/// An item of any kind.
pub(crate) fn item() -> impl Strategy<Value = Item> {
    prop_oneof![
        identity(),
        kept(),
        past(),
        link(),
        relation(),
        conflict(),
        confirmation(),
        key(),
        diff(),
        audit(),
    ]
}
