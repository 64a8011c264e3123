//! Between rows and domain values; pure, and each pair is each other's inverse.

use std::path::PathBuf;

use hyphae_core::{
    audit::Action,
    cell::{Cell, CellType, Content, Layer, Origin, Share, Source, Status, Validity, Visibility},
    conflict::{ConflictKind, Verdict},
    credential::Credential,
    diff::DiffKind,
    ids::{CellId, CredentialId, SessionId, TenantId},
    label::{Tag, Tags, Topic},
    relation::RelationKind,
    scope::Project,
    session::Session,
};
use jiff::Timestamp;
use serde::{Deserialize, de::IntoDeserializer};
use uuid::Uuid;

use crate::{
    error::BadRow,
    sql::{Column, Row},
    statements::scope::{PRIVATE, PROJECT, SHARED},
};

pub(crate) fn from_cell_type(kind: CellType) -> i64 {
    match kind {
        CellType::Decision => 0,
        CellType::Constraint => 1,
        CellType::Risk => 2,
        CellType::Pattern => 3,
        CellType::Lesson => 4,
        CellType::Fact => 5,
        CellType::Preference => 6,
        CellType::Context => 7,
        CellType::Task => 8,
    }
}

pub(crate) fn to_cell_type(number: i64) -> Result<CellType, BadRow> {
    of_number(number, &CellType::ALL, "type")
}

pub(crate) const fn from_layer(layer: Layer) -> i64 {
    match layer {
        Layer::L0 => 0,
        Layer::L1 => 1,
        Layer::L2 => 2,
    }
}

pub(crate) fn to_layer(number: i64) -> Result<Layer, BadRow> {
    of_number(number, &Layer::ALL, "layer")
}

pub(crate) const fn from_visibility(visibility: Visibility) -> i64 {
    match visibility {
        Visibility::Private => PRIVATE,
        Visibility::Project => PROJECT,
        Visibility::Shared => SHARED,
    }
}

pub(crate) fn to_visibility(number: i64) -> Result<Visibility, BadRow> {
    const ALL: [Visibility; 3] = [Visibility::Private, Visibility::Project, Visibility::Shared];
    of_number(number, &ALL, "visibility")
}

pub(crate) const fn from_status(status: Status) -> i64 {
    match status {
        Status::Active => 0,
        Status::Superseded => 1,
        Status::Retracted => 2,
    }
}

pub(crate) fn to_status(number: i64) -> Result<Status, BadRow> {
    of_number(number, &Status::ALL, "status")
}

pub(crate) const fn from_source(source: Source) -> i64 {
    match source {
        Source::UserStated => 0,
        Source::AgentInferred => 1,
        Source::ToolOutput => 2,
        Source::Imported => 3,
    }
}

pub(crate) fn to_source(number: i64) -> Result<Source, BadRow> {
    of_number(number, &Source::ALL, "source")
}

pub(crate) const fn from_diff_kind(kind: DiffKind) -> i64 {
    match kind {
        DiffKind::Created => 0,
        DiffKind::Updated => 1,
        DiffKind::Superseded => 2,
        DiffKind::Contradiction => 3,
        DiffKind::Pattern => 4,
        DiffKind::Promoted => 5,
        DiffKind::Retracted => 6,
        DiffKind::Restored => 7,
        DiffKind::Erased => 8,
        DiffKind::Resolved => 9,
    }
}

pub(crate) fn to_diff_kind(number: i64) -> Result<DiffKind, BadRow> {
    of_number(number, &DiffKind::ALL, "kind of diff")
}

/// Edges of kinds below 4 are not given by anybody.
pub(crate) const fn from_relation_kind(kind: RelationKind) -> i64 {
    match kind {
        RelationKind::Supports => 4,
        RelationKind::Contradicts => 5,
        RelationKind::Refines => 6,
        RelationKind::Supersedes => 7,
        RelationKind::DependsOn => 8,
        RelationKind::CausedBy => 9,
        RelationKind::ExampleOf => 10,
        RelationKind::Related => 11,
    }
}

pub(crate) fn to_relation_kind(number: i64) -> Result<RelationKind, BadRow> {
    of_number(number.saturating_sub(4), &RelationKind::ALL, "kind of link")
}

pub(crate) const fn from_conflict_kind(kind: ConflictKind) -> i64 {
    match kind {
        ConflictKind::Stated => 0,
        ConflictKind::Judged => 1,
    }
}

