//! How `acp-stdio` starts: whose key it is is proved before anything is answered, wherever the
//! proof lies at that moment.

use std::{
    fs,
    time::{Duration, SystemTime},
};

use pretty_assertions::assert_eq;

use crate::{
    agent::Agent,
    world::{Done, STRANGER, World, run},
};

const INITIALIZE: &str =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}\n";

/// Starts the console with this key, says hello and ends it.
fn hello(world: &World, key: &str) -> Done {
    let mut command = world.hyphae();
    command.arg("acp-stdio").env("HYPHAE_API_KEY", key);
    run(command, INITIALIZE)
}

/// Expects one answer, which is a greeting.
#[track_caller]
fn welcome(world: &World, key: &str) {
    let answer = hello(world, key).well();
    assert_eq!(answer.lines().count(), 1, "{answer}");
    assert!(answer.contains("\"protocolVersion\":1"), "{answer}");
}

/// Expects that it says on stderr what the console in a terminal says, and nothing else.
#[track_caller]
fn refused(world: &World, key: &str, why: &str) {
    let line = hello(world, key).refused();
    assert!(line.contains(why), "{line}");
    let mut console = world.hyphae();
    console
        .args(["console", "/help"])
        .env("HYPHAE_API_KEY", key);
    assert_eq!(run(console, "").refused(), line);
}

/// Makes the database look as if nobody had used it for an hour.
fn settle(world: &World) {
    let file = fs::File::options()
        .write(true)
        .open(world.database())
        .unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    file.set_modified(long_ago).unwrap();
}

/// The id of a key by its name.
fn id_of_key(world: &World, name: &str) -> String {
    let list = world.run(["keys", "list"]).well();
    let row = list.lines().find(|line| line.ends_with(name)).unwrap();
    row.split(' ').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_key_is_proved_at_every_start_whoever_else_uses_the_database() {
    let world = World::new();
    let doomed = world.another_key("doomed");
    let id = id_of_key(&world, "doomed");
    welcome(&world, &doomed);
    settle(&world);
    welcome(&world, &doomed);
    refused(&world, STRANGER, "is not known to this database");

    let mut other = Agent::start(&world).await;
    other.store("turnstones turn stones").await;
    welcome(&world, &doomed);
    let before = fs::read(world.database()).unwrap();
    world.run(["keys", "revoke", &id]).well();
    assert_eq!(
        fs::read(world.database()).unwrap(),
        before,
        "it is in the log"
    );
    refused(&world, &doomed, "was revoked");
    welcome(&world, &world.key());
    refused(&world, STRANGER, "is not known to this database");

    other.child.kill().await.unwrap();
    refused(&world, &doomed, "was revoked");
    settle(&world);
    refused(&world, &doomed, "was revoked");
    welcome(&world, &world.key());
}

#[test]
fn a_start_leaves_a_database_that_nobody_uses_as_it_is() {
    let world = World::new();
    settle(&world);
    let tree = || {
        let folder = world.database().parent().unwrap().to_owned();
        fs::read_dir(folder)
            .unwrap()
            .map(|entry| {
                let path = entry.unwrap().path();
                (path.clone(), fs::read(&path).unwrap())
            })
            .collect::<Vec<_>>()
    };
    let before = tree();
    assert_eq!(before.len(), 1);
    welcome(&world, &world.key());
    assert_eq!(tree(), before);
}

#[test]
fn a_database_that_cannot_be_used_is_told_before_anything_is_answered() {
    let world = World::new();
    let key = world.key();
    let sound = fs::read(world.database()).unwrap();
    let check = |bytes: &[u8], why: &str| {
        fs::write(world.database(), bytes).unwrap();
        refused(&world, &key, why);
        settle(&world);
        refused(&world, &key, why);
    };
    let with = |at: usize, byte: u8| {
        let mut bytes = sound.clone();
        bytes[at] = byte;
        bytes
    };
    // Bytes 60 to 63 of SQLite's header are the version of the tables, 68 to 71 whose they are.
    check(&with(63, 99), "made by a newer");
    check(&with(71, 7), "another program");
    check(&sound[..sound.len() / 2], "damaged");
    check(
        b"not a database at all, but longer than a header is; not a database at all, really",
        "damaged",
    );
    fs::remove_file(world.database()).unwrap();
    refused(&world, &key, "hyphae-server init");
    fs::write(world.database(), &sound).unwrap();
    welcome(&world, &key);
}
