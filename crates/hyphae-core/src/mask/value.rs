//! What a value looks like by itself: drawn at random, words, or a stand-in for something else.

/// How many bytes of a value are looked at, and never more: enough to judge it, and a bound on
/// the work where one long value is asked about from many places in it.
const LOOKED_AT: usize = 256;

/// What only stands in for a secret, wherever it is in a value.
#[rustfmt::skip]
const STAND_INS: &[&str] = &[
    "[masked", "example", "placeholder", "xxxxxx", "***", "...", "…", "redacted", "changeme",
    "change-me", "change_me", "replace_me", "replace-me", "replaceme", "insert-", "insert_",
    "goes-here", "goes_here", "dummy", "process.env", "import.meta", "os.environ", "getenv",
    "env::", "secrets.", "config.", "settings.",
];

/// What a value begins with that is somewhere else.
#[rustfmt::skip]
const REFERENCES: &[&str] = &[
    "$", "<", "{", "%(", "%s", "\\u", "file:", "cmd:", "env:", "http:", "https:", "data:",
    "vault:", "op://", "ssm:", "sops:", "arn:", "enc[", "keyring:", "keychain:", "secretref:",
    "!vault", "!secret", "!ref", "!sub", "@microsoft.keyvault", "projects/", "sha256:",
    "sha512:", "sha256-", "sha384-", "sha512-", "urn:", "ssh-", "0x0000",
];

/// Words that stand where a password does and are none.
#[rustfmt::skip]
const NO_PASSWORDS: &[&str] = &[
    "string", "text", "required", "optional", "password", "passwd", "pass", "passphrase", "pwd",
    "secret", "token", "true", "false", "null", "none", "nil", "undefined", "hidden", "masked",
    "varchar", "enabled", "disabled", "prompt", "input", "field", "label", "invalid", "missing",
    "incorrect", "test", "testing", "auto", "default", "empty", "plain", "basic", "bearer",
    "md5", "sha256", "bcrypt", "argon2", "argon2id", "scram-sha-256", "kennwort", "passwort",
    "generated", "unset", "always", "never", "ifneeded",
];

/// What is said about passwords where one could stand.
const LABELS: &[&str] = &[
    "password",
    "passwor",
    "passphrase",
    "enter ",
    "must ",
    "invalid",
    "required",
    "forgot",
];

/// Tells whether what follows a token's head was drawn at random, rather than written as words
/// or as a blank to fill in.
pub(super) fn is_drawn(body: &str) -> bool {
    let body = seen(body);
    if is_blank(body) || stands_in(&body.to_lowercase()) {
        return false;
    }
    let has = |test: fn(&u8) -> bool| body.bytes().any(|byte| test(&byte));
    has(u8::is_ascii_digit)
        || has(u8::is_ascii_uppercase)
        || !has(|byte| matches!(byte, b'-' | b'_' | b'.'))
}

/// Tells whether a value is only a stand-in: a reference to somewhere else, a blank to fill in.
pub(super) fn is_stand_in(value: &str) -> bool {
    let value = seen(value);
    let lower = value.to_lowercase();
    REFERENCES.iter().any(|head| lower.starts_with(head))
        || stands_in(&lower)
        || is_blank(value)
        || is_path(value)
        || (lower.starts_with('%') && lower.ends_with('%'))
}

/// Speaks, in small letters, of the one who should fill it in, or says itself that it is none.
/// Short words count only where they stand by themselves: chance makes them, too.
fn stands_in(lower: &str) -> bool {
    STAND_INS.iter().any(|stand_in| lower.contains(stand_in))
        || lower.starts_with("your")
        || pieces(lower).any(|piece| matches!(piece, "your" | "xxxx" | "xxx" | "todo"))
}

/// Nothing but the characters that people fill forms with.
fn is_blank(value: &str) -> bool {
    value.chars().all(|c| {
        matches!(
            c,
            'x' | 'X' | '0' | '*' | '•' | '#' | '?' | '-' | '_' | '.' | '='
        )
    })
}

/// A place in a file system.
fn is_path(value: &str) -> bool {
    let (head, rest) = (value.as_bytes(), value.get(2..).unwrap_or_default());
    let drive = head.len() > 3 && head[0].is_ascii_alphabetic() && rest.starts_with('\\');
    let rooted = ["/", "./", "../", "~/"];
    (drive && head[1] == b':')
        || (rooted.iter().any(|root| value.starts_with(root)) && pieces(value).all(is_word))
}

/// Tells whether a value is a secret that stands behind a telling name: long enough, more than
/// words, and not a stand-in.
pub(super) fn is_secret(value: &str, least_changes: usize) -> bool {
    let value = seen(value);
    let has = |test: fn(&u8) -> bool| value.bytes().any(|byte| test(&byte));
    let (digits, letters) = (has(u8::is_ascii_digit), has(u8::is_ascii_alphabetic));
    let mixed = digits && letters && changes(value) >= least_changes;
    let number = value.len() >= 20 && value.bytes().all(|byte| byte.is_ascii_digit());
    // A secret in Base64 may happen to have no digit.
    let folded = !digits && value.len() >= 16 && changes(value) * 5 >= value.len();
    value.chars().count() >= 8
        && (mixed || number || folded)
        && !value.contains([' ', '\t'])
        && !value.contains("\\u")
        && !value.contains("\\x")
        && !is_stand_in(value)
        && !is_words(value)
        && !is_date(value)
}

