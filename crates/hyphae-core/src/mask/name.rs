//! What a name says about the value behind it.

/// What a name promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Something that people choose, and that may be as short as they like.
    Password,
    /// Something that a program made.
    Secret,
    /// Some key of something: a secret if nothing else looks like its value.
    Perhaps,
    /// The value of an `Authorization` header: a scheme, then a secret.
    Authorization,
    /// The words that a wallet is recovered by.
    Phrase,
    /// A signature that is as good as a key while it lasts; only in a URL's query.
    Signature,
    /// A private number of a JSON Web Key; only in a text that has one.
    KeyPart,
    /// A name that says nothing, of a setting whose name stands before it.
    Value,
}

/// Words behind a secret's name that change nothing about it.
#[rustfmt::skip]
const SUFFIXES: &[&str] = &[
    "prod", "production", "dev", "development", "test", "testing", "stage", "staging", "live",
    "old", "new", "current", "previous", "primary", "secondary", "backup", "base64", "b64",
    "hex", "raw", "plain", "plaintext", "value", "val", "str", "env", "main", "ro", "rw",
];

#[rustfmt::skip]
const PASSWORDS: &[&str] = &[
    "password", "passwd", "passphrase", "passcode", "pwd", "pass", "passwort", "kennwort", "psk",
    "requirepass", "masterauth", "bindpw", "rootpw", "userpw", "adminpw", "dbpw", "dbpass",
    "userpass", "rootpass", "adminpass", "mypass", "sshpass", "smtppass", "mailpass",
];

/// What makes a `key` one that must not be shown, right before it.
#[rustfmt::skip]
const KEYS: &[&str] = &[
    "api", "access", "secret", "private", "priv", "auth", "authentication", "encryption",
    "encrypt", "decryption", "signing", "sign", "signature", "account", "master", "shared",
    "preshared", "storage", "service", "role", "admin", "app", "application", "client",
    "consumer", "subscription", "webhook", "session", "cookie", "hmac", "aes", "jwt", "jwe",
    "ingest", "ingestion", "license", "write", "instrumentation", "functions", "host", "user",
    "security", "cipher", "root", "vapid", "stripe", "openai", "anthropic", "gemini", "mistral",
    "groq", "cohere", "sendgrid", "mailgun", "mailchimp", "twilio", "algolia", "datadog", "dd",
    "heroku", "deepl", "pinecone", "supabase", "azure", "aws", "gcp", "maps", "newrelic",
    "fernet", "flask", "django", "deploy", "wallet", "validator", "totp", "mfa", "bot", "server",
    "rails", "wg",
];

/// What makes a `token` one that is no secret, right before it.
#[rustfmt::skip]
const HARMLESS_TOKENS: &[&str] = &[
    "page", "next", "prev", "previous", "continuation", "sync", "cursor", "resume", "pagination",
    "cancel", "cancellation", "stopping", "max", "min", "num", "total", "input", "output",
    "prompt", "completion", "cached", "context", "per", "end", "start", "stop", "eos", "bos",
    "pad", "unk", "sep", "cls", "mask", "special", "first", "last", "skip", "lexer", "parser",
    "syntax", "string", "comment", "punctuation", "keyword", "current", "expected", "unexpected",
    "invalid", "change", "concurrency", "design", "color", "colour", "theme", "css", "spacing",
    "font", "client", "request", "idempotency", "ordering", "fencing", "watch", "position",
    "paging", "scroll",
];

