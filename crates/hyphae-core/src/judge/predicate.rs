//! Where the verb of a clause is, and what it says about the clause: denied or not, demanded or
//! allowed, when.

use super::{
    lex::{Item, Shape},
    lexicon,
    verbs::{self, Objects, Verb},
};

/// How strongly a clause is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Modal {
    /// It is so.
    Plain,
    /// It has to be so.
    Must,
    /// It may be so.
    May,
    /// It need not be so.
    NeedNot,
}

/// When a clause says that it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct When {
    /// Not any more.
    pub(super) past: bool,
    /// Since a change.
    pub(super) now: bool,
    /// As before.
    pub(super) still: bool,
    /// Not yet.
    pub(super) future: bool,
    /// It tells what happened once.
    pub(super) event: bool,
}

/// The first word of a verb.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) at: usize,
}

/// What the verb of a clause says.
#[derive(Debug, Clone)]
pub(super) struct Predicate {
    /// The first word of the verb.
    pub(super) at: usize,
    /// The first word behind it.
    pub(super) end: usize,
    /// The verb; none for one that is not in the lexicon.
    pub(super) verb: Option<Verb>,
    /// The word under which the verb is compared; none if it says no more than `is`.
    pub(super) key: Option<(String, String)>,
    pub(super) be: bool,
    pub(super) passive: bool,
    /// `was`, `had`, `did`.
    pub(super) was: bool,
    pub(super) negated: bool,
    pub(super) modal: Modal,
    pub(super) when: When,
    /// The text does not vouch for it.
    pub(super) unsaid: bool,
}

const BE: [&str; 9] = [
    "is", "are", "was", "were", "be", "been", "being", "am", "@is",
];
const HAVE: [&str; 3] = ["have", "has", "had"];
const DO: [&str; 3] = ["do", "does", "did"];
const MODALS: [&str; 12] = [
    "must", "should", "shall", "can", "may", "could", "might", "will", "would", "@mustnot",
    "@cannot", "@will",
];
/// Words behind which a noun stands, not a verb.
const NOUN_AHEAD: [&str; 36] = [
    "the", "a", "an", "our", "this", "these", "those", "its", "their", "my", "your", "no", "every",
    "each", "any", "to", "of", "in", "on", "for", "with", "by", "from", "at", "as", "into", "that",
    "which", "who", "per", "between", "before", "after", "without", "new", "about",
];

/// Tells whether a word in lower case is a form of `be`.
pub(super) fn is_be(lower: &str) -> bool {
    BE.contains(&lower)
}

/// Finds the verb of a clause.
pub(super) fn find(items: &[Item]) -> Option<Found> {
    let words = || items.iter().enumerate();
    let before = |at: usize| at.checked_sub(1).map_or("", |at| items[at].lower.as_str());
    let after_noun = |at: usize| !NOUN_AHEAD.contains(&before(at));
    let known = |item: &Item| {
        let word = matches!(item.shape, Shape::Plain | Shape::First);
        word.then(|| verbs::verb(&item.lower)).flatten()
    };
    let finite = |lower: &str| {
        !(lower.ends_with("ing") || verbs::is_participle(lower) || verbs::is_past(lower))
    };
    let second = items.get(1).map_or("", |item| item.lower.as_str());
    let begins_noun = matches!(second, "for" | "of");
    // An auxiliary, or a verb that is hardly ever a noun.
    let sure = words().find(|&(at, item)| {
        let lower = item.lower.as_str();
        if item.shape == Shape::Quoted {
            return false;
        }
        let auxiliary = BE.contains(&lower)
            || HAVE.contains(&lower)
            || MODALS.contains(&lower)
            || DO.contains(&lower)
            || lower == "@usedto";
        if auxiliary {
            return !["to", "that", "which", "who"].contains(&before(at)) || lower.starts_with('@');
        }
        // `Support for v1 ends in May.`
        let noun = at == 0 && begins_noun;
        after_noun(at) && !noun && known(item).is_some_and(|verb| verb.pure) && finite(lower)
    });
    if let Some((at, _)) = sure {
        return Some(Found { at });
    }
    let past = words().find(|&(at, item)| {
        at > 0
            && after_noun(at)
            && known(item).is_some()
            && verbs::is_past(&item.lower)
            && (at == 1 || known(&items[at - 1]).is_none())
    });
    if let Some((at, _)) = past {
        return Some(Found { at });
    }
    let begins = words().find(|(_, item)| {
        let lower = item.lower.as_str();
        !(lexicon::is_empty(lower) || lower == "@nolonger" || lower == "not")
    });
    let imperative = begins.filter(|(_, item)| {
        let base = !item.lower.ends_with('s') || item.lower.ends_with("ss");
        base && !item.lower.ends_with("ed") && known(item).is_some()
    });
    // `Log request bodies`, but `Retry limit: 3`.
    let headed = items.iter().any(|item| item.is_mark(":"));
    if let Some((at, _)) = imperative.filter(|_| !headed && !begins_noun && items.len() > 1)
        && !items[at].lower.ends_with("ing")
        && after_noun(at)
    {
        return Some(Found { at });
    }
    let noun_or_verb = words().find(|&(at, item)| {
        at > 0
            && after_noun(at)
            && known(item).is_some()
            && !item.lower.ends_with("ing")
            && at + 1 < items.len()
    });
    if let Some((at, _)) = noun_or_verb {
        return Some(Found { at });
    }
    // A word that is not in the lexicon, where a verb stands: behind a pronoun, or in a verb's
    // form between a noun and what a noun phrase begins with.
    words()
        .find(|&(at, item)| {
            let form = (item.lower.ends_with('s') && !item.lower.ends_with("ss"))
                || item.lower.ends_with("ed");
            let next = items.get(at + 1).map_or("", |next| next.lower.as_str());
            let phrase = NOUN_AHEAD.contains(&next)
                || next.starts_with(|c: char| c.is_ascii_digit())
                || super::quantity::number_word(next).is_some();
            let plain = matches!(item.shape, Shape::Plain) && !lexicon::is_empty(&item.lower);
            let pronoun = ["we", "they", "i", "it", "you"].contains(&before(at));
            at > 0 && plain && ((pronoun && at == 1) || (form && phrase && after_noun(at)))
        })
        .map(|(at, _)| Found { at })
}

