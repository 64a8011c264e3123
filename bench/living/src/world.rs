//! One project in memory: links between cells, places of agents, and walks.

use std::collections::HashMap;

use hyphae_core::{
    cell::{Layer, Share},
    diff::DiffKind,
    ids::{CellId, CredentialId, NodeId},
    label::Tags,
    living::{
        gossip::{Carried, Rules, Walk, energy},
        node::{Interest, Listener, Neighbour, Node, NodeKind},
        place::{self, Work},
    },
    recall::Vector,
    topology::{self, CANDIDATES, Candidate},
};
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use crate::team::Team;

/// A cell a minute.
fn moment(at: usize) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_mins(at as i64)
}

fn cell(at: usize) -> CellId {
    CellId::new(Uuid::from_u128(at as u128))
}

fn agent_node(agent: usize) -> NodeId {
    NodeId::new(Uuid::from_u128((1 << 100) + agent as u128))
}

fn credential(agent: usize) -> CredentialId {
    CredentialId::new(Uuid::from_u128((1 << 101) + agent as u128))
}

/// Where an agent listens.
#[derive(Debug, Clone, Copy)]
pub enum Ears {
    /// At the one centre of its work, with at most so many links from what is near.
    Centre(usize),
    /// At what it wrote; how much a change matters to it is told by so many of these cells, the
    /// nearest ones.
    Works(usize),
}

#[derive(Debug)]
pub struct World<'t> {
    team: &'t Team,
    rules: Rules,
    ears: Ears,
    vectors: Vec<Vector>,
    links: Vec<Vec<Candidate>>,
    works: Vec<Vec<Work>>,
    places: Vec<Option<Vector>>,
    /// The cells that lead to each agent.
    followed: Vec<Vec<Candidate>>,
}

#[derive(Debug)]
pub struct Reached {
    pub agents: Vec<usize>,
    pub nodes: usize,
}

impl<'t> World<'t> {
    pub fn new(team: &'t Team, relevance: f64, attention: f64, ears: Ears) -> Self {
        let agents = team.needs.len();
        Self {
            team,
            rules: Rules {
                relevance,
                attention,
                ..Rules::default()
            },
            ears,
            vectors: Vec::new(),
            links: Vec::new(),
            works: vec![Vec::new(); agents],
            places: vec![None; agents],
            followed: vec![Vec::new(); agents],
        }
    }

    /// Keeps the next writing, and lets it travel.
    pub fn write(&mut self, at: usize, vector: &[f32]) -> Reached {
        let vector = Vector::quantise(vector);
        let near = self.nearest(&vector);
        let kept = self.neighbours(near, Layer::L0.degree());
        self.vectors.push(vector.clone());
        for link in &kept {
            let other = link.id.uuid().as_u128() as usize;
            let mut theirs = self.links[other].clone();
            theirs.push(Candidate {
                id: cell(at),
                cosine: link.cosine,
            });
            if theirs.len() > Layer::L0.degree() {
                theirs = self.neighbours(theirs, Layer::L0.degree());
            }
            self.links[other] = theirs;
        }
        self.links.push(kept);
        let author = self.team.writings[at].author;
        if let Ears::Centre(degree) = self.ears {
            for agent in 0..self.places.len() {
                if let Some(place) = &self.places[agent] {
                    let mut links = self.followed[agent].clone();
                    let cosine = place.cosine(&vector);
                    links.push(Candidate {
                        id: cell(at),
                        cosine,
                    });
                    self.followed[agent] = self.neighbours(links, degree);
                }
            }
        }
        let reached = self.travel(at);
        let salience = self.salience(at);
        self.works[author].push(Work {
            cell: cell(at),
            vector,
            salience,
            at: moment(at),
        });
        match self.ears {
            Ears::Centre(degree) => {
                let before = self.places[author].as_ref();
                let place = place::of(&self.works[author], before, moment(at));
                if let Some(place) = place
                    && place::moved(before, &place)
                {
                    let near = self.nearest(&place);
                    self.followed[author] = self.neighbours(near, degree);
                    self.places[author] = Some(place);
                }
            }
            Ears::Works(_) => {
                let cosine = 1.0;
                self.followed[author].push(Candidate {
                    id: cell(at),
                    cosine,
                });
                if self.followed[author].len() > place::RECENT {
                    self.followed[author].remove(0);
                }
            }
        }
        reached
    }

