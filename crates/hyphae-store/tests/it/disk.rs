//! Disks that are full or cannot be written. They need a small file system of their own; where
//! the system does not let us mount one, these tests say so and pass.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

use hyphae_core::{
    ports::{CredentialStore, SessionError, StoreError},
    scope::Owner,
};
use hyphae_store::{SqliteOptions, Store};
use hyphae_testkit::contract::{
    Subject,
    fixture::{World, insert, project},
};
use tempfile::TempDir;

use crate::{
    processes::{agree, cell, entries},
    subject::OnDisk,
    worker::{Process, Said, Work},
};

/// A file system in memory, of a few megabytes.
#[derive(Debug)]
pub(crate) struct SmallDisk {
    pub(crate) folder: Arc<TempDir>,
}

impl SmallDisk {
    /// Mounts one of four megabytes; none where that is not allowed.
    fn mount() -> Option<Self> {
        Self::mount_of("size=4m")
    }

    /// The same of another size.
    pub(crate) fn mount_of(size: &str) -> Option<Self> {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let path = folder.path().to_str().unwrap();
        let mounted = run("mount", &["-t", "tmpfs", "-o", size, "tmpfs", path]);
        if !mounted {
            println!("skipped: this system lets us mount nothing");
        }
        mounted.then_some(Self { folder })
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("hyphae.db")
    }

    fn remount(&self, options: &str) {
        let path = self.folder.path().to_str().unwrap();
        let options = format!("remount,{options}");
        assert!(run("mount", &["-o", &options, path]));
    }

    /// Leaves this many bytes free.
    pub(crate) fn fill(&self, free: u64) -> PathBuf {
        let filler = self.folder.path().join("filler");
        let file = fs::File::create(&filler).unwrap();
        let mut written = 0;
        let block = [1; 4096];
        while std::os::unix::fs::FileExt::write_all_at(&file, &block, written).is_ok() {
            written += 4096;
        }
        file.set_len(written.saturating_sub(free)).unwrap();
        filler
    }

