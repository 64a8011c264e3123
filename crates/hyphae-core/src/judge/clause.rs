//! One clause as it is compared: what it is about, its values, and whether, when and how
//! strongly it is meant.

use super::{
    lex::{self, Item},
    lexicon,
    names::Member,
    predicate::{self, Modal, Predicate, When},
    quantity::Quantity,
    split::{self, Words},
    tokens::{Reader, Replaces},
    verbs::Objects,
};

/// Where in a clause a word stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Subject,
    Verb,
    Object,
    /// In a phrase or condition that bounds the rest.
    Scope,
}

/// What a word is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Word,
    Name(Option<Member>),
    /// A member of a class of names that is an everyday word too.
    Perhaps(Member),
    Number(Quantity),
    /// The number of a thing (`step 3`, `#12`), by which one thing is told from another.
    Label,
}

/// A word that says something.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    /// What it is compared by.
    pub(super) key: String,
    pub(super) lower: String,
    pub(super) text: String,
    pub(super) kind: Kind,
    pub(super) side: Side,
    /// Words of one noun phrase have the same number.
    pub(super) chunk: usize,
    /// The preposition in front of its noun phrase, or nothing.
    pub(super) preposition: &'static str,
    /// `a` or `an` stands in front of it.
    pub(super) indefinite: bool,
}

/// A date that says when, or that is what is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Date {
    pub(super) key: String,
    pub(super) text: String,
    pub(super) preposition: &'static str,
}

/// A clause.
#[derive(Debug, Clone)]
pub(super) struct Clause {
    pub(super) text: String,
    pub(super) tokens: Vec<Token>,
    pub(super) denied: Vec<Token>,
    pub(super) dates: Vec<Date>,
    pub(super) objects: Objects,
    pub(super) be: bool,
    pub(super) passive: bool,
    /// `use`, `choose`: what is used may be the subject or the object.
    pub(super) usage: bool,
    /// The verb's canonical form, or nothing.
    pub(super) verb: &'static str,
    /// What the verb tells of happens once.
    pub(super) once: bool,
    pub(super) negated: bool,
    /// `not all`, `not only`: neither so nor not so.
    pub(super) partly: bool,
    pub(super) modal: Modal,
    /// Demands something of whoever reads it.
    pub(super) imperative: bool,
    pub(super) when: When,
    /// The text does not vouch for it.
    pub(super) unsaid: bool,
    pub(super) conditional: bool,
    pub(super) only: bool,
    /// There may be more of its kind: a list, an example, one of several.
    pub(super) many: bool,
    pub(super) masked: bool,
    /// Its subject is nobody.
    pub(super) nobody: bool,
    /// It is about what an earlier clause was about, and what that was is not clear.
    pub(super) unclear: bool,
}

/// Reads a text.
pub(super) fn clauses(text: &str) -> Vec<Clause> {
    let mut read: Vec<Clause> = Vec::new();
    for sentence in lex::sentences(text) {
        for words in split::clauses(&sentence) {
            let clause = Reader::new(words.follows).read(&words, read.last());
            if !clause.tokens.is_empty() || !clause.dates.is_empty() {
                read.push(clause);
            }
        }
    }
    read
}

impl Reader {
    fn new(follows: bool) -> Self {
        Self {
            follows,
            ..Self::default()
        }
    }

    fn read(mut self, words: &Words, before: Option<&Clause>) -> Clause {
        let text = joined(words);
        let predicate = predicate::read(&words.said);
        let (subject, object) = match &predicate {
            Some(verb) => (&words.said[..verb.at], &words.said[verb.end..]),
            None => (&words.said[..0], words.said.as_slice()),
        };
        let verb = predicate.as_ref().and_then(|predicate| predicate.verb);
        self.chooses = verb.is_none_or(|verb| verb.canon == "use")
            && !predicate.as_ref().is_some_and(|it| it.be);
        self.from_is_denied = predicate
            .as_ref()
            .and_then(|predicate| predicate.verb)
            .is_some_and(|verb| verb.change);
        if let Some(predicate) = &predicate
            && predicate.verb.is_some_and(|verb| verb.canon == "replace")
        {
            self.replaces = if predicate.passive {
                Replaces::Subject
            } else {
                Replaces::Object
            };
        }
        self.walk(subject, Side::Subject);
        let stands_for = subject.iter().all(|item| lexicon::is_empty(&item.lower))
            && (self.follows
                || subject
                    .iter()
                    .any(|item| matches!(item.lower.as_str(), "it" | "they" | "this" | "that")));
        if let (true, Some(before)) = (stands_for, before) {
            let subject = before.tokens.iter();
            self.tokens
                .extend(subject.filter(|token| token.side == Side::Subject).cloned());
            self.unclear = self.tokens.is_empty() && !self.follows;
        }
        if let Some((key, text)) = predicate.as_ref().and_then(|verb| verb.key.clone()) {
            self.chunk += 1;
            self.push(&key, &text.to_lowercase(), &text, Kind::Word, Side::Verb);
        }
        self.walk(object, Side::Object);
        self.bound = None;
        self.denying = false;
        self.walk(&words.scope, Side::Scope);
        self.denying = true;
        self.walk(&words.denied, Side::Object);
        self.finish(text, words, predicate)
    }