pub(crate) fn to_conflict_kind(number: i64) -> Result<ConflictKind, BadRow> {
    const ALL: [ConflictKind; 2] = [ConflictKind::Stated, ConflictKind::Judged];
    of_number(number, &ALL, "kind of conflict")
}

pub(crate) const fn from_verdict(verdict: Verdict) -> i64 {
    match verdict {
        Verdict::Left => 0,
        Verdict::Right => 1,
        Verdict::Both => 2,
        Verdict::Neither => 3,
    }
}

pub(crate) fn to_verdict(number: i64) -> Result<Verdict, BadRow> {
    of_number(number, &Verdict::ALL, "verdict")
}

pub(crate) const fn from_action(action: Action) -> i64 {
    match action {
        Action::Store => 0,
        Action::Update => 1,
        Action::Link => 2,
        Action::Confirm => 3,
        Action::Retract => 4,
        Action::Erase => 5,
        Action::Restore => 6,
        Action::Resolve => 7,
        Action::Import => 8,
    }
}

pub(crate) fn to_action(number: i64) -> Result<Action, BadRow> {
    of_number(number, &Action::ALL, "action")
}

/// Returns tags as they are kept, joined with commas, which no tag contains.
pub(crate) fn from_tags(tags: &Tags) -> String {
    let tags: Vec<&str> = tags.iter().map(Tag::as_str).collect();
    tags.join(",")
}

pub(crate) fn to_tags(text: &str) -> Result<Tags, BadRow> {
    if text.is_empty() {
        return Ok(Tags::default());
    }
    let what = "tags";
    let tags: Vec<Tag> = text
        .split(',')
        .map(Tag::new)
        .collect::<Result<_, _>>()
        .map_err(|_| BadRow { what })?;
    let tags = Tags::new(tags).map_err(|_| BadRow { what })?;
    if from_tags(&tags) == text {
        Ok(tags)
    } else {
        Err(BadRow { what })
    }
}

fn to_topic(text: &str) -> Result<Topic, BadRow> {
    Topic::new(text)
        .ok()
        .filter(|topic| topic.as_str() == text)
        .ok_or(BadRow { what: "topic" })
}

/// Reads a time of truth; an empty one is never kept.
pub(crate) fn to_validity(from: Option<i64>, until: Option<i64>) -> Result<Validity, BadRow> {
    let from = from.map(to_time).transpose()?;
    let until = until.map(to_time).transpose()?;
    Validity::new(from, until).ok_or(BadRow {
        what: "time of truth",
    })
}

fn of_number<T: Copy>(number: i64, all: &[T], what: &'static str) -> Result<T, BadRow> {
    usize::try_from(number)
        .ok()
        .and_then(|index| all.get(index).copied())
        .ok_or(BadRow { what })
}

/// Returns a time as it is kept, to the microsecond.
pub(crate) fn from_time(time: Timestamp) -> i64 {
    time.as_microsecond()
}

pub(crate) fn to_time(microseconds: i64) -> Result<Timestamp, BadRow> {
    // In two parts: as one number, jiff does not take the last second of all time.
    let seconds = microseconds.div_euclid(1_000_000);
    let rest = microseconds.rem_euclid(1_000_000) * 1000;
    let rest = i32::try_from(rest).map_err(|_| BadRow { what: "time" })?;
    Timestamp::new(seconds, rest).map_err(|_| BadRow { what: "time" })
}

pub(crate) fn to_uuid(bytes: &[u8]) -> Result<Uuid, BadRow> {
    Uuid::from_slice(bytes).map_err(|_| BadRow { what: "id" })
}

/// Returns a project's name as it was kept; unlike [`Project::named`] it trims and refuses
/// nothing, because a directory may have any name.
pub(crate) fn to_project(name: String) -> Result<Project, BadRow> {
    let name: serde::de::value::StringDeserializer<serde::de::value::Error> =
        name.into_deserializer();
    Project::deserialize(name).map_err(|_| BadRow { what: "project" })
}

pub(crate) fn to_share(number: f64, what: &'static str) -> Result<Share, BadRow> {
    Share::new(number).ok_or(BadRow { what })
}

/// Returns a path as bytes, which need not be text.
pub(crate) fn from_path(path: &std::path::Path) -> Vec<u8> {
    path.as_os_str().as_encoded_bytes().to_vec()
}

