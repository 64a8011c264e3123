//! Files of other programs, one fixture each.

use std::{fs, path::Path};

use hyphae_core::label::Tag;
use hyphae_transfer::foreign::{Entry, Found, Program, Reader};
use pretty_assertions::assert_eq;

pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    fs::read(folder.join(name)).unwrap()
}

pub(crate) fn entries(program: Program, name: &str, bytes: &[u8]) -> Vec<Entry> {
    let reader = Reader::new(program, name, bytes);
    reader.map(Result::unwrap).collect()
}

fn memories(program: Program, fixture_name: &str) -> Vec<Found> {
    let all = entries(program, "", &fixture(fixture_name)).into_iter();
    all.filter_map(|entry| match entry {
        Entry::Found(found) => Some(*found),
        Entry::Bad(_) => None,
    })
    .collect()
}

/// What was read, an entry a line: where, what kind, which tags, when, and the text.
pub(crate) fn shown(entries: &[Entry]) -> Vec<String> {
    let show = |entry: &Entry| match entry {
        Entry::Bad(bad) => format!("{bad}"),
        Entry::Found(found) => {
            let memory = &found.memory;
            let tags: Vec<&str> = memory.tags.iter().map(Tag::as_str).collect();
            let at = memory.origin.said_at.map(|at| format!("{at} "));
            format!(
                "{}: {} [{}] {}{}",
                found.place,
                memory.cell_type,
                tags.join(" "),
                at.unwrap_or_default(),
                memory.content.replace('\n', "⏎"),
            )
        }
    };
    entries.iter().map(show).collect()
}

#[track_caller]
pub(crate) fn check(program: Program, name: &str, want: &[&str]) {
    assert_eq!(shown(&entries(program, "", &fixture(name))), want);
}

#[test]
fn server_memory_tells_of_entities_and_relations() {
    check(
        Program::ServerMemory,
        "server-memory.jsonl",
        &[
            "line 1: Fact [person] Mira Okafor (person): Leads the mobile team",
            "line 1: Fact [person] Mira Okafor (person): Prefers written decisions",
            "line 2: Fact [project] Lighthouse (project)",
            "line 3: missing field `observations`",
            "line 4: invalid type: integer `7`, expected a string",
            "line 6: Fact [relation] Mira Okafor works on Lighthouse",
            "line 7: its `type` is neither entity nor relation",
            "line 8: it is no JSON object",
            "line 9: it is cut off in the middle of its JSON",
            "line 10: Fact [person] Mira Okafor (person): Leads the mobile team",
        ],
    );
    let found = memories(Program::ServerMemory, "server-memory.jsonl");
    assert_eq!(
        found[0].memory.key, found[4].memory.key,
        "the same observation, said twice, is one memory"
    );
    assert_ne!(found[0].memory.key, found[1].memory.key);
}

#[test]
fn mem0_tells_of_memories_and_of_its_graph() {
    check(
        Program::Mem0,
        "mem0.json",
        &[
            "entry 1: Fact [food health mira] 2025-01-10T16:00:00.123456Z Is allergic to peanuts",
            "entry 2: Fact [mira travel] 2025-02-03T11:00:00Z Is in Lisbon this week",
            "entry 3: invalid type: integer `42`, expected a string",
            "entry 4: a time that is none",
            "entry 5: it is no JSON object",
            "entry 6: Fact [] Plays the cello",
            "entry 1: Fact [relation] mira lives in porto",
            "entry 2: missing field `relationship`",
        ],
    );
    let until = memories(Program::Mem0, "mem0.json")[1]
        .memory
        .validity
        .until();
    assert_eq!(until, Some("2025-02-08T00:00:00Z".parse().unwrap()));
}

#[test]
fn the_older_list_of_mem0_is_read_too() {
    check(
        Program::Mem0,
        "mem0-list.json",
        &[
            "entry 1: Fact [tom] Likes tea",
            "entry 2: Fact [tom] Runs on Sundays",
        ],
    );
}

