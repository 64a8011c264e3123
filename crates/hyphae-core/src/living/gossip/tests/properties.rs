//! What holds of any graph.

use async_trait::async_trait;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

#[async_trait]
impl Graph for Map {
    async fn around(
        &self,
        _layer: Layer,
        nodes: &[NodeId],
    ) -> Result<Vec<Vec<Neighbour>>, StoreError> {
        // A store that forgets nodes at the end must not keep a walk waiting.
        let known = nodes
            .iter()
            .map(|node| self.0.get(node).cloned().unwrap_or_default());
        let mut lists: Vec<_> = known.collect();
        while lists.last().is_some_and(Vec::is_empty) {
            lists.pop();
        }
        Ok(lists)
    }
}

#[tokio::test]
async fn a_walk_over_a_port_finds_the_same() {
    let map = Map::chain(30, 0.8);
    let change = change(CellType::Decision, 0.9);
    let walk = Walk::begin(change.clone(), far(), NOW).unwrap();
    let journey = travel(&map, walk).await.unwrap();
    assert_eq!(journey, map.walk(&change, far(), 1));
}

fn any_node() -> impl Strategy<Value = (f32, u8, f64)> {
    (-90.0..90.0_f32, 0..10_u8, 0.0..1.0)
}

/// Any graph: nodes of every kind, links of any weight, cycles, loops and islands.
fn any_map() -> impl Strategy<Value = Map> {
    let nodes = proptest::collection::vec(any_node(), 2..40);
    nodes.prop_flat_map(|nodes| {
        let cells = nodes.len();
        let weight = prop_oneof![9 => 0.01..=1.0_f32, 1 => prop::num::f32::ANY];
        let links = proptest::collection::vec((0..cells, 0..cells, weight), 0..200);
        (Just(nodes), links).prop_map(|(nodes, links)| {
            let mut map = Map::default();
            for (from, to, weight) in links {
                let (degrees, kind, salience) = nodes[to];
                let n = to as u128;
                let node = match kind {
                    0 => agent(n, n % 3),
                    1 => beacon(n, n % 3, Interest::default()),
                    2 => Node {
                        kind: NodeKind::Scene,
                        ..cell(n)
                    },
                    3 => Node {
                        kind: NodeKind::Cell {
                            salience: Share::new(salience).unwrap(),
                            last_access: NOW,
                            scene: None,
                        },
                        ..cell(n)
                    },
                    _ => cell(n),
                };
                let place = (kind != 9).then(|| place(degrees));
                map.link(from as u128, Node { place, ..node }, weight);
            }
            map
        })
    })
}

fn any_change() -> impl Strategy<Value = Carried> {
    (proptest::sample::select(&CellType::ALL), 0.1..=1.0)
        .prop_map(|(cell_type, salience)| change(cell_type, salience))
}

/// The most energy with which each node can be entered, by going over all links until nothing
/// changes: another way to say what a walk finds when hops do not matter.
fn by_hand(map: &Map, carried: &Carried, rules: &Rules) -> HashMap<NodeId, f64> {
    let mut best = HashMap::from([(carried.origin, carried.energy)]);
    loop {
        let mut next = best.clone();
        for (from, left) in &best {
            for Neighbour { node, weight } in map.0.get(from).into_iter().flatten() {
                let silent = match &node.kind {
                    NodeKind::Cell {
                        salience,
                        last_access,
                        ..
                    } => !decay::gossips(*salience, *last_access, NOW),
                    NodeKind::Scene => false,
                    NodeKind::Agent(who) | NodeKind::Beacon(who) => who.owner == carried.author,
                };
                let relevant = score(carried, node).is_some_and(|score| score >= rules.relevance);
                let energy = left - topology::cost(*weight);
                if energy > 0.0 && relevant && !silent && node.id != carried.origin {
                    let known = next.entry(node.id).or_insert(energy);
                    *known = known.max(energy);
                }
            }
        }
        if next == best {
            return best;
        }
        best = next;
    }
}

proptest! {
    #[test]
    fn energy_never_rises_along_a_way_and_nobody_is_delivered_to_twice(
        map in any_map(), change in any_change(), hops in 1..12_u8, most in 1..40_usize
    ) {
        let rules = Rules { hops, most, ..Rules::default() };
        let journey = map.walk(&change, rules, 4);
        let mut seen = HashSet::new();
        prop_assert!(journey.reached.len() <= most);
        for arrival in &journey.reached {
            prop_assert!(seen.insert(arrival.node));
            prop_assert!(arrival.energy > 0.0);
            prop_assert!(arrival.hops < hops);
            prop_assert!(arrival.at.listener() != Some(change.author));
            if let Some(from) = arrival.from {
                let way = journey.way_to(arrival.node).unwrap();
                let before = way[way.len() - 2];
                prop_assert_eq!(before.node, from);
                prop_assert_eq!(before.hops + 1, arrival.hops);
                prop_assert!(arrival.energy <= before.energy - 1.0);
                prop_assert!(arrival.score >= rules.relevance);
                prop_assert!(before.at.listener().is_none());
            }
        }
        prop_assert!(journey.reached.is_sorted_by(|a, b| a.energy >= b.energy));
        // A branch that was stopped was stopped for a reason that holds.
        for stop in &journey.stops {
            prop_assert!(seen.contains(&stop.from));
            let entered = stop.to.is_some_and(|to| seen.contains(&to));
            match stop.why {
                Why::Known => prop_assert!(entered || journey.reached.len() == most),
                // Another way may be cheaper or shorter.
                Why::Spent { left, cost } => prop_assert!(left <= cost),
                Why::TooFar => prop_assert_eq!(stop.to, None),
                Why::Irrelevant { .. } | Why::Own | Why::Unwanted | Why::Faint | Why::Unplaced
                | Why::Full => prop_assert!(!entered, "{:?}", stop),
            }
        }
    }

    #[test]
    fn a_walk_does_not_depend_on_the_order_of_links_or_on_how_many_are_read_at_once(
        map in any_map(), change in any_change(), at_once in 1..20_usize, turn in 0..100_usize
    ) {
        let mut turned = map.clone();
        for links in turned.0.values_mut() {
            let by = turn % links.len();
            links.rotate_left(by);
            if turn % 2 == 0 {
                links.reverse();
            }
        }
        let journey = map.walk(&change, Rules::default(), 1);
        prop_assert_eq!(&journey, &turned.walk(&change, Rules::default(), at_once));
    }

    #[test]
    fn every_node_is_entered_with_the_most_energy_that_any_way_leaves(
        map in any_map(), change in any_change()
    ) {
        let mut map = map;
        let listens = |node: &Node| matches!(node.kind, NodeKind::Agent(_) | NodeKind::Beacon(_));
        let silent: HashSet<NodeId> = (map.0.values().flatten())
            .filter(|neighbour| listens(&neighbour.node))
            .map(|neighbour| neighbour.node.id)
            .collect();
        map.0.retain(|from, _| *from == id(0) || !silent.contains(from));
        let rules = far();
        let journey = map.walk(&change, rules, 3);
        let found: HashMap<NodeId, f64> =
            journey.reached.iter().map(|at| (at.node, at.energy)).collect();
        prop_assert_eq!(found, by_hand(&map, &change, &rules));
    }
}
