mod listeners;
mod properties;

use std::collections::{HashMap, HashSet};

use pretty_assertions::assert_eq;
use uuid::Uuid;

use super::*;
use crate::{label::Tag, living::node::*};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;
/// A hop limit that is in nobody's way.
const FAR: u8 = u8::MAX;

fn id(n: u128) -> NodeId {
    NodeId::new(Uuid::from_u128(n))
}

fn credential(n: u128) -> CredentialId {
    CredentialId::new(Uuid::from_u128(n))
}

/// A place at an angle; 0 is where changes are.
fn place(degrees: f32) -> Vector {
    let radians = degrees.to_radians();
    Vector::quantise(&[radians.cos(), radians.sin()])
}

fn cell(n: u128) -> Node {
    Node {
        id: id(n),
        place: Some(place(0.0)),
        kind: NodeKind::Cell {
            salience: Share::FULL,
            last_access: NOW,
            scene: None,
        },
    }
}

fn listener(owner: u128, interest: Interest) -> Listener {
    Listener {
        owner: credential(owner),
        interest,
    }
}

fn agent(n: u128, owner: u128) -> Node {
    Node {
        kind: NodeKind::Agent(listener(owner, Interest::default())),
        ..cell(n)
    }
}

fn beacon(n: u128, owner: u128, interest: Interest) -> Node {
    Node {
        kind: NodeKind::Beacon(listener(owner, interest)),
        ..cell(n)
    }
}

/// A change to cell 0 by credential 0.
fn change(cell_type: CellType, salience: f64) -> Carried {
    let salience = Share::new(salience).unwrap();
    Carried {
        origin: id(0),
        scene: None,
        layer: Layer::L0,
        kind: DiffKind::Created,
        cell_type,
        tags: Tags::default(),
        salience,
        place: place(0.0),
        author: credential(0),
        at: NOW,
        energy: energy(DiffKind::Created, cell_type, salience),
    }
}

#[derive(Debug, Clone, Default)]
struct Map(HashMap<NodeId, Vec<Neighbour>>);

impl Map {
    fn link(&mut self, from: u128, to: Node, weight: f32) {
        let links = self.0.entry(id(from)).or_default();
        links.push(Neighbour { node: to, weight });
    }

    /// Cells 0, 1, 2, … one behind the other.
    fn chain(cells: u128, weight: f32) -> Self {
        let mut map = Self::default();
        for n in 1..cells {
            map.link(n - 1, cell(n), weight);
            map.link(n, cell(n - 1), weight);
        }
        map
    }

    fn walk(&self, carried: &Carried, rules: Rules, at_once: usize) -> Journey {
        let mut walk = Walk::begin(carried.clone(), rules, NOW).unwrap();
        let mut asked = HashSet::new();
        loop {
            let wanted = walk.wants(at_once);
            assert!(wanted.len() <= at_once);
            if wanted.is_empty() {
                return walk.finish();
            }
            for node in wanted {
                assert!(asked.insert(node), "the links of {node} are asked for once");
                walk.feed(node, self.0.get(&node).cloned().unwrap_or_default());
            }
        }
    }

    fn go(&self, carried: &Carried) -> Journey {
        self.walk(carried, Rules::default(), 1)
    }
}

fn far() -> Rules {
    Rules {
        hops: FAR,
        ..Rules::default()
    }
}

fn numbers(journey: &Journey) -> Vec<u128> {
    let ids = journey.reached.iter();
    ids.map(|arrival| arrival.node.uuid().as_u128()).collect()
}

fn stop(from: u128, to: u128, why: Why) -> Stop {
    Stop {
        from: id(from),
        to: Some(id(to)),
        why,
    }
}

#[test]
fn the_hops_along_a_chain_are_those_of_the_reference() {
    use CellType::{Context, Decision, Fact, Task};
    for (weight, want) in [
        (1.0, [14, 7, 3, 2]),
        (0.8, [11, 5, 2, 1]),
        (0.5, [7, 3, 1, 1]),
        (0.3, [4, 2, 1, 0]),
    ] {
        let chain = Map::chain(30, weight);
        for (cell_type, want) in [Decision, Fact, Context, Task].into_iter().zip(want) {
            let journey = chain.walk(&change(cell_type, 0.5), far(), 1);
            let last = journey.reached.last().unwrap();
            assert_eq!(last.hops, want, "{cell_type} over {weight}");
            assert_eq!(journey.reached.len(), usize::from(want) + 1);
        }
    }
}