#[test]
fn what_is_no_list_of_mem0_is_said() {
    let check = |text: &str, want: &[&str]| {
        assert_eq!(
            shown(&entries(Program::Mem0, "m.json", text.as_bytes())),
            want
        );
    };
    check("", &[]);
    check("{\"results\":[]}", &[]);
    check("{\"results\":{}}", &["m.json: it has no list `results`"]);
    check(
        "7",
        &["m.json: it is neither a list of memories nor has one as `results`"],
    );
    check(
        "[\n{\"memory\":",
        &["m.json, line 2: it is cut off in the middle of its JSON"],
    );
    check(
        "{\"results\":[]} x",
        &["m.json, line 1: it is no JSON (column 16)"],
    );
}

#[test]
fn claude_code_tells_what_was_said() {
    check(
        Program::ClaudeCode,
        "claude-code.jsonl",
        &[
            "line 1: Context [claude-code summary] Choosing a queue for the importer",
            "line 3: Context [claude-code user] 2025-05-06T07:08:09.01Z Which queue do we use?",
            "line 4: Context [assistant claude-code] 2025-05-06T07:08:10Z We use one table of Postgres as a queue.⏎⏎It holds a million jobs.",
            "line 8: Context [claude-code user] 2025-05-06T07:08:14Z the next release",
            "line 12: `content` is neither text nor a list of blocks",
            "line 13: missing field `message`",
            "line 14: a time that is none",
            "line 15: Context [claude-code summary] We chose Postgres as a queue and planned a release.",
            "line 17: it is cut off in the middle of its JSON",
        ],
    );
    let found = memories(Program::ClaudeCode, "claude-code.jsonl");
    let directories: Vec<_> = found
        .iter()
        .map(|found| found.directory.as_deref())
        .collect();
    let importer = Some("/home/mira/importer");
    assert_eq!(
        directories,
        [None, importer, importer, Some("/home/mira/docs"), None]
    );
    let session = Some("22222222-2222-4222-8222-222222222222".parse().unwrap());
    let sessions: Vec<_> = found
        .iter()
        .map(|found| found.memory.origin.session)
        .collect();
    assert_eq!(sessions, [None, session, session, session, None]);
}

#[test]
fn codex_tells_what_was_said_once() {
    check(
        Program::Codex,
        "codex.jsonl",
        &[
            "line 4: Context [codex user] 2025-06-07T08:09:11Z Why is the login slow?",
            "line 9: Context [assistant codex] 2025-06-07T08:09:14Z Each login hashes the password twice.",
            "line 12: Context [codex summary] 2025-06-07T08:09:16Z The login was slow because of two hashes.",
            "line 13: invalid type: string, expected a sequence",
            "line 14: missing field `payload`",
        ],
    );
    let found = memories(Program::Codex, "codex.jsonl");
    let directories: Vec<_> = found
        .iter()
        .map(|found| found.directory.as_deref())
        .collect();
    let auth = Some("/home/mira/api/auth");
    assert_eq!(directories, [Some("/home/mira/api"), auth, auth]);
    let session = Some("33333333-3333-7333-8333-333333333333".parse().unwrap());
    assert!(
        found
            .iter()
            .all(|found| found.memory.origin.session == session)
    );
}

#[test]
fn codex_of_the_first_versions_is_read_too() {
    check(
        Program::Codex,
        "codex-first.jsonl",
        &[
            "line 3: Context [codex user] Rename the module",
            "line 5: Context [assistant codex] It is called ledger now.",
        ],
    );
    let found = memories(Program::Codex, "codex-first.jsonl");
    let session = Some("44444444-4444-4444-8444-444444444444".parse().unwrap());
    assert!(
        found
            .iter()
            .all(|found| found.memory.origin.session == session)
    );
}

#[test]
fn every_memory_is_marked_as_imported_and_has_a_key_that_stays() {
    for (program, name) in [
        (Program::ServerMemory, "server-memory.jsonl"),
        (Program::Mem0, "mem0.json"),
        (Program::BasicMemory, "basic-memory/notes/Storage.md"),
        (Program::ClaudeCode, "claude-code.jsonl"),
        (Program::Codex, "codex.jsonl"),
    ] {
        let found = memories(program, name);
        assert!(!found.is_empty());
        assert_eq!(found, memories(program, name));
        for found in found {
            assert_eq!(
                found.memory.origin.source,
                hyphae_core::cell::Source::Imported
            );
            assert!(
                found
                    .memory
                    .key
                    .is_some_and(|key| key.starts_with("import "))
            );
            assert_eq!(found.memory.topic, None);
        }
    }
}
