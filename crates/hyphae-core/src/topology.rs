//! The graph over memories: bounded in degree, navigable, owned by us as rows of edges.
//!
//! Links carry gossip later; they are not the search index. The rule by which a node keeps its
//! neighbours is the diversity rule of HNSW and Vamana, so that some links lead out of a
//! cluster and not all into its middle.

use crate::{
    cell::{CellType, Share},
    ids::CellId,
};

/// Slack of the diversity rule (Vamana's α): a candidate is dropped if a kept neighbour is
/// nearer to it than the node is, even after its distance was stretched by this.
pub const ALPHA: f32 = 1.2;

/// How many of the nearest cells are considered as neighbours of a new node.
pub const CANDIDATES: usize = 64;

/// The least weight of a link, so that no hop costs more than a thousand.
pub const MIN_WEIGHT: f32 = 0.001;

/// Returns how much energy a change to a memory of this type is born with, relative to a fact
/// (HyphaeDB paper, §3.2: μ).
pub const fn energy(kind: CellType) -> f64 {
    match kind {
        CellType::Decision | CellType::Constraint => 2.0,
        CellType::Risk | CellType::Pattern => 1.5,
        CellType::Lesson => 1.2,
        CellType::Fact => 1.0,
        CellType::Preference => 0.8,
        CellType::Context => 0.5,
        CellType::Task => 0.3,
    }
}

/// Returns the energy with which a change to a memory begins its way: `10 · √s · μ(type)`
/// (HyphaeDB paper, §3.2), from 0 to 20.
pub fn energy_at_birth(kind: CellType, salience: Share) -> f64 {
    10.0 * salience.get().sqrt() * energy(kind)
}

/// A possible neighbour of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The cell.
    pub id: CellId,
    /// Its cosine to the node.
    pub cosine: f32,
}

/// Returns the weight of a semantic link: the cosine, at least [`MIN_WEIGHT`], at most 1.
pub fn weight(cosine: f32) -> f32 {
    cosine.clamp(MIN_WEIGHT, 1.0)
}

/// Returns what a hop over a link of this weight costs: `1 / ω`, from 1 to 1000; more than anybody
/// has, if the weight is no number.
pub fn cost(weight: f32) -> f64 {
    if weight.is_nan() {
        return f64::INFINITY;
    }
    1.0 / f64::from(weight.clamp(MIN_WEIGHT, 1.0))
}

/// Returns those of `candidates` that a node keeps as neighbours, nearest first, at most
/// `degree`. `cosine` tells how near two of them, by their places, are to each other.
///
/// A candidate is kept unless `α · d(candidate, kept) <= d(candidate, node)` for one that is
/// kept already, with `d = 1 − cosine`. The nearest is always kept.
pub fn neighbours(
    candidates: &[Candidate],
    degree: usize,
    cosine: impl Fn(usize, usize) -> f32,
) -> Vec<Candidate> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_unstable_by(|&a, &b| {
        let (a, b) = (candidates[a], candidates[b]);
        b.cosine.total_cmp(&a.cosine).then(a.id.cmp(&b.id))
    });
    let mut kept: Vec<usize> = Vec::with_capacity(degree);
    for at in order {
        if kept.len() == degree {
            break;
        }
        let to_node = 1.0 - candidates[at].cosine;
        let blocked = kept
            .iter()
            .any(|&other| ALPHA * (1.0 - cosine(at, other)) <= to_node);
        if !blocked {
            kept.push(at);
        }
    }
    kept.into_iter().map(|at| candidates[at]).collect()
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn id(n: u128) -> CellId {
        CellId::new(Uuid::from_u128(n))
    }

    /// Candidates on a circle, the node at angle 0.
    fn check(angles: &[f32], degree: usize, want: &[u128]) {
        let cosine = |a: f32, b: f32| (a - b).to_radians().cos();
        let candidates: Vec<Candidate> = (0..angles.len())
            .map(|n| Candidate {
                id: id(n as u128),
                cosine: cosine(angles[n], 0.0),
            })
            .collect();
        let kept = neighbours(&candidates, degree, |a, b| cosine(angles[a], angles[b]));
        let ids: Vec<u128> = kept.iter().map(|c| c.id.uuid().as_u128()).collect();
        assert_eq!(ids, want);
    }

    #[test]
    fn the_order_of_the_candidates_does_not_matter() {
        check(&[-30.0, 22.0, 21.0, -31.0, 20.0], 24, &[4, 0]);
    }

    #[test]
    fn a_cluster_is_represented_by_its_nearest_member() {
        check(&[20.0, 21.0, 22.0, -30.0, -31.0], 24, &[0, 3]);
    }

    #[test]
    fn no_more_than_the_degree_is_kept() {
        check(&[40.0, -40.0, 90.0, -90.0], 2, &[0, 1]);
    }

    #[test]
    fn the_identical_place_is_a_neighbour_once() {
        check(&[0.0, 0.0, 60.0], 24, &[0, 2]);
    }

    #[test]
    fn a_salient_decision_begins_with_the_most_energy() {
        assert_eq!(energy_at_birth(CellType::Decision, Share::FULL), 20.0);
        let quarter = Share::new(0.25).unwrap();
        assert_eq!(energy_at_birth(CellType::Fact, quarter), 5.0);
        assert_eq!(
            energy_at_birth(CellType::Task, Share::new(0.0).unwrap()),
            0.0
        );
    }

    #[test]
    fn energies_at_birth_are_those_of_the_paper() {
        let kinds = [
            CellType::Decision,
            CellType::Risk,
            CellType::Lesson,
            CellType::Fact,
            CellType::Preference,
            CellType::Context,
            CellType::Task,
        ];
        for (salience, want) in [
            (
                0.5,
                ["14.14", "10.61", "8.49", "7.07", "5.66", "3.54", "2.12"],
            ),
            (
                0.9,
                ["18.97", "14.23", "11.38", "9.49", "7.59", "4.74", "2.85"],
            ),
            (
                1.0,
                ["20.00", "15.00", "12.00", "10.00", "8.00", "5.00", "3.00"],
            ),
        ] {
            let salience = Share::new(salience).unwrap();
            let found = kinds.map(|kind| format!("{:.2}", energy_at_birth(kind, salience)));
            assert_eq!(found, want);
        }
        let same = |a, b| energy(a).to_bits() == energy(b).to_bits();
        assert!(same(CellType::Constraint, CellType::Decision));
        assert!(same(CellType::Pattern, CellType::Risk));
    }

    #[test]
    fn a_hop_costs_at_least_one_and_at_most_a_thousand() {
        assert_eq!(cost(1.0), 1.0);
        assert_eq!(cost(0.5), 2.0);
        assert_eq!(cost(7.0), 1.0);
        assert_eq!(cost(-0.5), cost(MIN_WEIGHT));
        assert_eq!(cost(f32::NAN), f64::INFINITY);
    }

    #[test]
    fn a_weight_is_a_share_above_nothing() {
        assert_eq!(weight(-0.3), MIN_WEIGHT);
        assert_eq!(weight(0.5), 0.5);
        assert_eq!(weight(1.000_1), 1.0);
    }
}
