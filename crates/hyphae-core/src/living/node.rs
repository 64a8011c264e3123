//! What has a place in the topology, and what those who listen there care for.

use jiff::Timestamp;

use crate::{
    cell::{CellType, Share},
    diff::DiffKind,
    ids::{CredentialId, NodeId},
    label::{Tag, Tags},
    recall::Vector,
};

/// A node as gossip sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its id.
    pub id: NodeId,
    /// Its place: of a cell its vector, of a scene its centroid, of an agent where its work is.
    /// None while it has none of the chosen model.
    pub place: Option<Vector>,
    /// What it is.
    pub kind: NodeKind,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// A memory.
    Cell {
        /// Its salience as it was given, before decay.
        salience: Share,
        /// When it was last used.
        last_access: Timestamp,
        /// The scene that it belongs to, if it belongs to one.
        scene: Option<NodeId>,
    },
    /// A topic, made by consolidation.
    Scene,
    /// Where the work of a credential in a project is.
    Agent(Listener),
    /// A standing subscription of a credential at a fixed place.
    Beacon(Listener),
}

/// Whose inbox a node fills, and with what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    /// Whose.
    pub owner: CredentialId,
    /// With what.
    pub interest: Interest,
}

/// Which changes somebody wants to be told of; all conditions hold together, an empty one is
/// none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Interest {
    /// About memories of any of these types.
    pub types: Vec<CellType>,
    /// About memories with all of these tags.
    pub tags: Vec<Tag>,
    /// Changes of any of these kinds.
    pub kinds: Vec<DiffKind>,
}

impl Interest {
    /// Tells whether a change is wanted.
    pub fn takes(&self, kind: DiffKind, cell_type: CellType, tags: &Tags) -> bool {
        (self.types.is_empty() || self.types.contains(&cell_type))
            && (self.kinds.is_empty() || self.kinds.contains(&kind))
            && self.tags.iter().all(|tag| tags.contains(tag))
    }
}

/// A node and the link that leads to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbour {
    /// The node.
    pub node: Node,
    /// The weight of the link, in (0, 1].
    pub weight: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interest_without_conditions_takes_everything() {
        for cell_type in CellType::ALL {
            for kind in DiffKind::ALL {
                assert!(Interest::default().takes(kind, cell_type, &Tags::default()));
            }
        }
    }

    #[test]
    fn all_conditions_of_an_interest_hold_together() {
        let tag = |name: &str| Tag::new(name).unwrap();
        let interest = Interest {
            types: vec![CellType::Risk, CellType::Decision],
            tags: vec![tag("db"), tag("prod")],
            kinds: vec![DiffKind::Created],
        };
        let both = Tags::new([tag("prod"), tag("db"), tag("x")]).unwrap();
        let one = Tags::new([tag("db")]).unwrap();
        assert!(interest.takes(DiffKind::Created, CellType::Risk, &both));
        assert!(!interest.takes(DiffKind::Updated, CellType::Risk, &both));
        assert!(!interest.takes(DiffKind::Created, CellType::Fact, &both));
        assert!(!interest.takes(DiffKind::Created, CellType::Decision, &one));
    }
}
