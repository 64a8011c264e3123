//! From the words of a clause to the tokens that it is compared by.

use super::{
    clause::{Date, Kind, Side, Token},
    dates,
    lex::{Item, Shape},
    lexicon, names,
    quantity::{self, Bound, Dimension, Quantity},
    split::PREPOSITIONS,
};

/// Which words of a clause with `replace` name what is no longer there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Replaces {
    #[default]
    Nothing,
    Object,
    Subject,
}

/// Collects what the words of one clause say.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) tokens: Vec<Token>,
    pub(super) dates: Vec<Date>,
    pub(super) chunk: usize,
    pub(super) preposition: &'static str,
    pub(super) indefinite: bool,
    pub(super) bound: Option<Bound>,
    pub(super) negated: bool,
    pub(super) partly: bool,
    pub(super) unsaid: bool,
    pub(super) only: bool,
    pub(super) many: bool,
    pub(super) masked: bool,
    pub(super) now: bool,
    pub(super) past: bool,
    pub(super) still: bool,
    pub(super) future: bool,
    pub(super) denying: bool,
    pub(super) from_is_denied: bool,
    /// The verb tells of a choice, so that `over` says what was not chosen.
    pub(super) chooses: bool,
    pub(super) replaces: Replaces,
    pub(super) denied: Vec<Token>,
    pub(super) follows: bool,
    pub(super) unclear: bool,
}

impl Reader {
    /// Adds a word that says something.
    pub(super) fn push(&mut self, key: &str, lower: &str, text: &str, kind: Kind, side: Side) {
        let replaced = match self.replaces {
            Replaces::Nothing => false,
            Replaces::Object => side == Side::Object && self.preposition.is_empty(),
            Replaces::Subject => side == Side::Subject,
        };
        let denied =
            self.denying || replaced || (self.from_is_denied && self.preposition == "from");
        let token = Token {
            key: key.to_owned(),
            lower: lower.to_owned(),
            text: text.to_owned(),
            kind,
            side,
            chunk: self.chunk,
            preposition: self.preposition,
            indefinite: self.indefinite,
        };
        if denied {
            self.denied.push(token);
        } else {
            self.tokens.push(token);
        }
    }

    /// Reads the words of one side of a clause.
    pub(super) fn walk(&mut self, items: &[Item], side: Side) {
        self.chunk += 1;
        self.preposition = "";
        let mut at = 0;
        while at < items.len() {
            at += self.step(items, at, side).max(1);
        }
    }

    /// Reads what begins at `at`; returns how many items that was.
    fn step(&mut self, items: &[Item], at: usize, side: Side) -> usize {
        let item = &items[at];
        let lower = item.lower.as_str();
        let before = at.checked_sub(1).map_or("", |at| items[at].lower.as_str());
        match item.shape {
            Shape::Masked => {
                self.masked = true;
                return 1;
            }
            Shape::Speech => {
                self.unsaid = true;
                return 1;
            }
            Shape::Mark => {
                self.chunk += 1;
                return 1;
            }
            Shape::Quoted => {
                let member = names::member(lower);
                let key = member.map_or_else(
                    || lexicon::key(lower),
                    |member| format!("={}", member.canon),
                );
                self.push(&key, lower, &item.text, Kind::Name(member), side);
                return 1;
            }
            Shape::Plain | Shape::Capital | Shape::First => {}
        }
        if let Some((key, taken)) = dates::date(&items[at..], before) {
            let text: Vec<&str> = items[at..at + taken]
                .iter()
                .map(|item| item.text.as_str())
                .collect();
            self.dates.push(Date {
                key,
                text: text.join(" "),
                preposition: self.preposition,
            });
            self.now |= matches!(self.preposition, "since" | "@since");
            return taken;
        }
        if let Some(taken) = self.number(items, at, side) {
            return taken;
        }
        if let Some(taken) = self.name(items, at, side) {
            return taken;
        }
        self.function_word(items, at, side)
    }

