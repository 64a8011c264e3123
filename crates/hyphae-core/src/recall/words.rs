//! From text to words. Everything a person may type is searched for; nothing is syntax.
//!
//! A word is a run of letters and digits, folded (NFKC, lower case) and stemmed if it is plain
//! English. Names from code (`HYPHAE_API_KEY`, `ServerHandle`) also count by their parts;
//! scripts without spaces count by single characters and pairs; `C++` and `->` count as they
//! stand; so does every emoji.

use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

use super::terms::{Term, Terms};

/// Returns the words by which a text is found: all but the stop words.
pub fn terms_of(text: &str) -> Terms {
    let mut found = Vec::new();
    each_word(text, |word| {
        if !is_stop_word(word) {
            found.push(term(word));
        }
    });
    Terms::count(found)
}

/// Returns the words by which a text is found, as they are folded, each once, in their order.
pub(crate) fn telling_words(text: &str) -> Vec<(Term, String)> {
    let mut found: Vec<(Term, String)> = Vec::new();
    each_word(text, |word| {
        let term = term(word);
        if !is_stop_word(word) && found.iter().all(|(other, _)| *other != term) {
            found.push((term, word.to_owned()));
        }
    });
    found
}

/// Tells whether two texts say the same in other punctuation, case or inflection: the same words
/// in the same order, stop words and so negations included. `tabs, not spaces` is not
/// `spaces, not tabs`, however near their vectors are.
pub fn say_the_same(a: &str, b: &str) -> bool {
    let words = |text: &str| {
        let mut found = Vec::new();
        each_word(text, |word| found.push(term(word)));
        found
    };
    let signs = |text: &str| -> String {
        let ends_a_phrase =
            |c: char| ".,;:!?\u{2026}'\"\u{2018}\u{2019}\u{201c}\u{201d}()".contains(c);
        text.chars()
            .filter(|c| !c.is_alphanumeric() && !c.is_whitespace() && !ends_a_phrase(*c))
            .collect()
    };
    words(a) == words(b) && signs(a) == signs(b)
}

static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

fn term(word: &str) -> Term {
    let plain = word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase());
    let hash = if plain {
        blake3::hash(STEMMER.stem(word).as_bytes())
    } else {
        blake3::hash(word.as_bytes())
    };
    let [a, b, c, d, e, f, g, h, ..] = *hash.as_bytes();
    Term(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
}

/// What a character is to the splitter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Part of a word that spaces delimit.
    Letter,
    /// A character of a script that does not put spaces between words.
    Dense,
    /// An ASCII sign that may be part of an operator.
    Sign,
    /// A symbol that means something by itself, such as an emoji.
    Symbol,
    /// Anything else.
    Gap,
}

fn kind(c: char) -> Kind {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' => Kind::Letter,
        '+' | '#' | '<' | '>' | '=' | '&' | '|' | '*' | '%' | '^' | '~' | ':' | '/' | '\\'
        | '@' | '$' | '!' | '-' => Kind::Sign,
        // Thai, Lao, Khmer, Myanmar; kana, ideographs of all planes.
        '\u{0e00}'..='\u{0eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => Kind::Dense,
        // Joiners and selectors inside emoji are not words of their own.
        '\u{200d}' | '\u{fe00}'..='\u{fe0f}' => Kind::Gap,
        '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}' => Kind::Symbol,
        _ if c.is_alphanumeric() => Kind::Letter,
        // A mark belongs to the letter it stands on.
        _ if unicode_normalization::char::is_combining_mark(c) => Kind::Letter,
        _ => Kind::Gap,
    }
}

fn each_word(text: &str, mut found: impl FnMut(&str)) {
    let folded: String = text.nfkc().collect();
    let mut rest = folded.as_str();
    while let Some(first) = rest.chars().next() {
        let kind_of_run = kind(first);
        let end = rest
            .char_indices()
            .find(|&(at, c)| !continues(rest, at, c, kind_of_run))
            .map_or(rest.len(), |(at, _)| at);
        let (run, after) = rest.split_at(end.max(first.len_utf8()));
        match kind_of_run {
            Kind::Letter => rest = word(run, after, &mut found),
            Kind::Dense => {
                dense(run, &mut found);
                rest = after;
            }
            Kind::Sign => {
                // Prose is full of `--`, `!!` and `/`; an operator has a sign that prose lacks.
                if run.len() > 1 && run.contains(|c| !matches!(c, '-' | '!' | '/')) {
                    found(run);
                }
                rest = after;
            }
            Kind::Symbol => {
                run.chars().for_each(|c| found(c.encode_utf8(&mut [0; 4])));
                rest = after;
            }
            Kind::Gap => rest = after,
        }
    }
}

/// Tells whether the character at `at` still belongs to a run of one kind that begins `rest`.
fn continues(rest: &str, at: usize, c: char, kind_of_run: Kind) -> bool {
    if kind(c) == kind_of_run {
        return true;
    }
    // An apostrophe, a point or an underscore between two letters or digits joins them.
    kind_of_run == Kind::Letter
        && matches!(c, '\'' | '’' | '_' | '.')
        && rest[at + c.len_utf8()..]
            .chars()
            .next()
            .is_some_and(|next| kind(next) == Kind::Letter)
}

