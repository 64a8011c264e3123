//! Whoever stands between a store and its server: sees what is asked and answered, and may lose it.

use std::{path::PathBuf, sync::Arc};

use hyphae_store::PostgresAddress;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{UnixListener, UnixStream},
    task::JoinHandle,
};

/// What becomes of what is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It arrives, and so does its answer.
    Passes,
    /// It never arrives, and the connection ends.
    Lost,
    /// It arrives; the connection ends when its answer holds these bytes, which do not arrive.
    Unanswered(&'static [u8]),
}

/// Sees what passes on connections, which are counted from 0.
pub(crate) trait Watcher: Send + Sync + 'static {
    /// Decides about what a store sends at once.
    fn asked(&self, connection: usize, bytes: &[u8]) -> Fate;

    /// Learns that something is answered.
    fn answered(&self, _connection: usize) {}
}

/// A socket before that of a server, until it is dropped.
#[derive(Debug)]
pub(crate) struct Between {
    folder: TempDir,
    task: JoinHandle<()>,
    url: String,
}

impl Between {
    /// Stands before the server of an address by a Unix socket.
    pub(crate) fn new(url: &str, watcher: Arc<impl Watcher>) -> Self {
        let (_, host) = url.split_once("host=").unwrap();
        let host = host.split('&').next().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let name = ".s.PGSQL.5432";
        let listener = UnixListener::bind(folder.path().join(name)).unwrap();
        let server = PathBuf::from(host).join(name);
        let url = url.replace(host, folder.path().to_str().unwrap());
        let task = tokio::spawn(async move {
            for connection in 0.. {
                let (near, _) = listener.accept().await.unwrap();
                let far = UnixStream::connect(&server).await.unwrap();
                tokio::spawn(pass(connection, near, far, Arc::clone(&watcher)));
            }
        });
        Self { folder, task, url }
    }

    /// Returns the address that leads through it.
    pub(crate) fn address(&self) -> PostgresAddress {
        assert!(self.folder.path().exists());
        PostgresAddress::parse(&self.url).unwrap()
    }
}

impl Drop for Between {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Passes on what is asked and answered until one side ends, or something is to be lost.
async fn pass(
    connection: usize,
    mut near: UnixStream,
    mut far: UnixStream,
    watcher: Arc<impl Watcher>,
) {
    let (mut asked, mut answered) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            read = near.read(&mut asked) => {
                let Some(length) = read.ok().filter(|length| *length > 0) else { return };
                let fate = watcher.asked(connection, &asked[..length]);
                if fate == Fate::Lost {
                    return;
                }
                far.write_all(&asked[..length]).await.unwrap();
                if let Fate::Unanswered(bytes) = fate {
                    let mut all = Vec::new();
                    while !all.windows(bytes.len()).any(|part| part == bytes) {
                        let length = far.read(&mut answered).await.unwrap();
                        assert!(length > 0, "the server has gone away");
                        all.extend_from_slice(&answered[..length]);
                    }
                    return;
                }
            }
            read = far.read(&mut answered) => {
                let Some(length) = read.ok().filter(|length| *length > 0) else { return };
                watcher.answered(connection);
                near.write_all(&answered[..length]).await.unwrap();
            }
        }
    }
}
