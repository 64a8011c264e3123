//! Two memories that cannot both be true, until somebody decides.

use std::{fmt, str::FromStr};

use jiff::Timestamp;

use crate::{
    cell::BadValue,
    ids::{CellId, ConflictId, CredentialId},
    text,
};

/// How a conflict came to be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConflictKind {
    /// Somebody said so, with a `contradicts` link.
    Stated,
    /// A judge found it.
    Judged,
}

impl ConflictKind {
    /// Returns the name as it is written everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stated => "stated",
            Self::Judged => "judged",
        }
    }
}

/// Which side of a conflict holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The left one; the right one is superseded.
    Left,
    /// The right one; the left one is superseded.
    Right,
    /// Both do after all; neither changes.
    Both,
    /// Neither does; both are retracted.
    Neither,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Self; 4] = [Self::Left, Self::Right, Self::Both, Self::Neither];

    /// Returns the name as it is written everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
            Self::Both => "both",
            Self::Neither => "neither",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Verdict {
    type Err = BadValue;

    /// Reads a name in any case.
    fn from_str(text: &str) -> Result<Self, BadValue> {
        Self::ALL
            .into_iter()
            .find(|verdict| verdict.name().eq_ignore_ascii_case(text.trim()))
            .ok_or_else(|| BadValue::new(text, text::join_names(Self::ALL.map(Self::name))))
    }
}

/// Two memories that cannot both be true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Its id.
    pub id: ConflictId,
    /// One side.
    pub left: CellId,
    /// The other side.
    pub right: CellId,
    /// How it came to be known.
    pub kind: ConflictKind,
    /// Why, in the words of whoever opened it.
    pub why: Option<String>,
    /// Who opened it.
    pub opened_by: CredentialId,
    /// When.
    pub opened_at: Timestamp,
    /// How it ended; none while it is open.
    pub resolution: Option<Resolution>,
}

/// How a conflict ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// Which side holds.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// Who decided.
    pub by: CredentialId,
    /// When.
    pub at: Timestamp,
}
