//! What the tools write: outcomes, history, links, conflicts, voices, forgetting, and who is told.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{Era, Mcp};
use crate::world::World;

/// Two agents on one memory.
fn agents(world: &World) -> (Mcp, Mcp) {
    let mut command = world.hyphae();
    command.env("HYPHAE_API_KEY", world.another_key("second"));
    (
        Mcp::start(world, Era::Legacy),
        Mcp::start_with(world, command),
    )
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[test]
fn storing_says_what_became_of_it() {
    let world = World::new();
    let (mut mcp, mut other) = agents(&world);
    let first = mcp.call("store", json!({"content": "Deploys happen on Thursdays"}));
    assert_eq!(
        (&first["outcome"], &first["revision"]),
        (&json!("created"), &json!(1))
    );
    for (arguments, outcome) in [
        (
            json!({"content": " Deploys happen on Thursdays "}),
            "unchanged",
        ),
        (json!({"content": "Deploys happen on Thursdays!"}), "merged"),
    ] {
        let again = other.call("store", arguments.clone());
        assert_eq!(
            (&again["outcome"], &again["id"]),
            (&json!(outcome), &first["id"]),
            "{arguments}"
        );
    }
    let full = mcp.call("get", json!({"ids": [first["id"]], "include": ["history"]}));
    let memory = &full["memories"][0];
    assert_eq!(
        (&memory["content"], &memory["status"]),
        (&json!("Deploys happen on Thursdays!"), &json!("active"))
    );
    assert_eq!(
        memory["history"][0]["content"],
        "Deploys happen on Thursdays"
    );
    assert_eq!(mcp.recall("when do deploys happen").len(), 1);
    let near = mcp.call(
        "store",
        json!({"content": "Deploys happen on Thursday evenings"}),
    );
    assert_eq!(near["outcome"], "created");
    assert_eq!(near["similar"][0]["id"], first["id"]);

    let topic = json!({"content": "The release is on Friday", "topic": "Release day"});
    let one = mcp.call("store", topic);
    let topic = json!({"content": "The release is on Monday", "topic": " release  DAY "});
    let two = other.call("store", topic);
    assert_eq!(
        (&two["outcome"], &two["id"]),
        (&json!("revised"), &one["id"])
    );
    assert_eq!(two["revision"], 2);

    let keyed = json!({"content": "Sent once", "key": "request 1"});
    let sent = mcp.call("store", keyed.clone());
    assert_eq!(mcp.call("store", keyed)["id"], sent["id"]);
    let reused = mcp.call(
        "store",
        json!({"content": "Sent again", "key": "request 1"}),
    );
    assert_eq!(reused["id"], sent["id"]);
    assert!(text(&reused["warnings"][0]).contains("new key"), "{reused}");

    for (arguments, want) in [
        (json!({"content": "x", "type": "Idea"}), "argument: type"),
        (json!({"content": "x", "salience": 2}), "argument: salience"),
        (
            json!({"content": "x", "valid_from": "2026-02-01", "valid_until": "2026-01-01"}),
            "argument: valid_until",
        ),
        (
            json!({"content": "x", "visibility": "public"}),
            "private, project or shared",
        ),
        (
            json!({"content": "x", "topic": "y".repeat(200)}),
            "argument: topic",
        ),
        (json!({"content": "x".repeat(8001)}), "argument: content"),
        (
            json!({"content": "x", "key": "k".repeat(300)}),
            "argument: key",
        ),
    ] {
        let said = mcp.fails("store", arguments.clone());
        assert!(said.contains(want), "{arguments}: {said}");
    }
    mcp.end();
    other.end();
}

#[test]
fn a_memory_is_changed_by_who_knows_its_revision_and_keeps_its_history() {
    let world = World::new();
    let (mut mcp, mut other) = agents(&world);
    let id = mcp.store("The gauge reads four");
    let changed = other.call(
        "update",
        json!({"id": &id[..18], "expected_revision": "1", "content": "The gauge reads five",
            "add_tags": "[\"Gauge\"]", "reason": "read again"}),
    );
    assert_eq!(changed["revision"], 2);
    let said = mcp.fails(
        "update",
        json!({"id": id, "expected_revision": 1, "content": "six"}),
    );
    assert!(said.contains("code: revision_conflict"), "{said}");
    assert!(said.contains("revision 2"), "{said}");
    let full = mcp.call(
        "get",
        json!({"ids": [id], "include": ["history", "sources"]}),
    );
    let memory = &full["memories"][0];
    assert_eq!(memory["content"], "The gauge reads five");
    assert_eq!(memory["tags"], json!(["gauge"]));
    assert_eq!(memory["history"][0]["content"], "The gauge reads four");
    assert_eq!(memory["history"][0]["replaced_by"], "second");
    assert_eq!(memory["history"][0]["reason"], "read again");
    assert_eq!(
        mcp.recall("what does the gauge read"),
        ["The gauge reads five"]
    );
    let same = mcp.call(
        "update",
        json!({"id": id, "expected_revision": 2, "add_tags": ["gauge"]}),
    );
    assert_eq!((&same["revision"], same.get("diff_id")), (&json!(2), None));
    for (arguments, want) in [
        (json!({"id": id}), "argument: expected_revision"),
        (
            json!({"id": "00000000", "expected_revision": 1}),
            "code: not_found",
        ),
        (
            json!({"id": "short", "expected_revision": 1}),
            "argument: id",
        ),
    ] {
        let said = mcp.fails("update", arguments.clone());
        assert!(said.contains(want), "{arguments}: {said}");
    }
    mcp.end();
    other.end();
}

#[test]
fn a_contradiction_is_listed_until_somebody_decides_it() {
    let world = World::new();
    let (mut mcp, mut other) = agents(&world);
    let left = mcp.store("The gateway listens on 8080");
    let right = other.store("The gateway never listens on 8080");
    let link =
        json!({"from": left, "to": right, "relation": "Contradicts", "reason": "one is wrong"});
    let edge = mcp.call("link", link.clone());
    assert_eq!(edge["outcome"], "created");
    assert_eq!(other.call("link", link)["outcome"], "unchanged");
    let hit = &other.call("recall", json!({"query": "gateway 8080"}))["hits"][0];
    assert_eq!(hit["conflict_id"], edge["conflict_id"]);
    let open = other.call("conflicts", json!({}));
    let conflict = &open["conflicts"][0];
    assert_eq!(conflict["conflict_id"], edge["conflict_id"]);
    assert_eq!(
        (&conflict["left"]["author"], &conflict["right"]["author"]),
        (&json!("default"), &json!("second"))
    );
    assert_eq!(conflict["why"], "one is wrong");

    let id = text(&edge["conflict_id"]);
    let said = other.fails("resolve", json!({"conflict_id": id, "verdict": "left"}));
    assert!(said.contains("argument: reason"), "{said}");
    let said = other.fails(
        "resolve",
        json!({"conflict_id": id, "verdict": "top", "reason": "x"}),
    );
    assert!(said.contains("left, right, both or neither"), "{said}");
    let decided = other.call(
        "resolve",
        json!({"conflict_id": id, "verdict": "LEFT", "reason": "tried it"}),
    );
    assert_eq!(decided["superseded"], json!([right]));
    let said = other.fails(
        "resolve",
        json!({"conflict_id": id, "verdict": "left", "reason": "x"}),
    );
    assert!(said.contains("code: conflict_closed"), "{said}");
    assert_eq!(other.call("conflicts", json!({}))["conflicts"], json!([]));
    assert_eq!(mcp.recall("gateway 8080"), ["The gateway listens on 8080"]);
    let all = mcp.call(
        "recall",
        json!({"query": "gateway 8080", "include_inactive": true}),
    );
    assert_eq!(all["matched"], 2);
    let back = mcp.call(
        "forget",
        json!({"ids": [right], "mode": "restore", "apply": true}),
    );
    assert_eq!(back["items"][0]["outcome"], "restore");
    assert_eq!(mcp.recall("gateway 8080").len(), 2);
    for (arguments, want) in [
        (
            json!({"from": left, "to": left, "relation": "supports"}),
            "argument: to",
        ),
        (
            json!({"from": left, "to": right, "relation": "likes"}),
            "supports, contradicts",
        ),
        (
            json!({"from": left, "to": right, "relation": "supports", "weight": 0}),
            "argument: weight",
        ),
        (
            json!({"from": left, "to": "ffffffff", "relation": "supports"}),
            "argument: to",
        ),
    ] {
        let said = mcp.fails("link", arguments.clone());
        assert!(said.contains(want), "{arguments}: {said}");
    }
    mcp.end();
    other.end();
}

#[test]
fn each_agent_has_one_voice_and_the_author_none() {
    let world = World::new();
    let (mut mcp, mut other) = agents(&world);
    let id = mcp.call(
        "store",
        json!({"content": "We ship Postgres", "type": "Decision"}),
    )["id"]
        .clone();
    let voices = |mcp: &mut Mcp| {
        let said = mcp.call(
            "confirm",
            json!({"ids": [id], "evidence": "seen in production"}),
        );
        let item = said["items"][0].clone();
        (
            text(&item["outcome"]).to_owned(),
            item["voices"].clone(),
            item["needed"].clone(),
        )
    };
    assert_eq!(voices(&mut mcp), ("author".to_owned(), json!(0), json!(2)));
    assert_eq!(
        voices(&mut other),
        ("confirmed".to_owned(), json!(1), json!(2))
    );
    assert_eq!(
        voices(&mut other),
        ("repeated".to_owned(), json!(1), json!(2))
    );
    let full = mcp.call("get", json!({"ids": [id], "include": "sources"}));
    let sources = &full["memories"][0]["sources"];
    assert_eq!(
        sources["confirmations"].as_array().unwrap().len(),
        2,
        "{full}"
    );
    assert!(full["memories"][0]["verified_at"].is_string());
    let said = mcp.fails("confirm", json!({"ids": ["ffffffff"]}));
    assert!(said.contains("code: not_found"), "{said}");
    let said = mcp.fails("confirm", json!({}));
    assert!(said.contains("argument: ids"), "{said}");
    mcp.end();
    other.end();
}

#[test]
fn forgetting_is_shown_first_and_erasing_needs_the_token_of_just_that() {
    let world = World::new();
    let mut mcp = Mcp::start(&world, Era::Modern);
    let id = mcp.store("The heron nests by the weir");
    let other = mcp.store("The owl nests in the barn");
    let forget = |more: Value| {
        let mut arguments = json!({"ids": [id]});
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        arguments
    };
    let shown = mcp.call("forget", forget(json!({})));
    assert_eq!(
        (&shown["applied"], &shown["items"][0]["outcome"]),
        (&json!(false), &json!("retract"))
    );
    assert_eq!(shown["items"][0]["preview"], "The heron nests by the weir");
    assert_eq!(mcp.recall("heron").len(), 1);
    mcp.call(
        "forget",
        forget(json!({"apply": true, "reason": "moved away"})),
    );
    assert_eq!(mcp.recall("heron"), [""; 0]);
    let again = mcp.call("forget", forget(json!({"apply": "true"})));
    assert_eq!(again["items"][0]["outcome"], "already_retracted");
    mcp.call("forget", forget(json!({"mode": "Restore", "apply": true})));
    assert_eq!(mcp.recall("heron").len(), 1);

    let erase = json!({"mode": "erase", "apply": true});
    let said = mcp.fails("forget", forget(erase.clone()));
    assert!(said.contains("code: confirmation_required"), "{said}");
    let preview = mcp.call("forget", json!({"ids": [id, "ffffffff"], "mode": "erase"}));
    assert_eq!(preview["items"][1]["outcome"], "not_found");
    let token = text(&preview["confirm"]);
    let said = mcp.fails(
        "forget",
        json!({"ids": [other], "mode": "erase", "apply": true, "confirm": token}),
    );
    assert!(said.contains("code: confirmation_required"), "{said}");
    let mut confirmed = forget(erase);
    confirmed["confirm"] = token.into();
    assert_eq!(
        mcp.call("forget", confirmed)["items"][0]["outcome"],
        "erase"
    );
    assert_eq!(mcp.recall("heron"), [""; 0]);
    assert_eq!(
        mcp.call("get", json!({"ids": [id]}))["missing"],
        json!([id])
    );
    mcp.end();
    let bytes = std::fs::read(world.database()).unwrap();
    assert!(
        !bytes.windows(5).any(|part| part == b"heron"),
        "erased text is still in the file"
    );
}

#[test]
fn agents_are_told_what_others_changed_since_last_time() {
    let world = World::new();
    let (mut mcp, mut other) = agents(&world);
    let id = mcp.store("The gauge reads four");
    let news = other.call("updates", json!({}));
    assert_eq!(news["diffs"][0]["summary"], "The gauge reads four");
    assert_eq!(news["diffs"][0]["kind"], "added");
    assert_eq!(mcp.call("updates", json!({}))["diffs"], json!([]));
    let cursor = text(&news["next_cursor"]).to_owned();
    mcp.call(
        "update",
        json!({"id": id, "expected_revision": 1, "content": "The gauge reads five"}),
    );
    mcp.call("forget", json!({"ids": [id], "apply": true}));
    let since = other.call("updates", json!({"cursor": cursor}));
    let kinds: Vec<&str> = since["diffs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|diff| text(&diff["kind"]))
        .collect();
    assert_eq!(kinds, ["revised", "retracted"]);
    let some = other.call(
        "updates",
        json!({"cursor": cursor, "kinds": "[\"Retracted\"]"}),
    );
    assert_eq!(some["diffs"].as_array().unwrap().len(), 1);
    let page = other.call("updates", json!({"cursor": cursor, "k": 1}));
    assert_eq!(
        (&page["more"], page["diffs"].as_array().unwrap().len()),
        (&json!(true), 1)
    );
    let rest = other.call("updates", json!({"cursor": page["next_cursor"], "k": 1}));
    assert_eq!(
        (&rest["more"], &rest["diffs"][0]["kind"]),
        (&json!(false), &json!("retracted"))
    );
    let said = other.fails("updates", json!({"cursor": "yesterday"}));
    assert!(said.contains("argument: cursor"), "{said}");
    for n in 0..60 {
        mcp.send_call(
            "store",
            json!({"content": format!("The gauge number {n} reads {n}")}),
        );
    }
    mcp.recall("gauge");
    let latest = other.call("updates", json!({"k": 5}));
    let summaries: Vec<&str> = latest["diffs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|diff| text(&diff["summary"]))
        .collect();
    let want: Vec<String> = (55..60)
        .map(|n| format!("The gauge number {n} reads {n}"))
        .collect();
    assert_eq!(summaries, want);
    mcp.end();
    other.end();
}

#[test]
fn another_tenants_and_another_projects_ids_are_as_unknown_as_made_up_ones() {
    let world = World::new();
    let mut mcp = Mcp::start(&world, Era::Legacy);
    let id = mcp.store("only here");
    let private = mcp.call(
        "store",
        json!({"content": "mine alone", "visibility": "private"}),
    )["id"]
        .clone();
    let mut elsewhere = world.hyphae();
    elsewhere.current_dir(world.directory("elsewhere"));
    let mut elsewhere = Mcp::start_with(&world, elsewhere);
    let mut second = world.hyphae();
    second.env("HYPHAE_API_KEY", world.another_key("second"));
    let mut second = Mcp::start_with(&world, second);
    for (mcp, id) in [(&mut elsewhere, json!(id)), (&mut second, private)] {
        for made_up in [json!("01a22cc7-88d3-74fe-93ff-7ab8221efb50"), id.clone()] {
            let get = mcp.call("get", json!({"ids": [made_up]}));
            assert_eq!(
                (&get["memories"], &get["missing"]),
                (&json!([]), &json!([made_up]))
            );
            let forgotten = mcp.call("forget", json!({"ids": [made_up], "apply": true}));
            assert_eq!(forgotten["items"][0]["outcome"], "not_found");
            for (tool, arguments) in [
                (
                    "update",
                    json!({"id": made_up, "expected_revision": 1, "content": "x"}),
                ),
                ("confirm", json!({"ids": [made_up]})),
                (
                    "link",
                    json!({"from": made_up, "to": made_up, "relation": "supports"}),
                ),
                ("conflicts", json!({"ids": [made_up]})),
                (
                    "resolve",
                    json!({"conflict_id": made_up, "verdict": "left", "reason": "x"}),
                ),
            ] {
                let said = mcp.fails(tool, arguments);
                assert!(said.contains("code: not_found"), "{tool}: {said}");
            }
        }
    }
    let work = world.work();
    let there = elsewhere.call("get", json!({"ids": [id], "project": work}));
    assert_eq!(there["memories"][0]["content"], "only here");
    for mcp in [mcp, elsewhere, second] {
        mcp.end();
    }
}