/// Reads the verb of a clause.
pub(super) fn read(items: &[Item]) -> Option<Predicate> {
    let Found { at } = find(items)?;
    let mut read = Predicate {
        at,
        end: at,
        verb: None,
        key: None,
        be: false,
        passive: false,
        was: false,
        negated: false,
        modal: Modal::Plain,
        when: When::default(),
        unsaid: false,
    };
    let (mut have, mut was, mut next) = (false, false, at);
    while let Some(item) = items.get(next) {
        let lower = item.lower.as_str();
        match lower {
            _ if BE.contains(&lower) => {
                read.be = true;
                was |= lower == "was" || lower == "were";
            }
            "had" => {
                have = true;
                was = true;
            }
            _ if HAVE.contains(&lower) => have = true,
            "did" => was = true,
            _ if DO.contains(&lower) => {}
            _ if read.word(lower) => {}
            "to" if next > at => {}
            _ if lexicon::is_empty(lower) && lower != "no" && is_adverb(lower) => {}
            _ => break,
        }
        next += 1;
    }
    read.end = next;
    if let Some(item) = items.get(next)
        && item.shape != Shape::Quoted
    {
        read.main(item, next, have);
    }
    if next == at
        && read.verb.is_none()
        && let Some(item) = items.get(at)
    {
        // Not in the lexicon.
        read.key = Some((lexicon::key(&item.lower), item.text.clone()));
        read.end = at + 1;
    }
    if read.verb.is_none() && !read.be && have {
        read.verb = verbs::verb("have");
        read.key = None;
    }
    read.complement(items);
    let verb = read.verb;
    let choice = verb.is_some_and(|verb| verb.choice || verb.change);
    read.was = was;
    if was && !read.passive && !choice {
        let state = read.be || verb.is_none_or(|verb| verb.light);
        read.when.past |= state;
        read.when.event |= !state;
    }
    if let Some(item) = items.get(read.end.wrapping_sub(1))
        && !read.be
        && !have
        && read.end > at
        && !choice
        && verbs::is_past(&item.lower)
        && item.lower != "set"
        && item.lower != "put"
    {
        // `CI ran on Travis` tells how things were, `Alice fixed the parser` what happened.
        let state = verb.is_some_and(|verb| verb.light || verb.canon == "store");
        read.when.past |= state;
        read.when.event |= !state;
    }
    if let Some(verb) = verb {
        read.negated ^= verb.negative;
        read.when.now |= verb.change && !(read.passive && verb.canon == "set" && !moved(items));
        read.unsaid |= verb.reported;
    }
    Some(read)
}

/// Tells whether a word says by how much or to what something was changed.
fn moved(items: &[Item]) -> bool {
    items
        .iter()
        .any(|item| matches!(item.lower.as_str(), "to" | "from"))
}

fn is_adverb(lower: &str) -> bool {
    [
        "always",
        "already",
        "also",
        "just",
        "simply",
        "really",
        "very",
        "quite",
        "fully",
        "completely",
        "actually",
        "basically",
        "only",
        "currently",
        "strictly",
        "definitely",
        "explicitly",
        "now",
        "still",
        "ever",
        "again",
        "officially",
        "internally",
        "exclusively",
        "both",
        "all",
        "recently",
        "presently",
        "then",
        "therefore",
        "thus",
        "so",
        "clearly",
        "obviously",
        "eventually",
    ]
    .contains(&lower)
}

