//! What people and agents ask of the memory.

use std::fmt;

use jiff::Timestamp;

use crate::{
    cell::{CellType, Origin, Share, Validity, Visibility},
    ids::{CellId, EdgeId},
    label::{Tag, Tags, Topic},
    recall::{Distance, Filter},
    relation::RelationKind,
};

/// A memory as somebody hands it in.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMemory {
    /// What it says; normalised and checked by [`Memories::store`](super::Memories::store).
    pub content: String,
    /// What kind of knowledge it is.
    pub cell_type: CellType,
    /// How important it is.
    pub salience: Share,
    /// How certain it is.
    pub confidence: Share,
    /// Who may recall it.
    pub visibility: Visibility,
    /// Where it comes from; `position` is counted by the engine.
    pub origin: Origin,
    /// What it is about: it takes the place of the memory that stands for this topic.
    pub topic: Option<Topic>,
    /// What it is grouped under.
    pub tags: Tags,
    /// When it is true.
    pub validity: Validity,
    /// A name that the writer gives to this request, so that the same request repeated adds
    /// nothing.
    pub key: Option<String>,
}

impl NewMemory {
    /// Makes a memory with the defaults of every surface: a `Fact` of salience 0.5, certain,
    /// visible in its project, true at all times.
    pub fn new(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            cell_type: CellType::default(),
            salience: Share::HALF,
            confidence: Share::FULL,
            visibility: Visibility::default(),
            origin: Origin::default(),
            topic: None,
            tags: Tags::default(),
            validity: Validity::ALWAYS,
            key: None,
        }
    }
}

/// What is to be recalled.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallRequest {
    /// What to look for; none for what matters most.
    pub query: Option<String>,
    /// The most hits wanted.
    pub k: HitCount,
    /// Which cells may answer.
    pub filter: Filter,
    /// Only hits at this distance or nearer.
    pub max_distance: Option<Distance>,
}

/// How many hits are wanted, 1 to [`HitCount::MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HitCount(u16);

impl HitCount {
    /// The most hits of one answer.
    pub const MAX: u16 = 100;

    /// Returns the count, or none if it is 0 or more than [`Self::MAX`].
    pub fn new(n: u16) -> Option<Self> {
        (1..=Self::MAX).contains(&n).then_some(Self(n))
    }

    /// Returns the number.
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl Default for HitCount {
    /// Ten.
    fn default() -> Self {
        Self(10)
    }
}

impl fmt::Display for HitCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A change to a memory; what is none stays as it is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Patch {
    /// What it says from now on.
    pub content: Option<String>,
    /// What kind of knowledge it is.
    pub cell_type: Option<CellType>,
    /// How important it is.
    pub salience: Option<Share>,
    /// Tags that it gets.
    pub add_tags: Vec<Tag>,
    /// Tags that it loses.
    pub remove_tags: Vec<Tag>,
    /// When it ceases to be true.
    pub valid_until: Option<Timestamp>,
    /// Why it is changed.
    pub reason: Option<String>,
}

/// A link that somebody gives.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRelation {
    /// The memory that it speaks of.
    pub from: CellId,
    /// The other memory.
    pub to: CellId,
    /// What the first is to the other.
    pub kind: RelationKind,
    /// How strong the link is, above 0.
    pub weight: Share,
    /// Why.
    pub reason: Option<String>,
}

/// How something is to be forgotten, or no longer forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Forgetting {
    /// It takes no part in recall any more; can be undone.
    Retract,
    /// It is removed for good.
    Erase,
    /// What was retracted or superseded takes part again.
    Restore,
}

impl Forgetting {
    /// All ways.
    pub const ALL: [Self; 3] = [Self::Retract, Self::Erase, Self::Restore];

    /// Returns the name as it is written everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Retract => "retract",
            Self::Erase => "erase",
            Self::Restore => "restore",
        }
    }
}

/// What is to be forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A memory.
    Cell(CellId),
    /// A link between memories.
    Relation(EdgeId),
}

/// What is to be forgotten, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgetRequest {
    /// What.
    pub targets: Vec<Target>,
    /// How.
    pub mode: Forgetting,
    /// Whether it is done; else only shown.
    pub apply: bool,
    /// The token of the preview, which an erasure needs.
    pub token: Option<String>,
    /// Why.
    pub reason: Option<String>,
}
