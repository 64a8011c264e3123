//! A database that nobody uses may be read as if nobody could: without locks, and without the
//! index of its log, which takes a third as long to make as the reading itself.
//!
//! Why that is safe, although another process may begin to write at any moment:
//!
//! - A change is committed in the log (`-wal`) first and comes into the file later. Without a
//!   log, all that was committed before is in the file: a key that was revoked is never taken.
//! - Whoever has the database open has a log, even if it is empty. The one who closes last
//!   removes it, once the file is whole. So without a log nobody holds a lock either.
//! - The file changes only while there is a log. If there is none afterwards either, and header,
//!   length and time of the last change are what they were, then nobody wrote in between. The
//!   steps in which a file system tells times could hide it, so a file that changed only just
//!   now is not quiet.
//! - An ordinary connection could make its files here. Whoever cannot use the database is told
//!   so at once and not at the first prompt.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::Path,
    time::{Duration, SystemTime},
};

use rustix::fs::{Access, access, statvfs};

/// For how long a quiet database has not changed. Times of files have steps of at most two
/// seconds.
const SETTLED: Duration = Duration::from_secs(3);

/// The room that an ordinary connection needs for its files, in bytes.
const ROOM: u64 = 1 << 20;

/// SQLite's header, and what its bytes 18 and 19 are in a database with a log.
const HEADER: usize = 100;
const WITH_LOG: &[u8] = &[2, 2];

/// How a quiet database looks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Quiet {
    header: [u8; HEADER],
    length: u64,
    changed: SystemTime,
}

impl Quiet {
    /// Returns how the database looks now; none if it is not quiet or nothing to be read at all.
    ///
    /// Closing a file makes a process lose the locks that it has on it. So nothing of this process
    /// may be opening the database meanwhile; what has opened it has a log.
    pub(crate) fn of(place: &Path) -> Option<Self> {
        if !is_absent(place, "-wal") || !is_absent(place, "-journal") {
            return None;
        }
        let mut file = File::open(place).ok()?;
        let found = file.metadata().ok()?;
        let changed = found.modified().ok()?;
        let mut header = [0; HEADER];
        file.read_exact(&mut header).ok()?;
        let quiet = header.get(18..20) == Some(WITH_LOG) && is_settled(changed) && is_usable(place);
        quiet.then_some(Self {
            header,
            length: found.len(),
            changed,
        })
    }
}

/// Returns the name by which SQLite takes a file for one that cannot change.
pub(crate) fn uri(place: &Path) -> Option<String> {
    let path = place.to_str()?;
    let path = path.replace('%', "%25").replace('?', "%3f");
    Some(format!("file://{}?immutable=1", path.replace('#', "%23")))
}

fn is_settled(changed: SystemTime) -> bool {
    SystemTime::now()
        .duration_since(changed)
        .is_ok_and(|age| age >= SETTLED)
}

fn is_absent(place: &Path, suffix: &str) -> bool {
    let mut name = place.as_os_str().to_owned();
    name.push(suffix);
    fs::symlink_metadata(name).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Tells whether an ordinary connection could be made.
fn is_usable(place: &Path) -> bool {
    let Some(folder) = place.parent() else {
        return false;
    };
    access(place, Access::READ_OK | Access::WRITE_OK).is_ok()
        && access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
        && statvfs(folder).is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) >= ROOM)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use super::*;

    /// A file that begins as a database with a log does, and has not changed for an hour.
    fn database(folder: &Path) -> std::path::PathBuf {
        let place = folder.join("db");
        let mut bytes = vec![0; 4096];
        bytes[18..20].copy_from_slice(WITH_LOG);
        fs::write(&place, bytes).unwrap();
        change(&place, |_| {});
        place
    }

    /// Changes a file without changing its time of an hour ago.
    fn change(place: &Path, how: impl FnOnce(&File)) {
        let file = File::options().write(true).open(place).unwrap();
        how(&file);
        let hour = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap()
            .as_secs()
            / 3600;
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs((hour - 1) * 3600);
        file.set_modified(time).unwrap();
    }

    #[test]
    fn every_trace_of_a_change_shows() {
        let folder = tempfile::tempdir().unwrap();
        let place = database(folder.path());
        let before = Quiet::of(&place).unwrap();
        assert_eq!(Quiet::of(&place), Some(before));
        let before = Quiet::of(&place).unwrap();
        let file = File::options().write(true).open(&place).unwrap();
        file.set_modified(before.changed - Duration::from_secs(1))
            .unwrap();
        assert_ne!(Quiet::of(&place), Some(before), "the time");
        change(&place, |_| {});
        let before = Quiet::of(&place).unwrap();
        change(&place, |file| file.set_len(5000).unwrap());
        assert_ne!(Quiet::of(&place), Some(before), "the length");
        let before = Quiet::of(&place).unwrap();
        change(&place, |file| file.write_all_at(&[7], 99).unwrap());
        assert_ne!(Quiet::of(&place), Some(before), "the header");
    }

    #[test]
    fn a_database_with_a_log_or_a_journal_is_not_quiet_even_if_they_are_empty() {
        let folder = tempfile::tempdir().unwrap();
        let place = database(folder.path());
        for name in ["db-wal", "db-journal"] {
            let beside = folder.path().join(name);
            fs::write(&beside, "").unwrap();
            assert_eq!(Quiet::of(&place), None, "{name}");
            fs::remove_file(&beside).unwrap();
            std::os::unix::fs::symlink("nowhere", &beside).unwrap();
            assert_eq!(Quiet::of(&place), None, "{name} that leads nowhere");
            fs::remove_file(&beside).unwrap();
            assert!(Quiet::of(&place).is_some());
        }
    }

    #[test]
    fn a_database_in_another_journal_mode_is_not_quiet() {
        let folder = tempfile::tempdir().unwrap();
        let place = database(folder.path());
        for bytes in [[1, 1], [1, 2], [2, 1]] {
            change(&place, |file| file.write_all_at(&bytes, 18).unwrap());
            assert_eq!(Quiet::of(&place), None, "{bytes:?}");
        }
    }

    #[test]
    fn what_is_no_file_or_too_short_is_not_quiet() {
        let folder = tempfile::tempdir().unwrap();
        let place = database(folder.path());
        change(&place, |file| file.set_len(99).unwrap());
        assert_eq!(Quiet::of(&place), None);
        assert_eq!(Quiet::of(folder.path()), None);
        assert_eq!(Quiet::of(&folder.path().join("none")), None);
    }
}
