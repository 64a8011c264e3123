//! AVX2 and AVX-512 with VNNI.
//!
//! A register holds 16 bits of two columns for 8 or 16 rows; the pair of a token's values is
//! broadcast, multiplied and added up in 32 bits by one instruction (VNNI) or two.

use std::arch::x86_64::*;

use super::{BLOCK, GROUP, Matrix, ROWS, SCALES, Vectors, Work, check};

/// Pairs of columns in a block.
const PAIRS: usize = GROUP / 2;

pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
}

pub(super) fn has_avx512() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vnni")
}

/// Falls back to a panic, not to undefined behaviour, if the CPU lacks the instructions.
pub(super) fn run_avx2<W: Work>(work: W) -> W::Output {
    assert!(has_avx2());
    #[expect(unsafe_code, reason = "the CPU was just asked for the instructions")]
    // SAFETY: the only condition is that the CPU has AVX2.
    unsafe {
        inner_avx2(work)
    }
}

/// Falls back to a panic, not to undefined behaviour, if the CPU lacks the instructions.
pub(super) fn run_avx512<W: Work>(work: W) -> W::Output {
    assert!(has_avx512());
    #[expect(unsafe_code, reason = "the CPU was just asked for the instructions")]
    // SAFETY: the only condition is that the CPU has the listed parts of AVX-512.
    unsafe {
        inner_avx512(work)
    }
}

#[target_feature(enable = "avx2")]
fn inner_avx2<W: Work>(work: W) -> W::Output {
    work.run(|matrix, vectors, out| multiply_avx2(matrix, vectors, out))
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
fn inner_avx512<W: Work>(work: W) -> W::Output {
    work.run(|matrix, vectors, out| multiply_avx512(matrix, vectors, out))
}

/// What one call of a tile works on: some tokens, and the blocks of 16 rows.
struct Tile<'a> {
    blocks: &'a [[u8; BLOCK]],
    bias: &'a [f32; ROWS],
    vectors: Vectors<'a>,
    columns: usize,
    rows: usize,
    first_row: usize,
    first_token: usize,
}

impl Tile<'_> {
    /// Returns a token's values in pairs, as many as there are weights in `blocks`.
    #[inline(always)]
    fn pairs(&self, token: usize) -> *const i32 {
        let start = (self.first_token + token) * self.columns;
        self.vectors.values[start..start + self.columns]
            .as_ptr()
            .cast()
    }

    #[inline(always)]
    fn unit(&self, token: usize) -> f32 {
        self.vectors.units[self.first_token + token]
    }

    #[inline(always)]
    fn out<'b>(&self, out: &'b mut [f32], token: usize) -> &'b mut [f32; ROWS] {
        let start = (self.first_token + token) * self.rows + self.first_row;
        let (chunk, _) = out[start..start + ROWS].as_chunks_mut::<ROWS>();
        &mut chunk[0]
    }
}

/// Calls a tile function for as many tokens as it takes at most, then once for the rest.
macro_rules! tiles {
    ($matrix:ident, $vectors:ident, $out:ident, $tile:ident, $most:literal, [$($rest:literal)*]) => {{
        check($matrix, $vectors, $out);
        let groups = $matrix.columns / GROUP;
        let (biases, _) = $matrix.bias.as_chunks::<ROWS>();
        for (row_block, (blocks, bias)) in
            $matrix.blocks.chunks_exact(groups).zip(biases).enumerate()
        {
            let mut tile = Tile {
                blocks,
                bias,
                vectors: $vectors,
                columns: $matrix.columns,
                rows: $matrix.rows,
                first_row: row_block * ROWS,
                first_token: 0,
            };
            let tokens = $vectors.units.len();
            while tile.first_token + $most <= tokens {
                $tile::<$most>(&tile, $out);
                tile.first_token += $most;
            }
            match tokens - tile.first_token {
                $($rest => $tile::<$rest>(&tile, $out),)*
                _ => {}
            }
        }
    }};
}

