//! How a memory rises: from the raw layer to what a scene shares, and on to the principles of the
//! project.
//!
//! The paper counts deliveries, which are the sender's doing. Confirmation is the receivers'; it
//! suffices by itself (HyphaeDB paper, §4.3).

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::{
    cell::{Cell, CellType, Fingerprint, Layer, Status, Visibility},
    ids::{CellId, CredentialId, NodeId},
};

/// To how many nodes of one scene a cell was delivered that rises to the layer of scenes.
pub const NODES: usize = 5;
/// How many confirm a cell that rises to the layer of scenes.
pub const CONFIRM_L1: usize = 2;
/// In how many scenes a cell is that rises to the layer of the project.
pub const SCENES: usize = 3;
/// How many confirm a cell that rises to the layer of the project.
pub const CONFIRM_L2: usize = 3;
/// The least salience of what rises to the layer of the project.
pub const SALIENCE_L2: f64 = 0.8;

/// What is known of a cell that may rise.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'a> {
    /// The cell.
    pub cell: &'a Cell,
    /// The nodes of its layer that changes of its present text were delivered to, and the scene
    /// of each; of a scene, the scene itself. A node may be named several times.
    pub delivered: &'a [(NodeId, Option<NodeId>)],
    /// Who confirmed its present text, or that of a cell that it rose from. Somebody may be named
    /// several times.
    pub confirmed_by: &'a [CredentialId],
    /// Whether an open conflict is about it, or about a cell that it rose from.
    pub disputed: bool,
    /// Whether it has risen from its layer before, even if what it became is gone.
    pub risen: bool,
}

/// That a cell rises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rise {
    /// Where to.
    pub to: Layer,
    /// Why.
    pub ground: Ground,
}

/// Why a cell rises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// So many have confirmed it, its author not counted.
    Confirmed(usize),
    /// It was delivered to so many nodes of one scene: of several, the one with the most, and then
    /// the oldest.
    Delivered {
        /// The scene.
        scene: NodeId,
        /// To how many.
        nodes: usize,
    },
    /// It is in so many scenes.
    Present(usize),
}

/// Why a cell does not rise: the first reason that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hindrance {
    /// There is no higher layer.
    Highest,
    /// Only its author can see it, or it is not active.
    Hidden,
    /// Cells of its type stay on its layer.
    Type,
    /// It is not salient enough.
    Salience,
    /// It has risen before.
    Risen,
    /// An open conflict is about it.
    Disputed,
    /// Too few know or confirm it.
    Unproven,
}

/// Tells whether a cell rises by one layer.
///
/// # Errors
/// [`Hindrance`] says why it does not.
pub fn rises(standing: &Standing<'_>) -> Result<Rise, Hindrance> {
    let cell = standing.cell;
    let to = above(cell.layer).ok_or(Hindrance::Highest)?;
    if cell.status != Status::Active || cell.visibility == Visibility::Private {
        return Err(Hindrance::Hidden);
    }
    if !may_rise(cell.cell_type, to) {
        return Err(Hindrance::Type);
    }
    if to == Layer::L2 && cell.salience.get() < SALIENCE_L2 {
        return Err(Hindrance::Salience);
    }
    if standing.risen {
        return Err(Hindrance::Risen);
    }
    if standing.disputed {
        return Err(Hindrance::Disputed);
    }
    let ground = ground(standing, to).ok_or(Hindrance::Unproven)?;
    Ok(Rise { to, ground })
}

/// Returns the layer above one.
pub const fn above(layer: Layer) -> Option<Layer> {
    match layer {
        Layer::L0 => Some(Layer::L1),
        Layer::L1 => Some(Layer::L2),
        Layer::L2 => None,
    }
}

const fn may_rise(cell_type: CellType, to: Layer) -> bool {
    match cell_type {
        CellType::Decision | CellType::Constraint => true,
        CellType::Pattern | CellType::Lesson => matches!(to, Layer::L1),
        CellType::Risk
        | CellType::Fact
        | CellType::Preference
        | CellType::Context
        | CellType::Task => false,
    }
}

