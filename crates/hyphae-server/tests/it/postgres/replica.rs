//! A server that only repeats what another one writes.

use std::process::Command;

use hyphae_testkit::postgres::{Release, Server};
use serde_json::json;

use crate::{
    mcp::Mcp,
    world::{World, run},
};

/// The program with its memories on a server.
fn on(world: &World, server: &Server) -> Command {
    let mut command = world.hyphae();
    command.env("DATABASE_URL", server.url());
    command
}

#[test]
fn a_replica_serves_recall_and_says_why_it_stores_nothing() {
    let Some(mut first) = Server::new(Release::Oldest, &["-A", "trust"]) else {
        return;
    };
    first.start("");
    let world = World::empty();
    let mut init = on(&world, &first);
    init.args(["init", "--embedder", "static"]);
    run(init, "").well();
    let mut writer = Mcp::start_with(&world, on(&world, &first));
    writer.store("herons stand in the reeds");
    let mut replica = first.replica();
    replica.start("");
    replica.catch_up(&first);
    let mut reader = Mcp::start_with(&world, on(&world, &replica));
    assert_eq!(reader.recall("herons"), ["herons stand in the reeds"]);
    // What is stored meanwhile arrives in a process that runs.
    writer.store("herons nest in April");
    replica.catch_up(&first);
    assert_eq!(reader.recall("herons").len(), 2);

    let why = "only repeats what another server writes";
    for (tool, arguments) in [
        ("store", json!({"content": "herons fish alone"})),
        (
            "store",
            json!({"content": "herons fish alone", "key": "a-name"}),
        ),
    ] {
        let said = reader.fails(tool, arguments);
        assert!(said.contains("code: store_unavailable"), "{said}");
        assert!(said.contains(why), "{said}");
    }
    assert_eq!(reader.recall("herons").len(), 2);
    // A console keeps its conversation, so it needs the server that is written to.
    for arguments in [
        &["console", "/recall herons"][..],
        &["keys", "create", "--name", "ana"],
        &["doctor"],
    ] {
        let mut command = on(&world, &replica);
        command.args(arguments);
        let done = run(command, "");
        assert_ne!(done.code, Some(0), "{done:?}");
        assert!(done.err.contains(why), "{done:?}");
    }
    for arguments in [&["audit"][..], &["keys", "list"], &["export", "all"]] {
        let mut command = on(&world, &replica);
        command.args(arguments);
        let done = run(command, "");
        assert_eq!(done.code, Some(0), "{arguments:?} {done:?}");
    }
    let exported = std::fs::read_to_string(world.work().join("all")).unwrap();
    assert!(exported.contains("herons nest in April"), "{exported}");

    // When the first server is lost, the replica takes its place.
    writer.end();
    first.kill();
    replica.promote();
    reader.store("herons fish alone");
    assert_eq!(reader.recall("herons").len(), 3);
    reader.end();
}
