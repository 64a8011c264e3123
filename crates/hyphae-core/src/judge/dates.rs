//! Dates in a text: months, days, years, quarters.

use super::lex::{Item, Shape};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Returns the month that a word names, counted from 1.
pub(super) fn month(item: &Item) -> Option<usize> {
    // `may` and `march` are verbs too.
    let capital = matches!(item.shape, Shape::Capital | Shape::First);
    let short = |name: &str| item.lower.len() == 3 && name.starts_with(&item.lower);
    let found = MONTHS
        .iter()
        .position(|name| item.lower == *name || short(name))?;
    capital.then_some(found + 1)
}

/// Returns the date that begins at a word, as its parts in a fixed order, and how many words it
/// has. `before` is the word in front of it.
pub(super) fn date(items: &[Item], before: &str) -> Option<(String, usize)> {
    let first = items.first()?;
    let text = first.lower.as_str();
    if is_iso(text) {
        return Some((text.to_owned(), 1));
    }
    let placed = [
        "in", "since", "until", "till", "by", "during", "before", "after", "from", "@since", "of",
    ]
    .contains(&before);
    if placed && is_year(text) {
        return Some((text.to_owned(), 1));
    }
    if text.len() == 2 && text.starts_with('q') && text.ends_with(|c| matches!(c, '1'..='4')) {
        let year = items.get(1).filter(|next| is_year(&next.lower));
        let year = year.map_or("", |year| year.lower.as_str());
        return Some((format!("{year}{text}"), 1 + usize::from(!year.is_empty())));
    }
    let day = |item: Option<&Item>| {
        let digits = item?
            .lower
            .trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let number: u32 = digits.parse().ok()?;
        (1..=31).contains(&number).then_some(number)
    };
    let mut taken = 1;
    let (month, mut number) = if let Some(month) = month(first) {
        (month, None)
    } else {
        taken = 2;
        (month(items.get(1)?)?, Some(day(Some(first))?))
    };
    if number.is_none() {
        number = day(items.get(taken));
        taken += usize::from(number.is_some());
    }
    let year = items.get(taken).filter(|next| is_year(&next.lower));
    let key = format!(
        "{}-{month:02}-{:02}",
        year.map_or("", |year| year.lower.as_str()),
        number.unwrap_or(0)
    );
    Some((key, taken + usize::from(year.is_some())))
}

fn is_year(text: &str) -> bool {
    text.len() == 4
        && text
            .parse::<u32>()
            .is_ok_and(|year| (1980..2100).contains(&year))
}

fn is_iso(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let digits = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    (2..=3).contains(&parts.len())
        && parts.iter().all(digits)
        && parts[0].len() == 4
        && parts[1..].iter().all(|part| part.len() == 2)
}
