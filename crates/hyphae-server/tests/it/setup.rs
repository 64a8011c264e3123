//! `setup`: entries for four editors, printed or written.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::world::{BINARY, Done, World, run};

/// An editor, where its entry is kept, and what is there before.
const EDITORS: [(&str, &str, &str); 4] = [
    (
        "zed",
        ".config/zed/settings.json",
        "// mine\n{\n  \"theme\": \"One\" // dark\n}\n",
    ),
    (
        "jetbrains",
        ".jetbrains/acp.json",
        "{\n  \"agent_servers\": {\n    /* other */ \"Other\": { \"command\": \"x\" }\n  }\n}\n",
    ),
    (
        "acpx",
        ".acpx/config.json",
        "{ \"defaultAgent\": \"codex\" }\n",
    ),
    (
        "neovim",
        ".config/nvim/lua/hyphae.lua",
        "return 1 -- mine\n",
    ),
];

fn backup(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap().to_str().unwrap();
    file.with_file_name(format!("{name}.before-hyphae"))
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Starts the console as an entry says and asks it for its version of the protocol.
fn start(world: &World, argv: &[&str], env: &Value) {
    let mut command = world.command(argv[0]);
    command.args(&argv[1..]);
    for (name, value) in env.as_object().unwrap() {
        command.env(name, value.as_str().unwrap());
    }
    let ask = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}\n";
    let answer: Value = serde_json::from_str(&run(command, ask).well()).unwrap();
    assert_eq!(answer["result"]["protocolVersion"], 1);
}

fn entry(editor: &str, settings: &str) -> Value {
    let plain: String = settings
        .lines()
        .filter(|line| !line.starts_with("# ") && !line.starts_with("//"))
        .map(|line| line.split(" // ").next().unwrap())
        .collect();
    let plain = plain.replace("/* other */", "");
    let settings: Value = serde_json::from_str(&plain).unwrap();
    match editor {
        "acpx" => settings["agents"]["hyphae"].clone(),
        _ => settings["agent_servers"]["Hyphae"].clone(),
    }
}

fn argv(entry: &Value) -> Vec<&str> {
    if let Some(argv) = entry["argv"].as_array() {
        return argv.iter().map(|word| word.as_str().unwrap()).collect();
    }
    let args = entry["args"].as_array().unwrap();
    let command = entry["command"].as_str();
    command
        .into_iter()
        .chain(args.iter().map(|word| word.as_str().unwrap()))
        .collect()
}

#[test]
fn an_entry_is_printed_with_its_place_and_nothing_is_written() {
    let world = World::empty();
    for (editor, file, _) in EDITORS {
        let out = world.run(["setup", editor]).well();
        let place = format!("# {}", world.home().join(file).display());
        assert_eq!(out.lines().next(), Some(place.as_str()));
        assert!(out.contains(BINARY) && out.contains("acp-stdio"), "{out}");
    }
    assert_eq!(names(&world.home()), [""; 0]);
}

#[test]
fn the_entries_are_what_each_editor_reads() {
    let world = World::empty();
    let plain = json!({ "command": BINARY, "args": ["acp-stdio"], "env": {} });
    let mut typed = plain.clone();
    typed["type"] = json!("custom");
    for (editor, want) in [
        ("zed", typed),
        ("jetbrains", plain),
        ("acpx", json!({ "argv": [BINARY, "acp-stdio"] })),
    ] {
        let out = world.run(["setup", editor]).well();
        assert_eq!(entry(editor, &out), want, "{editor}");
    }
    let out = world.run(["setup", "neovim"]).well();
    assert!(
        out.contains(&format!("M.command = {{ \"{BINARY}\", \"acp-stdio\" }}")),
        "{out}"
    );
    assert!(out.contains("require(\"hyphae\").codecompanion"), "{out}");
}

#[test]
fn a_new_file_is_made_and_a_second_run_changes_nothing() {
    for (editor, file, _) in EDITORS {
        let world = World::empty();
        let file = world.home().join(file);
        let first = world.run(["setup", editor, "--write"]).well();
        let text = fs::read_to_string(&file).unwrap();
        for line in text.lines() {
            assert!(first.contains(&format!("+{line}\n")), "{editor}: {line}");
        }
        assert!(
            first.contains(&format!("wrote {}\n", file.display())),
            "{first}"
        );
        let again = world.run(["setup", editor, "--write"]).well();
        let want = format!("{} is up to date", file.display());
        assert_eq!(again.lines().next(), Some(want.as_str()));
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert_eq!(
            names(file.parent().unwrap()).len(),
            1,
            "{editor}: no backup of nothing"
        );
    }
}

