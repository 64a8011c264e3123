//! Secrets are masked before anything else sees a text: comparison, embedding, log, disk.
//!
//! Two kinds of rule: tokens that their issuers made recognisable (a prefix, a length, an
//! alphabet), and values behind a name that says "this is a secret". What merely looks random
//! (hashes, UUIDs, paths, base64 images) is left alone: a memory with holes helps nobody.

use std::sync::LazyLock;

use regex::{Captures, Regex, RegexBuilder};

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

/// Masks the secrets of a text. Masking a masked text changes nothing.
pub fn mask(text: &str) -> Masked {
    let mut redactions = 0;
    let mut replaced = |kind: &str| {
        redactions += 1;
        format!("[masked {kind}]")
    };
    let blocks = PEM.replace_all(text, |_: &Captures<'_>| replaced("private key"));
    let tokens = TOKENS.replace_all(&blocks, |found: &Captures<'_>| {
        let kind = KINDS.iter().find(|(name, ..)| found.name(name).is_some());
        replaced(kind.map_or("secret", |(_, label, _)| label))
    });
    let urls = URL_PASSWORD.replace_all(&tokens, |found: &Captures<'_>| {
        if is_placeholder(&found["value"]) {
            return found[0].to_owned();
        }
        format!("{}{}@", &found["head"], replaced("password"))
    });
    let headers = HEADER.replace_all(&urls, |found: &Captures<'_>| {
        if !looks_secret(&found["value"], 12) {
            return found[0].to_owned();
        }
        format!("{}{}", &found["head"], replaced("credentials"))
    });
    let text = ASSIGNMENT.replace_all(&headers, |found: &Captures<'_>| {
        let quoted = found.name("quoted");
        let value = quoted
            .or_else(|| found.name("bare"))
            .map_or("", |value| value.as_str());
        let password = found["name"].to_lowercase().contains("pass")
            || found["name"].to_lowercase().contains("pwd");
        let secret = match (quoted.is_some(), password) {
            (true, true) => value.chars().count() >= 4 && !is_placeholder(value),
            (false, true) => looks_secret(value, 6),
            (_, false) => looks_secret(value, 8),
        };
        if !secret {
            return found[0].to_owned();
        }
        let quote = if quoted.is_some() {
            &found["quote"]
        } else {
            ""
        };
        format!("{}{quote}{}{quote}", &found["head"], replaced("secret"))
    });
    Masked {
        text: text.into_owned(),
        redactions,
    }
}

/// Name of the group, what people read, and the pattern. `\b` does not stand before a `-`, so
/// each pattern begins with a letter or a digit.
const KINDS: &[(&str, &str, &str)] = &[
    ("hyphae", "Hyphae key", r"hyk_[0-9a-f]{64}"),
    ("aws", "AWS key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}"),
    (
        "github",
        "GitHub token",
        r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,}",
    ),
    (
        "gitlab",
        "GitLab token",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat)-[A-Za-z0-9_-]{20,}",
    ),
    ("npm", "npm token", r"npm_[A-Za-z0-9]{36}"),
    ("pypi", "PyPI token", r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    ("crates", "crates.io token", r"cio[A-Za-z0-9]{32}"),
    ("rubygems", "RubyGems key", r"rubygems_[0-9a-f]{48}"),
    (
        "slack",
        "Slack token",
        r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{20,}",
    ),
    (
        "slackhook",
        "Slack webhook",
        r"hooks\.slack\.com/services/T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]{20,}",
    ),
    (
        "discord",
        "Discord token",
        r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
    ),
    (
        "telegram",
        "Telegram token",
        r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}",
    ),
    (
        "stripe",
        "Stripe key",
        r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{20,}|whsec_[A-Za-z0-9+/=]{24,}",
    ),
    ("anthropic", "Anthropic key", r"sk-ant-[A-Za-z0-9_-]{20,}"),
    (
        "openai",
        "OpenAI key",
        r"sk-(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{20,}|sk-[A-Za-z0-9]{40,}",
    ),
    (
        "google",
        "Google key",
        r"AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}",
    ),
    (
        "huggingface",
        "Hugging Face token",
        r"hf_[A-Za-z]{30,}|hf_[A-Za-z0-9]{34,}",
    ),
    ("groq", "Groq key", r"gsk_[A-Za-z0-9]{40,}"),
    ("replicate", "Replicate token", r"r8_[A-Za-z0-9]{30,}"),
    (
        "sendgrid",
        "SendGrid key",
        r"SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{40,}",
    ),
    ("mailgun", "Mailgun key", r"key-[0-9a-f]{32}"),
    ("mailchimp", "Mailchimp key", r"[0-9a-f]{32}-us[0-9]{1,2}"),
    ("twilio", "Twilio key", r"SK[0-9a-f]{32}"),
    (
        "digitalocean",
        "DigitalOcean token",
        r"do[opr]_v1_[0-9a-f]{64}",
    ),
    ("databricks", "Databricks token", r"dapi[0-9a-f]{32}"),
    (
        "shopify",
        "Shopify token",
        r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    ),
    (
        "square",
        "Square token",
        r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,43}",
    ),
    ("sentry", "Sentry token", r"sntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    (
        "newrelic",
        "New Relic key",
        r"NRAK-[A-Z0-9]{27}|NRII-[A-Za-z0-9_-]{32}",
    ),
    ("grafana", "Grafana token", r"gl(?:c|sa)_[A-Za-z0-9_]{32,}"),
    (
        "linear",
        "Linear key",
        r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}",
    ),
    (
        "notion",
        "Notion token",
        r"ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}",
    ),
    (
        "airtable",
        "Airtable token",
        r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}",
    ),
    (
        "atlassian",
        "Atlassian token",
        r"ATATT3[A-Za-z0-9_=-]{100,}|ATCTT3[A-Za-z0-9_=-]{100,}",
    ),
    (
        "doppler",
        "Doppler token",
        r"dp\.(?:pt|st|sa|ct|scim|audit)\.[A-Za-z0-9.]{40,}",
    ),
    ("vault", "Vault token", r"hv[sbr]\.[A-Za-z0-9_-]{24,}"),
    (
        "terraform",
        "Terraform token",
        r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}",
    ),
    ("pulumi", "Pulumi token", r"pul-[0-9a-f]{40}"),
    ("postman", "Postman key", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("age", "age key", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    (
        "cloudflare",
        "Cloudflare token",
        r"cf(?:ut|at|k)_[A-Za-z0-9_-]{40,}",
    ),
    (
        "fly",
        "Fly token",
        r"fo1_[A-Za-z0-9_-]{43}|fm[12][ar]?_[A-Za-z0-9+/=_-]{100,}",
    ),
    (
        "planetscale",
        "PlanetScale token",
        r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,}",
    ),
    (
        "supabase",
        "Supabase key",
        r"sb[ps]_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,}",
    ),
    (
        "docker",
        "Docker token",
        r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,}",
    ),
    (
        "azure",
        "Azure key",
        r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}",
    ),
    (
        "jwt",
        "JSON web token",
        r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{10,}",
    ),
];

