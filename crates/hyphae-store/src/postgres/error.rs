//! What a server calls a failure, and what the ports call it.

use hyphae_core::ports::StoreError;
use tokio_postgres::{Error, error::SqlState};

use super::is_of_a_node;

/// Maps what a server, or the way to it, says. `place` names no password.
pub(crate) fn of_postgres(error: Error, place: &str) -> StoreError {
    let Some(code) = error.code().cloned() else {
        return of_way(error, place);
    };
    let message = match code {
        SqlState::LOCK_NOT_AVAILABLE
        | SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::T_R_SERIALIZATION_FAILURE => return StoreError::Locked,
        SqlState::QUERY_CANCELED => format!("{place} takes too long to answer; try again"),
        SqlState::DISK_FULL => return StoreError::Full,
        SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => {
            return StoreError::Damaged {
                place: place.to_owned(),
            };
        }
        SqlState::UNDEFINED_TABLE => {
            return StoreError::Missing {
                place: place.to_owned(),
            };
        }
        SqlState::READ_ONLY_SQL_TRANSACTION => {
            format!("{place} only repeats what another server writes; name the one that does")
        }
        SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            format!("{place} refuses the user or the password of the address")
        }
        SqlState::INVALID_CATALOG_NAME => {
            format!(
                "there is no database {place}; create it (`createdb`), then run `hyphae-server init`"
            )
        }
        SqlState::INSUFFICIENT_PRIVILEGE => {
            format!("the user of the address may not do this in {place}; see the manual on roles")
        }
        SqlState::TOO_MANY_CONNECTIONS => format!("{place} has no connection left"),
        SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN | SqlState::CANNOT_CONNECT_NOW => {
            format!("{place} is being stopped or started; try again")
        }
        _ if is_of_a_node(&error) => {
            format!(
                "{place} cannot reach the server that keeps these memories; those of others are not affected"
            )
        }
        _ => format!("{place} reports error {}", code.code()),
    };
    StoreError::Unavailable {
        message,
        source: Some(Box::new(error)),
    }
}

/// Maps a failure between us and the server.
fn of_way(error: Error, place: &str) -> StoreError {
    let cause = std::error::Error::source(&error);
    let is_tls = error.to_string().contains("TLS");
    let message = if is_tls {
        format!("{place} cannot prove that it is the server that is meant, or offers no TLS")
    } else if error.is_closed() {
        format!("{place} has gone away; try again")
    } else if cause.is_some_and(<dyn std::error::Error>::is::<std::io::Error>) {
        format!("nothing answers at {place}; is the server running?")
    } else {
        format!("{place} cannot be used: {error}")
    };
    StoreError::Unavailable {
        message,
        source: Some(Box::new(error)),
    }
}
