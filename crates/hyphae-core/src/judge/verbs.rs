//! English verbs by what their object allows.

use std::{collections::HashMap, sync::LazyLock};

use super::lexicon::stem;

/// How many different objects a verb has at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Objects {
    /// Any number: `supports`, `includes`.
    Many,
    /// It tells what happened, and that happens again: `fixed`, `met`.
    Event,
    /// The verb does not say.
    Open,
    /// One: `is written in`, `is owned by`.
    One,
}

/// A verb.
#[derive(Debug, Clone, Copy)]
pub(super) struct Verb {
    pub(super) canon: &'static str,
    pub(super) objects: Objects,
    /// Says nothing beyond `is` or `has`, so that it need not be in the other text.
    pub(super) light: bool,
    /// Says that its object is not so: `avoids`, `lacks`.
    pub(super) negative: bool,
    /// Says that something else was so before: `switched`, `raised`.
    pub(super) change: bool,
    /// Is hardly ever a noun.
    pub(super) pure: bool,
    /// Tells of a choice, so that its past is the present: `we chose`.
    pub(super) choice: bool,
    /// The text does not vouch for what follows: `said`, `considered`.
    pub(super) reported: bool,
    /// Happens to its subject once: `was released`.
    pub(super) once: bool,
}

/// Canonical name, marks and forms. Marks: `1` one object, `*` many, `e` event, `l` light,
/// `n` negative, `c` change, `p` pure, `d` choice, `r` reported, `u` once.
const VERBS: &[(&str, &str, &str)] = &[
    (
        "use",
        "1lpd",
        "use utilise utilize adopt follow choose chose chosen pick select employ standardise standardize \
         settle opt decide agree rely stick",
    ),
    ("use", "1ld", "go goes went gone"),
    ("use", "1lpd", "prefer"),
    ("use", "1lnpd", "avoid reject abandon eschew ditch"),
    ("have", "*lp", "has have had possess"),
    ("have", "*lnp", "lack lacks"),
    (
        "be",
        "1lp",
        "equal equals remain stay become became default",
    ),
    (
        "store",
        "1p",
        "store keep kept hold held save persist live reside locate",
    ),
    ("write", "*", "write wrote"),
    ("write", "1p", "written"),
    ("build", "1", "build built"),
    ("run", "l", "run ran host"),
    ("listen", "1lp", "listen bind"),
    ("set", "1lp", "set configure configured"),
    (
        "set",
        "1lcp",
        "raise lower increase decrease reduce bump change rename upgrade downgrade",
    ),
    ("use", "1lcp", "switch migrate move"),
    (
        "use",
        "1lncp",
        "stop cease discontinue drop deprecate retire",
    ),
    ("replace", "1cp", "replace"),
    ("own", "1p", "own"),
    ("maintain", "1p", "maintain"),
    ("lead", "1", "lead led"),
    ("call", "1l", "call name title"),
    ("expire", "1p", "expire"),
    ("limit", "1l", "limit cap restrict"),
    ("pin", "1", "pin"),
    ("require", "p", "require need"),
    (
        "",
        "1",
        "hash encode compress format encrypt indent serialise serialize sort order wrap base back \
         schedule implement authenticate tag return answer respond reply partition",
    ),
    ("", "u", "release launch ship start end complete sign found"),
    ("", "eu", "finish"),
    ("happen", "ulp", "happen occur"),
    ("", "up", "publish begin"),
    ("last", "1", "last"),
    (
        "",
        "*p",
        "support include contain provide offer expose accept depend add integrate \
         know serve send receive emit consume produce subscribe cover teach speak show \
         collect parse",
    ),
    (
        "",
        "*",
        "test import export list display call load read work talk",
    ),
    ("", "1", "generate handle manage power represent treat"),
    (
        "",
        "ep",
        "fix find found meet met see saw seen spend spent took take taken discover investigate \
         discuss resolve broke broken",
    ),
    (
        "",
        "e",
        "review measure debug visit report help cause break",
    ),
    (
        "",
        "p",
        "enable disable guarantee validate verify rebuild rebuilt create reconnect throw \
         carry carries override precede supersede want let get gets got become see reach \
         connect describe define restore apply belong expect ensure prevent protect invalidate \
         rotate decrypt authorise authorize approve deny ignore retain remember forgive \
         tolerate enjoy dislike delete exist overwrite prohibit continue try",
    ),
    ("", "np", "forget forgot refuse neglect"),
    ("allow", "p", "allow permit"),
    ("allow", "np", "forbid forbidden ban prohibit disallow"),
    (
        "",
        "rp",
        "say said claim suggest propose consider evaluate think thought believe wonder ask argue hope wish \
         recommend guess assume suspect complain mention explore debate weigh",
    ),
    (
        "",
        "",
        "cost lint fail deploy merge close open process index queue sync retry check commit push update restart crash leave left cache \
         log render fetch wait scale copy copies request trust skip cancel poll like love hate pass \
         handle increment mock squash rebase benchmark monitor",
    ),
];

static BY_FORM: LazyLock<HashMap<String, Verb>> = LazyLock::new(|| {
    let mut verbs = HashMap::new();
    for (canon, marks, forms) in VERBS {
        let marked = |mark| marks.contains(mark);
        for form in forms.split_whitespace() {
            let verb = Verb {
                canon: if canon.is_empty() { form } else { canon },
                objects: match () {
                    () if marked('1') => Objects::One,
                    () if marked('*') => Objects::Many,
                    () if marked('e') => Objects::Event,
                    () => Objects::Open,
                },
                light: marked('l'),
                negative: marked('n'),
                change: marked('c'),
                pure: marked('p'),
                choice: marked('d'),
                reported: marked('r'),
                once: marked('u'),
            };
            verbs.entry(form.to_owned()).or_insert(verb);
            verbs.entry(stem(form)).or_insert(verb);
        }
    }
    verbs
});

/// Returns what is known of a verb in any of its forms.
pub(super) fn verb(lower: &str) -> Option<Verb> {
    let exact = BY_FORM.get(lower).copied();
    // `container` is no form of `contain`.
    let form = ["s", "ed", "ing"].iter().any(|end| lower.ends_with(end));
    let stem = stem(lower);
    exact.or_else(|| {
        (form || stem == lower || is_participle(lower) || is_past(lower))
            .then(|| BY_FORM.get(stem.as_str()).copied())?
    })
}

/// Irregular participles; regular ones end in `ed`.
const PARTICIPLES: &str = "written chosen kept held built set gone run found met seen taken led sent made \
    done left put read broken drawn given hidden shown split thrown told understood rebuilt begun stuck forbidden";

/// Tells whether a word may be a past participle.
pub(super) fn is_participle(lower: &str) -> bool {
    (lower.len() > 3 && lower.ends_with("ed"))
        || PARTICIPLES.split_whitespace().any(|word| word == lower)
}

/// Irregular forms of the past that are not participles; regular ones end in `ed`.
const PASTS: &str =
    "wrote chose went ran saw took led broke began forgot met found kept held built made sent";

/// Tells whether a word may be a past form.
pub(super) fn is_past(lower: &str) -> bool {
    (lower.len() > 3 && lower.ends_with("ed")) || PASTS.split_whitespace().any(|word| word == lower)
}