/// What makes a `key` one that is no secret, right before it.
#[rustfmt::skip]
const HARMLESS_KEYS: &[&str] = &[
    "public", "pub", "primary", "cache", "foreign", "partition", "sort", "idempotency", "row",
    "object", "routing", "dedup", "lookup", "group", "hash", "index", "unique", "map", "i18n",
    "translation", "registry", "s3", "store", "composite", "natural", "candidate", "path",
    "file", "config", "setting", "query", "search", "event", "message", "record", "range",
    "shard", "bucket", "item", "list", "react", "node", "tree", "parent", "locale", "label",
    "title", "name", "param", "property", "prop", "attr", "header", "cursor", "page", "lock",
    "redis", "entity", "model", "table", "column", "field", "dict", "json", "yaml", "next",
    "prev", "last", "first", "min", "max", "host", "known", "gpg", "pgp", "issue", "project",
    "build", "artifact", "asset", "restore", "image", "data", "digest", "checksum", "integrity",
    "etag", "verifying", "verification", "anon", "publishable", "site", "metric", "trace",
    "span", "correlation", "request", "job", "task", "queue", "topic", "stream", "storage",
];

/// Returns what a name promises about the value behind it.
pub(super) fn meaning(name: &str) -> Option<Meaning> {
    if !may_mean(name) {
        return None;
    }
    let words = words(name);
    let mut words: &[String] = &words;
    while let [rest @ .., last] = words {
        let numbered = last
            .trim_start_matches('v')
            .bytes()
            .all(|b| b.is_ascii_digit());
        let says_nothing = numbered || SUFFIXES.contains(&last.as_str());
        if rest.is_empty() || !says_nothing {
            break;
        }
        words = rest;
    }
    let [rest @ .., last] = words else {
        return None;
    };
    let before = rest.last().map_or("", String::as_str);
    let last = last.as_str();
    let joined = |tails: &[&str]| tails.iter().any(|tail| last.ends_with(tail));
    if PASSWORDS.contains(&last) || joined(&["password", "passwd", "passphrase"]) {
        return Some(Meaning::Password);
    }
    let meaning = match last {
        "token" if HARMLESS_TOKENS.contains(&before) => return None,
        "token" | "secret" | "secrets" | "credential" | "credentials" | "apikey" | "bearer"
        | "jwt" | "authkey" => Meaning::Secret,
        "pat" if name.ends_with("PAT") => Meaning::Perhaps,
        "key" if KEYS.contains(&before) => Meaning::Secret,
        // Rails: `secret_key_base`.
        "base" if rest.ends_with(&["secret".to_owned(), "key".to_owned()]) => Meaning::Secret,
        "authorization" => Meaning::Authorization,
        "auth" if rest.is_empty() || before == "x" => Meaning::Authorization,
        "mnemonic" | "seedphrase" => Meaning::Phrase,
        "phrase" if matches!(before, "seed" | "recovery" | "mnemonic" | "secret") => {
            Meaning::Phrase
        }
        "sig" | "signature" => Meaning::Signature,
        "d" | "p" | "q" | "dp" | "dq" | "qi" | "k" if rest.is_empty() => Meaning::KeyPart,
        // Its suffixes were taken off already, so that this is the whole name.
        "value" | "val" | "default" => Meaning::Value,
        "key" if !before.is_empty() && !HARMLESS_KEYS.contains(&before) => Meaning::Perhaps,
        _ if HARMLESS_TOKENS
            .iter()
            .any(|word| last.strip_suffix("token") == Some(*word)) =>
        {
            return None;
        }
        _ if joined(&["token", "secret", "apikey"]) => Meaning::Secret,
        _ if [
            "secretkey",
            "accesskey",
            "privatekey",
            "masterkey",
            "accountkey",
            "authkey",
            "sharedkey",
            "presharedkey",
            "sharedaccesskey",
            "encryptionkey",
        ]
        .contains(&last) =>
        {
            Meaning::Secret
        }
        _ => return None,
    };
    Some(meaning)
}

