//! How a store fails, in terms a caller can act on.

/// Why a store could not do what it was asked. The messages are for people: one line, a remedy
/// where there is one, no secrets and no content.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process holds the database too long.
    #[error("the database is locked by another process; try again, or end what holds it")]
    Locked,
    /// The file or its folder cannot be written.
    #[error("the database cannot be written: check the owner and permissions of {place}")]
    ReadOnly {
        /// The file.
        place: String,
    },
    /// No room is left.
    #[error("no space left for the database; free some and try again, nothing stored is lost")]
    Full,
    /// The file is not, or no longer, a sound database.
    #[error("the database {place} is damaged; restore a backup (see the README, `Backup`)")]
    Damaged {
        /// The file.
        place: String,
    },
    /// The schema was written by a later version of the program.
    #[error(
        "the database {place} was made by a newer hyphae-server (schema {found}, this one knows {known}); update hyphae-server"
    )]
    Newer {
        /// The file.
        place: String,
        /// Its schema version.
        found: i64,
        /// The newest that this program knows.
        known: i64,
    },
    /// There is no database yet.
    #[error("there is no database at {place}; run `hyphae-server init`")]
    Missing {
        /// Where it was looked for.
        place: String,
    },
    /// Another file took its place while this process used it.
    #[error("the database {place} was replaced while it was in use; try again")]
    Replaced {
        /// The file.
        place: String,
    },
    /// The vectors in the database belong to another embedding model.
    #[error(
        "these memories were embedded with `{found}`, this process uses `{wanted}`; start it with that embedder"
    )]
    OtherModel {
        /// The model of the stored vectors.
        found: String,
        /// The model of this process.
        wanted: String,
    },
    /// The key of this process was revoked while it ran.
    #[error(
        "the key of this process was revoked; make a new one with `hyphae-server keys create --name NAME --save`"
    )]
    Revoked,
    /// Anything else.
    #[error("the store failed: {message}")]
    Unavailable {
        /// One line on what failed.
        message: String,
        /// The cause, for the log.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
}
