//! The database file: how it is made, what version its tables have, how they are brought up to
//! date.
//!
//! A new database is built completely under another name and then given its own, so that
//! nobody ever sees half of one and of ten processes that begin at once one wins. Migrations of
//! an older one run in a single transaction that the others wait for.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use hyphae_core::ports::StoreError;
use sqlx::{
    ConnectOptions,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};
use uuid::Uuid;

use super::{connections::Connections, of_io};
use crate::{
    error::{Fault, Place},
    sql::{Connection, Query, sql},
    statements::{add_default_tenant, add_key_secret, row::Columns},
    store::{Schema, Verdict},
};

/// Each brings the tables from its index to the next version. Only ever appended to.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/sqlite/0001_first.sql"),
    include_str!("../../migrations/sqlite/0002_engine.sql"),
];

/// The newest version of the tables that this program knows.
pub(crate) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Marks our files in SQLite's header: `HYPH`.
pub(crate) const APPLICATION: i64 = 0x4859_5048;

/// Makes the database unless it is there; other processes may be doing the same.
pub(crate) async fn create(place: &Path) -> Result<(), StoreError> {
    if fs::metadata(place).is_ok_and(|found| found.len() > 0) {
        return Ok(());
    }
    let io = |error: io::Error| {
        if error.kind() == io::ErrorKind::NotFound {
            // Not the file is missing, its folder cannot be made.
            StoreError::ReadOnly {
                place: place.display().to_string(),
            }
        } else {
            of_io(&error, place)
        }
    };
    let folder = place.parent().unwrap_or(place);
    make_folder(folder).map_err(io)?;
    let draft = draft_name(place);
    make_file(&draft).map_err(io)?;
    let made = fill(&draft)
        .await
        .map_err(|fault| fault.store_error(&Place::File(place)));
    let synced = made.and_then(|()| sync(&draft).map_err(io));
    let result = synced.and_then(|()| publish(&draft, place).map_err(io));
    fs::remove_file(&draft).ok();
    result
}

/// Tells what version the tables have.
pub(crate) async fn look(connections: &Connections) -> Result<Schema, StoreError> {
    let header = header(connections).await?;
    Ok(Schema::new(header.version, MIGRATIONS))
}

/// Reads the header and refuses what is no database of ours, or of a later version.
async fn header(connections: &Connections) -> Result<Header, StoreError> {
    let place = connections.place();
    let header = connections
        .read(async |connection| Header::read(connection).await)
        .await
        .map_err(|fault| fault.store_error(&Place::File(place)))?;
    header.check(place)?;
    Ok(header)
}

/// Checks that this is a database of ours and migrates an older one.
pub(crate) async fn check(connections: &Connections) -> Result<(), StoreError> {
    let header = header(connections).await?;
    if header.version < VERSION {
        bring_up_to_date(connections).await?;
    }
    if header.journal_mode != "wal" {
        // Some ways of copying a database leave the copy in another mode. It works in that one
        // too, so a file that cannot be changed now is no reason to refuse it.
        let changed = connections.run_alone("pragma journal_mode = wal").await;
        if let Err(fault) = changed {
            tracing::warn!(?fault, "the database stays in a slower journal mode");
        }
    }
    Ok(())
}

async fn bring_up_to_date(connections: &Connections) -> Result<(), StoreError> {
    let place = connections.place().to_owned();
    let done = connections.write(move |connection| {
        Box::pin(async move {
            // Another process may have been faster, and may know more versions than we do.
            let header = Header::read(connection).await?;
            header.check(&place)?;
            migrate(connection, header.version).await?;
            Ok(Verdict::Commit(()))
        })
    });
    done.await
        .map_err(|fault| fault.store_error(&Place::File(connections.place())))
}

/// What SQLite keeps in the header of a file.
struct Header {
    application: i64,
    version: i64,
    tables: i64,
    journal_mode: String,
}

