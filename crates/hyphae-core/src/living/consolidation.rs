//! What gathers by itself: scenes where memories lie close, patterns where several agents say the
//! same. No model, the same result for the same memories.
//!
//! [`plan`] tells what is to be written; nothing is written by it. A plan is a value that can be
//! applied, undone and kept. What it is made from is what everybody in a project may see: the
//! active cells of one layer that are not private, and not those that consolidation made itself.

mod label;
mod near;
mod patterns;
mod scenes;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use uuid::Uuid;

use crate::{
    cell::{Cell, CellType, Content, Layer, Origin, Share, Source, Status, Visibility},
    ids::{CellId, CredentialId, NodeId},
    ports::Calibration,
    recall::Vector,
};

/// The numbers of a project's consolidation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// From this cosine on two cells belong to one topic.
    pub topic: f32,
    /// From this cosine on two cells may say the same, if their words do.
    pub same: f32,
    /// The least cells of a scene, and of each part that a larger one is split into.
    pub least: usize,
    /// A scene with more cells than this is split, if it has dense parts.
    pub most: usize,
    /// How many agents must say the same before it is a pattern.
    pub agents: usize,
    /// The most sources of a pattern.
    pub sources: usize,
}

impl Rules {
    /// How much further apart than near-duplicates cells may be that say the same.
    const SLACK: f32 = 0.1;

    /// Returns the rules for a model: a topic is what its calibration calls one subject. "The same"
    /// is near the distance of duplicates, since cells of one subject mostly say different things
    /// about it.
    pub fn for_model(calibration: &Calibration) -> Self {
        Self {
            topic: calibration.same_subject_from,
            same: calibration.near_duplicate_from - Self::SLACK,
            least: 3,
            most: 64,
            agents: 3,
            sources: 16,
        }
    }
}

/// A cell as consolidation sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Grain {
    /// The cell.
    pub id: CellId,
    /// Who wrote it.
    pub author: CredentialId,
    /// Its type.
    pub cell_type: CellType,
    /// Its salience as it was given.
    pub salience: Share,
    /// Its vector.
    pub place: Vector,
    /// What it says.
    pub content: Content,
}

/// A topic: cells that lie close together.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// Words that tell it from others, most telling first.
    pub label: String,
    /// The direction of the sum of its cells.
    pub centroid: Vector,
    /// Its cells.
    pub members: BTreeSet<CellId>,
}

/// A cell that says what several agents said.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// Whose text it has: of its sources the one nearest to all others.
    pub text_of: CellId,
    /// Its salience.
    pub salience: Share,
    /// The cells that say the same; a `causal` edge leads from each to the pattern.
    pub sources: BTreeSet<CellId>,
}

/// All that consolidation made in a project and that is there now.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Made {
    /// Scenes, by their nodes.
    pub scenes: BTreeMap<NodeId, Scene>,
    /// Patterns, by their cells.
    pub patterns: BTreeMap<CellId, Pattern>,
}

/// What changed since the last consolidation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Since {
    /// Nothing is known of it: look at everything.
    Ever,
    /// These cells are new, have another text, or are gone.
    Changed(BTreeSet<CellId>),
}

/// What is to be written, in this order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    /// Each thing at most once.
    pub steps: Vec<Step>,
}

/// One thing's way from one state to the next; none is a thing that is not there.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A scene appears, changes or goes.
    Scene {
        /// Its node.
        id: NodeId,
        /// What it was.
        before: Option<Scene>,
        /// What it will be.
        after: Option<Scene>,
    },
    /// A pattern is crystallised, changes or is retracted.
    Pattern {
        /// Its cell.
        id: CellId,
        /// What it was.
        before: Option<Pattern>,
        /// What it will be.
        after: Option<Pattern>,
    },
}

/// A plan was made for another state than it is applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the memory was consolidated by somebody else in the meantime")]
pub struct Stale;

impl Made {
    /// Returns the scene that a cell belongs to: a pattern to that of the cell whose text it has.
    pub fn scene_of(&self, cell: CellId) -> Option<NodeId> {
        let cell = (self.patterns.get(&cell)).map_or(cell, |pattern| pattern.text_of);
        let found = (self.scenes.iter()).find(|(_, scene)| scene.members.contains(&cell));
        found.map(|(id, _)| *id)
    }

    /// Carries a plan out.
    ///
    /// # Errors
    /// [`Stale`], with nothing changed, if anything is not as it was when the plan was made.
    pub fn apply(&mut self, plan: &Plan) -> Result<(), Stale> {
        let fits = plan.steps.iter().all(|step| match step {
            Step::Scene { id, before, .. } => self.scenes.get(id) == before.as_ref(),
            Step::Pattern { id, before, .. } => self.patterns.get(id) == before.as_ref(),
        });
        if !fits {
            return Err(Stale);
        }
        for step in &plan.steps {
            match step.clone() {
                Step::Scene { id, after, .. } => put(&mut self.scenes, id, after),
                Step::Pattern { id, after, .. } => put(&mut self.patterns, id, after),
            }
        }
        Ok(())
    }
}

fn put<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, value: Option<V>) {
    match value {
        Some(value) => map.insert(key, value),
        None => map.remove(&key),
    };
}

impl Plan {
    /// Tells whether nothing is to be written.
    pub const fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns the plan that takes this one back.
    #[must_use]
    pub fn undone(&self) -> Self {
        let back = |step: &Step| match step.clone() {
            Step::Scene { id, before, after } => Step::Scene {
                id,
                before: after,
                after: before,
            },
            Step::Pattern { id, before, after } => Step::Pattern {
                id,
                before: after,
                after: before,
            },
        };
        Self {
            steps: self.steps.iter().rev().map(back).collect(),
        }
    }
}

/// What a consolidation is made from.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The cells, in any order.
    pub grains: &'a [Grain],
    /// What was made before.
    pub made: &'a Made,
    /// What changed since.
    pub since: &'a Since,
    /// Patterns that somebody confirmed or changed: they stay when their sources go.
    pub held: &'a BTreeSet<CellId>,
}

/// Returns what is to be written so that scenes and patterns are those of the cells as they are.
///
/// `opposed` tells that two cells cannot both be true; such cells are never sources of one
/// pattern. `new_id` gives the ids of what is new, in the order of the plan.
pub fn plan(
    input: Input<'_>,
    rules: &Rules,
    opposed: &dyn Fn(CellId, CellId) -> bool,
    new_id: &mut dyn FnMut() -> Uuid,
) -> Plan {
    let field = near::Field::new(
        input
            .grains
            .iter()
            .filter(|grain| !input.made.patterns.contains_key(&grain.id)),
    );
    let mut steps = scenes::plan(&field, input, rules, new_id);
    steps.extend(patterns::plan(&field, input, rules, opposed, new_id));
    Plan { steps }
}

/// Returns the cell of a new pattern. It says what `medoid` says, in the name of its author, and
/// begins on the raw layer: it rises like any other cell.
pub fn pattern_cell(pattern: &Pattern, medoid: &Cell, id: CellId, at: Timestamp) -> Cell {
    Cell {
        id,
        cell_type: CellType::Pattern,
        salience: pattern.salience,
        layer: Layer::L0,
        visibility: Visibility::Project,
        status: Status::Active,
        revision: 1,
        content_revision: 1,
        topic: None,
        verified_at: None,
        origin: Origin {
            source: Source::AgentInferred,
            ..Origin::default()
        },
        created_at: at,
        updated_at: at,
        ..medoid.clone()
    }
}
