//! Our own format: how it looks, and what is said of files that are no sound export.

use hyphae_core::{
    cell::Cell,
    ids::{CellId, CredentialId},
    ports::{ChosenModel, Item, KeptCell},
    recall::{Term, Terms, Vector},
};
use hyphae_transfer::record::{Header, Reader, Record, Unreadable, Writer, masked};
use pretty_assertions::assert_eq;
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};
use uuid::Uuid;

use crate::made;

fn header() -> Header {
    Header {
        program: "0.1.0".to_owned(),
        model: Some(ChosenModel {
            id: "m/1".to_owned(),
            dimension: 3,
        }),
    }
}

fn identity(n: u128) -> Item {
    Item::Identity {
        id: CredentialId::new(Uuid::from_u128(n)),
        name: "Ana".to_owned(),
        created_at: "2026-01-02T03:04:05.000006Z".parse().unwrap(),
        revoked_at: None,
    }
}

fn written(items: &[Item]) -> String {
    let mut writer = Writer::begin(Vec::new(), &header()).unwrap();
    for item in items {
        writer.write(item).unwrap();
    }
    String::from_utf8(writer.finish().unwrap().0).unwrap()
}

/// A cell as proptest makes them, with these fields.
fn kept(change: impl FnOnce(&mut Cell)) -> KeptCell {
    let made = made::cell()
        .new_tree(&mut TestRunner::deterministic())
        .unwrap();
    let mut cell = made.current();
    change(&mut cell);
    KeptCell {
        embedded_text: cell.content.as_str().to_owned(),
        cell,
        context: Terms::default(),
        vector: None,
        last_access: jiff::Timestamp::UNIX_EPOCH,
    }
}

/// What is read of a text: items, and complaints with their lines.
fn read(text: &str) -> (Vec<Item>, Vec<String>) {
    let (mut items, mut complaints) = (Vec::new(), Vec::new());
    for record in Reader::open(text.as_bytes()).unwrap() {
        match record.unwrap() {
            Record::Item { item, .. } => items.push(item),
            Record::Bad(bad) => complaints.push(bad.to_string()),
        }
    }
    (items, complaints)
}

const HEADER: &str =
    r#"{"hyphae":"export","version":1,"program":"0.1.0","model":{"id":"m/1","dimension":3}}"#;
const IDENTITY: &str = r#"{"kind":"identity","id":"00000000-0000-0000-0000-000000000001","name":"Ana","created_at":"2026-01-02T03:04:05.000006Z"}"#;

