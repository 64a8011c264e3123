//! Files that are damaged: nothing panics, nothing hides what stands beside it.

use std::io::{self, BufReader, Read};

use hyphae_transfer::{
    foreign::{Entry, LONGEST_LINE, Program, Reader},
    record,
};
use pretty_assertions::assert_eq;

use crate::foreign::{check, entries, shown};

#[test]
fn marks_line_ends_and_bytes_that_are_no_text() {
    check(
        Program::ServerMemory,
        "damaged.jsonl",
        &[
            "line 1: Fact [file] Bom (file): begins with a mark",
            "line 3: it is no UTF-8 text",
            "line 4: Fact [file] Nul (file): a\u{fffd}b",
            "line 5: it is no JSON (column 80)",
            "line 6: Fact [file] Last (file): has no line end",
        ],
    );
}

#[test]
fn of_nothing_comes_nothing() {
    for program in Program::ALL {
        assert_eq!(entries(program, "", b""), []);
        assert_eq!(entries(program, "", b"\n\r\n \n"), []);
    }
    check(Program::Codex, "empty.jsonl", &[]);
}

#[test]
fn values_of_any_type_where_others_belong_are_told_of() {
    let values = [
        "null",
        "true",
        "-1",
        "1e400",
        "\"x\"",
        "[]",
        "{}",
        "[[[]]]",
        "{\"type\":{}}",
    ];
    for program in Program::ALL {
        for value in values {
            for entry in entries(program, "", value.as_bytes()) {
                match entry {
                    Entry::Bad(bad) => assert!(!bad.why.is_empty()),
                    Entry::Found(found) => assert_eq!(program, Program::BasicMemory, "{found:?}"),
                }
            }
        }
    }
}

#[test]
fn deep_nesting_is_a_bad_line() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let line = format!(r#"{{"type":"entity","observations":{deep}}}"#);
    assert_eq!(
        shown(&entries(Program::ServerMemory, "", line.as_bytes())),
        ["line 1: invalid type: sequence, expected a string"]
    );
    assert_eq!(
        shown(&entries(Program::Mem0, "", deep.as_bytes())),
        ["line 1: it is no JSON (column 128)"]
    );
}

/// A line of `length` bytes, made while it is read.
fn long_line(length: u64) -> impl Read {
    io::repeat(b'x').take(length).chain(&b"\n"[..])
}

#[test]
fn a_line_that_is_too_long_is_passed_over_without_being_kept() {
    let after = r#"{"type":"entity","name":"After","entityType":"x","observations":[]}"#;
    let input = long_line(LONGEST_LINE as u64 + 1).chain(after.as_bytes());
    let reader = Reader::new(Program::ServerMemory, "", BufReader::new(input));
    let all: Vec<Entry> = reader.map(Result::unwrap).collect();
    assert_eq!(
        shown(&all),
        [
            format!("line 1: it is longer than {LONGEST_LINE} bytes"),
            "line 2: Fact [x] After (x)".to_owned(),
        ]
    );
    let export = format!("{}\n", r#"{"hyphae":"export","version":1,"program":"0"}"#);
    let input = io::Cursor::new(export)
        .chain(long_line(record::LONGEST_LINE as u64 + 1))
        .chain(&br#"{"kind":"end","items":{"cell":1}}"#[..]);
    let reader = record::Reader::open(BufReader::new(input)).unwrap();
    let all: Vec<_> = reader.map(Result::unwrap).collect();
    let [record::Record::Bad(bad)] = all.as_slice() else {
        panic!("{all:?}")
    };
    assert_eq!(
        bad.to_string(),
        format!("line 2: it is longer than {} bytes", record::LONGEST_LINE)
    );
}

#[test]
fn a_failing_disk_is_an_error_and_no_end() {
    #[derive(Debug)]
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("gone"))
        }
    }
    for program in Program::ALL {
        let mut reader = Reader::new(program, "", BufReader::new(Broken));
        assert_eq!(reader.next().unwrap().unwrap_err().to_string(), "gone");
    }
    let error = record::Reader::open(BufReader::new(Broken))
        .map(|_| ())
        .unwrap_err();
    assert_eq!(error.to_string(), "gone");
}