static TOKENS: LazyLock<Regex> = LazyLock::new(|| {
    let any = KINDS
        .iter()
        .map(|(name, _, pattern)| format!("(?P<{name}>{pattern})"));
    compile(&format!(
        r"(?-u:\b)(?:{})",
        any.collect::<Vec<_>>().join("|")
    ))
});

static PEM: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)",
    )
});

static URL_PASSWORD: LazyLock<Regex> = LazyLock::new(|| {
    compile(r"(?P<head>(?-u:\b)[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@?#]*:)(?P<value>[^\s/@]+)@")
});

static HEADER: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)(?P<head>(?-u:\b)(?:bearer|basic|authorization:[ \t]*[a-z]+)[ \t]+)(?P<value>[A-Za-z0-9+/=_.~-]{12,})",
    )
});

static ASSIGNMENT: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r#"(?ix)
        (?P<head>
            (?-u:\b) (?P<name> [A-Za-z0-9_.-]* (?: passw(?:or)?d | passphrase | pwd | secret | token
                | api[_-]?key | access[_-]?key | account[_-]?key | private[_-]?key | auth[_-]?key
                | encryption[_-]?key | signing[_-]?key | client[_-]?secret | credential ) (?:[_-]?[A-Za-z0-9_]{1,8})?? )
            ["']? \s* (?: := | => | [:=] ) \s*
        )
        (?: (?P<quote>["'`]) (?P<quoted>[^"'`\n]{4,}) ["'`] | (?P<bare>[^\s"'`,;(){}\[\]<>]{6,}) )"#,
    )
});

#[expect(
    clippy::expect_used,
    reason = "the patterns are constants, and tests compile each"
)]
fn compile(pattern: &str) -> Regex {
    /// The cache of each pattern's automaton, per thread that uses it.
    const CACHE_BYTES: usize = 256 << 10;
    RegexBuilder::new(pattern)
        .dfa_size_limit(CACHE_BYTES)
        .build()
        .expect("a constant pattern compiles")
}

/// Tells whether a value is more than a word: long enough, letters and digits mixed, and no
/// reference to somewhere else.
fn looks_secret(value: &str, least: usize) -> bool {
    let has = |test: fn(&char) -> bool| value.chars().any(|c| test(&c));
    value.chars().count() >= least
        && has(char::is_ascii_digit)
        && has(char::is_ascii_alphabetic)
        && !is_placeholder(value)
}

fn is_placeholder(value: &str) -> bool {
    let lower = value.to_lowercase();
    let refers = [
        "$", "<", "%", "{", "/", "./", "~/", "file:", "cmd:", "env:", "http:", "https:",
    ];
    let says_so = [
        "[masked",
        "example",
        "placeholder",
        "your",
        "xxx",
        "***",
        "...",
        "redacted",
        "changeme",
        "process.env",
        "os.environ",
        "getenv",
        "env::",
        "secrets.",
        "vault:",
        "config.",
    ];
    refers.iter().any(|head| lower.starts_with(head)) || says_so.iter().any(|s| lower.contains(s))
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

    #[test]
    fn every_pattern_compiles() {
        assert!(TOKENS.as_str().len() > 1000);
        assert_eq!(mask("").redactions, 0);
    }
}
