//! The words that stand for a scene.

use std::collections::HashMap;

use super::near::Field;
use crate::{
    recall::{Term, telling_words, terms_of},
    text,
};

/// Counts the words of all cells, once somebody wants a label.
#[derive(Debug)]
pub(super) struct Labels<'f> {
    field: &'f Field<'f>,
    cells_with: Option<HashMap<Term, usize>>,
}

impl<'f> Labels<'f> {
    /// The most words of a label.
    const WORDS: usize = 3;
    /// The most characters of a word.
    const CHARS: usize = 24;

    pub(super) fn new(field: &'f Field<'_>) -> Self {
        Self {
            field,
            cells_with: None,
        }
    }

    /// Returns the words of one cell, the medoid, that most of the cells share and that are rare
    /// elsewhere: by how many of the cells have a word, times the logarithm of how rare it is.
    pub(super) fn of(&mut self, cells: &[usize], medoid: usize) -> String {
        let field = self.field;
        let content = &field.grain(medoid).content;
        let cells_with = (self.cells_with)
            .get_or_insert_with(|| count(field, &(0..field.len()).collect::<Vec<_>>()));
        let here = count(field, cells);
        let all = field.len() as f64 + 1.0;
        let weight = |term: &Term| {
            let with = |counts: &HashMap<Term, usize>| counts.get(term).copied().unwrap_or(0);
            with(&here) as f64 * libm::log(all / (with(cells_with) as f64))
        };
        let mut words: Vec<(f64, String)> = (telling_words(content.as_str()).into_iter())
            .map(|(term, word)| (weight(&term), word))
            .collect();
        // A stable sort: of equal words the one that comes first in the text.
        words.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut label: Vec<String> = Vec::new();
        for (_, word) in words {
            let part = |other: &String| other.contains(&word) || word.contains(other.as_str());
            if label.len() < Self::WORDS && !label.iter().any(part) {
                label.push(word);
            }
        }
        if label.is_empty() {
            return text::shorten(content.as_str(), Self::CHARS);
        }
        let short = label.iter().map(|word| text::shorten(word, Self::CHARS));
        short.collect::<Vec<_>>().join(", ")
    }
}

/// Returns in how many of some cells each word occurs.
fn count(field: &Field<'_>, cells: &[usize]) -> HashMap<Term, usize> {
    let mut counts = HashMap::new();
    for cell in cells {
        for (term, _) in terms_of(field.grain(*cell).content.as_str()).iter() {
            *counts.entry(term).or_insert(0) += 1;
        }
    }
    counts
}