    /// Reads words that carry structure; anything else is a word that says something.
    fn function_word(&mut self, items: &[Item], at: usize, side: Side) -> usize {
        let item = &items[at];
        let lower = item.lower.as_str();
        let next = items.get(at + 1).map_or("", |item| item.lower.as_str());
        match lower {
            "@max" | "maximum" | "max" | "maximal" | "<" | "<=" | "≤" | "under" | "below"
                if number_ahead(items, at) || lower.starts_with("max") =>
            {
                self.bound = Some(Bound::AtMost);
            }
            "@min" | "minimum" | "min" | "minimal" | ">" | ">=" | "≥" | "above" | "over"
                if number_ahead(items, at) || lower.starts_with("min") =>
            {
                self.bound = Some(Bound::AtLeast);
            }
            "limit" | "cap" | "ceiling" if side == Side::Subject => {
                self.bound = Some(Bound::AtMost);
            }
            "about" | "around" | "roughly" | "approximately" | "approx" | "nearly" | "almost"
            | "~"
                if number_ahead(items, at) =>
            {
                self.bound = Some(Bound::About);
            }
            "@up" | "@down" => self.bound_behind(lower),
            "not" if side != Side::Subject && items.get(at + 1).is_some() && self.has_object() => {
                self.denying = true;
            }
            "@instead" => self.denying = true,
            // What came in its place is the other half of the story.
            "@infavour" => return items.len() - at,
            "over" if self.chooses && side == Side::Object && self.has_object() => {
                self.denying = true;
            }
            "no" | "not" | "nobody" | "none" | "nothing" | "neither" | "nor" | "never"
            | "@cannot" => {
                self.negated ^= true;
            }
            "@nolonger" => {
                // A predicate reads it in front of its verb; here it is behind.
                self.negated |= side != Side::Object || !self.negated;
                self.now = true;
            }
            "@partly" | "rarely" | "seldom" | "sometimes" | "usually" | "often" | "mostly"
            | "generally" | "typically" | "normally" | "occasionally" | "hardly" => {
                self.partly = true;
            }
            "maybe" | "perhaps" | "possibly" | "probably" | "@maybe" | "@reported"
            | "supposedly" | "allegedly" | "hopefully" | "ideally" => self.unsaid = true,
            "only" | "solely" | "exclusively" => self.only = true,
            "@oneof" | "@example" | "e.g" | "example" | "including" => self.many = true,
            "and" | "or" | "plus" => {
                self.many |= side == Side::Object;
                self.chunk += 1;
                self.preposition = "and";
            }
            "now" => self.now = true,
            "still" => self.still = true,
            "@formerly" | "previously" | "formerly" | "originally" | "initially" => {
                self.past = true;
            }
            "@will" | "will" => self.future = true,
            "before" | "after" | "without" if !number_ahead(items, at) && !time_of(next) => {
                self.chunk += 1;
                self.preposition = "";
                self.push(lower, lower, &item.text, Kind::Word, side);
                self.chunk += 1;
            }
            "than" => {
                self.chunk += 1;
                self.preposition = "than";
            }
            "a" | "an" => {
                self.indefinite = true;
                return 1;
            }
            "on" | "off"
                if side == Side::Object
                    && (next.is_empty() || matches!(next, "in" | "by" | "for" | "at")) =>
            {
                self.push(&lexicon::key(lower), lower, &item.text, Kind::Word, side);
            }
            _ if PREPOSITIONS.contains(&lower) => {
                self.chunk += 1;
                self.denying &= !matches!(lower, "for" | "in" | "as" | "on" | "when");
                self.preposition = PREPOSITIONS
                    .iter()
                    .find(|one| **one == lower)
                    .copied()
                    .unwrap_or_default();
                self.indefinite = false;
            }
            _ if lexicon::is_empty(lower) => {}
            _ => self.push(&lexicon::key(lower), lower, &item.text, Kind::Word, side),
        }
        if !lexicon::is_empty(lower) {
            self.indefinite = false;
        }
        1
    }

