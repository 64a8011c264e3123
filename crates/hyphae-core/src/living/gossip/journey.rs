//! What became of a change: whom it reached, by which way, and why it went no further.

use crate::ids::{CredentialId, NodeId};

/// The way of one change over one layer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Journey {
    /// The nodes that it was delivered to, in the order in which they were entered: the origin,
    /// then by the energy that was left.
    pub reached: Vec<Arrival>,
    /// Where it went no further, by the node it came from, in the order in which those were
    /// entered, and then by the node it did not enter.
    pub stops: Vec<Stop>,
}

/// A delivery to a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arrival {
    /// The node.
    pub node: NodeId,
    /// What it is.
    pub at: Arrived,
    /// The node it came from; none for the origin.
    pub from: Option<NodeId>,
    /// How many hops it is away from the origin.
    pub hops: u8,
    /// The energy that was left, above 0.
    pub energy: f64,
    /// How much the change matters to the node, in about [-0.6, 1]; of the origin 1.
    pub score: f64,
}

/// What a change arrived at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrived {
    /// A memory, and the scene that it belongs to.
    Cell(Option<NodeId>),
    /// A topic.
    Scene,
    /// Somebody's work.
    Agent(CredentialId),
    /// Somebody's standing subscription.
    Beacon(CredentialId),
}

impl Arrived {
    /// Returns whose inbox the change goes to.
    pub const fn listener(self) -> Option<CredentialId> {
        match self {
            Self::Agent(owner) | Self::Beacon(owner) => Some(owner),
            Self::Cell(_) | Self::Scene => None,
        }
    }
}

/// The end of one branch of a way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// The last node that was entered.
    pub from: NodeId,
    /// The node that was not; none if no neighbour could be, and so none was looked at.
    pub to: Option<NodeId>,
    /// Why.
    pub why: Why,
}

/// Why a change did not enter a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Why {
    /// What was left does not exceed what the hop costs (at least 1, if the link was not read).
    Spent {
        /// The energy that was left.
        left: f64,
        /// What the hop costs.
        cost: f64,
    },
    /// It matters too little to the node.
    Irrelevant {
        /// How much.
        score: f64,
    },
    /// Another way to it leaves more energy, or was there first.
    Known,
    /// The node is too many hops away.
    TooFar,
    /// The node is that of the author of the change.
    Own,
    /// The one who listens there does not want such changes.
    Unwanted,
    /// The cell is of too little salience by now.
    Faint,
    /// The node has no place in the embedding space of the chosen model.
    Unplaced,
    /// It was delivered to as many nodes as a change may be.
    Full,
}

/// A delivery to a credential.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Told {
    /// Whom.
    pub whom: CredentialId,
    /// By which of its nodes: of several, the one that was entered first.
    pub via: NodeId,
    /// How many hops that is away from the origin.
    pub hops: u8,
    /// The energy that was left.
    pub energy: f64,
    /// How much the change matters there.
    pub score: f64,
}

impl Journey {
    /// Returns the way to a node, from the origin on; none if it was not reached.
    pub fn way_to(&self, node: NodeId) -> Option<Vec<Arrival>> {
        let arrival = |node| self.reached.iter().find(|arrival| arrival.node == node);
        let mut way = vec![*arrival(node)?];
        while let Some(from) = way.last().and_then(|last| last.from) {
            way.push(*arrival(from)?);
        }
        way.reverse();
        Some(way)
    }

    /// Returns whose inboxes the change goes to, each once, in the order in which it reached
    /// them.
    pub fn told(&self) -> Vec<Told> {
        let mut told: Vec<Told> = Vec::new();
        for arrival in &self.reached {
            if let Some(whom) = arrival.at.listener()
                && told.iter().all(|other| other.whom != whom)
            {
                told.push(Told {
                    whom,
                    via: arrival.node,
                    hops: arrival.hops,
                    energy: arrival.energy,
                    score: arrival.score,
                });
            }
        }
        told
    }
}
