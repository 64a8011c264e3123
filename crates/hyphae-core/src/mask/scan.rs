//! What all rules read the text with: sets of bytes, and runs of them that are measured once.

/// A set of ASCII characters, and whether all others belong to it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Set {
    ascii: u128,
    beyond: bool,
}

impl Set {
    /// The characters of a text, which is ASCII.
    pub(super) const fn of(characters: &str) -> Self {
        let (bytes, mut ascii, mut n) = (characters.as_bytes(), 0, 0);
        while n < bytes.len() {
            ascii |= 1 << bytes[n];
            n += 1;
        }
        Self {
            ascii,
            beyond: false,
        }
    }

    /// These and those.
    pub(super) const fn and(self, characters: &str) -> Self {
        Self {
            ascii: self.ascii | Self::of(characters).ascii,
            beyond: self.beyond,
        }
    }

    /// All others, those beyond ASCII included.
    pub(super) const fn others(self) -> Self {
        Self {
            ascii: !self.ascii,
            beyond: !self.beyond,
        }
    }

    pub(super) const fn has(self, byte: u8) -> bool {
        if byte < 128 {
            self.ascii >> byte & 1 == 1
        } else {
            self.beyond
        }
    }
}

pub(super) const DIGIT: Set = Set::of("0123456789");
pub(super) const HEX: Set = DIGIT.and("abcdef");
pub(super) const ANY_HEX: Set = HEX.and("ABCDEF");
pub(super) const LOWER: Set = DIGIT.and("abcdefghijklmnopqrstuvwxyz");
pub(super) const UPPER: Set = DIGIT.and("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
pub(super) const ALNUM: Set = LOWER.and("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
/// What `\w` is.
pub(super) const WORD: Set = ALNUM.and("_");
/// Base64 as in URLs and file names.
pub(super) const URL64: Set = WORD.and("-");
/// Base64 with its padding.
pub(super) const BASE64: Set = ALNUM.and("+/=");

/// What is shorter is measured again rather than kept.
const SHORT_RUN: usize = 32;

/// How many runs of one set are kept: as many as a shape has, and one more.
const KEPT_RUNS: usize = 6;

/// The runs of one set that were measured last.
#[derive(Debug)]
struct Runs {
    set: Set,
    kept: [(usize, usize); KEPT_RUNS],
    oldest: usize,
}

/// A text that rules look at.
#[derive(Debug)]
pub(super) struct Scan<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    /// The runs measured last, by set: whoever asks from within one gets its end for nothing.
    /// That keeps the work linear also where many rules begin in one long run.
    runs: Vec<Runs>,
    /// How often runs were asked for, and how many bytes long ones took to be measured.
    pub(super) work: usize,
}

impl<'t> Scan<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            runs: Vec::new(),
            work: 0,
        }
    }

    /// Returns the byte at a place, 0 beyond the end.
    pub(super) fn at(&self, place: usize) -> u8 {
        self.bytes.get(place).copied().unwrap_or(0)
    }

    /// Returns the byte before a place, 0 at the beginning.
    pub(super) fn before(&self, place: usize) -> u8 {
        place.checked_sub(1).map_or(0, |place| self.at(place))
    }

    pub(super) fn starts_with(&self, place: usize, what: &str) -> bool {
        self.bytes
            .get(place..)
            .is_some_and(|rest| rest.starts_with(what.as_bytes()))
    }

    /// Tells whether a text ends right before a place.
    pub(super) fn ends_with(&self, place: usize, what: &str) -> bool {
        self.bytes[..place].ends_with(what.as_bytes())
    }

    /// Returns where the run of a set's bytes that goes through a place ends.
    pub(super) fn run(&mut self, set: Set, from: usize) -> usize {
        self.work += 1;
        let rest = self.bytes.get(from..).unwrap_or_default();
        let length = |rest: &[u8]| rest.iter().take_while(|byte| set.has(**byte)).count();
        let short = length(&rest[..rest.len().min(SHORT_RUN)]);
        if short < SHORT_RUN {
            return from + short;
        }
        let known = match self.runs.iter().position(|runs| runs.set == set) {
            Some(known) => known,
            None => {
                self.runs.push(Runs {
                    set,
                    kept: [(0, 0); KEPT_RUNS],
                    oldest: 0,
                });
                self.runs.len() - 1
            }
        };
        let Runs { kept, oldest, .. } = &mut self.runs[known];
        let is_inside = |(start, end): &&(usize, usize)| *start <= from && from < *end;
        if let Some((_, end)) = kept.iter().find(is_inside) {
            return *end;
        }
        let length = length(rest);
        self.work += length;
        kept[*oldest] = (from, from + length);
        *oldest = (*oldest + 1) % KEPT_RUNS;
        from + length
    }

    /// Returns where the run of a set's bytes that ends at a place begins, `most` bytes before at
    /// the earliest.
    pub(super) fn run_back(&self, set: Set, to: usize, most: usize) -> usize {
        let length = self.bytes[..to]
            .iter()
            .rev()
            .take(most)
            .take_while(|byte| set.has(**byte))
            .count();
        to - length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_measured_once_however_often_it_is_asked_for() {
        let text = "a".repeat(1000);
        let mut scan = Scan::new(&text);
        for from in 0..1000 {
            assert_eq!(scan.run(LOWER, from), 1000);
        }
        assert_eq!(scan.work, 2000);
    }

    #[test]
    fn a_set_and_all_others_share_nothing() {
        for byte in 0..=u8::MAX {
            assert_ne!(URL64.has(byte), URL64.others().has(byte), "{byte}");
        }
        assert!(!ALNUM.has(b'_') && WORD.has(b'_') && !WORD.has(b'-'));
    }
}
