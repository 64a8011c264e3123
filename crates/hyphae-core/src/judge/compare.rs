//! How two clauses go together.

use super::{
    Clash, ClashKind,
    clause::{Clause, Kind, Side, Token},
    lexicon::{self, Opposition},
    predicate::Modal,
    values,
};

/// How two clauses go together.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Relation {
    /// They say the same.
    Same,
    /// They say the same of different times.
    SameThen,
    /// Both cannot be so, at the same time.
    Clash(Clash),
    /// Both cannot be so at the same time, and they say that they are not about the same time.
    Turned(Clash),
    /// They are about the same thing.
    Near,
    /// They are not.
    Apart,
}

/// What two clauses have in common, and what each has alone.
pub(super) struct Match<'c> {
    pub(super) a: &'c Clause,
    pub(super) b: &'c Clause,
    /// How many words they have in common.
    pub(super) shared: usize,
    pub(super) only_a: Vec<&'c Token>,
    pub(super) only_b: Vec<&'c Token>,
}

/// Compares two clauses; the order of the two makes no difference beyond the sides of a clash.
pub(super) fn compare(a: &Clause, b: &Clause) -> Relation {
    let matched = matched(a, b);
    match clash(&matched) {
        Found::Clash(kind, left, right) => {
            let clash = Clash {
                kind,
                left,
                right,
                left_clause: a.text.clone(),
                right_clause: b.text.clone(),
            };
            if explained(a, b, kind) {
                Relation::Turned(clash)
            } else {
                Relation::Clash(clash)
            }
        }
        Found::Same => Relation::Same,
        Found::SameThen => Relation::SameThen,
        Found::Nothing => {
            let shortest = a.tokens.len().min(b.tokens.len());
            if matched.shared >= 2 || (matched.shared >= 1 && matched.shared * 2 >= shortest) {
                Relation::Near
            } else {
                Relation::Apart
            }
        }
    }
}

enum Found {
    Clash(ClashKind, String, String),
    Same,
    SameThen,
    Nothing,
}

/// Tells whether the clauses say themselves that they are about different times.
fn explained(a: &Clause, b: &Clause, kind: ClashKind) -> bool {
    let turned =
        |one: &Clause, other: &Clause| one.when.now && !(other.when.now || other.when.still);
    let until = |clause: &Clause| {
        clause.dates.iter().any(|date| {
            matches!(
                date.preposition,
                "until" | "till" | "since" | "from" | "@since"
            )
        })
    };
    let dated = !a.dates.is_empty() && !b.dates.is_empty();
    a.when.past != b.when.past
        || a.when.future != b.when.future
        || turned(a, b)
        || turned(b, a)
        || (kind != ClashKind::Date && dated && values::dates_differ(a, b))
        || until(a) != until(b)
}

fn matched<'c>(a: &'c Clause, b: &'c Clause) -> Match<'c> {
    let mut taken = vec![false; b.tokens.len()];
    let mut only_a = Vec::new();
    let mut shared = 0;
    for token in &a.tokens {
        let same = |(at, other): &(usize, &Token)| !taken[*at] && is_same(token, other);
        let candidates = || b.tokens.iter().enumerate().filter(same);
        let best = candidates()
            .find(|(_, other)| other.side == token.side)
            .or_else(|| candidates().next());
        match best {
            Some((at, _)) => {
                taken[at] = true;
                shared += 1;
            }
            None => only_a.push(token),
        }
    }
    let only_b = (b.tokens.iter().zip(&taken))
        .filter(|(_, taken)| !**taken)
        .map(|(token, _)| token)
        .collect();
    let mut matched = Match {
        a,
        b,
        shared,
        only_a,
        only_b,
    };
    matched.drop_empty();
    matched
}

fn is_same(a: &Token, b: &Token) -> bool {
    let directed = |token: &Token| matches!(token.preposition, "from" | "to" | "into");
    if directed(a) && directed(b) && (a.preposition == "from") != (b.preposition == "from") {
        return false;
    }
    match (&a.kind, &b.kind) {
        (Kind::Number(a), Kind::Number(b)) => a.fit(b) == super::quantity::Fit::Equal,
        (Kind::Number(_), _) | (_, Kind::Number(_)) => false,
        _ => a.key == b.key,
    }
}

impl Match<'_> {
    /// Leaves out words that say nothing beside a number, and adverbs.
    fn drop_empty(&mut self) {
        const MEASURES: [&str; 20] = [
            "size", "length", "durat", "amount", "number", "count", "valu", "rate", "port", "time",
            "version", "total", "window", "period", "usag", "level", "maximum", "minimum", "limit",
            "capac",
        ];
        let numbers = |tokens: &[Token]| {
            tokens
                .iter()
                .any(|token| matches!(token.kind, Kind::Number(_)))
        };
        let both = numbers(&self.a.tokens) && numbers(&self.b.tokens);
        let says = |token: &&Token| {
            let measure = both && MEASURES.contains(&token.key.as_str());
            let scope =
                ["locally", "globally", "partially", "remotely"].contains(&token.lower.as_str());
            let adverb = token.kind == Kind::Word
                && token.lower.len() > 4
                && token.lower.ends_with("ly")
                && !scope
                && !lexicon::is_known(&token.lower);
            let everywhere = [
                "repository",
                "project",
                "team",
                "codebas",
                "compani",
                "organis",
                "code",
                "everywher",
            ]
            .contains(&token.key.as_str());
            !(measure || adverb || everywhere)
        };
        self.only_a.retain(says);
        self.only_b.retain(says);
    }
}

