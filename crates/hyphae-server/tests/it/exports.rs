//! `export`, and `import` of what it wrote.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::world::{Done, World, ended, mode, run};

const TOKEN: &str = "ghp_a1B2c3a1B2c3a1B2c3a1B2c3a1B2c3a1B2c3";

/// Exports everything and returns the text.
#[track_caller]
fn exported(world: &World, arguments: &[&str]) -> String {
    let file = world.work().join("exported.jsonl");
    let mut command = world.hyphae();
    command.arg("export").arg(&file).args(arguments);
    run(command, "").well();
    let text = fs::read_to_string(&file).unwrap();
    fs::remove_file(file).unwrap();
    text
}

fn import(world: &World, file: &Path) -> Done {
    let mut command = world.hyphae();
    command.arg("import").arg(file);
    run(command, "")
}

fn written(world: &World, name: &str, text: &str) -> PathBuf {
    let file = world.work().join(name);
    fs::write(&file, text).unwrap();
    file
}

fn id(n: u32) -> String {
    format!("01a22cc7-0000-7000-8000-{n:012}")
}

const AT: &str = "2026-01-02T03:04:05.000006Z";

fn cell(n: u32, content: &str) -> Value {
    json!({
        "id": id(n), "content": content, "type": "Fact", "salience": 0.1, "confidence": 1.0,
        "author": id(1), "project": "/elsewhere", "layer": "L0", "visibility": "project",
        "status": "active", "revision": 2, "content_revision": 1, "topic": format!("topic {n}"),
        "tags": ["a", "b"], "valid_from": AT, "verified_at": AT,
        "origin": {"source": "user_stated", "session": id(9), "position": 0, "said_at": AT},
        "created_at": AT, "updated_at": AT,
    })
}

fn diff(n: u32, change: &str, of: u32, gone: bool) -> Value {
    let mut diff = json!({
        "kind": "diff", "id": id(n), "change": change, "cell": id(of), "revision": 1,
        "author": id(1), "cell_type": "Fact", "salience": 0.5, "at": AT, "visibility": "private",
    });
    if gone {
        diff["gone"] = json!({"project": "/elsewhere", "author": id(1)});
    }
    diff
}

/// An export with something of every kind.
fn of_every_kind() -> String {
    let earlier = json!({
        "revision": 1, "status": "active", "updated_at": AT, "content": "We deployed on Fridays",
    });
    let mut past = cell(2, "x");
    for (field, value) in earlier.as_object().unwrap() {
        past[field] = value.clone();
    }
    let items = [
        json!({"kind": "identity", "id": id(1), "name": "Mira", "created_at": AT, "revoked_at": AT}),
        json!({"kind": "cell", "cell": cell(2, "We deploy on Thursdays"), "last_access": AT}),
        json!({"kind": "cell", "cell": cell(3, "herons stand in the reeds"), "last_access": AT}),
        json!({"kind": "past", "cell": past, "replaced_by": id(1), "replaced_at": AT}),
        json!({"kind": "link", "from": id(2), "to": id(3), "weight": 0.3}),
        json!({
            "kind": "relation", "id": id(4), "from": id(2), "relation": "supports", "to": id(3),
            "weight": 0.7, "author": id(1), "created_at": AT, "reason": "seen", "active": false,
        }),
        json!({
            "kind": "conflict", "id": id(5), "left": id(2), "right": id(3), "how": "stated",
            "opened_by": id(1), "opened_at": AT,
            "resolution": {"verdict": "both", "reason": "both do", "by": id(1), "at": AT},
        }),
        json!({"kind": "confirmation", "cell": id(2), "revision": 2, "by": id(1), "at": AT}),
        json!({
            "kind": "key", "credential": id(1), "cell": id(2),
            "key": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        }),
        diff(6, "created", 2, false),
        diff(7, "erased", 8, true),
        json!({
            "kind": "audit", "id": id(10), "at": AT, "action": "store", "credential": id(1),
            "client": "a client", "project": "/elsewhere", "subjects": [id(2)], "diffs": [id(6)],
            "redactions": 1,
        }),
    ];
    export_of(&items)
}

