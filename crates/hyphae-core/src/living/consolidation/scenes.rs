//! Scenes: where cells lie densely.
//!
//! Density clusters in the sense of HDBSCAN (Campello, Moulavi and Sander, 2013): two cells are as
//! near as their cosine, but no nearer than each is to its second neighbour. The strongest links of
//! this kind that connect everything are joined, the strongest first, down to the cosine of a
//! topic; two dense parts that would become too large together stay apart.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
};

use uuid::Uuid;

use super::{super::place, Input, Rules, Scene, Since, Step, label::Labels, near::Field};
use crate::ids::NodeId;

pub(super) fn plan(
    field: &Field<'_>,
    input: Input<'_>,
    rules: &Rules,
    new_id: &mut dyn FnMut() -> Uuid,
) -> Vec<Step> {
    let scenes = &input.made.scenes;
    let (clusters, touched) = match seeds(field, input, rules) {
        Seeds::All => {
            let all = (0..field.len()).collect();
            (
                Density::new(field, rules).clusters(&all),
                scenes.keys().copied().collect(),
            )
        }
        Seeds::Some(seeds) => spread(field, rules, scenes, seeds),
    };
    let old = matched(field, scenes, &touched, &clusters);
    let mut labels = Labels::new(field);
    let mut steps: Vec<Step> = (touched.iter())
        .filter(|id| !old.contains(&Some(**id)))
        .map(|id| Step::Scene {
            id: *id,
            before: scenes.get(id).cloned(),
            after: None,
        })
        .collect();
    for (cluster, old) in clusters.iter().zip(old) {
        let before = old.and_then(|id| scenes.get(&id));
        let scene = scene(field, cluster, before, &mut labels);
        if before != Some(&scene) {
            steps.push(Step::Scene {
                id: old.unwrap_or_else(|| NodeId::new(new_id())),
                before: before.cloned(),
                after: Some(scene),
            });
        }
    }
    steps
}

/// Where scenes may have changed.
enum Seeds {
    All,
    Some(BTreeSet<usize>),
}

/// New cells change only what is near them. A cell that went from a scene, or got another text
/// there, may have held far cells together: then everything is looked at.
fn seeds(field: &Field<'_>, input: Input<'_>, rules: &Rules) -> Seeds {
    let Since::Changed(changed) = input.since else {
        return Seeds::All;
    };
    let mut members = input.made.scenes.values().flat_map(|scene| &scene.members);
    if members.any(|member| changed.contains(member)) {
        return Seeds::All;
    }
    let mut seeds = BTreeSet::new();
    for cell in changed.iter().filter_map(|id| field.find(*id)) {
        seeds.insert(cell);
        seeds.extend(
            field
                .near(cell, rules.topic)
                .iter()
                .map(|(other, _)| *other),
        );
    }
    Seeds::Some(seeds)
}

/// Looks around from `seeds` until no scene is left that lies partly in what was found.
fn spread(
    field: &Field<'_>,
    rules: &Rules,
    scenes: &BTreeMap<NodeId, Scene>,
    mut seeds: BTreeSet<usize>,
) -> (Vec<Vec<usize>>, BTreeSet<NodeId>) {
    let mut density = Density::new(field, rules);
    let mut touched = BTreeSet::new();
    loop {
        let clusters = density.clusters(&seeds);
        let found: HashSet<_> = (clusters.iter().flatten().chain(&seeds))
            .map(|at| field.grain(*at).id)
            .collect();
        let before = touched.len();
        for (id, scene) in scenes {
            if scene.members.iter().any(|member| found.contains(member)) {
                touched.insert(*id);
                seeds.extend(
                    scene
                        .members
                        .iter()
                        .filter_map(|member| field.find(*member)),
                );
            }
        }
        if touched.len() == before {
            return (clusters, touched);
        }
    }
}

