//! What people store and ask: lengths, scripts, symbols; what counts as the same memory; and that
//! the same question gives the same bytes.

use std::fs;

use pretty_assertions::assert_eq;

use crate::{
    agent::Agent,
    world::{World, id_of, run},
};

const EMPTY: &str =
    "error: missing content; usage: /store [--type <CellType>] [--salience <0..1>] <content>";
const NUL: &str = "error: a memory cannot contain the NUL character (U+0000); remove it";

fn too_long(chars: usize) -> String {
    format!("error: a memory has at most 8000 characters, this one has {chars}; store it in parts")
}

fn lines(n: usize) -> String {
    let lines: Vec<String> = (0..n).map(|n| n.to_string()).collect();
    lines.join("\n")
}

/// What becomes of a content: it is kept as this text, or answered with an error.
enum Becomes {
    Kept(String),
    Error(String),
}

/// Stores each content and finds it again, or gets the error.
async fn check(world: &World, cases: Vec<(String, Becomes)>) {
    let mut agent = Agent::start(world).await;
    for (content, becomes) in cases {
        let begin: String = content.chars().take(40).collect();
        let answer = agent.one(&format!("/store -- {content}")).await;
        match becomes {
            Becomes::Error(error) => assert_eq!(answer, error, "{begin:?}"),
            Becomes::Kept(kept) => {
                let id = id_of(&answer).to_owned();
                assert_eq!(answer, format!("stored {id}"), "{begin:?}");
                let found = agent.recall(&content).await;
                let first = found.first().unwrap();
                assert_eq!(
                    (&first.id, first.distance.as_str()),
                    (&id, "0.0000"),
                    "{begin:?}"
                );
                assert_eq!(first.content, kept, "{begin:?}");
            }
        }
    }
    agent.end().await;
}

fn same(text: &str) -> (String, Becomes) {
    (text.to_owned(), Becomes::Kept(text.to_owned()))
}

fn becomes(text: &str, kept: &str) -> (String, Becomes) {
    (text.to_owned(), Becomes::Kept(kept.to_owned()))
}

fn refused(text: &str, error: &str) -> (String, Becomes) {
    (text.to_owned(), Becomes::Error(error.to_owned()))
}

#[tokio::test]
async fn a_memory_is_1_to_8000_characters_as_people_count_them() {
    let numbers = lines(10_000);
    let cases = vec![
        refused("", EMPTY),
        refused(" \n\t\u{a0}\u{3000}\r\n", EMPTY),
        same("x"),
        same(&"é".repeat(8000)),
        same(&"\u{1f344}".repeat(8000)),
        same(&"words and words ".repeat(500)[..7999]),
        refused(&"é".repeat(8001), &too_long(8001)),
        refused(&format!("{} .", "n".repeat(8000)), &too_long(8002)),
        // What is cut off around the text does not count.
        becomes(&format!("  {}\n\n", "m".repeat(8000)), &"m".repeat(8000)),
        // Neither does how a letter is composed.
        becomes(&"o\u{308}".repeat(8000), &"ö".repeat(8000)),
        refused(&numbers, &too_long(numbers.len())),
        same(&lines(1_800)),
        same(&format!("a{}b", "\n".repeat(7_998))),
    ];
    // What is said here does not depend on the model, and the table takes a long text at once.
    let world = World::empty();
    world.run(["init", "--embedder", "static"]).well();
    check(&world, cases).await;
}

