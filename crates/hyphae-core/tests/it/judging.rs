//! The contradiction judge, on labelled pairs and on any text.

mod pairs;

use std::time::Instant;

use hyphae_core::{
    cell::{CellType, Validity},
    judge::{self, Clash, ClashKind, Judgement, Nearness, Statement},
    ports::Calibration,
};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use pairs::{Label, label};

/// Judges by the texts alone.
fn judge(left: &Statement<'_>, right: &Statement<'_>) -> Judgement {
    judge::judge(left, right, Nearness::Unknown)
}

fn fact(content: &str) -> Statement<'_> {
    Statement {
        content,
        cell_type: CellType::Fact,
        validity: Validity::ALWAYS,
        at: None,
    }
}

#[track_caller]
fn check_clash(a: &str, b: &str, kind: ClashKind, left: &str, right: &str) {
    let Judgement::Contradicts(clash) = judge(&fact(a), &fact(b)) else {
        panic!("no contradiction: {a} / {b}");
    };
    assert_eq!(
        (clash.kind, clash.left.as_str(), clash.right.as_str()),
        (kind, left, right)
    );
}

#[test]
fn a_clash_shows_the_words_that_clash() {
    use ClashKind::{Date, Name, Negation, Number, Opposite, Order, Rejected, Version};
    let cases = [
        (
            "The timeout is 30 seconds.",
            "The timeout is 1 minute.",
            Number,
            "30 seconds",
            "1 minute",
        ),
        (
            "We run Postgres 15.",
            "We run Postgres 16.",
            Version,
            "15",
            "16",
        ),
        (
            "The deadline is March 3.",
            "The deadline is March 10.",
            Date,
            "March 3",
            "March 10",
        ),
        ("The lead is Ann.", "The lead is Bea.", Name, "Ann", "Bea"),
        (
            "The cache is on.",
            "The cache is off.",
            Opposite,
            "on",
            "off",
        ),
        (
            "Use tabs, not spaces.",
            "Use spaces.",
            Rejected,
            "not spaces",
            "spaces",
        ),
        (
            "Reads are cheaper than writes.",
            "Writes are cheaper than reads.",
            Order,
            "Reads",
            "Writes",
        ),
        (
            "We deploy on Fridays.",
            "We never deploy on Fridays.",
            Negation,
            "We deploy on Fridays",
            "We never deploy on Fridays",
        ),
    ];
    for (a, b, kind, left, right) in cases {
        check_clash(a, b, kind, left, right);
        check_clash(b, a, kind, right, left);
    }
}

#[test]
fn what_is_far_apart_does_not_contradict_and_what_is_near_is_related() {
    let calibration = Calibration {
        unrelated_below: 0.2,
        same_subject_from: 0.4,
        near_duplicate_from: 0.9,
    };
    let check = |a: &str, b: &str, cosine: f32, want: Label| {
        let nearness = Nearness::of(cosine, &calibration);
        let given = judge::judge(&fact(a), &fact(b), nearness);
        assert_eq!(label(&given), want, "{a} / {b} at {cosine}");
    };
    let (tabs, spaces) = ("Indent with tabs.", "Indent with spaces.");
    check(tabs, spaces, 0.4, Label::Contradicting);
    check(tabs, spaces, 0.39, Label::DifferentSubject);
    check(tabs, tabs, 0.39, Label::Same);
    check(
        "Cats purr.",
        "Kittens sleep.",
        0.39,
        Label::DifferentSubject,
    );
    check("Cats purr.", "Kittens sleep.", 0.4, Label::Related);
}

#[test]
fn a_clash_reads_as_one_line() {
    let clash = Clash {
        kind: ClashKind::Number,
        left: "30 seconds".to_owned(),
        right: "1 minute".to_owned(),
        left_clause: "The timeout is 30 seconds".to_owned(),
        right_clause: "The timeout is 1 minute".to_owned(),
    };
    assert_eq!(
        clash.to_string(),
        "number: \u{201c}30 seconds\u{201d} against \u{201c}1 minute\u{201d}"
    );
}

#[test]
fn masked_secrets_never_clash() {
    for frame in [
        "The password is {}.",
        "password = {}",
        "Use {} for staging.",
        "{} is not used.",
    ] {
        let [one, other] =
            ["[masked password]", "[masked API key]"].map(|mark| frame.replace("{}", mark));
        for (a, b) in [(&one, &other), (&one, &frame.replace("{}", "hunter2"))] {
            let given = judge(&fact(a), &fact(b));
            assert!(
                !matches!(given, Judgement::Contradicts(_)),
                "{a} / {b}: {given:?}"
            );
        }
    }
}

