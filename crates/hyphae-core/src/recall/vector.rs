//! Vectors as they are kept: one byte a number and a scale, and products that are exact.

use pulp::Arch;

/// A unit vector in 8-bit numbers with a scale of its own: `x[i] ≈ scale · numbers[i]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    /// What one step is worth.
    pub scale: f32,
    /// The steps, each in [-127, 127].
    pub numbers: Box<[i8]>,
}

impl Vector {
    /// Rounds a vector to 8-bit numbers. The error of a cosine of two unit vectors stays under
    /// 0.01 for the models in use; a vector of zeros stays one.
    pub fn quantise(vector: &[f32]) -> Self {
        let largest = vector.iter().fold(0.0_f32, |max, x| max.max(x.abs()));
        if largest <= 0.0 {
            return Self {
                scale: 0.0,
                numbers: vec![0; vector.len()].into(),
            };
        }
        let scale = largest / 127.0;
        let numbers = vector
            .iter()
            .map(|x| (x / scale).round().clamp(-127.0, 127.0) as i8);
        Self {
            scale,
            numbers: numbers.collect(),
        }
    }

    /// Returns the cosine of two vectors of the same model, in about [-1, 1].
    pub fn cosine(&self, other: &Self) -> f32 {
        self.view().cosine(other.view())
    }

    pub(crate) fn view(&self) -> View<'_> {
        View {
            scale: self.scale,
            numbers: &self.numbers,
        }
    }
}

/// A kept vector where it lies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) scale: f32,
    pub(crate) numbers: &'a [i8],
}

impl View<'_> {
    /// Returns the cosine of two vectors of the same model, in about [-1, 1].
    pub(crate) fn cosine(self, other: View<'_>) -> f32 {
        Arch::new().dispatch(Product(self.numbers, other.numbers)) as f32
            * (self.scale * other.scale)
    }
}

/// The exact sum of products of two kept vectors.
struct Product<'a>(&'a [i8], &'a [i8]);

impl pulp::NullaryFnOnce for Product<'_> {
    type Output = i32;

    #[inline(always)]
    fn call(self) -> i32 {
        let pairs = self.0.iter().zip(self.1);
        pairs.map(|(&x, &y)| i32::from(x) * i32::from(y)).sum()
    }
}

/// A vector made ready to be compared with many. Sums of products are exact integers, so the
/// result has the same bits on every machine, whatever instructions it has.
#[derive(Debug, Clone)]
pub(crate) struct Probe {
    scale: f32,
    numbers: Box<[i16]>,
}

impl Probe {
    /// The largest step of a probe: 384 · 2047 · 127 stays below 2^31 by a factor of 20.
    const STEPS: f32 = 2047.0;

    /// Rounds a query's vector more finely than a kept one.
    pub(crate) fn fine(vector: &[f32]) -> Self {
        let largest = vector.iter().fold(0.0_f32, |max, x| max.max(x.abs()));
        if largest <= 0.0 {
            return Self {
                scale: 0.0,
                numbers: vec![0; vector.len()].into(),
            };
        }
        let scale = largest / Self::STEPS;
        let numbers = vector
            .iter()
            .map(|x| (x / scale).round().clamp(-Self::STEPS, Self::STEPS) as i16);
        Self {
            scale,
            numbers: numbers.collect(),
        }
    }

    #[inline(always)]
    pub(crate) fn cosine(&self, scale: f32, numbers: &[i8]) -> f32 {
        product(&self.numbers, numbers) as f32 * (self.scale * scale)
    }

    /// Calls `found(row, cosine)` for each row of a table of kept vectors (`numbers` holds
    /// `scales.len()` rows of equal length) that `wanted(row)` asks for.
    pub(crate) fn scan(
        &self,
        scales: &[f32],
        numbers: &[i8],
        wanted: impl Fn(usize) -> bool,
        found: impl FnMut(usize, f32),
    ) {
        let width = self.numbers.len();
        if width == 0 {
            return;
        }
        Arch::new().dispatch(Scan {
            probe: self,
            scales,
            numbers,
            wanted,
            found,
        });
    }
}

