//! A memory, called a cell, and the values it is made of.
//!
//! A value that exists is a legal value: each constructor checks, nothing later has to.

use std::{fmt, str::FromStr};

use jiff::Timestamp;

use crate::{
    ids::{CellId, CredentialId, SessionId},
    label::{Tags, Topic},
    scope::Project,
    text,
};

/// What kind of knowledge a cell holds. The order is the one in which kinds are always listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum CellType {
    /// A choice that was made.
    Decision,
    /// A limit that holds.
    Constraint,
    /// Something that may go wrong.
    Risk,
    /// Something that keeps recurring.
    Pattern,
    /// Something that was learned.
    Lesson,
    /// Something that is so.
    #[default]
    Fact,
    /// What somebody likes better.
    Preference,
    /// Surroundings of the work.
    Context,
    /// Something to be done.
    Task,
}

impl CellType {
    /// All kinds, in their order.
    pub const ALL: [Self; 9] = [
        Self::Decision,
        Self::Constraint,
        Self::Risk,
        Self::Pattern,
        Self::Lesson,
        Self::Fact,
        Self::Preference,
        Self::Context,
        Self::Task,
    ];

    /// Returns the name as it is written everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Decision => "Decision",
            Self::Constraint => "Constraint",
            Self::Risk => "Risk",
            Self::Pattern => "Pattern",
            Self::Lesson => "Lesson",
            Self::Fact => "Fact",
            Self::Preference => "Preference",
            Self::Context => "Context",
            Self::Task => "Task",
        }
    }
}

impl fmt::Display for CellType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for CellType {
    type Err = BadValue;

    /// Reads a name in any case.
    fn from_str(text: &str) -> Result<Self, BadValue> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name().eq_ignore_ascii_case(text))
            .ok_or_else(|| BadValue::new(text, text::join_names(Self::ALL.map(Self::name))))
    }
}

/// How far a cell has risen: raw (`L0`), shared by a scene (`L1`), a principle of the project
/// (`L2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Layer {
    /// Raw cells; every cell begins here.
    #[default]
    L0,
    /// Scenes and promoted patterns.
    L1,
    /// Decisions and constraints of the whole project.
    L2,
}

impl Layer {
    /// All layers, lowest first.
    pub const ALL: [Self; 3] = [Self::L0, Self::L1, Self::L2];

    /// Returns the name as it is written everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::L0 => "L0",
            Self::L1 => "L1",
            Self::L2 => "L2",
        }
    }

    /// Returns the most semantic links that a node may keep on this layer
    /// (HyphaeDB paper, §3.4: M of each layer's graph).
    pub const fn degree(self) -> usize {
        match self {
            Self::L0 => 24,
            Self::L1 => 16,
            Self::L2 => 8,
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Layer {
    type Err = BadValue;

    /// Reads a name in any case.
    fn from_str(text: &str) -> Result<Self, BadValue> {
        Self::ALL
            .into_iter()
            .find(|layer| layer.name().eq_ignore_ascii_case(text))
            .ok_or_else(|| BadValue::new(text, text::join_names(Self::ALL.map(Self::name))))
    }
}

/// A share between nothing and all, in [0, 1]; never NaN, never a negative zero.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Share(f64);

impl Share {
    /// One half, the salience of a cell that does not say otherwise.
    pub const HALF: Self = Self(0.5);
    /// All, the confidence of a cell that does not say otherwise.
    pub const FULL: Self = Self(1.0);

    /// Returns the share, or none outside [0, 1].
    pub fn new(value: f64) -> Option<Self> {
        // Adding 0.0 turns -0.0 into 0.0, so that equal shares have equal bits.
        (0.0..=1.0).contains(&value).then_some(Self(value + 0.0))
    }

    /// Returns the number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl FromStr for Share {
    type Err = BadValue;

    fn from_str(text: &str) -> Result<Self, BadValue> {
        text.parse::<f64>()
            .ok()
            .and_then(Self::new)
            .ok_or_else(|| BadValue::new(text, "a number from 0 to 1, such as 0.5".to_owned()))
    }
}

/// Who may recall a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Visibility {
    /// Every credential of the tenant, in the cell's project.
    #[default]
    Project,
    /// Its author only, in the cell's project.
    Private,
    /// Every credential of the tenant, in every project.
    Shared,
}

/// Whether a cell takes part in recall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Status {
    /// It does.
    #[default]
    Active,
    /// A newer cell has taken its place.
    Superseded,
    /// Its author took it back.
    Retracted,
}

