//! Whoever dies first, no process is left.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::editor::{Editor, is_gone, kill, parent, supervise};
use crate::world::World;

/// What is promised for a killed front.
const PROMISED: Duration = Duration::from_secs(5);

/// A session whose agent left a process behind that ignores SIGTERM, has a session of its own and,
/// with `leak`, holds the agent's stdout.
struct Brood {
    editor: Editor,
    session: String,
    keeper: u32,
    agent: u32,
    daemon: u32,
}

fn brood(world: &World, options: &[&str], agent: &[&str], daemon: &str) -> Brood {
    let mut editor = supervise(world, options, agent);
    editor.initialize();
    let session = editor.open(&world.work());
    let agent = editor.pid(&session, "pid");
    let daemon = editor.pid(&session, daemon);
    Brood {
        keeper: parent(agent),
        editor,
        session,
        agent,
        daemon,
    }
}

impl Brood {
    #[track_caller]
    fn all_gone_within(&self, time: Duration) {
        let start = Instant::now();
        for (who, pid) in [
            ("agent", self.agent),
            ("daemon", self.daemon),
            ("keeper", self.keeper),
        ] {
            let left = time.saturating_sub(start.elapsed());
            assert!(is_gone(pid, left), "the {who} lives on");
        }
    }
}

#[test]
fn nothing_is_left_of_a_front_that_was_killed() {
    let world = World::empty();
    let stubborn = &["--ignore-term", "--stay"];
    // Once with the times that hold where nobody sets any.
    for (options, agent, daemon) in [
        (&[][..], &stubborn[..], "leak"),
        (&["--stop-grace", "100ms"], stubborn, "daemon"),
        (&["--stop-grace", "100ms"], &[], "daemon"),
        (&["--stop-grace", "100ms"], &[], "leak"),
    ] {
        let mut brood = brood(&world, options, agent, daemon);
        brood.editor.kill();
        brood.all_gone_within(PROMISED);
    }
}

#[test]
fn nothing_is_left_when_the_editor_closes_its_side() {
    let world = World::empty();
    let options = ["--stop-grace", "100ms"];
    for agent in [&[][..], &["--stay"], &["--ignore-term", "--stay"]] {
        let brood = brood(&world, &options, agent, "leak");
        let Brood {
            editor,
            keeper,
            agent,
            daemon,
            ..
        } = brood;
        assert_eq!(editor.end().code(), Some(0));
        for pid in [keeper, agent, daemon] {
            assert!(is_gone(pid, Duration::ZERO), "gone before the front");
        }
    }
}

#[test]
fn nothing_is_left_of_a_front_that_was_told_to_end() {
    let world = World::empty();
    let mut brood = brood(&world, &["--stop-grace", "100ms"], &[], "daemon");
    let front = Pid::from_child(&brood.editor.child);
    kill_process(front, Signal::TERM).unwrap();
    assert_eq!(brood.editor.ended().code(), Some(0));
    brood.all_gone_within(Duration::ZERO);
}

#[test]
fn an_agent_that_ignores_everything_is_killed_after_two_graces() {
    let world = World::empty();
    let options = ["--stop-grace", "100ms"];
    let mut brood = brood(&world, &options, &["--ignore-term", "--stay"], "daemon");
    let close = json!({ "sessionId": brood.session });
    brood.editor.result("session/close", &close);
    brood.all_gone_within(Duration::from_secs(10));
}

#[test]
fn what_a_crashed_agent_left_is_ended_and_its_turn_does_not_wait_for_that() {
    let world = World::empty();
    // The daemon ignores SIGTERM: its end takes a whole grace.
    let mut brood = brood(&world, &["--stop-grace", "2s"], &[], "leak");
    let session = brood.session.clone();
    let (_, answer) = brood.editor.run(&session, "crash 3");
    assert_eq!(answer["error"]["code"], -32603);
    assert!(
        !is_gone(brood.daemon, Duration::ZERO),
        "answered before the end of what is left"
    );
    brood.all_gone_within(Duration::from_secs(20));
}

#[test]
fn nothing_is_left_of_a_keeper_that_was_killed() {
    let world = World::empty();
    let options = ["--stop-grace", "100ms"];
    let mut brood = brood(&world, &options, &["--ignore-term", "--stay"], "daemon");
    let other = brood.editor.open(&world.work());
    let session = brood.session.clone();
    let prompt = brood.editor.prompt(&session, "say on\nhang");
    kill(brood.keeper);
    let answer = brood.editor.answer(prompt);
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    brood.all_gone_within(Duration::from_secs(10));
    assert_eq!(brood.editor.one(&other, "say unharmed"), "unharmed");
    assert_eq!(brood.editor.end().code(), Some(0));
}

#[test]
fn a_signal_to_the_keeper_ends_its_agent_in_order() {
    let world = World::empty();
    let brood = brood(&world, &["--stop-grace", "100ms"], &[], "daemon");
    let keeper = Pid::from_raw(brood.keeper.cast_signed()).unwrap();
    kill_process(keeper, Signal::TERM).unwrap();
    brood.all_gone_within(Duration::from_secs(10));
}

#[test]
fn a_keeper_is_not_in_the_group_of_its_front() {
    let world = World::empty();
    let brood = brood(&world, &[], &[], "daemon");
    let group = |pid: u32| rustix::process::getpgid(Pid::from_raw(pid.cast_signed())).unwrap();
    let front = Pid::from_child(&brood.editor.child);
    let front = rustix::process::getpgid(Some(front)).unwrap();
    assert!(group(brood.keeper) != front && group(brood.agent) != front);
    assert!(group(brood.keeper) != group(brood.agent));
}