#[target_feature(enable = "avx2")]
fn multiply_avx2(matrix: &Matrix<'_>, vectors: Vectors<'_>, out: &mut [f32]) {
    tiles!(matrix, vectors, out, tile_avx2, 4, [1 2 3]);
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
fn multiply_avx512(matrix: &Matrix<'_>, vectors: Vectors<'_>, out: &mut [f32]) {
    tiles!(matrix, vectors, out, tile_avx512, 12, [1 2 3 4 5 6 7 8 9 10 11]);
}

#[target_feature(enable = "avx2")]
#[expect(
    unsafe_code,
    reason = "loads and stores of vector registers take pointers"
)]
fn tile_avx2<const TOKENS: usize>(tile: &Tile<'_>, out: &mut [f32]) {
    let mut pairs: [*const i32; TOKENS] = std::array::from_fn(|token| tile.pairs(token));
    let mut sums = [[_mm256_setzero_ps(); 2]; TOKENS];
    for block in tile.blocks {
        let mut exact = [[_mm256_setzero_si256(); 2]; TOKENS];
        for weights in block[SCALES..].as_chunks::<{ 2 * ROWS }>().0 {
            // SAFETY: reads the 32 bytes of `weights`, in halves.
            let weights = unsafe {
                let start: *const __m128i = weights.as_ptr().cast();
                [_mm_loadu_si128(start), _mm_loadu_si128(start.add(1))]
            };
            let weights = weights.map(|half| _mm256_cvtepi8_epi16(half));
            for token in 0..TOKENS {
                // SAFETY: the loops step over a token's `columns` values, two at a time.
                let pair = unsafe {
                    let pair = pairs[token].read_unaligned();
                    pairs[token] = pairs[token].add(1);
                    _mm256_set1_epi32(pair)
                };
                for half in 0..2 {
                    let products = _mm256_madd_epi16(weights[half], pair);
                    exact[token][half] = _mm256_add_epi32(exact[token][half], products);
                }
            }
        }
        for half in 0..2 {
            // SAFETY: a block starts with 16 scales of 4 bytes.
            let scale = unsafe { _mm256_loadu_ps(block.as_ptr().cast::<f32>().add(8 * half)) };
            for token in 0..TOKENS {
                let part = _mm256_mul_ps(_mm256_cvtepi32_ps(exact[token][half]), scale);
                sums[token][half] = _mm256_add_ps(sums[token][half], part);
            }
        }
    }
    for (token, sums) in sums.iter().enumerate() {
        let unit = _mm256_set1_ps(tile.unit(token));
        let out = tile.out(out, token);
        for (half, sum) in sums.iter().enumerate() {
            // SAFETY: both arrays have 16 numbers, of which this is one half.
            unsafe {
                let bias = _mm256_loadu_ps(tile.bias.as_ptr().add(8 * half));
                let value = _mm256_add_ps(_mm256_mul_ps(*sum, unit), bias);
                _mm256_storeu_ps(out.as_mut_ptr().add(8 * half), value);
            }
        }
    }
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
#[expect(
    unsafe_code,
    reason = "loads and stores of vector registers take pointers"
)]
fn tile_avx512<const TOKENS: usize>(tile: &Tile<'_>, out: &mut [f32]) {
    let pairs: [*const i32; TOKENS] = std::array::from_fn(|token| tile.pairs(token));
    let mut sums = [_mm512_setzero_ps(); TOKENS];
    for (group, block) in tile.blocks.iter().enumerate() {
        let mut exact = [_mm512_setzero_si512(); TOKENS];
        for pair in 0..PAIRS {
            // SAFETY: a block has 64 scales' bytes, then `PAIRS` times 32 bytes of weights.
            let weights = unsafe {
                let start = block.as_ptr().add(SCALES + pair * 2 * ROWS);
                _mm512_cvtepi8_epi16(_mm256_loadu_si256(start.cast()))
            };
            for token in 0..TOKENS {
                // SAFETY: there are as many groups of `PAIRS` pairs in a token's values as blocks.
                let pair = unsafe {
                    let pair = pairs[token].add(group * PAIRS + pair).read_unaligned();
                    _mm512_set1_epi32(pair)
                };
                exact[token] = _mm512_dpwssd_epi32(exact[token], weights, pair);
            }
        }
        // SAFETY: a block starts with 16 scales of 4 bytes.
        let scale = unsafe { _mm512_loadu_ps(block.as_ptr().cast()) };
        for token in 0..TOKENS {
            let part = _mm512_mul_ps(_mm512_cvtepi32_ps(exact[token]), scale);
            sums[token] = _mm512_add_ps(sums[token], part);
        }
    }
    // SAFETY: reads 16 numbers of an array of 16.
    let bias = unsafe { _mm512_loadu_ps(tile.bias.as_ptr()) };
    for (token, sum) in sums.iter().enumerate() {
        let unit = _mm512_set1_ps(tile.unit(token));
        let value = _mm512_add_ps(_mm512_mul_ps(*sum, unit), bias);
        // SAFETY: writes 16 numbers to an array of 16.
        unsafe { _mm512_storeu_ps(tile.out(out, token).as_mut_ptr(), value) };
    }
}
