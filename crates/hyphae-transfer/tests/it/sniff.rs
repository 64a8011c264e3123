//! Whose file it is.

use hyphae_transfer::{
    foreign::Program,
    record::{Header, Writer},
    sniff::{Format, UnknownFormat, sniff},
};
use pretty_assertions::assert_eq;

use crate::foreign::fixture;

#[test]
fn every_fixture_is_known_by_its_beginning() {
    for (name, program) in [
        ("server-memory.jsonl", Program::ServerMemory),
        ("damaged.jsonl", Program::ServerMemory),
        ("mem0.json", Program::Mem0),
        ("mem0-list.json", Program::Mem0),
        ("claude-code.jsonl", Program::ClaudeCode),
        ("codex.jsonl", Program::Codex),
        ("codex-first.jsonl", Program::Codex),
        ("basic-memory/Plain.md", Program::BasicMemory),
        ("basic-memory/notes/Storage.md", Program::BasicMemory),
        ("basic-memory/Empty.md", Program::BasicMemory),
    ] {
        let bytes = fixture(name);
        assert_eq!(sniff(name, &bytes), Ok(Format::Foreign(program)), "{name}");
        // Whatever its name is, but for Markdown, and where it is cut off behind some lines.
        if program != Program::BasicMemory {
            let head = &bytes[..bytes.len() * 9 / 10];
            assert_eq!(sniff("x", head), Ok(Format::Foreign(program)), "{name}");
        }
    }
}

#[test]
fn an_export_of_ours_is_known() {
    let header = Header {
        program: "0.1.0".to_owned(),
        model: None,
    };
    let (bytes, _) = Writer::begin(Vec::new(), &header)
        .unwrap()
        .finish()
        .unwrap();
    assert_eq!(sniff("backup", &bytes), Ok(Format::Hyphae));
}

#[test]
fn single_lines_of_sessions_are_known() {
    for (line, program) in [
        (
            r#"{"type":"file-history-snapshot","snapshot":{}}"#,
            Program::ClaudeCode,
        ),
        (
            r#"{"type":"attachment","sessionId":"x"}"#,
            Program::ClaudeCode,
        ),
        (
            r#"{"type":"user","uuid":"x","message":{}}"#,
            Program::ClaudeCode,
        ),
        (r#"{"type":"event_msg","payload":{}}"#, Program::Codex),
    ] {
        assert_eq!(
            sniff("x.jsonl", line.as_bytes()),
            Ok(Format::Foreign(program)),
            "{line}"
        );
    }
}

#[test]
fn what_is_nobodys_is_said_with_what_is_known() {
    for text in [
        "",
        "plain text",
        "{}",
        "[]",
        "[1,2]",
        "{\"results\":3}",
        "{\"type\":\"user\"}",
        "{\"memory\":\"x\"}",
        "\u{feff}",
    ] {
        assert_eq!(
            sniff("x.json", text.as_bytes()),
            Err(UnknownFormat),
            "{text}"
        );
    }
    assert_eq!(sniff("x", b"\xff\xfe"), Err(UnknownFormat));
    assert_eq!(
        UnknownFormat.to_string(),
        "this is no file that can be read; known are hyphae, server-memory, mem0, basic-memory, claude-code and codex: name one with --format if it is"
    );
}
