//! Secrets are masked before anything else sees a text: comparison, embedding, log, disk.
//!
//! Two kinds of rule: tokens that their issuers made recognisable (a prefix, a length, an
//! alphabet: `kinds`), and values behind a name that says "this is a secret" (`name`). What
//! merely looks random (hashes, UUIDs, paths, base64 images) is left alone: a memory with holes
//! helps nobody.
//!
//! Every rule looks at the text as it is, and what several of them find in one place becomes one
//! hole, so that no rule leaves a part for another to miss. The work grows with the length of a
//! text and with nothing else.

mod assigned;
mod block;
mod kinds;
mod name;
mod scan;
mod shape;
mod url;
mod value;

use scan::Scan;

/// A text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked {
    /// The text; each secret became `[masked KIND]`.
    pub text: String,
    /// How many secrets there were.
    pub redactions: usize,
}

/// Returns how many secrets were masked in a text, by the marks that they left.
pub fn marks(masked: &str) -> usize {
    masked.matches("[masked").count()
}

/// How often a masked text is looked at again at most, for what its holes brought together.
const ROUNDS: usize = 4;

/// Masks the secrets of a text. Masking a masked text changes nothing.
pub fn mask(text: &str) -> Masked {
    let mut masked = Masked {
        text: text.to_owned(),
        redactions: 0,
    };
    for _ in 0..ROUNDS {
        let secrets = secrets(&mut Scan::new(&masked.text));
        if secrets.is_empty() {
            break;
        }
        masked.redactions += secrets.len();
        masked.text = without(&masked.text, &secrets);
    }
    masked
}

/// A secret's place in a text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    start: usize,
    end: usize,
    /// What people read.
    label: &'static str,
    rank: Rank,
}

/// Which rule found a secret; of several, the first knows best what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Block,
    Token,
    Url,
    Header,
    Assigned,
}

/// Finds the secrets of a text: in order, none over another.
fn secrets(scan: &mut Scan<'_>) -> Vec<Span> {
    let mut found = Vec::new();
    block::find(scan, &mut found);
    shape::find(scan, &mut found);
    url::find(scan, &mut found);
    assigned::find(scan, &mut found);
    found.sort_by_key(|span| (span.start, span.rank));
    let mut secrets: Vec<Span> = Vec::with_capacity(found.len());
    for span in found {
        match secrets.last_mut() {
            Some(last) if span.start < last.end => {
                last.end = last.end.max(span.end);
                if span.rank < last.rank {
                    (last.rank, last.label) = (span.rank, span.label);
                }
            }
            _ => secrets.push(span),
        }
    }
    secrets
}

