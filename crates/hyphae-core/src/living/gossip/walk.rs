//! One change's way as a machine: it says whose links it wants, and is fed them.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
};

use jiff::Timestamp;

use super::{
    super::{
        decay,
        node::{Neighbour, Node, NodeKind},
    },
    Arrival, Arrived, Carried, Journey, Rules, Stayed, Stop, Why, score, sets_out, takes,
};
use crate::{cell::Layer, ids::NodeId, topology};

/// A change on its way over one layer.
///
/// Feed it the links of the nodes that it [`wants`](Self::wants) until it wants none. What it
/// finds depends neither on how many are fed at once nor on the order of links.
#[derive(Debug)]
pub struct Walk {
    carried: Carried,
    rules: Rules,
    now: Timestamp,
    journey: Journey,
    /// The place of each node in `journey.reached`.
    entered: HashMap<NodeId, usize>,
    /// What may be entered next, the best first.
    branches: BTreeMap<Rank, Branch>,
    /// The best branch to each node that is not entered.
    best: HashMap<NodeId, Rank>,
    /// The node that was entered last, if its links are still wanted.
    expanding: Option<NodeId>,
    fed: HashMap<NodeId, Vec<Neighbour>>,
}

/// Orders branches: most energy, fewest hops, then the older node and the older way to it.
/// Energies are above 0, so their bits are in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    energy: Reverse<u64>,
    hops: u8,
    to: NodeId,
    from: NodeId,
}

#[derive(Debug)]
struct Branch {
    at: Arrived,
    energy: f64,
    score: f64,
}

impl Walk {
    /// Delivers a change to its origin.
    ///
    /// # Errors
    /// [`Stayed`] if it does not set out.
    pub fn begin(carried: Carried, rules: Rules, now: Timestamp) -> Result<Self, Stayed> {
        sets_out(&carried, &rules, now)?;
        let mut walk = Self {
            rules,
            now,
            journey: Journey::default(),
            entered: HashMap::new(),
            branches: BTreeMap::new(),
            best: HashMap::new(),
            expanding: None,
            fed: HashMap::new(),
            carried,
        };
        walk.enter(Arrival {
            node: walk.carried.origin,
            at: Arrived::Cell(walk.carried.scene),
            from: None,
            hops: 0,
            energy: walk.carried.energy,
            score: 1.0,
        });
        walk.advance();
        Ok(walk)
    }

    /// Returns the layer that it goes over.
    pub const fn layer(&self) -> Layer {
        self.carried.layer
    }

    /// Returns the nodes whose links are wanted now, and those that are likely to be wanted soon,
    /// at most `most`. None are when the change has arrived everywhere.
    pub fn wants(&self, most: usize) -> Vec<NodeId> {
        let Some(now) = self.expanding else {
            return Vec::new();
        };
        let soon = self.branches.iter().filter(|(rank, branch)| {
            branch.at.listener().is_none()
                && !self.fed.contains_key(&rank.to)
                && self.last_stop(rank.hops, branch.energy).is_none()
        });
        std::iter::once(now)
            .chain(soon.map(|(rank, _)| rank.to))
            .take(most.max(1))
            .collect()
    }

    /// Takes the links that lead away from a node.
    pub fn feed(&mut self, from: NodeId, neighbours: Vec<Neighbour>) {
        self.fed.insert(from, neighbours);
        self.advance();
    }

    /// Returns whom the change reached, and why no more.
    pub fn finish(mut self) -> Journey {
        for rank in self.branches.keys() {
            self.journey.stops.push(Stop {
                from: rank.from,
                to: Some(rank.to),
                why: Why::Full,
            });
        }
        let entered = &self.entered;
        (self.journey.stops).sort_by_key(|stop| (entered.get(&stop.from).copied(), stop.to));
        self.journey
    }

    /// Goes on as far as the links that were fed allow.
    fn advance(&mut self) {
        loop {
            if let Some(node) = self.expanding {
                let Some(neighbours) = self.fed.remove(&node) else {
                    return;
                };
                self.expanding = None;
                self.expand(node, neighbours);
            }
            if self.entered.len() >= self.rules.most {
                return;
            }
            let Some((rank, branch)) = self.branches.pop_first() else {
                return;
            };
            self.best.remove(&rank.to);
            self.enter(Arrival {
                node: rank.to,
                at: branch.at,
                from: Some(rank.from),
                hops: rank.hops,
                energy: branch.energy,
                score: branch.score,
            });
        }
    }

