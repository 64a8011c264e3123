//! BERT's uncased tokenizer: text in, word pieces out.
//!
//! A text is cleaned, decomposed, stripped of accents and lowercased; cut at white space, and before
//! and after each sign and ideograph; and each word is cut into the longest pieces that the
//! vocabulary has. The ids are those of the reference implementation, except that a text which
//! happens to contain `[SEP]` or another special token's name is text like any other.

mod tables;

use std::cmp::Ordering;
use std::sync::OnceLock;

use unicode_normalization::UnicodeNormalization;

use crate::weights::VOCABULARY;

/// Stands for a word that no pieces make up.
pub(crate) const UNKNOWN: u16 = 100;

/// Starts every window of the sentence model.
pub(crate) const CLASS: u16 = 101;

/// Ends every window of the sentence model.
pub(crate) const SEPARATOR: u16 = 102;

/// Words of more characters than this are unknown, as in the reference.
const LONGEST_WORD: usize = 100;

/// Slots of the hash table, about twice the vocabulary.
const SLOTS: usize = 1 << 16;

/// No piece of the vocabulary has more bytes than this, the two of `##` not counted.
const LONGEST_PIECE: usize = 32;

/// How well a text can be cut before a piece, from not at all to best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cut {
    /// In the middle of a word.
    Word,
    /// Between two words, or a word and a sign, that nothing separates.
    Joint,
    /// Between two words that are separated by white space.
    Space,
    /// Between two sentences or lines.
    Sentence,
}

/// A text's word pieces, without the special ones.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    pub(crate) ids: Vec<u16>,
    /// For each piece, how well the text can be cut before it.
    pub(crate) cuts: Vec<Cut>,
}

/// Returns the tokenizer of both models, building it at the first call (about a millisecond).
pub(crate) fn shared() -> Result<&'static Tokenizer, String> {
    static SHARED: OnceLock<Result<Tokenizer, String>> = OnceLock::new();
    let build = || Tokenizer::new(include_str!("../../data/vocab.txt"));
    SHARED.get_or_init(build).as_ref().map_err(Clone::clone)
}

/// The vocabulary with an index to look pieces up.
#[derive(Debug)]
pub(crate) struct Tokenizer {
    text: &'static [u8],
    /// Where each piece starts in `text`; one more for the end of the last.
    starts: Vec<u32>,
    /// Open addressing: a piece is in the first free slot from the one of its hash on.
    slots: Vec<u16>,
}

impl Tokenizer {
    /// Builds the index over a vocabulary of one piece a line, or says what is wrong with it.
    pub(crate) fn new(vocabulary: &'static str) -> Result<Self, String> {
        let text = vocabulary.as_bytes();
        let mut starts = Vec::with_capacity(VOCABULARY + 1);
        starts.push(0);
        for (position, byte) in text.iter().enumerate() {
            if *byte == b'\n' {
                starts.push(position as u32 + 1);
            }
        }
        if starts.len() != VOCABULARY + 1 || text.last() != Some(&b'\n') {
            return Err(format!("the vocabulary has {} pieces", starts.len() - 1));
        }
        let mut tokenizer = Self {
            text,
            starts,
            slots: vec![EMPTY; SLOTS],
        };
        for id in 0..VOCABULARY as u16 {
            let piece = tokenizer.piece(id);
            let continues = piece.strip_prefix(b"##").filter(|piece| !piece.is_empty());
            let (place, piece) = match continues {
                Some(piece) => (Place::Inside, piece),
                None => (Place::Start, piece),
            };
            if piece.len() > LONGEST_PIECE {
                return Err(format!("piece {id} of the vocabulary is too long"));
            }
            let hash = piece
                .iter()
                .fold(place.seed(), |hash, byte| step(hash, *byte));
            let mut slot = first_slot(hash);
            while tokenizer.slots[slot] != EMPTY {
                slot = (slot + 1) % SLOTS;
            }
            tokenizer.slots[slot] = id;
        }
        Ok(tokenizer)
    }

    /// Cuts a text of any length into pieces.
    pub(crate) fn pieces(&self, text: &str) -> Pieces {
        let mut words = Words::new(self, text.len());
        if text.is_ascii() {
            for byte in text.bytes().filter(|byte| is_kept_ascii(*byte)) {
                words.push(char::from(byte.to_ascii_lowercase()));
            }
        } else {
            let clean = text
                .chars()
                .filter(|char| is_kept(*char))
                .flat_map(around_ideographs);
            let bare = clean.nfd().filter(|char| !is_in(&tables::MARKS, *char));
            for char in bare.flat_map(char::to_lowercase) {
                words.push(char);
            }
        }
        words.finish()
    }

