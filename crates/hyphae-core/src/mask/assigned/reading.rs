//! Where names, values and lines begin and end.

use super::{
    super::{
        name::{self, Meaning},
        scan::{Set, WORD},
    },
    BARE, Finder, LONGEST_NAME, NAME, NOT_SPACE, Name, PARAMETER, SPACE, is_quote, telling,
};

impl<'t> Finder<'_, 't> {
    /// The name that ends right before a separator, spaces, quotes and operators passed over.
    pub(super) fn name_before(&self, at: usize) -> Option<Name<'t>> {
        let scan = &self.scan;
        let mut to = at;
        let is_operator = |byte| match scan.at(at) {
            b'=' => matches!(byte, b':' | b'|' | b'?' | b'+' | b'='),
            b':' => matches!(byte, b'?' | b'!'),
            _ => false,
        };
        while at - to < 3 && is_operator(scan.before(to)) {
            to -= 1;
        }
        to = scan.run_back(SPACE, to, 16);
        if scan.before(to) == b']' && is_quote(scan.before(to - 1)) {
            to -= 1;
        }
        let quoted = is_quote(scan.before(to));
        if quoted {
            to = scan.run_back(Set::of("\\"), to - 1, 4);
        }
        let mut start = scan.run_back(NAME, to, LONGEST_NAME);
        let text = &scan.text[start..to];
        // "API key", "next page token": the word before says what this one is.
        let needs_another = ["key", "token", "phrase"]
            .iter()
            .any(|word| text.eq_ignore_ascii_case(word));
        if needs_another && !quoted && scan.before(start) == b' ' {
            start = scan.run_back(WORD.and("-"), start - 1, 20);
        }
        let text = scan.text[start..to].trim_matches(['-', '.', ' ']);
        (!text.is_empty()).then_some(Name {
            text,
            start,
            quoted,
        })
    }

    /// What the name of a setting promises whose value stands apart: `name: X` before `value:`.
    pub(super) fn meaning_of_setting_before(&self, value: usize) -> Option<Meaning> {
        let from = self
            .scan
            .text
            .floor_char_boundary(value.saturating_sub(120));
        let before = self.scan.text[from..value].trim_end_matches(|c: char| {
            c.is_whitespace() || matches!(c, ',' | ';' | '"' | '\'' | '{' | '-' | '\\')
        });
        let start = before.len()
            - before
                .bytes()
                .rev()
                .take_while(|byte| NAME.has(*byte))
                .count();
        let (before, name) = before.split_at(start);
        let before = before.trim_end_matches([' ', '"', '\'', '\\', ':', '=']);
        let is_name = ["name", "key", "Name", "Key", "variable"]
            .iter()
            .any(|word| before.ends_with(word));
        telling(name::meaning(name)).filter(|_| is_name)
    }

    pub(super) fn skip_to_value(&mut self, from: usize) -> usize {
        let mut value = self.scan.run(SPACE, from);
        // A tag of YAML: `!!str "…"`.
        if self.scan.starts_with(value, "!!") {
            value = self.scan.run(NOT_SPACE, value);
            value = self.scan.run(SPACE, value);
        }
        let across_lines = self.scan.run(Set::of(" \t\r\n"), value);
        let place = if is_quote(self.scan.at(across_lines)) {
            across_lines
        } else {
            value
        };
        // `b"…"`, `@"…"`
        let prefix = matches!(self.scan.at(place), b'b' | b'r' | b'f' | b'u' | b'@' | b'L')
            && is_quote(self.scan.at(place + 1));
        place + usize::from(prefix)
    }

    /// Returns what is between quotes that begin at a place, on one line.
    pub(super) fn quoted(&mut self, place: usize) -> Option<(usize, usize)> {
        let escapes = self.scan.run(Set::of("\\"), place) - place;
        let quote = self.scan.at(place + escapes);
        if !is_quote(quote) || escapes > 3 {
            return None;
        }
        let mut start = place + escapes + 1;
        let triple = self.scan.at(start) == quote && self.scan.at(start + 1) == quote;
        start += if triple { 2 } else { 0 };
        let inside = match quote {
            b'"' => Set::of("\"\r\n").others(),
            b'\'' => Set::of("'\r\n").others(),
            _ => Set::of("`\r\n").others(),
        };
        let mut end = start;
        loop {
            end = self.scan.run(inside, end);
            if self.scan.at(end) != quote {
                return None;
            }
            let before = end - self.scan.run_back(Set::of("\\"), end, 8).max(start);
            // SQL and YAML write a quote in a text as two.
            if quote == b'\'' && self.scan.at(end + 1) == quote && end > start {
                end += 2;
                continue;
            }
            // The quotes of a text that is itself in quotes are escaped, and close escaped.
            let closes = match escapes {
                0 => before.is_multiple_of(2),
                _ => before <= escapes,
            };
            if closes {
                return Some((start, end - before.min(escapes)));
            }
            end += 1;
        }
    }

    /// `SecretStr("…")`
    pub(super) fn quoted_argument(&mut self, place: usize) -> Option<(usize, usize)> {
        let from = if self.scan.starts_with(place, "new ") {
            place + 4
        } else {
            place
        };
        let end = self.scan.run(WORD.and(":"), from);
        if end == from || self.scan.at(end) != b'(' {
            return None;
        }
        self.quoted(end + 1)
    }

    /// Returns where a value without quotes ends: an escaped line break or quote ends it too.
    pub(super) fn bare_end(&mut self, start: usize) -> usize {
        let mut end = self.scan.run(BARE, start);
        for _ in 0..16 {
            let escapes = self.scan.at(end) == b'\\'
                && !matches!(
                    self.scan.at(end + 1),
                    b'n' | b'r' | b't' | b'"' | b'\'' | b'\\'
                );
            if !escapes {
                break;
            }
            end = self.scan.run(BARE, end + 1);
        }
        end
    }

    pub(super) fn parameter(&mut self, name: &Name<'t>, value: usize) -> Option<(usize, usize)> {
        let is_parameter = matches!(self.scan.before(name.start), b'?' | b'&');
        is_parameter.then(|| (value, self.scan.run(PARAMETER, value)))
    }

    /// Takes off what belongs to the text around a value.
    pub(super) fn without_punctuation(&self, start: usize, end: usize) -> usize {
        start.max(self.scan.run_back(Set::of(",;.)}]\"'`>"), end, 8))
    }

    /// Tells whether a value is a call or an index: `get_key()`, `keys[0]`.
    pub(super) fn is_call(&mut self, start: usize, end: usize) -> bool {
        let name = self.scan.run(WORD.and(".:->&*!"), start);
        name > start && name <= end && matches!(self.scan.at(name), b'(' | b'[')
    }

    /// Tells whether nothing stands before a place in its line but marks, `export` and the like.
    pub(super) fn begins_line(&self, place: usize) -> bool {
        let from = self.scan.text.floor_char_boundary(place.saturating_sub(24));
        let before = &self.scan.text[from..place];
        let (line, whole) = match before.rfind('\n') {
            Some(newline) => (&before[newline + 1..], true),
            None => (before, from == 0),
        };
        let line =
            line.trim_matches([' ', '\t', '-', '"', '\'', '`', '#', '*', '+', '>', '$', '%']);
        whole
            && matches!(
                line,
                "" | "export" | "set" | "env" | "declare -x" | "env:" | "ENV" | "ARG"
            )
    }
}
