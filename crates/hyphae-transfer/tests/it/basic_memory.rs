//! A folder of notes.

use hyphae_core::cell::Content;
use hyphae_transfer::foreign::{Entry, Program};
use pretty_assertions::assert_eq;

use crate::foreign::{entries, fixture, shown};

#[track_caller]
fn check(name: &str, want: &[&str]) {
    let bytes = fixture(&format!("basic-memory/{name}"));
    assert_eq!(shown(&entries(Program::BasicMemory, name, &bytes)), want);
}

#[test]
fn a_note_tells_of_observations_tasks_relations_and_prose() {
    check(
        "notes/Storage.md",
        &[
            "notes/Storage.md, line 14: Context [2025 backend] 2025-03-04T05:06:07Z Storage⏎⏎We looked at three databases over two weeks⏎and wrote down what we found.",
            "notes/Storage.md, line 19: Decision [2025 backend db decision] 2025-03-04T05:06:07Z Storage: We ship Postgres #db (after the trial)",
            "notes/Storage.md, line 20: Risk [2025 backend risk] 2025-03-04T05:06:07Z Storage: Backups are not tested yet since the move to the new host",
            "notes/Storage.md, line 22: Fact [2025 backend speed] 2025-03-04T05:06:07Z Storage: p95 is 12 ms",
            "notes/Storage.md, line 23: Fact [2025 backend latency] 2025-03-04T05:06:07Z Storage: fast enough for us #latency",
            "notes/Storage.md, line 25: Task [2025 backend] 2025-03-04T05:06:07Z Storage: test a restore",
            "notes/Storage.md, line 24: Context [2025 backend] 2025-03-04T05:06:07Z Storage: Observations⏎⏎- [x] compare licences⏎- plain remark in a list⏎⏎> - [decision] quoted, not decided⏎⏎```sh⏎- [decision] not this one⏎# nor is this a heading⏎```",
            "notes/Storage.md, line 37: Fact [2025 backend relation] 2025-03-04T05:06:07Z Storage depends on Hosting (for backups)",
            "notes/Storage.md, line 38: Fact [2025 backend relation] 2025-03-04T05:06:07Z Storage is part of Backend",
            "notes/Storage.md, line 39: Context [2025 backend] 2025-03-04T05:06:07Z Storage: Relations⏎⏎- see also [[Costs]] for numbers",
        ],
    );
}

#[test]
fn a_note_without_a_front_is_called_as_its_file() {
    check(
        "Plain.md",
        &[
            "Plain.md, line 1: Context [] Plain⏎⏎No front matter here, only prose about the office plants.",
        ],
    );
}

#[test]
fn a_broken_front_does_not_hide_the_note() {
    check(
        "notes/Broken front.md",
        &[
            "notes/Broken front.md, line 1: what stands between its lines `---` is no YAML",
            "notes/Broken front.md, line 5: Lesson [lesson] Broken front: Test the parser with broken files",
        ],
    );
}

#[test]
fn notes_of_any_encoding_are_read_or_told_of() {
    check(
        "Windows.md",
        &["Windows.md, line 7: Lesson [tip] Windows: Lines end in two characters"],
    );
    check("Latin.md", &["Latin.md: it is no UTF-8 text"]);
    check("Empty.md", &[]);
}

#[test]
fn a_long_section_becomes_numbered_parts() {
    let paragraph = format!("{}\n\n", "mushroom ".repeat(400).trim());
    let note = format!("# Long\n\n{}", paragraph.repeat(5));
    let found = entries(Program::BasicMemory, "Long.md", note.as_bytes());
    let contents: Vec<_> = found
        .iter()
        .map(|entry| match entry {
            Entry::Found(found) => Content::new(&found.memory.content).unwrap(),
            Entry::Bad(bad) => panic!("{bad}"),
        })
        .collect();
    assert_eq!(contents.len(), 3);
    assert!(contents[0].as_str().starts_with("Long\n\nmushroom"));
    assert!(contents[2].as_str().ends_with("mushroom\n\n(part 3 of 3)"));
}

#[test]
fn a_note_that_moved_keeps_its_keys_if_it_has_a_permalink() {
    let keys = |name: &str, fixture_name: &str| -> Vec<_> {
        let bytes = fixture(&format!("basic-memory/{fixture_name}"));
        let all = entries(Program::BasicMemory, name, &bytes).into_iter();
        all.filter_map(|entry| match entry {
            Entry::Found(found) => found.memory.key,
            Entry::Bad(_) => None,
        })
        .collect()
    };
    let storage = "notes/Storage.md";
    assert_eq!(keys(storage, storage), keys("archive/Old.md", storage));
    assert_ne!(
        keys("Plain.md", "Plain.md"),
        keys("archive/Plain.md", "Plain.md")
    );
}