impl Header {
    /// Refuses what is no database of ours, or of a later version.
    fn check(&self, place: &Path) -> Result<(), StoreError> {
        let at = || place.display().to_string();
        if self.tables == 0 {
            // SQLite takes a file that is shorter than any database for an empty one.
            let length = fs::metadata(place).map_or(0, |found| found.len());
            return Err(if length == 0 {
                StoreError::Missing { place: at() }
            } else {
                StoreError::Damaged { place: at() }
            });
        }
        if self.application != APPLICATION {
            return Err(StoreError::Unavailable {
                message: format!("{} is a database of another program", at()),
                source: None,
            });
        }
        if self.version > VERSION {
            return Err(StoreError::Newer {
                place: at(),
                found: self.version,
                known: VERSION,
            });
        }
        Ok(())
    }

    async fn read(connection: &mut Connection) -> Result<Self, Fault> {
        let sql = sql!(
            "select application_id, user_version, (select count(*) from sqlite_schema),
                 journal_mode
             from pragma_application_id, pragma_user_version, pragma_journal_mode"
        );
        let row = Query::new(sql).fetch_one(connection).await?;
        let row = Columns(&row);
        Ok(Self {
            application: row.get(0, "header")?,
            version: row.get(1, "header")?,
            tables: row.get(2, "header")?,
            journal_mode: row.get(3, "header")?,
        })
    }
}

async fn migrate(connection: &mut Connection, from: i64) -> Result<(), Fault> {
    for (version, migration) in (1_i64..).zip(MIGRATIONS) {
        if version > from {
            connection.run(migration).await?;
        }
    }
    set_version(connection).await
}

async fn set_version(connection: &mut Connection) -> Result<(), Fault> {
    // A pragma takes no parameters; the number is a constant of this program.
    let sql = format!("pragma user_version = {VERSION}");
    connection.run(&sql).await
}

async fn set_application(connection: &mut Connection) -> Result<(), Fault> {
    let sql = format!("pragma application_id = {APPLICATION}");
    connection.run(&sql).await
}

/// Fills an empty file with everything that a new database has, and closes it.
async fn fill(draft: &Path) -> Result<(), Fault> {
    let connection = SqliteConnectOptions::new()
        .filename(draft)
        .page_size(PAGE_SIZE)
        // Nobody sees the draft before it is whole and on the disk.
        .synchronous(SqliteSynchronous::Off)
        .journal_mode(SqliteJournalMode::Memory)
        .disable_statement_logging()
        .connect()
        .await?;
    let mut connection = Connection::Sqlite(connection);
    let filled = fill_through(&mut connection).await;
    connection.close().await;
    filled
}

/// Rows of vectors and words are about a kilobyte: several to a page, none split over two.
const PAGE_SIZE: u32 = 8192;

async fn fill_through(connection: &mut Connection) -> Result<(), Fault> {
    set_application(connection).await?;
    migrate(connection, 0).await?;
    add_key_secret(connection).await?;
    add_default_tenant(connection).await?;
    // The journal mode is a property of the file. Set last: the file then has no log beside it.
    connection.run("pragma journal_mode = wal").await
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn make_file(file: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map(drop)
}

fn sync(path: &Path) -> io::Result<()> {
    fs::File::open(path)?.sync_all()
}

fn draft_name(place: &Path) -> PathBuf {
    let mut name = place.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", Uuid::now_v7().as_simple()));
    place.with_file_name(name)
}

/// Gives the draft its name, unless a database has it already.
fn publish(draft: &Path, place: &Path) -> io::Result<()> {
    match fs::hard_link(draft, place) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if fs::metadata(place)?.len() > 0 {
                return Ok(());
            }
            // An empty file is what a program leaves that was ended too early.
            fs::rename(draft, place)?;
        }
        // A file system without hard links.
        Err(_) if !place.exists() => fs::rename(draft, place)?,
        Err(error) => return Err(error),
    }
    #[cfg(unix)]
    sync(place.parent().unwrap_or(place))?;
    Ok(())
}
