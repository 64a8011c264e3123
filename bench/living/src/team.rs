//! A generated team: who works on what, and what they write. The same seed gives the same team.

use hyphae_core::cell::CellType;

/// Topics of a software team, each with things that its memories speak of.
pub const TOPICS: [(&str, [&str; 8]); 20] = [
    (
        "billing",
        [
            "invoice",
            "refund",
            "payment provider",
            "tax rate",
            "subscription plan",
            "currency conversion",
            "dunning mail",
            "credit note",
        ],
    ),
    (
        "login",
        [
            "password reset",
            "session cookie",
            "single sign-on",
            "login form",
            "one-time code",
            "identity provider",
            "account lockout",
            "refresh token",
        ],
    ),
    (
        "database",
        [
            "Postgres index",
            "schema migration",
            "connection pool",
            "slow query",
            "replica lag",
            "vacuum run",
            "foreign key",
            "backup restore",
        ],
    ),
    (
        "deployment",
        [
            "release train",
            "rollback",
            "canary server",
            "container image",
            "Helm chart",
            "deployment window",
            "feature flag",
            "staging cluster",
        ],
    ),
    (
        "search",
        [
            "search index",
            "ranking score",
            "synonym list",
            "query parser",
            "typo tolerance",
            "facet filter",
            "reindex job",
            "relevance test",
        ],
    ),
    (
        "mobile",
        [
            "Android build",
            "iOS app",
            "push notification",
            "app store review",
            "offline mode",
            "crash report",
            "deep link",
            "splash screen",
        ],
    ),
    (
        "networking",
        [
            "load balancer",
            "TLS certificate",
            "DNS record",
            "firewall rule",
            "proxy timeout",
            "IPv6 address",
            "rate limit",
            "network partition",
        ],
    ),
    (
        "analytics",
        [
            "event pipeline",
            "dashboard",
            "funnel report",
            "tracking plan",
            "data warehouse",
            "cohort analysis",
            "sampling rate",
            "metric definition",
        ],
    ),
    (
        "mail",
        [
            "mail template",
            "bounce handling",
            "spam score",
            "newsletter",
            "DKIM signature",
            "unsubscribe link",
            "mail queue",
            "sender domain",
        ],
    ),
    (
        "design",
        [
            "colour palette",
            "button style",
            "dark mode",
            "icon set",
            "typography",
            "contrast ratio",
            "design token",
            "layout grid",
        ],
    ),
    (
        "testing",
        [
            "flaky test",
            "test fixture",
            "code coverage",
            "browser test",
            "snapshot test",
            "mock server",
            "load test",
            "test data",
        ],
    ),
    (
        "privacy",
        [
            "consent banner",
            "data export",
            "personal data",
            "retention period",
            "deletion request",
            "audit trail",
            "data processor",
            "anonymised record",
        ],
    ),
    (
        "caching",
        [
            "Redis cluster",
            "cache key",
            "eviction policy",
            "stale entry",
            "cache stampede",
            "hit rate",
            "CDN purge",
            "warm-up script",
        ],
    ),
    (
        "logging",
        [
            "log level",
            "trace id",
            "log shipper",
            "structured log",
            "alert rule",
            "on-call pager",
            "error budget",
            "log retention",
        ],
    ),
    (
        "checkout",
        [
            "shopping cart",
            "shipping address",
            "coupon code",
            "order confirmation",
            "stock reservation",
            "delivery slot",
            "gift card",
            "express checkout",
        ],
    ),
    (
        "machine learning",
        [
            "training run",
            "model weights",
            "feature store",
            "label noise",
            "inference latency",
            "GPU node",
            "evaluation set",
            "prompt template",
        ],
    ),
    (
        "documents",
        [
            "PDF export",
            "file upload",
            "virus scan",
            "document preview",
            "storage bucket",
            "file permission",
            "version history",
            "watermark",
        ],
    ),
    (
        "translation",
        [
            "language file",
            "plural form",
            "right-to-left layout",
            "translator",
            "locale fallback",
            "date format",
            "missing string",
            "glossary",
        ],
    ),
    (
        "hardware",
        [
            "sensor firmware",
            "battery life",
            "Bluetooth pairing",
            "calibration step",
            "over-the-air update",
            "circuit board",
            "temperature probe",
            "serial console",
        ],
    ),
    (
        "support",
        [
            "support ticket",
            "response time",
            "help article",
            "chat widget",
            "escalation path",
            "customer survey",
            "macro reply",
            "ticket queue",
        ],
    ),
];

