//! An editor that speaks raw lines, and looks at processes.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open},
};
use serde_json::{Value, json};

use crate::world::{BINARY, PATIENCE, World};

/// A supervisor and the editor that started it.
pub(crate) struct Editor {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// What came and was not asked for yet.
    early: Vec<(Value, String)>,
    next_id: u64,
}

/// The agent that does what its prompts say.
pub(crate) fn scripted() -> String {
    let folder = Path::new(BINARY).parent().unwrap();
    let agent = folder.join("examples/scripted_agent");
    assert!(agent.exists(), "build the examples of hyphae-server");
    agent.to_str().unwrap().to_owned()
}

/// Starts a supervisor of the scripted agent.
pub(crate) fn supervise(world: &World, options: &[&str], agent: &[&str]) -> Editor {
    let scripted = scripted();
    let mut command = vec![scripted.as_str()];
    command.extend(agent);
    supervise_any(world, options, &command)
}

/// Starts a supervisor of any agent.
pub(crate) fn supervise_any(world: &World, options: &[&str], agent: &[&str]) -> Editor {
    let mut command = world.hyphae();
    command.arg("acp").args(options).arg("--").args(agent);
    Editor::start(command)
}

impl Editor {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            lines,
            early: Vec::new(),
            next_id: 1,
        }
    }

    pub(crate) fn raw(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Sends a request and returns its id.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.raw(
            &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string(),
        );
        id
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.raw(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// Returns the first message that fits, and its line. What comes before it stays for later.
    #[track_caller]
    pub(crate) fn wait(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> (Value, String) {
        if let Some(at) = self.early.iter().position(|(message, _)| fits(message)) {
            return self.early.remove(at);
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!("no {what}, but {:?}", self.early);
            };
            let message: Value =
                serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            if fits(&message) {
                return (message, line);
            }
            self.early.push((message, line));
        }
    }

    /// Returns the first line that came and holds these words.
    #[track_caller]
    pub(crate) fn wait_raw(&mut self, words: &str) -> String {
        if let Some(at) = self.early.iter().position(|(_, line)| line.contains(words)) {
            return self.early.remove(at).1;
        }
        panic!("no {words} in {:?}", self.early)
    }

    /// Returns the answer to a request.
    #[track_caller]
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        let is_it = |message: &Value| message["id"] == id && message.get("method").is_none();
        self.wait(&format!("answer to {id}"), is_it).0
    }

    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    /// The same, for one that goes well.
    #[track_caller]
    pub(crate) fn result(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.call(method, params);
        assert!(answer.get("result").is_some(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Shakes hands.
    #[track_caller]
    pub(crate) fn initialize(&mut self) -> Value {
        self.result(
            "initialize",
            &json!({
                "protocolVersion": 1,
                "clientInfo": { "name": "tests", "version": "1" },
                "clientCapabilities": {},
            }),
        )
    }

    #[track_caller]
    pub(crate) fn open(&mut self, cwd: &Path) -> String {
        let opened = self.result("session/new", &json!({ "cwd": cwd, "mcpServers": [] }));
        opened["sessionId"].as_str().unwrap().to_owned()
    }

    pub(crate) fn prompt(&mut self, session: &str, script: &str) -> u64 {
        self.request("session/prompt", &prompt(session, script))
    }

    /// Runs a script and returns what was said in this session, and the answer.
    #[track_caller]
    pub(crate) fn run(&mut self, session: &str, script: &str) -> (Vec<String>, Value) {
        let id = self.prompt(session, script);
        let answer = self.answer(id);
        (self.said(session), answer)
    }

    /// Runs a script that says one thing and ends well.
    #[track_caller]
    pub(crate) fn one(&mut self, session: &str, script: &str) -> String {
        let (mut said, answer) = self.run(session, script);
        assert_eq!(
            answer["result"],
            json!({ "stopReason": "end_turn" }),
            "{answer}"
        );
        assert_eq!(said.len(), 1, "{script}: {said:?}");
        said.remove(0)
    }

    /// Runs a script that says a process' number.
    #[track_caller]
    pub(crate) fn pid(&mut self, session: &str, script: &str) -> u32 {
        self.one(session, script).parse().unwrap()
    }

    /// Takes what was said in a session out of what came so far.
    pub(crate) fn said(&mut self, session: &str) -> Vec<String> {
        let mut said = Vec::new();
        self.early.retain(|(message, _)| {
            let text = &message["params"]["update"]["content"]["text"];
            let is_it = message["params"]["sessionId"] == session && text.is_string();
            if is_it {
                said.push(text.as_str().unwrap().to_owned());
            }
            !is_it
        });
        said
    }

    /// Closes the supervisor's stdin and waits until it ends.
    #[track_caller]
    pub(crate) fn end(mut self) -> ExitStatus {
        self.stdin = None;
        self.ended()
    }

    /// Waits until the supervisor ends.
    #[track_caller]
    pub(crate) fn ended(&mut self) -> ExitStatus {
        assert!(
            is_gone(self.child.id(), PATIENCE),
            "the supervisor did not end"
        );
        self.child.wait().unwrap()
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _gone_already = self.child.kill();
        let _reaped_already = self.child.wait();
    }
}

/// A prompt of one text.
pub(crate) fn prompt(session: &str, text: &str) -> Value {
    json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] })
}

/// Waits until a process is gone, or dead and about to be reaped; false if it lives on.
pub(crate) fn is_gone(pid: u32, within: Duration) -> bool {
    let pid = Pid::from_raw(pid.cast_signed()).unwrap();
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else {
        return true;
    };
    let mut fds = [PollFd::new(&process, PollFlags::IN)];
    let timeout = Timespec::try_from(within).unwrap();
    poll(&mut fds, Some(&timeout)).unwrap() > 0
}

/// Kills a process, as an impatient person does.
pub(crate) fn kill(pid: u32) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL).unwrap();
}

/// The parent of a process.
pub(crate) fn parent(pid: u32) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let rest = stat.rsplit_once(") ").unwrap().1;
    rest.split(' ').nth(1).unwrap().parse().unwrap()
}

/// Where logs and what was learned are.
pub(crate) fn state(world: &World) -> PathBuf {
    world.home().join(".local/state/hyphae/acp")
}