/// The text of a memory: 1 to [`Content::MAX_CHARS`] characters, in NFC, without white space
/// around it and without NUL.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Content(String);

impl Visibility {
    /// All, the narrowest first.
    pub const ALL: [Self; 3] = [Self::Private, Self::Project, Self::Shared];

    /// Returns the name as it is written everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Project => "project",
            Self::Shared => "shared",
        }
    }
}

impl fmt::Display for Visibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Visibility {
    type Err = BadValue;

    /// Reads a name in any case.
    fn from_str(text: &str) -> Result<Self, BadValue> {
        Self::ALL
            .into_iter()
            .find(|visibility| visibility.name().eq_ignore_ascii_case(text.trim()))
            .ok_or_else(|| BadValue::new(text, text::join_names(Self::ALL.map(Self::name))))
    }
}

impl Status {
    /// All, in the order of the numbers that stores keep.
    pub const ALL: [Self; 3] = [Self::Active, Self::Superseded, Self::Retracted];

    /// Returns the name as it is written everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Superseded => "superseded",
            Self::Retracted => "retracted",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Status {
    type Err = BadValue;

    /// Reads a name in any case.
    fn from_str(text: &str) -> Result<Self, BadValue> {
        Self::ALL
            .into_iter()
            .find(|status| status.name().eq_ignore_ascii_case(text.trim()))
            .ok_or_else(|| BadValue::new(text, text::join_names(Self::ALL.map(Self::name))))
    }
}

impl Content {
    /// The most characters (Unicode scalar values) that a memory may have.
    pub const MAX_CHARS: usize = 8000;

    /// Normalises and checks a text.
    ///
    /// # Errors
    /// [`BadContent`] says what is wrong and how to go on.
    pub fn new(text: &str) -> Result<Self, BadContent> {
        let normal = text::normalise(text);
        if normal.is_empty() {
            return Err(BadContent::Empty);
        }
        if normal.contains('\0') {
            return Err(BadContent::Nul);
        }
        let chars = normal.chars().count();
        if chars > Self::MAX_CHARS {
            return Err(BadContent::TooLong { chars });
        }
        Ok(Self(normal))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the hash by which identical texts are found: BLAKE3 of the normalised text.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.0)
    }
}

/// Identifies a normalised text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// Returns the fingerprint of a text that is already normalised.
    pub fn of(normal: &str) -> Self {
        Self(*blake3::hash(normal.as_bytes()).as_bytes())
    }
}

/// Why a text cannot be a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadContent {
    /// Nothing but white space.
    #[error("a memory cannot be empty; write its text behind the flags")]
    Empty,
    /// More characters than allowed.
    #[error(
        "a memory has at most {max} characters, this one has {chars}; store it in parts",
        max = Content::MAX_CHARS
    )]
    TooLong {
        /// How many it has.
        chars: usize,
    },
    /// A NUL character.
    #[error("a memory cannot contain the NUL character (U+0000); remove it")]
    Nul,
}

/// A value that was not among the allowed ones.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not {allowed}")]
pub struct BadValue {
    /// What was given, shortened.
    pub value: String,
    /// What is allowed, for people.
    pub allowed: String,
}

impl BadValue {
    /// Describes a value that was not `allowed`.
    pub fn new(value: &str, allowed: String) -> Self {
        Self {
            value: text::shorten(value, 40),
            allowed,
        }
    }
}

/// Who vouches for what a memory says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Source {
    /// A person said it.
    #[default]
    UserStated,
    /// An agent concluded it.
    AgentInferred,
    /// A tool printed it.
    ToolOutput,
    /// It was brought in from elsewhere.
    Imported,
}

impl Source {
    /// All sources, in their order.
    pub const ALL: [Self; 4] = [
        Self::UserStated,
        Self::AgentInferred,
        Self::ToolOutput,
        Self::Imported,
    ];

    /// Returns the name as it is written everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UserStated => "user_stated",
            Self::AgentInferred => "agent_inferred",
            Self::ToolOutput => "tool_output",
            Self::Imported => "imported",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Source {
    type Err = BadValue;

    /// Reads a name in any case, with `-` or a space for `_`.
    fn from_str(text: &str) -> Result<Self, BadValue> {
        let plain = text.trim().replace(['-', ' '], "_");
        Self::ALL
            .into_iter()
            .find(|source| source.name().eq_ignore_ascii_case(&plain))
            .ok_or_else(|| BadValue::new(text, text::join_names(Self::ALL.map(Self::name))))
    }
}

/// When a memory is true: from one moment (inclusive) until another (exclusive), either open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Validity {
    from: Option<Timestamp>,
    until: Option<Timestamp>,
}