fn ground(standing: &Standing<'_>, to: Layer) -> Option<Ground> {
    let author = standing.cell.author;
    let others: BTreeSet<CredentialId> = standing.confirmed_by.iter().copied().collect();
    let confirmed = others.iter().filter(|other| **other != author).count();
    let enough = if to == Layer::L2 {
        CONFIRM_L2
    } else {
        CONFIRM_L1
    };
    if confirmed >= enough {
        return Some(Ground::Confirmed(confirmed));
    }
    let mut scenes: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
    for (node, scene) in standing.delivered {
        if let Some(scene) = scene
            && *node != standing.cell.id.into()
        {
            scenes.entry(*scene).or_default().insert(*node);
        }
    }
    if to == Layer::L2 {
        return (scenes.len() >= SCENES).then_some(Ground::Present(scenes.len()));
    }
    let most = scenes
        .into_iter()
        .map(|(scene, nodes)| (nodes.len(), scene))
        .max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
    let (nodes, scene) = most.filter(|(nodes, _)| *nodes >= NODES)?;
    Some(Ground::Delivered { scene, nodes })
}

/// Returns the cell that stands for another one on a higher layer: it says the same, to the same
/// readers, in the same author's name, and begins a history of its own. It stands for no topic,
/// which the cell below keeps.
pub fn risen(source: &Cell, to: Layer, id: CellId, at: Timestamp) -> Cell {
    Cell {
        id,
        layer: to,
        status: Status::Active,
        revision: 1,
        content_revision: 1,
        topic: None,
        created_at: at,
        updated_at: at,
        ..source.clone()
    }
}

/// What becomes of a risen cell when a cell that it rose from changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Follows {
    /// It is as it should be.
    Stays,
    /// It comes to this state.
    Becomes(Box<Cell>),
    /// It is removed for good, with all that it is linked to.
    Goes,
}

/// Returns what becomes of a risen cell, given those that it rose from as they are now, without
/// the erased ones.
///
/// It is what the first of them is that says the same, an active one before others. If none says
/// the same any more, it is superseded: what it earned, it earned for its text. If all are
/// erased, so is it.
pub fn follows(risen: &Cell, sources: &[Cell], at: Timestamp) -> Follows {
    let mut same: Vec<&Cell> = (sources.iter())
        .filter(|source| source.content == risen.content)
        .collect();
    same.sort_by_key(|source| (source.status != Status::Active, source.id));
    let mut next = match same.first() {
        _ if sources.is_empty() => return Follows::Goes,
        Some(source) => Cell {
            salience: source.salience,
            confidence: source.confidence,
            visibility: source.visibility,
            status: source.status,
            tags: source.tags.clone(),
            validity: source.validity,
            verified_at: source.verified_at.max(risen.verified_at),
            ..risen.clone()
        },
        None => Cell {
            status: Status::Superseded,
            ..risen.clone()
        },
    };
    if next == *risen {
        return Follows::Stays;
    }
    next.revision = risen.revision.saturating_add(1);
    next.updated_at = risen.updated_at.max(at);
    Follows::Becomes(Box::new(next))
}

/// Memories that say the same on several layers, shown as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Twins<T> {
    /// The one of the highest layer, and of these the first.
    pub shown: T,
    /// The others, in their order.
    pub others: Vec<T>,
}

/// Gathers what says the same, in the order in which each text is found first.
pub fn gather<T>(found: Vec<T>, key: impl Fn(&T) -> (Fingerprint, Layer)) -> Vec<Twins<T>> {
    let mut all: Vec<Twins<T>> = Vec::new();
    for item in found {
        let (text, layer) = key(&item);
        match all.iter_mut().find(|twins| key(&twins.shown).0 == text) {
            None => all.push(Twins {
                shown: item,
                others: Vec::new(),
            }),
            Some(twins) if key(&twins.shown).1 < layer => {
                let lower = std::mem::replace(&mut twins.shown, item);
                twins.others.insert(0, lower);
            }
            Some(twins) => twins.others.push(item),
        }
    }
    all
}

#[cfg(test)]
mod tests;
