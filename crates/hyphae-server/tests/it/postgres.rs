//! One memory for a team: several keys, machines and programs on one server. What is the same
//! wherever the memories are is tested by the other files, which `./test` runs on a server too.

mod clocks;
mod kill;
mod ranking;
mod replica;

use std::time::Instant;

use hyphae_testkit::postgres::Release;

use crate::{
    agent::Agent,
    world::{Done, PATIENCE, World, run},
};

/// Runs the console as another person, who has only a key.
fn as_other(world: &World, key: &str, lines: &[&str]) -> Done {
    let mut command = world.hyphae();
    command
        .env("HYPHAE_API_KEY", key)
        .arg("console")
        .args(lines);
    run(command, "")
}

#[test]
fn what_one_person_stores_another_finds() {
    for release in [Release::Newest, Release::Oldest] {
        let Some(world) = World::on(release) else {
            return;
        };
        assert!(!world.database().exists(), "a file was made too");
        let ana = world.another_key("ana");
        world.store("We ship on Fridays");
        let found = as_other(&world, &ana, &["/recall", "when do we ship"]).well();
        assert!(found.contains("We ship on Fridays"), "{found}");
        let audit = world.run(["audit"]).well();
        assert!(audit.contains("default"), "{audit}");
        // A second `init` finds everything there.
        let again = world.run(["init"]).well();
        assert_eq!(again.matches("(was there)").count(), 2, "{again}");
        assert!(again.contains("postgres://"), "{again}");
    }
}

#[test]
fn ten_people_who_begin_at_once_make_the_tables_once_and_ten_keys() {
    let Some(world) = World::empty_on(Release::Newest) else {
        return;
    };
    let address = world.address().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| {
                let home = World::empty();
                let mut command = home.hyphae();
                command.env("DATABASE_URL", &address).arg("init");
                run(command, "").well();
                let mut command = home.hyphae();
                command.env("DATABASE_URL", &address);
                command.args(["console", "/store", "begun at the same time"]);
                run(command, "").well();
            });
        }
    });
    let counted = world.sql(
        "select (select count(*) from hyphae_schema), (select count(*) from settings),
             (select count(*) from tenants), (select count(*) from credentials)",
    );
    assert_eq!(counted, "1|1|1|10");
}

#[test]
fn everything_moves_from_a_file_to_a_server_and_back() {
    let Some(server) = World::on(Release::Oldest) else {
        return;
    };
    let file = World::new();
    for content in [
        "Retries are capped at five",
        "Logs are JSON Lines",
        "Ümlauts and 漢字",
    ] {
        file.store(content);
    }
    let first = file.home().join("first.jsonl");
    let second = file.home().join("second.jsonl");
    let (first, second) = (first.to_str().unwrap(), second.to_str().unwrap());
    file.run(["export", first]).well();
    server.run(["import", first]).well();
    server.run(["export", second]).well();
    let lines = |path: &str| {
        let text = std::fs::read_to_string(path).unwrap();
        let lines = text.lines().skip(1).map(str::to_owned);
        // Whoever imports leaves a row of the audit of its own.
        lines
            .filter(|line| !line.contains("\"import\""))
            .collect::<Vec<_>>()
    };
    let (first, second) = (lines(first), lines(second));
    assert!(
        first.iter().all(|line| second.contains(line)),
        "{first:#?}\n{second:#?}"
    );
}

#[tokio::test]
async fn a_key_that_is_revoked_stops_a_console_that_runs() {
    let Some(world) = World::on(Release::Newest) else {
        return;
    };
    let ana = world.another_key("ana");
    let mut command = world.hyphae();
    command.env("HYPHAE_API_KEY", &ana);
    let mut agent = Agent::start_with(&world, command).await;
    agent.store("while it is good").await;
    let list = world.run(["keys", "list"]).well();
    let row = list.lines().find(|line| line.ends_with("ana")).unwrap();
    let id = row.split(' ').next().unwrap();
    world.run(["keys", "revoke", id]).well();
    let begun = Instant::now();
    loop {
        let said = agent.say("/recall -- good").await;
        let text = format!("{said:?}");
        if text.contains("was revoked") {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "{text}");
    }
    assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
}