const FRAMES: [(&str, CellType, f64); 12] = [
    (
        "We decided to handle the {a} before the {b}",
        CellType::Decision,
        0.8,
    ),
    (
        "The {a} must never depend on the {b}",
        CellType::Constraint,
        0.9,
    ),
    (
        "A broken {a} may take the {b} down with it",
        CellType::Risk,
        0.6,
    ),
    (
        "After the incident we learned to check the {a} whenever the {b} changes",
        CellType::Lesson,
        0.7,
    ),
    (
        "The {a} is set up in the same place as the {b}",
        CellType::Fact,
        0.5,
    ),
    (
        "The {b} was slow last week because of the {a}",
        CellType::Fact,
        0.5,
    ),
    (
        "Anna looks after the {a}, Ben after the {b}",
        CellType::Context,
        0.4,
    ),
    (
        "I prefer to look at the {a} first and at the {b} later",
        CellType::Preference,
        0.4,
    ),
    ("Write a guide for the {a} and the {b}", CellType::Task, 0.5),
    (
        "The {a} keeps failing on Mondays when the {b} is busy",
        CellType::Pattern,
        0.6,
    ),
    (
        "We chose a new vendor for the {a}; the {b} stays as it is",
        CellType::Decision,
        0.7,
    ),
    (
        "There is no monitoring yet for the {a} nor for the {b}",
        CellType::Fact,
        0.6,
    ),
];

/// Numbers without a pattern (xorshift), the same for the same seed.
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % n
    }

    pub fn share(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// One thing that somebody writes.
#[derive(Debug)]
pub struct Writing {
    pub author: usize,
    pub topic: usize,
    pub text: String,
    pub cell_type: CellType,
    pub salience: f64,
}

/// A team and all that it writes, in order.
#[derive(Debug)]
pub struct Team {
    /// The topics of each agent.
    pub needs: Vec<[usize; 2]>,
    pub writings: Vec<Writing>,
}

impl Team {
    /// Makes a team up, with at most a few thousand cells: there are 13,440 texts. Most of what an agent writes is about its own topics.
    pub fn new(seed: u64, agents: usize, cells: usize) -> Self {
        let mut dice = Dice::new(seed);
        let mut needs = Vec::new();
        for n in 0..agents {
            let first = n % TOPICS.len();
            let second = (first + 1 + dice.below(TOPICS.len() - 1)) % TOPICS.len();
            needs.push([first, second]);
        }
        let mut writings: Vec<Writing> = Vec::new();
        while writings.len() < cells {
            let author = dice.below(agents);
            let own = dice.share(85);
            let topic = if own {
                needs[author][dice.below(2)]
            } else {
                dice.below(TOPICS.len())
            };
            let (_, things) = TOPICS[topic];
            let a = dice.below(things.len());
            let b = (a + 1 + dice.below(things.len() - 1)) % things.len();
            let (frame, cell_type, salience) = FRAMES[dice.below(FRAMES.len())];
            let text = frame.replace("{a}", things[a]).replace("{b}", things[b]);
            if writings.iter().all(|other| other.text != text) {
                writings.push(Writing {
                    author,
                    topic,
                    text,
                    cell_type,
                    salience,
                });
            }
        }
        Self { needs, writings }
    }
}
