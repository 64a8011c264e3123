//! Products of an int8 matrix with int16 vectors, on each instruction set.
//!
//! The integer part of a group of [`GROUP`] weights is exact: 128 · 127 · 32,767 fits 32 bits, so
//! any order of summing gives the same number. What follows is in floating point and in one order
//! on every path: the group's sum times its scale, added group by group, times the vector's scale,
//! plus the bias.

#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::fmt;

/// How many weights share a scale.
pub(crate) const GROUP: usize = 128;

/// How many rows of a matrix are stored, and computed, side by side.
pub(crate) const ROWS: usize = 16;

/// Bytes of a block's scales.
const SCALES: usize = ROWS * 4;

/// Bytes of a block: [`ROWS`] scales, then the weights of [`ROWS`] rows and [`GROUP`] columns, two
/// columns of every row after each other.
pub(crate) const BLOCK: usize = SCALES + ROWS * GROUP;

/// A matrix inside the weight file.
#[derive(Debug)]
pub(crate) struct Matrix<'a> {
    rows: usize,
    columns: usize,
    blocks: &'a [[u8; BLOCK]],
    bias: Vec<f32>,
}

impl<'a> Matrix<'a> {
    /// Takes the blocks of `bias.len()` rows, or nothing when the counts do not fit each other.
    pub(crate) fn new(columns: usize, blocks: &'a [[u8; BLOCK]], bias: Vec<f32>) -> Option<Self> {
        let rows = bias.len();
        let fits = rows.is_multiple_of(ROWS)
            && columns.is_multiple_of(GROUP)
            && blocks.len() == rows / ROWS * (columns / GROUP);
        fits.then_some(Self {
            rows,
            columns,
            blocks,
            bias,
        })
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }
}

/// Vectors rounded to integers, one for each token, with what one unit is worth.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vectors<'a> {
    values: &'a [i16],
    units: &'a [f32],
}

impl<'a> Vectors<'a> {
    /// # Panics
    ///
    /// When there are not exactly `width` values for each unit; widths are the caller's constants.
    pub(crate) fn new(width: usize, values: &'a [i16], units: &'a [f32]) -> Self {
        assert_eq!(values.len(), width * units.len());
        Self { values, units }
    }
}

/// An instruction set that this machine has. All give the same bits; they differ in speed only.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CpuPath(Set);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Set {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl CpuPath {
    /// Returns every path that works on this machine, slowest first.
    pub fn available() -> Vec<Self> {
        let mut sets = vec![Set::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            if x86::has_avx2() {
                sets.push(Set::Avx2);
            }
            if x86::has_avx512() {
                sets.push(Set::Avx512);
            }
        }
        #[cfg(target_arch = "aarch64")]
        sets.push(Set::Neon);
        sets.into_iter().map(Self).collect()
    }

    /// Returns the path that is used unless another one is asked for.
    pub fn fastest() -> Self {
        Self::available().pop().unwrap_or(Self(Set::Portable))
    }

    /// Returns `portable`, `avx2`, `avx512` or `neon`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Set::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => "avx512",
            #[cfg(target_arch = "aarch64")]
            Set::Neon => "neon",
        }
    }

    /// Runs `work`, compiled for this instruction set.
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        match self.0 {
            Set::Portable => work.run(portable::multiply),
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => x86::run_avx2(work),
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => x86::run_avx512(work),
            #[cfg(target_arch = "aarch64")]
            Set::Neon => work.run(neon::multiply),
        }
    }
}

impl fmt::Debug for CpuPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A computation that is compiled once for each instruction set.
pub(crate) trait Work {
    type Output;

    /// Does it. `multiply` writes, for each of the vectors, one number a row of the matrix.
    ///
    /// Implementations are `#[inline(always)]`, or the compiler cannot specialise them.
    fn run(self, multiply: impl Fn(&Matrix<'_>, Vectors<'_>, &mut [f32])) -> Self::Output;
}

/// Panics unless the three belong together: the vector paths rely on it.
#[inline(always)]
fn check(matrix: &Matrix<'_>, vectors: Vectors<'_>, out: &[f32]) {
    assert_eq!(vectors.values.len(), vectors.units.len() * matrix.columns);
    assert_eq!(out.len(), vectors.units.len() * matrix.rows);
}

/// Reads a block's scales.
#[inline(always)]
fn scales(block: &[u8; BLOCK]) -> [f32; ROWS] {
    let mut scales = [0.0; ROWS];
    for (scale, bytes) in scales.iter_mut().zip(block.as_chunks::<4>().0) {
        *scale = f32::from_le_bytes(*bytes);
    }
    scales
}
