//! Secrets: neither the log nor the database nor the history holds one.

use std::{fs, path::Path};

use hyphae_acp::Shown;
use pretty_assertions::assert_eq;

use crate::{
    agent::Agent,
    world::{World, id_of, run},
};

/// A word that occurs nowhere else.
const MARKER: &str = "quillwortmarker7431";

/// Looks like a token, put together here so that none lies in the repository.
fn token() -> String {
    let body: String = "a1B2c3D4e5F6g7H8i9J0k".chars().cycle().take(36).collect();
    format!("ghp_{body}")
}

fn holds(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

/// Returns all that lies in the database's folder.
fn database(world: &World) -> Vec<(String, Vec<u8>)> {
    let folder = world.database().parent().unwrap().to_owned();
    let read = |path: &Path| (path.display().to_string(), fs::read(path).unwrap());
    let files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| read(&entry.unwrap().path()))
        .collect();
    assert!(files.iter().any(|(name, _)| name.ends_with("hyphae.db")));
    files
}

/// The bytes of a key's hexadecimal digits.
fn raw(key: &str) -> Vec<u8> {
    let digits = key.strip_prefix("hyk_").unwrap().as_bytes();
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap() as u8;
    digits
        .chunks(2)
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}

/// Says things that hold secrets, in every place where a person may put one.
async fn conversation(agent: &mut Agent) {
    let token = token();
    let answer = agent
        .one(&format!("/store {MARKER} the deploy token is {token}"))
        .await;
    let id = id_of(&answer);
    assert_eq!(
        answer,
        format!("stored {id}\n1 secret was masked before it was stored")
    );
    let found = agent.recall(MARKER).await;
    assert_eq!(
        found[0].content,
        format!("{MARKER} the deploy token is [masked GitHub token]")
    );
    agent
        .say(&format!("whose is {token}, {MARKER}"))
        .await
        .unwrap();
    for wrong in [
        format!("/store --type {token} x"),
        format!("/store --{token} x"),
        format!("/{token}"),
        format!("/recall --k {token} {MARKER}"),
    ] {
        let answer = agent.one(&wrong).await;
        assert!(answer.starts_with("error: "), "{answer}");
        assert!(!answer.contains(&token), "{answer}");
    }
}

#[tokio::test]
async fn a_full_log_holds_no_key_no_memory_and_no_question() {
    let world = World::new();
    let mut command = world.hyphae();
    command
        .env("HYPHAE_LOG", "trace")
        .env("HYPHAE_API_KEY", world.key());
    let mut agent = Agent::start_with(&world, command).await;
    conversation(&mut agent).await;
    agent.end().await;
    let log = fs::read(Agent::log(&world)).unwrap();
    assert!(holds(&log, b"initialize"), "it is a log");
    let key = world.key();
    for (what, needle) in [
        ("the key", key.as_bytes()),
        ("the key's digits", &key.as_bytes()[4..]),
        ("the key's bytes", &raw(&key)),
        ("the memory", MARKER.as_bytes()),
        ("the token", token().as_bytes()),
    ] {
        assert!(!holds(&log, needle), "the log holds {what}");
    }
}

#[tokio::test]
async fn the_database_holds_no_key_and_no_masked_secret() {
    let world = World::new();
    let mut agent = Agent::start(&world).await;
    conversation(&mut agent).await;
    let key = world.key();
    let check = |when: &str| {
        let files = database(&world);
        let marked = files
            .iter()
            .any(|(_, bytes)| holds(bytes, MARKER.as_bytes()));
        assert!(marked, "{when}: the memory itself is there");
        for (name, bytes) in files {
            for (what, needle) in [
                ("the key's digits", &key.as_bytes()[4..]),
                ("the key's bytes", &raw(&key)),
                ("the token", token().as_bytes()),
            ] {
                assert!(!holds(&bytes, needle), "{when}: {name} holds {what}");
            }
        }
    };
    check("while it runs");
    agent.end().await;
    check("after its end");
}

#[tokio::test]
async fn a_conversation_is_replayed_and_listed_without_its_secrets() {
    let world = World::new();
    let mut agent = Agent::start(&world).await;
    conversation(&mut agent).await;
    let (session, cwd) = (agent.session, agent.cwd.clone());
    let rows = agent.client.list_sessions(None).await.unwrap();
    let title = rows[0].title.clone().unwrap();
    assert!(title.contains(MARKER) && !title.contains("ghp_"), "{title}");
    agent.client.close_session(session).await.unwrap();
    let mut words = Vec::new();
    let replayed = agent.client.load_session(session, &cwd, |shown| {
        if let Shown::User { text, .. } | Shown::Text { text, .. } = shown {
            words.push(text);
        }
    });
    replayed.await.unwrap();
    assert!(words.len() >= 12, "{words:?}");
    assert!(
        words.iter().all(|text| !text.contains(&token())),
        "{words:?}"
    );
    agent.end().await;
}

#[test]
fn refusals_repeat_neither_key_nor_password() {
    let world = World::new();
    let key = world.another_key("doomed");
    for (name, value, secret) in [
        ("HYPHAE_API_KEY", format!("{key}0"), key.as_str()),
        ("HYPHAE_API_KEY", key.to_uppercase(), &key.to_uppercase()),
        (
            "DATABASE_URL",
            "postgres://me:hunter2@h/db".into(),
            "hunter2",
        ),
    ] {
        for arguments in [["console", "/help"], ["keys", "list"]] {
            let mut command = world.hyphae();
            command
                .args(arguments)
                .env(name, &value)
                .env("HYPHAE_LOG", "trace");
            let done = run(command, "");
            let said = format!("{}{}", done.out, done.err);
            assert!(!said.contains(secret), "{arguments:?} {name}: {said}");
        }
    }
}