fn export_of(items: &[Value]) -> String {
    let mut counts = serde_json::Map::new();
    let mut text = "{\"hyphae\":\"export\",\"version\":1,\"program\":\"0.1.0\"}\n".to_owned();
    for item in items {
        let kind = item["kind"].as_str().unwrap();
        let count = counts.get(kind).and_then(Value::as_u64).unwrap_or(0) + 1;
        counts.insert(kind.to_owned(), count.into());
        text.push_str(&format!("{item}\n"));
    }
    text.push_str(&format!("{}\n", json!({"kind": "end", "items": counts})));
    text
}

/// A world with memories of its own and something of every kind.
fn lived_in() -> World {
    let world = World::new();
    let lines = "/store We ship Postgres for V1\n/store --type Decision tea is at four\n/store we ship Postgres, for V1!\n";
    world.script(lines).well();
    let file = written(&world, "all.jsonl", &of_every_kind());
    assert_eq!(import(&world, &file).well(), "12 new\n");
    fs::remove_file(file).unwrap();
    world
}

#[test]
fn an_export_imported_elsewhere_is_exported_byte_for_byte() {
    let world = lived_in();
    let first = exported(&world, &[]);
    assert!(first.ends_with(
        "{\"kind\":\"end\",\"items\":{\"identity\":2,\"cell\":4,\"past\":2,\"link\":3,\"relation\":1,\"conflict\":1,\"confirmation\":1,\"key\":1,\"diff\":5,\"audit\":4}}\n"
    ), "{first}");

    let other = World::new();
    let file = written(&other, "a.jsonl", &first);
    let lines = first.lines().count() - 2;
    assert_eq!(import(&other, &file).well(), format!("{lines} new\n"));
    assert_eq!(exported(&other, &[]), first);

    assert_eq!(
        import(&other, &file).well(),
        format!("0 new, {lines} there already\n"),
        "once more adds nothing"
    );
    assert_eq!(exported(&other, &[]), first);

    let mut command = other.hyphae();
    command
        .args(["console", "We deploy on Thursdays"])
        .env("HYPHAE_PROJECT", "/elsewhere");
    let out = run(command, "").well();
    assert!(out.starts_with(&format!("{} distance=", id(2))), "{out}");
}

#[test]
fn an_export_goes_to_a_file_of_one_user_or_to_stdout() {
    let world = lived_in();
    let folder = world.directory("backups");
    let file = folder.join("backup.jsonl");
    fs::write(&file, "an older one").unwrap();
    let export = |target: &Path| {
        let mut command = world.hyphae();
        command.arg("export").arg(target);
        run(command, "")
    };
    let told = world.plain(&export(&file).well());
    assert_eq!(
        told,
        "exported to <root>/backups/backup.jsonl (mode 0600): identity 2, cell 4, past 2, link 3, relation 1, conflict 1, confirmation 1, key 1, diff 5, audit 4\n"
    );
    assert_eq!(mode(&file), 0o600);
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(world.run(["export"]).well(), text);
    assert_eq!(world.run(["export", "-"]).well(), text);
    let left: Vec<_> = fs::read_dir(&folder).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing lies beside it");

    let link = folder.join("link.jsonl");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    export(&link).well();
    assert!(link.is_symlink(), "what it leads to was replaced");

    for (target, want) in [
        (folder.as_path(), "is no file that can be replaced"),
        (Path::new("/dev/null"), "is no file that can be replaced"),
        (
            Path::new("nowhere/backup.jsonl"),
            "the export cannot be written to nowhere/backup.jsonl",
        ),
    ] {
        let line = export(target).refused();
        assert!(line.contains(want), "{line}");
    }
}

