//! What is typed behind the program's name: `init`, usage, help, completions, exit codes.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use pretty_assertions::assert_eq;

use crate::world::{BINARY, Done, STRANGER, World, key_at, mode, run};

const INIT: &str = "\
database  <root>/home/.local/share/hyphae/hyphae.db
key       <root>/home/.config/hyphae/key (mode 0600)

This is the key. It is shown this once; the database keeps only a hash of it.

<key>

Next: `hyphae-server console`, or `hyphae-server setup zed`.
";

const INIT_AGAIN: &str = "\
database  <root>/home/.local/share/hyphae/hyphae.db (was there)
key       <root>/home/.config/hyphae/key (was there)
";

/// Everything below a folder: path, permissions and content.
fn tree(folder: &Path) -> Vec<(String, u32, Vec<u8>)> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let content = if path.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else {
                fs::read(&path).unwrap()
            };
            all.push((path.display().to_string(), mode(&path), content));
        }
    }
    all.sort();
    all
}

#[test]
fn init_makes_a_database_and_shows_a_key_once() {
    let world = World::empty();
    let out = world.run(["init"]).well();
    assert_eq!(world.plain(&out), INIT);
    let shown: Vec<&str> = out.lines().filter(|line| key_at(line).is_some()).collect();
    assert_eq!(shown, [world.key()]);
    assert_eq!(
        fs::read_to_string(world.key_file()).unwrap(),
        format!("{}\n", world.key())
    );
}

#[test]
fn what_init_makes_is_closed_to_others_whatever_the_umask() {
    let world = World::empty();
    let mut command = world.command("sh");
    command.args(["-c", "umask 0; exec \"$0\" init", BINARY]);
    run(command, "").well();
    for (path, want) in [
        (world.database().as_path(), 0o600),
        (world.database().parent().unwrap(), 0o700),
        (world.key_file().parent().unwrap(), 0o700),
        (&world.key_file(), 0o600),
    ] {
        assert_eq!(mode(path), want, "{}", path.display());
    }
}

#[test]
fn a_second_init_changes_nothing_and_shows_no_key() {
    let world = World::new();
    let before = tree(&world.home());
    let keys = world.run(["keys", "list"]).well();
    let out = world.run(["init"]).well();
    assert_eq!(world.plain(&out), INIT_AGAIN);
    assert_eq!(world.run(["keys", "list"]).well(), keys);
    assert_eq!(tree(&world.home()), before);
}

#[test]
fn a_second_init_makes_no_key_for_somebody_who_has_one_in_the_environment() {
    let world = World::new();
    let keys = world.run(["keys", "list"]).well();
    let mut init = world.hyphae();
    init.arg("init").env("HYPHAE_API_KEY", world.key());
    fs::remove_file(world.key_file()).unwrap();
    let out = run(init, "").well();
    assert!(!out.contains("hyk_"), "{out}");
    assert_eq!(world.run(["keys", "list"]).well(), keys);
}

#[test]
fn init_leaves_the_key_of_another_database_alone_and_its_remedy_helps() {
    let world = World::new();
    let key = world.key();
    let mut command = world.hyphae();
    command.arg("init").env("DATABASE_URL", "sqlite:new.db");
    let done = run(command, "");
    assert_eq!(done.code, Some(2), "{done:?}");
    assert_eq!(
        world.plain(&done.err),
        "hyphae-server: <root>/home/.config/hyphae/key holds a key that this database does not know; move the file away, or run `hyphae-server keys create --name NAME --save`\n"
    );
    assert_eq!(world.key(), key);

    let elsewhere = |arguments: &[&str]| {
        let mut command = world.hyphae();
        command.args(arguments).env("DATABASE_URL", "sqlite:new.db");
        run(command, "")
    };
    elsewhere(&["keys", "create", "--name", "NAME", "--save"]).well();
    elsewhere(&["console", "/store kept elsewhere"]).well();
    let out = elsewhere(&["init"]).well();
    assert!(
        out.contains("(was there)") && !out.contains("hyk_"),
        "{out}"
    );
}

#[test]
fn init_takes_a_name_and_a_model() {
    let world = World::empty();
    world
        .run(["init", "--name", " laptop ", "--embedder", "static"])
        .well();
    let list = world.run(["keys", "list"]).well();
    assert!(list.ends_with("  valid  laptop\n"), "{list}");
    let doctor = world.run(["doctor"]);
    assert!(doctor.out.contains("\nok   model: static"), "{doctor:?}");
}

#[test]
fn the_folders_that_xdg_names_are_used() {
    let world = World::empty();
    let folders = ["config", "data", "state"].map(|name| (name, world.directory(name)));
    let mut command = world.hyphae();
    command.arg("init");
    for (name, folder) in &folders {
        command.env(format!("XDG_{}_HOME", name.to_uppercase()), folder);
    }
    run(command, "").well();
    let [(_, config), (_, data), _] = folders;
    assert_eq!(mode(&config.join("hyphae/key")), 0o600);
    assert_eq!(mode(&data.join("hyphae/hyphae.db")), 0o600);
    assert_eq!(tree(&world.home()), []);
}