fn clash(matched: &Match<'_>) -> Found {
    let Match { a, b, .. } = matched;
    let nothing_left = matched.only_a.is_empty() && matched.only_b.is_empty();
    if a.unsaid || b.unsaid {
        let same = nothing_left && a.unsaid == b.unsaid && a.negated == b.negated;
        return if same { Found::Same } else { Found::Nothing };
    }
    let unclear = !nothing_left && (a.unclear || b.unclear);
    if unclear || a.partly || b.partly || a.conditional != b.conditional {
        return Found::Nothing;
    }
    if let Some((left, right)) = denied(matched) {
        return Found::Clash(ClashKind::Rejected, left, right);
    }
    if nothing_left {
        if let Some(found) = same_words(matched) {
            return found;
        }
    } else if let Some(found) = opposed(matched) {
        return found;
    }
    if a.negated == b.negated {
        return match values::clash(matched) {
            Some((kind, left, right)) => Found::Clash(kind, left, right),
            None => Found::Nothing,
        };
    }
    if is_negation(matched) {
        return Found::Clash(ClashKind::Negation, a.text.clone(), b.text.clone());
    }
    Found::Nothing
}

/// Judges two clauses of the same words.
fn same_words(matched: &Match<'_>) -> Option<Found> {
    let Match { a, b, .. } = matched;
    if a.negated != b.negated {
        return None;
    }
    if let Some((left, right)) = swapped(a, b) {
        return Some(Found::Clash(ClashKind::Order, left, right));
    }
    if values::dates_differ(a, b) {
        return None;
    }
    let then = a.when.past != b.when.past || a.when.future != b.when.future;
    if then {
        return Some(Found::SameThen);
    }
    let denies = |one: &Clause, other: &Clause| {
        let keys = |clause: &Clause| {
            clause
                .denied
                .iter()
                .map(|token| token.key.clone())
                .collect::<Vec<_>>()
        };
        let (one, other) = (keys(one), keys(other));
        !one.is_empty() && !other.is_empty() && one != other
    };
    if denies(a, b) {
        return None;
    }
    let alike = a.dates.len() == b.dates.len()
        && !(a.masked || b.masked)
        && (a.modal == b.modal || ![a.modal, b.modal].iter().any(|modal| is_loose(*modal)));
    alike.then_some(Found::Same)
}

fn is_loose(modal: Modal) -> bool {
    matches!(modal, Modal::May | Modal::NeedNot)
}

/// Finds the two sides of an order (`faster than`, `before`, `overrides`) the other way round.
fn swapped(a: &Clause, b: &Clause) -> Option<(String, String)> {
    let (left_a, right_a) = ordered(a)?;
    let (left_b, right_b) = ordered(b)?;
    let within = |inner: &[&Token], outer: &[&Token]| {
        !inner.is_empty()
            && inner
                .iter()
                .all(|one| outer.iter().any(|other| one.key == other.key))
    };
    let crossed = within(&right_a, &left_b) && within(&right_b, &left_a);
    (crossed && !within(&right_a, &right_b)).then(|| (words(&left_a), words(&left_b)))
}

/// Returns what comes first in a clause that orders two things, and what comes second.
fn ordered(clause: &Clause) -> Option<(Vec<&Token>, Vec<&Token>)> {
    let left: Vec<&Token> = clause
        .tokens
        .iter()
        .filter(|token| token.side == Side::Subject)
        .collect();
    let than = |token: &&Token| token.preposition == "than";
    let mut right: Vec<&Token> = clause.tokens.iter().filter(than).collect();
    if right.is_empty() {
        let at = clause.tokens.iter().position(|token| {
            matches!(
                token.key.as_str(),
                "before" | "after" | "override" | "precede"
            ) && token.side != Side::Subject
        })?;
        let chunk = clause.tokens.get(at + 1)?.chunk;
        right = clause.tokens[at + 1..]
            .iter()
            .filter(|token| token.chunk == chunk)
            .collect();
    }
    Some((left, right))
}

