//! What could be typed next, for terminals.

use super::grammar::VERBS;
use crate::cell::{CellType, Layer};

/// Returns where the word under completion begins (a byte offset) and what it may become.
/// `before` is the line up to the cursor.
pub fn completions(before: &str) -> (usize, Vec<String>) {
    let start = before.rfind(char::is_whitespace).map_or(0, |at| {
        at + before[at..].chars().next().map_or(1, char::len_utf8)
    });
    let word = &before[start..];
    if start == 0 {
        let verbs = VERBS.iter().map(|verb| format!("/{}", verb.name));
        return (0, begin_with(verbs, word));
    }
    let mut words = before[..start].split_whitespace();
    let verb = words
        .next()
        .and_then(|word| word.strip_prefix('/'))
        .unwrap_or_default();
    let Some(verb) = VERBS
        .iter()
        .find(|known| known.name.eq_ignore_ascii_case(verb))
    else {
        return (start, Vec::new());
    };
    // Flags stand before the content: once there was content, nothing more is offered.
    let typed: Vec<&str> = words.collect();
    let mut at = 0;
    while at < typed.len() && typed[at].starts_with("--") && typed[at] != "--" {
        at += if typed[at].contains('=') { 1 } else { 2 };
    }
    if at < typed.len() {
        return (start, Vec::new());
    }
    let waiting = (at > typed.len()).then(|| typed[typed.len() - 1]);
    let (flag, value, head) = match (waiting, word.split_once('=')) {
        (Some(flag), _) => (flag, word, String::new()),
        (None, Some((flag, value))) => (flag, value, format!("{flag}=")),
        (None, None) => {
            let unused = verb.flags.iter().filter(|flag| {
                !typed
                    .iter()
                    .any(|word| word.split('=').next() == Some(**flag))
            });
            return (start, begin_with(unused.map(ToString::to_string), word));
        }
    };
    let values: Vec<&str> = match flag {
        "--type" if verb.flags.contains(&flag) => CellType::ALL.map(CellType::name).to_vec(),
        "--layer" if verb.flags.contains(&flag) => Layer::ALL.map(Layer::name).to_vec(),
        _ => Vec::new(),
    };
    let found = begin_with(values.into_iter().map(str::to_owned), value);
    (
        start,
        found
            .into_iter()
            .map(|value| format!("{head}{value}"))
            .collect(),
    )
}

fn begin_with(names: impl Iterator<Item = String>, typed: &str) -> Vec<String> {
    names
        .filter(|name| {
            name.get(..typed.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(typed))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, start: usize, want: &[&str]) {
        assert_eq!(
            completions(before),
            (start, want.iter().map(ToString::to_string).collect())
        );
    }

    #[test]
    fn verbs_flags_and_values_are_offered_where_they_may_stand() {
        check("/", 0, &["/store", "/recall", "/query", "/help"]);
        check("/RE", 0, &["/recall"]);
        check("/store --", 7, &["--type", "--salience"]);
        check("/store --type ", 14, &CellType::ALL.map(CellType::name));
        check("/store --type d", 14, &["Decision"]);
        check("/store --type=d", 7, &["--type=Decision"]);
        check("/store --type Fact --", 19, &["--salience"]);
        check("/query --layer l", 15, &["L0", "L1", "L2"]);
    }

    #[test]
    fn nothing_is_offered_inside_content() {
        check("/store some text --", 17, &[]);
        check("/store -- --", 10, &[]);
        check("/recal --", 7, &[]);
        check("plain ", 6, &[]);
        check("数 据", 4, &[]);
    }
}