    fn salience(&self, at: usize) -> Share {
        Share::new(self.team.writings[at].salience).expect("a share")
    }

    fn nearest(&self, vector: &Vector) -> Vec<Candidate> {
        let mut near: Vec<Candidate> = (self.vectors.iter().enumerate())
            .map(|(at, other)| Candidate {
                id: cell(at),
                cosine: vector.cosine(other),
            })
            .collect();
        near.sort_unstable_by(|a, b| b.cosine.total_cmp(&a.cosine).then(a.id.cmp(&b.id)));
        near.truncate(CANDIDATES);
        near
    }

    fn neighbours(&self, candidates: Vec<Candidate>, degree: usize) -> Vec<Candidate> {
        let vector = |id: CellId| &self.vectors[id.uuid().as_u128() as usize];
        topology::neighbours(candidates, degree, |a, b| vector(a).cosine(vector(b)))
    }

    fn travel(&self, at: usize) -> Reached {
        let writing = &self.team.writings[at];
        let salience = self.salience(at);
        let carried = Carried {
            origin: cell(at).into(),
            scene: None,
            layer: Layer::L0,
            kind: DiffKind::Created,
            cell_type: writing.cell_type,
            tags: Tags::default(),
            salience,
            place: self.vectors[at].clone(),
            author: credential(writing.author),
            at: moment(at),
            energy: energy(DiffKind::Created, writing.cell_type, salience),
        };
        let mut listening: HashMap<CellId, Vec<(usize, f32)>> = HashMap::new();
        for (agent, links) in self.followed.iter().enumerate() {
            for link in links {
                listening
                    .entry(link.id)
                    .or_default()
                    .push((agent, link.cosine));
            }
        }
        let mut walk = Walk::begin(carried, self.rules, moment(at)).expect("all are salient");
        loop {
            let wanted = walk.wants(1);
            let Some(node) = wanted.first() else {
                break;
            };
            walk.feed(*node, self.around(*node, &listening, at));
        }
        let journey = walk.finish();
        let agents = (journey.told().iter())
            .map(|told| (told.whom.uuid().as_u128() - (1 << 101)) as usize)
            .collect();
        Reached {
            agents,
            nodes: journey.reached.len(),
        }
    }

    /// Returns the place of an agent as a change sees it.
    fn place_for(&self, agent: usize, change: usize) -> Option<Vector> {
        let Ears::Works(nearest) = self.ears else {
            return self.places[agent].clone();
        };
        let change = &self.vectors[change];
        let mut works: Vec<&Work> = self.works[agent].iter().rev().take(place::RECENT).collect();
        works.sort_by(|a, b| {
            change
                .cosine(&b.vector)
                .total_cmp(&change.cosine(&a.vector))
        });
        let nearest: Vec<Work> = works.into_iter().take(nearest).cloned().collect();
        place::of(&nearest, None, moment(0))
    }

    fn around(
        &self,
        node: NodeId,
        listening: &HashMap<CellId, Vec<(usize, f32)>>,
        now: usize,
    ) -> Vec<Neighbour> {
        let at = node.uuid().as_u128() as usize;
        let cells = self.links[at].iter().map(|link| {
            let other = link.id.uuid().as_u128() as usize;
            Neighbour {
                node: Node {
                    id: link.id.into(),
                    place: Some(self.vectors[other].clone()),
                    kind: NodeKind::Cell {
                        salience: self.salience(other),
                        last_access: moment(other.min(now)),
                        scene: None,
                    },
                },
                weight: topology::weight(link.cosine),
            }
        });
        let listeners = listening.get(&cell(at)).into_iter().flatten();
        let agents = listeners.map(|(agent, cosine)| Neighbour {
            node: Node {
                id: agent_node(*agent),
                place: self.place_for(*agent, now),
                kind: NodeKind::Agent(Listener {
                    owner: credential(*agent),
                    interest: Interest::default(),
                }),
            },
            weight: topology::weight(*cosine),
        });
        cells.chain(agents).collect()
    }
}
