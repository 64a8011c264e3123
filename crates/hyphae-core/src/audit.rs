//! Who changed the memory, when, and from where.

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use uuid::Uuid;

use crate::{
    cell::BadValue,
    ids::{AuditId, CredentialId, DiffId, SessionId},
    scope::Project,
    text,
};

/// What somebody did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// Stored a memory.
    Store,
    /// Changed one.
    Update,
    /// Linked two.
    Link,
    /// Confirmed some.
    Confirm,
    /// Took some back.
    Retract,
    /// Removed some for good.
    Erase,
    /// Brought some back.
    Restore,
    /// Decided a conflict.
    Resolve,
    /// Stored a memory that was brought in from elsewhere.
    Import,
}

impl Action {
    /// All actions, in the order of the numbers that stores keep.
    pub const ALL: [Self; 9] = [
        Self::Store,
        Self::Update,
        Self::Link,
        Self::Confirm,
        Self::Retract,
        Self::Erase,
        Self::Restore,
        Self::Resolve,
        Self::Import,
    ];

    /// Returns the name as it is written everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Update => "update",
            Self::Link => "link",
            Self::Confirm => "confirm",
            Self::Retract => "retract",
            Self::Erase => "erase",
            Self::Restore => "restore",
            Self::Resolve => "resolve",
            Self::Import => "import",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Action {
    type Err = BadValue;

    /// Reads a name in any case.
    fn from_str(text: &str) -> Result<Self, BadValue> {
        Self::ALL
            .into_iter()
            .find(|action| action.name().eq_ignore_ascii_case(text))
            .ok_or_else(|| BadValue::new(text, text::join_names(Self::ALL.map(Self::name))))
    }
}

/// Where a write came from, beside the credential that made it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Via {
    /// The conversation it was made in.
    pub session: Option<SessionId>,
    /// The program that asked for it, as it names itself, with its version; shortened.
    pub client: Option<String>,
}

/// One write, as it is kept for those who audit. It holds no text of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// Its id.
    pub id: AuditId,
    /// When.
    pub at: Timestamp,
    /// What was done.
    pub action: Action,
    /// Who did it.
    pub credential: CredentialId,
    /// From where.
    pub via: Via,
    /// In which project.
    pub project: Project,
    /// The memories, edges and conflicts it touched, each once, in the order of its steps; behind
    /// an edge or a conflict, both of its ends. What a step passed over is not among them.
    pub subjects: Vec<Uuid>,
    /// The diffs that tell of it; none for what writes none, such as a link.
    pub diffs: Vec<DiffId>,
    /// Why, in the writer's words, with secrets masked.
    pub reason: Option<String>,
    /// How many secrets were masked in what was written.
    pub redactions: u32,
}