fn without(text: &str, secrets: &[Span]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut kept = 0;
    for secret in secrets {
        masked.push_str(&text[kept..secret.start]);
        masked.push_str("[masked ");
        masked.push_str(secret.label);
        masked.push(']');
        kept = secret.end;
    }
    masked.push_str(&text[kept..]);
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stand-in for random characters, so that no real-looking token lies in the repository.
    fn filler(n: usize) -> String {
        "a1B2c3D4e5F6g7H8i9J0k".chars().cycle().take(n).collect()
    }

    fn hex(n: usize) -> String {
        "0123456789abcdef".chars().rev().cycle().take(n).collect()
    }

    #[track_caller]
    fn masked(text: &str, kind: &str) {
        let found = mask(text);
        assert_eq!(found.redactions, 1, "{text} -> {found:?}");
        assert!(
            found.text.contains(&format!("[masked {kind}]")),
            "{found:?}"
        );
        assert_eq!(
            mask(&found.text),
            Masked {
                redactions: 0,
                ..found.clone()
            },
            "twice"
        );
    }

    #[track_caller]
    fn kept(text: &str) {
        assert_eq!(
            mask(text),
            Masked {
                text: text.to_owned(),
                redactions: 0
            }
        );
    }

    #[test]
    fn tokens_with_a_form_of_their_own_are_masked_anywhere() {
        for (token, kind) in [
            (format!("hyk_{}", hex(64)), "Hyphae key"),
            ("AKIAABCDEFGHIJKLMNOP".to_owned(), "AWS key"),
            (format!("ghp_{}", filler(36)), "GitHub token"),
            (format!("glpat-{}", filler(20)), "GitLab token"),
            (format!("npm_{}", filler(36)), "npm token"),
            (format!("xoxb-{}", filler(24)), "Slack token"),
            (format!("sk_live_{}", filler(24)), "Stripe key"),
            (format!("sk-ant-api03-{}", filler(40)), "Anthropic key"),
            (format!("sk-proj-{}", filler(40)), "OpenAI key"),
            (format!("AIza{}", filler(35)), "Google key"),
            (format!("hf_{}", filler(34)), "Hugging Face token"),
            (
                format!("eyJ{}.eyJ{}.{}", filler(20), filler(20), filler(20)),
                "JSON web token",
            ),
        ] {
            masked(&token, kind);
            masked(&format!("the key is `{token}`, keep it"), kind);
            masked(&format!("KEY={token}\nnext"), kind);
        }
    }

    #[test]
    fn values_behind_a_telling_name_are_masked() {
        masked("DB_PASSWORD=hunter22", "secret");
        masked("password: \"correct horse\"", "secret");
        masked("{\"client_secret\": \"9f8a7b6c5d4e\"}", "secret");
        masked("api_key => 'abcd1234efgh'", "secret");
        masked("postgres://app:s3cret@db/hyphae", "password");
        masked("Authorization: Bearer abc123def456ghi", "credentials");
        masked(
            "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
            "private key",
        );
    }

    #[test]
    fn what_only_looks_random_is_kept() {
        kept(&hex(40));
        kept(&hex(64));
        kept("6f1c2b9e-8a41-7d3e-9c55-0123456789ab");
        kept("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk");
        kept("sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08");
        kept("the password must be changed every 90 days");
        kept("token: authentication is done by the gateway");
        kept("api_key = os.environ['API_KEY_2']");
        kept("HYPHAE_API_KEY=file:/run/secrets/key1");
        kept("PASSWORD=${DB_PASSWORD_1}");
        kept("postgres://user:$PASSWORD@host/db");
        kept("max_tokens=4096");
        kept("see https://example.com:8080/path@v2");
    }

    /// Texts in which rules begin everywhere and lead nowhere, or far.
    const HOSTILE: &[&str] = &[
        "a",
        "\\",
        "\\\"",
        "\"",
        "'",
        "-",
        "=",
        ":",
        " ",
        "\n",
        "eyJ-",
        "-eyJ.eyJ.",
        "eyJaaaaaaaa.eyJaaaaaaaa.",
        "-eyJaaaaaaaa-ghp_0123456789abcdefghijklmnopqrstuvwxyz",
        "sk-",
        "sk-proj-",
        "00D",
        "token=",
        "token=\"",
        "token=\\\"",
        "token='",
        "token=a'\"`",
        "password: ",
        "password=\"\\\"",
        "password=''",
        "a://b:",
        "a://b:c/",
        "a://b@",
        "://",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAAAAAA\n",
        "-BEGIN ",
        "-END ",
        "Private-Lines: 999\nAAAA\n",
        "<password>",
        "<password",
        "cookie: a=b;",
        "Cookie:",
        "bearer ",
        "basic a",
        "Authorization: a ",
        " -p",
        "mysql -p",
        "the password is ",
        "mnemonic: able ",
        "name: API_KEY value: ",
        "\"kty\":\"d\":\"",
        "?sig=a",
        "0123456789.",
        "!!",
        "x-y-z_1.2",
        "é",
        "[masked secret]",
    ];

    /// Returns the work of finding the secrets of a text, for each of its bytes.
    fn work_per_byte(text: &str) -> usize {
        let mut scan = Scan::new(text);
        secrets(&mut scan);
        scan.work / text.len()
    }

    /// A text may have this many runs for each of its bytes, and bytes in them; a constant.
    const MOST_WORK: usize = 8;

    #[test]
    fn the_work_grows_with_the_length_of_a_text_alone() {
        for length in [8_000, 64 << 10] {
            for unit in HOSTILE {
                let work = work_per_byte(&unit.repeat(length / unit.len()));
                assert!(
                    work <= MOST_WORK,
                    "{work} a byte in {length} bytes of {unit:?}"
                );
            }
        }
        let all = HOSTILE.concat();
        let work = work_per_byte(&all.repeat((1 << 20) / all.len()));
        assert!(work <= MOST_WORK, "{work} a byte in a mebibyte of all");
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

        #[test]
        fn the_work_is_linear_in_any_mixture(
            units in proptest::collection::vec(proptest::sample::select(HOSTILE), 1..8),
        ) {
            let unit = units.concat();
            let text = unit.repeat((64 << 10) / unit.len());
            let work = work_per_byte(&text);
            proptest::prop_assert!(work <= MOST_WORK, "{work} a byte of {unit:?}");
        }
    }

    #[test]
    fn a_log_line_of_a_mebibyte_loses_its_secrets_and_nothing_else() {
        let noise = format!("ts=1764504000 id={} path=/v1/items ", hex(32));
        let secret = format!("token={} ", filler(32));
        let line = [noise.repeat(8_000), secret, noise.repeat(9_000)].concat();
        assert!(line.len() >= 1 << 20 && work_per_byte(&line) <= MOST_WORK);
        let masked = mask(&line);
        assert_eq!(masked.redactions, 1);
        let want = [
            noise.repeat(8_000),
            "token=[masked secret] ".to_owned(),
            noise.repeat(9_000),
        ];
        assert!(masked.text == want.concat());
    }

    #[test]
    fn nothing_is_masked_in_nothing() {
        kept("");
    }
}