#[test]
fn each_hop_takes_its_cost_from_the_energy() {
    for (weight, cost) in [(1.0, 1.0), (0.5, 2.0), (0.25, 4.0)] {
        let change = change(CellType::Decision, 0.9);
        let journey = Map::chain(30, weight).walk(&change, far(), 1);
        let mut left = 10.0 * 0.9_f64.sqrt() * 2.0;
        for arrival in &journey.reached {
            assert_eq!(arrival.energy.to_bits(), left.to_bits());
            left -= cost;
        }
        assert!(left <= 0.0, "{left} would have sufficed");
    }
}

#[test]
fn the_origin_is_delivered_to_first_with_all_energy() {
    let journey = Map::default().go(&change(CellType::Fact, 1.0));
    let origin = Arrival {
        node: id(0),
        at: Arrived::Cell(None),
        from: None,
        hops: 0,
        energy: 10.0,
        score: 1.0,
    };
    assert_eq!(journey.reached, [origin]);
    assert_eq!(journey.stops, []);
}

#[test]
fn energy_that_equals_the_cost_does_not_suffice() {
    let chain = Map::chain(2, 0.5);
    let mut change = change(CellType::Fact, 0.5);
    change.energy = 2.0;
    let journey = chain.go(&change);
    assert_eq!(numbers(&journey), [0]);
    let (left, cost) = (2.0, 2.0);
    assert_eq!(journey.stops, [stop(0, 1, Why::Spent { left, cost })]);
    change.energy = 2.0_f64.next_up();
    assert_eq!(numbers(&chain.go(&change)), [0, 1]);
}

#[test]
fn the_farthest_delivery_is_one_hop_nearer_than_the_limit() {
    let journey = Map::chain(30, 1.0).go(&change(CellType::Decision, 1.0));
    assert_eq!(numbers(&journey), (0..10).collect::<Vec<_>>());
    assert_eq!(journey.reached.last().unwrap().hops, 9);
    let end = Stop {
        from: id(9),
        to: None,
        why: Why::TooFar,
    };
    assert_eq!(journey.stops, [end]);
}

#[test]
fn what_has_no_more_energy_than_the_cheapest_hop_costs_looks_no_further() {
    let mut change = change(CellType::Fact, 0.5);
    change.energy = 2.0;
    let journey = Map::chain(3, 1.0).go(&change);
    assert_eq!(numbers(&journey), [0, 1]);
    let (left, cost) = (1.0, 1.0);
    let end = Stop {
        from: id(1),
        to: None,
        why: Why::Spent { left, cost },
    };
    assert_eq!(journey.stops, [end]);
}

#[test]
fn a_cell_scores_at_most_seven_tenths_and_a_listener_one() {
    let change = change(CellType::Decision, 1.0);
    let near = |wanted: f64, node: &Node| {
        let found = score(&change, node).unwrap();
        assert!((found - wanted).abs() < 0.005, "{found}");
    };
    near(0.7, &cell(1));
    near(1.0, &agent(1, 1));
    let types = vec![CellType::Risk];
    let only_risks = Interest {
        types,
        ..Interest::default()
    };
    near(0.7, &beacon(1, 1, only_risks));
    let opposite = Some(place(180.0));
    let node = agent(1, 1);
    near(
        -0.5,
        &Node {
            place: opposite,
            ..node.clone()
        },
    );
    let aside = Some(place(60.0));
    near(
        0.3 + 0.15 + 0.1,
        &Node {
            place: aside,
            ..node.clone()
        },
    );
    assert_eq!(
        score(
            &change,
            &Node {
                place: None,
                ..node
            }
        ),
        None
    );
}

#[test]
fn a_node_is_entered_from_the_least_relevance_on() {
    let change = change(CellType::Fact, 0.5);
    let mut map = Map::default();
    let node = Node {
        place: Some(place(70.0)),
        ..cell(1)
    };
    let score = score(&change, &node).unwrap();
    map.link(0, node, 1.0);
    let rules = |relevance| Rules {
        relevance,
        ..Rules::default()
    };
    assert_eq!(numbers(&map.walk(&change, rules(score), 1)), [0, 1]);
    let journey = map.walk(&change, rules(score.next_up()), 1);
    assert_eq!(numbers(&journey), [0]);
    assert_eq!(journey.stops, [stop(0, 1, Why::Irrelevant { score })]);
}