    fn piece(&self, id: u16) -> &'static [u8] {
        let id = usize::from(id);
        &self.text[self.starts[id] as usize..self.starts[id + 1] as usize - 1]
    }

    /// Returns the piece that is `bytes` at this place of a word, whose hash is known already.
    fn find(&self, place: Place, bytes: &[u8], hash: u32) -> Option<u16> {
        let mut slot = first_slot(hash);
        loop {
            let id = self.slots[slot];
            if id == EMPTY {
                return None;
            }
            let piece = self.piece(id);
            let found = match place {
                Place::Start => piece == bytes,
                Place::Inside => piece.strip_prefix(b"##") == Some(bytes),
            };
            if found {
                return Some(id);
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    /// Finds the longest piece that `word` starts with, and how many bytes it takes up.
    fn longest(&self, place: Place, word: &str) -> Option<(u16, usize)> {
        // The hash of every beginning comes from that of the one before it.
        let mut beginnings = [(0_u8, 0_u32); LONGEST_PIECE];
        let mut count = 0;
        let mut hash = place.seed();
        for (position, byte) in word.bytes().take(LONGEST_PIECE).enumerate() {
            hash = step(hash, byte);
            if word.is_char_boundary(position + 1) {
                beginnings[count] = (position as u8 + 1, hash);
                count += 1;
            }
        }
        beginnings[..count].iter().rev().find_map(|(length, hash)| {
            let length = usize::from(*length);
            let id = self.find(place, &word.as_bytes()[..length], *hash)?;
            Some((id, length))
        })
    }
}

/// Marks a slot without a piece; more than any id.
const EMPTY: u16 = u16::MAX;

/// Where in a word a piece may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    /// The vocabulary writes such pieces with `##` in front.
    Inside,
}

impl Place {
    fn seed(self) -> u32 {
        match self {
            Self::Start => 0x811c_9dc5,
            Self::Inside => 0x2a3f_56b1,
        }
    }
}

/// Takes one more byte into a hash (FNV-1a).
fn step(hash: u32, byte: u8) -> u32 {
    (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
}

fn first_slot(hash: u32) -> usize {
    (hash ^ (hash >> 16)) as usize % SLOTS
}

/// Collects characters into words and words into pieces.
struct Words<'a> {
    tokenizer: &'a Tokenizer,
    word: String,
    /// Characters of the word, also those that were not kept because it is too long anyway.
    length: usize,
    /// How the text can be cut before the word that is being collected.
    before: Cut,
    /// Whether the last character ended a sentence, if white space follows.
    stopped: bool,
    pieces: Pieces,
}

impl<'a> Words<'a> {
    fn new(tokenizer: &'a Tokenizer, bytes: usize) -> Self {
        // English has about four and a half bytes a piece.
        let pieces = Pieces {
            ids: Vec::with_capacity(bytes / 4 + 1),
            cuts: Vec::with_capacity(bytes / 4 + 1),
        };
        let word = String::with_capacity(32);
        Self {
            tokenizer,
            word,
            length: 0,
            before: Cut::Space,
            stopped: false,
            pieces,
        }
    }

    fn push(&mut self, char: char) {
        if char.is_whitespace() {
            self.end_word();
            let cut = if char == '\n' || self.stopped {
                Cut::Sentence
            } else {
                Cut::Space
            };
            self.before = self.before.max(cut);
        } else if is_word_of_its_own(char) {
            self.end_word();
            self.append(char);
            self.end_word();
            self.stopped = matches!(char, '.' | '!' | '?' | '。' | '！' | '？')
                // A quotation or parenthesis may close after the stop.
                || self.stopped && matches!(char, '"' | '\'' | ')' | ']' | '”' | '’' | '»');
            if matches!(char, '。' | '！' | '？') {
                self.before = Cut::Sentence;
            }
        } else {
            self.stopped = false;
            self.append(char);
        }
    }

    fn append(&mut self, char: char) {
        self.length += 1;
        if self.length <= LONGEST_WORD {
            self.word.push(char);
        }
    }

    fn end_word(&mut self) {
        if self.length == 0 {
            return;
        }
        let first = self.pieces.ids.len();
        if self.length > LONGEST_WORD || !self.cut_word() {
            self.pieces.ids.truncate(first);
            self.pieces.ids.push(UNKNOWN);
        }
        self.pieces.cuts.push(self.before);
        self.pieces.cuts.resize(self.pieces.ids.len(), Cut::Word);
        self.word.clear();
        self.length = 0;
        self.before = Cut::Joint;
    }

    /// Appends the pieces of the word, and returns false if at some place there is none.
    fn cut_word(&mut self) -> bool {
        let mut rest = self.word.as_str();
        let mut place = Place::Start;
        while !rest.is_empty() {
            let Some((id, length)) = self.tokenizer.longest(place, rest) else {
                return false;
            };
            self.pieces.ids.push(id);
            rest = &rest[length..];
            place = Place::Inside;
        }
        true
    }

    fn finish(mut self) -> Pieces {
        self.end_word();
        self.pieces
    }
}

fn is_kept_ascii(byte: u8) -> bool {
    !byte.is_ascii_control() || matches!(byte, b'\t' | b'\n' | b'\r')
}

fn is_kept(char: char) -> bool {
    match u8::try_from(char) {
        Ok(byte) if byte.is_ascii() => is_kept_ascii(byte),
        _ => !is_in(&tables::REMOVED, char),
    }
}

/// Puts spaces around an ideograph.
fn around_ideographs(char: char) -> impl Iterator<Item = char> {
    let space = is_in(&tables::IDEOGRAPHS, char).then_some(' ');
    space.into_iter().chain([char]).chain(space)
}

fn is_word_of_its_own(char: char) -> bool {
    if char.is_ascii() {
        char.is_ascii_punctuation()
    } else {
        is_in(&tables::PUNCTUATION, char)
    }
}

fn is_in(ranges: &[(u32, u32)], char: char) -> bool {
    let code = u32::from(char);
    // The first range of each table is above ASCII or removed before.
    let order = |(first, last): &(u32, u32)| {
        if *last < code {
            Ordering::Less
        } else if *first > code {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    };
    ranges.binary_search_by(order).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text with odd characters and its pieces by the reference implementation.
    #[derive(serde::Deserialize)]
    struct Case {
        text: String,
        ids: Vec<u16>,
    }

    #[test]
    fn pieces_are_those_of_the_reference() {
        let cases: Vec<Case> =
            serde_json::from_str(include_str!("../../tests/data/ids.json")).unwrap();
        assert!(cases.len() > 200);
        for Case { text, ids } in cases {
            assert_eq!(shared().unwrap().pieces(&text).ids, ids, "{text:?}");
        }
    }

    /// Compares hashes for each run of 4,096 characters: of the pieces of a text that has the
    /// character inside a word, alone, and with two accents.
    #[test]
    fn pieces_are_those_of_the_reference_for_every_character_that_there_is() {
        let tokenizer = shared().unwrap();
        let mut wrong = Vec::new();
        for (run, want) in include_str!("../../tests/data/every.txt")
            .lines()
            .enumerate()
        {
            let codes = run as u32 * 4096..(run as u32 + 1) * 4096;
            let mut hash = 0xcbf2_9ce4_8422_2325_u64;
            for char in codes.filter_map(char::from_u32) {
                let text = format!("a{char}b {char} Z{char}\u{323}\u{301}");
                for id in tokenizer.pieces(&text).ids.into_iter().chain([0xffff]) {
                    hash = (hash ^ u64::from(id)).wrapping_mul(0x100_0000_01b3);
                }
            }
            if format!("{hash:016x}") != want {
                wrong.push(format!("{:x}", run * 4096));
            }
        }
        assert!(wrong.is_empty(), "runs that start at {wrong:?}");
    }

    #[track_caller]
    fn check_cuts(text: &str, want: &[Cut]) {
        let pieces = shared().unwrap().pieces(text);
        assert_eq!(pieces.cuts, want);
        assert_eq!(pieces.ids.len(), want.len());
    }

    #[test]
    fn cuts_tell_sentences_words_and_insides_apart() {
        use Cut::{Joint, Sentence, Space, Word};
        check_cuts("", &[]);
        check_cuts("one two", &[Space, Space]);
        check_cuts("one. Two", &[Space, Joint, Sentence]);
        check_cuts(
            "v1.5 (ok.) yes",
            &[
                Space, Word, Joint, Joint, Space, Joint, Joint, Joint, Sentence,
            ],
        );
        check_cuts("one\ntwo", &[Space, Sentence]);
        check_cuts("好。好", &[Space, Space, Sentence]);
        check_cuts("xyzzyq", &[Space, Word, Word, Word]);
    }
}
