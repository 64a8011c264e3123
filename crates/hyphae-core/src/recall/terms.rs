//! The words of a text as recall counts them.

/// A word's identity: the first eight bytes of the BLAKE3 hash of its folded stem, little-endian.
/// Two words share an identity with a chance of about 1 in 10^19 a pair, which a ranking bears.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(pub u64);

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
    fn bytes_that_nobody_wrote_are_refused() {
        assert_eq!(Terms::from_bytes(&[0; 8]), None);
        assert_eq!(Terms::from_bytes(&[0; 9]), None, "a count of nothing");
        let mut twice = Terms::count([Term(1)]).to_bytes();
        twice.extend(twice.clone());
        assert_eq!(Terms::from_bytes(&twice), None);
        assert_eq!(Terms::from_bytes(&[]), Some(Terms::default()));
    }
}