/// Tells whether a name has letters that telling ones have. Most words of a text do not, and need
/// not be taken apart.
fn may_mean(name: &str) -> bool {
    let small = |window: &[u8]| {
        let mut small = [0; 3];
        small.copy_from_slice(window);
        small.make_ascii_lowercase();
        small
    };
    name.len() <= 2
        || name.as_bytes().windows(3).map(small).any(|letters| {
            matches!(
                &letters,
                b"pas"
                    | b"pwd"
                    | b"psk"
                    | b"sec"
                    | b"tok"
                    | b"key"
                    | b"cre"
                    | b"aut"
                    | b"jwt"
                    | b"bea"
                    | b"mne"
                    | b"phr"
                    | b"sig"
                    | b"val"
                    | b"def"
                    | b"pat"
                    | b"ken"
                    | [_, b'p', b'w']
            )
        })
}

/// Splits a name into its words, in small letters: `DB_PASSWORD`, `dbPassword`, `DBPassword`
/// and `db-password` are all `db`, `password`.
fn words(name: &str) -> Vec<String> {
    let bytes = name.as_bytes();
    let mut words: Vec<String> = Vec::new();
    let mut inside = false;
    for (at, byte) in bytes.iter().enumerate() {
        if !byte.is_ascii_alphanumeric() {
            inside = false;
            continue;
        }
        let before = at.checked_sub(1).map_or(0, |before| bytes[before]);
        let behind = bytes.get(at + 1).copied().unwrap_or(0);
        let capital = byte.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_digit()
                || (before.is_ascii_uppercase() && behind.is_ascii_lowercase()));
        if !inside || capital {
            words.push(String::new());
        }
        inside = true;
        if let Some(word) = words.last_mut() {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_in_every_spelling() {
        for name in [
            "DB_PASSWORD",
            "dbPassword",
            "DBPassword",
            "db-password",
            "db.password",
        ] {
            assert_eq!(words(name), ["db", "password"], "{name}");
        }
        assert_eq!(words("X-API-Key"), ["x", "api", "key"]);
        assert_eq!(words("s3SecretV2"), ["s3", "secret", "v2"]);
    }

    #[test]
    fn every_telling_word_has_the_letters_of_one() {
        let words = PASSWORDS.iter().chain(&[
            "secret",
            "token",
            "credential",
            "bearer",
            "jwt",
            "pat",
            "key",
            "authorization",
            "auth",
            "mnemonic",
            "seedphrase",
            "phrase",
            "sig",
            "signature",
            "d",
            "qi",
            "value",
            "val",
            "default",
            "masterauth",
        ]);
        for word in words {
            assert!(may_mean(word) && may_mean(&word.to_uppercase()), "{word}");
        }
        assert!(!may_mean("database") && !may_mean("hyphae"));
    }

    #[test]
    fn only_the_end_of_a_name_says_what_it_is() {
        use Meaning::{
            Authorization, KeyPart, Password, Perhaps, Phrase, Secret, Signature, Value,
        };
        for (name, want) in [
            ("PGPASSWORD", Some(Password)),
            ("smtp_pass", Some(Password)),
            ("passwords_changed", None),
            ("password_hash", None),
            ("password_2", Some(Password)),
            ("compass", None),
            ("token", Some(Secret)),
            ("nextPageToken", None),
            ("pagetoken", None),
            ("max_tokens", None),
            ("tokenizer", None),
            ("token_type", None),
            ("GITHUB_TOKEN_PROD", Some(Secret)),
            ("GH_PAT", Some(Perhaps)),
            ("STRIPE_KEY", Some(Secret)),
            ("acme_key", Some(Perhaps)),
            ("pat", None),
            ("AWS_ACCESS_KEY_ID", None),
            ("aws_secret_access_key", Some(Secret)),
            ("public_key", None),
            ("primary_key", None),
            ("cacheKey", None),
            ("SECRET_KEY_BASE", Some(Secret)),
            ("secretName", None),
            ("Proxy-Authorization", Some(Authorization)),
            ("author", None),
            ("seed_phrase", Some(Phrase)),
            ("X-Amz-Signature", Some(Signature)),
            ("d", Some(KeyPart)),
            ("value", Some(Value)),
            ("", None),
        ] {
            assert_eq!(meaning(name), want, "{name}");
        }
    }
}
