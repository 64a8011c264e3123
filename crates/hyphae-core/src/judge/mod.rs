//! The contradiction judge: tells whether two memories can both be true, by rules, without a
//! model. The same two texts get the same answer on every machine.
//!
//! A wrong alarm costs trust, so it answers [`Judgement::Contradicts`] only where it can show the
//! words that clash ([`Clash`]) and account for every other word of the two clauses: what one says
//! and the other does not has to be known to make no difference. What it does not understand is
//! [`Judgement::Related`].
//!
//! # How it works
//!
//! 1. A text becomes sentences (`lex`) and those become clauses (`split`): reasons are left out,
//!    conditions and leading phrases (`in production, …`) bound their clause, what is turned down
//!    (`tabs, not spaces`) is kept apart.
//! 2. A clause becomes its verb (`predicate`: denied or not, demanded or allowed, when) and the
//!    words that say something (`tokens`): stems, names and their class (`names`), numbers with
//!    unit and bound (`quantity`), dates.
//! 3. Each clause of one text is compared with each of the other (`compare`). Words that both have
//!    are the frame. A clash is: the frame alone, once denied; one word and its opposite; one value
//!    against another in a place for one (`values`); the two sides of an order swapped; what the
//!    one turns down and the other chooses.
//! 4. A clash is explained, and is no contradiction, if the clauses say that they hold at different
//!    times, or the validities of the memories do not meet.
//!
//! # How the engine calls it
//!
//! For a new or changed memory, judge it against the active memories that are nearest to it in the
//! same project: the first 16 with a cosine of at least
//! [`same_subject_from`](crate::ports::Calibration::same_subject_from). Of the 365 contradicting
//! pairs of the development set, 363 have that with the sentence model and 361 with the static table
//! (0.4 with both); at 0.6 it would be 340 and 329. The cosine is a gate and no more: it says whether
//! two texts are about the same, and nothing about whether they agree (half of the contradicting
//! pairs are above 0.89). Hand it over as [`Nearness`].
//!
//! A pair of single sentences takes about 30 µs and a pair of texts of 8,000 characters about 18 ms,
//! both in an unoptimised build; neither depends on the size of the store. It belongs off the
//! writer's answer path all the same.
//!
//! On [`Judgement::Contradicts`] open a conflict of kind
//! [`Judged`](crate::conflict::ConflictKind::Judged) with the clash as its reason, unless the two
//! have one already, open or resolved. On [`Judgement::SupersedesInTime`] open none: the texts
//! themselves say that they hold at different times.
//!
//! # What it cannot see
//!
//! Opposition that needs knowledge of the world (`stateless` / `keeps sessions in memory`), names
//! of classes that are not listed where the verb leaves room for several, other languages than English
//! beyond numbers and names in equal frames, what pronouns refer to beyond the clause before.
//! Sentences of more than 64 words and all that follows the 96th sentence are not read.

mod clause;
mod compare;
mod dates;
mod lex;
mod lexicon;
mod names;
mod phrases;
mod predicate;
mod quantity;
mod split;
mod tokens;
mod values;
mod verbs;

use std::fmt;

use jiff::Timestamp;

use crate::{
    cell::{CellType, Validity},
    ports::Calibration,
    text,
};

use clause::Clause;
use compare::Relation;

/// What the judge is told of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement<'t> {
    /// Its text.
    pub content: &'t str,
    /// What kind of knowledge it is.
    pub cell_type: CellType,
    /// When it is true.
    pub validity: Validity,
    /// When it was said, or else stored.
    pub at: Option<Timestamp>,
}

/// What the embeddings of two memories say about their subjects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Nearness {
    /// Nothing: there is no cosine.
    #[default]
    Unknown,
    /// They are about the same thing.
    SameSubject,
    /// They are not.
    OtherSubject,
}

impl Nearness {
    /// Reads a cosine, in [-1, 1], by what it means for the model.
    pub fn of(cosine: f32, calibration: &Calibration) -> Self {
        if cosine >= calibration.same_subject_from {
            Self::SameSubject
        } else {
            Self::OtherSubject
        }
    }
}

/// How two memories go together.
#[derive(Debug, Clone, PartialEq)]
pub enum Judgement {
    /// They say the same thing.
    Same,
    /// Both cannot be true.
    Contradicts(Clash),
    /// Both cannot be true at the same time, and they hold at different times.
    SupersedesInTime(Clash),
    /// They are about the same thing, and both can be true.
    Related,
    /// They are about different things.
    Unrelated,
}

impl Judgement {
    fn flipped(self) -> Self {
        match self {
            Self::Contradicts(clash) => Self::Contradicts(clash.flipped()),
            Self::SupersedesInTime(clash) => Self::SupersedesInTime(clash.flipped()),
            other @ (Self::Same | Self::Related | Self::Unrelated) => other,
        }
    }
}

/// What cannot be true at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clash {
    /// In what way.
    pub kind: ClashKind,
    /// The words of the left memory that clash.
    pub left: String,
    /// The words of the right memory that clash.
    pub right: String,
    /// The clause of the left memory that they are in, without marks.
    pub left_clause: String,
    /// The clause of the right memory that they are in, without marks.
    pub right_clause: String,
}

/// In what way two memories clash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClashKind {
    /// One denies what the other says.
    Negation,
    /// Opposites: `enabled` and `disabled`, `before` and `after`.
    Opposite,
    /// Different numbers of the same thing.
    Number,
    /// Different versions of the same thing.
    Version,
    /// Different dates of the same event.
    Date,
    /// Different names in a place for one.
    Name,
    /// One chooses what the other turns down.
    Rejected,
    /// The same two things the other way round: `a is faster than b`, `b is faster than a`.
    Order,
}

