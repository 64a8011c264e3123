//! Small rules over texts of other programs.

/// Splits a text into parts of at most `most` characters, each but an only one marked
/// `(part N of M)`: between paragraphs, else between lines, sentences, words, and in the middle
/// of a word where there is nothing else. No part is empty.
pub(super) fn parts(text: &str, most: usize) -> Vec<String> {
    /// More than the mark of a part has: `\n\n(part 1000000 of 1000000)`.
    const MARK: usize = 32;
    let text = text.trim();
    if text.is_empty() {
        return Vec::new();
    }
    if text.chars().count() <= most {
        return vec![text.to_owned()];
    }
    let most = most.saturating_sub(MARK).max(1);
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(cut(rest, most));
        pieces.push(piece.trim_end());
        rest = after.trim_start();
    }
    let count = pieces.len();
    let marked = pieces.iter().enumerate();
    marked
        .map(|(at, piece)| format!("{piece}\n\n(part {} of {count})", at + 1))
        .collect()
}

/// Returns where the first part of a text ends, in bytes, above 0.
fn cut(text: &str, most: usize) -> usize {
    let Some((end, _)) = text.char_indices().nth(most) else {
        return text.len();
    };
    let head = &text[..end];
    // A border in the first half would make a part of very little.
    let least = end / 2;
    ["\n\n", "\n", ". ", " "]
        .into_iter()
        .filter_map(|border| head.rfind(border).map(|at| at + border.len()))
        .find(|at| *at > least)
        .unwrap_or(end)
}

/// Takes elements such as `<system-reminder>…</system-reminder>` out of a text. One that is not
/// closed is prose, and stays.
pub(super) fn without_elements(text: &str, names: &[&str]) -> String {
    let mut text = text.to_owned();
    for name in names {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        let mut kept = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once(&open) {
            let Some((_, behind)) = after.split_once(&close) else {
                break;
            };
            kept.push_str(before);
            rest = behind;
        }
        kept.push_str(rest);
        text = kept;
    }
    text
}

/// Returns what stands in the first element of this name.
pub(super) fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, after) = text.split_once(&format!("<{name}>"))?;
    let (inside, _) = after.split_once(&format!("</{name}>"))?;
    Some(inside.trim())
}

/// Writes the name of a relation as words: `works_at` becomes `works at`.
pub(super) fn words(name: &str) -> String {
    let spaced = name.replace(['_', '-'], " ");
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_at_the_best_border() {
        let paragraphs = format!("{}\n\n{}", "a ".repeat(30).trim(), "b ".repeat(30).trim());
        assert_eq!(
            parts(&paragraphs, 100),
            [
                format!("{}\n\n(part 1 of 2)", "a ".repeat(30).trim()),
                format!("{}\n\n(part 2 of 2)", "b ".repeat(30).trim()),
            ]
        );
        let word = "ß".repeat(100);
        let split = parts(&word, 92);
        assert_eq!(split.len(), 2);
        assert!(split[0].starts_with(&"ß".repeat(60)), "{split:?}");
    }

    #[test]
    fn no_part_is_too_long_and_no_word_is_lost() {
        for length in [92, 93, 150, 1000] {
            let text: String = (0..length).map(|n| format!("word{n} ")).collect();
            let split = parts(&text, 92);
            assert!(split.iter().all(|part| part.chars().count() <= 92));
            let words: Vec<&str> = split
                .iter()
                .flat_map(|part| part.split("\n\n(part").next().unwrap().split(' '))
                .collect();
            let all: Vec<&str> = text.split_whitespace().collect();
            assert_eq!(words, all);
        }
        assert_eq!(parts(" as it is ", 10), ["as it is"]);
        assert_eq!(parts(" \n", 10), [""; 0]);
    }

    #[test]
    fn elements_are_taken_out_and_prose_about_them_is_not() {
        let names = ["system-reminder", "stdout"];
        let check = |text: &str, want: &str| assert_eq!(without_elements(text, &names), want);
        check(
            "a<system-reminder>x\ny</system-reminder>b<stdout></stdout>",
            "ab",
        );
        check(
            "<system-reminder>x</system-reminder>a<system-reminder>y</system-reminder>",
            "a",
        );
        check(
            "what is a <system-reminder>?",
            "what is a <system-reminder>?",
        );
        assert_eq!(element("<a> x </a><b>y</b>", "a"), Some("x"));
        assert_eq!(element("<a>x", "a"), None);
    }

    #[test]
    fn names_of_relations_read_as_words() {
        assert_eq!(words("works_at"), "works at");
        assert_eq!(words(" depends-on "), "depends on");
    }
}
