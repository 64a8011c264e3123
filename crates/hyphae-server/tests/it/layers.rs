//! The rules of ARCHITECTURE.md and CONTRIBUTING.md that a program can check.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use pretty_assertions::assert_eq;
use serde_json::Value;

use crate::world::launcher;

/// Which crates of ours a crate may use outside of its tests.
const OURS: [(&str, &[&str]); 9] = [
    ("hyphae-core", &[]),
    ("hyphae-store", &["hyphae-core"]),
    ("hyphae-embed", &["hyphae-core"]),
    ("hyphae-keeper", &["hyphae-core"]),
    ("hyphae-acp", &["hyphae-core", "hyphae-keeper"]),
    ("hyphae-transfer", &["hyphae-core"]),
    ("hyphae-mcp", &["hyphae-core"]),
    (
        "hyphae-server",
        &[
            "hyphae-core",
            "hyphae-store",
            "hyphae-embed",
            "hyphae-acp",
            "hyphae-keeper",
            "hyphae-mcp",
            "hyphae-transfer",
        ],
    ),
    ("hyphae-testkit", &["hyphae-core"]),
];

/// Crates that the table of ARCHITECTURE.md does not bound.
const UNBOUNDED: [&str; 2] = ["hyphae-server", "hyphae-testkit"];

/// Helpers that any crate may use without a line in that table: they decide nothing about what
/// a crate knows of the outside.
const HELPERS: [&str; 10] = [
    "async-trait",
    "getrandom",
    "jiff",
    "memchr",
    "serde",
    "serde_json",
    "thiserror",
    "tokio-util",
    "tracing",
    "uuid",
];

/// The longest source file, in lines; about 500 is what to aim at.
const MOST_LINES: usize = 700;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// The dependencies of each crate of ours, outside of tests and builds.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let mut command = launcher(env!("CARGO").as_ref());
    command
        .args([
            "metadata",
            "--offline",
            "--no-deps",
            "--format-version",
            "1",
        ])
        .current_dir(root());
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    packages
        .iter()
        .map(|package| {
            let names = package["dependencies"].as_array().unwrap().iter();
            let names = names
                .filter(|dependency| dependency["kind"].is_null())
                .map(|dependency| dependency["name"].as_str().unwrap().to_owned());
            (
                package["name"].as_str().unwrap().to_owned(),
                names.collect(),
            )
        })
        .collect()
}

/// The table of crates in ARCHITECTURE.md: what stands in the first and in the last column.
fn table() -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    text.lines()
        .filter_map(|line| line.strip_prefix("| `hyphae-"))
        .filter(|row| row.matches('|').count() == 3)
        .map(|row| {
            let (name, rest) = row.split_once('`').unwrap();
            let last = rest
                .trim_end_matches(['|', ' '])
                .rsplit_once('|')
                .unwrap()
                .1;
            (format!("hyphae-{name}"), last.trim().to_owned())
        })
        .collect()
}

#[test]
fn our_crates_know_only_those_below_them() {
    let all = dependencies();
    let found: BTreeMap<&str, BTreeSet<&str>> = all
        .iter()
        .map(|(name, names)| {
            let ours = names.iter().map(String::as_str);
            (
                name.as_str(),
                ours.filter(|name| name.starts_with("hyphae-")).collect(),
            )
        })
        .collect();
    let allowed: BTreeMap<&str, BTreeSet<&str>> = OURS
        .iter()
        .map(|(name, names)| (*name, names.iter().copied().collect()))
        .collect();
    assert_eq!(found, allowed);
}

#[test]
fn the_map_names_every_crate() {
    let named: BTreeSet<String> = table().into_iter().map(|(name, _)| name).collect();
    assert_eq!(named, dependencies().into_keys().collect());
}

#[test]
fn the_map_names_what_each_crate_uses_of_others() {
    let all = dependencies();
    let mut missing = Vec::new();
    for (name, column) in table() {
        if UNBOUNDED.contains(&name.as_str()) {
            continue;
        }
        let listed: Vec<&str> = column
            .split([',', ' ', '`', ';'])
            .chain(HELPERS)
            .filter(|word| !word.is_empty())
            .collect();
        for used in all[&name]
            .iter()
            .filter(|used| !used.starts_with("hyphae-"))
        {
            let is_listed = listed.iter().any(|word| match word.strip_suffix('*') {
                Some(head) => used.starts_with(head),
                None => used == word,
            });
            if !is_listed {
                missing.push(format!("{name}: {used}"));
            }
        }
    }
    assert_eq!(
        missing, [""; 0],
        "used, but not in the table of ARCHITECTURE.md"
    );
}

/// All Rust files below a folder.
pub(crate) fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn crates() -> Vec<PathBuf> {
    let folder = root().join("crates");
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    found.sort();
    assert_eq!(found.len(), OURS.len());
    found
}

#[test]
fn no_source_file_is_too_long() {
    let root = root();
    let mut long = Vec::new();
    for file in crates()
        .iter()
        .flat_map(|folder| sources(&folder.join("src")))
    {
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        if lines > MOST_LINES {
            long.push(format!(
                "{} has {lines} lines",
                file.strip_prefix(&root).unwrap().display()
            ));
        }
    }
    assert_eq!(long, [""; 0]);
}

#[test]
fn no_test_file_is_forgotten() {
    let mut forgotten = Vec::new();
    for folder in crates() {
        let folder = folder.join("tests/it");
        for file in sources(&folder) {
            // A module's declaration stands in main.rs, or in the file of the module above it.
            let inside = file.strip_prefix(&folder).unwrap();
            let name = inside.file_stem().unwrap().to_str().unwrap();
            let module = if name == "mod" {
                inside
                    .parent()
                    .unwrap()
                    .file_name()
                    .unwrap()
                    .to_str()
                    .unwrap()
            } else {
                name
            };
            let above = match inside.parent().filter(|_| name != "mod") {
                Some(parent) if parent.components().next().is_some() => {
                    folder.join(parent).with_extension("rs")
                }
                _ => folder.join("main.rs"),
            };
            let above = fs::read_to_string(above).unwrap_or_default();
            if name != "main" && !above.contains(&format!("mod {module};")) {
                forgotten.push(file.display().to_string());
            }
        }
    }
    assert_eq!(forgotten, [""; 0]);
}