#[test]
fn time_grows_with_the_length_of_a_text_and_no_faster() {
    let one =
        "The timeout of the search service is 30 seconds, because the index is cold at first. ";
    let shapes = [
        one.to_owned(),
        "a".to_owned(),
        "a ".to_owned(),
        "1,".to_owned(),
        "not ".to_owned(),
        "and is ".to_owned(),
        "`\"“".to_owned(),
        "(((".to_owned(),
        "\n".to_owned(),
        "[masked ".to_owned(),
        "is not.".to_owned(),
        "数".to_owned(),
    ];
    for shape in shapes {
        let long = shape.repeat(100_000 / shape.len());
        let other = format!("{long}x");
        let begun = Instant::now();
        judge(&fact(&long), &fact(&other));
        let took = begun.elapsed();
        // Unoptimised and on a busy machine; what is quadratic takes minutes.
        assert!(took.as_secs() < 5, "{shape:?}: {took:?}");
    }
}

/// Texts of the words that the judge has rules for, in any order.
fn sentence() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "the",
        "timeout",
        "is",
        "not",
        "30",
        "60",
        "seconds",
        "we",
        "use",
        "tabs",
        "spaces",
        "never",
        "instead",
        "of",
        "Postgres",
        "SQLite",
        "15",
        "if",
        "when",
        ",",
        ".",
        "?",
        "at most",
        "no longer",
        "must",
        "may",
        "until",
        "March",
        "2023",
        "was",
        "now",
        "and",
        "or",
        "only",
        "(",
        ")",
        "\"",
        "`x`",
        "than",
        "faster",
        "before",
        "after",
        "[masked token]",
        "from",
        "to",
        "switched",
        ":",
        "=",
        "in",
        "production",
        "don't",
        "avoid",
        "enabled",
        "disabled",
        "every",
        "hour",
        "'s",
        "一",
        "5-10",
        "v1.2.3",
        "~",
        "≤",
        "#12",
        "\n",
    ]);
    prop::collection::vec(words, 0..24).prop_map(|words| words.join(" "))
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        sentence(),
        "\\PC{0,80}",
        prop::collection::vec(any::<char>(), 0..60).prop_map(String::from_iter)
    ]
}

fn flipped(judgement: Judgement) -> Judgement {
    let flip = |clash: Clash| Clash {
        kind: clash.kind,
        left: clash.right,
        right: clash.left,
        left_clause: clash.right_clause,
        right_clause: clash.left_clause,
    };
    match judgement {
        Judgement::Contradicts(clash) => Judgement::Contradicts(flip(clash)),
        Judgement::SupersedesInTime(clash) => Judgement::SupersedesInTime(flip(clash)),
        other @ (Judgement::Same | Judgement::Related | Judgement::Unrelated) => other,
    }
}

proptest! {
    #[test]
    fn the_order_of_two_memories_does_not_matter(a in any_text(), b in any_text()) {
        let (a, b) = (fact(&a), fact(&b));
        prop_assert_eq!(judge(&a, &b), flipped(judge(&b, &a)));
    }

    #[test]
    fn a_text_says_the_same_as_itself(text in any_text()) {
        prop_assert_eq!(judge(&fact(&text), &fact(&format!(" {text}\n"))), Judgement::Same);
    }

    #[test]
    fn a_sentence_does_not_contradict_itself_in_a_longer_text(text in sentence(), more in sentence()) {
        let longer = format!("{text}.\n{more}");
        let again = format!("{text}.\nNothing else was said about it.");
        let given = judge(&fact(&again), &fact(&longer));
        // What was added may contradict what was there; what was there does not.
        if let Judgement::Contradicts(clash) = given {
            prop_assert_ne!(clash.left_clause, clash.right_clause);
        }
    }

    #[test]
    fn a_task_a_risk_or_a_preference_contradicts_nothing_of_another_kind(a in sentence(), b in sentence()) {
        for kind in [CellType::Task, CellType::Risk, CellType::Preference] {
            let given = judge(&Statement { cell_type: kind, ..fact(&a) }, &fact(&b));
            prop_assert!(!matches!(given, Judgement::Contradicts(_)));
        }
    }
}