/// Reports a word and its parts; returns what follows it.
fn word<'a>(run: &str, after: &'a str, found: &mut impl FnMut(&str)) -> &'a str {
    // `C++`, `F#`: signs that stick to a short name and end there are part of it.
    let signs = after
        .bytes()
        .take_while(|b| matches!(b, b'+' | b'#'))
        .count();
    let ends = after[signs..]
        .chars()
        .next()
        .is_none_or(|c| kind(c) == Kind::Gap);
    if signs > 0 && signs <= 2 && ends && run.len() <= 3 {
        found(&format!("{}{}", run.to_lowercase(), &after[..signs]));
        return &after[signs..];
    }
    let bare = ["'s", "’s", "'S", "’S"]
        .iter()
        .find_map(|s| run.strip_suffix(s))
        .unwrap_or(run);
    let whole: String = bare.chars().filter(|c| !matches!(c, '\'' | '’')).collect();
    let lower = whole.to_lowercase();
    found(&lower);
    let parts = parts(&whole);
    if parts.len() > 1 {
        parts.iter().for_each(|part| found(&part.to_lowercase()));
    }
    after
}

/// Splits a name from code at points, underscores, and where lower case meets upper case.
fn parts(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let chars: Vec<(usize, char)> = name.char_indices().collect();
    for (i, &(at, c)) in chars.iter().enumerate() {
        let joint = matches!(c, '_' | '.');
        let hump = i > 0
            && c.is_uppercase()
            && (chars[i - 1].1.is_lowercase()
                || (chars[i - 1].1.is_uppercase()
                    && chars
                        .get(i + 1)
                        .is_some_and(|(_, next)| next.is_lowercase())));
        if joint || hump {
            if start < at {
                parts.push(&name[start..at]);
            }
            start = if joint { at + c.len_utf8() } else { at };
        }
    }
    if start < name.len() {
        parts.push(&name[start..]);
    }
    // `1.5` is one number, not two.
    if parts
        .iter()
        .all(|part| part.bytes().all(|b| b.is_ascii_digit()))
    {
        return vec![name];
    }
    parts
}

fn dense(run: &str, found: &mut impl FnMut(&str)) {
    let starts: Vec<usize> = run
        .char_indices()
        .map(|(at, _)| at)
        .chain(std::iter::once(run.len()))
        .collect();
    for window in starts.windows(2) {
        found(&run[window[0]..window[1]]);
    }
    for window in starts.windows(3) {
        found(&run[window[0]..window[2]]);
    }
}

/// English words that say nothing about a text's subject. Sorted, for a binary search.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "been", "being", "but", "by", "can", "could", "did", "do", "does", "doing", "for", "from",
    "had", "has", "have", "having", "he", "her", "hers", "him", "his", "how", "i", "if", "im",
    "in", "into", "is", "it", "its", "ive", "just", "me", "my", "no", "not", "of", "on", "or",
    "our", "ours", "out", "she", "should", "so", "some", "such", "than", "that", "thats", "the",
    "their", "theirs", "them", "then", "there", "these", "they", "this", "those", "to", "too",
    "up", "us", "very", "was", "we", "were", "what", "whats", "when", "where", "which", "who",
    "whom", "whose", "why", "will", "with", "would", "you", "your", "yours",
];

fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        let mut words = Vec::new();
        each_word(text, |word| words.push(word.to_owned()));
        assert_eq!(words, want, "{text:?}");
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        check(
            "We ship Postgres 15, not MySQL.",
            &["we", "ship", "postgres", "15", "not", "mysql", "my", "sql"],
        );
        check(
            "rm -rf \"quoted\" title:x (a OR b)* NEAR/3",
            &[
                "rm", "rf", "quoted", "title", "x", "a", "or", "b", "near", "3",
            ],
        );
    }

    #[test]
    fn names_from_code_count_whole_and_by_their_parts() {
        check(
            "HYPHAE_API_KEY",
            &["hyphae_api_key", "hyphae", "api", "key"],
        );
        check("ServerHandle", &["serverhandle", "server", "handle"]);
        check("HTTPServer", &["httpserver", "http", "server"]);
        check(
            "node.js v1.5",
            &["node.js", "node", "js", "v1.5", "v1", "5"],
        );
        check("1.5", &["1.5"]);
    }

    #[test]
    fn signs_that_mean_something_are_kept() {
        check(
            "C++ and F#, a->b x::y",
            &["c++", "and", "f#", "a", "->", "b", "x", "::", "y"],
        );
        check("well -- yes!! and/or?", &["well", "yes", "and", "or"]);
        check("🚀 ship", &["🚀", "ship"]);
    }

    #[test]
    fn scripts_without_spaces_count_by_characters_and_pairs() {
        check("数据库", &["数", "据", "库", "数据", "据库"]);
        check("Привет мир", &["привет", "мир"]);
        check("שלום", &["שלום"]);
    }

    #[test]
    fn possessives_and_contractions_are_folded() {
        check("Caroline's don’t", &["caroline", "dont"]);
    }

    #[test]
    fn words_that_look_alike_are_the_same() {
        assert_eq!(terms_of("deploys"), terms_of("DEPLOYED"));
        assert_eq!(terms_of("cafe\u{301}"), terms_of("café"));
        assert_eq!(terms_of("ﬁle"), terms_of("file"));
    }

    #[test]
    fn the_same_is_the_same_words_in_the_same_order() {
        assert!(say_the_same(
            "We ship Postgres, for V1!",
            "we shipped Postgres for v1"
        ));
        assert!(!say_the_same("tabs, not spaces", "spaces, not tabs"));
        assert!(!say_the_same("Postgres 15", "Postgres 16"));
        assert!(say_the_same(
            "Slow (again).",
            "\u{201c}slow\u{201d} again\u{2026}"
        ));
        for (a, b) in [
            ("> 20", "< 20"),
            ("10%", "10"),
            ("+5", "-5"),
            ("$5", "\u{20ac}5"),
        ] {
            assert!(!say_the_same(a, b), "{a} {b}");
        }
    }

    #[test]
    fn stop_words_are_not_searched_for_but_are_compared() {
        assert!(terms_of("what did you do with it?").is_empty());
        assert!(!say_the_same("we do ship", "we do not ship"));
        assert!(STOP_WORDS.is_sorted());
    }
}
