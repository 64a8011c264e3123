//! The words of a text as recall counts them.

use std::hash::Hasher;

/// A word's identity: the first eight bytes of the BLAKE3 hash of its folded stem, little-endian.
/// Two words share an identity with a chance of about 1 in 10^19 a pair, which a ranking bears.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(pub u64);

/// Passes a [`Term`] through: it is a hash already.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TermHasher(u64);

impl Hasher for TermHasher {
    fn write(&mut self, bytes: &[u8]) {
        // Only for keys other than a term, of which there are none.
        self.0 = bytes
            .iter()
            .fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, term: u64) {
        self.0 = term;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// How often each word occurs, by ascending [`Term`]; a count stops at 255.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Terms(Vec<(Term, u8)>);

impl Terms {
    /// Size of one word in [`Self::to_bytes`].
    const ENTRY_BYTES: usize = 9;

    /// Counts words given in any order.
    pub fn count(words: impl IntoIterator<Item = Term>) -> Self {
        let mut all: Vec<Term> = words.into_iter().collect();
        all.sort_unstable();
        let mut counted: Vec<(Term, u8)> = Vec::with_capacity(all.len());
        for term in all {
            match counted.last_mut() {
                Some((last, count)) if *last == term => *count = count.saturating_add(1),
                _ => counted.push((term, 1)),
            }
        }
        Self(counted)
    }

    /// Goes through words and counts.
    pub fn iter(&self) -> impl Iterator<Item = (Term, u8)> + '_ {
        self.0.iter().copied()
    }

    /// Goes through the words of two texts at once: each word, its count here and its count there.
    pub(crate) fn beside(&self, other: &Self) -> impl Iterator<Item = (Term, u8, u8)> {
        let mut here = self.0.iter().copied().peekable();
        let mut there = other.0.iter().copied().peekable();
        std::iter::from_fn(move || {
            let term = match (here.peek(), there.peek()) {
                (Some(a), Some(b)) => a.0.min(b.0),
                (Some(one), None) | (None, Some(one)) => one.0,
                (None, None) => return None,
            };
            let take = |(_, count)| count;
            let a = here.next_if(|(word, _)| *word == term).map_or(0, take);
            let b = there.next_if(|(word, _)| *word == term).map_or(0, take);
            Some((term, a, b))
        })
    }

    /// Returns how many words there are, repetitions included.
    pub fn total(&self) -> u32 {
        self.0.iter().map(|(_, count)| u32::from(*count)).sum()
    }

    /// Tells whether there are no words.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes the words as a store keeps them: 8 bytes of term, little-endian, and the count.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.0.len() * Self::ENTRY_BYTES);
        for (term, count) in &self.0 {
            bytes.extend_from_slice(&term.0.to_le_bytes());
            bytes.push(*count);
        }
        bytes
    }

    /// Reads what [`Self::to_bytes`] wrote; none if the bytes were not written by it.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (entries, rest) = bytes.as_chunks::<{ Self::ENTRY_BYTES }>();
        if !rest.is_empty() {
            return None;
        }
        let terms: Vec<(Term, u8)> = entries
            .iter()
            .map(|[a, b, c, d, e, f, g, h, count]| {
                (
                    Term(u64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h])),
                    *count,
                )
            })
            .collect();
        let ascending = terms.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let counted = terms.iter().all(|(_, count)| *count > 0);
        (ascending && counted).then_some(Self(terms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_and_survive_being_kept() {
        let terms = Terms::count([3, 1, 3, 2, 3].map(Term));
        assert_eq!(
            terms.iter().collect::<Vec<_>>(),
            [(Term(1), 1), (Term(2), 1), (Term(3), 3)]
        );
        assert_eq!(terms.total(), 5);
        assert_eq!(Terms::from_bytes(&terms.to_bytes()), Some(terms));
    }

    #[test]
    fn the_words_of_two_texts_are_seen_side_by_side() {
        let here = Terms::count([1, 3, 3].map(Term));
        let there = Terms::count([2, 3, 4].map(Term));
        let both: Vec<_> = here
            .beside(&there)
            .map(|(term, a, b)| (term.0, a, b))
            .collect();
        assert_eq!(both, [(1, 1, 0), (2, 0, 1), (3, 2, 1), (4, 0, 1)]);
    }

    #[test]
    fn bytes_that_nobody_wrote_are_refused() {
        assert_eq!(Terms::from_bytes(&[0; 8]), None);
        assert_eq!(Terms::from_bytes(&[0; 9]), None, "a count of nothing");
        let mut twice = Terms::count([Term(1)]).to_bytes();
        twice.extend(twice.clone());
        assert_eq!(Terms::from_bytes(&twice), None);
        assert_eq!(Terms::from_bytes(&[]), Some(Terms::default()));
    }
}
