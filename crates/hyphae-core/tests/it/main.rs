//! The memory engine over a real store, with an embedder whose vectors are known.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod changing;
mod console;
mod forgetting;
mod listing;
mod living;
mod masking;
mod reading;
mod recalling;
mod relating;
mod rig;
mod storing;
mod times;
mod topics;
mod voices;

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
