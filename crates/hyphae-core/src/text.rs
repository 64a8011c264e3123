//! Small rules over text that several parts share.

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// Returns the text in Unicode NFC, with every kind of line end folded to `\n` and no white
/// space around it.
/// Two texts that look the same compare the same.
pub fn normalise(text: &str) -> String {
    text.replace("\r\n", "\n")
        .replace('\r', "\n")
        .nfc()
        .collect::<String>()
        .trim()
        .to_owned()
}

/// Returns at most `max` user-perceived characters of the first line, with `…` where something
/// was left out. For messages, never for storage.
pub fn shorten(text: &str, max: usize) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut short: String = line.graphemes(true).take(max).collect();
    if short.len() < text.trim_end().len() {
        short.push('…');
    }
    short
}

/// Joins names as people write them: `a, b or c`.
pub fn join_names<const N: usize>(names: [&str; N]) -> String {
    match names.as_slice() {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [head @ .., last] => format!("{} or {last}", head.join(", ")),
    }
}

/// Returns the name nearest to `typed`, if one is near enough to be what was meant: at most two
/// edits (insert, delete, replace, swap of neighbours), and fewer than half of its length.
pub fn nearest_name<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    names
        .into_iter()
        .map(|name| (edits(&typed, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= 2 && distance * 2 < name.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Returns the optimal string alignment distance (Damerau's with each part edited once).
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(rows[i - 2][j - 2] + 1);
            }
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_only_when_it_is_near() {
        let verbs = ["store", "recall", "query", "help"];
        assert_eq!(nearest_name("recal", verbs), Some("recall"));
        assert_eq!(nearest_name("sotre", verbs), Some("store"));
        assert_eq!(nearest_name("hlep", verbs), Some("help"));
        assert_eq!(nearest_name("etc/hosts", verbs), None);
        assert_eq!(nearest_name("x", verbs), None);
    }

    #[test]
    fn what_is_normal_stays_as_it_is() {
        assert_eq!(normalise(" a\r\r\nb\rc\r\n"), "a\n\nb\nc");
        for text in ["a\r\r\nb", "e\u{301}\r", "\u{1e9b}\u{323}"] {
            let once = normalise(text);
            assert_eq!(normalise(&once), once);
        }
    }

    #[test]
    fn shortening_marks_what_it_left_out() {
        assert_eq!(shorten("abc", 3), "abc");
        assert_eq!(shorten("abcd", 3), "abc…");
        assert_eq!(shorten("a\nb", 3), "a…");
    }
}