impl ClashKind {
    /// Returns the name as it is written everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Negation => "negation",
            Self::Opposite => "opposite",
            Self::Number => "number",
            Self::Version => "version",
            Self::Date => "date",
            Self::Name => "name",
            Self::Rejected => "rejected",
            Self::Order => "order",
        }
    }
}

impl fmt::Display for ClashKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Clash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |words: &str| text::shorten(words, 80);
        write!(
            f,
            "{}: \u{201c}{}\u{201d} against \u{201c}{}\u{201d}",
            self.kind,
            short(&self.left),
            short(&self.right)
        )
    }
}

impl Clash {
    fn flipped(self) -> Self {
        Self {
            kind: self.kind,
            left: self.right,
            right: self.left,
            left_clause: self.right_clause,
            right_clause: self.left_clause,
        }
    }
}

/// Judges how two memories go together. Which one is left makes no difference, but for the sides
/// of a clash.
pub fn judge(left: &Statement<'_>, right: &Statement<'_>, nearness: Nearness) -> Judgement {
    if left.content.trim() == right.content.trim() {
        return Judgement::Same;
    }
    if nearness == Nearness::OtherSubject {
        return Judgement::Unrelated;
    }
    // Judged in one order only, so that the order of the two cannot matter.
    let judgement = if left.content <= right.content {
        judge_in_order(left, right)
    } else {
        judge_in_order(right, left).flipped()
    };
    if judgement == Judgement::Unrelated && nearness == Nearness::SameSubject {
        return Judgement::Related;
    }
    judgement
}

fn judge_in_order(left: &Statement<'_>, right: &Statement<'_>) -> Judgement {
    let (a, b) = (
        clause::clauses(left.content),
        clause::clauses(right.content),
    );
    let relations: Vec<Vec<Relation>> = a
        .iter()
        .map(|one| b.iter().map(|other| compare::compare(one, other)).collect())
        .collect();
    let said_by_both = |row: usize, column: usize| {
        let same = |relation: &Relation| *relation == Relation::Same;
        relations[row].iter().any(same) || relations.iter().any(|row| same(&row[column]))
    };
    let said_of_another_time = |row: usize, column: usize| {
        let then = |relation: &Relation| *relation == Relation::SameThen;
        relations[row].iter().any(then) || relations.iter().any(|row| then(&row[column]))
    };
    let mut turned = None;
    for (row, in_row) in relations.iter().enumerate() {
        for (column, relation) in in_row.iter().enumerate() {
            match relation {
                Relation::Clash(_) | Relation::Turned(_) if said_by_both(row, column) => {}
                Relation::Clash(clash)
                    if can_clash(left, right) && said_of_another_time(row, column) =>
                {
                    turned.get_or_insert_with(|| clash.clone());
                }
                Relation::Clash(clash) if can_clash(left, right) => {
                    return if apart_in_time(left, right) {
                        Judgement::SupersedesInTime(clash.clone())
                    } else {
                        Judgement::Contradicts(clash.clone())
                    };
                }
                Relation::Turned(clash) if can_clash(left, right) => {
                    if announced_before(left, &a[row], right, &b[column]) {
                        return Judgement::Contradicts(clash.clone());
                    }
                    turned.get_or_insert_with(|| clash.clone());
                }
                Relation::Same
                | Relation::SameThen
                | Relation::Clash(_)
                | Relation::Turned(_)
                | Relation::Near
                | Relation::Apart => {}
            }
        }
    }
    if let Some(clash) = turned {
        return Judgement::SupersedesInTime(clash);
    }
    let has = |wanted: Relation| {
        relations
            .iter()
            .flatten()
            .any(|relation| *relation == wanted)
    };
    let all_of_a = relations.iter().all(|row| row.contains(&Relation::Same));
    let all_of_b = (0..b.len()).all(|at| relations.iter().any(|row| row[at] == Relation::Same));
    if !a.is_empty() && !b.is_empty() && (all_of_a || all_of_b) {
        return Judgement::Same;
    }
    if has(Relation::Same) || has(Relation::SameThen) || has(Relation::Near) {
        Judgement::Related
    } else {
        Judgement::Unrelated
    }
}

/// Tells whether memories of these kinds can contradict each other.
fn can_clash(left: &Statement<'_>, right: &Statement<'_>) -> bool {
    let apart =
        |kind: CellType| matches!(kind, CellType::Task | CellType::Risk | CellType::Preference);
    left.cell_type == right.cell_type || !(apart(left.cell_type) || apart(right.cell_type))
}

/// Tells whether two memories are never true at the same time.
fn apart_in_time(left: &Statement<'_>, right: &Statement<'_>) -> bool {
    let ends_before = |one: Validity, other: Validity| matches!((one.until(), other.from()), (Some(until), Some(from)) if until <= from);
    ends_before(left.validity, right.validity) || ends_before(right.validity, left.validity)
}

/// Tells whether the memory that says something changed was said before the other, plain one: then
/// the change does not explain the other.
fn announced_before(left: &Statement<'_>, a: &Clause, right: &Statement<'_>, b: &Clause) -> bool {
    let (Some(left_at), Some(right_at)) = (left.at, right.at) else {
        return false;
    };
    let plain =
        |clause: &Clause| clause.when == predicate::When::default() && clause.dates.is_empty();
    let announces = |clause: &Clause| clause.when.now && !clause.when.past && !clause.when.future;
    (announces(a) && plain(b) && left_at < right_at)
        || (announces(b) && plain(a) && right_at < left_at)
}
