//! The same questions elsewhere: a child process that runs `bench/recall_baseline.py`.

use std::{
    fs::File,
    io::{BufRead, BufReader, BufWriter, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use anyhow::Context;
use serde::Deserialize;

use crate::corpus::Drawn;

/// numpy's exact scan and FTS5, filled with the same memories.
#[derive(Debug)]
pub(crate) struct Baseline {
    child: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
    pub(crate) versions: String,
    _folder: tempfile::TempDir,
}

/// CPU milliseconds of each question of a round.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Round {
    pub(crate) scan: Vec<f64>,
    pub(crate) words: Vec<f64>,
}

impl Baseline {
    pub(crate) fn start(
        memories: impl Iterator<Item = Drawn>,
        questions: &[Drawn],
        dimension: usize,
    ) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        write(folder.path(), "texts.txt", "vectors.f32", memories)?;
        let asked = questions.iter().cloned();
        write(folder.path(), "questions.txt", "probes.f32", asked)?;
        let python = std::env::var("HYPHAE_BENCH_PYTHON").unwrap_or("python3".to_owned());
        #[expect(clippy::disallowed_methods, reason = "a baseline is a process")]
        let mut child = Command::new(python)
            .arg("../../bench/recall_baseline.py")
            .arg(folder.path())
            .arg(dimension.to_string())
            // numpy reads these before the script could take them away.
            .env_remove("OPENBLAS_CORETYPE")
            .env_remove("OPENBLAS_L2_SIZE")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("HYPHAE_BENCH_PYTHON names a Python with numpy")?;
        let asks = child.stdin.take().context("the baseline's stdin")?;
        let answers = child.stdout.take().context("the baseline's stdout")?;
        let mut baseline = Self {
            child,
            asks,
            answers: BufReader::new(answers),
            versions: String::new(),
            _folder: folder,
        };
        baseline.versions = baseline.line()?.trim().to_owned();
        Ok(baseline)
    }

    pub(crate) fn round(&mut self, first: usize, count: usize) -> anyhow::Result<Round> {
        writeln!(self.asks, "{first} {count}")?;
        Ok(serde_json::from_str(&self.line()?)?)
    }

    fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        let read = self.answers.read_line(&mut line)?;
        anyhow::ensure!(
            read > 0,
            "the baseline ended; HYPHAE_BENCH_PYTHON must name a Python with numpy"
        );
        Ok(line)
    }
}

impl Drop for Baseline {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn write(
    folder: &Path,
    texts: &str,
    vectors: &str,
    drawn: impl Iterator<Item = Drawn>,
) -> anyhow::Result<()> {
    let mut text = BufWriter::new(File::create(folder.join(texts))?);
    let mut numbers = BufWriter::new(File::create(folder.join(vectors))?);
    for one in drawn {
        writeln!(text, "{}", one.text)?;
        for number in one.vector {
            numbers.write_all(&number.to_le_bytes())?;
        }
    }
    text.flush()?;
    numbers.flush()?;
    Ok(())
}