    fn has_object(&self) -> bool {
        self.tokens.iter().any(|token| token.side == Side::Object)
    }

    fn bound_behind(&mut self, word: &str) {
        let bound = if word == "@up" {
            Bound::AtLeast
        } else {
            Bound::AtMost
        };
        if let Some(Token {
            kind: Kind::Number(quantity),
            ..
        }) = self.tokens.last_mut()
        {
            quantity.bound = bound;
        }
    }

    /// Reads a number with its unit.
    fn number(&mut self, items: &[Item], at: usize, side: Side) -> Option<usize> {
        let item = &items[at];
        let lower = item.lower.as_str();
        let next = items.get(at + 1).map_or("", |item| item.lower.as_str());
        let before = at.checked_sub(1).map_or("", |at| items[at].lower.as_str());
        if let Some(number) = lower.strip_prefix('#')
            && number.parse::<u64>().is_ok()
        {
            self.push(lower, lower, &item.text, Kind::Label, side);
            return Some(1);
        }
        if matches!(lower, "once" | "twice")
            && matches!(next, "a" | "per" | "every" | "an")
            && side != Side::Scope
        {
            // `once a month` is every month.
            let unit = items.get(at + 2).map_or("", |item| item.lower.as_str());
            if let Some(mut every) = Quantity::count(1.0).with_unit(unit) {
                if lower == "twice" {
                    every = every.halved();
                }
                let text: Vec<&str> = items[at..at + 3]
                    .iter()
                    .map(|item| item.text.as_str())
                    .collect();
                self.push(unit, lower, &text.join(" "), Kind::Number(every), side);
                return Some(3);
            }
        }
        let mut quantity = match Quantity::read(lower) {
            Some(quantity) => quantity,
            None if matches!(lower, "a" | "an" | "every" | "each" | "per") => {
                // `an hour`, `every hour`; not `per minute`, which is a part of a rate.
                let one = Quantity::count(1.0).with_unit(next)?;
                let counts = lower == "every" || (lower != "per" && self.preposition != "per");
                (counts && lower != "each").then_some(())?;
                self.push(
                    "1",
                    lower,
                    &format!("{} {}", item.text, items[at + 1].text),
                    Kind::Number(one),
                    side,
                );
                return Some(2);
            }
            None => {
                let number = quantity::number_word(lower)?;
                let counted = !next.is_empty() && !lexicon::is_empty(next) && next != "@is";
                (counted || number > 1).then_some(())?;
                Quantity::count(f64::from(number))
            }
        };
        let mut taken = 1;
        let mut text = item.text.clone();
        let last = self.tokens.last().filter(|last| last.chunk == self.chunk);
        if let Some(with) = quantity.with_unit(next) {
            quantity = with;
            taken = 2;
            text = format!("{text} {}", items[at + 1].text);
        } else if let Some(last) = last
            && quantity.dimension == Dimension::Count
            && before == last.lower
        {
            let counts_nothing =
                next.is_empty() || lexicon::is_empty(next) || PREPOSITIONS.contains(&next);
            if last.kind == Kind::Word && is_counted_thing(&last.key) && side != Side::Scope {
                let label = format!("{} {lower}", last.key);
                self.push(&label, lower, &text, Kind::Label, side);
                return Some(1);
            }
            let named = matches!(last.kind, Kind::Name(_) | Kind::Perhaps(_))
                || matches!(last.key.as_str(), "version" | "protocol" | "api");
            quantity.is_version |= named && (counts_nothing || quantity.version.is_some());
        }
        if next == "@max" && !number_ahead(items, at + 1) {
            // `1.24 at most`
            self.bound = Some(Bound::AtMost);
            taken = 2;
        }
        if let Some(bound) = self.bound.take() {
            quantity = quantity.bounded(bound);
        }
        if matches!(self.preposition, "since" | "@since") && quantity.dimension == Dimension::Count
        {
            // `since 2.0`: a moment.
            self.now = true;
            self.dates.push(Date {
                key: format!("v{lower}"),
                text,
                preposition: self.preposition,
            });
            return Some(taken);
        }
        let key = if quantity.is_version {
            format!("v{lower}")
        } else {
            lower.to_owned()
        };
        self.push(&key, lower, &text, Kind::Number(quantity), side);
        Some(taken)
    }