    fn enter(&mut self, arrival: Arrival) {
        self.entered
            .insert(arrival.node, self.journey.reached.len());
        self.journey.reached.push(arrival);
        if arrival.at.listener().is_some() {
            // Who listens is told; to hand on is the cells' part.
            return;
        }
        match self.last_stop(arrival.hops, arrival.energy) {
            None => self.expanding = Some(arrival.node),
            Some(why) => self.journey.stops.push(Stop {
                from: arrival.node,
                to: None,
                why,
            }),
        }
    }

    /// Tells why a node with this much energy left has no need to look at its links.
    fn last_stop(&self, hops: u8, left: f64) -> Option<Why> {
        let cost = topology::cost(1.0);
        if hops.saturating_add(1) >= self.rules.hops {
            Some(Why::TooFar)
        } else if left <= cost {
            Some(Why::Spent { left, cost })
        } else {
            None
        }
    }

    fn expand(&mut self, from: NodeId, mut neighbours: Vec<Neighbour>) {
        let Some(arrival) = (self.entered.get(&from)).map(|at| self.journey.reached[*at]) else {
            return;
        };
        // Of several links to the same node the strongest counts.
        let cost = |neighbour: &Neighbour| topology::cost(neighbour.weight);
        neighbours.sort_by(|a, b| (a.node.id.cmp(&b.node.id)).then(cost(a).total_cmp(&cost(b))));
        neighbours.dedup_by_key(|neighbour| neighbour.node.id);
        for Neighbour { node, weight } in neighbours {
            if node.id == from || Some(node.id) == arrival.from {
                continue;
            }
            match self.judge(&arrival, &node, weight) {
                Ok(branch) => self.branch(&arrival, node.id, branch),
                Err(why) => self.stop(from, node.id, why),
            }
        }
    }

    fn judge(&self, arrival: &Arrival, node: &Node, weight: f32) -> Result<Branch, Why> {
        if self.entered.contains_key(&node.id) {
            return Err(Why::Known);
        }
        let at = match &node.kind {
            NodeKind::Cell {
                salience,
                last_access,
                scene,
            } => {
                if !decay::gossips(*salience, *last_access, self.now) {
                    return Err(Why::Faint);
                }
                Arrived::Cell(*scene)
            }
            NodeKind::Scene => Arrived::Scene,
            NodeKind::Agent(listener) | NodeKind::Beacon(listener) => {
                if listener.owner == self.carried.author {
                    return Err(Why::Own);
                }
                if !takes(listener, &self.carried) {
                    return Err(Why::Unwanted);
                }
                if matches!(node.kind, NodeKind::Agent(_)) {
                    Arrived::Agent(listener.owner)
                } else {
                    Arrived::Beacon(listener.owner)
                }
            }
        };
        let score = score(&self.carried, node).ok_or(Why::Unplaced)?;
        let least = match at.listener() {
            Some(_) => self.rules.attention,
            None => self.rules.relevance,
        };
        if score < least {
            return Err(Why::Irrelevant { score });
        }
        let (left, cost) = (arrival.energy, topology::cost(weight));
        if left > cost {
            Ok(Branch {
                at,
                energy: left - cost,
                score,
            })
        } else {
            Err(Why::Spent { left, cost })
        }
    }

    /// Keeps the better one of two ways to a node.
    fn branch(&mut self, arrival: &Arrival, to: NodeId, branch: Branch) {
        let rank = Rank {
            energy: Reverse(branch.energy.to_bits()),
            hops: arrival.hops + 1,
            to,
            from: arrival.node,
        };
        match self.best.get(&to).copied() {
            Some(better) if better < rank => self.stop(arrival.node, to, Why::Known),
            worse => {
                if let Some(worse) = worse {
                    self.branches.remove(&worse);
                    self.stop(worse.from, to, Why::Known);
                }
                self.best.insert(to, rank);
                self.branches.insert(rank, branch);
            }
        }
    }

    fn stop(&mut self, from: NodeId, to: NodeId, why: Why) {
        self.journey.stops.push(Stop {
            from,
            to: Some(to),
            why,
        });
    }
}
