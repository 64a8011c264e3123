//! Machines whose clocks are hours apart: what comes after what is decided on the server.

use std::process::Command;

use hyphae_testkit::postgres::Release;
use serde_json::json;

use crate::{
    mcp::Mcp,
    world::{BINARY, World, run},
};

/// The program on a machine whose clock is wrong by so much.
fn at(world: &World, offset: &str) -> Command {
    let mut command = world.command("faketime");
    command
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        .args(["-f", offset, BINARY]);
    command
}

#[test]
fn clocks_that_are_hours_apart_change_neither_order_nor_what_is_the_same() {
    let Some(world) = World::empty_on(Release::Newest) else {
        return;
    };
    world.run(["init", "--embedder", "static"]).well();
    let mut ahead = Mcp::start_with(&world, at(&world, "+7h"));
    let mut behind = Mcp::start_with(&world, at(&world, "-7h"));
    let mut right = Mcp::start_with(&world, world.hyphae());
    let store = |mcp: &mut Mcp, content: &str, key: &str| {
        let stored = mcp.call("store", json!({"content": content, "key": key}));
        (stored["id"].clone(), stored["outcome"].clone())
    };
    let (id, outcome) = store(&mut ahead, "dunlins feed on the mud", "one");
    assert_eq!(outcome, "created");
    // The same words, and the same name of a request, on a clock that is long before.
    for (content, key) in [("dunlins feed on the mud", "two"), ("other words", "one")] {
        let (same, outcome) = store(&mut behind, content, key);
        assert_eq!(same, id, "{content}");
        assert_ne!(outcome, "created", "{content}");
    }
    store(&mut behind, "knots fly in dense flocks", "three");
    store(&mut ahead, "godwits come in April", "four");
    for mcp in [&mut ahead, &mut behind, &mut right] {
        for (query, content) in [
            ("dunlins", "dunlins feed on the mud"),
            ("knots", "knots fly in dense flocks"),
            ("godwits", "godwits come in April"),
        ] {
            assert_eq!(mcp.recall(query)[0], content);
        }
    }
    // A change from behind follows one from ahead, and none is lost.
    for (revision, mcp, content) in [
        (1, &mut ahead, "dunlins feed on the wet mud"),
        (2, &mut behind, "dunlins feed at low tide"),
        (3, &mut right, "dunlins feed at night"),
    ] {
        let revised = json!({"id": id, "expected_revision": revision, "content": content});
        mcp.call("update", revised);
        assert_eq!(mcp.recall("dunlins")[0], content);
    }
    for mcp in [ahead, behind, right] {
        mcp.end();
    }
    let order = world.sql(
        "select string_agg(revision::text, ' ' order by revision), count(*) filter (where
            updated_at < (select min(created_at) from cells c where c.cell_id = r.cell_id))
            from revisions r",
    );
    assert_eq!(order, "1 2 3|0");
    assert_eq!(
        world.sql("select count(*), count(distinct content) from cells"),
        "3|3"
    );
    // Three memories, and one more name for the first of them.
    let mut command = at(&world, "-7h");
    command.arg("audit");
    let audit = run(command, "").well();
    let stores = audit.lines().filter(|line| line.contains("store"));
    assert_eq!(stores.count(), 4, "{audit}");
}
