//! Where somebody's work is, and where somebody listens.

use jiff::Timestamp;

use super::{decay::days_between, node::Interest};
use crate::{
    cell::{Content, Share},
    ids::{CellId, CredentialId, NodeId},
    recall::Vector,
};

/// How many of the cells that somebody wrote or used last make up a place.
pub const RECENT: usize = 50;

/// How fast the pull of a cell fades, a day (HyphaeDB paper, §3.1: λ); half of it is gone after
/// 6.93 days.
pub const DRIFT: f64 = 0.1;

/// A node whose new place has a cosine to the old one below this gets new links. A step that is
/// smaller hardly changes who is near.
pub const MOVED_BELOW: f32 = 0.98;

/// A cell that somebody wrote or used.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// The cell.
    pub cell: CellId,
    /// Its vector.
    pub vector: Vector,
    /// Its salience as it was given.
    pub salience: Share,
    /// When this credential last wrote or used it.
    pub at: Timestamp,
}

/// Returns the place of an agent: `normalise(Σ s · exp(−0.1 · days) · e)` over the [`RECENT`]
/// cells that it wrote or used last (HyphaeDB paper, §3.1, eq. 2). If these cancel each other
/// out, and if there are none, it stays where it was.
pub fn of(works: &[Work], before: Option<&Vector>, now: Timestamp) -> Option<Vector> {
    let mut recent: Vec<&Work> = works.iter().collect();
    recent.sort_unstable_by(|a, b| b.at.cmp(&a.at).then(a.cell.cmp(&b.cell)));
    recent.truncate(RECENT);
    let weighted = recent.iter().map(|work| {
        let weight = work.salience.get() * libm::exp(-DRIFT * days_between(work.at, now));
        (&work.vector, weight)
    });
    centre(weighted).or_else(|| before.cloned())
}

/// Tells whether a node is so far from its last place that its links must be chosen anew.
pub fn moved(before: Option<&Vector>, after: &Vector) -> bool {
    before.is_none_or(|before| before.cosine(after) < MOVED_BELOW)
}

/// Returns the direction of a weighted sum of vectors, which are as long as the first; none if
/// the sum has no direction. The sum is taken in the order given.
pub(super) fn centre<'a>(weighted: impl IntoIterator<Item = (&'a Vector, f64)>) -> Option<Vector> {
    /// Shorter sums are rounding errors of vectors that cancel each other out.
    const LEAST: f64 = 1e-6;
    let mut sum: Vec<f64> = Vec::new();
    for (vector, weight) in weighted {
        if sum.is_empty() {
            sum.resize(vector.numbers.len(), 0.0);
        }
        let scale = f64::from(vector.scale) * weight;
        for (total, number) in sum.iter_mut().zip(&vector.numbers) {
            *total += scale * f64::from(*number);
        }
    }
    let length = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length.is_nan() || length < LEAST {
        return None;
    }
    let unit: Vec<f32> = sum.iter().map(|x| (x / length) as f32).collect();
    Some(Vector::quantise(&unit))
}

/// A standing subscription: whatever passes its place is told to its owner, wherever the owner's
/// own work is by then.
#[derive(Debug, Clone, PartialEq)]
pub struct Beacon {
    /// Its node.
    pub id: NodeId,
    /// Who is told.
    pub owner: CredentialId,
    /// What it is about; its place is the vector of this text.
    pub about: Content,
    /// What is told.
    pub interest: Interest,
    /// When it was put up.
    pub created_at: Timestamp,
}

impl Beacon {
    /// The most beacons of a credential in a project.
    pub const MAX: usize = 32;
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use uuid::Uuid;

    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn work(n: u128, vector: &[f32], salience: f64, days: i64) -> Work {
        Work {
            cell: CellId::new(Uuid::from_u128(n)),
            vector: Vector::quantise(vector),
            salience: Share::new(salience).unwrap(),
            at: NOW - SignedDuration::from_hours(24 * days),
        }
    }

    #[track_caller]
    fn check(works: &[Work], want: &[f32]) {
        let place = of(works, None, NOW).unwrap();
        let found = place.numbers.iter().map(|n| f32::from(*n) * place.scale);
        let near = found.clone().zip(want).all(|(a, b)| (a - b).abs() < 0.01);
        assert!(near, "{:?}", found.collect::<Vec<_>>());
    }

    const X: &[f32] = &[1.0, 0.0];
    const Y: &[f32] = &[0.0, 1.0];

    #[test]
    fn an_agent_is_where_its_work_is() {
        check(&[work(1, X, 0.5, 0)], X);
        check(&[work(1, X, 0.5, 0), work(2, Y, 0.5, 0)], &[0.707, 0.707]);
        check(&[work(1, X, 0.4, 0), work(2, Y, 0.3, 0)], &[0.8, 0.6]);
    }

    #[test]
    fn older_work_pulls_less() {
        // exp(-0.7) is 0.497 after a week.
        check(&[work(1, X, 1.0, 0), work(2, Y, 1.0, 7)], &[0.896, 0.445]);
        check(&[work(1, X, 1.0, 0), work(2, Y, 1.0, 1000)], X);
    }

    #[test]
    fn a_clock_that_was_set_back_makes_no_work_pull_more_than_its_salience() {
        check(
            &[work(1, X, 1.0, 0), work(2, Y, 1.0, -900)],
            &[0.707, 0.707],
        );
    }

    #[test]
    fn only_the_last_fifty_count_whatever_their_order() {
        let mut works: Vec<Work> = (0..50).map(|n| work(n, X, 1.0, 1)).collect();
        works.insert(7, work(99, Y, 1.0, 2));
        check(&works, X);
        works.reverse();
        check(&works, X);
    }

    #[test]
    fn work_that_cancels_itself_out_leaves_an_agent_where_it_was() {
        let works = [work(1, X, 1.0, 0), work(2, &[-1.0, 0.0], 1.0, 0)];
        let before = Vector::quantise(Y);
        assert_eq!(of(&works, Some(&before), NOW), Some(before.clone()));
        assert_eq!(of(&works, None, NOW), None);
        assert_eq!(of(&[], Some(&before), NOW), Some(before));
        let nothing = [work(1, &[0.0, 0.0], 1.0, 0), work(2, X, 0.0, 0)];
        assert_eq!(of(&nothing, None, NOW), None);
    }

    #[test]
    fn a_small_step_keeps_the_links() {
        let at = |degrees: f32| {
            let radians = degrees.to_radians();
            Vector::quantise(&[radians.cos(), radians.sin()])
        };
        assert!(moved(None, &at(0.0)));
        assert!(!moved(Some(&at(0.0)), &at(11.0)));
        assert!(moved(Some(&at(0.0)), &at(12.0)));
    }

    proptest::proptest! {
        #[test]
        fn the_order_in_which_works_are_read_does_not_matter(
            works in proptest::collection::vec((-1.0..1.0_f32, -1.0..1.0_f32, 0.0..1.0_f64, 0..40_i64), 0..80)
        ) {
            let works: Vec<Work> = (0..).zip(&works)
                .map(|(n, (x, y, salience, days))| work(n, &[*x, *y], *salience, *days))
                .collect();
            let turned: Vec<Work> = works.iter().rev().cloned().collect();
            proptest::prop_assert_eq!(of(&works, None, NOW), of(&turned, None, NOW));
        }
    }
}
