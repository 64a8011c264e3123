//! From sentences to the words of single clauses: what is said, where and when it holds, and
//! what was turned down.

use super::{
    lex::{Item, Sentence, Shape},
    lexicon, phrases, predicate,
};

/// The words of one clause.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    /// What is said, in order.
    pub(super) said: Vec<Item>,
    /// Phrases and conditions that bound it.
    pub(super) scope: Vec<Item>,
    /// What it says is not so (`tabs, not spaces`).
    pub(super) denied: Vec<Item>,
    /// It holds only under a condition.
    pub(super) conditional: bool,
    /// It goes through a list.
    pub(super) list: bool,
    /// Somebody asks, quotes, wonders or proposes.
    pub(super) unsaid: bool,
    /// It is about what the clause before was about.
    pub(super) follows: bool,
}

/// How a part of a sentence begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lead {
    Comma,
    Aside,
    Colon,
    Clause,
    Reason,
    Condition,
}

struct Part {
    lead: Lead,
    items: Vec<Item>,
}

/// Headings that say what follows is not said to be so.
const UNSAID_LABELS: [&str; 14] = [
    "proposal",
    "proposed",
    "idea",
    "question",
    "suggestion",
    "option",
    "draft",
    "todo",
    "wish",
    "hypothesis",
    "example",
    "quote",
    "rejected",
    "alternative",
];

/// Headings that say nothing.
const LABELS: [&str; 24] = [
    "decision",
    "decided",
    "note",
    "fact",
    "constraint",
    "preference",
    "rule",
    "lesson",
    "context",
    "pattern",
    "risk",
    "policy",
    "convention",
    "update",
    "reminder",
    "important",
    "fyi",
    "warning",
    "summary",
    "agreed",
    "status",
    "requirement",
    "guideline",
    "task",
];

/// Words that begin a phrase of place, time or purpose.
pub(super) const PREPOSITIONS: [&str; 36] = [
    "in", "on", "at", "for", "during", "under", "with", "within", "inside", "by", "from", "since",
    "until", "till", "before", "after", "as", "via", "through", "into", "to", "of", "about",
    "against", "between", "outside", "across", "per", "over", "without", "except", "@since",
    "@except", "using", "onto", "toward",
];

/// Splits a sentence into its clauses.
pub(super) fn clauses(sentence: &Sentence) -> Vec<Words> {
    let items = rewritten(&sentence.items);
    let (label, items) = without_label(items);
    let asks = sentence.question || begins_like_a_question(&items);
    let mut builder = Builder {
        unsaid: asks || label == Some(Said::No),
        ..Builder::default()
    };
    for part in parts(items) {
        builder.add(part);
    }
    builder.finish();
    builder.done
}

/// Puts one item where several words mean one thing.
fn rewritten(items: &[Item]) -> Vec<Item> {
    let mut out = Vec::with_capacity(items.len());
    let mut at = 0;
    while at < items.len() {
        let word = |ahead: usize| {
            let item = items.get(at + ahead)?;
            (!matches!(item.shape, Shape::Mark | Shape::Quoted | Shape::Speech))
                .then_some(item.lower.as_str())
        };
        if let Some((taken, meaning)) = phrases::phrase(word) {
            let first = items[at].shape == Shape::First;
            let shape = if first { Shape::First } else { Shape::Plain };
            let was_used = meaning == "@usedto"
                && out
                    .last()
                    .is_some_and(|last: &Item| predicate::is_be(&last.lower));
            if was_used {
                out.push(items[at].clone());
                at += 1;
                continue;
            }
            let mut item = Item::word(meaning, shape);
            if !meaning.starts_with('@') {
                let text: Vec<&str> = items[at..at + taken]
                    .iter()
                    .map(|item| item.text.as_str())
                    .collect();
                item.text = text.join(" ");
            }
            out.push(item);
            at += taken;
        } else {
            if items[at].is_mark("=") {
                out.push(Item::word("@is", Shape::Plain));
            } else {
                out.push(items[at].clone());
            }
            at += 1;
        }
    }
    out
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Yes,
    No,
}