/// Returns for each cluster the scene that it is from now on: the one it shares most cells with,
/// each scene for one cluster.
fn matched(
    field: &Field<'_>,
    scenes: &BTreeMap<NodeId, Scene>,
    touched: &BTreeSet<NodeId>,
    clusters: &[Vec<usize>],
) -> Vec<Option<NodeId>> {
    let mut pairs = Vec::new();
    for (at, cluster) in clusters.iter().enumerate() {
        for id in touched {
            let shared = scenes.get(id).map_or(0, |scene| {
                let is_member = |cell: &&usize| scene.members.contains(&field.grain(**cell).id);
                cluster.iter().filter(is_member).count()
            });
            if shared > 0 {
                pairs.push((Reverse(shared), *id, at));
            }
        }
    }
    pairs.sort_unstable();
    let mut old: Vec<Option<NodeId>> = vec![None; clusters.len()];
    for (_, id, at) in pairs {
        if old[at].is_none() && !old.contains(&Some(id)) {
            old[at] = Some(id);
        }
    }
    old
}

/// Returns the scene of some cells. While these and their places stay, so does its label.
fn scene(
    field: &Field<'_>,
    cells: &[usize],
    before: Option<&Scene>,
    labels: &mut Labels<'_>,
) -> Scene {
    let places = cells.iter().map(|at| (&field.grain(*at).place, 1.0));
    let centroid = place::centre(places).unwrap_or_else(|| field.grain(cells[0]).place.clone());
    let members: BTreeSet<_> = cells.iter().map(|at| field.grain(*at).id).collect();
    let label = match before {
        Some(before) if before.members == members && before.centroid == centroid => {
            before.label.clone()
        }
        _ => labels.of(cells, field.nearest(cells, &centroid).unwrap_or(cells[0])),
    };
    Scene {
        label,
        centroid,
        members,
    }
}

/// Orders links: the strongest first, then by the older and by the younger cell. No two links are
/// equal, so the strongest that connect everything are the same from wherever one begins.
/// Strengths are above 0, so their bits are in their order.
type Rank = (Reverse<u32>, usize, usize);

fn rank(strength: f32, a: usize, b: usize) -> Rank {
    (Reverse(strength.to_bits()), a.min(b), a.max(b))
}

struct Density<'f> {
    field: &'f Field<'f>,
    rules: &'f Rules,
    /// How near a cell is to its second neighbour; none if that is no neighbour at all.
    cores: HashMap<usize, Option<f32>>,
}

impl<'f> Density<'f> {
    fn new(field: &'f Field<'_>, rules: &'f Rules) -> Self {
        Self {
            field,
            rules,
            cores: HashMap::new(),
        }
    }

    fn near(&self, cell: usize) -> Vec<(usize, f32)> {
        // A topic that everything belongs to is none.
        self.field
            .near(cell, self.rules.topic.max(f32::MIN_POSITIVE))
    }

    fn core(&mut self, cell: usize) -> Option<f32> {
        if let Some(core) = self.cores.get(&cell) {
            return *core;
        }
        let mut near: Vec<f32> = self.near(cell).iter().map(|(_, cosine)| *cosine).collect();
        near.sort_unstable_by(|a, b| b.total_cmp(a));
        let others = self.rules.least.max(2) - 1;
        let core = near.get(others - 1).copied();
        self.cores.insert(cell, core);
        core
    }

    /// Returns the clusters that hold any of `seeds` or lie next to one, each sorted, in the order
    /// of their oldest cells.
    fn clusters(&mut self, seeds: &BTreeSet<usize>) -> Vec<Vec<usize>> {
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for seed in seeds {
            if !seen.contains(seed) && self.core(*seed).is_some() {
                let tree = self.tree(*seed);
                seen.extend(tree.cells.iter().copied());
                found.extend(self.parts(tree));
            }
        }
        found.sort_unstable();
        found
    }

