//! What the tools read: briefings, times, filters, pages, and bounds on all of them.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{Era, Mcp, contents};
use crate::world::World;

#[test]
fn without_a_query_what_matters_most_comes_first() {
    let world = World::new();
    let mut mcp = Mcp::start(&world, Era::Legacy);
    for (content, kind, salience) in [
        ("lunch is at noon", "Context", 0.2),
        ("no data leaves the country", "Constraint", 0.9),
        ("the build takes nine minutes", "Fact", 0.5),
    ] {
        mcp.call(
            "store",
            json!({"content": content, "type": kind, "salience": salience}),
        );
    }
    for arguments in [
        json!({}),
        json!({"query": ""}),
        json!({"query": null}),
        json!({"query": "null"}),
    ] {
        let found = mcp.call("recall", arguments.clone());
        assert_eq!(found["mode"], "briefing", "{arguments}");
        assert_eq!(
            contents(&found),
            [
                "no data leaves the country",
                "the build takes nine minutes",
                "lunch is at noon"
            ],
        );
        assert!(found["hits"][0].get("distance").is_none());
    }
    mcp.end();
}

#[test]
fn hits_are_those_asked_for() {
    let world = World::new();
    let mut mcp = Mcp::start(&world, Era::Modern);
    for (content, kind, tags, until) in [
        (
            "the lock by the mill holds water",
            "Fact",
            json!(["mill", "lock"]),
            None,
        ),
        ("the lock by the weir leaks", "Risk", json!(["lock"]), None),
        (
            "the lock is closed for the winter",
            "Fact",
            json!([]),
            Some("2001-01-01"),
        ),
    ] {
        mcp.call(
            "store",
            json!({"content": content, "type": kind, "tags": tags, "valid_until": until}),
        );
    }
    for (more, want) in [
        (json!({}), 2),
        (json!({"types": ["Risk"]}), 1),
        (json!({"types": ["Risk", "Fact"]}), 2),
        (json!({"tags": ["LOCK", "mill"]}), 1),
        (json!({"tags": "nothing"}), 0),
        (json!({"include_inactive": true}), 3),
        (json!({"as_of": "2000-06-01"}), 0),
        (json!({"layer": "L1"}), 0),
        (json!({"max_distance": 0}), 0),
        (json!({"k": 1}), 1),
    ] {
        let mut arguments = json!({"query": "the lock"});
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        assert_eq!(mcp.call("recall", arguments)["matched"], want, "{more}");
    }
    mcp.end();
}

#[test]
fn signs_and_short_words_are_looked_for_and_not_parsed() {
    let world = World::new();
    let mut mcp = Mcp::start(&world, Era::Legacy);
    let all = [
        "C++ is used for the codec",
        "never run rm -rf on the volume",
        "the flag is called --dry-run: it prints \"nothing\"",
        "R is used for the statistics",
        "備份在星期四進行",
        "the crab is 🦀",
    ];
    for content in all {
        mcp.store(content);
    }
    for (query, want) in [
        ("C++", 0),
        ("what was it about `rm -rf` AND (volume", 1),
        ("\"--dry-run:\"", 2),
        ("R statistics", 3),
        ("備份", 4),
        ("🦀", 5),
        (
            "does anybody remember which of the many languages we use for the codec",
            0,
        ),
    ] {
        assert_eq!(
            mcp.recall(query).first().map(String::as_str),
            Some(all[want]),
            "{query}"
        );
    }
    mcp.end();
}

#[test]
fn pages_show_each_memory_once_whatever_fits_on_one() {
    let world = World::new();
    let mut mcp = Mcp::start(&world, Era::Legacy);
    let mut all = Vec::new();
    for n in 0..23 {
        let content = format!("gauge {n} {}", "stands by the old lock ".repeat(n * 4));
        all.push(content.trim().to_owned());
        mcp.send_call("store", json!({"content": content}));
    }
    for query in [None, Some("gauge by the old lock")] {
        let mut found: Vec<String> = Vec::new();
        let mut cursor = Value::Null;
        let mut pages = 0;
        loop {
            let page = mcp.call(
                "query",
                json!({"layer": "L0", "query": query, "k": 10, "cursor": cursor}),
            );
            assert_eq!(page["total"], 23);
            assert!(page.to_string().len() < 20_000);
            let ids = page["hits"]
                .as_array()
                .unwrap()
                .iter()
                .map(|hit| hit["id"].to_string());
            found.extend(ids);
            pages += 1;
            match page.get("next_cursor") {
                Some(next) => cursor = next.clone(),
                None => break,
            }
        }
        assert!(pages >= 3, "{query:?}: {pages}");
        assert_eq!(found.len(), 23, "{query:?}");
        found.sort();
        found.dedup();
        assert_eq!(found.len(), 23, "{query:?}");
    }
    for (arguments, want) in [
        (
            json!({"layer": "L0", "cursor": "elsewhere"}),
            "argument: cursor",
        ),
        (json!({}), "argument: layer"),
        (json!({"layer": "L3"}), "L0, L1 or L2"),
        (
            json!({"layer": "L0", "author": "defualt"}),
            "did you mean `default`",
        ),
        (
            json!({"layer": "L0", "status": "gone"}),
            "active, superseded, retracted, any",
        ),
    ] {
        let said = mcp.fails("query", arguments.clone());
        assert!(said.contains(want), "{arguments}: {said}");
    }
    mcp.end();
}

