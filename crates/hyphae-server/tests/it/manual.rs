//! README.md is true: what it says can be typed.

use std::{collections::BTreeSet, fs, path::Path};

use pretty_assertions::assert_eq;

use crate::world::World;

fn readme() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    fs::read_to_string(file).unwrap()
}

/// Every piece of a text that is set as code: spans, lines of blocks, indented lines.
fn code(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.starts_with("```") {
            in_block = !in_block;
        } else if in_block || line.starts_with("    ") {
            found.push(line.trim().to_owned());
        } else {
            found.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    found
}

/// Words of a command line up to a comment; what is quoted is one word.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (n, part) in line.split('\'').enumerate() {
        if n % 2 == 1 {
            words.push(part.to_owned());
            continue;
        }
        for word in part.split_whitespace() {
            if word.starts_with('#') {
                return words;
            }
            words.push(word.to_owned());
        }
    }
    words
}

/// The names in a help text's list of commands.
fn commands(help: &str) -> BTreeSet<String> {
    let Some((_, list)) = help.split_once("\nCommands:\n") else {
        return BTreeSet::new();
    };
    list.lines()
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// Checks one command line against the help of its command; returns what is not known to it.
fn unknown(world: &World, arguments: &[String]) -> Vec<String> {
    let help = |path: &[String]| {
        let mut command = world.hyphae();
        command.args(path).arg("--help");
        crate::world::run(command, "").well()
    };
    let mut path = Vec::new();
    let mut text = help(&path);
    let mut rest = arguments;
    while let Some((first, others)) = rest.split_first() {
        if !commands(&text).contains(first) {
            break;
        }
        path.push(first.clone());
        rest = others;
        text = help(&path);
    }
    if path.is_empty() && rest.first().is_none_or(|word| !word.starts_with('-')) {
        return vec![arguments.join(" ")];
    }
    let mut unknown = Vec::new();
    if !commands(&text).is_empty() && !path.is_empty() {
        unknown.push(format!("{} lacks a command", path.join(" ")));
    }
    let usage = text
        .split_once("Usage: ")
        .unwrap()
        .1
        .lines()
        .next()
        .unwrap();
    let needed = usage.split(' ').filter(|word| word.starts_with("--"));
    for flag in needed.filter(|flag| !rest.iter().any(|word| word == flag)) {
        unknown.push(format!("{} lacks {flag}", path.join(" ")));
    }
    // Capitals stand for something; what is typed to the console is its own language.
    let stands_for = |word: &str| word.chars().all(|c| c.is_ascii_uppercase());
    let is_console = path == ["console"];
    for word in rest {
        for word in word.split('|') {
            let known = match word.strip_prefix("--") {
                Some(_) => text.split([' ', ',', '\n']).any(|known| known == word),
                None => {
                    stands_for(word)
                        || (is_console && word.starts_with('/'))
                        || text
                            .split([' ', ',', '\n', ':', '[', ']'])
                            .any(|known| known == word)
                }
            };
            if !known {
                unknown.push(format!("{}: {word}", path.join(" ")));
            }
        }
    }
    unknown
}

#[test]
fn every_command_line_of_the_readme_exists() {
    let world = World::empty();
    let known = commands(&world.run(["--help"]).well());
    let (mut checked, mut wrong) = (0, Vec::new());
    for piece in code(&readme()) {
        let words = words(&piece);
        let arguments = match words.split_first() {
            Some((first, rest)) if first == "hyphae-server" => rest,
            // Such as `keys list`, once it is clear what is spoken of.
            Some((first, _)) if known.contains(first) => &words,
            _ => continue,
        };
        checked += 1;
        wrong.extend(unknown(&world, arguments));
    }
    assert_eq!(wrong, [""; 0]);
    assert!(checked >= 15, "only {checked} command lines were found");
}

#[test]
fn the_checker_of_command_lines_sees_what_does_not_exist() {
    let world = World::empty();
    for (line, want) in [
        ("inti", &["inti"][..]),
        ("keys", &["keys lacks a command"]),
        ("keys create", &["keys create lacks --name"]),
        ("keys create --name A --asve", &["keys create: --asve"]),
        ("setup zed|emacs --write", &["setup: emacs"]),
        ("console '/store x' # or more", &[]),
    ] {
        assert_eq!(unknown(&world, &words(line)), want, "{line}");
    }
}

#[test]
fn the_examples_of_the_help_exist() {
    let world = World::empty();
    for help in [world.run(["--help"]), world.run(["console", "--help"])] {
        let help = help.well();
        let examples = help.split_once("Examples:\n").unwrap().1;
        let examples: Vec<&str> = examples
            .lines()
            .take_while(|line| !line.is_empty())
            .filter_map(|line| line.trim().strip_prefix("hyphae-server "))
            .map(|line| line.split("  ").next().unwrap())
            .collect();
        assert!(examples.len() >= 2, "{help}");
        for line in examples {
            let words = words(line);
            let typed = words.iter().take_while(|word| !word.starts_with('/'));
            let typed: Vec<String> = typed.cloned().collect();
            assert_eq!(unknown(&world, &typed), [""; 0], "{line}");
        }
    }
}

/// The remedies in backquotes that messages of the program name.
fn remedies() -> BTreeSet<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = BTreeSet::new();
    for folder in fs::read_dir(crates).unwrap() {
        for file in crate::layers::sources(&folder.unwrap().path().join("src")) {
            let text = fs::read_to_string(file).unwrap();
            // Only in strings; a comment may speak of a command in short.
            let lines = text.lines().filter(|line| !line.trim().starts_with("//"));
            for line in lines {
                found.extend(
                    line.split('`')
                        .skip(1)
                        .step_by(2)
                        .filter_map(|piece| piece.strip_prefix("hyphae-server "))
                        .map(str::to_owned),
                );
            }
        }
    }
    found
}

#[test]
fn every_remedy_that_a_message_names_can_be_typed() {
    let world = World::empty();
    let remedies = remedies();
    assert!(remedies.len() >= 5, "{remedies:?}");
    let wrong: Vec<String> = remedies
        .iter()
        .flat_map(|line| unknown(&world, &words(line)))
        .collect();
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn readme_and_help_name_the_same_variables_and_exit_codes() {
    let help = World::empty().run(["--help"]).well();
    let readme = readme();
    let named = |text: &str| -> BTreeSet<String> {
        text.split(|c: char| !c.is_ascii_uppercase() && c != '_')
            .filter(|word| word.starts_with("HYPHAE_") || *word == "DATABASE_URL")
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(named(&readme), named(&help));
    let codes = help.split_once("Exit codes:\n").unwrap().1;
    for (code, meaning) in codes
        .lines()
        .map(|line| line.trim().split_once("  ").unwrap())
    {
        let head = meaning.split(':').next().unwrap();
        assert!(readme.contains(&format!("{code} {head}")), "{code} {head}");
    }
}

#[test]
fn the_readme_shows_the_grammar_that_help_shows() {
    let world = World::new();
    let help = world.run(["console", "/help"]).well();
    let grammar: Vec<&str> = help.lines().take_while(|line| !line.is_empty()).collect();
    assert!(readme().contains(&format!("```\n{}\n```", grammar.join("\n"))));
}
