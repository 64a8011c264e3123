//! `doctor`: one line a check, and for each fault what to do about it.

use std::{fs, os::unix::fs::PermissionsExt as _};

use pretty_assertions::assert_eq;

use crate::world::{STRANGER, World, run};

/// Replaces figures that differ from machine to machine.
fn report(world: &World, text: &str) -> String {
    let line = |line: &str| match line.split_once(" on ") {
        Some((head, _)) if line.starts_with("ok   model: ") => format!("{head} on <path>\n"),
        _ => format!("{line}\n"),
    };
    world.plain(text).lines().map(line).collect()
}

/// Runs the doctor on a world with one fault: its report must have exactly these bad lines.
#[track_caller]
fn check(world: &World, variables: &[(&str, &str)], want: &[&str]) {
    let mut command = world.hyphae();
    command.arg("doctor").envs(variables.iter().copied());
    let done = run(command, "");
    assert_eq!((done.code, done.err.as_str()), (Some(1), ""), "{done:?}");
    let plain = report(world, &done.out);
    let bad: Vec<&str> = plain
        .lines()
        .filter_map(|line| line.strip_prefix("FAIL "))
        .collect();
    assert_eq!(bad, want, "{plain}");
    assert!(!done.out.contains("hyk_"), "{}", done.out);
    let scratch = "ok   a full conversation: protocol 1, stored, recalled, loaded and erased\n";
    assert!(
        plain.ends_with(scratch),
        "the program itself is well: {plain}"
    );
}

#[test]
fn all_is_well_after_init_and_the_doctor_leaves_nothing_behind() {
    let world = World::new();
    let well = |memories: &str, sessions: usize| {
        format!(
            "\
ok   version: hyphae-server {}
ok   key: the key file <root>/home/.config/hyphae/key
ok   database: <root>/home/.local/share/hyphae/hyphae.db
ok   identity: default (<id>)
ok   project: <root>/project
ok   memories: {memories}, {sessions} sessions
ok   model: minilm-l6-v2-int8/1 on <path>
ok   your sessions: a session opens, recalls and is erased; {sessions} are kept
ok   a full conversation: protocol 1, stored, recalled, loaded and erased
",
            env!("CARGO_PKG_VERSION")
        )
    };
    for _ in 0..2 {
        let out = world.run(["doctor"]).well();
        assert_eq!(report(&world, &out), well("0 in 0 projects", 0));
    }
    world.store("one memory");
    let out = world.run(["doctor"]).well();
    assert_eq!(report(&world, &out), well("1 in 1 projects", 1));
}

#[test]
fn the_project_that_is_named_is_shown() {
    let world = World::new();
    world.run(["project", "link", "atlas", "."]).well();
    let out = world.run(["doctor"]).well();
    assert!(out.contains("\nok   project: atlas\n"), "{out}");
}

#[test]
fn without_a_key_it_says_how_to_get_one() {
    let world = World::new();
    fs::remove_file(world.key_file()).unwrap();
    let no_key = "no API key: run `hyphae-server init`, or set HYPHAE_API_KEY";
    check(
        &world,
        &[],
        &[&format!("key: {no_key}"), &format!("memory: {no_key}")],
    );
}

#[test]
fn a_key_file_that_others_can_read_is_told_with_the_remedy() {
    let world = World::new();
    fs::set_permissions(world.key_file(), fs::Permissions::from_mode(0o644)).unwrap();
    let open = "the key file <root>/home/.config/hyphae/key cannot be read: others can read it; run `chmod 600 <root>/home/.config/hyphae/key`; see `hyphae-server doctor`";
    check(
        &world,
        &[],
        &[&format!("key: {open}"), &format!("memory: {open}")],
    );
    fs::set_permissions(world.key_file(), fs::Permissions::from_mode(0o600)).unwrap();
    world.run(["doctor"]).well();
}

#[test]
fn an_unknown_and_a_revoked_key_are_told_with_the_remedy() {
    let world = World::new();
    check(
        &world,
        &[("HYPHAE_API_KEY", STRANGER)],
        &[
            "identity: this key is not known to the database; run `hyphae-server keys create --name NAME --save`",
            "memory: HYPHAE_API_KEY is not known to this database; make a key with `hyphae-server keys create --name NAME --save`",
        ],
    );
    let list = world.run(["keys", "list"]).well();
    let id = list.split(' ').next().unwrap();
    world.run(["keys", "revoke", id]).well();
    check(
        &world,
        &[],
        &[
            "identity: this key was revoked; run `hyphae-server keys create --name NAME --save`",
            "memory: the key file <root>/home/.config/hyphae/key was revoked; make a new one with `hyphae-server keys create --name NAME --save`",
        ],
    );
    world
        .run(["keys", "create", "--name", "NAME", "--save"])
        .well();
    world.run(["doctor"]).well();
}

#[test]
fn without_a_database_it_says_how_to_make_one() {
    let world = World::new();
    fs::remove_dir_all(world.database().parent().unwrap()).unwrap();
    let missing = "there is no database at <root>/home/.local/share/hyphae/hyphae.db; run `hyphae-server init`";
    check(
        &world,
        &[],
        &[
            &format!("database: {missing}"),
            &format!("memory: {missing}"),
        ],
    );
    assert!(!world.database().exists(), "the doctor makes no database");
}

#[test]
fn a_damaged_database_is_told_with_the_remedy_and_left_as_it_is() {
    let world = World::new();
    world.store("a memory in a file that will be damaged");
    let damage = b"this is no database ".repeat(2000);
    fs::write(world.database(), &damage).unwrap();
    for beside in ["hyphae.db-wal", "hyphae.db-shm"] {
        // Only there if a program ended badly.
        let _was_there = fs::remove_file(world.database().with_file_name(beside));
    }
    let damaged = "the database <root>/home/.local/share/hyphae/hyphae.db is damaged; restore a backup (see the README, `Backup`)";
    check(
        &world,
        &[],
        &[
            &format!("database: {damaged}"),
            &format!("memory: {damaged}"),
        ],
    );
    assert_eq!(fs::read(world.database()).unwrap(), damage);
}

#[test]
fn links_and_urls_that_cannot_be_read_are_told() {
    let world = World::new();
    fs::write(world.key_file().with_file_name("projects.json"), "[]").unwrap();
    let mut command = world.hyphae();
    command.arg("doctor");
    let done = run(command, "");
    assert_eq!(done.code, Some(1), "{done:?}");
    let plain = report(&world, &done.out);
    assert!(
        plain.contains("FAIL project: the project links <root>/home/.config/hyphae/projects.json cannot be read: "),
        "{plain}"
    );
    let mut command = world.hyphae();
    command
        .arg("doctor")
        .env("DATABASE_URL", "postgres://me:hunter2@h:port/db");
    let line = run(command, "").refused();
    assert!(
        line.contains("postgres://USER") && !line.contains("hunter2"),
        "{line}"
    );
}
