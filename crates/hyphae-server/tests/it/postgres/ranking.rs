//! What a recall finds does not depend on where the memories are: in a file, on a server of
//! either release, with pgvector or without.

use std::{collections::BTreeSet, path::Path, process::Command};

use hyphae_testkit::postgres::Release;
use serde_json::{Value, json};

use crate::{
    mcp::Mcp,
    world::{World, run},
};

/// Sentences that people would store, many of them nearly the same.
fn sentences(file: &str) -> Vec<String> {
    let folder = "../hyphae-core/tests/data/contradiction";
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(folder)
        .join(file);
    let text = std::fs::read_to_string(file).unwrap();
    let mut seen = BTreeSet::new();
    let pairs = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    pairs
        .flat_map(|pair| ["a", "b"].map(|end| pair[end].as_str().unwrap().to_owned()))
        .filter(|sentence| seen.insert(sentence.clone()))
        .collect()
}

/// Asks all questions and returns the hits of each, with all that is said of them.
fn ask(world: &World, mut command: Command, questions: &[String]) -> Vec<Value> {
    command.env("HYPHAE_EMBEDDER", "static");
    let mut mcp = Mcp::start_with(world, command);
    let answers = questions
        .iter()
        .map(|question| {
            let arguments = json!({"query": question, "k": 20, "max_tokens": 20000});
            mcp.call("recall", arguments)["hits"].take()
        })
        .collect();
    mcp.end();
    answers
}

#[test]
fn hits_their_order_and_their_distances_are_the_same_everywhere() {
    let mut servers = Vec::new();
    for (release, extension) in [
        (Release::Newest, "create extension vector"),
        (Release::Newest, "select 1"),
        (Release::Oldest, "select 1"),
    ] {
        let Some(server) = World::empty_on(release) else {
            return;
        };
        server.run(["init", "--embedder", "static"]).well();
        server.sql(extension);
        servers.push(server);
    }
    let extensions =
        |server: &World| server.sql("select count(*) from pg_extension where extname = 'vector'");
    let with: Vec<String> = servers.iter().map(extensions).collect();
    assert_eq!(with, ["1", "0", "0"]);

    let file = World::empty();
    let database = format!("sqlite:{}", file.database().display());
    let in_file = || {
        let mut command = file.hyphae();
        command.env("DATABASE_URL", &database);
        command
    };
    let mut init = in_file();
    init.args(["init", "--embedder", "static"]);
    run(init, "").well();
    let mut mcp = Mcp::start_with(&file, in_file());
    for sentence in sentences("held_out.jsonl").into_iter().step_by(6) {
        mcp.call("store", json!({"content": sentence}));
    }
    mcp.end();
    for server in &servers {
        let mut copy = in_file();
        let to = server.address().unwrap();
        copy.args(["copy", "--from", &database, "--to", &to]);
        run(copy, "").well();
    }

    let questions: Vec<String> = sentences("dev.jsonl").into_iter().step_by(30).collect();
    assert!(questions.len() > 40, "{}", questions.len());
    let want = ask(&file, in_file(), &questions);
    let found = want
        .iter()
        .filter(|hits| hits.as_array().unwrap().len() > 5);
    assert!(found.count() > 30);
    for (n, server) in servers.iter().enumerate() {
        let mut command = server.hyphae();
        command.env("HYPHAE_PROJECT", file.work());
        let got = ask(server, command, &questions);
        for (question, (got, want)) in questions.iter().zip(got.iter().zip(&want)) {
            assert_eq!(got, want, "server {n}: {question}");
        }
    }
}
