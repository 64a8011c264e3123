//! `import` of what other programs wrote.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
};

use pretty_assertions::assert_eq;

use crate::world::{Done, World, ended, run, shown};

/// A file that the crate of the formats is tested with.
fn fixture(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hyphae-transfer/tests/fixtures");
    folder.join(name)
}

fn import(world: &World, arguments: &[&str], from: &Path) -> Done {
    let mut command = world.hyphae();
    command.arg("import").args(arguments).arg(from);
    run(command, "")
}

/// The nearest memory of a project, with its type; of the directory to work in, if none is named.
#[track_caller]
fn recalled(world: &World, project: Option<&str>, query: &str) -> String {
    let mut command = world.hyphae();
    command.args(["console", "/recall", "--k", "1", query]);
    if let Some(project) = project {
        command.env("HYPHAE_PROJECT", project);
    }
    let out = run(command, "").well();
    let Some(found) = shown(out.trim_end()) else {
        return out;
    };
    format!("{}: {}", found.cell_type, found.content)
}

#[test]
fn the_graph_of_server_memory_is_imported_once() {
    let world = World::new();
    let done = import(&world, &[], &fixture("server-memory.jsonl"));
    assert_eq!(done.code, Some(1));
    assert_eq!(done.out, "4 new, 1 there already, 5 bad lines\n");
    assert_eq!(
        done.err.lines().collect::<Vec<_>>(),
        [
            "server-memory.jsonl, line 3: missing field `observations`",
            "server-memory.jsonl, line 4: invalid type: integer `7`, expected a string",
            "server-memory.jsonl, line 7: its `type` is neither entity nor relation",
            "server-memory.jsonl, line 8: it is no JSON object",
            "server-memory.jsonl, line 9: it is cut off in the middle of its JSON",
        ]
    );
    assert_eq!(
        recalled(&world, None, "who leads the mobile team"),
        "Fact: Mira Okafor (person): Leads the mobile team"
    );
    assert_eq!(
        recalled(&world, None, "who works on Lighthouse"),
        "Fact: Mira Okafor works on Lighthouse"
    );
    let before = world.run(["export"]).well();
    let again = import(&world, &[], &fixture("server-memory.jsonl"));
    assert_eq!(again.out, "0 new, 5 there already, 5 bad lines\n");
    let kinds = |text: &str| text.lines().last().unwrap().to_owned();
    assert_eq!(kinds(&world.run(["export"]).well()), kinds(&before));
}

#[test]
fn memories_of_mem0_are_imported_into_a_project() {
    let world = World::new();
    let done = import(&world, &["--project", "mira"], &fixture("mem0.json"));
    assert_eq!(done.out, "4 new, 4 bad lines\n");
    assert_eq!(
        recalled(&world, Some("mira"), "which instrument"),
        "Fact: Plays the cello"
    );
    assert_eq!(recalled(&world, None, "which instrument"), "no results\n");
    let list = import(&world, &["--project", "tom"], &fixture("mem0-list.json"));
    assert_eq!(list.well(), "2 new\n");
    assert_eq!(recalled(&world, Some("tom"), "drinks"), "Fact: Likes tea");
}

#[test]
fn a_folder_of_notes_is_imported() {
    let world = World::new();
    let done = import(&world, &[], &fixture("basic-memory"));
    assert_eq!(done.out, "13 new, 2 bad lines\n");
    assert_eq!(
        done.err,
        "Latin.md: it is no UTF-8 text\nnotes/Broken front.md, line 1: what stands between its lines `---` is no YAML\n"
    );
    assert_eq!(
        recalled(&world, None, "which database do we ship"),
        "Decision: Storage: We ship Postgres #db (after the trial)"
    );
    assert_eq!(
        recalled(&world, None, "what is left to be tested"),
        "Task: Storage: test a restore"
    );
}

#[test]
fn sessions_are_filed_under_the_projects_that_they_were_held_in() {
    let world = World::new();
    let sessions = world.directory("projects/-home-mira-importer");
    let app = world.directory("app");
    let held_here = fs::read_to_string(fixture("claude-code.jsonl"))
        .unwrap()
        .replace("/home/mira/importer", app.to_str().unwrap());
    fs::write(sessions.join("22222222.jsonl"), held_here).unwrap();
    fs::write(sessions.join("notes.md"), "not of a session").unwrap();
    let done = import(&world, &[], sessions.parent().unwrap());
    assert_eq!(done.out, "5 new, 4 bad lines\n");
    let queue = "how many jobs does the table hold";
    let want = "Context: We use one table of Postgres as a queue.\n\nIt holds a million jobs.";
    assert_eq!(recalled(&world, Some(app.to_str().unwrap()), queue), want);
    assert_eq!(
        recalled(&world, Some("/home/mira/docs"), queue),
        "no results\n"
    );
    assert_eq!(
        recalled(&world, Some("/home/mira/docs"), "next release"),
        "Context: the next release"
    );
}