impl Validity {
    /// True at all times.
    pub const ALWAYS: Self = Self {
        from: None,
        until: None,
    };

    /// Returns the time between two moments, or none if it would be empty.
    pub fn new(from: Option<Timestamp>, until: Option<Timestamp>) -> Option<Self> {
        let empty = matches!((from, until), (Some(from), Some(until)) if from >= until);
        (!empty).then_some(Self { from, until })
    }

    /// Returns the first moment.
    pub const fn from(self) -> Option<Timestamp> {
        self.from
    }

    /// Returns the moment after the last.
    pub const fn until(self) -> Option<Timestamp> {
        self.until
    }

    /// Tells whether a moment lies in it.
    pub fn contains(self, at: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= at) && self.until.is_none_or(|until| at < until)
    }
}

/// Where a memory came from, as far as it is known. It is indexed beside the text, so that a
/// memory is found by who said it and when.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// Who vouches for it.
    pub source: Source,
    /// The conversation it was stored from.
    pub session: Option<SessionId>,
    /// Its place in that conversation, from 0.
    pub position: Option<u32>,
    /// When it was said, if that was told (an import says so; a person who types does not).
    pub said_at: Option<Timestamp>,
}

/// A memory as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Its id.
    pub id: CellId,
    /// What it says.
    pub content: Content,
    /// What kind of knowledge that is.
    pub cell_type: CellType,
    /// How important it is.
    pub salience: Share,
    /// How certain it is.
    pub confidence: Share,
    /// Whose key wrote it.
    pub author: CredentialId,
    /// What it is filed under.
    pub project: Project,
    /// How far it has risen.
    pub layer: Layer,
    /// Who may recall it.
    pub visibility: Visibility,
    /// Whether it takes part in recall.
    pub status: Status,
    /// 1 when new, one more with each change.
    pub revision: u32,
    /// The revision at which it came to say something else; a confirmation of an earlier one
    /// does not count.
    pub content_revision: u32,
    /// What it is about, if it stands for a topic.
    pub topic: Option<Topic>,
    /// What it is grouped under.
    pub tags: Tags,
    /// When it is true.
    pub validity: Validity,
    /// When somebody last confirmed it.
    pub verified_at: Option<Timestamp>,
    /// Where it came from.
    pub origin: Origin,
    /// When it was stored.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_any_case_and_written_in_one() {
        for kind in CellType::ALL {
            assert_eq!(kind.name().to_uppercase().parse(), Ok(kind));
            assert_eq!(kind.to_string().to_lowercase().parse(), Ok(kind));
        }
        assert_eq!("l2".parse(), Ok(Layer::L2));
    }

    #[test]
    fn a_wrong_name_says_what_is_allowed() {
        let error = "Decisions".parse::<CellType>().unwrap_err().to_string();
        assert_eq!(
            error,
            "`Decisions` is not Decision, Constraint, Risk, Pattern, Lesson, Fact, Preference, Context or Task"
        );
    }

    #[test]
    fn a_share_is_between_nothing_and_all() {
        for (text, want) in [
            (".5", 0.5),
            ("0", 0.0),
            ("-0", 0.0),
            ("1", 1.0),
            ("1e-1", 0.1),
        ] {
            let share: Share = text.parse().unwrap();
            assert_eq!(share.get().to_bits(), f64::to_bits(want), "{text}");
        }
        for text in [
            "NaN", "nan", "inf", "1.0001", "-0.1", "", " ", "0,5", "half", "0.5.5",
        ] {
            assert!(text.parse::<Share>().is_err(), "{text}");
        }
    }

    #[test]
    fn content_is_normalised_and_bounded() {
        assert_eq!(Content::new(" cafe\u{301}\n").unwrap().as_str(), "café");
        assert_eq!(Content::new(" \n\t "), Err(BadContent::Empty));
        assert_eq!(Content::new("a\0b"), Err(BadContent::Nul));
        assert!(Content::new(&"é".repeat(8000)).is_ok());
        assert_eq!(
            Content::new(&"é".repeat(8001)),
            Err(BadContent::TooLong { chars: 8001 })
        );
    }
}
