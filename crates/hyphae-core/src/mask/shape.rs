//! Tokens whose issuers made them recognisable: how one is found in a text.

use std::sync::LazyLock;

use super::{
    Rank, Span,
    kinds::{ALONE, KINDS},
    scan::{ALNUM, ANY_HEX, Scan, Set, WORD},
    value,
};

/// A kind of token: what people read, what each begins with, and what follows.
#[derive(Debug)]
pub(super) struct Kind(
    pub(super) &'static str,
    pub(super) &'static [&'static str],
    pub(super) &'static [Part],
);

/// A part of a token's shape. Runs are greedy and never given back.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    /// This very text.
    Text(&'static str),
    /// A run of at least so many; as the last part it takes the rest of the word with it.
    Many(Set, usize),
    /// A run of so many up to so many, and no longer.
    Within(Set, usize, usize),
    /// The next so many, in whatever run.
    Just(Set, usize),
}

impl Part {
    const fn least(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Many(_, least) | Self::Within(_, least, _) | Self::Just(_, least) => *least,
        }
    }
}

/// A kind by one of the heads it may have, and whether it must stand alone.
type Candidate = (&'static Kind, &'static str, bool);

/// Which kinds begin with a byte.
static BY_FIRST: LazyLock<Vec<Vec<Candidate>>> = LazyLock::new(|| {
    let begins = |head: &str, first: u8| head.bytes().next() == Some(first);
    (0..128)
        .map(|first| {
            candidates()
                .filter(|(_, head, _)| begins(head, first))
                .collect()
        })
        .collect()
});

fn candidates() -> impl Iterator<Item = Candidate> {
    let all = KINDS.iter().map(|kind| (kind, false));
    let all = all.chain(ALONE.iter().map(|kind| (kind, true)));
    all.flat_map(|(kind, alone)| kind.1.iter().map(move |head| (kind, *head, alone)))
}

/// Finds the tokens of a text.
pub(super) fn find(scan: &mut Scan<'_>, found: &mut Vec<Span>) {
    // Kinds that begin with nothing of their own have something inside.
    let text = scan.text;
    let has = |part: &Part| match part {
        Part::Text(inside) => text.contains(inside),
        Part::Many(..) | Part::Within(..) | Part::Just(..) => true,
    };
    let headless: Vec<Candidate> = candidates()
        .filter(|(kind, head, _)| head.is_empty() && kind.2.iter().all(has))
        .collect();
    let mut place = 0;
    while place < scan.bytes.len() {
        place = match token_at(scan, place, &headless) {
            Some(span) => {
                let end = span.end;
                found.push(span);
                end
            }
            None => place + 1,
        };
    }
}

/// Returns the longest token that begins at a place.
fn token_at(scan: &mut Scan<'_>, place: usize, headless: &[Candidate]) -> Option<Span> {
    let first = scan.at(place);
    if !ALNUM.has(first) || !begins_word(scan, place) {
        return None;
    }
    let stands_alone = !matches!(scan.before(place), b'_' | b'-' | b'.' | b'/');
    let mut longest: Option<Span> = None;
    for (kind, head, alone) in BY_FIRST[usize::from(first)].iter().chain(headless) {
        if (*alone && !stands_alone) || !scan.starts_with(place, head) {
            continue;
        }
        let Some(end) = end_of(scan, kind.2, place + head.len()) else {
            continue;
        };
        if longest.as_ref().is_none_or(|longest| longest.end < end)
            && value::is_drawn(needed(&scan.text[place + head.len()..end], kind.2))
        {
            longest = Some(Span {
                start: place,
                end,
                label: kind.0,
                rank: Rank::Token,
            });
        }
    }
    longest
}

/// Returns what a token has at least of its body. More may be what only stands behind it.
fn needed<'t>(body: &'t str, parts: &[Part]) -> &'t str {
    &body[..body.floor_char_boundary(parts.iter().map(Part::least).sum())]
}

/// Tells whether a token may begin at a place: behind a letter or digit it does not, unless that
/// belongs to an escape (`\n`, `%20`, `\u003d`).
fn begins_word(scan: &Scan<'_>, place: usize) -> bool {
    let before = scan.before(place);
    if !ALNUM.has(before) {
        return true;
    }
    let hex = |n: usize| place >= n && scan.bytes[place - n..place].iter().all(|b| ANY_HEX.has(*b));
    (matches!(before, b'n' | b'r' | b't') && scan.ends_with(place - 1, "\\"))
        || (hex(2) && scan.ends_with(place - 2, "%"))
        || (hex(4) && scan.ends_with(place - 4, "\\u"))
}

/// Returns where a shape that begins at a place ends.
fn end_of(scan: &mut Scan<'_>, parts: &[Part], mut place: usize) -> Option<usize> {
    for part in parts {
        match *part {
            Part::Text(text) => {
                if !scan.starts_with(place, text) {
                    return None;
                }
                place += text.len();
            }
            Part::Many(set, least) => {
                let end = scan.run(set, place);
                if end - place < least {
                    return None;
                }
                place = end;
            }
            Part::Within(set, least, most) => {
                let end = scan.run(set, place);
                if !(least..=most).contains(&(end - place)) {
                    return None;
                }
                place = end;
            }
            Part::Just(set, length) => {
                if scan.run(set, place) - place < length {
                    return None;
                }
                place += length;
            }
        }
    }
    if matches!(parts.last(), Some(Part::Many(..))) {
        place = scan.run(WORD, place);
    } else if WORD.has(scan.at(place)) {
        return None;
    }
    // A full stop behind a token ends the sentence.
    while scan.before(place) == b'.' {
        place -= 1;
    }
    Some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_says_more_than_a_run_of_letters() {
        for Kind(label, heads, parts) in KINDS.iter().chain(ALONE) {
            let text: usize = parts
                .iter()
                .map(|part| match part {
                    Part::Text(text) => text.len(),
                    Part::Many(..) | Part::Within(..) | Part::Just(..) => 0,
                })
                .sum();
            let least: usize = parts.iter().map(Part::least).sum();
            for head in *heads {
                assert!(head.len() + text >= 1, "{label}: {head:?} is no form");
                assert!(head.len() + least >= 20, "{label}: {head:?} is too short");
                assert!(head.is_ascii(), "{label}");
            }
        }
    }
}