#[test]
fn rollouts_of_codex_are_imported() {
    let world = World::new();
    let day = world.directory("sessions/2025/06/07");
    let name = "rollout-2025-06-07T08-09-10-33333333-3333-7333-8333-333333333333.jsonl";
    fs::copy(fixture("codex.jsonl"), day.join(name)).unwrap();
    let done = import(&world, &["--project", "api"], &world.directory("sessions"));
    assert_eq!(done.out, "3 new, 2 bad lines\n");
    assert!(done.err.starts_with("2025/06/07/rollout-"), "{}", done.err);
    assert_eq!(
        recalled(&world, Some("api"), "how often is the password hashed"),
        "Context: Each login hashes the password twice."
    );
    let audit = world.run(["audit", "--action", "import"]).well();
    let version = env!("CARGO_PKG_VERSION");
    let via = format!("via hyphae-server {version} import codex");
    assert_eq!(audit.matches(&via).count(), 3, "{audit}");
}

#[test]
fn a_file_of_nobody_and_one_that_is_not_there_are_refused() {
    let world = World::new();
    let file = world.work().join("list.txt");
    fs::write(&file, "eggs\nmilk\n").unwrap();
    let line = import(&world, &[], &file).refused();
    assert!(
        line.ends_with("list.txt: this is no file that can be read; known are hyphae, server-memory, mem0, basic-memory, claude-code and codex: name one with --format if it is"),
        "{line}"
    );
    let line = import(&world, &[], Path::new("nowhere.jsonl")).refused();
    assert!(line.contains("nowhere.jsonl cannot be read"), "{line}");
    let line = import(&world, &[], &world.directory("empty")).refused();
    assert!(line.contains("known are hyphae"), "{line}");
    let line = World::empty().run(["import", "x"]).refused();
    assert!(line.contains("x cannot be read"), "{line}");
}

#[test]
fn a_file_of_a_folder_that_cannot_be_read_does_not_hide_the_others() {
    let world = World::new();
    let notes = world.directory("notes");
    fs::write(notes.join("a.md"), "herons stand in the reeds").unwrap();
    fs::write(notes.join("b.md"), "owls sleep in the barn").unwrap();
    // What is a link to nothing cannot be opened, whoever asks.
    std::os::unix::fs::symlink("gone.md", notes.join("a0.md")).unwrap();
    fs::create_dir(notes.join(".obsidian")).unwrap();
    fs::write(notes.join(".obsidian/c.md"), "settings").unwrap();
    assert_eq!(import(&world, &[], &notes).well(), "2 new\n");
}

#[test]
fn secrets_of_other_programs_are_masked_and_counted() {
    let world = World::new();
    let token = format!("ghp_{}", "a1B2c3".repeat(6));
    let long = format!("{} {token} {}", "word ".repeat(1596), "end ".repeat(50));
    let file = world.work().join("memory.jsonl");
    let line = |text: &str| {
        serde_json::json!({
            "type": "entity", "name": "ci", "entityType": "robot", "observations": [text],
        })
    };
    let short = line(&format!("uses {token}"));
    fs::write(&file, format!("{short}\n{}\n", line(&long))).unwrap();
    assert_eq!(
        import(&world, &["--dry-run"], &file).well(),
        "nothing was changed; there would be: 3 new, 2 secrets masked\n"
    );
    assert_eq!(
        import(&world, &[], &file).well(),
        "3 new, 2 secrets masked\n"
    );
    assert_eq!(
        import(&world, &[], &file).well(),
        "0 new, 3 there already\n"
    );
    let all = world.run(["export"]).well();
    assert!(
        all.contains("ci (robot): uses [masked GitHub token]"),
        "{all}"
    );
    for file in [world.database(), world.database().with_extension("db-wal")] {
        let bytes = fs::read(file).unwrap_or_default();
        assert!(!bytes.windows(10).any(|part| part == b"ghp_a1B2c3"));
    }
}

#[test]
fn an_import_of_another_program_that_is_killed_is_run_again() {
    let world = World::empty();
    world.run(["init", "--embedder", "static"]).well();
    let text: String = (0..150)
        .map(|n| {
            let filler = "reeds and herons ".repeat(60);
            format!(
                "{{\"type\":\"entity\",\"name\":\"bird {n}\",\"entityType\":\"bird\",\"observations\":[\"number {n}: {filler}\"]}}\n"
            )
        })
        .collect();
    let mut command = world.hyphae();
    command
        .args(["import", "--format", "server-memory", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // All but what fits into the pipe was read when this returns.
    stdin
        .write_all(&text.as_bytes()[..text.len() * 4 / 5])
        .unwrap();
    child.kill().unwrap();
    ended(child, "import");
    drop(stdin);

    let file = world.work().join("memory.jsonl");
    fs::write(&file, &text).unwrap();
    let out = import(&world, &[], &file).well();
    let numbers: Vec<u32> = out
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    let [new, there] = numbers[..] else {
        panic!("{out}")
    };
    assert_eq!(new + there, 150, "{out}");
    assert!(new > 0 && there > 0, "{out}");
    let all = world.run(["export"]).well();
    assert_eq!(all.matches("\"kind\":\"cell\"").count(), 150);
}
