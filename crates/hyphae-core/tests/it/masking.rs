//! Which secrets are masked, and what is left alone: two corpora, and what holds for any text.

mod corpus;

use std::collections::BTreeSet;

use hyphae_core::mask::mask;
use proptest::{collection::vec, prelude::*, sample::select};

use corpus::Secret;

/// How often each line is drawn anew.
const VARIANTS: usize = 5;

/// No part of a secret that is as long as this may be left.
const LONGEST_LEFT: usize = 5;

/// Returns what is left of a secret in a masked text.
fn left(secret: &Secret, masked: &str) -> Option<String> {
    let parts = secret
        .parts
        .iter()
        .filter(|part| part.len() > LONGEST_LEFT - 2);
    let windows = |part: &String| -> Vec<String> {
        let characters: Vec<char> = part.chars().collect();
        let size = characters.len().min(LONGEST_LEFT + 1);
        characters
            .windows(size)
            .map(|window| window.iter().collect())
            .collect()
    };
    parts
        .flat_map(windows)
        .find(|window| masked.contains(window))
}

#[track_caller]
fn none_left(what: &str, total: usize, wrong: &[String]) {
    assert!(
        wrong.is_empty(),
        "{} of {total} {what} are not masked wholly:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_kind_of_token_is_masked_wherever_it_stands() {
    let (kinds, contexts) = (corpus::kinds(), corpus::contexts());
    let issuers: BTreeSet<&str> = kinds.iter().map(|kind| kind.issuer).collect();
    assert!(issuers.len() >= 100, "only {} issuers", issuers.len());
    let mut wrong = Vec::new();
    for kind in &kinds {
        for context in &contexts {
            let secret = kind.within(context);
            let masked = mask(&secret.text);
            let left = left(&secret, &masked.text);
            if left.is_some() || masked.redactions != 1 {
                wrong.push(format!(
                    "{}: {:?} -> {:?}",
                    kind.issuer, secret.text, masked
                ));
            }
        }
    }
    none_left("tokens", kinds.len() * contexts.len(), &wrong);
}

#[test]
fn secrets_that_only_a_name_or_a_place_gives_away_are_masked() {
    let lines = corpus::named();
    assert!(lines.len() >= 200, "only {} lines", lines.len());
    let mut wrong = Vec::new();
    for line in &lines {
        for variant in 0..VARIANTS {
            let secret = corpus::secret(line, variant);
            assert!(!secret.parts.is_empty(), "{line}");
            let masked = mask(&secret.text);
            if let Some(left) = left(&secret, &masked.text) {
                wrong.push(format!(
                    "{left:?} of {:?} -> {:?}",
                    secret.text, masked.text
                ));
            }
        }
    }
    none_left("secrets", lines.len() * VARIANTS, &wrong);
}

#[test]
fn what_only_looks_like_a_secret_is_left_alone() {
    let lines = corpus::harmless();
    assert!(lines.len() >= 300, "only {} lines", lines.len());
    let mut wrong = Vec::new();
    for line in &lines {
        let changed = (0..VARIANTS).find_map(|variant| {
            let text = corpus::text(line, variant);
            let masked = mask(&text).text;
            (masked != text).then(|| format!("{text:?} -> {masked:?}"))
        });
        wrong.extend(changed);
    }
    // At most 1 % is promised; none is what there is.
    assert!(
        wrong.is_empty(),
        "{} of {} harmless texts were changed:\n{}",
        wrong.len(),
        lines.len(),
        wrong.join("\n")
    );
}

/// What texts are made of where rules meet.
const FRAGMENTS: &[&str] = &[
    "password",
    "token",
    "api_key",
    "secret",
    "Authorization",
    "Cookie",
    "value",
    "name",
    "is",
    "Bearer",
    "Basic",
    "login",
    "curl -u ",
    "mysql ",
    "-p",
    "--token ",
    "ENV ",
    "export ",
    "=",
    ":",
    ": ",
    " = ",
    "=>",
    "==",
    "\"",
    "'",
    "`",
    "\\\"",
    "\\n",
    "\n",
    " ",
    "\t",
    ",",
    ";",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "/",
    "//",
    "://",
    "@",
    "?",
    "&",
    "#",
    "$",
    "%",
    ".",
    "-",
    "_",
    "!!str ",
    "AKIA",
    "ghp_",
    "eyJ",
    "sk-ant-",
    "SG.",
    "hooks.slack.com/services/",
    "hyk_",
    "https",
    "user",
    "example",
    "xxxxxx",
    "your",
    "[masked secret]",
    "[masked",
    "masked]",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "\"kty\"",
    "\"d\"",
    "hunter22",
    "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9",
    "0123456789abcdef0123456789abcdef",
    "k",
    "9",
    "Z",
    "correct horse",
    "é",
    "秘密",
    "\u{1f511}",
    "001",
    "=",
    "==",
];

fn mixture() -> impl Strategy<Value = String> {
    vec(select(FRAGMENTS), 0..40).prop_map(|fragments| fragments.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn masking_a_masked_text_changes_nothing(text in prop_oneof![mixture(), ".{0,120}"]) {
        let once = mask(&text);
        let twice = mask(&once.text);
        prop_assert_eq!((twice.redactions, &twice.text), (0, &once.text), "{:?}", text);
    }

    #[test]
    fn a_token_leaves_nothing_behind_whatever_stands_around_it(
        before in mixture(),
        after in mixture(),
        n in any::<prop::sample::Index>(),
        around in select(&[("\n", "\n"), (" ", " "), ("\"", "\""), ("=", "\n"), ("@", " "), (":", "@"), ("(", ")")]),
    ) {
        let kinds = corpus::kinds();
        let kind = &kinds[n.index(kinds.len())];
        let secret = kind.within("{}");
        let text = [&before, around.0, &secret.text, around.1, &after].concat();
        let masked = mask(&text);
        let whole = Secret { text, parts: secret.parts };
        // A part may stand in the fragments, too.
        let elsewhere = [before, after].concat();
        if let Some(left) = left(&whole, &masked.text) && !elsewhere.contains(&left) {
            prop_assert!(false, "{left:?} of {:?} -> {:?}", whole.text, masked.text);
        }
    }
}