#[tokio::test]
async fn contents_of_any_script_come_back_as_they_were_stored() {
    let cases = vec![
        refused("a\0b", NUL),
        refused("\0", NUL),
        becomes("mixed\r\nline\nends\r\n", "mixed\nline\nends"),
        becomes("cafe\u{301}", "caf\u{e9}"),
        same("שלום עולם, ‏(right) to left"),
        same("مرحبا \u{202e}بالعالم\u{202c}"),
        same("👩\u{200d}👩\u{200d}👧\u{200d}👦 🇫🇷 👍🏽 ❤\u{fe0f}"),
        same("北京是首都"),
        same("नमस्ते दुनिया"),
        same("z\u{335}\u{321}a\u{335}\u{321}l\u{335}\u{321}g\u{335}\u{321}o\u{335}"),
        same("\u{feff}a mark at the beginning"),
        same("\u{7}bell \u{1b}[31mred\u{1b}[0m and \u{7f}"),
        same("tab\tbetween\u{b}and\u{c}feeds"),
        becomes("old\rline\r\rends", "old\nline\n\nends"),
        same("\u{fffd}\u{ffff}\u{10ffff}"),
        same("'; drop table cells; --"),
        same("\" or 1=1 --"),
        same("NEAR(a b, 3) AND c* OR \"d e\" NOT f ^g col:h"),
        same("stored 01890000-0000-7000-8000-000000000000"),
        same("error: this is what a memory says"),
        same("--- *** ???"),
        same("<script>&amp;\"quoted\"</script> \\n %s {} $HOME `id`"),
        same("no results"),
        same(&"the long way round ".repeat(420)[..7979]),
    ];
    check(&World::new(), cases).await;
}

#[tokio::test]
async fn any_query_is_searched_for_and_none_is_syntax() {
    let world = World::new();
    let mut agent = Agent::start(&world).await;
    let memories = [
        "C++ templates slow the build down",
        "never run rm -rf on the build machine",
        "the colon in std::vector is searched for",
        "北京是首都",
        "🍄 grow in the shade",
        "To be, or not to be",
    ];
    let mut ids = Vec::new();
    for memory in memories {
        ids.push(agent.store(memory).await);
    }
    let long = "?".repeat(2000);
    // Only the first match matters, and only where there must be one.
    let cases: &[(&str, Option<usize>)] = &[
        ("C++", Some(0)),
        ("c++", Some(0)),
        ("rm -rf", Some(1)),
        ("std::vector", Some(2)),
        ("\"std::vector\"", Some(2)),
        ("北京", Some(3)),
        ("🍄", Some(4)),
        ("to be or not to be", Some(5)),
        ("the of and", None),
        ("is it", None),
        ("*", None),
        ("\"", None),
        ("\"unbalanced", None),
        ("(a OR b", None),
        ("a AND NOT b", None),
        ("content:x", None),
        ("NEAR/3", None),
        ("NEAR(build machine, 1)", None),
        ("^build", None),
        ("build*", None),
        ("'; drop table cells; --", None),
        ("' or ''='", None),
        ("1) union select key from credentials --", None),
        ("%_", None),
        ("?1 :a @b $c", None),
        ("\\", None),
        ("{}[]<>|&;", None),
        ("...", None),
        ("\u{200d}", None),
        ("\u{301}", None),
        ("\0", None),
        ("\u{7}\u{1b}[0m", None),
        (&long, None),
    ];
    for (query, want) in cases {
        let found = agent.recall(query).await;
        ordered(&found);
        if let Some(want) = want {
            let first = found.first().map(|found| found.id.as_str());
            assert_eq!(first, Some(ids[*want].as_str()), "{query}: {found:?}");
        }
    }
    for (memory, id) in memories.iter().zip(&ids) {
        assert_eq!(&agent.recall(memory).await[0].id, id, "{memory}");
    }
    let too_long = format!("/recall {}", "?".repeat(8001));
    let answer = agent.one(&too_long).await;
    assert!(
        answer.starts_with("error: ") && answer.contains("8000"),
        "{answer}"
    );
    agent.end().await;
}

/// Checks that distances are numbers of four decimals from 0 to 1 and never fall.
#[track_caller]
fn ordered(found: &[crate::world::Shown]) {
    for shown in found {
        let (whole, decimals) = shown.distance.split_once('.').unwrap();
        let fits = matches!(whole, "0" | "1") && decimals.len() == 4;
        assert!(fits && shown.distance.as_str() <= "1.0000", "{shown:?}");
    }
    // Of numbers of one form, the order of texts is that of numbers.
    let rising = found.is_sorted_by(|a, b| a.distance <= b.distance);
    assert!(rising, "{found:?}");
}