/// Judges two clauses that differ in one word each, if the two are opposites.
fn opposed(matched: &Match<'_>) -> Option<Found> {
    let Match { a, b, .. } = matched;
    let ([one], [other]) = (matched.only_a.as_slice(), matched.only_b.as_slice()) else {
        return None;
    };
    let placed = |token: &Token| matches!(token.side, Side::Verb | Side::Object);
    let opposition = lexicon::opposition(&one.lower, &other.lower)
        .or_else(|| lexicon::opposition(&one.key, &other.key))?;
    if !placed(one)
        || !placed(other)
        || matched.shared == 0
        || is_loose(a.modal)
        || is_loose(b.modal)
    {
        return Some(Found::Nothing);
    }
    // `as an internal user` says in what role, not how it is.
    let describes = |clause: &Clause, token: &Token| {
        let beside = |other: &Token| other.chunk == token.chunk && other != token;
        matches!(
            token.preposition,
            "as" | "for" | "by" | "with" | "of" | "from" | "to" | "about"
        ) && clause.tokens.iter().any(beside)
    };
    if describes(a, one) || describes(b, other) {
        return Some(Found::Nothing);
    }
    let crossed = swapped(a, b).is_some();
    let opposite = match opposition {
        Opposition::Complement => (a.negated == b.negated) ^ crossed,
        Opposition::Contrary if a.negated || b.negated => return Some(Found::Nothing),
        Opposition::Contrary => !crossed,
    };
    if opposite {
        return Some(Found::Clash(
            ClashKind::Opposite,
            one.text.clone(),
            other.text.clone(),
        ));
    }
    Some(Found::Same)
}

/// Finds what one clause chooses and the other turns down.
fn denied(matched: &Match<'_>) -> Option<(String, String)> {
    let Match { a, b, .. } = matched;
    if a.negated || b.negated {
        return None;
    }
    if let Some(chosen) = turned_down(a, &matched.only_a, &matched.only_b) {
        return Some((format!("not {chosen}"), chosen));
    }
    let chosen = turned_down(b, &matched.only_b, &matched.only_a)?;
    Some((chosen.clone(), format!("not {chosen}")))
}

/// Finds among the words of the other clause what this one denies.
fn turned_down(one: &Clause, own: &[&Token], other: &[&Token]) -> Option<String> {
    let placed = |token: &Token| matches!(token.side, Side::Object | Side::Subject);
    let chosen = other
        .iter()
        .find(|token| placed(token) && one.denied.iter().any(|denied| denied.key == token.key))?;
    let changed = one.when.now;
    let harmless = |token: &Token| match token.side {
        Side::Object => true,
        Side::Verb => changed,
        Side::Subject | Side::Scope => false,
    };
    let rest = other.iter().filter(|token| token.chunk != chosen.chunk);
    let fits = rest.chain(own).all(|token| harmless(token));
    let mut places = own.iter().filter(|token| token.side == Side::Object);
    let first = places.next().map(|token| token.chunk);
    let one_place = places.all(|token| Some(token.chunk) == first);
    (fits && one_place).then(|| chosen.text.clone())
}

/// Tells whether the one clause denies what the other says.
fn is_negation(matched: &Match<'_>) -> bool {
    let Match { a, b, .. } = matched;
    let (denies, says, denied_alone, said_alone) = if a.negated {
        (a, b, &matched.only_a, &matched.only_b)
    } else {
        (b, a, &matched.only_b, &matched.only_a)
    };
    let more = said_alone.iter().all(|token| {
        let bound = token.side == Side::Object || (token.side == Side::Subject && denies.nobody);
        bound && !is_environment(&token.key)
    });
    let enough = matched.shared >= 2
        || (matched.shared == 1 && (said_alone.is_empty() || (denies.usage && says.usage)));
    let same_scope = said_alone.is_empty() || !(says.only || denies.only);
    denied_alone.is_empty()
        && !values::dates_differ(a, b)
        && more
        && enough
        && same_scope
        && denies.denied.is_empty()
        && modals_clash(denies, says)
        && !reversed(denies, says)
}

/// Tells whether a denial and a statement of the same thing exclude each other.
fn modals_clash(denies: &Clause, says: &Clause) -> bool {
    let rule = denies.modal == Modal::Must || denies.imperative;
    match (denies.modal, says.modal) {
        (Modal::NeedNot, Modal::Must) => true,
        (Modal::NeedNot, _) => says.verb == "require",
        // Whoever can does not always do.
        (Modal::Plain, Modal::May) => rule,
        // What is not so may still be demanded.
        (Modal::Plain, Modal::Must) => rule,
        _ => true,
    }
}

/// Tells whether subject and object have changed places.
fn reversed(a: &Clause, b: &Clause) -> bool {
    if a.passive != b.passive || a.be || b.be {
        return false;
    }
    let on = |clause: &Clause, side: Side| -> Vec<String> {
        let tokens = clause.tokens.iter().filter(|token| token.side == side);
        tokens.map(|token| token.key.clone()).collect()
    };
    let crossed = |from: Side, to: Side| {
        let there = on(b, to);
        on(a, from).iter().any(|key| there.contains(key))
    };
    crossed(Side::Subject, Side::Object) && crossed(Side::Object, Side::Subject)
}

/// Tells whether a word names where software runs, which every environment decides for itself.
pub(super) fn is_environment(key: &str) -> bool {
    [
        "product",
        "production",
        "develop",
        "development",
        "stage",
        "staging",
        "local",
        "locally",
        "ci",
        "sandbox",
        "preview",
        "debug",
        "demo",
        "canari",
    ]
    .contains(&key)
}

/// Returns the words of some tokens as they stand in the text.
pub(super) fn words(tokens: &[&Token]) -> String {
    let words: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
    words.join(" ")
}
