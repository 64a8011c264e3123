//! The console's language: a prompt is parsed, never interpreted.
//!
//! Flags stand before the content, each at most once; `--` ends them; `--k=5` and `--k 5` mean
//! the same. Verbs and values of flags fold case, names of flags do not, because a near miss
//! means that somebody expected behaviour that would not have been applied. The content is the
//! untouched rest.

use crate::{
    cell::{CellType, Layer, Share},
    memories::HitCount,
    text,
};

/// What a prompt asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Keep a memory.
    Store {
        /// Its type.
        cell_type: CellType,
        /// Its salience.
        salience: Share,
        /// Its text.
        content: String,
    },
    /// Look for memories.
    Recall {
        /// The most matches wanted.
        k: HitCount,
        /// What to look for.
        query: String,
    },
    /// Look for memories on one layer.
    Query {
        /// The layer.
        layer: Layer,
        /// The most matches wanted.
        k: HitCount,
        /// What to look for.
        query: String,
    },
    /// Show the grammar.
    Help,
}

/// What `/help` shows.
pub const HELP: &str = "\
/store [--type <CellType>] [--salience <0..1>] <content>   store a memory (default: Fact, 0.5)
/recall [--k <n>] <query>                                  recall similar memories (default k=10)
/query --layer <L0|L1|L2> [--k <n>] <query>                recall at an explicit layer
/help                                                      show this text

Anything that is not a /-command is treated as /recall <text>.
CellType is one of Decision, Constraint, Risk, Pattern, Lesson, Fact, Preference, Context, Task.";

/// One verb of the language.
#[derive(Debug, Clone, Copy)]
pub struct Verb {
    /// Without its slash.
    pub name: &'static str,
    /// One line on what it does.
    pub description: &'static str,
    /// What is typed behind it; empty for a bare verb.
    pub arguments: &'static str,
    /// The flags it takes, with their dashes.
    pub flags: &'static [&'static str],
}

/// All verbs, in the order of the manual.
pub const VERBS: [Verb; 4] = [
    Verb {
        name: "store",
        description: "store a memory (default: Fact, 0.5)",
        arguments: "[--type <CellType>] [--salience <0..1>] <content>",
        flags: &["--type", "--salience"],
    },
    Verb {
        name: "recall",
        description: "recall similar memories (default k=10)",
        arguments: "[--k <n>] <query>",
        flags: &["--k"],
    },
    Verb {
        name: "query",
        description: "recall at an explicit layer",
        arguments: "--layer <L0|L1|L2> [--k <n>] <query>",
        flags: &["--layer", "--k"],
    },
    Verb {
        name: "help",
        description: "show the grammar",
        arguments: "",
        flags: &[],
    },
];

impl Verb {
    fn usage(&self) -> String {
        format!("usage: /{} {}", self.name, self.arguments)
    }
}

/// Why a prompt was not understood. Its text is the message that people see, without `error: `.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Misunderstood(String);

/// Reads a prompt.
///
/// # Errors
/// [`Misunderstood`] says what is wrong and what would be right; nothing was done.
pub fn parse(prompt: &str) -> Result<Command, Misunderstood> {
    let Some(line) = prompt.strip_prefix('/') else {
        return Ok(Command::Recall {
            k: HitCount::default(),
            query: prompt.to_owned(),
        });
    };
    let end = line.find(char::is_whitespace).unwrap_or(line.len());
    let (typed, rest) = line.split_at(end);
    let Some(verb) = VERBS
        .iter()
        .find(|verb| verb.name.eq_ignore_ascii_case(typed))
    else {
        return Err(unknown_command(typed));
    };
    if verb.name == "help" {
        return Ok(Command::Help);
    }
    let Arguments { mut flags, content } = Arguments::read(verb, rest)?;
    let missing = |what: &str| Misunderstood(format!("missing {what}; {}", verb.usage()));
    let mut k = || -> Result<HitCount, Misunderstood> {
        flags
            .value("--k", |value| {
                value
                    .parse()
                    .ok()
                    .and_then(HitCount::new)
                    .ok_or_else(|| format!("a whole number from 1 to {}", HitCount::MAX))
            })
            .map(Option::unwrap_or_default)
    };
    match verb.name {
        "store" => {
            let cell_type = flags.value("--type", |v| v.parse().map_err(allowed))?;
            let salience = flags.value("--salience", |v| v.parse().map_err(allowed))?;
            if content.trim().is_empty() {
                return Err(missing("content"));
            }
            Ok(Command::Store {
                cell_type: cell_type.unwrap_or_default(),
                salience: salience.unwrap_or(Share::HALF),
                content: content.to_owned(),
            })
        }
        "query" => {
            let k = k()?;
            let layer = flags.value("--layer", |v| v.parse().map_err(allowed))?;
            let layer = layer.ok_or_else(|| missing("--layer"))?;
            if content.trim().is_empty() {
                return Err(missing("query"));
            }
            Ok(Command::Query {
                layer,
                k,
                query: content.to_owned(),
            })
        }
        _ => {
            let k = k()?;
            if content.trim().is_empty() {
                return Err(missing("query"));
            }
            Ok(Command::Recall {
                k,
                query: content.to_owned(),
            })
        }
    }
}