#[test]
fn the_version_is_told() {
    let want = concat!("hyphae-server ", env!("CARGO_PKG_VERSION"), "\n");
    for flag in ["--version", "-V"] {
        assert_eq!(World::empty().run([flag]).well(), want);
    }
}

#[test]
fn help_shows_examples_variables_and_exit_codes() {
    let world = World::empty();
    let help = world.run(["--help"]).well();
    for part in [
        "Examples:\n  hyphae-server init ",
        "Environment:\n  HYPHAE_API_KEY ",
        "Exit codes:\n  0  done\n  1  a command was understood and failed\n  2  not started: ",
    ] {
        assert!(help.contains(part), "{part}: {help}");
    }
    let console = world.run(["console", "--help"]).well();
    assert!(
        console.contains("Examples:\n  hyphae-server console "),
        "{console}"
    );
    assert_eq!(tree(&world.home()), [], "help touches nothing");
}

#[test]
fn wrong_usage_is_exit_code_2_with_the_usage_on_stderr() {
    let world = World::empty();
    let check = |arguments: &[&str], part: &str| {
        let mut command = world.hyphae();
        command.args(arguments);
        let Done { code, out, err } = run(command, "");
        assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(err.contains(part), "{arguments:?}: {err}");
    };
    check(&[], "Usage: hyphae-server <COMMAND>");
    check(&["inti"], "'init'");
    check(&["console", "--embeder", "static"], "");
    check(&["init", "--embedder", "word2vec"], "minilm, static");
    check(&["keys"], "Usage: hyphae-server keys");
    check(&["keys", "create"], "--name");
    check(&["keys", "revoke"], "<ID>");
    check(&["project", "link", "name"], "<PATH>");
    check(&["setup"], "<CLIENT>");
    check(&["setup", "emacs"], "zed, jetbrains, acpx, neovim");
    check(&["completions", "tcsh"], "bash");
    check(&["acp-stdio", "--max-frame-bytes", "-1"], "");
    check(&["reembed"], "--embedder");
    check(&["doctor", "now"], "'now'");
    assert_eq!(tree(&world.home()), []);
}

#[test]
fn exit_codes_tell_a_failed_command_from_one_that_did_not_start() {
    let world = World::new();
    let code = |arguments: &[&str]| {
        let mut command = world.hyphae();
        command.args(arguments);
        run(command, "").code
    };
    assert_eq!(code(&["console", "/help"]), Some(0));
    assert_eq!(code(&["console", "nothing is known of this"]), Some(0));
    assert_eq!(code(&["console", "/recal"]), Some(1));
    assert_eq!(code(&["doctor"]), Some(0));
    fs::set_permissions(world.key_file(), fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(code(&["doctor"]), Some(1));
    assert_eq!(code(&["console", "/help"]), Some(2));
    assert_eq!(code(&["console", "/recal"]), Some(2));
    assert_eq!(code(&["acp-stdio"]), Some(2));
    assert_eq!(code(&["mcp-stdio"]), Some(2));
}

#[test]
fn a_database_is_named_relative_to_the_working_directory() {
    let world = World::empty();
    let mut command = world.hyphae();
    command
        .args(["console", "/help"])
        .env("HYPHAE_API_KEY", STRANGER)
        .env("DATABASE_URL", "sqlite:nowhere.db");
    assert_eq!(
        world.plain(&run(command, "").refused()),
        "hyphae-server: there is no database at <root>/project/nowhere.db; run `hyphae-server init`"
    );
}

#[test]
fn completion_scripts_know_every_command() {
    let world = World::empty();
    for shell in ["bash", "zsh", "fish"] {
        let script = world.run(["completions", shell]).well();
        for word in [
            "init",
            "acp-stdio",
            "mcp-stdio",
            "console",
            "keys",
            "create",
            "list",
            "revoke",
            "project",
            "link",
            "unlink",
            "doctor",
            "setup",
            "reembed",
            "completions",
            "embedder",
            "save",
        ] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(tree(&world.home()), []);
}

#[test]
fn bash_completes_commands_flags_and_values() {
    let world = World::empty();
    let check = |words: &[&str], want: &str| {
        let script = "
            source <(\"$0\" completions bash)
            COMP_WORDS=(hyphae-server \"$@\")
            COMP_CWORD=$#
            complete=$(complete -p hyphae-server)
            [[ $complete =~ \\ -F\\ ([^ ]+) ]]
            \"${BASH_REMATCH[1]}\" hyphae-server \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"
            echo \"${COMPREPLY[*]}\"";
        let mut command = world.command("bash");
        command.args(["--norc", "-c", script, BINARY]).args(words);
        assert_eq!(run(command, "").well().trim_end(), want, "{words:?}");
    };
    check(&["se"], "setup");
    check(&["keys", "re"], "revoke");
    check(&["keys", "create", "--s"], "--save");
    check(&["setup", "z"], "zed");
    check(&["init", "--embedder", ""], "minilm static");
}