const MEMORIES: &[&str] = &[
    "Postgres holds the production data",
    "SQLite is used on laptops",
    "The cat sleeps on the printer",
    "We postponed the Postgres migration to May",
    "Backups of Postgres run at night",
    "Printers jam on Mondays",
    "The release is cut every second Thursday",
    "Rust code is formatted before review",
    "Alice owns the billing service",
    "Billing errors page the on-call engineer",
    "The staging cluster has three nodes",
    "Feature flags live in the config service",
    "Retries use exponential backoff with jitter",
    "The API returns 429 when a client is too fast",
    "Logs are kept for thirty days",
    "Customers in Europe are served from Frankfurt",
];

const QUERIES: &[&str] = &[
    "where is the production data",
    "postgres backups",
    "printer",
    "who is responsible for invoices",
    "/recall --k 3 how long are logs kept",
    "/query --layer L0 --k 100 service",
    "rate limiting",
    "Logs are kept for thirty days",
];

#[test]
fn the_same_questions_give_the_same_bytes_in_every_process() {
    let world = World::new();
    let store: String = MEMORIES
        .iter()
        .map(|memory| format!("/store {memory}\n"))
        .collect();
    world.script(&store).well();
    let questions = QUERIES.join("\n");
    let first = world.script(&questions).well();
    assert!(
        first.matches("distance=").count() > QUERIES.len(),
        "{first}"
    );
    assert_eq!(world.script(&questions).well(), first, "asked again");
    let alone: String = QUERIES
        .iter()
        .map(|query| world.run(["console", query]).well())
        .collect();
    assert_eq!(alone, first, "a process for each question");
    let reversed: String = QUERIES
        .iter()
        .rev()
        .map(|query| format!("{query}\n"))
        .collect();
    world.script(&reversed).well();
    assert_eq!(
        world.script(&questions).well(),
        first,
        "after other questions"
    );

    // Somebody else, with another key, on a copy of the file, from another directory.
    let other = world.another_key("other");
    let copy = world.directory("elsewhere").join("copy.db");
    fs::copy(world.database(), &copy).unwrap();
    let mut command = world.hyphae();
    command
        .arg("console")
        .env("HYPHAE_API_KEY", other)
        .env("HYPHAE_PROJECT", world.work())
        .env("DATABASE_URL", format!("sqlite:{}", copy.display()))
        .current_dir(world.home());
    assert_eq!(run(command, &questions).well(), first, "on a copy");
}

#[tokio::test]
async fn matches_come_nearest_first_and_the_identical_text_has_no_distance() {
    let world = World::new();
    let mut agent = Agent::start(&world).await;
    for memory in MEMORIES {
        agent.store(memory).await;
    }
    for query in MEMORIES.iter().chain(QUERIES) {
        ordered(&agent.recall(query).await);
    }
    for memory in MEMORIES {
        let found = agent.recall(memory).await;
        assert_eq!(
            (found[0].content.as_str(), found[0].distance.as_str()),
            (*memory, "0.0000")
        );
        let zero = found
            .iter()
            .filter(|found| found.distance == "0.0000")
            .count();
        assert_eq!(zero, 1, "{found:?}");
    }
    agent.end().await;
}

/// Stores two texts, each in a process of its own, with what stands before each.
fn two(first: &str, second: &str) -> (World, String, String) {
    let world = World::new();
    let store = |text: &str| {
        let out = world.run(["console", text]).well();
        id_of(&out).to_owned()
    };
    let (a, b) = (store(first), store(second));
    (world, a, b)
}

#[test]
fn the_same_memory_has_the_same_id() {
    for (first, second, shown) in [
        (
            "/store The door is green",
            "/store The door is green",
            "The door is green",
        ),
        (
            "/store The door is green",
            "/store   The door is green \n",
            "The door is green",
        ),
        (
            "/store --type Risk ice",
            "/store --salience 1 --type RISK -- ice",
            "ice",
        ),
        ("/store one\r\ntwo", "/store one\ntwo", "one\ntwo"),
        (
            "/store caf\u{e9} noir",
            "/store cafe\u{301} noir",
            "caf\u{e9} noir",
        ),
        (
            "/store \u{1112}\u{1161}\u{11ab}",
            "/store \u{d55c}",
            "\u{d55c}",
        ),
    ] {
        let (world, a, b) = two(first, second);
        assert_eq!(a, b, "{first:?} {second:?}");
        let mut command = world.hyphae();
        command.args(["console", "/recall", "--", shown]);
        let out = run(command, "").well();
        let kind = if shown == "ice" { "Risk" } else { "Fact" };
        assert_eq!(out, format!("{a} distance=0.0000 type={kind}\n{shown}\n"));
    }
}