/// Takes a heading such as `Decision:` off.
fn without_label(mut items: Vec<Item>) -> (Option<Said>, Vec<Item>) {
    let Some(colon) = items.iter().take(6).position(|item| item.is_mark(":")) else {
        return (None, items);
    };
    let word = items.first().map_or("", |item| item.lower.as_str());
    let said = if UNSAID_LABELS.contains(&word) {
        Said::No
    } else if LABELS.contains(&word) {
        Said::Yes
    } else {
        return (None, items);
    };
    items.drain(..=colon);
    (Some(said), items)
}

fn begins_like_a_question(items: &[Item]) -> bool {
    let word = |at: usize| items.get(at).map_or("", |item| item.lower.as_str());
    let second = [
        "we", "it", "they", "you", "i", "the", "this", "our", "there",
    ]
    .contains(&word(1));
    match word(0) {
        "what" | "why" | "how" | "which" | "who" | "whether" => true,
        "should" | "do" | "does" | "is" | "are" | "can" | "could" | "would" | "shall" | "did" => {
            second
        }
        _ => false,
    }
}

fn parts(items: Vec<Item>) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut part = Part {
        lead: Lead::Comma,
        items: Vec::new(),
    };
    let mut ahead = items;
    ahead.reverse();
    while let Some(item) = ahead.pop() {
        // What a condition excludes is not what it demands.
        let mut kept = None;
        let lead = match item.lower.as_str() {
            _ if item.shape == Shape::Mark => match item.lower.as_str() {
                "(" | ")" | "-" => Some(Lead::Aside),
                ":" => Some(Lead::Colon),
                _ => Some(Lead::Comma),
            },
            "because" | "although" | "though" | "which" | "hence" | "whereby" => Some(Lead::Reason),
            "so" if part.items.is_empty() && !parts.is_empty() => Some(Lead::Reason),
            "since" if verb_ahead(&ahead) && !date_ahead(&ahead) => Some(Lead::Reason),
            "while" | "whereas" | "but" => Some(Lead::Clause),
            "if" | "when" | "whenever" => Some(Lead::Condition),
            "unless" | "@except" | "except" => {
                kept = Some(Item::word("unless", Shape::Plain));
                Some(Lead::Condition)
            }
            "until" | "till" if verb_ahead(&ahead) && !date_ahead(&ahead) => {
                kept = Some(Item::word("unless", Shape::Plain));
                Some(Lead::Condition)
            }
            "and" | "or" | "then"
                if verb_ahead(&ahead)
                    && predicate::find(&part.items).is_some()
                    && ahead.last().is_none_or(|next| next.lower != "not") =>
            {
                Some(Lead::Clause)
            }
            _ => None,
        };
        match lead {
            Some(lead) => {
                let items = std::mem::take(&mut part.items);
                // A mark and a conjunction behind it begin one part.
                if !items.is_empty() {
                    parts.push(Part {
                        lead: part.lead,
                        items,
                    });
                }
                part.lead = lead;
                part.items.extend(kept);
            }
            None => part.items.push(item),
        }
    }
    if !part.items.is_empty() {
        parts.push(part);
    }
    parts
}

/// Tells whether a verb comes before the next mark; the words are in reverse order.
fn verb_ahead(ahead: &[Item]) -> bool {
    let next: Vec<Item> = (ahead.iter().rev())
        .take_while(|item| item.shape != Shape::Mark)
        .cloned()
        .collect();
    predicate::find(&next).is_some()
}

/// Tells whether the next word is a date or a version; the words are in reverse order.
fn date_ahead(ahead: &[Item]) -> bool {
    ahead.last().is_some_and(|next| {
        next.lower.starts_with(|c: char| c.is_ascii_digit())
            || next.lower.starts_with('v')
                && next.lower[1..].starts_with(|c: char| c.is_ascii_digit())
            || super::dates::month(next).is_some()
            || ["last", "then", "the"].contains(&next.lower.as_str())
    })
}

#[derive(Default)]
struct Builder {
    done: Vec<Words>,
    main: Option<Words>,
    scope: Vec<Item>,
    conditional: bool,
    unsaid: bool,
}