/// Tells whether a value without quotes speaks of secrets, as the names of types and variables
/// do: `Ed25519PrivateKey`, `token2.secret`.
pub(super) fn is_spoken_of(value: &str) -> bool {
    const SPOKEN_OF: [&str; 8] = [
        "privatekey",
        "private_key",
        "apikey",
        "api_key",
        "token",
        "secret",
        "password",
        "credential",
    ];
    let lower = seen(value).to_lowercase();
    SPOKEN_OF.iter().any(|word| lower.contains(word))
}

/// Tells whether a value is so random that a program made it.
pub(super) fn is_drawn_at_random(value: &str) -> bool {
    let value = seen(value);
    value.len() >= 20 && changes(value) * 5 >= value.len() && is_secret(value, 4)
}

/// Tells whether a value is random, and neither a digest nor a UUID.
pub(super) fn is_random_key(value: &str) -> bool {
    let value = seen(value);
    let digest = value
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    !digest && is_drawn_at_random(value)
}

/// Tells whether a value that was set as a password may be one.
pub(super) fn is_password(value: &str) -> bool {
    let value = seen(value);
    let words = value.split_whitespace().count();
    let lower = value.to_lowercase();
    let label = (words > 1 || is_words(&lower)) && LABELS.iter().any(|word| lower.contains(word));
    value.chars().count() >= 4
        && words <= 5
        && !label
        && !is_stand_in(value)
        && !is_no_password(value)
}

/// A word that stands where a password does.
pub(super) fn is_no_password(value: &str) -> bool {
    NO_PASSWORDS.contains(&seen(value).to_lowercase().as_str())
}

/// Tells whether a value in the middle of a text, where anything may stand, is a password.
pub(super) fn is_mixed_password(value: &str) -> bool {
    // Prose asks and exclaims.
    let value = seen(value).trim_end_matches(['?', '!']);
    let has = |test: fn(&u8) -> bool| value.bytes().any(|byte| test(&byte));
    let letters = has(u8::is_ascii_alphabetic);
    let others = has(|byte| byte.is_ascii_digit() || b"!@#$%^&*+~?".contains(byte))
        || (changes(value) >= 2 && !is_camel_case(value));
    let chain = || {
        value
            .split(['.', ':', '_', '>'])
            .filter(|part| !part.is_empty())
    };
    let is_name = |part: &str| camel(part).all(is_word);
    let is_chain = chain().count() > 1 && chain().all(is_name);
    // `*const u8`, `&str`
    let is_type =
        value.starts_with(['*', '&']) && value.bytes().skip(1).all(|b| b.is_ascii_lowercase());
    value.chars().count() >= 6
        && letters
        && others
        && !is_chain
        && !is_type
        && is_password(value)
        && !is_date(value)
}

/// How often digits, small and capital letters take turns (a capital at the beginning of a word
/// counts, the small letter behind it does not).
fn changes(value: &str) -> usize {
    let class = |byte: &u8| match byte {
        b'0'..=b'9' => 1,
        b'a'..=b'z' => 2,
        b'A'..=b'Z' => 3,
        _ => 0,
    };
    let pairs = value.as_bytes().windows(2);
    pairs
        .filter(|pair| {
            let (left, right) = (class(&pair[0]), class(&pair[1]));
            left != 0 && right != 0 && left != right && (left, right) != (3, 2)
        })
        .count()
}

/// Words, two or more, with at most a number behind each: `my-app-secret-v2`, `API_KEY_2`,
/// `AccessKeyV2`, `config.v2.secret`.
fn is_words(value: &str) -> bool {
    let (mut count, mut all, mut spoken) = (0, true, 0);
    for piece in pieces(value) {
        let word = is_word(piece);
        count += if word { 1 } else { 2 };
        all &= word || is_camel_case(piece);
        spoken += if word && letters(piece).len() >= 4 {
            piece.len()
        } else {
            0
        };
    }
    let pieces = pieces(value).count();
    (all && count > 1)
        || (pieces > 1 && spoken * 10 >= value.len() * 6)
        || is_number_for_word(value)
}

/// A word, a word with a number, a short number.
fn is_word(piece: &str) -> bool {
    let letters = letters(piece);
    let digits = piece.len() - letters.len();
    if letters.is_empty() {
        return digits <= 6;
    }
    let one_case = letters.bytes().all(|byte| byte.is_ascii_uppercase())
        || letters
            .bytes()
            .skip(1)
            .all(|byte| byte.is_ascii_lowercase());
    let alphabetic = letters.bytes().all(|byte| byte.is_ascii_alphabetic());
    let speakable = letters.len() <= 3
        || (letters.contains(VOWELS) && letters.split(VOWELS).all(|rest| rest.len() <= 4));
    (alphabetic && one_case && speakable && digits <= 5 && letters.len() <= 20)
        || is_abbreviation(piece)
}

