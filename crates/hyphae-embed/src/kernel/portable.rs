//! The path without vector instructions of its own; the compiler uses what the target always has.

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
                let mut exact = [0_i32; ROWS];
                let pairs = block[SCALES..].as_chunks::<{ 2 * ROWS }>().0;
                for (weights, pair) in pairs.iter().zip(values.as_chunks::<2>().0) {
                    for row in 0..ROWS {
                        exact[row] += i32::from(weights[2 * row] as i8) * i32::from(pair[0])
                            + i32::from(weights[2 * row + 1] as i8) * i32::from(pair[1]);
                    }
                }
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
