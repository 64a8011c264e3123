//! How many tokens an answer may have, counted in one place.
//!
//! A tokenizer of one model says little about another, so tokens are estimated, on the safe
//! side. Four letters or blanks make one, two digits or signs make one; in a run of letters and
//! digits (ids, hashes, base64) each character is three quarters of one; a character beyond
//! ASCII is one, and one beyond the basic plane (emoji, rare ideographs) three. Beside the
//! o200k and cl100k vocabularies this comes out 0 to 30 % high for English, German, Chinese,
//! Japanese, Korean and our own JSON, at most 5 % low for source code, and twice too high for
//! Cyrillic.

use serde_json::{Map, Value};

/// The most that a caller can ask for; clients cut or refuse what is far larger.
pub(crate) const MOST_TOKENS: usize = 20_000;

/// The least: an answer with nothing in it has its own size.
pub(crate) const LEAST_TOKENS: usize = 300;

/// Returns how many tokens a text is taken for.
pub(crate) fn tokens(text: &str) -> usize {
    costs(text)
        .map(|(_, _, quarters)| quarters)
        .sum::<usize>()
        .div_ceil(4)
}

/// Goes through the characters of a text: where each stands, and how many quarters of a token
/// it is taken for.
fn costs(text: &str) -> impl Iterator<Item = (usize, char, usize)> {
    let mut run_end = 0;
    let mut mixed = false;
    text.char_indices().map(move |(at, c)| {
        if c.is_ascii_alphanumeric() && at >= run_end {
            let run = &text.as_bytes()[at..];
            let length = run.iter().take_while(|byte| byte.is_ascii_alphanumeric());
            let run = &run[..length.count()];
            run_end = at + run.len();
            mixed = run.iter().any(u8::is_ascii_digit) && run.iter().any(u8::is_ascii_alphabetic);
        }
        let quarters = match c {
            '0'..='9' | 'a'..='z' | 'A'..='Z' if mixed => 3,
            'a'..='z' | 'A'..='Z' | ' ' => 1,
            c if c.is_ascii() => 2,
            '\u{80}'..='\u{FFFF}' => 4,
            _ => 12,
        };
        (at, c, quarters)
    })
}

/// Returns how many tokens a value is taken for as JSON.
pub(crate) fn tokens_of(value: &Value) -> usize {
    tokens(&value.to_string())
}

/// What of a list fits.
#[derive(Debug, PartialEq)]
pub(crate) struct Fitted {
    /// The first ones, in order, the last perhaps shortened.
    pub(crate) kept: Vec<Value>,
    /// How many are not there.
    pub(crate) omitted: usize,
}

/// The field of an item that may be shortened.
const CONTENT: &str = "content";

/// Keeps the first items that fit into `budget` tokens. An item's `content` is shortened to
/// `share` tokens, or to what is left for the first, and then marked `truncated`.
pub(crate) fn fit(items: Vec<Map<String, Value>>, budget: usize, share: usize) -> Fitted {
    let all = items.len();
    let mut left = budget;
    let mut kept = Vec::new();
    for mut item in items {
        shorten(&mut item, share);
        let mut item = Value::Object(item);
        // The comma behind it.
        let mut cost = tokens_of(&item) + 1;
        if cost > left
            && kept.is_empty()
            && let Value::Object(first) = &mut item
        {
            let content = first.get(CONTENT).map_or(0, tokens_of);
            shorten(first, content.saturating_sub(cost - left));
            cost = tokens_of(&item) + 1;
        }
        if cost > left {
            break;
        }
        left -= cost;
        kept.push(item);
    }
    Fitted {
        omitted: all - kept.len(),
        kept,
    }
}

/// Shortens an item's content to about `limit` tokens and marks it `truncated`.
pub(crate) fn shorten(item: &mut Map<String, Value>, limit: usize) {
    let Some(Value::String(content)) = item.get(CONTENT) else {
        return;
    };
    if tokens_of(&Value::from(content.as_str())) <= limit {
        return;
    }
    let short = head(content, limit.saturating_sub(8));
    item.insert(CONTENT.to_owned(), format!("{short}…").into());
    item.insert("truncated".to_owned(), true.into());
}

/// Returns the longest beginning that is taken for at most `limit` tokens as a JSON text.
fn head(text: &str, limit: usize) -> &str {
    let mut quarters = 0;
    for (at, c, cost) in costs(text) {
        quarters += match c {
            // Written as \" or \n.
            '"' | '\\' | '\n' | '\t' => 4,
            // Written as \u0000, which is a mixed run.
            c if c.is_ascii_control() => 20,
            _ => cost,
        };
        if quarters > limit * 4 {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn item(content: &str) -> Map<String, Value> {
        let Value::Object(item) = json!({"id": 1, "content": content}) else {
            unreachable!();
        };
        item
    }

    #[test]
    fn tokens_are_estimated_by_kind_of_character() {
        for (text, want) in [
            ("", 0),
            ("abcd", 1),
            ("abcde", 2),
            ("1234", 2),
            ("日本語", 3),
            ("🦀", 3),
            ("a-1", 2),
            ("01a22d6a-d285", 10),
        ] {
            assert_eq!(tokens(text), want, "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let items: Vec<_> = (0..10).map(|_| item(&"word ".repeat(20))).collect();
        let fitted = fit(items, 100, 1000);
        assert_eq!((fitted.kept.len(), fitted.omitted), (2, 8));
    }

    #[test]
    fn a_long_content_is_shortened_to_its_share_and_marked() {
        let items = vec![item(&"word ".repeat(400)), item("short")];
        let fitted = fit(items, 1000, 100);
        assert_eq!(fitted.omitted, 0);
        assert_eq!(fitted.kept[0]["truncated"], true);
        assert!(tokens_of(&fitted.kept[0]) < 120);
        assert_eq!(fitted.kept[1], json!({"id": 1, "content": "short"}));
    }

    #[test]
    fn the_first_is_shown_even_if_only_its_beginning_fits() {
        for text in ["word ", "\"\n\u{1}", "日本", "🦀"] {
            let fitted = fit(vec![item(&text.repeat(2000)), item("b")], 90, 5000);
            let used: usize = fitted.kept.iter().map(|item| tokens_of(item) + 1).sum();
            assert!(used <= 90, "{text}: {used}");
            assert!(!fitted.kept.is_empty(), "{text}");
        }
    }
}
