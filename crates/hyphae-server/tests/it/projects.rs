//! What memories are filed under: the directory, a linked name, or `HYPHAE_PROJECT`.

use std::{fs, os::unix::fs::symlink, path::Path};

use pretty_assertions::assert_eq;

use crate::world::{World, run};

/// Runs a console command in a directory.
fn console(world: &World, directory: &Path, text: &str) -> String {
    let mut command = world.hyphae();
    command.args(["console", text]).current_dir(directory);
    run(command, "").well()
}

/// Tells whether a memory is found from a directory.
fn found(world: &World, directory: &Path, content: &str) -> bool {
    let out = console(world, directory, content);
    assert!(out == "no results\n" || out.contains(content), "{out}");
    out != "no results\n"
}

#[test]
fn directories_are_apart_until_one_name_links_them() {
    let world = World::new();
    let [here, there, below] =
        ["here", "there", "there/deep/below"].map(|name| world.directory(name));
    let (here_text, there_text) = (here.to_str().unwrap(), there.to_str().unwrap());
    console(&world, &here, "/store the boiler was told before the link");
    assert!(!found(
        &world,
        &there,
        "the boiler was told before the link"
    ));

    assert_eq!(world.run(["project", "list"]).well(), "");
    assert_eq!(
        world.run(["project", "link", "atlas", here_text]).well(),
        format!("{here_text} -> atlas\n")
    );
    world.run(["project", "link", "atlas", there_text]).well();
    assert_eq!(
        world.run(["project", "list"]).well(),
        format!("{here_text} -> atlas\n{there_text} -> atlas\n")
    );
    console(&world, &here, "/store herons nest by the weir");
    for directory in [&here, &there, &below] {
        assert!(found(&world, directory, "herons nest by the weir"));
        // What was stored under the directory's own name stays there.
        assert!(!found(
            &world,
            directory,
            "the boiler was told before the link"
        ));
    }
    assert!(!found(&world, &world.work(), "herons nest by the weir"));

    assert_eq!(
        world.run(["project", "unlink", here_text]).well(),
        format!("{here_text} is no longer atlas\n")
    );
    assert!(!found(&world, &here, "herons nest by the weir"));
    assert!(found(&world, &here, "the boiler was told before the link"));
    assert!(found(&world, &there, "herons nest by the weir"));
}

#[test]
fn a_link_is_changed_by_linking_again_and_the_former_name_is_told() {
    let world = World::new();
    let here = world.work().display().to_string();
    world.run(["project", "link", "old", "."]).well();
    assert_eq!(
        world.run(["project", "link", "new", "."]).well(),
        format!("{here} -> new (was old)\n")
    );
    assert_eq!(
        world.run(["project", "list"]).well(),
        format!("{here} -> new\n")
    );
}

#[test]
fn a_directory_is_the_same_by_any_path() {
    let world = World::new();
    let real = world.directory("real");
    let other = world.home().join("other");
    symlink(&real, &other).unwrap();
    world
        .run(["project", "link", "named", other.to_str().unwrap()])
        .well();
    console(&world, &real, "/store otters swim upstream");
    assert!(found(&world, &other, "otters swim upstream"));
    assert_eq!(
        world.run(["project", "list"]).well(),
        format!("{} -> named\n", real.display())
    );
}

#[test]
fn a_link_to_a_directory_that_has_gone_can_be_undone() {
    let world = World::new();
    let gone = world.directory("gone");
    let path = gone.to_str().unwrap();
    world.run(["project", "link", "named", path]).well();
    fs::remove_dir(&gone).unwrap();
    world.run(["project", "unlink", path]).well();
    assert_eq!(world.run(["project", "list"]).well(), "");
}

#[test]
fn what_cannot_be_linked_is_refused_and_nothing_changes() {
    let world = World::new();
    world.run(["project", "link", "kept", "."]).well();
    let list = world.run(["project", "list"]).well();
    for (arguments, want) in [
        (
            ["link", "name", "nowhere"],
            "the directory nowhere: No such file or directory (os error 2)",
        ),
        (
            ["link", " ", "."],
            "a project's name is 1 to 4096 bytes without control characters",
        ),
        (
            ["link", "a\nb", "."],
            "a project's name is 1 to 4096 bytes without control characters",
        ),
        (
            ["unlink", "--", ".."],
            "<root> is not linked; see `hyphae-server project list`",
        ),
    ] {
        let [verb, name, path] = arguments;
        let line = world.run(["project", verb, name, path]).refused();
        assert_eq!(world.plain(&line), format!("hyphae-server: {want}"));
    }
    assert_eq!(world.run(["project", "list"]).well(), list);
}

#[test]
fn a_name_in_the_environment_comes_before_links_and_directories() {
    let world = World::new();
    let [here, there] = ["here", "there"].map(|name| world.directory(name));
    world
        .run(["project", "link", "linked", there.to_str().unwrap()])
        .well();
    let named = |directory: &Path, project: &str, text: &str| {
        let mut command = world.hyphae();
        command
            .args(["console", text])
            .current_dir(directory)
            .env("HYPHAE_PROJECT", project);
        run(command, "")
    };
    named(&here, "team", "/store swifts return in May").well();
    let out = named(&there, "team", "swifts return in May").well();
    assert!(out.contains("swifts return in May"), "{out}");
    for directory in [&here, &there] {
        assert!(!found(&world, directory, "swifts return in May"));
    }
    // An empty name is none, and what is no name is refused.
    let out = named(&here, "", "swifts return in May").well();
    assert_eq!(out, "no results\n");
    assert_eq!(
        named(&here, "a\u{7}b", "/help").refused(),
        "hyphae-server: HYPHAE_PROJECT: a project's name is 1 to 4096 bytes without control characters"
    );
}

#[test]
fn links_that_cannot_be_read_stop_the_console_instead_of_filing_elsewhere() {
    let world = World::new();
    world.run(["project", "link", "kept", "."]).well();
    let file = world.key_file().with_file_name("projects.json");
    fs::write(&file, "{ \"links\": ").unwrap();
    for arguments in [["console", "/help"], ["project", "list"]] {
        let line = world.run(arguments).refused();
        let want = "hyphae-server: the project links <root>/home/.config/hyphae/projects.json cannot be read: ";
        assert!(world.plain(&line).starts_with(want), "{line}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "{ \"links\": ");
}
