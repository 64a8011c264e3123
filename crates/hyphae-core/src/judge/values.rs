//! Values that stand in the same place of two clauses: numbers, versions, dates, names.

use super::{
    ClashKind,
    clause::{Clause, Date, Kind, Side, Token},
    compare::{Match, is_environment, words},
    names::{Class, Member},
    predicate::Modal,
    quantity::{Bound, Fit, Quantity},
    verbs::Objects,
};

/// Finds a value that the clauses, alike otherwise, do not agree on.
pub(super) fn clash(matched: &Match<'_>) -> Option<(ClashKind, String, String)> {
    let Match {
        a,
        b,
        only_a,
        only_b,
        ..
    } = matched;
    if a.masked || b.masked || a.negated {
        return None;
    }
    if only_a.is_empty() && only_b.is_empty() {
        return date_clash(matched);
    }
    let one_place = |tokens: &[&Token]| {
        let first = tokens.first()?;
        let together = tokens.iter().all(|token| token.chunk == first.chunk);
        let bounds = tokens.iter().any(|token| {
            let bound = token.side == Side::Scope && !is_threshold(token, matched);
            bound || is_environment(&token.key)
        });
        (together && !bounds).then_some(())
    };
    let verbless: Vec<Match<'_>> = without_verbs(matched).into_iter().collect();
    let matched = verbless.first().unwrap_or(matched);
    let (only_a, only_b) = (&matched.only_a, &matched.only_b);
    one_place(only_a)?;
    one_place(only_b)?;
    let kind = if only_a
        .iter()
        .chain(only_b)
        .any(|token| name(token).is_some())
    {
        name_clash(matched).or_else(|| word_clash(matched))?
    } else if only_a
        .iter()
        .chain(only_b)
        .any(|token| number(token).is_some())
    {
        number_clash(matched)?
    } else {
        word_clash(matched)?
    };
    Some((kind, words(only_a), words(only_b)))
}

/// Leaves different verbs out where both put a name of one class into a place for one:
/// `is managed with Redux`, `lives in Zustand`.
fn without_verbs<'c>(matched: &Match<'c>) -> Option<Match<'c>> {
    let verbs = |tokens: &[&Token]| {
        tokens
            .iter()
            .filter(|token| token.side == Side::Verb)
            .count()
    };
    let class = |tokens: &[&Token]| {
        tokens.iter().find_map(|token| match name(token)? {
            Named::Surely(member) => member.map(|member| member.class),
            Named::Perhaps(member) => Some(member.class),
        })
    };
    let (left, right) = (class(&matched.only_a)?, class(&matched.only_b)?);
    let differ = verbs(&matched.only_a) > 0 || verbs(&matched.only_b) > 0;
    let fits = differ && left == right && left.one_at_a_time && matched.shared > 0;
    let said = |tokens: &[&'c Token]| {
        let rest = tokens.iter().filter(|token| token.side != Side::Verb);
        rest.copied().collect::<Vec<&'c Token>>()
    };
    fits.then(|| Match {
        a: matched.a,
        b: matched.b,
        shared: matched.shared,
        only_a: said(&matched.only_a),
        only_b: said(&matched.only_b),
    })
}

fn number(token: &Token) -> Option<&Quantity> {
    match &token.kind {
        Kind::Number(quantity) => Some(quantity),
        Kind::Word | Kind::Name(_) | Kind::Perhaps(_) | Kind::Label => None,
    }
}

/// A name, and the class it is surely or perhaps a member of.
#[derive(Clone, Copy)]
enum Named {
    Surely(Option<Member>),
    Perhaps(Member),
}

fn name(token: &Token) -> Option<Named> {
    match token.kind {
        Kind::Name(member) => Some(Named::Surely(member)),
        Kind::Perhaps(member) => Some(Named::Perhaps(member)),
        Kind::Word | Kind::Number(_) | Kind::Label => None,
    }
}

/// Tells whether a word stands where the value of a clause stands: not where its subject does.
fn is_value(clause: &Clause, token: &Token, only: bool) -> bool {
    match token.side {
        Side::Object => true,
        Side::Subject => {
            // `Postgres is used for …`, `three replicas run`; not `port 8080 serves`.
            let counts = number(token).is_some_and(|number| !number.is_version)
                && clause
                    .tokens
                    .iter()
                    .skip_while(|other| *other != token)
                    .nth(1)
                    .is_some_and(|next| next.chunk == token.chunk);
            let told_apart = number(token).is_some_and(|number| !number.is_version);
            let patient = clause.passive
                && !told_apart
                && (clause.usage || only || clause.objects == Objects::One);
            counts || patient
        }
        Side::Scope => number(token).is_some(),
        Side::Verb => false,
    }
}

