//! Values with nothing but a space before them: behind flags, schemes, verbs and keywords.

use super::{
    super::{
        Span,
        name::{self, Meaning},
        value,
    },
    Finder, LONGEST_NAME, NAME, NOT_SPACE, Place, telling,
};

impl Finder<'_, '_> {
    /// `--token …`, `Bearer …`, `the password is …`, `PASSWORD '…'`, `curl -u user:…`.
    pub(super) fn behind_word(&mut self, at: usize) -> Option<Span> {
        let value = at + 1;
        if matches!(self.scan.at(value), 0 | b' ' | b'=' | b':') {
            return None;
        }
        if self.scan.starts_with(value, "-p") && self.line_names(value, &["mysql"]) {
            let end = self.scan.run(NOT_SPACE, value);
            return self.judged(Meaning::Password, Place::Variable, value + 2, end);
        }
        let start = self.scan.run_back(NAME, at, LONGEST_NAME);
        let word = &self.scan.text[start..at];
        if word.is_empty() {
            return None;
        }
        let is = |known: &str| word.eq_ignore_ascii_case(known);
        if is("bearer") || is("basic") {
            return self.credentials(value, 12);
        }
        if is("is") || is("was") {
            return self.said(start, value);
        }
        if is("by") && self.scan.ends_with(start, "IDENTIFIED ") {
            let (start, end) = self.quoted(value)?;
            return self.judged(Meaning::Password, Place::Quoted, start, end);
        }
        if word == "--user" {
            return self.user_and_password(value);
        }
        if word.starts_with('-') && !word.starts_with("--") {
            return self.short_flag(word, start, value);
        }
        let meaning = telling(name::meaning(self.name_before(at)?.text))?;
        if is_verb(word) {
            return None;
        }
        if let Some((start, end)) = self.quoted(value) {
            // Names of functions are set in backquotes, too.
            let place = if self.scan.at(value) == b'`' {
                Place::Inline
            } else {
                Place::Quoted
            };
            return self.judged(meaning, place, start, end);
        }
        let before =
            &self.scan.text[self.scan.text.floor_char_boundary(start.saturating_sub(80))..start];
        let mut words = before.split_whitespace().rev();
        let last = words.next().unwrap_or_default();
        let place = if matches!(last, "ENV" | "ARG" | "setx") {
            Place::Variable
        } else if words.next() == Some("login") || self.begins_line(start) {
            Place::Line
        } else {
            Place::Inline
        };
        let end = self.bare_end(value);
        let end = self.without_punctuation(value, end);
        if place == Place::Inline && !word.starts_with("--") {
            // Prose: only what can be nothing else.
            let random = meaning != Meaning::Perhaps
                && value::is_drawn_at_random(self.scan.text.get(value..end)?);
            return random
                .then(|| self.judged(meaning, place, value, end))
                .flatten();
        }
        // A line of prose may begin with any word.
        let place = match (place, meaning) {
            (Place::Line, Meaning::Secret) => Place::Inline,
            (place, _) => place,
        };
        self.judged(meaning, place, value, end)
    }

    /// `the password is …`
    pub(super) fn said(&mut self, verb: usize, value: usize) -> Option<Span> {
        let name = self.name_before(verb)?;
        let meaning = telling(name::meaning(name.text))?;
        if let Some((start, end)) = self.quoted(value) {
            return self.judged(meaning, Place::Quoted, start, end);
        }
        let end = self.bare_end(value);
        let end = self.without_punctuation(value, end);
        self.judged(meaning, Place::Inline, value, end)
    }

    /// Tells whether one of some programs is named before a place in its line.
    pub(super) fn line_names(&self, place: usize, programs: &[&str]) -> bool {
        let from = self
            .scan
            .text
            .floor_char_boundary(place.saturating_sub(200));
        let before = &self.scan.text[from..place];
        // A command goes on behind a line break that is escaped.
        let mut breaks = before.match_indices('\n');
        let broken = breaks.rfind(|(at, _)| !before[..*at].ends_with('\\'));
        let line = &before[broken.map_or(0, |(at, _)| at)..];
        programs.iter().any(|program| line.contains(program))
    }

    /// The flags by which well-known programs take a password.
    pub(super) fn short_flag(&mut self, word: &str, start: usize, value: usize) -> Option<Span> {
        let of = |programs: &[&str]| self.line_names(start, programs);
        if matches!(word, "-u" | "-a") && of(&["curl", "http ", "wget"]) {
            return self.user_and_password(value);
        }
        let takes_password = (word == "-p"
            && of(&["sshpass", "docker login", "podman login", "psexec"]))
            || (word == "-a" && of(&["redis-cli"]));
        if takes_password {
            let (start, end) = self
                .quoted(value)
                .unwrap_or_else(|| (value, self.scan.run(NOT_SPACE, value)));
            return self.judged(Meaning::Password, Place::Variable, start, end);
        }
        None
    }

    /// `user:password`
    pub(super) fn user_and_password(&mut self, value: usize) -> Option<Span> {
        let (start, end) = self
            .quoted(value)
            .unwrap_or_else(|| (value, self.scan.run(NOT_SPACE, value)));
        let colon = self.scan.text.get(start..end)?.find(':')?;
        self.judged(Meaning::Password, Place::Variable, start + colon + 1, end)
    }
}

/// "Pass" is what one does to arguments, where no equals sign stands behind it.
pub(super) fn is_verb(name: &str) -> bool {
    let last = name.rsplit(['-', '.', '_']).next().unwrap_or_default();
    last.eq_ignore_ascii_case("pass")
}
