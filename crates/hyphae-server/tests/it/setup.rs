//! `setup`: clients' entries and rules for their agents, printed or written.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::world::{BINARY, Done, World, run};

/// What is typed for a client, where its entry is kept, and what is there before.
#[derive(Debug, Clone, Copy)]
struct Kept {
    typed: &'static [&'static str],
    file: &'static str,
    before: &'static str,
    /// The argument that the entry starts this program with.
    command: &'static str,
}

const fn kept(
    typed: &'static [&'static str],
    file: &'static str,
    command: &'static str,
    before: &'static str,
) -> Kept {
    Kept {
        typed,
        file,
        before,
        command,
    }
}

const ZED: &str = "// mine\n{\n  \"theme\": \"One\" // dark\n}\n";
const SERVERS: &str =
    "{\n  \"mcpServers\": {\n    /* other */ \"other\": { \"command\": \"x\" }\n  }\n}\n";

const CLIENTS: [Kept; 13] = [
    kept(&["zed"], ".config/zed/settings.json", "acp-stdio", ZED),
    kept(
        &["jetbrains"],
        ".jetbrains/acp.json",
        "acp-stdio",
        "{\n  \"agent_servers\": {\n    /* other */ \"Other\": { \"command\": \"x\" }\n  }\n}\n",
    ),
    kept(
        &["acpx"],
        ".acpx/config.json",
        "acp-stdio",
        "{ \"defaultAgent\": \"codex\" }\n",
    ),
    kept(
        &["neovim"],
        ".config/nvim/lua/hyphae.lua",
        "acp-stdio",
        "return 1 -- mine\n",
    ),
    kept(
        &["zed", "--as", "mcp"],
        ".config/zed/settings.json",
        "mcp-stdio",
        ZED,
    ),
    kept(
        &["jetbrains", "--as", "mcp"],
        ".junie/mcp/mcp.json",
        "mcp-stdio",
        SERVERS,
    ),
    kept(
        &["acpx", "--as", "mcp"],
        ".acpx/config.json",
        "mcp-stdio",
        "{ \"mcpServers\": [{ \"name\": \"other\", \"command\": \"x\" }] }\n",
    ),
    kept(
        &["claude-code"],
        ".claude.json",
        "mcp-stdio",
        "{\n  \"numStartups\": 3,\n  \"projects\": { \"/p\": { \"mcpServers\": {} } },\n  \"mcpServers\": { \"other\": { \"command\": \"x\" } }\n}\n",
    ),
    kept(&["cursor"], ".cursor/mcp.json", "mcp-stdio", SERVERS),
    kept(
        &["vscode"],
        ".config/Code/User/mcp.json",
        "mcp-stdio",
        "// mine\n{\n  \"inputs\": [],\n  \"servers\": { \"other\": { \"command\": \"x\" } } // dark\n}\n",
    ),
    kept(
        &["codex"],
        ".codex/config.toml",
        "mcp-stdio",
        "# mine\nmodel = \"x\" # dark\n\n[mcp_servers.other]\ncommand = \"x\"\n",
    ),
    kept(&["gemini"], ".gemini/settings.json", "mcp-stdio", SERVERS),
    kept(
        &["gemini", "--project"],
        "../project/.gemini/settings.json",
        "mcp-stdio",
        SERVERS,
    ),
];

impl Kept {
    fn file(&self, world: &World) -> PathBuf {
        match self.file.strip_prefix("../project/") {
            Some(inside) => world.work().join(inside),
            None => world.home().join(self.file),
        }
    }

    /// The text of this client's file, written before anything is set up.
    fn write(&self, world: &World, text: &str) -> PathBuf {
        let file = self.file(world);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        file
    }

    fn run(&self, world: &World, more: &[&str]) -> Done {
        let mut command = world.hyphae();
        command.arg("setup").args(self.typed).args(more);
        run(command, "")
    }
}

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

/// Starts this program as an entry says, and shakes hands in the protocol of its role.
fn start(world: &World, argv: &[&str], env: &Value) {
    let mut command = world.command(argv[0]);
    command.args(&argv[1..]);
    for (name, value) in env.as_object().unwrap() {
        command.env(name, value.as_str().unwrap());
    }
    let (version, params) = match argv.last().unwrap() {
        &"mcp-stdio" => {
            let client = json!({ "name": "test", "version": "1" });
            let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
            (json!("2025-11-25"), params)
        }
        _ => (json!(1), json!({ "protocolVersion": 1 })),
    };
    let ask = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let done = run(command, &format!("{ask}\n"));
    let answer: Value = serde_json::from_str(done.out.lines().next().unwrap()).unwrap();
    assert_eq!(answer["result"]["protocolVersion"], version, "{done:?}");
}