#[test]
fn a_node_is_entered_by_the_way_that_leaves_most_energy() {
    let mut map = Map::default();
    map.link(0, cell(1), 0.25);
    map.link(0, cell(2), 1.0);
    map.link(2, cell(1), 1.0);
    map.link(1, cell(2), 1.0);
    map.link(2, cell(2), 1.0);
    let journey = map.go(&change(CellType::Fact, 1.0));
    let way: Vec<_> = journey.way_to(id(1)).unwrap();
    let way: Vec<_> = way.iter().map(|at| (at.node, at.hops, at.energy)).collect();
    assert_eq!(way, [(id(0), 0, 10.0), (id(2), 1, 9.0), (id(1), 2, 8.0)]);
    assert_eq!(journey.stops, [stop(0, 1, Why::Known)]);
    assert_eq!(journey.way_to(id(7)), None);
}

#[test]
fn of_equal_ways_the_shorter_one_counts_and_then_the_older_one() {
    let mut map = Map::default();
    for to in [3, 2] {
        map.link(0, cell(to), 1.0);
        map.link(to, cell(4), 1.0);
    }
    map.link(0, cell(5), 0.5);
    map.link(4, cell(5), 1.0);
    map.link(2, cell(5), 1.0);
    let journey = map.go(&change(CellType::Fact, 1.0));
    let from = |node| journey.way_to(id(node)).unwrap().last().unwrap().from;
    assert_eq!(from(4), Some(id(2)));
    assert_eq!(from(5), Some(id(0)), "8 is left by both ways");
}

#[test]
fn of_several_links_to_a_node_the_strongest_counts() {
    let mut map = Map::default();
    for weight in [0.1, 0.5, 0.25, f32::NAN, -f32::NAN] {
        map.link(0, cell(1), weight);
    }
    let journey = map.go(&change(CellType::Fact, 1.0));
    assert_eq!(journey.reached[1].energy, 8.0);
    assert_eq!(journey.stops, []);
}

#[test]
fn weights_that_are_none_give_no_energy() {
    let mut map = Map::default();
    for (to, weight) in [
        (1, f32::NAN),
        (2, -1.0),
        (3, 0.0),
        (4, 1e9),
        (5, f32::INFINITY),
    ] {
        map.link(0, cell(to), weight);
    }
    let journey = map.go(&change(CellType::Fact, 1.0));
    assert_eq!(numbers(&journey), [0, 4, 5]);
    assert!(journey.reached[1..].iter().all(|at| at.energy == 9.0));
}

#[test]
fn a_place_of_zeros_is_relevant_to_nothing() {
    let mut map = Map::default();
    let zeros = Vector::quantise(&[0.0, 0.0]);
    map.link(
        0,
        Node {
            place: Some(zeros.clone()),
            ..cell(1)
        },
        1.0,
    );
    let mut change = change(CellType::Fact, 1.0);
    assert_eq!(numbers(&map.go(&change)), [0]);
    change.place = zeros;
    map.link(0, cell(2), 1.0);
    assert_eq!(numbers(&map.go(&change)), [0]);
}

#[test]
fn what_is_old_faint_or_without_energy_stays_where_it_is() {
    let hours = |hours| NOW + SignedDuration::from_hours(hours);
    let begin = |change: Carried, now| Walk::begin(change, Rules::default(), now).map(|_| ());
    let fact = change(CellType::Fact, 0.5);
    assert_eq!(begin(fact.clone(), hours(24)), Err(Stayed::Expired));
    let almost = hours(24) - SignedDuration::from_micros(1);
    assert_eq!(begin(fact.clone(), almost), Ok(()));
    assert_eq!(begin(fact.clone(), hours(-100)), Ok(()), "a clock set back");
    assert_eq!(
        begin(change(CellType::Decision, 0.09), NOW),
        Err(Stayed::Faint)
    );
    let energy = 0.0;
    assert_eq!(begin(Carried { energy, ..fact }, NOW), Err(Stayed::Spent));
}

#[test]
fn cells_without_number_at_one_place_are_reached_up_to_a_bound() {
    let mut map = Map::default();
    for n in 0..5000 {
        for step in 1..=24 {
            map.link(n, cell((n + step * step * 7) % 5000), 1.0);
        }
    }
    let journey = map.go(&change(CellType::Decision, 1.0));
    assert_eq!(journey.reached.len(), 1000);
    assert!(journey.stops.iter().any(|stop| stop.why == Why::Full));
    let twice = journey.stops.iter().filter(|stop| stop.why == Why::Full);
    let mut seen = HashSet::new();
    assert!(twice.into_iter().all(|stop| seen.insert(stop.to)));
}
