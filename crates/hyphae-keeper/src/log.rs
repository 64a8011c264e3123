//! What an agent says on stderr, in a file that stays small and holds no secrets.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
};

use hyphae_core::mask::mask;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    sync::mpsc,
};

use crate::exec::FAILED;

/// A line without an end is written once it is this long, in bytes.
const LINE_BYTES: usize = 64 * 1024;

const READ_BYTES: usize = 8 * 1024;

/// A file that is put aside (`.1`, one of them) when it is full.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    limit: u64,
    open: Option<(File, u64)>,
    /// Where it is said that the file cannot be written.
    troubles: mpsc::Sender<String>,
}

impl Log {
    pub(crate) const fn new(path: PathBuf, limit: u64, troubles: mpsc::Sender<String>) -> Self {
        Self {
            path,
            limit,
            open: None,
            troubles,
        }
    }

    /// Appends whole lines, masked.
    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let text = mask(&String::from_utf8_lossy(lines)).text;
        let (mut file, size) = match self.open.take() {
            Some(open) => open,
            None => self.create()?,
        };
        file.write_all(text.as_bytes())?;
        let size = size + text.len() as u64;
        if size < self.limit {
            self.open = Some((file, size));
            return Ok(());
        }
        let mut aside = self.path.clone().into_os_string();
        aside.push(".1");
        fs::rename(&self.path, aside)
    }

    fn create(&self) -> io::Result<(File, u64)> {
        let file = File::options()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&self.path)?;
        let size = file.metadata()?.len();
        Ok((file, size))
    }

    /// Takes everything down until the end. Returns why the agent could not be started, if that
    /// is what it was told instead of an agent's words.
    pub(crate) async fn keep(mut self, mut stderr: impl AsyncRead + Unpin) -> Option<String> {
        let mut waiting = Vec::new();
        let mut first = true;
        loop {
            let mut piece = [0; READ_BYTES];
            let read = stderr.read(&mut piece).await.unwrap_or(0);
            waiting.extend_from_slice(&piece[..read]);
            if first && waiting.starts_with(FAILED) {
                if read == 0 {
                    return Some(String::from_utf8_lossy(&waiting[FAILED.len()..]).into_owned());
                }
                if waiting.len() <= LINE_BYTES {
                    continue;
                }
            }
            first = false;
            let whole = match waiting.iter().rposition(|byte| *byte == b'\n') {
                _ if read == 0 => waiting.len(),
                Some(end) => end + 1,
                None if waiting.len() >= LINE_BYTES => waiting.len(),
                None => continue,
            };
            if whole > 0
                && let Err(error) = self.append(&waiting[..whole])
            {
                // A full disk must not stop the agent; it is tried again with the next words.
                let what = format!("the log cannot be written: {error}");
                let _said_already = self.troubles.try_send(what);
            }
            waiting.drain(..whole);
            if read == 0 {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn kept(said: &[u8], limit: u64) -> (Option<String>, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let (troubles, _) = mpsc::channel(1);
        let log = Log::new(folder.path().join("log"), limit, troubles);
        (log.keep(said).await, folder)
    }

    #[tokio::test]
    async fn a_log_holds_no_secrets_and_is_its_owners() {
        use std::os::unix::fs::MetadataExt as _;
        let key = format!("hyk_{}", "0123456789abcdef".repeat(4));
        let said = format!("start\nkey {key}\nno end");
        let (failed, folder) = kept(said.as_bytes(), 1 << 20).await;
        assert_eq!(failed, None);
        let path = folder.path().join("log");
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with("start\nkey ") && text.ends_with("\nno end"),
            "{text}"
        );
        assert!(!text.contains(&key), "{text}");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    }

    #[tokio::test]
    async fn a_flood_leaves_two_files_of_bounded_size() {
        let said = "a line of some length\n".repeat(20_000);
        let (_, folder) = kept(said.as_bytes(), 50_000).await;
        let mut sizes = Vec::new();
        for entry in fs::read_dir(folder.path()).unwrap() {
            sizes.push(entry.unwrap().metadata().unwrap().len());
        }
        assert!(sizes.len() <= 2, "{sizes:?}");
        assert!(
            sizes.iter().all(|size| *size < 50_000 + 10_000),
            "{sizes:?}"
        );
    }

    #[tokio::test]
    async fn a_line_without_an_end_does_not_grow_for_ever() {
        let said = "x".repeat(3 * LINE_BYTES);
        let (_, folder) = kept(said.as_bytes(), 1 << 20).await;
        let size = fs::metadata(folder.path().join("log")).unwrap().len();
        assert!(size >= said.len() as u64 / 2, "{size}");
    }

    #[tokio::test]
    async fn why_there_is_no_agent_is_not_a_log() {
        let mut said = FAILED.to_vec();
        said.extend_from_slice(b"No such file");
        let (failed, folder) = kept(&said, 1 << 20).await;
        assert_eq!(failed.as_deref(), Some("No such file"));
        assert!(!folder.path().join("log").exists());
    }
}
