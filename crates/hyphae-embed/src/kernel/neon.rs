//! 64-bit Arm, whose NEON instructions every such CPU has.

use std::arch::aarch64::*;

use super::{GROUP, Matrix, ROWS, SCALES, Vectors, check, scales};

pub(super) fn multiply(matrix: &Matrix<'_>, vectors: Vectors<'_>, out: &mut [f32]) {
    check(matrix, vectors, out);
    let groups = matrix.columns / GROUP;
    for (row_block, blocks) in matrix.blocks.chunks_exact(groups).enumerate() {
        let first_row = row_block * ROWS;
        let bias = &matrix.bias[first_row..first_row + ROWS];
        for (token, unit) in vectors.units.iter().enumerate() {
            let values = &vectors.values[token * matrix.columns..][..matrix.columns];
            let mut sums = [0.0; ROWS];
            for (block, values) in blocks.iter().zip(values.chunks_exact(GROUP)) {
                let exact = group(&block[SCALES..], values);
                for ((sum, exact), scale) in sums.iter_mut().zip(exact).zip(scales(block)) {
                    *sum += exact as f32 * scale;
                }
            }
            let out = &mut out[token * matrix.rows + first_row..][..ROWS];
            for ((out, sum), bias) in out.iter_mut().zip(sums).zip(bias) {
                *out = sum * unit + bias;
            }
        }
    }
}

/// Returns the exact sums of one block.
#[expect(unsafe_code, reason = "vector instructions and their loads")]
fn group(weights: &[u8], values: &[i16]) -> [i32; ROWS] {
    let mut sums = [0; ROWS];
    // SAFETY: NEON is part of the target; each load and store stays inside the 32 bytes of
    // `weights` or the 16 numbers of `sums`.
    unsafe {
        let mut lanes = [vdupq_n_s32(0); 4];
        for (weights, pair) in weights
            .as_chunks::<{ 2 * ROWS }>()
            .0
            .iter()
            .zip(values.as_chunks::<2>().0)
        {
            // Undoes the interleaving: all first columns, then all second ones.
            let columns = vld2q_s8(weights.as_ptr().cast());
            for (column, value) in [columns.0, columns.1].into_iter().zip(pair) {
                let lower = vmovl_s8(vget_low_s8(column));
                let upper = vmovl_s8(vget_high_s8(column));
                lanes[0] = vmlal_n_s16(lanes[0], vget_low_s16(lower), *value);
                lanes[1] = vmlal_n_s16(lanes[1], vget_high_s16(lower), *value);
                lanes[2] = vmlal_n_s16(lanes[2], vget_low_s16(upper), *value);
                lanes[3] = vmlal_n_s16(lanes[3], vget_high_s16(upper), *value);
            }
        }
        for (quarter, lanes) in lanes.into_iter().enumerate() {
            vst1q_s32(sums.as_mut_ptr().add(4 * quarter), lanes);
        }
    }
    sums
}