    async fn store(&self) -> OnDisk {
        let store = Store::create_file(&self.path(), SqliteOptions::default())
            .await
            .unwrap();
        OnDisk {
            store,
            folder: Arc::clone(&self.folder),
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        run("umount", &["-l", self.folder.path().to_str().unwrap()]);
    }
}

#[expect(clippy::disallowed_methods, reason = "mounts what a test needs")]
fn run(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}

#[tokio::test]
async fn on_a_full_disk_nothing_acknowledged_is_lost() {
    let Some(small) = SmallDisk::mount() else {
        return;
    };
    let disk = small.store().await;
    let world = World::new(&disk).await;
    let owner = world.owner().await;
    let scope = owner.in_project(project("p"));
    let session = world.session("/a");
    disk.sessions()
        .create_session(owner, &session)
        .await
        .unwrap();
    let mut kept = Vec::new();
    let mut appended = 0;
    let mut full = 0;
    // Several times full, each time with a little room that comes back.
    for free in [200_000, 60_000, 20_000, 9_000, 0] {
        let filler = small.fill(free);
        for n in 0..200 {
            let new = cell(&scope, &format!("{free} {n} {}", "words ".repeat(100)));
            match world.try_commit(&scope, vec![insert(&new)]).await {
                Ok(done) => {
                    assert!(done.is_done(), "{done:?}");
                    kept.push(new.cell);
                }
                Err(StoreError::Full) => full += 1,
                Err(error) => panic!("{error:?}"),
            }
            let done = disk
                .sessions()
                .append_transcript(owner, session.id, &entries(), None, world.now())
                .await;
            match done {
                Ok(()) => appended += 3,
                Err(SessionError::Store(StoreError::Full)) => full += 1,
                Err(error) => panic!("{error:?}"),
            }
            if full > 20 {
                break;
            }
        }
        assert!(full > 0, "{free}: {} bytes", size(&small.path()));
        full = 0;
        check(&disk, owner, &kept).await;
        fs::remove_file(filler).unwrap();
        let new = cell(&scope, &format!("after {free}"));
        // With room again.
        kept.push(world.keep(&scope, new).await.cell);
    }
    disk.store.close().await;
    let again = disk.again().await;
    check(&*again, owner, &kept).await;
    let page = hyphae_core::session::PageSize::new(200).unwrap();
    let mut read = 0;
    loop {
        let found = again
            .sessions()
            .transcript(owner, session.id, read, page)
            .await
            .unwrap();
        read += found.len() as u64;
        if found.is_empty() {
            break;
        }
    }
    assert_eq!(read, appended);
    agree(&small.path()).await;
}

async fn check(subject: &dyn Subject, owner: Owner, kept: &[hyphae_core::cell::Cell]) {
    let scope = owner.in_project(project("p"));
    let ids: Vec<_> = kept.iter().map(|cell| cell.id).collect();
    let found = subject.memories().cells(&scope, &ids).await.unwrap();
    assert_eq!(found, kept);
}

#[tokio::test]
async fn a_database_is_not_made_on_a_full_disk_and_nothing_is_left() {
    let Some(small) = SmallDisk::mount() else {
        return;
    };
    for free in [0, 4096, 40_000] {
        let filler = small.fill(free);
        let made = Store::create_file(&small.path(), SqliteOptions::default()).await;
        assert!(matches!(made, Err(StoreError::Full)), "{free}: {made:?}");
        let left: Vec<_> = fs::read_dir(small.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["filler"]);
        fs::remove_file(filler).unwrap();
    }
    small.store().await;
}

#[tokio::test]
async fn a_disk_that_is_only_read_is_named() {
    let Some(small) = SmallDisk::mount() else {
        return;
    };
    let disk = small.store().await;
    let world = World::new(&disk).await;
    let scope = world.owner().await.in_project(project("p"));
    world.store(&scope, "kept").await;
    let (credential, key) = world.credential(world.tenant);
    disk.store.add_credential(&credential, &key).await.unwrap();
    disk.store.close().await;
    crate::first_look::settle(&small.path());
    let recognise = || Store::recognise(&small.path(), SqliteOptions::default(), &key);
    assert!(recognise().is_some());
    let filler = small.fill(0);
    assert!(recognise().is_none(), "there is no room for a log");
    fs::remove_file(filler).unwrap();
    small.remount("ro");
    let place = small.path().display().to_string();
    let opened = Store::open_file(&small.path(), SqliteOptions::default()).await;
    assert_eq!(recognise().is_some(), opened.is_ok());
    if let Ok(store) = opened {
        let disk = OnDisk {
            store,
            folder: Arc::clone(&small.folder),
        };
        let new = cell(&scope, "new");
        let done = world.commit_on(&disk, &scope, vec![insert(&new)]).await;
        let Err(StoreError::ReadOnly { place: named }) = done else {
            panic!("{done:?}");
        };
        assert_eq!(named, place);
    } else {
        let Err(StoreError::ReadOnly { place: named }) = opened else {
            panic!("{opened:?}");
        };
        assert_eq!(named, place);
    }
    let other = small.folder.path().join("new/other.db");
    let made = Store::create_file(&other, SqliteOptions::default()).await;
    assert!(matches!(made, Err(StoreError::ReadOnly { .. })), "{made:?}");
    small.remount("rw");
    let store = Store::open_file(&small.path(), SqliteOptions::default())
        .await
        .unwrap();
    store.close().await;
}

/// Files of somebody else's. Root may write everything, so another user tries it.
#[tokio::test]
async fn files_of_another_user_are_named() {
    use std::os::unix::fs::PermissionsExt;
    let other = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
    ];
    let program = std::env::current_exe().unwrap();
    let list = [&other[1..], &[program.to_str().unwrap(), "--list"]].concat();
    if !run(other[0], &list) {
        println!("skipped: only root may become another user");
        return;
    }
    let disk = OnDisk::new().await;
    let world = World::new(&disk).await;
    let owner = world.owner().await;
    let (credential, key) = world.credential(world.tenant);
    disk.store.add_credential(&credential, &key).await.unwrap();
    disk.store.close().await;
    crate::first_look::settle(&disk.path());
    let allow = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    for (folder, file) in [
        (0o700, 0o600),
        (0o755, 0o600),
        (0o755, 0o644),
        (0o777, 0o644),
    ] {
        allow(disk.folder.path(), folder);
        allow(&disk.path(), file);
        let work = Work::Try {
            owner: (owner.tenant, owner.credential),
            key: key.reveal(),
        };
        let said = Process::start_behind(&other, &disk.path(), work).finish();
        let place = disk.path().display().to_string();
        let want = Said::Failed(format!("{:?}", StoreError::ReadOnly { place }));
        assert_eq!(said[0], want, "folder {folder:o}, file {file:o}");
    }
}