#[test]
fn what_is_wrong_with_a_server_is_said_in_one_line_without_the_password() {
    let Some(world) = World::on(Release::Newest) else {
        return;
    };
    let address = world.address().unwrap();
    let with_password = address.replace("&user=", "&password=hunter2&user=");
    let cases = [
        (
            "postgres://ana:hunter2@127.0.0.1:1/team".to_owned(),
            "nothing answers at",
        ),
        (
            with_password.replace("host=/", "host=/nowhere/"),
            "nothing answers at",
        ),
        (
            with_password.replace(":///", ":///no_such_"),
            "there is no database",
        ),
        (
            "postgres://ana:hunter2@h/d?sslmode=hunter2".to_owned(),
            "sslmode is one of",
        ),
        (
            "postgres://ana:hunter2@h:port/d".to_owned(),
            "the address is not understood",
        ),
    ];
    for (url, want) in cases {
        for arguments in [
            &["console", "/help"][..],
            &["init"],
            &["keys", "list"],
            &["acp-stdio"],
        ] {
            let mut command = world.hyphae();
            command
                .args(arguments)
                .env("DATABASE_URL", &url)
                .env("HYPHAE_LOG", "trace");
            let done = run(command, "");
            assert_eq!(done.code, Some(2), "{done:?}");
            assert!(done.err.contains(want), "{done:?}");
            assert!(!done.err.contains("hunter2"), "{done:?}");
        }
    }
}

#[test]
fn an_address_may_lie_in_a_file_and_then_setup_names_the_file() {
    let Some(world) = World::on(Release::Newest) else {
        return;
    };
    let file = world.home().join("address");
    let address = world.address().unwrap();
    let address = address.replace("&user=", "&password=hunter2&user=");
    std::fs::write(&file, &address).unwrap();
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&file, private).unwrap();
    let reference = format!("file:{}", file.display());
    let with = |url: &str, arguments: &[&str]| {
        let mut command = world.hyphae();
        command.args(arguments).env("DATABASE_URL", url);
        run(command, "")
    };
    with(&reference, &["console", "/help"]).well();
    let entry = with(&reference, &["setup", "cursor"]).well();
    assert!(
        entry.contains(&reference) && !entry.contains("hunter2"),
        "{entry}"
    );
    let refused = with(&address, &["setup", "cursor"]).refused();
    assert!(refused.contains("DATABASE_URL=file:PATH"), "{refused}");
    assert!(!refused.contains("hunter2"), "{refused}");
}

#[test]
fn a_copy_holds_everything_may_be_repeated_and_leads_back() {
    let Some(server) = World::on(Release::Oldest) else {
        return;
    };
    let file = World::new();
    for n in 0..5 {
        file.store(&format!("memory number {n}"));
    }
    let place = file.home().join("address");
    std::fs::write(&place, server.address().unwrap()).unwrap();
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&place, private).unwrap();
    let address = format!("file:{}", place.display());
    let database = format!("sqlite:{}", file.database().display());
    let back = format!("sqlite:{}", file.home().join("back.db").display());
    let copy = |from: &str, to: &str| {
        let out = file.run(["copy", "--from", from, "--to", to]).well();
        let told = out.contains("keys and conversations stay where they are");
        assert_eq!(told, !out.starts_with("0 copied"), "{out}");
        let counts = out.split_once(" copied, ").unwrap();
        let there = counts.1.split_once(" were there").unwrap().0;
        (
            counts.0.parse::<u32>().unwrap(),
            there.parse::<u32>().unwrap(),
        )
    };
    let (new, there) = copy(&database, &address);
    assert!(new > 10 && there == 0, "{new} {there}");
    assert_eq!(copy(&database, &address), (0, new));
    assert_eq!(copy(&address, &back), (new, 0));
    let mut command = server.hyphae();
    command.args(["console", "/recall", "memory number 3"]);
    command.env("HYPHAE_PROJECT", file.work());
    let found = run(command, "").well();
    assert!(found.contains("memory number 3"), "{found}");
    let mut command = file.hyphae();
    command.args(["copy", "--from", &database, "--to", &database]);
    assert!(run(command, "").refused().contains("the same database"));
}

#[test]
fn an_update_of_the_tables_is_shown_before_it_is_done() {
    let Some(server) = World::on(Release::Newest) else {
        return;
    };
    for world in [&server, &World::new()] {
        for arguments in [["migrate", "--dry-run"].as_slice(), &["migrate"]] {
            let mut command = world.hyphae();
            command.args(arguments);
            let said = run(command, "").well();
            assert!(said.contains("is up to date (schema "), "{said}");
        }
    }
    let nothing = World::empty();
    if nothing.address().is_none() {
        let refused = nothing.run(["migrate"]).refused();
        assert!(refused.contains("there is no database"), "{refused}");
    }
    server.sql("update hyphae_schema set version = 0");
    let shown = server.run(["migrate", "--dry-run"]).well();
    assert!(shown.contains("schema 0, would become 1"), "{shown}");
    assert!(shown.contains("create table cells ("), "{shown}");
    assert_eq!(server.sql("select version from hyphae_schema"), "0");
    server.sql("update hyphae_schema set version = 99");
    let newer = server.run(["migrate"]).refused();
    assert!(
        newer.contains("was made by a newer hyphae-server"),
        "{newer}"
    );
}
