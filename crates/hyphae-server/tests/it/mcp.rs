//! `hyphae-server mcp-stdio` as an agent's client starts it, with raw lines on its pipes.

mod faults;
mod handshake;
mod order;
mod problems;
mod reading;
mod resources;
mod tools;
mod writing;

use std::{
    collections::HashMap,
    fs::File,
    io::{BufRead as _, BufReader, Write as _},
    path::PathBuf,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc,
};

use serde_json::{Value, json};

use crate::world::{PATIENCE, World, ended};

/// The two ways in which clients open a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// `initialize`, up to 2025-11-25.
    Legacy,
    /// Every request says it all, from 2026-07-28 on.
    Modern,
}

/// A running server and its client's end.
#[derive(Debug)]
pub(crate) struct Mcp {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: mpsc::Receiver<Value>,
    early: Vec<Value>,
    /// What the results of each tool must look like.
    shapes: HashMap<String, jsonschema::Validator>,
    era: Era,
    asked: u64,
}

impl Mcp {
    /// Starts a server and shakes hands.
    pub(crate) fn start(world: &World, era: Era) -> Self {
        let mut mcp = Self::silent(world, world.hyphae());
        mcp.shake_hands(era);
        mcp
    }

    /// Starts a server in the older era by a command that lacks only its argument.
    pub(crate) fn start_with(world: &World, command: Command) -> Self {
        let mut mcp = Self::silent(world, command);
        mcp.shake_hands(Era::Legacy);
        mcp
    }

    /// Starts a server and says nothing. The log is complete and goes to a file.
    pub(crate) fn silent(world: &World, mut command: Command) -> Self {
        let log = File::options()
            .create(true)
            .append(true)
            .open(Self::log(world))
            .unwrap();
        command
            .arg("mcp-stdio")
            .env("HYPHAE_LOG", "trace")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log);
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let line = line.unwrap();
                // Nothing but messages, from the first byte on.
                let message: Value =
                    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line}"));
                assert_eq!(message["jsonrpc"], "2.0", "{line}");
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            lines,
            early: Vec::new(),
            shapes: HashMap::new(),
            era: Era::Legacy,
            asked: 0,
        }
    }

    /// Where the log of this world's servers goes.
    pub(crate) fn log(world: &World) -> PathBuf {
        world.home().join("mcp-log")
    }

    pub(crate) fn shake_hands(&mut self, era: Era) -> Value {
        self.era = era;
        match era {
            Era::Legacy => {
                let said = self.ask(
                    "initialize",
                    json!({
                        "protocolVersion": "2025-06-18",
                        "capabilities": {},
                        "clientInfo": {"name": "tests", "version": "1"},
                    }),
                );
                self.raw(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
                said
            }
            Era::Modern => self.ask("server/discover", json!({})),
        }
    }

    /// Writes a line as it is.
    pub(crate) fn raw(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Sends a request and returns its id.
    pub(crate) fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.asked += 1;
        if self.era == Era::Modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
            });
        }
        let line = json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params});
        self.raw(&line.to_string());
        self.asked
    }

    /// Waits for the next message.
    pub(crate) fn next(&mut self) -> Value {
        if self.early.is_empty() {
            self.lines.recv_timeout(PATIENCE).unwrap()
        } else {
            self.early.remove(0)
        }
    }

    /// Waits for the answer to a request.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        if let Some(at) = self.early.iter().position(|message| message["id"] == id) {
            return self.early.remove(at);
        }
        loop {
            let message = self.lines.recv_timeout(PATIENCE).unwrap();
            if message["id"] == id {
                return message;
            }
            self.early.push(message);
        }
    }

    /// Asks and returns the result.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let mut answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    pub(crate) fn send_call(&mut self, tool: &str, arguments: impl Into<Value>) -> u64 {
        self.send(
            "tools/call",
            json!({"name": tool, "arguments": arguments.into()}),
        )
    }

    /// Calls a tool that succeeds, with a result as its schema says.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.send_call(tool, arguments);
        let result = succeeded(self.answer(id));
        if self.shapes.is_empty() {
            self.shapes = self.read_shapes();
        }
        let wrong: Vec<String> = self.shapes[tool]
            .iter_errors(&result)
            .map(|error| error.to_string())
            .collect();
        assert_eq!(wrong, [""; 0], "{result}");
        result
    }

    fn read_shapes(&mut self) -> HashMap<String, jsonschema::Validator> {
        let listed = self.ask("tools/list", json!({}));
        let tools = listed["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| {
                let mut schema = tool["outputSchema"].clone();
                close(&mut schema);
                let name = tool["name"].as_str().unwrap().to_owned();
                (name, jsonschema::validator_for(&schema).unwrap())
            })
            .collect()
    }

    /// Calls a tool that fails; returns what it says.
    #[track_caller]
    pub(crate) fn fails(&mut self, tool: &str, arguments: Value) -> String {
        let id = self.send_call(tool, arguments);
        failed(&self.answer(id))
    }

    /// Stores a memory and returns its id.
    #[track_caller]
    pub(crate) fn store(&mut self, content: &str) -> String {
        let stored = self.call("store", json!({"content": content}));
        stored["id"].as_str().unwrap().to_owned()
    }

    /// Returns the contents that a query finds, nearest first.
    #[track_caller]
    pub(crate) fn recall(&mut self, query: &str) -> Vec<String> {
        contents(&self.call(
            "recall",
            json!({"query": query, "k": 100, "max_tokens": 20000}),
        ))
    }

    /// Ends the input and returns what is still said; expects that it ends well.
    #[track_caller]
    pub(crate) fn end(mut self) -> Vec<Value> {
        drop(self.stdin.take());
        let output = ended(self.child, "mcp-stdio");
        assert_eq!(output.status.code(), Some(0));
        self.early.extend(self.lines.iter());
        self.early
    }

    /// Kills the server at once.
    pub(crate) fn kill(mut self) -> Vec<Value> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.early.extend(self.lines.iter());
        self.early
    }
}

