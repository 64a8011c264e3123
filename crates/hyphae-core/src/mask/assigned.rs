//! Values behind a name that says "this is a secret": `PASSWORD=…`, `"api_key": "…"`,
//! `Authorization: Bearer …`, `--token …`, `<password>…</password>`.

mod reading;
mod words;

use words::is_verb;

use super::{
    Rank, Span,
    name::{self, Meaning},
    scan::{BASE64, Scan, Set, URL64, WORD},
    value,
};

/// What names are made of.
const NAME: Set = WORD.and("-.");
/// The longest name that is read.
const LONGEST_NAME: usize = 64;
const SPACE: Set = Set::of(" \t");
const NOT_SPACE: Set = Set::of(" \t\r\n").others();
/// What a value without quotes is made of, where it stands in other text.
const BARE: Set = Set::of(" \t\r\n\"'`,;(){}[]<>\\").others();
/// What the value of a parameter in a URL is made of.
const PARAMETER: Set = Set::of(" \t\r\n\"'`&#<>(){}[]\\").others();
const HEADER_VALUE: Set = BASE64.and("_.~-:%");
const LINE: Set = Set::of("\r\n").others();

/// How a value stands in the text, which says how much it must look like a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In quotes.
    Quoted,
    /// Behind a variable of the environment.
    Variable,
    /// The one thing on its line.
    Line,
    /// In a URL's query.
    Query,
    /// In quotes, and given to a call.
    Argument,
    /// Right behind an equals sign.
    Tight,
    /// Somewhere.
    Inline,
}

struct Name<'t> {
    text: &'t str,
    start: usize,
    quoted: bool,
}

/// Finds the values behind telling names.
pub(super) fn find(scan: &mut Scan<'_>, found: &mut Vec<Span>) {
    let mut finder = Finder {
        has_web_key: scan.text.contains("\"kty\""),
        cookies_until: 0,
        scan,
    };
    let mut place = 0;
    while place < finder.scan.bytes.len() {
        let span = match finder.scan.at(place) {
            b'=' | b':' => finder.behind_separator(place),
            b' ' => finder.behind_word(place),
            b'>' => finder.inside_element(place),
            b'(' | b',' => finder.argument(place),
            _ => None,
        };
        place = match span {
            Some(span) => {
                let end = span.end.max(place + 1);
                found.push(span);
                end
            }
            None => place + 1,
        };
    }
}

struct Finder<'s, 't> {
    scan: &'s mut Scan<'t>,
    has_web_key: bool,
    /// Where the line of a `Cookie` header ends.
    cookies_until: usize,
}