#[test]
fn a_file_with_other_things_keeps_them_and_its_former_text() {
    for (editor, file, before) in EDITORS {
        let world = World::empty();
        let file = world.home().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, before).unwrap();
        let out = world.run(["setup", editor, "--write"]).well();
        let after = fs::read_to_string(&file).unwrap();
        assert_eq!(
            fs::read_to_string(backup(&file)).unwrap(),
            before,
            "{editor}"
        );
        assert!(out.contains(&backup(&file).display().to_string()), "{out}");
        let header = format!("--- {0}\n+++ {0}\n@@ ", file.display());
        assert!(out.starts_with(&header), "{editor}: {out}");
        assert!(
            out.lines()
                .any(|line| line.starts_with('+') && line.contains(BINARY)),
            "{out}"
        );
        if editor == "neovim" {
            assert!(out.contains("-return 1 -- mine\n"), "{out}");
        } else {
            for part in [
                "// mine",
                "\"theme\": \"One\"",
                "// dark",
                "/* other */",
                "\"Other\"",
                "codex",
            ] {
                assert_eq!(
                    after.contains(part),
                    before.contains(part),
                    "{editor}: {part}"
                );
            }
        }
        world.run(["setup", editor, "--write"]).well();
        assert_eq!(fs::read_to_string(&file).unwrap(), after, "{editor}");
        assert_eq!(
            names(file.parent().unwrap()).len(),
            2,
            "{editor}: one backup"
        );
    }
}

#[test]
fn what_was_written_starts_the_console_on_the_same_database() {
    let world = World::empty();
    let elsewhere = |arguments: &[&str]| {
        let mut command = world.hyphae();
        command
            .args(arguments)
            .env("DATABASE_URL", "sqlite:other place/it's mine.db");
        run(command, "").well()
    };
    world.directory("project/other place");
    elsewhere(&["init"]);
    for (editor, file, before) in &EDITORS[..3] {
        let file = world.home().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, before).unwrap();
        elsewhere(&["setup", editor, "--write"]);
        let entry = entry(editor, &fs::read_to_string(&file).unwrap());
        let none = json!({});
        let env = entry.get("env").unwrap_or(&none);
        start(&world, &argv(&entry), env);
    }
}

#[test]
fn the_key_stays_out_of_editors_settings() {
    let world = World::new();
    for (editor, ..) in EDITORS {
        let mut command = world.hyphae();
        command
            .args(["setup", editor])
            .env("HYPHAE_API_KEY", world.key());
        let out = run(command, "").well();
        assert!(!out.contains("hyk_"), "{out}");
    }
}

#[test]
fn settings_that_are_a_link_stay_one() {
    let world = World::empty();
    let real = world.directory("dotfiles").join("zed.json");
    fs::write(&real, "{}\n").unwrap();
    let link = world.home().join(".config/zed/settings.json");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(&real, &link).unwrap();
    world.run(["setup", "zed", "--write"]).well();
    assert_eq!(fs::read_link(&link).unwrap(), real);
    assert!(fs::read_to_string(&real).unwrap().contains(BINARY));
}

#[test]
fn settings_that_are_not_understood_are_left_alone() {
    for (editor, file, _) in &EDITORS[..3] {
        for before in [
            "{ \"agent_servers\": ",
            "[1]",
            "{\"agent_servers\": 3, \"agents\": 3}",
        ] {
            let world = World::empty();
            let file = world.home().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, before).unwrap();
            let done = world.run(["setup", editor, "--write"]);
            let Done { code, out, err } = &done;
            assert_eq!(
                (*code, out.as_str()),
                (Some(2), ""),
                "{editor} {before}: {done:?}"
            );
            let want = format!("hyphae-server: {} was left as it is: ", file.display());
            assert!(err.starts_with(&want), "{editor} {before}: {err}");
            assert_eq!(fs::read_to_string(&file).unwrap(), before);
            assert_eq!(names(file.parent().unwrap()).len(), 1);
        }
    }
}