/// Tells whether a number is the threshold of a condition: `when disk usage exceeds 80%`.
fn is_threshold(token: &Token, matched: &Match<'_>) -> bool {
    let passes = |token: &Token| matches!(token.key.as_str(), "exceed" | "reach");
    let passed = || matched.a.tokens.iter().any(passes);
    matched.a.conditional
        && number(token).is_some_and(|number| number.bound != Bound::Exact || passed())
}

fn number_clash(matched: &Match<'_>) -> Option<ClashKind> {
    let Match { a, b, .. } = matched;
    let (one, other) = (only_number(&matched.only_a)?, only_number(&matched.only_b)?);
    let (left, right) = (number(one)?, number(other)?);
    if !is_value(a, one, false)
        || !is_value(b, other, false)
        || matched.shared == 0
        || a.many
        || b.many
    {
        return None;
    }
    let happened = |clause: &Clause| clause.objects == Objects::Event || clause.when.event;
    if happened(a) || happened(b) {
        return None;
    }
    let version = left.is_version || right.is_version;
    let several = a.objects == Objects::Many || b.objects == Objects::Many;
    if version && several && !(a.only || b.only) {
        return None;
    }
    let bounded = left.bound != Bound::Exact && right.bound != Bound::Exact;
    if (a.modal == Modal::May || b.modal == Modal::May) && !bounded {
        return None;
    }
    (left.fit(right) == Fit::Clash).then_some(if version {
        ClashKind::Version
    } else {
        ClashKind::Number
    })
}

/// Returns the number among the words, if it is the only one and they say nothing else.
fn only_number<'t>(tokens: &[&'t Token]) -> Option<&'t Token> {
    match tokens {
        [one] => number(one).map(|_| *one),
        _ => None,
    }
}

fn name_clash(matched: &Match<'_>) -> Option<ClashKind> {
    let Match { a, b, .. } = matched;
    let head = |tokens: &[&Token]| {
        tokens
            .iter()
            .find_map(|token| Some((name(token)?, (*token).clone())))
    };
    let (left, one) = head(&matched.only_a)?;
    let (right, other) = head(&matched.only_b)?;
    let only = a.only || b.only;
    let leads = |clause: &Clause, token: &Token| {
        token.side == Side::Subject && matches!(clause.verb, "own" | "lead") && !clause.passive
    };
    let placed = is_value(a, &one, only) && is_value(b, &other, only);
    if !(placed || (leads(a, &one) && leads(b, &other))) {
        return None;
    }
    if !only && (is_loose(a) || is_loose(b)) {
        return None;
    }
    let class = match (left, right) {
        (Named::Surely(None), Named::Surely(_)) | (Named::Surely(_), Named::Surely(None)) => None,
        (
            Named::Surely(Some(left)) | Named::Perhaps(left),
            Named::Surely(Some(right)) | Named::Perhaps(right),
        ) => {
            (left.class.family == right.class.family).then_some(())?;
            (left.canon != right.canon).then_some(())?;
            (left.class == right.class).then_some(left.class)
        }
        (Named::Perhaps(_), Named::Surely(None)) | (Named::Surely(None), Named::Perhaps(_)) => {
            return None;
        }
    };
    let longer = |one: &Token, other: &Token| {
        one.lower
            .strip_prefix(&other.lower)
            .is_some_and(|rest| rest.starts_with(' '))
    };
    if longer(&one, &other) || longer(&other, &one) {
        return None;
    }
    let one_at_a_time = class.is_some_and(|class| class.one_at_a_time);
    let light = |clause: &Clause| clause.usage || clause.be;
    // `is available in Python`: where, not what.
    let beside = |clause: &Clause, token: &Token| {
        let other = |other: &Token| other.side == Side::Object && other.chunk != token.chunk;
        clause.be && !token.preposition.is_empty() && clause.tokens.iter().any(other)
    };
    if !only && (beside(a, &one) || beside(b, &other)) {
        return None;
    }
    let same_place =
        one.preposition == other.preposition || one_at_a_time || (light(a) && light(b));
    if !same_place {
        return None;
    }
    if only {
        return Some(ClashKind::Name);
    }
    if a.many || b.many || a.when.event || b.when.event {
        return None;
    }
    let clashes = match a.objects.min(b.objects) {
        Objects::Many | Objects::Event => false,
        Objects::Open => {
            one_at_a_time && (matched.shared > 0 || (a.verb == b.verb && !a.verb.is_empty()))
        }
        Objects::One => {
            let framed = matched.shared > 0;
            if a.usage && b.usage {
                one_at_a_time || (framed && (has_purpose(a) || is_one_for(a, class)))
            } else {
                framed
            }
        }
    };
    clashes.then_some(ClashKind::Name)
}