    /// Returns all cells that are densely connected with one, and their strongest links (Prim).
    fn tree(&mut self, seed: usize) -> Tree {
        let mut tree = Tree {
            cells: vec![seed],
            links: Vec::new(),
            edge: BTreeSet::new(),
        };
        let mut inside = HashSet::from([seed]);
        let mut open: BTreeSet<(Rank, usize)> = BTreeSet::new();
        let mut best: HashMap<usize, Rank> = HashMap::new();
        let mut next = seed;
        loop {
            let own = self.core(next).unwrap_or_default();
            for (other, cosine) in self.near(next) {
                if inside.contains(&other) {
                    continue;
                }
                let Some(core) = self.core(other) else {
                    tree.edge.insert(other);
                    continue;
                };
                let link = rank(cosine.min(own).min(core), next, other);
                let known = best.get(&other).copied();
                if known.is_none_or(|known| link < known) {
                    if let Some(known) = known {
                        open.remove(&(known, other));
                    }
                    best.insert(other, link);
                    open.insert((link, other));
                }
            }
            let Some((link, cell)) = open.pop_first() else {
                return tree;
            };
            best.remove(&cell);
            inside.insert(cell);
            tree.cells.push(cell);
            tree.links.push(link);
            next = cell;
        }
    }

    /// Joins the cells of a tree, and gives each cell at its edge to the nearest one inside.
    fn parts(&mut self, mut tree: Tree) -> Vec<Vec<usize>> {
        tree.links.sort_unstable();
        let mut joined = Joined::new(&tree.cells);
        for (_, a, b) in tree.links {
            joined.join(a, b, self.rules);
        }
        let mut parts = joined.parts();
        let part_of: HashMap<usize, usize> = (parts.iter().enumerate())
            .flat_map(|(part, cells)| cells.iter().map(move |cell| (*cell, part)))
            .collect();
        for cell in tree.edge {
            let near = self.near(cell);
            let dense = near.iter().filter(|(other, _)| self.core(*other).is_some());
            let nearest = dense.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            // The nearest dense cell may lie in another tree, which takes this one then.
            if let Some(part) = nearest.and_then(|(other, _)| part_of.get(other)) {
                parts[*part].push(cell);
            }
        }
        parts.retain(|cells| cells.len() >= self.rules.least);
        parts.iter_mut().for_each(|cells| cells.sort_unstable());
        parts
    }
}

/// Densely connected cells, the links that connect them, and the cells at their edge.
struct Tree {
    cells: Vec<usize>,
    links: Vec<Rank>,
    edge: BTreeSet<usize>,
}

/// Which cells are together (disjoint sets).
struct Joined {
    parent: HashMap<usize, usize>,
    size: HashMap<usize, usize>,
}

impl Joined {
    fn new(cells: &[usize]) -> Self {
        Self {
            parent: cells.iter().map(|cell| (*cell, *cell)).collect(),
            size: cells.iter().map(|cell| (*cell, 1)).collect(),
        }
    }

    fn root(&mut self, cell: usize) -> usize {
        let mut at = cell;
        while let Some(&parent) = self.parent.get(&at)
            && parent != at
        {
            let above = self.parent.get(&parent).copied().unwrap_or(parent);
            self.parent.insert(at, above);
            at = above;
        }
        at
    }

    /// Joins two parts unless both are dense by themselves and too large together.
    fn join(&mut self, a: usize, b: usize, rules: &Rules) {
        let (a, b) = (self.root(a), self.root(b));
        let size = |cell| self.size.get(&cell).copied().unwrap_or(1);
        let (small, large) = (size(a).min(size(b)), size(a).max(size(b)));
        if a == b || (small >= rules.least && small + large > rules.most) {
            return;
        }
        let (from, to) = if size(a) < size(b) { (a, b) } else { (b, a) };
        self.parent.insert(from, to);
        self.size.insert(to, small + large);
    }

    fn parts(mut self) -> Vec<Vec<usize>> {
        let mut cells: Vec<usize> = self.parent.keys().copied().collect();
        cells.sort_unstable();
        let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for cell in cells {
            let root = self.root(cell);
            parts.entry(root).or_default().push(cell);
        }
        parts.into_values().collect()
    }
}