/// Makes a schema refuse fields that it does not name.
fn close(schema: &mut Value) {
    if schema.get("properties").is_some() {
        schema["additionalProperties"] = false.into();
        let properties = schema["properties"].as_object_mut().unwrap();
        properties.values_mut().for_each(close);
    }
    if let Some(items) = schema.get_mut("items") {
        close(items);
    }
}

/// The structured result of a call that succeeded. Everything is in both forms of it.
#[track_caller]
pub(crate) fn succeeded(mut answer: Value) -> Value {
    let result = &mut answer["result"];
    assert_eq!(result["isError"], false, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    let said: Value = serde_json::from_str(text).unwrap();
    assert_eq!(said, result["structuredContent"]);
    assert!(said["warnings"].is_array(), "{said}");
    assert!(said["scope"]["project"].is_string(), "{said}");
    assert!(said["scope"]["agent"].is_string(), "{said}");
    result["structuredContent"].take()
}

/// The text of a call that failed. Everything is in it.
#[track_caller]
pub(crate) fn failed(answer: &Value) -> String {
    let result = &answer["result"];
    assert_eq!(result["isError"], true, "{answer}");
    assert!(result.get("structuredContent").is_none(), "{answer}");
    assert_eq!(result["content"].as_array().unwrap().len(), 1, "{answer}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("error: "), "{text}");
    assert!(text.contains("\ncode: "), "{text}");
    assert!(text.contains("\nscope: project "), "{text}");
    text.to_owned()
}

/// The contents of the hits of an answer.
pub(crate) fn contents(answer: &Value) -> Vec<String> {
    let hits = answer["hits"].as_array().unwrap();
    hits.iter()
        .map(|hit| hit["content"].as_str().unwrap().to_owned())
        .collect()
}
