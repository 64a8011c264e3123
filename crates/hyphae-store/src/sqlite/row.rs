//! Between rows and domain values; pure, and each pair is each other's inverse.

use std::path::PathBuf;

use hyphae_core::{
    cell::{Cell, CellType, Content, Layer, Origin, Share, Status, Visibility},
    credential::Credential,
    ids::{CellId, CredentialId, SessionId, TenantId},
    scope::Project,
    session::Session,
};
use jiff::Timestamp;
use serde::{Deserialize, de::IntoDeserializer};
use sqlx::{Row, sqlite::SqliteRow};
use uuid::Uuid;

use super::{
    error::BadRow,
    scope::{PRIVATE, PROJECT, SHARED},
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
    const ALL: [Status; 3] = [Status::Active, Status::Superseded, Status::Retracted];
    of_number(number, &ALL, "status")
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
    Timestamp::from_microsecond(microseconds).map_err(|_| BadRow { what: "time" })
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
pub(crate) struct Columns<'r>(pub(crate) &'r SqliteRow);

impl<'r> Columns<'r> {
    pub(crate) fn get<T>(&self, index: usize, what: &'static str) -> Result<T, BadRow>
    where
        T: sqlx::Decode<'r, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite>,
    {
        self.0.try_get(index).map_err(|_| BadRow { what })
    }

    pub(crate) fn id(&self, index: usize) -> Result<Uuid, BadRow> {
        to_uuid(self.get(index, "id")?)
    }

    pub(crate) fn time(&self, index: usize) -> Result<Timestamp, BadRow> {
        to_time(self.get(index, "time")?)
    }

    pub(crate) fn count<N: TryFrom<i64>>(
        &self,
        index: usize,
        what: &'static str,
    ) -> Result<N, BadRow> {
        N::try_from(self.get::<i64>(index, what)?).map_err(|_| BadRow { what })
    }
}

/// The columns of `cells c` joined with `projects p` that [`to_cell`] reads, in its order.
macro_rules! cell_columns {
    () => {
        "c.cell_id, c.content, c.cell_type, c.salience, c.confidence, c.author, p.name, c.layer,
         c.visibility, c.status, c.revision, c.session_id, c.position, c.said_at, c.created_at,
         c.updated_at"
    };
}
pub(crate) use cell_columns;

pub(crate) fn to_cell(row: &SqliteRow) -> Result<Cell, BadRow> {
    let row = Columns(row);
    let session: Option<&[u8]> = row.get(11, "session")?;
    let position: Option<i64> = row.get(12, "position")?;
    let said_at: Option<i64> = row.get(13, "time")?;
    Ok(Cell {
        id: CellId::new(row.id(0)?),
        content: Content::new(row.get(1, "content")?).map_err(|_| BadRow { what: "content" })?,
        cell_type: to_cell_type(row.get(2, "type")?)?,
        salience: to_share(row.get(3, "salience")?, "salience")?,
        confidence: to_share(row.get(4, "confidence")?, "confidence")?,
        author: CredentialId::new(row.id(5)?),
        project: to_project(row.get(6, "project")?)?,
        layer: to_layer(row.get(7, "layer")?)?,
        visibility: to_visibility(row.get(8, "visibility")?)?,
        status: to_status(row.get(9, "status")?)?,
        revision: row.count(10, "revision")?,
        origin: Origin {
            session: session.map(to_uuid).transpose()?.map(SessionId::new),
            position: position
                .map(u32::try_from)
                .transpose()
                .map_err(|_| BadRow { what: "position" })?,
            said_at: said_at.map(to_time).transpose()?,
        },
        created_at: row.time(14)?,
        updated_at: row.time(15)?,
    })
}

/// Reads `session_id, cwd, project, title, created_at, updated_at`.
pub(crate) fn to_session(row: &SqliteRow) -> Result<Session, BadRow> {
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
pub(crate) fn to_credential(row: &SqliteRow) -> Result<Credential, BadRow> {
    let row = Columns(row);
    let revoked_at: Option<i64> = row.get(4, "time")?;
    Ok(Credential {
        id: CredentialId::new(row.id(0)?),
        tenant: TenantId::new(row.id(1)?),
        name: row.get(2, "name")?,
        created_at: row.time(3)?,
        revoked_at: revoked_at.map(to_time).transpose()?,
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
        for status in [Status::Active, Status::Superseded, Status::Retracted] {
            assert_eq!(to_status(from_status(status)), Ok(status));
        }
        assert_eq!(to_layer(3), Err(BadRow { what: "layer" }));
        assert_eq!(to_layer(-1), Err(BadRow { what: "layer" }));
    }

    #[test]
    fn a_project_of_any_directory_comes_back_as_it_was() {
        for name in [" spaces ", "line\nbreak", "/home/ana/ß"] {
            let project = Project::of_directory(std::path::Path::new(name));
            assert_eq!(to_project(project.as_str().to_owned()), Ok(project));
        }
    }
}
