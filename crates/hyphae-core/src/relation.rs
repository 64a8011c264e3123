//! Links that agents give: one memory supports another, contradicts it, replaces it.

use std::{fmt, str::FromStr};

use jiff::Timestamp;

use crate::{
    cell::{BadValue, Share},
    ids::{CellId, CredentialId, EdgeId},
    text,
};

/// What one memory is to another. The order is the one in which kinds are always listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RelationKind {
    /// It gives the other weight.
    Supports,
    /// Both cannot be true.
    Contradicts,
    /// It says the same more exactly.
    Refines,
    /// It takes the other's place.
    Supersedes,
    /// It holds only while the other does.
    DependsOn,
    /// It follows from the other.
    CausedBy,
    /// It is an instance of the other.
    ExampleOf,
    /// They belong together.
    Related,
}

impl RelationKind {
    /// All kinds, in their order.
    pub const ALL: [Self; 8] = [
        Self::Supports,
        Self::Contradicts,
        Self::Refines,
        Self::Supersedes,
        Self::DependsOn,
        Self::CausedBy,
        Self::ExampleOf,
        Self::Related,
    ];

    /// Returns the name as it is written everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Supports => "supports",
            Self::Contradicts => "contradicts",
            Self::Refines => "refines",
            Self::Supersedes => "supersedes",
            Self::DependsOn => "depends_on",
            Self::CausedBy => "caused_by",
            Self::ExampleOf => "example_of",
            Self::Related => "related",
        }
    }
}

impl fmt::Display for RelationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for RelationKind {
    type Err = BadValue;

    /// Reads a name in any case, with `-` or a space for `_`.
    fn from_str(text: &str) -> Result<Self, BadValue> {
        let plain = text.trim().replace(['-', ' '], "_");
        Self::ALL
            .into_iter()
            .find(|kind| kind.name().eq_ignore_ascii_case(&plain))
            .ok_or_else(|| BadValue::new(text, text::join_names(Self::ALL.map(Self::name))))
    }
}

/// A link between two memories that somebody gave. There is one for each pair, direction and
/// kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Relation {
    /// Its id.
    pub id: EdgeId,
    /// The memory that it speaks of.
    pub from: CellId,
    /// What that is to the other.
    pub kind: RelationKind,
    /// The other memory.
    pub to: CellId,
    /// How strong the link is, above 0.
    pub weight: Share,
    /// Who gave it.
    pub author: CredentialId,
    /// When.
    pub created_at: Timestamp,
    /// Why, in the giver's words.
    pub reason: Option<String>,
    /// Whether it holds; it does not once it was retracted.
    pub active: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_read_in_any_spelling() {
        assert_eq!("Depends-On".parse(), Ok(RelationKind::DependsOn));
        for kind in RelationKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        let error = "likes".parse::<RelationKind>().unwrap_err().to_string();
        assert!(error.contains("supports"), "{error}");
    }
}
