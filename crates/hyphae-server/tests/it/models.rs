//! Two embedding models: a database keeps to one, and `reembed` changes it.

use pretty_assertions::assert_eq;

use crate::world::{Done, World, id_of, run};

const OTHER_MODEL: &str = "error: these memories were embedded with `static-256-int8/1`, this process uses `minilm-l6-v2-int8/1`; start it with that embedder\n";

#[test]
fn another_model_is_not_mixed_in_and_reembedding_changes_all_memories() {
    let world = World::empty();
    world.run(["init", "--embedder", "static"]).well();
    let out = world
        .script("/store We ship Postgres for V1\n/store herons stand in the reeds\n")
        .well();
    let id = id_of(out.lines().next().unwrap()).to_owned();

    let with_other = |text: &str| {
        let mut command = world.hyphae();
        command
            .args(["console", text])
            .env("HYPHAE_EMBEDDER", "minilm")
            .env("HYPHAE_LOG", "off");
        run(command, "")
    };
    let done = with_other("Postgres");
    assert!(done.out.starts_with(&id) && done.out.contains("\nnote: searched by keywords only"));
    let want = Done {
        code: Some(1),
        out: OTHER_MODEL.to_owned(),
        err: String::new(),
    };
    assert_eq!(with_other("/store one more"), want);

    for made in [2, 0] {
        assert_eq!(
            world.run(["reembed", "--embedder", "minilm"]).well(),
            format!("{made} memories embedded anew\n")
        );
    }
    let out = world.run(["console", "We ship Postgres for V1"]).well();
    let first = format!("{id} distance=0.0000 type=Fact\nWe ship Postgres for V1\n");
    assert!(out.starts_with(&first), "{out}");
    let report = world.run(["doctor"]).well();
    assert!(
        report.contains("ok   memories: 2 in 1 projects"),
        "{report}"
    );
    assert!(
        report.contains("ok   model: minilm-l6-v2-int8/1"),
        "{report}"
    );
}
