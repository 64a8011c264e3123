//! An agent in a process of its own, and what the system knows about that process.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Instant,
};

use anyhow::Context;
use serde_json::{Value, json};

/// How to start an agent. Nothing of this process' environment reaches it.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<(&'static str, String)>,
}

/// A running agent, spoken to line by line.
#[derive(Debug)]
pub(crate) struct Agent {
    child: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
    next_id: u64,
}

/// Resident memory in MiB.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) resident: f64,
    /// The part that is not pages of the program's file.
    pub(crate) anonymous: f64,
    /// With pages that are shared counted in parts.
    pub(crate) proportional: f64,
    /// The most that was ever resident.
    pub(crate) peak: f64,
}

impl Agent {
    /// Starts a process and shakes hands. Returns it with the milliseconds from before the start
    /// until its answer was there.
    pub(crate) fn start(recipe: &Recipe) -> anyhow::Result<(Self, f64)> {
        let started = Instant::now();
        let mut agent = Self::spawn(recipe)?;
        let answer = agent.call("initialize", &json!({"protocolVersion": 1}))?;
        let took = started.elapsed().as_secs_f64() * 1e3;
        anyhow::ensure!(answer["protocolVersion"] == 1, "{answer}");
        Ok((agent, took))
    }

    /// Starts a process and says nothing yet.
    pub(crate) fn spawn(recipe: &Recipe) -> anyhow::Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "a bench starts what it measures")]
        let mut child = Command::new(&recipe.program)
            .args(&recipe.arguments)
            .env_clear()
            .envs(recipe.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| recipe.program.display().to_string())?;
        let asks = child.stdin.take().context("the agent's stdin")?;
        let answers = child.stdout.take().context("the agent's stdout")?;
        Ok(Self {
            child,
            asks,
            answers: BufReader::new(answers),
            next_id: 0,
        })
    }

    /// Opens a session.
    pub(crate) fn session(&mut self) -> anyhow::Result<Value> {
        let answer = self.call("session/new", &json!({"cwd": "/", "mcpServers": []}))?;
        Ok(answer["sessionId"].clone())
    }

    /// Asks and waits for the answer.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        let id = self.send(method, params)?;
        self.answer(id, |_| {})
    }

    /// Sends a prompt and waits for the end of its turn; returns how much text came.
    pub(crate) fn prompt(&mut self, session: &Value, text: &str) -> anyhow::Result<usize> {
        let id = self.send_prompt(session, text)?;
        self.end_of_turn(id)
    }

    pub(crate) fn send_prompt(&mut self, session: &Value, text: &str) -> anyhow::Result<u64> {
        let prompt = json!([{"type": "text", "text": text}]);
        self.send(
            "session/prompt",
            &json!({"sessionId": session, "prompt": prompt}),
        )
    }

    pub(crate) fn end_of_turn(&mut self, id: u64) -> anyhow::Result<usize> {
        let mut bytes = 0;
        let answer = self.answer(id, |update| {
            let text = update["params"]["update"]["content"]["text"].as_str();
            bytes += text.map_or(0, str::len);
        })?;
        anyhow::ensure!(answer["stopReason"] == "end_turn", "{answer}");
        Ok(bytes)
    }

    pub(crate) fn send(&mut self, method: &str, params: &Value) -> anyhow::Result<u64> {
        self.next_id += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params});
        let mut line = request.to_string();
        line.push('\n');
        self.asks.write_all(line.as_bytes())?;
        Ok(self.next_id)
    }

    pub(crate) fn answer(
        &mut self,
        id: u64,
        mut update: impl FnMut(&Value),
    ) -> anyhow::Result<Value> {
        let mut line = String::new();
        loop {
            line.clear();
            let read = self.answers.read_line(&mut line)?;
            anyhow::ensure!(read > 0, "the agent ended");
            let mut message: Value = serde_json::from_str(&line)?;
            if message["id"] == id {
                anyhow::ensure!(message.get("error").is_none(), "{message}");
                return Ok(message["result"].take());
            }
            update(&message);
        }
    }

    /// Milliseconds that the process' threads have computed so far.
    pub(crate) fn cpu_ms(&self) -> anyhow::Result<f64> {
        let mut nanoseconds = 0.0;
        for task in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let Ok(times) = fs::read_to_string(task?.path().join("schedstat")) else {
                continue; // It ended just now.
            };
            let first = times.split(' ').next().unwrap_or_default();
            nanoseconds += first.parse::<f64>()?;
        }
        Ok(nanoseconds / 1e6)
    }

    pub(crate) fn memory(&self) -> anyhow::Result<Memory> {
        let of = |file: &str, name: &str| -> anyhow::Result<f64> {
            let text = fs::read_to_string(format!("/proc/{}/{file}", self.child.id()))?;
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .with_context(|| format!("{name} in {file}"))?;
            let kib = line.trim().trim_end_matches(" kB").parse::<f64>()?;
            Ok(kib / 1024.0)
        };
        Ok(Memory {
            resident: of("status", "VmRSS:")?,
            anonymous: of("status", "RssAnon:")?,
            proportional: of("smaps_rollup", "Pss:")?,
            peak: of("status", "VmHWM:")?,
        })
    }

    /// Closes its stdin and waits for it to end.
    pub(crate) fn end(self) -> anyhow::Result<()> {
        let Self {
            mut child,
            asks,
            answers,
            ..
        } = self;
        drop(asks);
        let status = child.wait()?;
        drop(answers);
        anyhow::ensure!(status.success(), "the agent ended with {status}");
        Ok(())
    }
}