#[cfg(unix)]
pub(crate) fn to_path(bytes: Vec<u8>) -> Result<PathBuf, BadRow> {
    use std::os::unix::ffi::OsStringExt;
    Ok(std::ffi::OsString::from_vec(bytes).into())
}

#[cfg(not(unix))]
pub(crate) fn to_path(bytes: Vec<u8>) -> Result<PathBuf, BadRow> {
    String::from_utf8(bytes)
        .map(PathBuf::from)
        .map_err(|_| BadRow { what: "directory" })
}

/// Columns of a row by position, where a value that cannot be read is a bad row.
pub(crate) struct Columns<'r>(pub(crate) &'r Row);

impl<'r> Columns<'r> {
    pub(crate) fn get<T>(&self, index: usize, what: &'static str) -> Result<T, BadRow>
    where
        T: Column<'r>,
    {
        self.0.get(index).ok_or(BadRow { what })
    }

    pub(crate) fn id(&self, index: usize) -> Result<Uuid, BadRow> {
        to_uuid(self.get(index, "id")?)
    }

    pub(crate) fn time(&self, index: usize) -> Result<Timestamp, BadRow> {
        to_time(self.get(index, "time")?)
    }

    pub(crate) fn maybe_time(&self, index: usize) -> Result<Option<Timestamp>, BadRow> {
        self.get::<Option<i64>>(index, "time")?
            .map(to_time)
            .transpose()
    }

    pub(crate) fn count<N: TryFrom<i64>>(
        &self,
        index: usize,
        what: &'static str,
    ) -> Result<N, BadRow> {
        N::try_from(self.get::<i64>(index, what)?).map_err(|_| BadRow { what })
    }
}

/// The columns that [`to_cell`] reads, in its order, of `cells c` joined with `projects p`.
/// What may change comes from the table that the argument names, which is `c.` or that of
/// earlier states.
macro_rules! cell_columns {
    ($state:literal) => {
        concat!(
            "c.cell_id, c.author, p.name, c.layer, c.created_at, ",
            $state,
            "content, ",
            $state,
            "cell_type, ",
            $state,
            "salience, ",
            $state,
            "confidence, ",
            $state,
            "visibility, ",
            $state,
            "status, ",
            $state,
            "revision, ",
            $state,
            "content_revision, ",
            $state,
            "topic, ",
            $state,
            "tags, ",
            $state,
            "valid_from, ",
            $state,
            "valid_until, ",
            $state,
            "verified_at, ",
            $state,
            "source, ",
            $state,
            "session_id, ",
            $state,
            "position, ",
            $state,
            "said_at, ",
            $state,
            "updated_at"
        )
    };
}
pub(crate) use cell_columns;

/// How many columns a cell has; the first of what follows it.
pub(crate) const CELL_COLUMNS: usize = 23;

pub(crate) fn to_cell(row: &Row) -> Result<Cell, BadRow> {
    let row = Columns(row);
    let topic: Option<&str> = row.get(13, "topic")?;
    let session: Option<&[u8]> = row.get(19, "session")?;
    let position: Option<i64> = row.get(20, "position")?;
    Ok(Cell {
        id: CellId::new(row.id(0)?),
        author: CredentialId::new(row.id(1)?),
        project: to_project(row.get(2, "project")?)?,
        layer: to_layer(row.get(3, "layer")?)?,
        created_at: row.time(4)?,
        content: Content::new(row.get(5, "content")?).map_err(|_| BadRow { what: "content" })?,
        cell_type: to_cell_type(row.get(6, "type")?)?,
        salience: to_share(row.get(7, "salience")?, "salience")?,
        confidence: to_share(row.get(8, "confidence")?, "confidence")?,
        visibility: to_visibility(row.get(9, "visibility")?)?,
        status: to_status(row.get(10, "status")?)?,
        revision: row.count(11, "revision")?,
        content_revision: row.count(12, "revision")?,
        topic: topic.map(to_topic).transpose()?,
        tags: to_tags(row.get(14, "tags")?)?,
        validity: to_validity(row.get(15, "time")?, row.get(16, "time")?)?,
        verified_at: row.maybe_time(17)?,
        origin: Origin {
            source: to_source(row.get(18, "source")?)?,
            session: session.map(to_uuid).transpose()?.map(SessionId::new),
            position: position
                .map(u32::try_from)
                .transpose()
                .map_err(|_| BadRow { what: "position" })?,
            said_at: row.maybe_time(21)?,
        },
        updated_at: row.time(22)?,
    })
}

/// Reads `session_id, cwd, project, title, created_at, updated_at`.
pub(crate) fn to_session(row: &Row) -> Result<Session, BadRow> {
    let row = Columns(row);
    Ok(Session {
        id: SessionId::new(row.id(0)?),
        cwd: to_path(row.get(1, "directory")?)?,
        project: to_project(row.get(2, "project")?)?,
        title: row.get(3, "title")?,
        created_at: row.time(4)?,
        updated_at: row.time(5)?,
    })
}

/// Reads `credential_id, tenant_id, name, created_at, revoked_at`.
pub(crate) fn to_credential(row: &Row) -> Result<Credential, BadRow> {
    let row = Columns(row);
    Ok(Credential {
        id: CredentialId::new(row.id(0)?),
        tenant: TenantId::new(row.id(1)?),
        name: row.get(2, "name")?,
        created_at: row.time(3)?,
        revoked_at: row.maybe_time(4)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_enumerations_are_each_others_inverse() {
        for kind in CellType::ALL {
            assert_eq!(to_cell_type(from_cell_type(kind)), Ok(kind));
        }
        for layer in Layer::ALL {
            assert_eq!(to_layer(from_layer(layer)), Ok(layer));
        }
        for visibility in [Visibility::Project, Visibility::Private, Visibility::Shared] {
            assert_eq!(to_visibility(from_visibility(visibility)), Ok(visibility));
        }
        for status in Status::ALL {
            assert_eq!(to_status(from_status(status)), Ok(status));
        }
        for source in Source::ALL {
            assert_eq!(to_source(from_source(source)), Ok(source));
        }
        for kind in DiffKind::ALL {
            assert_eq!(to_diff_kind(from_diff_kind(kind)), Ok(kind));
        }
        for kind in RelationKind::ALL {
            assert_eq!(to_relation_kind(from_relation_kind(kind)), Ok(kind));
        }
        for kind in [ConflictKind::Stated, ConflictKind::Judged] {
            assert_eq!(to_conflict_kind(from_conflict_kind(kind)), Ok(kind));
        }
        for verdict in Verdict::ALL {
            assert_eq!(to_verdict(from_verdict(verdict)), Ok(verdict));
        }
        for action in Action::ALL {
            assert_eq!(to_action(from_action(action)), Ok(action));
        }
        let kind = BadRow {
            what: "kind of link",
        };
        assert_eq!(to_relation_kind(3), Err(kind), "a link that nobody gave");
        assert_eq!(to_relation_kind(12), Err(kind));
        assert_eq!(to_relation_kind(i64::MIN), Err(kind));
        assert_eq!(to_layer(3), Err(BadRow { what: "layer" }));
        assert_eq!(to_layer(-1), Err(BadRow { what: "layer" }));
    }

    #[test]
    fn a_time_comes_back_to_the_microsecond_to_both_ends_of_time() {
        for time in [Timestamp::MIN, Timestamp::UNIX_EPOCH, Timestamp::MAX] {
            let found = to_time(from_time(time)).unwrap();
            assert_eq!(found.as_microsecond(), time.as_microsecond());
        }
        for number in [-1_500_000, -1, 0, 1_700_000_000_123_456] {
            assert_eq!(to_time(number).map(from_time), Ok(number));
        }
        for number in [i64::MIN, i64::MAX] {
            assert_eq!(to_time(number), Err(BadRow { what: "time" }));
        }
    }

    #[test]
    fn tags_come_back_as_they_were_and_nothing_else_passes_for_tags() {
        for names in [
            &[][..],
            &["a"],
            &["ß", "two-words", "a"],
            &["##x", "J\u{30c}", "ΑΣ"],
        ] {
            let tags = Tags::new(names.iter().map(|name| Tag::new(name).unwrap())).unwrap();
            assert_eq!(to_tags(&from_tags(&tags)), Ok(tags));
        }
        for text in ["b,a", "a,a", "A", "a,", ",", " a", "#a"] {
            assert_eq!(to_tags(text), Err(BadRow { what: "tags" }), "{text}");
        }
        assert_eq!(to_topic("Two"), Err(BadRow { what: "topic" }));
    }

    #[test]
    fn a_project_of_any_directory_comes_back_as_it_was() {
        for name in [" spaces ", "line\nbreak", "/home/ana/ß"] {
            let project = Project::of_directory(std::path::Path::new(name));
            assert_eq!(to_project(project.as_str().to_owned()), Ok(project));
        }
    }
}