impl<'t> Finder<'_, 't> {
    /// `name = value`, `name: value`, and what languages make of it.
    fn behind_separator(&mut self, at: usize) -> Option<Span> {
        let (separator, next) = (self.scan.at(at), self.scan.at(at + 1));
        let is_path = separator == b':'
            && (next == b':' || self.scan.before(at) == b':' || self.scan.starts_with(at, "://"));
        if is_path || next == b'=' {
            return None;
        }
        if at < self.cookies_until {
            return self.cookie(at);
        }
        let name = self.name_before(at)?;
        // `secret:` within an ARN, `"AWS::IAM::AccessKey"`.
        if separator == b':' && self.scan.before(name.start) == b':' {
            return None;
        }
        let ends_with_cookie = name.text.len() >= 6
            && name.text.as_bytes()[name.text.len() - 6..].eq_ignore_ascii_case(b"cookie");
        if separator == b':' && ends_with_cookie {
            self.cookies_until = self.scan.run(LINE, at);
            return None;
        }
        let meaning = match name::meaning(name.text) {
            Some(meaning) => meaning,
            None if separator == b'=' => return self.typed(at),
            None => return None,
        };
        let compares = separator == b'=' && self.scan.before(at) == b'=';
        let tight = separator == b'=' && self.scan.bytes[..at].ends_with(name.text.as_bytes());
        let value = self.skip_to_value(at + 1 + usize::from(separator == b'=' && next == b'>'));
        match meaning {
            Meaning::Authorization => self.authorization(value),
            Meaning::Phrase => self.phrase(value),
            Meaning::KeyPart if self.has_web_key && name.quoted => self.key_part(value),
            Meaning::KeyPart => None,
            Meaning::Signature => {
                let (start, end) = self.parameter(&name, value)?;
                (end - start >= 20).then_some(())?;
                self.judged(Meaning::Secret, Place::Query, start, end)
            }
            Meaning::Value => {
                let meaning = self.meaning_of_setting_before(name.start)?;
                self.value(&name, meaning, value, compares, false)
            }
            Meaning::Password | Meaning::Secret | Meaning::Perhaps => {
                self.value(&name, meaning, value, compares, tight)
            }
        }
    }

    /// A declaration with a type: `api_key: &str = "…"`.
    fn typed(&mut self, at: usize) -> Option<Span> {
        let from = self
            .scan
            .text
            .floor_char_boundary(at.saturating_sub(LONGEST_NAME));
        let before = &self.scan.text[from..at];
        let before = before
            .rsplit(['\n', ',', '(', ';', '{', '}', '"'])
            .next()
            .unwrap_or_default();
        let (left, of_type) = before.split_once(": ")?;
        let name = left
            .rsplit([' ', '\t', '?', '!'])
            .find(|word| !word.is_empty())?;
        let meaning = name::meaning(name)?;
        let is_type = !of_type.contains([':', '=']) || of_type.contains("::");
        let value = self.skip_to_value(at + 1);
        let is_telling = matches!(meaning, Meaning::Password | Meaning::Secret);
        if !is_type || !is_telling || !is_quote(self.scan.at(value)) {
            return None;
        }
        let (start, end) = self.quoted(value)?;
        self.judged(meaning, Place::Quoted, start, end)
    }

    fn value(
        &mut self,
        name: &Name<'t>,
        meaning: Meaning,
        value: usize,
        compares: bool,
        tight: bool,
    ) -> Option<Span> {
        if let Some((start, end)) = self.quoted(value) {
            return self.judged(meaning, Place::Quoted, start, end);
        }
        if let Some((start, end)) = self.quoted_argument(value) {
            return self.judged(meaning, Place::Argument, start, end);
        }
        if compares {
            return None;
        }
        if matches!(self.scan.at(value), b'[' | b'(' | b'{' | b'<') {
            return None;
        }
        // A quote that is not closed begins the value all the same.
        let value = value + usize::from(is_quote(self.scan.at(value)));
        if matches!(self.scan.before(name.start), b'?' | b'&') {
            let (start, end) = self.parameter(name, value)?;
            return self.judged(meaning, Place::Query, start, end);
        }
        let is_variable = tight && !name.text.bytes().any(|byte| byte.is_ascii_lowercase());
        let begins_line = self.begins_line(name.start);
        let end = if begins_line {
            self.scan.run(NOT_SPACE, value)
        } else {
            self.bare_end(value)
        };
        let end = self.without_punctuation(value, end);
        let place = match (is_variable, begins_line, tight) {
            (true, ..) => Place::Variable,
            (_, true, _) => Place::Line,
            (_, _, true) => Place::Tight,
            _ => Place::Inline,
        };
        if place != Place::Variable && self.is_call(value, end) {
            return None;
        }
        self.judged(meaning, place, value, end)
    }

    /// Returns the value as a secret if it looks like one, given where it stands.
    fn judged(&self, meaning: Meaning, place: Place, start: usize, end: usize) -> Option<Span> {
        let value = self.scan.text.get(start..end)?;
        let secret = match (meaning, place) {
            (Meaning::Password, Place::Quoted | Place::Variable) => value::is_password(value),
            (Meaning::Password, Place::Line | Place::Query) => {
                value::is_mixed_password(value)
                    || ((6..=32).contains(&value.len())
                        && value.bytes().all(|byte| byte.is_ascii_digit()))
            }
            (Meaning::Password, Place::Inline | Place::Tight) => value::is_mixed_password(value),
            (Meaning::Password, Place::Argument) => value::is_mixed_password(value),
            (Meaning::Perhaps, _) => value::is_random_key(value),
            (_, Place::Quoted | Place::Variable) => value::is_secret(value, 0),
            (_, Place::Line | Place::Tight | Place::Inline) if value::is_spoken_of(value) => false,
            (_, Place::Line) => value::is_secret(value, 0),
            // The tokens of badges are shorter.
            (_, Place::Query) => value.len() >= 16 && value::is_secret(value, 0),
            (_, Place::Tight) => value::is_secret(value, 1),
            (_, Place::Inline | Place::Argument) => value::is_secret(value, 2),
        };
        secret.then_some(Span {
            start,
            end,
            label: "secret",
            rank: Rank::Assigned,
        })
    }

    /// `Bearer …`, `Basic …`, `token …`, or the secret at once.
    fn authorization(&mut self, value: usize) -> Option<Span> {
        let start = self.quoted(value).map_or(value, |(start, _)| start);
        let scheme = self.scan.run(URL64, start);
        let spaces = self.scan.run(SPACE, scheme);
        let start = if spaces > scheme { spaces } else { start };
        self.credentials(start, if spaces > scheme { 8 } else { 12 })
    }

    fn credentials(&mut self, start: usize, least: usize) -> Option<Span> {
        let end = self.scan.run(HEADER_VALUE, start);
        let end = self.without_punctuation(start, end);
        if self.is_call(start, end) {
            return None;
        }
        let value = self.scan.text.get(start..end)?;
        (value.len() >= least && value::is_secret(value, 2)).then_some(Span {
            start,
            end,
            label: "credentials",
            rank: Rank::Header,
        })
    }

    /// Twelve to twenty-four words in a row.
    fn phrase(&mut self, value: usize) -> Option<Span> {
        let start = self.quoted(value).map_or(value, |(start, _)| start);
        let (mut end, mut count) = (start, 0);
        while count < 24 {
            let word = self.scan.text.get(end..)?;
            let spaces = word.len() - word.trim_start_matches([' ', ',']).len();
            let letters = word[spaces..]
                .bytes()
                .take(9)
                .take_while(u8::is_ascii_lowercase)
                .count();
            if !(3..=8).contains(&letters) {
                break;
            }
            end += spaces + letters;
            count += 1;
        }
        (count >= 12).then_some(Span {
            start,
            end,
            label: "recovery phrase",
            rank: Rank::Assigned,
        })
    }

    /// A number of a JSON Web Key.
    fn key_part(&mut self, value: usize) -> Option<Span> {
        let (start, end) = self.quoted(value)?;
        (end - start >= 16 && self.scan.run(URL64, start) == end).then_some(Span {
            start,
            end,
            label: "private key",
            rank: Rank::Assigned,
        })
    }

    /// A pair in a `Cookie` or `Set-Cookie` header.
    fn cookie(&mut self, at: usize) -> Option<Span> {
        let end = self.bare_end(at + 1);
        let value = self.scan.text.get(at + 1..end)?;
        (value.len() >= 16 && value::is_secret(value, 3)).then_some(Span {
            start: at + 1,
            end,
            label: "cookie",
            rank: Rank::Header,
        })
    }

    /// `<password>…</password>`.
    fn inside_element(&mut self, at: usize) -> Option<Span> {
        let name = self.name_before(at)?;
        if !matches!(self.scan.before(name.start), b'<' | b':') {
            return None;
        }
        let meaning = telling(name::meaning(name.text))?;
        let end = self.scan.run(Set::of("<\r\n").others(), at + 1);
        if !self.scan.starts_with(end, "</") {
            return None;
        }
        self.judged(meaning, Place::Quoted, at + 1, end)
    }

    /// `.password("…")`, `get("API_KEY", "…")`.
    fn argument(&mut self, at: usize) -> Option<Span> {
        let value = self.scan.run(SPACE, at + 1);
        if !is_quote(self.scan.at(value)) {
            return None;
        }
        let name = self.name_before(at)?;
        if name.quoted != (self.scan.at(at) == b',') || is_verb(name.text) {
            return None;
        }
        let meaning = telling(name::meaning(name.text))?;
        let (start, end) = self.quoted(value)?;
        self.judged(meaning, Place::Argument, start, end)
    }
}

/// A name that promises a value of its own.
fn telling(meaning: Option<Meaning>) -> Option<Meaning> {
    meaning.filter(|meaning| matches!(meaning, Meaning::Password | Meaning::Secret))
}

const fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}
