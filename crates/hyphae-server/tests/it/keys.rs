//! `keys`: make, list, revoke, and what becomes of a revoked key.

use std::fs;

use pretty_assertions::assert_eq;

use crate::world::{World, key_at, mode, run};

/// The rows of `keys list`: id, state and name.
fn rows(world: &World) -> Vec<(String, String, String)> {
    let list = world.run(["keys", "list"]).well();
    let row = |line: &str| {
        let parts: Vec<&str> = line.splitn(4, "  ").collect();
        let [id, made, state, name] = parts.try_into().unwrap();
        assert!(made.ends_with('Z') && made.len() == 20, "{line}");
        (id.to_owned(), state.to_owned(), name.to_owned())
    };
    list.lines().map(row).collect()
}

fn states(world: &World) -> Vec<(String, String)> {
    let state = |(_, state, name): (String, String, String)| {
        let word = state.split(' ').next().unwrap();
        (name, word.to_owned())
    };
    rows(world).into_iter().map(state).collect()
}

fn named(name: &str, state: &str) -> (String, String) {
    (name.to_owned(), state.to_owned())
}

#[test]
fn a_new_key_is_printed_alone_and_works_and_is_not_kept() {
    let world = World::new();
    let first = world.key();
    let out = world.run(["keys", "create", "--name", "ci"]).well();
    assert_eq!(key_at(&out), Some(out.len() - 1), "{out}");
    assert_eq!(world.key(), first);
    let mut command = world.hyphae();
    command
        .args(["console", "/help"])
        .env("HYPHAE_API_KEY", out.trim());
    run(command, "").well();
    assert_eq!(
        states(&world),
        [named("default", "valid"), named("ci", "valid")]
    );
}

#[test]
fn a_list_shows_no_key() {
    let world = World::new();
    let list = world.run(["keys", "list"]).well();
    assert!(
        !list.contains("hyk_") && !list.contains(&world.key()[4..]),
        "{list}"
    );
}

#[test]
fn save_puts_the_new_key_in_the_place_of_the_old_one() {
    let world = World::new();
    let first = world.key();
    let out = world
        .run(["keys", "create", "--name", "second", "--save"])
        .well();
    assert_ne!(out.trim(), first);
    assert_eq!(out.trim(), world.key());
    assert_eq!(mode(&world.key_file()), 0o600);
    world.run(["console", "/help"]).well();
    let folder = world.key_file().parent().unwrap().to_owned();
    let left: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["key"], "no draft stays behind");
}

#[test]
fn a_revoked_key_is_refused_with_the_remedy_and_what_it_stored_stays() {
    let world = World::new();
    let doomed = world.another_key("doomed");
    let with_doomed = |text: &str| {
        let mut command = world.hyphae();
        command
            .args(["console", text])
            .env("HYPHAE_API_KEY", &doomed);
        run(command, "")
    };
    with_doomed("/store told before the end").well();
    let id = rows(&world).pop().unwrap().0;
    let out = world.run(["keys", "revoke", &id]).well();
    assert_eq!(out, format!("revoked {id} (doomed)\n"));
    assert_eq!(
        with_doomed("/help").refused(),
        "hyphae-server: HYPHAE_API_KEY was revoked; make a new one with `hyphae-server keys create --name NAME --save`"
    );
    assert_eq!(
        states(&world),
        [named("default", "valid"), named("doomed", "revoked")]
    );
    let found = world.run(["console", "told before the end"]).well();
    assert!(found.contains("told before the end"), "{found}");
    let first = rows(&world);
    world.run(["keys", "revoke", &id]).well();
    assert_eq!(rows(&world), first, "a second time it keeps its date");
}

#[test]
fn a_key_is_revoked_by_a_beginning_that_only_it_has() {
    let world = World::new();
    world.another_key("second");
    let all = rows(&world);
    let [first, second] = [0, 1].map(|n| all[n].0.clone());
    let common = first
        .bytes()
        .zip(second.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    assert!(
        common >= 8,
        "ids of one minute begin alike: {first} {second}"
    );
    for (id, want) in [
        (
            &second[..7],
            "a key's id has at least 8 characters here; see `hyphae-server keys list`",
        ),
        (
            "",
            "a key's id has at least 8 characters here; see `hyphae-server keys list`",
        ),
        (
            &second[..common],
            "several keys begin like this; give more of the id",
        ),
        (
            "00000000",
            "there is no key with this id; see `hyphae-server keys list`",
        ),
    ] {
        let line = world.run(["keys", "revoke", id]).refused();
        assert_eq!(line, format!("hyphae-server: {want}"), "{id}");
    }
    assert_eq!(rows(&world), all);
    let beginning = second[..=common].to_uppercase();
    world.run(["keys", "revoke", &beginning]).well();
    assert_eq!(
        states(&world),
        [named("default", "valid"), named("second", "revoked")]
    );
}

#[test]
fn somebody_who_revoked_the_last_key_can_make_another() {
    let world = World::new();
    let id = rows(&world).pop().unwrap().0;
    world.run(["keys", "revoke", &id]).well();
    let line = world.run(["console", "/help"]).refused();
    assert!(line.contains("was revoked"), "{line}");
    world
        .run(["keys", "create", "--name", "again", "--save"])
        .well();
    world.run(["console", "/help"]).well();
}

#[test]
fn a_name_that_cannot_be_shown_makes_no_key() {
    let world = World::new();
    let long = "n".repeat(101);
    for name in ["", "  ", "two\nlines", "a\u{7}bell", &long] {
        assert_eq!(
            world.run(["keys", "create", "--name", name]).refused(),
            "hyphae-server: a key's name is 1 to 100 characters without control characters"
        );
    }
    assert_eq!(states(&world), [named("default", "valid")]);
    world.run(["keys", "create", "--name", &long[..100]]).well();
}

#[test]
fn keys_of_no_database_name_the_remedy() {
    let world = World::empty();
    let line = world.run(["keys", "list"]).refused();
    assert_eq!(
        world.plain(&line),
        "hyphae-server: there is no database at <root>/home/.local/share/hyphae/hyphae.db; run `hyphae-server init`"
    );
}
