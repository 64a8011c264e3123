//! What SQLite and the file system call a failure, and what the ports call it.

use std::{io, path::Path};

use hyphae_core::ports::StoreError;

/// SQLite's primary result codes that have a meaning to callers.
mod code {
    pub(super) const PERM: i32 = 3;
    pub(super) const BUSY: i32 = 5;
    pub(super) const LOCKED: i32 = 6;
    pub(super) const READONLY: i32 = 8;
    pub(super) const IOERR: i32 = 10;
    pub(super) const CORRUPT: i32 = 11;
    pub(super) const FULL: i32 = 13;
    pub(super) const CANTOPEN: i32 = 14;
    pub(super) const NOTADB: i32 = 26;
    /// The file is shorter than its header says.
    pub(super) const IOERR_SHORT_READ: i32 = IOERR | 2 << 8;
    /// The shared-memory file could not be made larger, which is how a full disk shows there.
    pub(super) const IOERR_SHMSIZE: i32 = IOERR | 19 << 8;
    pub(super) const IOERR_CORRUPTFS: i32 = IOERR | 33 << 8;
}

/// Maps what SQLite says.
pub(crate) fn of_sqlx(error: sqlx::Error, place: &Path) -> StoreError {
    let extended = error
        .as_database_error()
        .and_then(sqlx::error::DatabaseError::code)
        .and_then(|code| code.parse::<i32>().ok());
    if let Some(extended) = extended {
        return of_code(extended, error, place);
    }
    if let sqlx::Error::Io(error) = &error {
        return of_io(error, place);
    }
    if matches!(
        error,
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_)
    ) {
        return StoreError::Damaged {
            place: place.display().to_string(),
        };
    }
    StoreError::Unavailable {
        message: "the database could not be used".to_owned(),
        source: Some(Box::new(error)),
    }
}

fn of_code(extended: i32, error: sqlx::Error, place: &Path) -> StoreError {
    let at = || place.display().to_string();
    match (extended & 0xff, extended) {
        (code::BUSY | code::LOCKED, _) => StoreError::Locked,
        (code::FULL, _) | (_, code::IOERR_SHMSIZE) => StoreError::Full,
        (code::CORRUPT | code::NOTADB, _) | (_, code::IOERR_SHORT_READ | code::IOERR_CORRUPTFS) => {
            StoreError::Damaged { place: at() }
        }
        // What is in a folder that is closed to us cannot be known, and is not missing.
        (code::CANTOPEN, _) if matches!(place.try_exists(), Ok(false)) => {
            StoreError::Missing { place: at() }
        }
        (code::READONLY | code::CANTOPEN | code::PERM, _) => StoreError::ReadOnly { place: at() },
        _ => StoreError::Unavailable {
            message: format!("SQLite reports error {extended}"),
            source: Some(Box::new(error)),
        },
    }
}

/// Maps a failure of the file system.
pub(crate) fn of_io(error: &io::Error, place: &Path) -> StoreError {
    let at = || place.display().to_string();
    let kind = error.kind();
    if kind == io::ErrorKind::NotFound {
        StoreError::Missing { place: at() }
    } else if matches!(
        kind,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
    ) {
        StoreError::ReadOnly { place: at() }
    } else if matches!(
        kind,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    ) {
        StoreError::Full
    } else {
        StoreError::Unavailable {
            message: format!("{kind} at {}", at()),
            source: None,
        }
    }
}