#[test]
fn the_lines_look_as_they_are_documented() {
    let text = written(&[identity(1)]);
    let want = format!(
        "{HEADER}\n{IDENTITY}\n{}\n",
        r#"{"kind":"end","items":{"identity":1}}"#
    );
    assert_eq!(text, want);
    assert_eq!(
        written(&[]),
        format!("{HEADER}\n{}\n", r#"{"kind":"end","items":{}}"#)
    );
}

#[test]
fn a_memory_looks_as_it_is_documented() {
    let cell = Cell {
        id: CellId::new(Uuid::from_u128(2)),
        content: hyphae_core::cell::Content::new("We ship \"Postgres\"").unwrap(),
        cell_type: hyphae_core::cell::CellType::Decision,
        salience: hyphae_core::cell::Share::new(0.1).unwrap(),
        confidence: hyphae_core::cell::Share::FULL,
        author: CredentialId::new(Uuid::from_u128(1)),
        project: hyphae_core::scope::Project::named("/home/ana/app").unwrap(),
        layer: hyphae_core::cell::Layer::L0,
        visibility: hyphae_core::cell::Visibility::Project,
        status: hyphae_core::cell::Status::Active,
        revision: 1,
        content_revision: 1,
        topic: None,
        tags: hyphae_core::label::Tags::default(),
        validity: hyphae_core::cell::Validity::ALWAYS,
        verified_at: None,
        origin: hyphae_core::cell::Origin::default(),
        created_at: "2026-01-02T03:04:05.000006Z".parse().unwrap(),
        updated_at: "2026-01-02T03:04:05Z".parse().unwrap(),
    };
    let model = ChosenModel {
        id: "m/1".to_owned(),
        dimension: 3,
    };
    let vector = Vector {
        scale: 1.0,
        numbers: [-127, 0, 1].into(),
    };
    let item = Item::Cell(Box::new(KeptCell {
        embedded_text: cell.content.as_str().to_owned(),
        cell,
        context: Terms::count([Term(1)]),
        vector: Some((model, vector)),
        last_access: "2026-01-02T03:04:05Z".parse().unwrap(),
    }));
    let want = concat!(
        r#"{"kind":"cell","cell":{"id":"00000000-0000-0000-0000-000000000002","#,
        r#""content":"We ship \"Postgres\"","type":"Decision","salience":0.1,"confidence":1.0,"#,
        r#""author":"00000000-0000-0000-0000-000000000001","project":"/home/ana/app","layer":"L0","#,
        r#""visibility":"project","status":"active","revision":1,"content_revision":1,"#,
        r#""origin":{"source":"user_stated"},"created_at":"2026-01-02T03:04:05.000006Z","#,
        r#""updated_at":"2026-01-02T03:04:05.000000Z"},"context":"AQAAAAAAAAAB","#,
        r#""vector":{"model":"m/1","data":"AACAP4EAAQ=="},"last_access":"2026-01-02T03:04:05.000000Z"}"#,
    );
    assert_eq!(written(&[item]).lines().nth(1), Some(want));
}

#[test]
fn a_file_that_was_cut_is_noticed_wherever_it_was() {
    let text = written(&[identity(1), identity(2)]);
    for end in HEADER.len()..text.len() - 1 {
        let (items, complaints) = read(&text[..end]);
        assert!(items.len() <= 2);
        let last = complaints.last().unwrap();
        assert!(last.contains("cut"), "{end}: {last}");
    }
    assert_eq!(
        read(&text[..text.len() - 1]).1,
        [""; 0],
        "only its last line end is missing"
    );
}

#[test]
fn a_bad_line_is_told_with_its_number_and_the_others_are_read() {
    let end = r#"{"kind":"end","items":{"identity":6}}"#;
    let bad = [
        "nonsense of ana",
        r#"{"kind":"spore","id":1}"#,
        r#"{"kind":"identity","id":"ana","name":"x","created_at":"2026-01-02T03:04:05Z"}"#,
        r#"{"id":1}"#,
        r#"{"kind":"identity","id":"00000000-0000-0000-0000-000000000009","name":"x","created_at":"2026-01-02T03:04:05Z","mood":"good"}"#,
    ];
    let text = [
        HEADER, bad[0], bad[1], "", bad[2], bad[3], IDENTITY, bad[4], end,
    ]
    .join("\n");
    let (items, complaints) = read(&text);
    assert_eq!(items, [identity(1)]);
    assert_eq!(
        complaints,
        [
            "line 2: it is no JSON (column 2)",
            "line 3: `spore` is no kind of line that this program knows",
            "line 5: UUID parsing failed: invalid character: found `n` at 1",
            "line 6: missing field `kind`",
            "line 8: unknown field `mood`, expected one of `kind`, `id`, `name`, `created_at`, `revoked_at`",
        ]
    );
}

#[test]
fn lines_that_were_lost_or_added_are_noticed() {
    let lost = written(&[identity(1), identity(2)]).replacen(&format!("{IDENTITY}\n"), "", 1);
    let (items, complaints) = read(&lost);
    assert_eq!(items, [identity(2)]);
    assert_eq!(
        complaints,
        [
            "line 3: the export had 2 items when it was written, and has 1 now: lines were lost or added"
        ]
    );
    let behind = format!("{}{IDENTITY}\n", written(&[]));
    assert_eq!(
        read(&behind).1,
        ["line 3: something stands behind the last line of the export; it was not read"]
    );
}

#[test]
fn a_line_end_of_any_kind_and_a_mark_are_no_fault() {
    let text = written(&[identity(1)]).replace('\n', "\r\n");
    assert_eq!(
        read(&format!("\u{feff}{text}")),
        (vec![identity(1)], vec![])
    );
}

#[test]
fn a_time_finer_than_stores_keep_is_read_to_the_microsecond() {
    let fine = written(&[identity(1)]).replace("05.000006Z", "05.0000069Z");
    assert_eq!(read(&fine), (vec![identity(1)], vec![]));
}

#[test]
fn values_that_are_none_are_bad_lines() {
    let good = written(&[Item::Cell(Box::new(kept(|_| ())))]);
    let line = good.lines().nth(1).unwrap();
    let set = |field: &str, value: &str| {
        let mut json: serde_json::Value = serde_json::from_str(line).unwrap();
        json["cell"][field] = serde_json::from_str(value).unwrap();
        let text = format!(
            "{HEADER}\n{json}\n{}\n",
            r#"{"kind":"end","items":{"cell":1}}"#
        );
        let (items, complaints) = read(&text);
        assert_eq!(items, []);
        complaints.join("\n")
    };
    for (field, value, want) in [
        (
            "content",
            "\" \"",
            "line 2: `content`: a memory cannot be empty",
        ),
        (
            "type",
            "\"Wish\"",
            "line 2: `type`: `Wish` is not Decision,",
        ),
        ("salience", "1.5", "line 2: `salience` is not from 0 to 1"),
        ("revision", "0", "line 2: a revision is at least 1"),
        (
            "revision",
            "-1",
            "line 2: invalid value: integer `-1`, expected u32",
        ),
        (
            "content_revision",
            "4294967295",
            "line 2: `content_revision` is above `revision`",
        ),
        (
            "layer",
            "\"L9\"",
            "line 2: `layer`: `L9` is not L0, L1 or L2",
        ),
        (
            "project",
            "\"\"",
            "line 2: `project` is no name of a project",
        ),
        ("topic", "\"\"", "line 2: `topic` is no topic"),
        (
            "tags",
            "[\"a,b\"]",
            "line 2: `tags` are not at most 16 tags",
        ),
        ("created_at", "\"soon\"", "line 2: "),
        ("id", "7", "line 2: invalid type: integer `7`, expected"),
    ] {
        let complaint = set(field, value);
        assert!(complaint.starts_with(want), "{field}: {complaint}");
    }
}

#[test]
fn links_that_are_none_are_bad_lines() {
    let id = "00000000-0000-0000-0000-000000000001";
    let other = "00000000-0000-0000-0000-000000000002";
    let at = "2026-01-02T03:04:05Z";
    let weightless = "`weight` is not above 0 and at most 1";
    let alone = "it has the same memory at both ends";
    let link = |from, weight| {
        format!(r#"{{"kind":"link","from":"{from}","to":"{id}","weight":{weight}}}"#)
    };
    let relation = |from, weight| {
        format!(
            r#"{{"kind":"relation","id":"{id}","from":"{from}","relation":"supports","to":"{id}","weight":{weight},"author":"{id}","created_at":"{at}","active":true}}"#
        )
    };
    let conflict = format!(
        r#"{{"kind":"conflict","id":"{id}","left":"{id}","right":"{id}","how":"stated","opened_by":"{id}","opened_at":"{at}"}}"#
    );
    for (line, want) in [
        (link(id, "0.5"), alone),
        (link(other, "0"), weightless),
        (link(other, "1.5"), weightless),
        (relation(id, "0.5"), alone),
        (relation(other, "0"), weightless),
        (conflict, alone),
    ] {
        let (items, complaints) = read(&format!("{HEADER}\n{line}\n"));
        assert_eq!(items, []);
        assert_eq!(complaints[0], format!("line 2: {want}"), "{line}");
    }
    for line in [link(other, "1"), relation(other, "1")] {
        assert_eq!(read(&format!("{HEADER}\n{line}\n")).0.len(), 1, "{line}");
    }
}

#[test]
fn what_is_no_export_is_said_before_anything_is_read() {
    let check = |text: &str, want: &str| {
        let error = Reader::open(text.as_bytes()).map(|_| ()).unwrap_err();
        assert_eq!(error.to_string(), want);
    };
    let no_header = |why: &str| {
        format!(
            "the first line is no header of an export ({why}); is it a file of another program?"
        )
    };
    check("", &no_header("it is empty"));
    check("\n\n", &no_header("it is empty"));
    check("{}", &no_header("missing field `hyphae`"));
    check(IDENTITY, &no_header("missing field `hyphae`"));
    check("secret text", &no_header("it is no JSON (column 1)"));
    check(
        r#"{"hyphae":"dump","version":1}"#,
        &no_header("`hyphae` is not `export`"),
    );
    check(
        r#"{"hyphae":"export","version":7,"shape":"new"}"#,
        "the export has version 7 of its format, this program reads up to 1; update hyphae-server",
    );
    assert!(matches!(
        Reader::open(&b"\xff"[..]),
        Err(Unreadable::NoHeader { .. })
    ));
}

#[test]
fn secrets_of_an_item_are_masked_and_its_vector_is_given_up() {
    let token = format!("ghp_{}", "a1B2c3".repeat(6));
    let secret = kept(|cell| {
        cell.content = hyphae_core::cell::Content::new(&format!("use {token} here")).unwrap();
    });
    let vector = Vector {
        scale: 1.0,
        numbers: [1].into(),
    };
    let model = ChosenModel {
        id: "m".to_owned(),
        dimension: 1,
    };
    let clean = KeptCell {
        vector: Some((model, vector)),
        ..kept(|_| ())
    };
    let (item, secrets) = masked(Item::Cell(Box::new(KeptCell {
        vector: clean.vector.clone(),
        ..secret
    })))
    .unwrap();
    let Item::Cell(kept) = item else {
        panic!("{item:?}")
    };
    assert_eq!(secrets, 2, "in the text and in what is embedded of it");
    assert_eq!(kept.cell.content.as_str(), "use [masked GitHub token] here");
    assert_eq!(kept.embedded_text, "use [masked GitHub token] here");
    assert_eq!(kept.vector, None);

    let item = Item::Cell(Box::new(clean));
    assert_eq!(masked(item.clone()), Ok((item, 0)));
}