#[test]
fn an_export_that_is_stopped_leaves_nothing_behind() {
    let world = many(400);
    for (name, signal) in [
        ("int", rustix::process::Signal::INT),
        ("term", rustix::process::Signal::TERM),
    ] {
        let folder = world.directory(name);
        let mut command = world.hyphae();
        command.arg("export").arg(folder.join("backup.jsonl"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let pid = rustix::process::Pid::from_child(&child);
        // As soon as something is being written; it may as well be done by then.
        while fs::read_dir(&folder).unwrap().next().is_none() {
            std::thread::yield_now();
        }
        rustix::process::kill_process(pid, signal).unwrap();
        let output = ended(child, "export");
        let left: Vec<String> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        if output.status.success() {
            assert_eq!(left, ["backup.jsonl"]);
        } else {
            assert_eq!(left, [""; 0], "{output:?}");
            let told = String::from_utf8(output.stderr).unwrap();
            assert_eq!(told, "hyphae-server: stopped; nothing was exported\n");
        }
    }
}

#[test]
fn parts_of_an_export_can_be_left_out() {
    let world = lived_in();
    let all = exported(&world, &[]);
    let kinds = |text: &str| -> Vec<String> {
        let lines = text.lines().skip(1);
        lines
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].to_string())
            .collect()
    };
    let without_audit = exported(&world, &["--no-audit"]);
    let mut want = kinds(&all);
    want.retain(|kind| kind != "\"audit\"");
    assert_eq!(kinds(&without_audit), want);

    assert!(all.contains("\"vector\":"));
    let without_vectors = exported(&world, &["--no-vectors"]);
    assert_eq!(kinds(&without_vectors), kinds(&all));
    assert!(!without_vectors.contains("\"vector\":"));

    let of_project = exported(&world, &["--project", "/elsewhere"]);
    assert!(of_project.contains("We deploy on Thursdays") && !of_project.contains("Postgres"));
    let mut command = world.hyphae();
    command.args(["export", "--project", "nowhere", "none.jsonl"]);
    let done = run(command, "");
    assert_eq!(
        (done.code, done.err.as_str()),
        (Some(1), "error: nothing is filed under this project\n")
    );
    assert!(!world.work().join("none.jsonl").exists());
}

#[test]
fn vectors_that_were_left_out_are_made_again() {
    let world = lived_in();
    let all = exported(&world, &[]);
    let other = World::new();
    let file = written(&other, "a.jsonl", &exported(&world, &["--no-vectors"]));
    import(&other, &file).well();
    assert_eq!(exported(&other, &[]), all, "to the last bit");

    let of_static = World::empty();
    of_static.run(["init", "--embedder", "static"]).well();
    let file = written(&of_static, "a.jsonl", &all);
    import(&of_static, &file).well();
    let report = of_static.run(["doctor"]).well();
    assert!(report.contains("ok   model: static-256-int8/1"), "{report}");
    assert!(!report.contains("fail"), "{report}");
    let mut command = of_static.hyphae();
    command
        .args(["console", "We deploy on Thursdays"])
        .env("HYPHAE_PROJECT", "/elsewhere");
    let out = run(command, "").well();
    assert!(out.starts_with(&id(2)) && !out.contains("note:"), "{out}");
}

#[test]
fn bad_lines_are_told_with_their_numbers_and_the_others_are_imported() {
    let world = World::new();
    let text = of_every_kind();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[2] = "{\"kind\":\"cell\",";
    lines.insert(5, "nonsense");
    lines.pop();
    let file = written(&world, "cut.jsonl", &lines.join("\n"));
    let done = import(&world, &file);
    assert_eq!(done.code, Some(1));
    assert_eq!(
        done.err,
        "line 3: it is cut off in the middle of its JSON\nline 6: it is no JSON (column 2)\nline 14: the file ends before its last line: it was cut; what it has was read\n"
    );
    // Without its first memory, its history, link, relation, conflict, voice, key and diff
    // lead nowhere.
    assert_eq!(
        done.out,
        "4 new, 7 refer to what is not there, 3 bad lines\n"
    );
    let whole = written(&world, "whole.jsonl", &text);
    assert_eq!(import(&world, &whole).well(), "8 new, 4 there already\n");
}