#[test]
fn what_there_is_can_be_sifted_by_author_time_and_status() {
    let world = World::new();
    let mut mcp = Mcp::start(&world, Era::Legacy);
    let mut command = world.hyphae();
    command.env("HYPHAE_API_KEY", world.another_key("second"));
    let mut other = Mcp::start_with(&world, command);
    mcp.store("mine");
    let gone = other.store("theirs");
    other.call("forget", json!({"ids": [gone], "apply": true}));
    other.store("theirs too");
    for (more, want) in [
        (json!({}), vec!["theirs too", "mine"]),
        (json!({"author": "second"}), vec!["theirs too"]),
        (
            json!({"author": "second", "status": "any"}),
            vec!["theirs too", "theirs"],
        ),
        (json!({"status": "retracted"}), vec!["theirs"]),
        (json!({"since": "2001-01-01"}), vec!["theirs too", "mine"]),
        (json!({"until": "2001-01-01"}), vec![]),
    ] {
        let mut arguments = json!({"layer": "l0"});
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        assert_eq!(contents(&mcp.call("query", arguments)), want, "{more}");
    }
    mcp.end();
    other.end();
}

#[test]
fn memories_come_in_full_by_the_beginning_of_their_ids() {
    let world = World::new();
    let mut mcp = Mcp::start(&world, Era::Legacy);
    let first = mcp.store("the first of them");
    let second = mcp.store("the second, not to be mistaken for any other");
    mcp.call(
        "link",
        json!({"from": first, "to": second, "relation": "supports"}),
    );
    let digits = first.replace('-', "").to_uppercase();
    for id in [
        first.clone(),
        digits.clone(),
        digits[..20].to_owned(),
        format!("hyphae://memory/{first}"),
    ] {
        let got = mcp.call("get", json!({"ids": id}));
        assert_eq!(got["memories"][0]["content"], "the first of them", "{id}");
    }
    let got = mcp.call(
        "get",
        json!({"ids": [first, second, first], "include": ["EDGES"]}),
    );
    assert_eq!(got["memories"].as_array().unwrap().len(), 2);
    assert_eq!(got["memories"][1]["edges"][0]["relation"], "supports");
    // Made in the same instant, they begin alike.
    let said = mcp.fails("get", json!({"ids": [&first[..8]]}));
    assert!(said.contains("code: ambiguous_id"), "{said}");
    for (ids, want) in [
        (json!(["1234567"]), "code: invalid_argument"),
        (json!([]), "argument: ids"),
        (json!(vec!["01a22cc7"; 21]), "at most 20"),
    ] {
        let said = mcp.fails("get", json!({"ids": ids}));
        assert!(said.contains(want), "{ids}: {said}");
    }
    mcp.end();
}

#[test]
fn no_answer_exceeds_its_tokens_however_much_there_is() {
    let world = World::empty();
    world.run(["init", "--embedder", "static"]).well();
    let mut mcp = Mcp::start(&world, Era::Legacy);
    let long = |n: usize| format!("heron {n} {}", "watches the weir at dawn, ".repeat(290));
    let mut ids = Vec::new();
    for n in 0..40 {
        let stored = mcp.call(
            "store",
            json!({"content": long(n), "topic": format!("heron {n}"), "tags": ["heron"]}),
        );
        ids.push(stored["id"].clone());
    }
    for revision in 1..6 {
        let content = format!("revision {revision} {}", long(0));
        mcp.call(
            "update",
            json!({"id": ids[0], "expected_revision": revision, "content": content}),
        );
    }
    for pair in ids.windows(2) {
        mcp.call(
            "link",
            json!({"from": pair[0], "to": pair[1], "relation": "contradicts"}),
        );
        mcp.call(
            "link",
            json!({"from": ids[0], "to": pair[1], "relation": "related"}),
        );
    }
    let everything = json!(["history", "edges", "sources"]);
    for (tool, arguments, tokens) in [
        ("recall", json!({"query": "heron", "k": 100}), 2000),
        (
            "recall",
            json!({"query": "heron", "k": 100, "max_tokens": 300}),
            300,
        ),
        ("recall", json!({"k": 100, "max_tokens": 20000}), 20_000),
        ("query", json!({"layer": "L0", "k": 100}), 4000),
        (
            "get",
            json!({"ids": ids[..20], "include": everything, "depth": 2}),
            4000,
        ),
        (
            "get",
            json!({"ids": [ids[0]], "include": everything, "depth": 2}),
            4000,
        ),
        (
            "get",
            json!({"ids": [ids[0]], "include": everything, "max_tokens": 300}),
            300,
        ),
        ("conflicts", json!({"k": 50}), 4000),
        ("updates", json!({"k": 100, "from_others": false}), 4000),
        ("forget", json!({"ids": ids, "mode": "erase"}), 4000),
    ] {
        let answer = mcp.call(tool, arguments.clone());
        // English prose has more than four bytes a token.
        let bytes = answer.to_string().len();
        assert!(
            bytes <= 4 * (tokens + tokens / 10),
            "{tool} {arguments}: {bytes} bytes"
        );
        let shown = ["hits", "memories", "conflicts", "diffs", "items"]
            .iter()
            .find_map(|list| answer[*list].as_array());
        assert!(!shown.unwrap().is_empty(), "{tool} {arguments}: {answer}");
    }
    mcp.end();
}
