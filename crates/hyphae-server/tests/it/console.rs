//! `console` in scripts: arguments, stdin, exit codes, a reader that goes away.

use std::{io::Write as _, process::Stdio};

use pretty_assertions::assert_eq;

use crate::world::{BINARY, Done, World, ended, id_of, run, shown};

const HELP: &str = "\
/store [--type <CellType>] [--salience <0..1>] <content>   store a memory (default: Fact, 0.5)
/recall [--k <n>] <query>                                  recall similar memories (default k=10)
/query --layer <L0|L1|L2> [--k <n>] <query>                recall at an explicit layer
/help                                                      show this text

Anything that is not a /-command is treated as /recall <text>.
CellType is one of Decision, Constraint, Risk, Pattern, Lesson, Fact, Preference, Context, Task.
";

#[test]
fn what_one_process_stores_the_next_one_recalls() {
    let world = World::new();
    let out = world
        .run([
            "console",
            "/store --type Decision --salience 0.9 We ship Postgres for V1",
        ])
        .well();
    let id = id_of(&out);
    assert_eq!(out, format!("stored {id}\n"));
    let match_ = format!("{id} distance=0.0000 type=Decision\nWe ship Postgres for V1\n");
    assert_eq!(
        world.run(["console", "We ship Postgres for V1"]).well(),
        match_
    );
    let asked = world.run([
        "console",
        "which database did we pick for the first release",
    ]);
    let found = shown(asked.well().trim_end()).unwrap();
    assert_eq!(
        (found.id.as_str(), found.content.as_str()),
        (id, "We ship Postgres for V1")
    );
}

#[test]
fn a_command_may_be_one_argument_or_many() {
    let world = World::new();
    let stored = world
        .run([
            "console", "/store", "--type", "risk", "--", "--k", "is", "a", "flag",
        ])
        .well();
    let id = id_of(&stored);
    let want = format!("{id} distance=0.0000 type=Risk\n--k is a flag\n");
    for arguments in [
        &[
            "console", "/recall", "--k", "1", "--", "--k", "is", "a", "flag",
        ][..],
        &["console", "/recall --k 1 -- --k is a flag"],
        &[
            "console",
            "--embedder",
            "minilm",
            "/recall",
            "--k=1",
            "-- --k is a flag",
        ],
    ] {
        let mut command = world.hyphae();
        command.args(arguments);
        assert_eq!(run(command, "").well(), want, "{arguments:?}");
    }
    assert_eq!(world.run(["console", "/help"]).well(), HELP);
}

#[test]
fn matches_are_set_apart_by_a_blank_line() {
    let world = World::new();
    world
        .script("/store the weir is open\n/store the weir is shut\n")
        .well();
    let out = world.run(["console", "the weir is open"]).well();
    let matches: Vec<&str> = out.trim_end().split("\n\n").collect();
    assert_eq!(matches.len(), 2, "{out}");
    assert!(matches.iter().all(|text| shown(text).is_some()), "{out}");
}

#[test]
fn each_line_of_stdin_is_a_command_and_one_that_failed_shows_in_the_exit_code() {
    let world = World::new();
    let done = world.script(
        "/store lapwings nest on the ground\n\n  \r\n/recal lapwings\n/store curlews call at dusk\r\nlapwings nest on the ground",
    );
    assert_eq!((done.code, done.err.as_str()), (Some(1), ""), "{done:?}");
    let lines: Vec<&str> = done.out.lines().collect();
    let (first, second) = (id_of(lines[0]), id_of(lines[2]));
    assert_ne!(first, second);
    assert_eq!(lines[1], "error: unknown command \"/recal\"; try /help");
    assert_eq!(lines[3], format!("{first} distance=0.0000 type=Fact"));
    assert_eq!(lines[4], "lapwings nest on the ground");
    let found = world.run(["console", "curlews call at dusk"]).well();
    assert!(
        found.starts_with(&format!("{second} distance=0.0000 ")),
        "{found}"
    );
}

#[test]
fn nothing_on_stdin_is_nothing_to_do() {
    let world = World::new();
    for input in ["", "\n", " \n\t\n"] {
        assert_eq!(world.script(input).well(), "", "{input:?}");
    }
}

#[test]
fn a_failed_command_is_an_error_line_and_exit_code_1() {
    let world = World::new();
    for (command, want) in [
        ("/recal x", "unknown command \"/recal\"; try /help"),
        (
            "/store",
            "missing content; usage: /store [--type <CellType>] [--salience <0..1>] <content>",
        ),
        (
            "/recall --k 3",
            "missing query; usage: /recall [--k <n>] <query>",
        ),
        (
            "/query x",
            "missing --layer; usage: /query --layer <L0|L1|L2> [--k <n>] <query>",
        ),
    ] {
        let Done { code, out, err } = world.run(["console", command]);
        assert_eq!(
            (code, out.as_str(), err.as_str()),
            (Some(1), format!("error: {want}\n").as_str(), ""),
            "{command}"
        );
    }
    assert_eq!(
        world.run(["console", "anything at all"]).well(),
        "no results\n"
    );
}

#[test]
fn a_line_that_is_no_text_stops_the_script_and_keeps_what_came_before() {
    let world = World::new();
    let mut command = world.hyphae();
    command
        .arg("console")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin
        .write_all(b"/store before the bad line\n/store \xff\xfe\n")
        .unwrap();
    drop(stdin);
    let output = ended(child, "console");
    let err = String::from_utf8(output.stderr).unwrap();
    assert_ne!(output.status.code(), Some(0));
    assert!(
        err.to_lowercase().contains("utf-8") && err.lines().count() == 1,
        "{err}"
    );
    let found = world.run(["console", "before the bad line"]).well();
    assert!(found.contains("distance=0.0000"), "{found}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let world = World::new();
    let script = "\"$0\" \"$@\" | head -1; echo \"${PIPESTATUS[0]}\"";
    for arguments in [
        &["completions", "bash"][..],
        &["--help"],
        &["console", "/help"],
    ] {
        let mut command = world.command("bash");
        command
            .args(["--norc", "-c", script, BINARY])
            .args(arguments);
        let out = run(command, "").well();
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!((lines.len(), lines[1]), (2, "0"), "{arguments:?}: {out}");
    }
}

#[test]
fn a_reader_that_has_gone_already_is_no_failure() {
    let world = World::new();
    for arguments in [
        &["console"][..],
        &["doctor"],
        &["keys", "list"],
        &["setup", "zed"],
        &["completions", "zsh"],
    ] {
        let mut command = world.hyphae();
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let mut stdin = child.stdin.take().unwrap();
        // It may stop reading as soon as it cannot print.
        let _unread = stdin.write_all("/help\n".repeat(20).as_bytes());
        drop(stdin);
        let output = ended(child, "a program without a reader");
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), err.as_str()),
            (Some(0), ""),
            "{arguments:?}"
        );
    }
}