/// The work of a scan as a value, because a closure is not sure to be inlined into the code
/// for the CPU at hand, and is compiled for any CPU if it is not.
struct Scan<'a, W, F> {
    probe: &'a Probe,
    scales: &'a [f32],
    numbers: &'a [i8],
    wanted: W,
    found: F,
}

impl<W: Fn(usize) -> bool, F: FnMut(usize, f32)> pulp::NullaryFnOnce for Scan<'_, W, F> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        let width = self.probe.numbers.len();
        let rows = self.scales.iter().zip(self.numbers.chunks_exact(width));
        for (row, (scale, kept)) in rows.enumerate() {
            if (self.wanted)(row) {
                (self.found)(row, self.probe.cosine(*scale, kept));
            }
        }
    }
}

/// Returns the exact sum of products; written so that the compiler uses what the CPU has.
#[inline(always)]
fn product(a: &[i16], b: &[i8]) -> i32 {
    a.iter()
        .zip(b)
        .map(|(&x, &y)| i32::from(x) * i32::from(y))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(seed: u32, width: usize) -> Vec<f32> {
        let mut state = seed.wrapping_mul(2_654_435_761) | 1;
        let mut vector: Vec<f32> = (0..width)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 17;
                state ^= state << 5;
                state as f32 / u32::MAX as f32 - 0.5
            })
            .collect();
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|x| *x /= norm);
        vector
    }

    #[test]
    fn cosines_of_kept_vectors_are_near_the_true_ones() {
        for seed in 0..200 {
            let (a, b) = (unit(seed, 384), unit(seed + 1000, 384));
            let b: Vec<f32> = a.iter().zip(&b).map(|(x, y)| x + y).collect();
            let norm = b.iter().map(|x| x * x).sum::<f32>().sqrt();
            let b: Vec<f32> = b.iter().map(|x| x / norm).collect();
            let truth: f32 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
            let kept = Vector::quantise(&b);
            let found = Probe::fine(&a).cosine(kept.scale, &kept.numbers);
            assert!((truth - found).abs() < 0.005, "{truth} {found}");
        }
    }

    #[test]
    fn a_scan_finds_the_same_cosines_as_single_products() {
        let rows: Vec<Vector> = (0..50)
            .map(|seed| Vector::quantise(&unit(seed, 256)))
            .collect();
        let scales: Vec<f32> = rows.iter().map(|row| row.scale).collect();
        let numbers: Vec<i8> = rows
            .iter()
            .flat_map(|row| row.numbers.iter().copied())
            .collect();
        let probe = Probe::fine(&unit(99, 256));
        let mut found = Vec::new();
        probe.scan(
            &scales,
            &numbers,
            |row| row % 3 != 0,
            |row, cosine| found.push((row, cosine)),
        );
        let want: Vec<(usize, f32)> = (0..50)
            .filter(|row| row % 3 != 0)
            .map(|row| (row, probe.cosine(rows[row].scale, &rows[row].numbers)))
            .collect();
        assert_eq!(found, want);
    }

    #[test]
    fn the_cosine_of_two_kept_vectors_is_the_sum_of_products() {
        for (seed, width) in [(1, 1), (2, 15), (3, 256), (4, 384), (5, 385)] {
            let (a, b) = (unit(seed, width), unit(seed + 50, width));
            let (a, b) = (Vector::quantise(&a), Vector::quantise(&b));
            let products = a.numbers.iter().zip(&b.numbers);
            let sum: i32 = products.map(|(&x, &y)| i32::from(x) * i32::from(y)).sum();
            assert_eq!(a.cosine(&b), sum as f32 * (a.scale * b.scale));
            assert_eq!(a.cosine(&b), b.cosine(&a));
        }
    }

    #[test]
    fn a_vector_of_zeros_is_no_trouble() {
        let zero = Vector::quantise(&[0.0; 8]);
        assert_eq!(zero.cosine(&zero), 0.0);
    }
}