    /// Reads a name of one or several words.
    fn name(&mut self, items: &[Item], at: usize, side: Side) -> Option<usize> {
        let item = &items[at];
        for length in (1..=names::longest().min(items.len() - at)).rev() {
            let words: Vec<&str> = items[at..at + length]
                .iter()
                .map(|item| item.lower.as_str())
                .collect();
            let whole = words.join(" ");
            let text: Vec<&str> = items[at..at + length]
                .iter()
                .map(|item| item.text.as_str())
                .collect();
            if let Some(member) = names::member(&whole) {
                let sure = !names::is_ambiguous(&whole) || item.shape == Shape::Capital;
                let kind = if sure {
                    Kind::Name(Some(member))
                } else {
                    Kind::Perhaps(member)
                };
                self.push(
                    &format!("={}", member.canon),
                    &whole,
                    &text.join(" "),
                    kind,
                    side,
                );
                return Some(length);
            }
        }
        if item.shape == Shape::First
            || !(item.shape == Shape::Capital || is_identifier(&item.text))
        {
            return None;
        }
        let letter = item.text.len() == 1 && item.text != "I";
        if (lexicon::is_empty(&item.lower) && !letter) || item.lower.starts_with('@') {
            return None;
        }
        // Several words with capitals are one name.
        let length = items[at..]
            .iter()
            .take_while(|item| item.shape == Shape::Capital && names::member(&item.lower).is_none())
            .count()
            .max(1);
        let words: Vec<String> = items[at..at + length]
            .iter()
            .map(|item| lexicon::key(&item.lower))
            .collect();
        let text: Vec<&str> = items[at..at + length]
            .iter()
            .map(|item| item.text.as_str())
            .collect();
        let lower = text.join(" ").to_lowercase();
        // Acronyms are words in talk about software: `API`, `URL`, `CLI`.
        let acronym = length == 1
            && item.text.chars().count() <= 4
            && item.text.chars().all(|c| c.is_uppercase() || c == 's');
        let kind = if acronym && side != Side::Object {
            Kind::Word
        } else {
            Kind::Name(None)
        };
        self.push(&words.join(" "), &lower, &text.join(" "), kind, side);
        Some(length)
    }
}

/// Tells whether a number follows, with at most one word between.
fn number_ahead(items: &[Item], at: usize) -> bool {
    items[at + 1..].iter().take(2).any(|item| {
        Quantity::read(&item.lower).is_some() || quantity::number_word(&item.lower).is_some()
    })
}

/// Tells whether a word is one of time, before which `after` says how long.
fn time_of(next: &str) -> bool {
    Quantity::count(1.0).with_unit(next).is_some()
}

/// Things that are told apart by their numbers.
fn is_counted_thing(key: &str) -> bool {
    const THINGS: &str = "issu step pull-request rfc adr ticket bug phase sprint mileston chapter section line \
        page shard node worker replica pod instanc host tabl group team server room task stori epic case test \
        scenario exampl option figur rule item slot lane round experi run cluster servic order invoic layer level \
        migrat revis sampl";
    THINGS.split_whitespace().any(|thing| thing == key)
}

/// Tells whether a word looks like a path, a host, a variable or another name from code.
fn is_identifier(text: &str) -> bool {
    let inner_capital =
        text.chars().skip(1).any(char::is_uppercase) && text.chars().any(char::is_lowercase);
    let joint = text.contains(['_', '/', '\\', '@', '$', '#']) || text.contains("::");
    let dotted = text
        .split_once('.')
        .is_some_and(|(head, tail)| !tail.is_empty() && (head.is_empty() || head.len() > 1));
    let digits = text.chars().any(|c| c.is_ascii_digit()) && text.chars().any(char::is_alphabetic);
    inner_capital || joint || dotted || digits
}
