//! Which cells lie near which, exactly.

use std::collections::HashMap;

use super::Grain;
use crate::{ids::CellId, recall::Vector};

/// Cells by age, to be compared with each other. A number stands for a cell: an older cell has a
/// smaller one.
#[derive(Debug)]
pub(super) struct Field<'a> {
    grains: Vec<&'a Grain>,
    place: HashMap<CellId, usize>,
}

impl<'a> Field<'a> {
    /// Takes cells in any order; a vector that is not as long as that of the oldest belongs to
    /// another model, and its cell is passed over.
    pub(super) fn new(grains: impl Iterator<Item = &'a Grain>) -> Self {
        let mut grains: Vec<&Grain> = grains.collect();
        grains.sort_unstable_by_key(|grain| grain.id);
        grains.dedup_by_key(|grain| grain.id);
        let width = (grains.first()).map_or(0, |grain| grain.place.numbers.len());
        grains.retain(|grain| grain.place.numbers.len() == width);
        Self {
            place: (grains.iter().enumerate())
                .map(|(at, grain)| (grain.id, at))
                .collect(),
            grains,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.grains.len()
    }

    pub(super) fn grain(&self, at: usize) -> &'a Grain {
        self.grains[at]
    }

    pub(super) fn find(&self, id: CellId) -> Option<usize> {
        self.place.get(&id).copied()
    }

    pub(super) fn cosine(&self, a: usize, b: usize) -> f32 {
        self.grain(a).place.cosine(&self.grain(b).place)
    }

    /// Returns the other cells whose cosine is at least `least`, the oldest first.
    pub(super) fn near(&self, at: usize, least: f32) -> Vec<(usize, f32)> {
        (0..self.len())
            .filter(|other| *other != at)
            .map(|other| (other, self.cosine(at, other)))
            .filter(|(_, cosine)| *cosine >= least)
            .collect()
    }

    /// Returns the one of some cells that is nearest to a place, of equal ones the oldest.
    pub(super) fn nearest(&self, cells: &[usize], place: &Vector) -> Option<usize> {
        let cosine = |at: usize| self.grain(at).place.cosine(place);
        (cells.iter().copied())
            .map(|at| (cosine(at), at))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
            .map(|(_, at)| at)
    }
}
