//! An ACP agent that does what its prompts say, well or badly: the child of the supervisor's
//! tests. A prompt is a script, a step a line:
//!
//! ```text
//! say TEXT         show a message             cwd | pid | keeper say where, who, whose it is
//! raw LINE         write a line as it is      thought TEXT       show a thought
//! flood N          show N messages            card ID STATUS     show a tool card
//! ask              ask for permission         wait               wait for a cancel
//! crash N          exit with code N           die                be killed by SIGKILL
//! half             die in the middle of a line
//! daemon | leak    leave a process behind; `leak` gives it our stdout as well
//! log TEXT         write to stderr            refuse CODE        answer with an error
//! hang             never answer, whatever comes
//! ```
//!
//! Arguments: `--journal FILE` (what it hears), `--caps JSON` (its capabilities), `--banner`,
//! `--silent`, `--exit N`, `--ignore-term`, `--stay`, `--refuse-new`, `--auth`, `--hang-in METHOD`,
//! `--die-in METHOD`, `--deaf` (does not read after its session was opened).
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::zombie_processes,
    clippy::panic,
    reason = "a program of tests that has stdout for itself and starts itself once more"
)]

use std::{
    fs::File,
    io::{BufRead as _, StdinLock, Write as _},
    process::{Command, Stdio, exit},
};

use serde_json::{Value, json};

fn main() {
    let mut agent = Agent::of_arguments();
    if agent.flag("--ignore-term") || agent.flag("--daemon") {
        ignore_term();
    }
    if agent.flag("--daemon") {
        rustix::process::setsid().unwrap();
        // Closed, it says that all of this is done.
        let nothing = File::options().write(true).open("/dev/null").unwrap();
        rustix::stdio::dup2_stderr(&nothing).unwrap();
        loop {
            std::thread::park();
        }
    }
    if let Some(code) = agent.value("--exit") {
        exit(code.parse().unwrap());
    }
    if agent.flag("--banner") {
        agent.line("Welcome to the agent! Checking for updates...");
    }
    while let Some(message) = agent.hear() {
        agent.handle(&message);
    }
    if agent.flag("--stay") {
        loop {
            std::thread::park();
        }
    }
}

/// Takes SIGTERM and does nothing about it.
fn ignore_term() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let _entered = runtime.enter();
    let terminate = tokio::signal::unix::SignalKind::terminate();
    std::mem::forget(tokio::signal::unix::signal(terminate).unwrap());
    std::mem::forget(runtime);
}

struct Agent {
    arguments: Vec<String>,
    input: StdinLock<'static>,
    journal: Option<File>,
    authenticated: bool,
    cancelled: bool,
    asked: u64,
}

impl Agent {
    fn of_arguments() -> Self {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let mut agent = Self {
            arguments,
            input: std::io::stdin().lock(),
            journal: None,
            authenticated: false,
            cancelled: false,
            asked: 0,
        };
        agent.journal = agent.value("--journal").map(|path| {
            File::options()
                .create(true)
                .append(true)
                .open(path)
                .unwrap()
        });
        agent
    }

    fn flag(&self, name: &str) -> bool {
        self.arguments.iter().any(|argument| argument == name)
    }

    fn value(&self, name: &str) -> Option<String> {
        let at = self
            .arguments
            .iter()
            .position(|argument| argument == name)?;
        self.arguments.get(at + 1).cloned()
    }

    fn line(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        // Whoever does not listen any more need not hear it.
        let _unheard = out.write_all(format!("{text}\n").as_bytes());
        let _unheard = out.flush();
    }

    fn send(&self, message: &Value) {
        self.line(&message.to_string());
    }

    fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        if self.input.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        if let Some(journal) = &mut self.journal {
            journal.write_all(line.as_bytes()).unwrap();
        }
        Some(serde_json::from_str(&line).unwrap())
    }

    fn handle(&mut self, message: &Value) {
        let method = message["method"].as_str().unwrap_or_default();
        if self.value("--die-in").as_deref() == Some(method) {
            exit(9);
        }
        if self.value("--hang-in").as_deref() == Some(method) {
            return;
        }
        let answer = match method {
            "initialize" if self.flag("--silent") => return,
            "initialize" => Ok(json!({
                "protocolVersion": 1,
                "agentInfo": { "name": "scripted", "version": "1" },
                "agentCapabilities": self.value("--caps").map_or(json!({}), |caps| serde_json::from_str(&caps).unwrap()),
                "_meta": { "scripted": message["params"]["clientInfo"] },
            })),
            "authenticate" => {
                self.authenticated = true;
                Ok(json!({}))
            }
            "session/new" if self.flag("--auth") && !self.authenticated => {
                Err(json!({ "code": -32000, "message": "who are you?" }))
            }
            "session/new" if self.flag("--refuse-new") => {
                Err(json!({ "code": -32602, "message": "model unavailable", "data": { "n": 1 } }))
            }
            "session/new" => {
                let session = format!("own-{}", std::process::id());
                self.update(&session, &json!({ "sessionUpdate": "available_commands_update", "availableCommands": [] }));
                Ok(json!({ "sessionId": session, "modes": null }))
            }
            "session/load" | "session/resume" => {
                let session = message["params"]["sessionId"].as_str().unwrap();
                if method == "session/load" {
                    self.say(session, "replayed by the agent");
                }
                Ok(json!({}))
            }
            "session/close" => Ok(json!({})),
            "session/cancel" => {
                self.cancelled = true;
                return;
            }
            "session/prompt" => match self.prompt(&message["params"]) {
                Some(answer) => answer,
                None => return,
            },
            _ if method.starts_with("_echo") => Ok(json!({ "params": message["params"] })),
            _ => Err(json!({ "code": -32601, "message": "no such method" })),
        };
        if message.get("id").is_none() {
            return;
        }
        self.send(&match answer {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }),
            Err(error) => json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }),
        });
        while method == "session/new" && self.flag("--deaf") {
            std::thread::park();
        }
    }

    fn update(&self, session: &str, update: &Value) {
        self.send(&json!({
            "jsonrpc": "2.0",
            "method": "session/update",
            "params": { "sessionId": session, "update": update },
        }));
    }

    fn say(&self, session: &str, text: &str) {
        self.update(
            session,
            &json!({
                "sessionUpdate": "agent_message_chunk",
                "content": { "type": "text", "text": text },
            }),
        );
    }

    /// Follows the script; none if the prompt is not to be answered.
    fn prompt(&mut self, params: &Value) -> Option<Result<Value, Value>> {
        let session = params["sessionId"].as_str().unwrap();
        self.cancelled = false;
        for step in params["prompt"][0]["text"].as_str().unwrap().lines() {
            let (word, rest) = step.split_once(' ').unwrap_or((step, ""));
            match word {
                "say" => self.say(session, rest),
                "thought" => self.update(
                    session,
                    &json!({
                        "sessionUpdate": "agent_thought_chunk",
                        "content": { "type": "text", "text": rest },
                    }),
                ),
                "cwd" => self.say(
                    session,
                    &std::env::current_dir().unwrap().display().to_string(),
                ),
                "pid" => self.say(session, &std::process::id().to_string()),
                "keeper" => self.say(session, &std::os::unix::process::parent_id().to_string()),
                "raw" => self.line(&rest.replace("SESSION", session)),
                "flood" => {
                    for n in 0..rest.parse().unwrap() {
                        self.say(session, &format!("message {n} of a flood"));
                    }
                }
                "card" => {
                    let (id, status) = rest.split_once(' ').unwrap();
                    self.update(session, &json!({
                        "sessionUpdate": "tool_call", "toolCallId": id, "title": "work", "status": status,
                    }));
                }
                "ask" => {
                    let outcome = self.ask(session)?;
                    self.say(session, &outcome.to_string());
                }
                "wait" => {
                    while !self.cancelled {
                        let message = self.hear()?;
                        self.handle(&message);
                    }
                    return Some(Ok(json!({ "stopReason": "cancelled" })));
                }
                "crash" => exit(rest.parse().unwrap()),
                "die" => {
                    rustix::process::kill_process(
                        rustix::process::getpid(),
                        rustix::process::Signal::KILL,
                    )
                    .unwrap();
                }
                "half" => {
                    let mut out = std::io::stdout().lock();
                    out.write_all(br#"{"jsonrpc":"2.0","method":"session/upd"#)
                        .unwrap();
                    out.flush().unwrap();
                    exit(0);
                }
                "daemon" => {
                    let pid = daemon(Stdio::null());
                    self.say(session, &pid.to_string());
                }
                "leak" => {
                    let pid = daemon(Stdio::inherit());
                    self.say(session, &pid.to_string());
                }
                "log" => std::io::stderr()
                    .write_all(format!("{rest}\n").as_bytes())
                    .unwrap(),
                "refuse" => {
                    let code: i64 = rest.parse().unwrap();
                    return Some(Err(json!({ "code": code, "message": "refused" })));
                }
                "hang" => return None,
                _ => panic!("unknown step: {step}"),
            }
        }
        Some(Ok(json!({ "stopReason": "end_turn" })))
    }

    /// Asks for permission and returns the editor's whole answer.
    fn ask(&mut self, session: &str) -> Option<Value> {
        let id = format!("ask-{}", self.asked);
        self.asked += 1;
        self.send(&json!({
            "jsonrpc": "2.0",
            "id": id,
            "method": "session/request_permission",
            "params": {
                "sessionId": session,
                "toolCall": { "toolCallId": "call" },
                "options": [{ "optionId": "yes", "name": "Yes", "kind": "allow_once" }],
            },
        }));
        loop {
            let message = self.hear()?;
            if message["id"] == id.as_str() && message.get("method").is_none() {
                return Some(message);
            }
            self.handle(&message);
        }
    }
}

/// Starts a process that has left our group and session, ignores SIGTERM and never ends.
fn daemon(stdout: Stdio) -> u32 {
    let mut child = Command::new("/proc/self/exe")
        .arg("--daemon")
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = child.stderr.take().unwrap();
    std::io::copy(&mut ready, &mut std::io::sink()).unwrap();
    child.id()
}