    fn finish(mut self, text: String, words: &Words, predicate: Option<Predicate>) -> Clause {
        let be = predicate
            .as_ref()
            .is_none_or(|verb| verb.be && verb.verb.is_none());
        let passive = predicate.as_ref().is_some_and(|verb| verb.passive);
        let begins = words.said.first();
        let definite = begins.is_some_and(|item| {
            matches!(
                item.lower.as_str(),
                "the" | "our" | "its" | "their" | "my" | "your"
            )
        });
        if be && !passive {
            self.turn(words, predicate.as_ref());
            // `A known risk is …` leaves room for another.
            let indefinite = begins.is_some_and(|item| matches!(item.lower.as_str(), "a" | "an"));
            self.many |= indefinite && !definite;
        }
        let objects = predicate.as_ref().map_or(Objects::One, Predicate::objects);
        let mut when = predicate.as_ref().map(|verb| verb.when).unwrap_or_default();
        when.past |= self.past;
        when.now |= self.now;
        when.still |= self.still;
        when.future |= self.future;
        when.past |= predicate.as_ref().is_some_and(|verb| verb.was) && self.drop_moment();
        let subject = self.tokens.iter().any(|token| token.side == Side::Subject);
        let verb = predicate.as_ref().and_then(|verb| verb.verb);
        if !passive && verb.is_some_and(|verb| matches!(verb.canon, "own" | "lead")) {
            self.name_subject();
        }
        Clause {
            text,
            objects,
            be,
            passive,
            usage: verb.is_some_and(|verb| verb.canon == "use"),
            verb: verb.map_or("", |verb| verb.canon),
            once: verb.is_some_and(|verb| verb.once)
                || (definite && passive && predicate.as_ref().is_some_and(|verb| verb.was)),
            negated: self.negated ^ predicate.as_ref().is_some_and(|verb| verb.negated),
            partly: self.partly,
            modal: predicate.as_ref().map_or(Modal::Plain, |verb| verb.modal),
            imperative: !subject && !be && !passive,
            when,
            unsaid: words.unsaid || self.unsaid || predicate.is_some_and(|verb| verb.unsaid),
            conditional: words.conditional,
            only: self.only,
            many: self.many || words.list || words.said.iter().any(is_addition),
            masked: self.masked,
            nobody: words
                .said
                .first()
                .is_some_and(|item| item.lower == "nobody"),
            unclear: self.unclear,
            tokens: self.tokens,
            denied: self.denied,
            dates: self.dates,
        }
    }

    /// Takes out what says when a past was (`before the rewrite`, `during the freeze`); returns
    /// whether there was any.
    fn drop_moment(&mut self) -> bool {
        let before = self.tokens.len();
        let mut moment = None;
        self.tokens.retain(|token| {
            if token.side == Side::Scope && matches!(token.key.as_str(), "before" | "after") {
                moment = Some(token.chunk + 1);
                return false;
            }
            let when = matches!(token.preposition, "during" | "until" | "till")
                || (token.side == Side::Scope && moment == Some(token.chunk));
            !when
        });
        self.tokens.len() < before
    }

    /// Takes the one word that is the subject for a name, if it may be one.
    fn name_subject(&mut self) {
        let mut subject = self
            .tokens
            .iter_mut()
            .filter(|token| token.side == Side::Subject);
        let (Some(only), None) = (subject.next(), subject.next()) else {
            return;
        };
        let capital = only.text.chars().next().is_some_and(char::is_uppercase);
        if only.kind == Kind::Word && capital && !only.lower.ends_with('s') {
            only.kind = Kind::Name(None);
        }
    }

    /// Turns `Tom is the release manager` into `the release manager is Tom`.
    fn turn(&mut self, words: &Words, predicate: Option<&Predicate>) {
        let Some(predicate) = predicate else { return };
        let definite = |items: &[Item]| {
            let first = items.first().map_or("", |item| item.lower.as_str());
            matches!(first, "the" | "our" | "my")
        };
        let object = &words.said[predicate.end..];
        if definite(&words.said) || !definite(object) {
            return;
        }
        let subject = self
            .tokens
            .iter()
            .filter(|token| token.side == Side::Subject);
        if subject.count() > 2 {
            return;
        }
        let first = self.tokens.iter().find(|token| token.side == Side::Object);
        let Some(named) = first.map(|token| token.chunk) else {
            return;
        };
        self.name_subject();
        for token in &mut self.tokens {
            token.side = match token.side {
                Side::Subject => Side::Object,
                Side::Object if token.chunk == named || token.preposition == "of" => Side::Subject,
                side @ (Side::Verb | Side::Object | Side::Scope) => side,
            };
        }
    }
}

/// Tells whether a word says that there is something else besides.
fn is_addition(item: &Item) -> bool {
    [
        "also",
        "too",
        "another",
        "additionally",
        "moreover",
        "besides",
    ]
    .contains(&item.lower.as_str())
}

fn joined(words: &Words) -> String {
    let shown = words.said.iter().chain(&words.scope).chain(&words.denied);
    let shown: Vec<&str> = shown
        .map(|item| item.text.as_str())
        .filter(|text| !text.starts_with('@'))
        .collect();
    shown.join(" ")
}