#[test]
fn what_is_no_export_or_a_newer_one_is_refused_with_a_remedy() {
    let world = World::new();
    let newer = "{\"hyphae\":\"export\",\"version\":2,\"program\":\"9\"}\n";
    let file = written(&world, "newer.jsonl", newer);
    let done = import(&world, &file);
    assert_eq!(
        (done.code, done.out.as_str(), done.err.as_str()),
        (
            Some(1),
            "",
            "error: the export has version 2 of its format, this program reads up to 1; update hyphae-server\n"
        )
    );
    let mut command = world.hyphae();
    command.args(["import", "--format", "hyphae", "-"]);
    let done = run(command, "{}");
    assert_eq!(done.code, Some(1));
    assert!(
        done.err
            .starts_with("error: the first line is no header of an export")
    );

    let mut command = world.hyphae();
    command.args(["import", "--project", "x"]).arg(&file);
    let line = run(command, "").refused();
    assert!(line.contains("leave --project out"), "{line}");
    let mut command = world.hyphae();
    command.args(["import", "--format", "hyphae", "."]);
    let done = run(command, "");
    assert!(done.err.contains("is a folder"), "{done:?}");
}

#[test]
fn a_dry_run_reads_all_and_changes_nothing() {
    let world = World::new();
    let before = exported(&world, &[]);
    let file = written(&world, "a.jsonl", &of_every_kind());
    let mut command = world.hyphae();
    command.args(["import", "--dry-run"]).arg(&file);
    assert_eq!(
        run(command, "").well(),
        "nothing was changed; there would be: 12 new\n"
    );
    assert_eq!(exported(&world, &[]), before);
}

#[test]
fn secrets_in_an_export_are_masked_and_counted() {
    let world = World::new();
    let text = of_every_kind().replace("We deploy on Thursdays", &format!("it is {TOKEN}"));
    let file = written(&world, "a.jsonl", &text);
    // Once in the memory and once in what its vector is made from.
    assert_eq!(import(&world, &file).well(), "12 new, 2 secrets masked\n");
    let after = exported(&world, &[]);
    assert!(after.contains("it is [masked GitHub token]"));
    assert!(!after.contains("ghp_"));
    let database = fs::read(world.database()).unwrap();
    assert!(!database.windows(4).any(|bytes| bytes == b"ghp_"));
    assert_eq!(
        import(&world, &file).well(),
        "0 new, 12 there already, 2 secrets masked\n"
    );
}

/// A world with many memories, whose vectors are quickly made.
fn many(count: u32) -> World {
    let world = World::empty();
    world.run(["init", "--embedder", "static"]).well();
    let file = written(&world, "many.jsonl", &export_of(&cells(count)));
    import(&world, &file).well();
    fs::remove_file(file).unwrap();
    world
}

fn cells(count: u32) -> Vec<Value> {
    let text = |n: u32| format!("heron {n} stands in reed bed {}", n * 7);
    (100..100 + count)
        .map(|n| json!({"kind": "cell", "cell": cell(n, &text(n)), "last_access": AT}))
        .collect()
}

#[test]
fn an_import_that_is_killed_goes_on_where_it_was() {
    const CELLS: u32 = 900;
    let text = exported(&many(CELLS), &[]);
    let world = World::empty();
    world.run(["init", "--embedder", "static"]).well();
    let mut command = world.hyphae();
    command
        .args(["import", "--format", "hyphae", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // All but what fits into the pipe was read when this returns: more than two transactions.
    let most = text.len() * 4 / 5;
    stdin.write_all(&text.as_bytes()[..most]).unwrap();
    child.kill().unwrap();
    ended(child, "import");
    drop(stdin);

    let kept = exported(&world, &[]).matches("\"kind\":\"cell\"").count();
    assert!((256..CELLS as usize).contains(&kept), "{kept} were kept");
    let file = written(&world, "whole.jsonl", &text);
    assert_eq!(
        import(&world, &file).well(),
        format!("{} new, {kept} there already\n", CELLS as usize - kept)
    );
    assert_eq!(exported(&world, &[]), text);
}
