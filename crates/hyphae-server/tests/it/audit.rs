//! `audit`: every write has a row, and rows are found.

use pretty_assertions::assert_eq;
use serde_json::Value;

use crate::world::{World, run};

fn rows(world: &World, arguments: &[&str]) -> Vec<Value> {
    let mut command = world.hyphae();
    command.args(["audit", "--json"]).args(arguments);
    let out = run(command, "").well();
    let rows = out.lines().map(|line| serde_json::from_str(line).unwrap());
    rows.collect()
}

fn subjects(rows: &[Value]) -> Vec<&str> {
    let subjects = rows.iter().map(|row| row["subjects"][0].as_str().unwrap());
    subjects.collect()
}

#[test]
fn each_write_is_told_newest_first_with_who_where_and_which_diff() {
    let world = World::new();
    let first = world.store("We ship on Thursdays");
    let second = world.store("The database is Postgres");
    world.run(["console", "/recall database"]).well();
    let all = rows(&world, &[]);
    assert_eq!(subjects(&all), [&second, &first], "a recall is no write");
    for row in &all {
        assert_eq!(row["action"], "store");
        assert_eq!(row["name"], "default");
        assert!(row["session"].is_string(), "{row}");
        assert_eq!(row["diffs"].as_array().unwrap().len(), 1, "{row}");
        assert!(!row.to_string().contains("Postgres"), "{row}");
    }
    let text = world.run(["audit", "--limit", "1"]).well();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains(&second) && text.contains("default"), "{text}");
}

#[test]
fn rows_are_narrowed_by_what_is_asked() {
    let world = World::new();
    let first = world.store("We ship on Thursdays");
    let second = world.store("The database is Postgres");
    let project = world.work().canonicalize().unwrap();
    let project = project.to_str().unwrap();
    assert_eq!(subjects(&rows(&world, &["--about", &first])), [&first]);
    let limited = rows(&world, &["--limit", "1"]);
    assert_eq!(subjects(&limited), [&second]);
    let mine = ["--by", "default", "--action", "store", "--since", "1h"];
    assert_eq!(rows(&world, &mine).len(), 2);
    assert_eq!(rows(&world, &["--project", project]).len(), 2);
    for none in [
        ["--action", "erase"],
        ["--until", "1h"],
        ["--project", "elsewhere"],
    ] {
        assert_eq!(rows(&world, &none), [Value::Null; 0], "{none:?}");
    }
}

#[test]
fn what_cannot_be_asked_is_refused_with_what_can() {
    let world = World::new();
    for (arguments, told) in [
        (["audit", "--by", "nobody"], "keys list"),
        (["audit", "--since", "yesterday"], "2h or 3d"),
        (["audit", "--action", "steal"], "store, update"),
        (["audit", "--about", "01a2"], "--about"),
    ] {
        let done = world.run(arguments);
        assert_eq!((done.code, done.out.as_str()), (Some(2), ""), "{done:?}");
        assert!(done.err.contains(told), "{arguments:?}: {}", done.err);
    }
}
