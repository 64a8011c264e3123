//! Entries of lists that say something in basic-memory's notation.

/// What an entry of a list says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// `[category] text #tag (context)`, or a text with tags. The text is as it is written, with
    /// tags and context.
    Observation {
        category: Option<String>,
        text: String,
        tags: Vec<String>,
    },
    /// `[ ] text`.
    Task { text: String },
    /// `kind [[Note]] (context)`.
    Relation {
        kind: String,
        target: String,
        context: Option<String>,
    },
}

/// Returns what stands behind the mark of an entry of a list.
pub(super) fn entry(line: &str) -> Option<&str> {
    let text = line.trim_start();
    let rest = text.strip_prefix(['-', '*', '+'])?;
    rest.starts_with([' ', '\t']).then(|| rest.trim())
}

/// Tells whether a line goes on with the entry before it.
pub(super) fn continues(line: &str) -> bool {
    line.starts_with("  ") && !line.trim().is_empty() && entry(line).is_none()
}

impl Item {
    /// Reads an entry; none if it is prose.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Some(rest) = text.strip_prefix("[ ] ") {
            let text = rest.trim().to_owned();
            return (!text.is_empty()).then_some(Self::Task { text });
        }
        relation(text).or_else(|| observation(text))
    }
}

fn observation(text: &str) -> Option<Item> {
    let (category, text) = match category(text) {
        Some((category, rest)) => (Some(category.to_owned()), rest),
        None => (None, text),
    };
    let tags: Vec<String> = text
        .split_whitespace()
        .filter(|word| word.len() > 1 && word.starts_with('#'))
        .flat_map(|word| word.split('#'))
        .map(|tag| tag.trim_end_matches([')', ',', '.', ';']).to_owned())
        .filter(|tag| !tag.is_empty())
        .collect();
    (category.is_some() || !tags.is_empty()).then(|| Item::Observation {
        category,
        text: text.to_owned(),
        tags,
    })
}

/// Takes `[category] ` off. A box of a task, a link and a time of a transcript are none.
fn category(text: &str) -> Option<(&str, &str)> {
    let (category, rest) = text.strip_prefix('[')?.split_once(']')?;
    let category = category.trim();
    let spaced = rest.starts_with([' ', '\t']) && !rest.trim().is_empty();
    let of_words = category.chars().any(char::is_alphabetic);
    let mark = category.chars().count() == 1 && !category.chars().all(char::is_alphanumeric);
    let done = category.eq_ignore_ascii_case("x");
    let plain = !category.contains(['[', '(', ')']);
    (spaced && of_words && plain && !mark && !done).then(|| (category, rest.trim()))
}

fn relation(text: &str) -> Option<Item> {
    let (before, rest) = text.split_once("[[")?;
    let (target, after) = rest.split_once("]]")?;
    let before = before.trim();
    let quoted = ['"', '\''].into_iter().find_map(|quote| {
        let inside = before.strip_prefix(quote)?.strip_suffix(quote)?;
        Some(inside.trim())
    });
    let kind = match quoted {
        Some(kind) => kind,
        // A sentence that names a note is no relation.
        None if before.contains(char::is_whitespace) => return None,
        None => before,
    };
    // What is shown instead of the name of a note stands behind it.
    let target = target.split('|').next().unwrap_or_default().trim();
    let after = after.trim();
    let context = match after {
        "" => None,
        _ => Some(after.strip_prefix('(')?.strip_suffix(')')?),
    };
    let one = context.is_none_or(|context| !context.contains(['(', ')', '[']));
    let named = !kind.is_empty() && !target.is_empty();
    (named && one).then(|| Item::Relation {
        kind: kind.to_owned(),
        target: target.to_owned(),
        context: context.map(|context| context.trim().to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observation(category: Option<&str>, text: &str, tags: &[&str]) -> Option<Item> {
        Some(Item::Observation {
            category: category.map(str::to_owned),
            text: text.to_owned(),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        })
    }

    fn relation(kind: &str, target: &str, context: Option<&str>) -> Option<Item> {
        Some(Item::Relation {
            kind: kind.to_owned(),
            target: target.to_owned(),
            context: context.map(str::to_owned),
        })
    }

    #[test]
    fn observations_are_told_from_prose() {
        let check = |text: &str, want: Option<Item>| assert_eq!(Item::parse(text), want, "{text}");
        check(
            "[decision] Use Postgres #db #v1 (after the trial)",
            observation(
                Some("decision"),
                "Use Postgres #db #v1 (after the trial)",
                &["db", "v1"],
            ),
        );
        check(
            "[tech stack] Rust",
            observation(Some("tech stack"), "Rust", &[]),
        );
        check(
            "fast with #rust#cli.",
            observation(None, "fast with #rust#cli.", &["rust", "cli"]),
        );
        check(
            "fast with #rust (or not)",
            observation(None, "fast with #rust (or not)", &["rust"]),
        );
        for prose in [
            "[x] done",
            "[-] dropped",
            "[/] half",
            "[00:01:02] we begin",
            "[text](https://example.com)",
            "[category]",
            "[category]text",
            "plain",
            "# alone",
        ] {
            check(prose, None);
        }
        let task = |text: &str| {
            Some(Item::Task {
                text: text.to_owned(),
            })
        };
        check("[ ] write the docs", task("write the docs"));
        check("[ ] ", None);
    }

    #[test]
    fn relations_are_told_from_sentences() {
        let check = |text: &str, want: Option<Item>| assert_eq!(Item::parse(text), want, "{text}");
        check(
            "depends_on [[User Store]]",
            relation("depends_on", "User Store", None),
        );
        check(
            "\"is part of\" [[A|the A]]",
            relation("is part of", "A", None),
        );
        check(
            "uses [[B]] (since 2024)",
            relation("uses", "B", Some("since 2024")),
        );
        for prose in [
            "see also [[B]] for more",
            "[[B]]",
            "uses [[B]] and [[C]]",
            "uses [[B]] (a) and (b)",
            "uses [[ ]]",
            "uses [[B",
        ] {
            check(prose, None);
        }
    }

    #[test]
    fn entries_of_lists_begin_with_a_mark() {
        assert_eq!(entry("  - a"), Some("a"));
        assert_eq!(entry("*\tb "), Some("b"));
        for line in ["-a", "---", "a - b", "", "> - a"] {
            assert_eq!(entry(line), None, "{line}");
        }
        assert!(continues("  more"));
        assert!(!continues("  - other") && !continues("more") && !continues("   "));
    }
}