fn allowed(bad: crate::cell::BadValue) -> String {
    bad.allowed
}

fn unknown_command(typed: &str) -> Misunderstood {
    let shown = text::shorten(typed, 60);
    // A path, a comment or a regular expression was more likely meant to be looked for.
    let looks_like_text = typed.contains(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_'));
    let hint = if looks_like_text || typed.is_empty() {
        ", or put a space in front to search for it"
    } else {
        ""
    };
    Misunderstood(format!("unknown command \"/{shown}\"; try /help{hint}"))
}

/// What stands behind a verb.
struct Arguments<'a> {
    flags: Flags<'a>,
    content: &'a str,
}

struct Flags<'a>(Vec<(&'static str, &'a str)>);

impl<'a> Arguments<'a> {
    fn read(verb: &Verb, rest: &'a str) -> Result<Self, Misunderstood> {
        let mut flags: Vec<(&'static str, &'a str)> = Vec::new();
        let mut rest = rest;
        loop {
            let content = rest.trim_start();
            if !content.starts_with("--") {
                return Ok(Self {
                    flags: Flags(flags),
                    content,
                });
            }
            let (token, after) = split_token(content);
            if token == "--" {
                return Ok(Self {
                    flags: Flags(flags),
                    content: after.trim_start(),
                });
            }
            let (name, inline) = match token.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (token, None),
            };
            let Some(flag) = verb.flags.iter().copied().find(|flag| *flag == name) else {
                return Err(unknown_flag(verb, name));
            };
            if flags.iter().any(|(seen, _)| *seen == flag) {
                return Err(Misunderstood(format!(
                    "flag {flag} is given twice; give it once"
                )));
            }
            let (value, after) = match inline {
                Some(value) => (value, after),
                None => split_token(after.trim_start()),
            };
            if value.is_empty() {
                return Err(Misunderstood(format!(
                    "flag {flag} needs a value; {}",
                    verb.usage()
                )));
            }
            flags.push((flag, value));
            rest = after;
        }
    }
}

impl Flags<'_> {
    fn value<T>(
        &mut self,
        flag: &str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Misunderstood> {
        let Some((_, value)) = self.0.iter().find(|(name, _)| *name == flag) else {
            return Ok(None);
        };
        read(value).map(Some).map_err(|allowed| {
            Misunderstood(format!(
                "{flag} \"{}\" is not {allowed}",
                text::shorten(value, 40)
            ))
        })
    }
}

fn unknown_flag(verb: &Verb, name: &str) -> Misunderstood {
    let shown = text::shorten(name, 40);
    let all = VERBS.iter().flat_map(|verb| verb.flags.iter().copied());
    let near = text::nearest_name(name, verb.flags.iter().copied());
    let advice = match (near, all.into_iter().any(|flag| flag == name)) {
        (Some(flag), _) => format!("did you mean {flag}?"),
        (None, true) => format!("/{} takes {}", verb.name, verb.flags.join(" and ")),
        (None, false) => {
            format!(
                "/{} takes {}; write -- before content that begins with --",
                verb.name,
                verb.flags.join(" and ")
            )
        }
    };
    Misunderstood(format!("unknown flag \"{shown}\"; {advice}"))
}

