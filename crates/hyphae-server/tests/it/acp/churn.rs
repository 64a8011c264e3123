//! Sessions that come and go at random while their agents crash: nothing is left of any.

use std::{
    collections::BTreeMap,
    fs,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    editor::{Editor, is_gone, kill, supervise},
    sessions::until,
};
use crate::world::{PATIENCE, World};

const PLACES: usize = 8;

/// The same throws in every run.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: usize) -> usize {
        // Marsaglia's xorshift64.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }
}

struct Churn {
    world: World,
    editor: Editor,
    dice: Dice,
    /// Open sessions, and the agent's process where it is known to live.
    open: BTreeMap<String, Option<u32>>,
    /// Sessions that may be loaded.
    closed: Vec<String>,
    /// Every process that was heard of.
    seen: Vec<u32>,
    begun: usize,
}

impl Churn {
    fn new() -> Self {
        let world = World::empty();
        let places = PLACES.to_string();
        let options = ["--stop-grace", "200ms", "--max-sessions", &places];
        let mut editor = supervise(&world, &options, &[]);
        editor.initialize();
        Self {
            world,
            editor,
            dice: Dice(0x9e37_79b9_7f4a_7c15),
            open: BTreeMap::new(),
            closed: Vec::new(),
            seen: Vec::new(),
            begun: 0,
        }
    }

    /// Asks; a full house is the one refusal that may be.
    fn unless_full(&mut self, method: &str, params: &Value) -> Option<Value> {
        let answer = self.editor.call(method, params);
        if answer["error"]["data"].get("maxSessions").is_some() {
            return None;
        }
        assert!(answer.get("result").is_some(), "{method}: {answer}");
        Some(answer["result"].clone())
    }

    fn begin(&mut self) {
        let new = json!({ "cwd": self.world.work(), "mcpServers": [] });
        if let Some(opened) = self.unless_full("session/new", &new) {
            let session = opened["sessionId"].as_str().unwrap().to_owned();
            self.open.insert(session, None);
            self.begun += 1;
        }
    }

    fn load(&mut self) {
        if self.closed.is_empty() {
            return;
        }
        let session = self.closed.remove(self.dice.throw(self.closed.len()));
        let load = json!({ "sessionId": session, "cwd": self.world.work(), "mcpServers": [] });
        match self.unless_full("session/load", &load) {
            Some(_) => {
                // Shown again, with the numbers of processes of before.
                self.editor.said(&session);
                self.open.insert(session, None);
            }
            None => self.closed.push(session),
        }
    }

    fn prompt(&mut self, session: &str) {
        let script = match self.dice.throw(3) {
            0 => "pid\nkeeper",
            1 => "pid\nkeeper\nleak",
            _ => "pid\nkeeper\ndaemon",
        };
        let (said, answer) = self.editor.run(session, script);
        if answer["error"]["data"].get("maxSessions").is_some() {
            return;
        }
        assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
        // What it is told of the past may stand before.
        let pids = said.iter().filter_map(|text| text.parse().ok());
        let pids: Vec<u32> = pids.collect();
        self.open.insert(session.to_owned(), Some(pids[0]));
        self.seen.extend(pids);
    }

    fn crash(&mut self, session: &str) {
        let how = ["crash 3", "die", "half"][self.dice.throw(3)];
        let (_, answer) = self.editor.run(session, how);
        assert_eq!(answer["result"], Value::Null, "{answer}");
        self.open.insert(session.to_owned(), None);
    }

    fn cancel(&mut self, session: &str) {
        let id = self.editor.prompt(session, "wait");
        self.editor
            .notify("session/cancel", &json!({ "sessionId": session }));
        let answer = self.editor.answer(id);
        let is_full = answer["error"]["data"].get("maxSessions").is_some();
        assert!(
            is_full || answer["result"]["stopReason"] == "cancelled",
            "{answer}"
        );
    }

    fn step(&mut self) {
        let what = self.dice.throw(10);
        let at = self.dice.throw(self.open.len().max(1));
        let session = self.open.keys().nth(at).cloned();
        match (what, session) {
            (0..=2, _) | (_, None) => self.begin(),
            (3, _) => self.load(),
            (4 | 5, Some(session)) => self.prompt(&session),
            (6, Some(session)) => self.crash(&session),
            (7, Some(session)) => self.cancel(&session),
            (8, Some(session)) => match self.open[&session] {
                Some(pid) => {
                    kill(pid);
                    self.open.insert(session.clone(), None);
                    // Until its death is noticed, it gets what is sent.
                    assert!(until(|| {
                        let (_, answer) = self.editor.run(&session, "say back");
                        let is_full = answer["error"]["data"].get("maxSessions").is_some();
                        is_full || answer.get("result").is_some()
                    }));
                }
                None => self.prompt(&session),
            },
            (_, Some(session)) => {
                self.open.remove(&session);
                let named = json!({ "sessionId": session });
                if self.dice.throw(2) == 0 {
                    self.editor.result("session/close", &named);
                    self.closed.push(session);
                } else {
                    self.editor.result("session/delete", &named);
                }
            }
        }
    }

    /// Closes everything and waits until nothing of it is left.
    fn rest(&mut self) {
        for session in std::mem::take(&mut self.open).into_keys() {
            self.editor
                .result("session/close", &json!({ "sessionId": session }));
            self.closed.push(session);
        }
        for pid in std::mem::take(&mut self.seen) {
            assert!(is_gone(pid, PATIENCE), "{pid} lives on");
        }
        // All places are free, at the latest when the last keeper is.
        for _ in 0..PLACES {
            let before = self.begun;
            assert!(until(|| {
                self.begin();
                self.begun > before
            }));
        }
        for session in std::mem::take(&mut self.open).into_keys() {
            self.editor
                .result("session/delete", &json!({ "sessionId": session }));
        }
    }

    fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.editor.child.id()))
            .unwrap()
            .count()
    }

    /// In KiB.
    fn memory(&self) -> u64 {
        let status =
            fs::read_to_string(format!("/proc/{}/status", self.editor.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.unwrap().trim().trim_end_matches(" kB");
        number.parse().unwrap()
    }
}

/// Goes on until `enough` says so of how many sessions were begun.
fn churn(mut enough: impl FnMut(usize) -> bool) {
    let mut churn = Churn::new();
    while churn.begun < 20 {
        churn.step();
    }
    churn.rest();
    let (descriptors, memory) = (churn.descriptors(), churn.memory());
    while !enough(churn.begun) {
        churn.step();
    }
    churn.rest();
    assert!(
        until(|| churn.descriptors() <= descriptors),
        "{} descriptors, not {descriptors}",
        churn.descriptors()
    );
    let grown = churn.memory().saturating_sub(memory);
    assert!(grown < 16 * 1024, "memory grew by {grown} KiB");
    assert_eq!(churn.editor.end().code(), Some(0));
}

#[test]
fn a_hundred_sessions_with_crashes_leave_nothing() {
    churn(|begun| begun >= 100);
}

#[test]
#[ignore = "takes ten minutes"]
fn ten_minutes_of_sessions_with_crashes_leave_nothing() {
    let end = Instant::now() + Duration::from_secs(600);
    churn(|_| Instant::now() >= end);
}
