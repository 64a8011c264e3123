//! What can go wrong inside the adapter, and what the ports call it.

use std::{fmt, path::Path};

use hyphae_core::{
    ids::SessionId,
    ports::{SessionError, StoreError},
};

use crate::{postgres, sqlite};

/// A failure before it is known which port reports it, and where the database lies.
#[derive(Debug)]
pub(crate) enum Fault {
    /// SQLite answered with an error.
    Sqlite(sqlx::Error),
    /// A Postgres server did, or did not answer.
    Postgres(tokio_postgres::Error),
    /// An answer was not waited for any longer.
    TooSlow,
    /// A row holds what this program never writes.
    BadRow(BadRow),
    /// The answer is known already.
    Store(StoreError),
    /// The same, for sessions.
    Session(SessionError),
}

/// A value that this program never writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BadRow {
    /// Which one; never what it holds.
    pub(crate) what: &'static str,
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(error)
    }
}

impl From<BadRow> for Fault {
    fn from(row: BadRow) -> Self {
        Self::BadRow(row)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<SessionError> for Fault {
    fn from(error: SessionError) -> Self {
        Self::Session(error)
    }
}

/// Where a database is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'a> {
    File(&'a Path),
    /// As it may be shown: without a password.
    Server(&'a str),
}

impl<'a> Place<'a> {
    /// Returns the path of a file; of a server its address, where no file lies.
    pub(crate) fn path(self) -> &'a Path {
        match self {
            Self::File(path) => path,
            Self::Server(address) => Path::new(address),
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Server(address) => f.write_str(address),
        }
    }
}

impl Fault {
    /// Makes a failure without a remedy of its own.
    pub(crate) fn other(message: &'static str) -> Self {
        Self::Store(StoreError::Unavailable {
            message: message.to_owned(),
            source: None,
        })
    }

    /// Tells whether a commit that ended so may have been kept all the same.
    pub(crate) fn is_in_doubt(&self) -> bool {
        matches!(self, Self::Postgres(error) if postgres::is_in_doubt(error))
    }

    /// Tells whether the connection is as good as before.
    pub(crate) const fn is_harmless(&self) -> bool {
        match self {
            Self::Sqlite(_) | Self::Postgres(_) | Self::TooSlow => false,
            Self::BadRow(_) | Self::Store(_) | Self::Session(_) => true,
        }
    }

    /// Reports to a caller of the memory and credential ports.
    pub(crate) fn store_error(self, place: &Place<'_>) -> StoreError {
        match self {
            Self::Sqlite(error) => sqlite::of_sqlx(error, place.path()),
            Self::Postgres(error) => postgres::of_postgres(error, &place.to_string()),
            Self::TooSlow => StoreError::Unavailable {
                message: format!("{place} takes too long to answer; try again"),
                source: None,
            },
            Self::BadRow(BadRow { what }) => {
                tracing::error!(what, "a row of the database cannot be read");
                StoreError::Damaged {
                    place: place.to_string(),
                }
            }
            Self::Store(error) => error,
            Self::Session(error) => StoreError::Unavailable {
                message: error.to_string(),
                source: None,
            },
        }
    }

    /// Reports to a caller of the session port.
    pub(crate) fn session_error(self, place: &Place<'_>, id: SessionId) -> SessionError {
        match self {
            Self::Session(error) => error,
            Self::BadRow(BadRow { what }) => SessionError::Damaged {
                id,
                reason: format!("its {what} cannot be read"),
            },
            Self::Sqlite(_) | Self::Postgres(_) | Self::TooSlow | Self::Store(_) => {
                SessionError::Store(self.store_error(place))
            }
        }
    }
}
