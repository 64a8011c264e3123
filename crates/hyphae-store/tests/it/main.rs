//! The contract suite over every database, what only a file can do, and what only a server can.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking, and a worker speaks on stdout"
)]

mod contract;
mod damage;
mod disk;
mod files;
mod first_look;
mod first_version;
mod locks;
mod old_file;
mod postgres;
mod processes;
mod races;
mod subject;
mod tombstones;
mod worker;

/// A module that is not named above would never run.
#[test]
fn no_file_is_forgotten() {
    let named = include_str!("main.rs");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        let line = format!("mod {module};");
        assert!(module == "main" || named.contains(&line), "{name}");
    }
}