impl Builder {
    fn add(&mut self, part: Part) {
        let Part { lead, items } = part;
        match lead {
            Lead::Reason => {}
            Lead::Condition => self.condition(items),
            Lead::Comma | Lead::Aside | Lead::Colon | Lead::Clause => self.plain(lead, items),
        }
    }

    fn condition(&mut self, mut items: Vec<Item>) {
        if let Some(main) = &mut self.main {
            main.scope.append(&mut items);
            main.conditional = true;
            return;
        }
        // `When a job fails it is retried`: no comma says where the condition ends.
        let subject = ["it", "they", "we", "you"];
        let ends = (2..items.len()).find(|at| {
            subject.contains(&items[*at].lower.as_str())
                && predicate::find(&items[..*at]).is_some()
                && predicate::find(&items[*at..]).is_some()
        });
        let said = ends.map(|at| items.split_off(at));
        self.scope.append(&mut items);
        self.conditional = true;
        if let Some(said) = said {
            self.begin(said);
        }
    }

    fn plain(&mut self, lead: Lead, mut items: Vec<Item>) {
        let verb = predicate::find(&items).is_some();
        let denies = items.first().is_some_and(|item| item.lower == "not");
        let joined = items
            .first()
            .is_some_and(|item| matches!(item.lower.as_str(), "and" | "or"));
        let adjunct = items
            .first()
            .is_some_and(|item| PREPOSITIONS.contains(&item.lower.as_str()));
        let reason = adjunct
            && items
                .last()
                .is_some_and(|item| matches!(item.lower.as_str(), "reason" | "reasons"));
        if reason && !verb {
            return;
        }
        let Some(main) = &mut self.main else {
            if !verb && adjunct {
                self.scope.append(&mut items);
            } else {
                self.begin(items);
            }
            return;
        };
        let main_verb = predicate::find(&main.said).is_some();
        match lead {
            Lead::Colon if !main_verb && !verb => {
                main.said.push(Item::word("@is", Shape::Plain));
                main.said.append(&mut items);
            }
            _ if denies && !verb => {
                main.denied.extend(items.into_iter().skip(1));
            }
            Lead::Comma if !main_verb => {
                main.said.append(&mut items);
                main.list |= joined;
            }
            _ if verb && main_verb => {
                let follows = main.said.len() > 1;
                self.finish();
                self.begin(items);
                if let Some(main) = &mut self.main {
                    main.follows |= follows && lead == Lead::Clause;
                }
            }
            _ if verb => {
                self.finish();
                self.begin(items);
            }
            Lead::Comma if joined => {
                main.said.append(&mut items);
                main.list = true;
            }
            Lead::Comma | Lead::Aside if adjunct => main.scope.append(&mut items),
            // A further member of a list, or something said in passing.
            Lead::Comma => main.list = true,
            Lead::Aside | Lead::Colon | Lead::Clause | Lead::Reason | Lead::Condition => {}
        }
    }

    fn begin(&mut self, mut items: Vec<Item>) {
        let mut scope = std::mem::take(&mut self.scope);
        if let Some(ends) = leading_phrase(&items) {
            let said = items.split_off(ends);
            scope.append(&mut items);
            items = said;
        }
        self.main = Some(Words {
            said: items,
            scope,
            conditional: std::mem::take(&mut self.conditional),
            unsaid: self.unsaid,
            ..Words::default()
        });
    }

    fn finish(&mut self) {
        self.done.extend(self.main.take());
    }
}

/// Returns how long a phrase is that stands before the subject, as in `In production the log
/// level is warn`.
fn leading_phrase(items: &[Item]) -> Option<usize> {
    const SUBJECTS: [&str; 16] = [
        "we", "the", "a", "an", "our", "it", "they", "there", "you", "i", "all", "each", "every",
        "this", "these", "no",
    ];
    let first = items.first()?;
    if !PREPOSITIONS.contains(&first.lower.as_str()) {
        return None;
    }
    let ends = (2..items.len()).find(|at| SUBJECTS.contains(&items[*at].lower.as_str()))?;
    let verb = predicate::find(items)?;
    (ends <= verb.at && !lexicon::is_empty(&items[ends - 1].lower) || items[ends - 1].lower == "on")
        .then_some(ends)
        .filter(|_| ends <= verb.at)
}