const VOWELS: [char; 12] = ['a', 'e', 'i', 'o', 'u', 'y', 'A', 'E', 'I', 'O', 'U', 'Y'];

/// A piece without the number behind it.
fn letters(piece: &str) -> &str {
    piece.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// Such as `m2m` or `i18n`.
fn is_abbreviation(piece: &str) -> bool {
    let bytes = piece.as_bytes();
    matches!(bytes, [first, middle @ .., last]
        if (1..=2).contains(&middle.len())
            && middle.iter().all(u8::is_ascii_digit)
            && first.is_ascii_lowercase()
            && last.is_ascii_lowercase())
}

/// Words joined by capitals. What was drawn at random has capitals, too, but hardly words.
fn is_camel_case(piece: &str) -> bool {
    if !piece.bytes().any(|byte| byte.is_ascii_lowercase()) {
        return false;
    }
    #[rustfmt::skip]
    const SHORT: [&str; 21] = [
        "id", "key", "db", "to", "of", "my", "on", "is", "v", "fn", "url", "str", "aws", "gcp",
        "ssh", "ssl", "tls", "jwt", "ref", "ptr", "ctx",
    ];
    let is_spoken = |chunk: &&str| {
        let letters = letters(chunk);
        let vowel = letters.contains(VOWELS) && !letters.contains(['y', 'Y']);
        is_word(chunk)
            && (letters.len() >= 4
                || (letters.len() == 3 && vowel)
                || SHORT.contains(&letters.to_lowercase().as_str()))
    };
    let spoken: usize = camel(piece).filter(is_spoken).map(str::len).sum();
    spoken * 10 >= piece.len() * 7
}

/// Such as `parse2things`.
fn is_number_for_word(value: &str) -> bool {
    let words: Vec<&str> = value.split(|c: char| c.is_ascii_digit()).collect();
    words.len() == 2
        && words
            .iter()
            .all(|word| word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// `2024-01-01T00:00:00Z` and the like.
fn is_date(value: &str) -> bool {
    let bytes = value.as_bytes();
    bytes.len() >= 8
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && bytes[4] == b'-'
        && value
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b"-:.+TZ ".contains(&byte))
}

/// What stands between the separators of a value.
fn pieces(value: &str) -> impl Iterator<Item = &str> {
    let separators = [
        '-', '_', '.', '/', ':', ' ', '>', '\\', '#', '@', ',', '&', '*', '<',
    ];
    value.split(separators).filter(|piece| !piece.is_empty())
}

/// Splits `camelCase` where a capital follows a small letter or a digit.
fn camel(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        let small = |at: usize| bytes[at].is_ascii_lowercase() || bytes[at].is_ascii_digit();
        let mut rest = from + 1..bytes.len();
        let next = rest.find(|&at| small(at - 1) && bytes[at].is_ascii_uppercase());
        let chunk = text.get(from..next.unwrap_or(bytes.len()))?;
        from += chunk.len();
        (!chunk.is_empty()).then_some(chunk)
    })
}

/// The part of a value that is looked at.
fn seen(value: &str) -> &str {
    &value[..value.floor_char_boundary(LOOKED_AT)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_the_part_that_is_looked_at_changes_nothing() {
        let heads = [
            "a1B2",
            "word-",
            "x",
            "1234",
            "example ",
            "pass word",
            "é",
            "/a",
            "2024-",
        ];
        for head in heads {
            let value = head.repeat(LOOKED_AT / head.len() + 1);
            for tail in ["", "a1B2c3", "...", "%", " x", "password", "é"] {
                let longer = format!("{value}{tail}");
                let judged = |value: &str| {
                    [
                        is_drawn(value),
                        is_stand_in(value),
                        is_secret(value, 0),
                        is_secret(value, 2),
                        is_spoken_of(value),
                        is_drawn_at_random(value),
                        is_random_key(value),
                        is_password(value),
                        is_no_password(value),
                        is_mixed_password(value),
                    ]
                };
                assert_eq!(judged(&longer), judged(&value), "{head} … {tail}");
            }
        }
    }

    #[test]
    fn words_are_told_from_what_was_drawn() {
        for words in [
            "my-app-secret-v2",
            "API_KEY_2",
            "AccessKeyV2",
            "config.v2.secret",
            "m2m-access-token",
            "SslImportMasterKeyFn",
            "OnceLock<u64>",
            "parse2things",
            "D3DKMT_DEFRAG_OPERATION",
        ] {
            assert!(is_words(words), "{words}");
        }
        for drawn in [
            "abcd1234efgh",
            "1QcFpNjHoAf4_XczYwhYicTl",
            "A1B2C3D4E5F6G7H8",
            "9f8a7b6c5d4e",
            "live_Qw3Er5Ty7Ui9Op1As2Df4",
            "QX7JXMOALMEEEWPHWOCD3JHKOXT5NG2J",
        ] {
            assert!(!is_words(drawn), "{drawn}");
        }
    }
}