/// The entry in a file, or in what is printed, as a client reads it.
fn entry(client: &Kept, settings: &str) -> Value {
    let settings = settings.split("# No key").next().unwrap();
    if client.typed[0] == "codex" {
        let settings: toml_edit::DocumentMut = settings.parse().unwrap();
        let entry = &settings["mcp_servers"]["hyphae"];
        let text = |item: &toml_edit::Item| json!(item.as_str().unwrap());
        let args = entry["args"].as_array().unwrap().iter();
        let env = entry.get("env").and_then(toml_edit::Item::as_table_like);
        let env = env.into_iter().flat_map(|env| env.iter());
        return json!({
            "command": text(&entry["command"]),
            "args": args.map(|arg| json!(arg.as_str().unwrap())).collect::<Vec<_>>(),
            "env": env.map(|(name, value)| (name.to_owned(), text(value))).collect::<Value>(),
        });
    }
    let plain: String = settings
        .lines()
        .filter(|line| !line.starts_with("# ") && !line.starts_with("//"))
        .map(|line| line.split(" // ").next().unwrap())
        .collect();
    let plain = plain.replace("/* other */", "");
    let settings: Value = serde_json::from_str(&plain).unwrap();
    match (client.typed[0], client.command) {
        ("acpx", "acp-stdio") => settings["agents"]["hyphae"].clone(),
        ("acpx", _) => {
            let servers = settings["mcpServers"].as_array().unwrap();
            servers
                .iter()
                .find(|server| server["name"] == "hyphae")
                .unwrap()
                .clone()
        }
        (_, "acp-stdio") => settings["agent_servers"]["Hyphae"].clone(),
        ("zed", _) => settings["context_servers"]["hyphae"].clone(),
        ("vscode", _) => settings["servers"]["hyphae"].clone(),
        _ => settings["mcpServers"]["hyphae"].clone(),
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

/// The variables of an entry; acpx writes them as a list of pairs.
fn variables(entry: &Value) -> Value {
    match entry.get("env") {
        Some(Value::Array(pairs)) => pairs
            .iter()
            .map(|pair| {
                (
                    pair["name"].as_str().unwrap().to_owned(),
                    pair["value"].clone(),
                )
            })
            .collect(),
        Some(env) => env.clone(),
        None => json!({}),
    }
}

#[test]
fn an_entry_is_printed_with_its_place_and_nothing_is_written() {
    let world = World::empty();
    for client in CLIENTS {
        let out = client.run(&world, &[]).well();
        let place = format!("# {}", client.file(&world).display());
        assert_eq!(out.lines().next(), Some(place.as_str()));
        assert!(
            out.contains(BINARY) && out.contains(client.command),
            "{out}"
        );
        let mcp = client.command == "mcp-stdio";
        assert_eq!(out.contains("# No key is in there"), mcp, "{client:?}");
        assert_eq!(out.contains("## Memory"), mcp, "{client:?}");
    }
    assert_eq!(names(&world.home()), [""; 0]);
    assert_eq!(names(&world.work()), [""; 0]);
}

#[test]
fn the_entries_are_what_each_client_reads() {
    let world = World::empty();
    for client in CLIENTS {
        let out = client.run(&world, &[]).well();
        if client.typed == ["neovim"] {
            assert!(
                out.contains(&format!("M.command = {{ \"{BINARY}\", \"acp-stdio\" }}")),
                "{out}"
            );
            assert!(out.contains("require(\"hyphae\").codecompanion"), "{out}");
            continue;
        }
        let mut want = json!({ "command": BINARY, "args": [client.command], "env": {} });
        match (client.typed[0], client.command) {
            ("zed", "acp-stdio") => want["type"] = json!("custom"),
            ("acpx", "acp-stdio") => want = json!({ "argv": [BINARY, "acp-stdio"] }),
            ("acpx", _) => {
                want["name"] = json!("hyphae");
                want["type"] = json!("stdio");
                want["env"] = json!([]);
            }
            ("claude-code" | "vscode", _) => want["type"] = json!("stdio"),
            ("cursor", _) => {
                want["type"] = json!("stdio");
                want["env"]["HYPHAE_PROJECT"] = json!("${workspaceFolder}");
            }
            _ => {}
        }
        assert_eq!(entry(&client, &out), want, "{client:?}");
    }
}

#[test]
fn a_new_file_is_made_and_a_second_run_changes_nothing() {
    for client in CLIENTS {
        let world = World::empty();
        let file = client.file(&world);
        let first = client.run(&world, &["--write"]).well();
        let text = fs::read_to_string(&file).unwrap();
        for line in text.lines() {
            assert!(first.contains(&format!("+{line}\n")), "{client:?}: {line}");
        }
        assert!(
            first.contains(&format!("wrote {}\n", file.display())),
            "{first}"
        );
        let again = client.run(&world, &["--write"]).well();
        let want = format!("{} is up to date", file.display());
        assert_eq!(again.lines().next(), Some(want.as_str()));
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        let beside = names(file.parent().unwrap());
        let backups = beside.iter().filter(|name| name.contains("before-hyphae"));
        assert_eq!(backups.count(), 0, "{client:?}: no backup of nothing");
    }
}

#[test]
fn a_file_with_other_things_keeps_them_and_its_former_text() {
    for client in CLIENTS {
        let world = World::empty();
        let file = client.write(&world, client.before);
        let out = client.run(&world, &["--write"]).well();
        let after = fs::read_to_string(&file).unwrap();
        assert_eq!(
            fs::read_to_string(backup(&file)).unwrap(),
            client.before,
            "{client:?}"
        );
        assert!(out.contains(&backup(&file).display().to_string()), "{out}");
        let header = format!("--- {0}\n+++ {0}\n@@ ", file.display());
        assert!(out.starts_with(&header), "{client:?}: {out}");
        assert!(
            out.lines()
                .any(|line| line.starts_with('+') && line.contains(BINARY)),
            "{out}"
        );
        if client.typed == ["neovim"] {
            assert!(out.contains("-return 1 -- mine\n"), "{out}");
        } else {
            // Each piece between separators is still there, comments included.
            for part in client.before.split(['\n', '{', '}', '[', ']', ',', '/']) {
                assert!(after.contains(part.trim()), "{client:?}: {part}");
            }
        }
        client.run(&world, &["--write"]).well();
        assert_eq!(fs::read_to_string(&file).unwrap(), after, "{client:?}");
        assert_eq!(
            names(file.parent().unwrap()).len(),
            2,
            "{client:?}: one backup"
        );
    }
}

#[test]
fn what_was_written_starts_hyphae_on_the_same_database() {
    for client in CLIENTS.iter().filter(|client| client.typed != ["neovim"]) {
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
        let file = client.write(&world, client.before);
        let arguments = [&["setup"], client.typed, &["--write"]].concat();
        elsewhere(&arguments);
        let entry = entry(client, &fs::read_to_string(&file).unwrap());
        let mut env = variables(&entry);
        let database = world.work().join("other place/it's mine.db");
        if client.typed != ["acpx"] {
            assert_eq!(
                env["DATABASE_URL"],
                format!("sqlite:{}", database.display())
            );
        }
        if let Some(project) = env.get_mut("HYPHAE_PROJECT") {
            // As Cursor does.
            *project = json!(world.work());
        }
        start(&world, &argv(&entry), &env);
    }
}

#[test]
fn folders_that_are_elsewhere_are_told_to_the_client() {
    let world = World::empty();
    let (config, data) = (world.directory("config"), world.directory("data"));
    let set_up = |arguments: &[&str]| {
        let mut command = world.hyphae();
        command
            .args(arguments)
            .env("XDG_CONFIG_HOME", &config)
            .env("XDG_DATA_HOME", &data)
            .env("CODEX_HOME", world.home().join("codex"))
            .env("CLAUDE_CONFIG_DIR", world.home().join("claude"));
        run(command, "").well()
    };
    set_up(&["init"]);
    for (client, file) in [
        ("codex", "codex/config.toml"),
        ("claude-code", "claude/.claude.json"),
    ] {
        set_up(&["setup", client, "--write"]);
        let file = kept(&[], file, "mcp-stdio", "").file(&world);
        let typed: &[&str] = if client == "codex" {
            &["codex"]
        } else {
            &["claude-code"]
        };
        let client = CLIENTS.iter().find(|known| known.typed == typed).unwrap();
        let entry = entry(client, &fs::read_to_string(file).unwrap());
        let database = format!("sqlite:{}", data.join("hyphae/hyphae.db").display());
        assert_eq!(
            entry["env"],
            json!({ "DATABASE_URL": database, "XDG_CONFIG_HOME": config })
        );
        start(&world, &argv(&entry), &entry["env"]);
    }
}

#[test]
fn the_key_stays_out_of_clients_settings() {
    let world = World::new();
    for client in CLIENTS {
        for more in [&[][..], &["--write"]] {
            let mut command = world.hyphae();
            command
                .arg("setup")
                .args(client.typed)
                .args(more)
                .env("HYPHAE_API_KEY", world.key());
            let out = run(command, "").well();
            assert!(!out.contains("hyk_"), "{out}");
        }
        let text = fs::read_to_string(client.file(&world)).unwrap();
        assert!(!text.contains("hyk_"), "{text}");
    }
}

#[test]
fn settings_that_are_a_link_stay_one() {
    for client in CLIENTS {
        let world = World::empty();
        let real = world.directory("dotfiles").join("settings");
        fs::write(&real, client.before).unwrap();
        let link = client.file(&world);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&real, &link).unwrap();
        client.run(&world, &["--write"]).well();
        assert_eq!(fs::read_link(&link).unwrap(), real);
        assert!(fs::read_to_string(&real).unwrap().contains(BINARY));
        assert_eq!(fs::read_to_string(backup(&real)).unwrap(), client.before);
    }
}

#[test]
fn settings_that_are_not_understood_are_left_alone() {
    let broken = [
        "{ \"agent_servers\": ",
        "[1]",
        "{\"agent_servers\": 3, \"agents\": 3, \"servers\": 3, \"mcpServers\": 3, \"context_servers\": 3}",
    ];
    let broken_toml = [
        "[mcp_servers",
        "mcp_servers = 3\n",
        "[mcp_servers]\nhyphae = 3\n",
    ];
    for client in CLIENTS.iter().filter(|client| client.typed != ["neovim"]) {
        let texts = if client.typed == ["codex"] {
            broken_toml
        } else {
            broken
        };
        for before in texts {
            let world = World::empty();
            let file = client.write(&world, before);
            let done = client.run(&world, &["--write"]);
            let Done { code, out, err } = &done;
            assert_eq!(
                (*code, out.as_str()),
                (Some(2), ""),
                "{client:?} {before}: {done:?}"
            );
            let want = format!("hyphae-server: {} was left as it is: ", file.display());
            assert!(err.starts_with(&want), "{client:?} {before}: {err}");
            assert_eq!(fs::read_to_string(&file).unwrap(), before);
            assert_eq!(names(file.parent().unwrap()).len(), 1);
        }
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_that_changes_nothing() {
    // Nobody can make a folder in there, the superuser included.
    let nowhere = Path::new("/proc");
    for client in CLIENTS
        .iter()
        .filter(|client| !client.file.starts_with(".."))
    {
        let world = World::empty();
        let mut command = world.hyphae();
        command
            .arg("setup")
            .args(client.typed)
            .arg("--write")
            .env("HOME", nowhere);
        let refused = run(command, "").refused();
        let refusals = ["cannot be made: ", "cannot be written: "];
        let is_known = refusals.iter().any(|known| refused.contains(known));
        assert!(is_known, "{client:?}: {refused}");
    }
    // A folder in the place of the file.
    for client in CLIENTS {
        let world = World::empty();
        let file = client.file(&world);
        fs::create_dir_all(&file).unwrap();
        let refused = client.run(&world, &["--write"]).refused();
        let want = format!("{} cannot be read: ", file.display());
        assert!(refused.contains(&want), "{client:?}: {refused}");
        assert!(refused.ends_with("; nothing was changed"), "{refused}");
    }
}

#[test]
fn a_client_is_not_told_what_it_cannot_take() {
    let world = World::empty();
    for (typed, want) in [
        (
            &["neovim", "--as", "mcp"][..],
            "neovim takes Hyphae as acp only",
        ),
        (&["codex", "--as", "acp"], "codex takes Hyphae as mcp only"),
        (
            &["zed", "--project"],
            "zed takes no acp entry from a project",
        ),
        (&["zed", "--rules"], "add `--as mcp`"),
    ] {
        let mut command = world.hyphae();
        command.arg("setup").args(typed).arg("--write");
        let refused = run(command, "").refused();
        assert!(refused.contains(want), "{typed:?}: {refused}");
    }
    assert_eq!(names(&world.home()), [""; 0]);
    assert_eq!(names(&world.work()), [""; 0]);
}

#[test]
fn a_project_has_an_entry_of_its_own() {
    for (typed, file) in [
        (&["claude-code"][..], ".mcp.json"),
        (&["cursor"], ".cursor/mcp.json"),
        (&["vscode"], ".vscode/mcp.json"),
        (&["codex"], ".codex/config.toml"),
        (&["zed", "--as", "mcp"], ".zed/settings.json"),
        (&["jetbrains", "--as", "mcp"], ".junie/mcp/mcp.json"),
        (&["acpx", "--as", "mcp"], ".acpxrc.json"),
        (&["acpx"], ".acpxrc.json"),
    ] {
        let world = World::empty();
        let mut command = world.hyphae();
        command
            .arg("setup")
            .args(typed)
            .args(["--project", "--write"]);
        let out = run(command, "").well();
        let file = world.work().join(file);
        assert!(
            out.contains(&format!("wrote {}\n", file.display())),
            "{out}"
        );
        assert!(fs::read_to_string(&file).unwrap().contains(BINARY));
        assert_eq!(names(&world.home()), [""; 0]);
    }
}

#[test]
fn rules_are_written_where_the_client_reads_them() {
    for (client, file) in [
        ("claude-code", "CLAUDE.md"),
        ("cursor", ".cursor/rules/hyphae.mdc"),
        ("vscode", "AGENTS.md"),
        ("codex", "AGENTS.md"),
        ("gemini", "GEMINI.md"),
    ] {
        let world = World::empty();
        let file = world.work().join(file);
        let out = world.run(["setup", client, "--rules"]).well();
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.contains("`recall`") && text.contains("`store`"),
            "{text}"
        );
        assert!(out.contains("+## Memory\n"), "{out}");
        assert_eq!(names(&world.home()), [""; 0], "the entry was not asked for");
        let again = world.run(["setup", client, "--rules"]).well();
        assert_eq!(again, format!("{} is up to date\n", file.display()));

        fs::write(&file, "# Ours\n").unwrap();
        world.run(["setup", client, "--rules"]).well();
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("# Ours\n\n<!-- hyphae:begin"), "{text}");
        assert_eq!(fs::read_to_string(backup(&file)).unwrap(), "# Ours\n");
    }
}

#[test]
fn an_entry_and_rules_are_written_at_once() {
    let world = World::empty();
    let out = world
        .run(["setup", "claude-code", "--write", "--rules"])
        .well();
    for file in [
        world.home().join(".claude.json"),
        world.work().join("CLAUDE.md"),
    ] {
        assert!(
            out.contains(&format!("wrote {}\n", file.display())),
            "{out}"
        );
    }
}

#[test]
fn rules_with_broken_marks_are_left_alone() {
    let world = World::empty();
    let file = world.work().join("CLAUDE.md");
    let before = "<!-- hyphae:begin -->\nmine\n";
    fs::write(&file, before).unwrap();
    let refused = world.run(["setup", "claude-code", "--rules"]).refused();
    let want = format!("{} was left as it is: ", file.display());
    assert!(refused.contains(&want), "{refused}");
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    assert_eq!(names(&world.work()), ["CLAUDE.md"]);
}

#[test]
fn a_project_that_a_client_did_not_fill_in_is_refused() {
    let world = World::new();
    let mut command = world.hyphae();
    command
        .arg("mcp-stdio")
        .env("HYPHAE_PROJECT", "${workspaceFolder}");
    let refused = run(command, "").refused();
    assert!(
        refused.contains("HYPHAE_PROJECT: the client left ${workspaceFolder}"),
        "{refused}"
    );
}

#[test]
fn a_project_may_be_named_by_its_directory() {
    let world = World::new();
    let directory = world.directory("app");
    let path = directory.to_str().unwrap();
    world.run(["project", "link", "acme", path]).well();
    let console = |project: &str, line: &str| {
        let mut command = world.hyphae();
        command
            .args(["console", line])
            .env("HYPHAE_PROJECT", project);
        run(command, "").well()
    };
    console("acme", "/store the deploy is on Thursdays");
    let found = console(path, "deploy day");
    assert!(found.contains("the deploy is on Thursdays"), "{found}");
}
