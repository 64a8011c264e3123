//! Floating-point steps between the matrix products, written so that every CPU gives the same bits.
//!
//! Only `+`, `-`, `*`, `/` and square root are used, each of which IEEE 754 rounds in one way; no
//! fused multiply-add; sums run over [`LANES`] fixed lanes that are added up in a fixed order. The
//! functions are inlined into callers compiled for different instruction sets, which changes how
//! many lanes are computed at once but not what is computed.

/// How many partial sums a sum is split into.
pub(crate) const LANES: usize = 16;

/// The largest magnitude that [`quantise`] gives.
const FULL_SCALE: f32 = 32_767.0;

/// Added to a number below 2²², it leaves the nearest integer in the low bits of the sum.
const TO_INTEGER: f32 = 12_582_912.0;

/// Returns e to the power of `x`, to about one unit in the last place, for `x` in [-87, 87];
/// beyond that the limit's value.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // Splits x into n·ln 2 + r with |r| ≤ ln 2 / 2. The upper part of ln 2 has few enough bits that
    // its product with n is exact.
    const LN_2_UPPER: f32 = 355.0 / 512.0;
    const LN_2_LOWER: f32 = -2.121_944_4e-4;
    let x = if x > 87.0 { 87.0 } else { x };
    let x = if x < -87.0 { -87.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + TO_INTEGER;
    let n = shifted - TO_INTEGER;
    let r = (x - n * LN_2_UPPER) - n * LN_2_LOWER;
    // The Taylor series: the first term left out is below 1e-8.
    let mut series = 1.0 / 5040.0;
    for factor in [
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ] {
        series = series * r + factor;
    }
    let power_of_two = f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23));
    series * power_of_two
}

/// Returns `x` times the share of a normal distribution below `x`, the activation of BERT.
///
/// The error function is Abramowitz and Stegun's formula 7.1.26, off by at most 1.5e-7.
#[inline(always)]
pub(crate) fn gelu(x: f32) -> f32 {
    let z = (x * std::f32::consts::FRAC_1_SQRT_2).abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let mut tail = 1.061_405_4;
    for factor in [-1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6] {
        tail = tail * t + factor;
    }
    let erf = 1.0 - tail * t * exp(-(z * z));
    0.5 * x * (1.0 + if x < 0.0 { -erf } else { erf })
}

/// Adds up lanes, pairwise.
#[inline(always)]
pub(crate) fn total(mut lanes: [f32; LANES]) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] += lanes[lane + half];
        }
        half /= 2;
    }
    lanes[0]
}

/// Returns the sum of `values`, whose count must be a multiple of [`LANES`].
#[inline(always)]
pub(crate) fn sum(values: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    for chunk in values.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            lanes[lane] += chunk[lane];
        }
    }
    total(lanes)
}

/// Brings `row` to mean 0 and variance 1, then applies the learned gain and offset.
#[inline(always)]
pub(crate) fn normalise_layer(row: &mut [f32], gain: &[f32], offset: &[f32]) {
    let count = row.len() as f32;
    let mean = sum(row) / count;
    let mut lanes = [0.0; LANES];
    for chunk in row.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            let distance = chunk[lane] - mean;
            lanes[lane] += distance * distance;
        }
    }
    let scale = 1.0 / (total(lanes) / count + 1e-12).sqrt();
    for ((value, gain), offset) in row.iter_mut().zip(gain).zip(offset) {
        *value = (*value - mean) * scale * gain + offset;
    }
}

/// Rounds `row` to integers of at most 15 bits and returns what one of them is worth.
#[inline(always)]
pub(crate) fn quantise(row: &[f32], out: &mut [i16]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    for chunk in row.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            let size = chunk[lane].abs();
            lanes[lane] = if size > lanes[lane] {
                size
            } else {
                lanes[lane]
            };
        }
    }
    let mut largest = 0.0;
    for size in lanes {
        largest = if size > largest { size } else { largest };
    }
    if largest == 0.0 {
        out.fill(0);
        return 0.0;
    }
    let per_unit = FULL_SCALE / largest;
    for (value, out) in row.iter().zip(out) {
        // The low half of the bits is the integer in two's complement.
        *out = (value * per_unit + TO_INTEGER).to_bits() as u16 as i16;
    }
    largest / FULL_SCALE
}

/// Scales `vector` to length 1, and returns false when it has no direction.
pub(crate) fn make_unit(vector: &mut [f32]) -> bool {
    let mut lanes = [0.0; LANES];
    for chunk in vector.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            lanes[lane] += chunk[lane] * chunk[lane];
        }
    }
    let length = total(lanes).sqrt();
    if length.is_nan() || length < 1e-20 {
        return false;
    }
    let scale = 1.0 / length;
    for value in vector {
        *value *= scale;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_within_two_units_in_the_last_place() {
        for step in -86_000..86_000 {
            let x = step as f32 / 1000.0;
            let want = f64::from(x).exp();
            let off = (f64::from(exp(x)) - want).abs() / want;
            assert!(off < 2.4e-7, "exp({x}) is off by {off}");
        }
        assert_eq!(exp(-1e9), exp(-87.0));
    }

    #[test]
    fn gelu_meets_known_values() {
        // Φ(1) = 0.8413447, Φ(-1) = 0.1586553, Φ(2.5) = 0.9937903.
        for (x, want) in [
            (0.0, 0.0),
            (1.0, 0.841_344_7),
            (-1.0, -0.158_655_3),
            (2.5, 2.484_475_8),
        ] {
            assert!((gelu(x) - want).abs() < 5e-7, "gelu({x}) = {}", gelu(x));
        }
        assert_eq!(gelu(30.0), 30.0);
        assert_eq!(gelu(-30.0), 0.0);
    }

    #[test]
    fn quantise_rounds_to_the_nearest_and_spans_the_range() {
        let mut row = [0.0; 32];
        row[..5].copy_from_slice(&[1.0, -1.0, 0.5, -0.25, 1e-6]);
        let mut out = [9; 32];
        let unit = quantise(&row, &mut out);
        assert_eq!(out[..6], [32_767, -32_767, 16_384, -8192, 0, 0]);
        assert!((unit * 32_767.0 - 1.0).abs() < 1e-6);
        assert_eq!(quantise(&[0.0; 32], &mut out), 0.0);
        assert_eq!(out, [0; 32]);
    }
}