impl Predicate {
    /// Reads a word in front of the main verb; returns whether it is one of those.
    fn word(&mut self, lower: &str) -> bool {
        match lower {
            "must" | "should" | "shall" => {
                self.modal = if self.negated {
                    Modal::NeedNot
                } else {
                    Modal::Must
                };
            }
            "can" | "may" => self.modal = Modal::May,
            "could" | "might" | "would" => {
                self.modal = Modal::May;
                self.unsaid = true;
            }
            "will" | "@will" => self.when.future = true,
            "@mustnot" | "@cannot" => {
                self.modal = Modal::Must;
                self.negated ^= true;
            }
            "not" => self.negated ^= true,
            "never" => {
                self.negated ^= true;
                self.modal = Modal::Must;
            }
            "@nolonger" => {
                self.negated ^= true;
                self.when.now = true;
            }
            "@yet" => {
                self.negated ^= true;
                self.when.now = true;
            }
            "@usedto" => self.when.past = true,
            "now" => self.when.now = true,
            "still" => self.when.still = true,
            _ => return false,
        }
        true
    }

    /// Takes the word at `at` as the main verb, if it is one.
    fn main(&mut self, item: &Item, at: usize, have: bool) {
        let lower = item.lower.as_str();
        let participle = verbs::is_participle(lower);
        if self.be && !participle && !lower.ends_with("ing") {
            return;
        }
        self.passive = self.be && participle;
        let Some(verb) = verbs::verb(lower) else {
            return;
        };
        if self.be && lower.ends_with("ing") && lower == "existing" {
            return;
        }
        let _ = have;
        self.end = at + 1;
        if self.passive && verb.canon == "allow" {
            // `are allowed`, `are forbidden`.
            self.modal = if verb.negative {
                Modal::Must
            } else {
                Modal::May
            };
            self.negated ^= verb.negative;
            return;
        }
        self.take(verb, item);
    }

    fn take(&mut self, verb: Verb, item: &Item) {
        self.key = (!verb.light).then(|| {
            let one = lexicon::key(&item.lower);
            let canon = lexicon::key(verb.canon);
            let key = if verb.canon.is_empty() { one } else { canon };
            (key, item.text.clone())
        });
        self.verb = Some(verb);
    }

    /// Goes on to the verb that the main one governs: `decided not to use`, `stopped using`.
    fn complement(&mut self, items: &[Item]) {
        const GOVERNORS: [&str; 16] = [
            "decide",
            "decided",
            "agree",
            "agreed",
            "forget",
            "fail",
            "fails",
            "failed",
            "refuse",
            "want",
            "continue",
            "continues",
            "try",
            "prefer",
            "stop",
            "stopped",
        ];
        let governed = |lower: &str| lower.ends_with("ing");
        let Some(last) = self.end.checked_sub(1).and_then(|at| items.get(at)) else {
            return;
        };
        let infinitive = GOVERNORS.contains(&last.lower.as_str());
        let gerund = self
            .verb
            .is_some_and(|verb| verb.negative || verb.canon == "use" || verb.canon == "continue");
        let mut next = self.end;
        let mut negated = false;
        let mut to = false;
        while let Some(item) = items.get(next) {
            match item.lower.as_str() {
                "not" | "against" if infinitive => negated ^= true,
                "to" if infinitive => to = true,
                _ => break,
            }
            next += 1;
        }
        if negated && !to {
            // `decided against it`.
            self.negated ^= true;
            self.end = next;
            return;
        }
        let Some(item) = items.get(next) else { return };
        let Some(verb) = verbs::verb(&item.lower) else {
            return;
        };
        if to || (gerund && governed(&item.lower)) {
            if let Some(first) = self.verb {
                self.negated ^= first.negative || last.lower.starts_with("fail");
                self.when.now |= first.change;
                self.when.still |= last.lower.starts_with("continue");
            }
            self.negated ^= negated;
            self.end = next + 1;
            self.take(verb, item);
        }
    }

    /// Returns how many objects the verb has at one time.
    pub(super) fn objects(&self) -> Objects {
        match self.verb {
            Some(verb) if verb.canon == "use" && self.negated => Objects::Open,
            Some(verb) if self.passive && matches!(verb.canon, "serve" | "read") => Objects::One,
            Some(verb) if verb.canon == "call" && !self.passive => Objects::Many,
            Some(verb) => verb.objects,
            None if self.be && !self.passive => Objects::One,
            None => Objects::Open,
        }
    }
}