/// Tells whether a clause says what the thing is used for.
fn has_purpose(clause: &Clause) -> bool {
    clause
        .tokens
        .iter()
        .any(|token| matches!(token.preposition, "for" | "as" | "to"))
}

/// Tells whether what the clause is about has one of this class: `config files use TOML`.
fn is_one_for(clause: &Clause, class: Option<Class>) -> bool {
    let subject = clause
        .tokens
        .iter()
        .any(|token| token.side == Side::Subject);
    subject && class.is_some_and(|class| matches!(class.family, "format" | "proof"))
}

fn is_loose(clause: &Clause) -> bool {
    matches!(clause.modal, Modal::May | Modal::NeedNot)
}

/// Judges everyday words in the place of a value: `owned by the payments team`.
fn word_clash(matched: &Match<'_>) -> Option<ClashKind> {
    let Match { a, b, .. } = matched;
    let (one, other) = (matched.only_a.first()?, matched.only_b.first()?);
    let word = |token: &Token| {
        token.side == Side::Object && matches!(token.kind, Kind::Word | Kind::Perhaps(_))
    };
    let loose = is_loose(a) || is_loose(b) || a.many || b.many;
    if !word(one) || !word(other) || matched.shared == 0 || a.when.event || b.when.event {
        return None;
    }
    let bound = !one.preposition.is_empty() && one.preposition == other.preposition;
    let single = matched.only_a.len() == 1 && matched.only_b.len() == 1;
    if bound && single && (a.only || b.only) {
        return Some(ClashKind::Name);
    }
    // `is called hyphae-core`, `the name is prod-assets`.
    let called = |clause: &Clause, token: &Token| {
        let compound = token.lower.contains('-') && !token.lower.ends_with("ed");
        (clause.verb == "call" && clause.passive) || (clause.be && compound)
    };
    let both_called = called(a, one) && called(b, other) && one.preposition == other.preposition;
    if single && !loose && both_called {
        return Some(ClashKind::Name);
    }
    let owned = a.objects == Objects::One && b.objects == Objects::One;
    let plain = a.be || b.be || a.usage || b.usage || loose;
    let kept =
        |clause: &Clause| clause.passive && !matches!(clause.verb, "store" | "read" | "build");
    let placed = bound && kept(a) && kept(b) && !matches!(one.preposition, "for" | "with");
    (placed && owned && !plain).then_some(ClashKind::Name)
}

fn date_clash(matched: &Match<'_>) -> Option<(ClashKind, String, String)> {
    let Match { a, b, .. } = matched;
    let single = (a.be || a.once) && (b.be || b.once) && !(a.many || b.many);
    let ([left], [right]) = (a.dates.as_slice(), b.dates.as_slice()) else {
        return None;
    };
    (single && matched.shared > 0 && differ(left, right) && left.preposition == right.preposition)
        .then(|| (ClashKind::Date, left.text.clone(), right.text.clone()))
}

/// Tells whether two clauses name dates that cannot be the same.
pub(super) fn dates_differ(a: &Clause, b: &Clause) -> bool {
    let alone = |one: &Clause, other: &Clause| {
        (one.dates.iter()).any(|date| other.dates.iter().all(|other| differ(date, other)))
    };
    let both = !a.dates.is_empty() && !b.dates.is_empty();
    both && (alone(a, b) || alone(b, a))
}

/// Tells whether two dates differ in a part that both have.
fn differ(a: &Date, b: &Date) -> bool {
    if a.key.contains('q') || b.key.contains('q') {
        return a.key != b.key;
    }
    let parts = |key: &str| -> Vec<String> { key.split('-').map(str::to_owned).collect() };
    let told = |part: &String| !part.is_empty() && part != "00";
    parts(&a.key)
        .iter()
        .zip(&parts(&b.key))
        .any(|(one, other)| told(one) && told(other) && one != other)
}