fn split_token(text: &str) -> (&str, &str) {
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn store(cell_type: CellType, salience: f64, content: &str) -> Command {
        Command::Store {
            cell_type,
            salience: Share::new(salience).unwrap(),
            content: content.to_owned(),
        }
    }

    fn recall(k: u16, query: &str) -> Command {
        Command::Recall {
            k: HitCount::new(k).unwrap(),
            query: query.to_owned(),
        }
    }

    fn query(layer: Layer, k: u16, query: &str) -> Command {
        Command::Query {
            layer,
            k: HitCount::new(k).unwrap(),
            query: query.to_owned(),
        }
    }

    #[track_caller]
    fn check(prompt: &str, want: Command) {
        assert_eq!(parse(prompt), Ok(want), "{prompt:?}");
    }

    #[track_caller]
    fn refuse(prompt: &str, want: &str) {
        assert_eq!(
            parse(prompt).map_err(|e| e.to_string()),
            Err(want.to_owned()),
            "{prompt:?}"
        );
    }

    #[test]
    fn the_manuals_examples_are_understood() {
        check(
            "we decided to ship Postgres for V1",
            recall(10, "we decided to ship Postgres for V1"),
        );
        check(
            "/store --type Decision --salience 0.9 We ship Postgres for V1",
            store(CellType::Decision, 0.9, "We ship Postgres for V1"),
        );
        check(
            "/recall --k 3 gossip energy model",
            recall(3, "gossip energy model"),
        );
        check(
            "/query --layer L2 architecture patterns",
            query(Layer::L2, 10, "architecture patterns"),
        );
        check("/help", Command::Help);
    }

    #[test]
    fn verbs_and_values_fold_case_and_flag_names_do_not() {
        check("/QUERY --layer l1 x", query(Layer::L1, 10, "x"));
        check(
            "/Store --type dEcIsIoN x",
            store(CellType::Decision, 0.5, "x"),
        );
        refuse(
            "/query --LAYER l1 x",
            "unknown flag \"--LAYER\"; did you mean --layer?",
        );
        refuse("/recall --K 3 x", "unknown flag \"--K\"; did you mean --k?");
    }

    #[test]
    fn flags_stand_before_the_content_in_either_form() {
        check("/recall --k=5 x --k 6", recall(5, "x --k 6"));
        check("/recall --k 5 -- --k 6", recall(5, "--k 6"));
        check("/store -- --type", store(CellType::Fact, 0.5, "--type"));
        check(
            "/store --salience=.5 --type=task x",
            store(CellType::Task, 0.5, "x"),
        );
        check(
            "/store -rf is dangerous",
            store(CellType::Fact, 0.5, "-rf is dangerous"),
        );
    }

    #[test]
    fn the_content_is_the_untouched_rest() {
        check(
            "/store a\n  b\t c\n",
            store(CellType::Fact, 0.5, "a\n  b\t c\n"),
        );
        check(
            "/store\nfirst\nsecond",
            store(CellType::Fact, 0.5, "first\nsecond"),
        );
        check("  /store x", recall(10, "  /store x"));
        check(
            "/store \"quoted 'x'\" \\n",
            store(CellType::Fact, 0.5, "\"quoted 'x'\" \\n"),
        );
    }

    #[test]
    fn a_typo_is_reported_and_never_searched_for() {
        refuse("/recal x", "unknown command \"/recal\"; try /help");
        refuse(
            "/",
            "unknown command \"/\"; try /help, or put a space in front to search for it",
        );
        refuse(
            "/etc/hosts is wrong",
            "unknown command \"/etc/hosts\"; try /help, or put a space in front to search for it",
        );
        refuse(
            "// a comment",
            "unknown command \"//\"; try /help, or put a space in front to search for it",
        );
    }

    #[test]
    fn a_bad_value_names_itself_and_what_is_allowed() {
        for value in ["0", "101", "-1", "ten", "3.5", "99999999999999999999"] {
            refuse(
                &format!("/recall --k {value} x"),
                &format!("--k \"{value}\" is not a whole number from 1 to 100"),
            );
        }
        for value in ["NaN", "1.0001", "-0.1", "inf", "high"] {
            refuse(
                &format!("/store --salience {value} x"),
                &format!("--salience \"{value}\" is not a number from 0 to 1, such as 0.5"),
            );
        }
        check("/store --salience -0 x", store(CellType::Fact, 0.0, "x"));
        refuse("/query --layer L3 x", "--layer \"L3\" is not L0, L1 or L2");
        refuse(
            "/store --type Idea x",
            "--type \"Idea\" is not Decision, Constraint, Risk, Pattern, Lesson, Fact, Preference, Context or Task",
        );
    }

    #[test]
    fn what_is_missing_is_shown_by_the_usage() {
        refuse(
            "/store",
            "missing content; usage: /store [--type <CellType>] [--salience <0..1>] <content>",
        );
        refuse(
            "/store --type Fact  \n",
            "missing content; usage: /store [--type <CellType>] [--salience <0..1>] <content>",
        );
        refuse(
            "/recall --k 3",
            "missing query; usage: /recall [--k <n>] <query>",
        );
        refuse(
            "/query x",
            "missing --layer; usage: /query --layer <L0|L1|L2> [--k <n>] <query>",
        );
        refuse(
            "/query --layer L1",
            "missing query; usage: /query --layer <L0|L1|L2> [--k <n>] <query>",
        );
        refuse(
            "/recall --k",
            "flag --k needs a value; usage: /recall [--k <n>] <query>",
        );
        refuse(
            "/recall --k= x",
            "flag --k needs a value; usage: /recall [--k <n>] <query>",
        );
    }

    #[test]
    fn a_flag_of_another_verb_or_given_twice_is_refused() {
        refuse(
            "/recall --layer L1 x",
            "unknown flag \"--layer\"; /recall takes --k",
        );
        refuse(
            "/recall --k 1 --k 2 x",
            "flag --k is given twice; give it once",
        );
        refuse(
            "/store --typ Fact x",
            "unknown flag \"--typ\"; did you mean --type?",
        );
        refuse(
            "/store --- x",
            "unknown flag \"---\"; /store takes --type and --salience; write -- before content that begins with --",
        );
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_ever_a_panic_and_plain_text_is_always_a_search(text in "\\PC{0,200}") {
            let parsed = parse(&text);
            if !text.starts_with('/') {
                assert_eq!(parsed, Ok(Command::Recall { k: HitCount::default(), query: text }));
            }
        }

        #[test]
        fn stored_content_comes_back_as_it_was(content in "[^\\s-]\\PC{0,80}") {
            let parsed = parse(&format!("/store --type Task {content}"));
            assert_eq!(parsed, Ok(store(CellType::Task, 0.5, &content)));
        }
    }
}