#[test]
fn other_punctuation_or_inflection_is_merged_and_the_newest_text_is_shown() {
    for (first, second) in [
        ("We deploy on Thursdays.", "We deploy on Thursdays!"),
        ("We deploy on Thursdays", "we deploy on thursdays"),
        ("We ship Postgres for V1", "We ship \"Postgres\" for V1."),
    ] {
        let (world, a, b) = two(&format!("/store {first}"), &format!("/store {second}"));
        assert_eq!(a, b, "{first} {second}");
        let out = world.run(["console", second]).well();
        assert_eq!(out, format!("{a} distance=0.0000 type=Fact\n{second}\n"));
    }
}

#[test]
fn what_says_something_else_stays_apart() {
    for (first, second) in [
        ("/store We run Postgres 15", "/store We run Postgres 16"),
        (
            "/store We use Redis for sessions",
            "/store We do not use Redis for sessions",
        ),
        (
            "/store --type Fact ice is cold",
            "/store --type Risk ice is cold",
        ),
        ("/store The limit is 10 MB", "/store The limit is 10 GB"),
        (
            "/store The alert fires when free space is > 20 percent",
            "/store The alert fires when free space is < 20 percent",
        ),
        (
            "/store The cache is sized at 10% of memory on every node",
            "/store The cache is sized at 10 of memory on every node",
        ),
        ("/store Alice reviews Bob", "/store Alice reviews Carol"),
        ("/store -- ---", "/store -- ***"),
    ] {
        let (world, a, b) = two(first, second);
        assert_ne!(a, b, "{first} {second}");
        let query = first.split_once(' ').unwrap().1;
        let query = query
            .strip_prefix("--type Fact ")
            .or(query.strip_prefix("-- "))
            .unwrap_or(query);
        let out = world.run(["console", "/recall --", query]).well();
        assert!(out.contains(&a), "{out}");
        if query != "---" {
            assert!(out.contains(&b), "{out}");
        }
    }
}

#[test]
fn two_keys_share_the_memories_of_a_project_and_store_none_twice() {
    let world = World::new();
    let other = world.another_key("other");
    let id = world.store("bitterns boom at night");
    let with_other = |text: &str| {
        let mut command = world.hyphae();
        command
            .args(["console", text])
            .env("HYPHAE_API_KEY", &other);
        run(command, "").well()
    };
    let want = format!("{id} distance=0.0000 type=Fact\nbitterns boom at night\n");
    assert_eq!(with_other("bitterns boom at night"), want);
    assert_eq!(
        with_other("/store bitterns boom at night"),
        format!("stored {id}\n")
    );
}

#[tokio::test]
async fn sessions_of_one_key_are_not_there_for_another() {
    let world = World::new();
    let other = world.another_key("other");
    let mut mine = Agent::start(&world).await;
    mine.one("/store a conversation of mine").await;
    let mut command = world.hyphae();
    command.env("HYPHAE_API_KEY", other);
    let mut theirs = Agent::start_with(&world, command).await;
    theirs.one("/help").await;

    let ids = async |agent: &mut Agent| {
        let rows = agent.client.list_sessions(None).await.unwrap();
        rows.iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(&mut mine).await, [mine.session]);
    assert_eq!(ids(&mut theirs).await, [theirs.session]);
    let cwd = theirs.cwd.clone();
    let refused = theirs
        .client
        .load_session(mine.session, &cwd, |_| panic!("shown"))
        .await;
    assert!(refused.is_err());
    let refused = theirs.client.resume_session(mine.session, &cwd).await;
    assert!(refused.is_err());
    theirs.client.delete_session(mine.session).await.unwrap();
    assert_eq!(
        ids(&mut mine).await,
        [mine.session],
        "theirs to delete it was not"
    );
    let mut shown = 0;
    let session = mine.session;
    mine.client.close_session(session).await.unwrap();
    mine.client
        .load_session(session, &cwd, |_| shown += 1)
        .await
        .unwrap();
    assert!(shown >= 2);
    mine.end().await;
    theirs.end().await;
}
