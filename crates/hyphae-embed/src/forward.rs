//! The encoder: word pieces in, one vector a window out.
//!
//! Several windows are computed together, because a matrix is used best when many tokens are
//! multiplied with it at once. That changes no bit: what a token's vector is depends on the tokens
//! of its own window only, and each is rounded with a scale of its own.

use crate::arithmetic::{exp, gelu, normalise_layer, quantise};
use crate::kernel::{CpuPath, Matrix, Vectors, Work};
use crate::weights::{FEED_FORWARD, HEADS, HIDDEN, Layer, Norm, WINDOW, Weights};

/// How many numbers a head works on.
const HEAD: usize = HIDDEN / HEADS;

/// How many keys a query is compared with side by side.
const KEYS: usize = 16;

/// How many tokens go through a matrix together, which bounds the memory.
const CHUNK: usize = 64;

/// Returns the mean of the last layer's vectors for each window; not of unit length.
///
/// Each window has 1 to [`WINDOW`] pieces, and all together have at most [`WINDOW`].
pub(crate) fn encode(
    weights: &Weights<'_>,
    windows: &[&[u16]],
    path: CpuPath,
) -> Vec<[f32; HIDDEN]> {
    path.run(Encoding { weights, windows })
}

struct Encoding<'a> {
    weights: &'a Weights<'a>,
    windows: &'a [&'a [u16]],
}

impl Work for Encoding<'_> {
    type Output = Vec<[f32; HIDDEN]>;

    #[inline(always)]
    fn run(self, multiply: impl Fn(&Matrix<'_>, Vectors<'_>, &mut [f32])) -> Self::Output {
        let Self { weights, windows } = self;
        let tokens = windows.iter().map(|window| window.len()).sum();
        let mut state = vec![0.0; tokens * HIDDEN];
        let pieces = windows.iter().flat_map(|window| window.iter().enumerate());
        for (row, (position, piece)) in state.chunks_exact_mut(HIDDEN).zip(pieces) {
            weights.embed(*piece, position, row);
            normalise_layer(row, &weights.norm.gain, &weights.norm.offset);
        }
        let mut scratch = Scratch::new(tokens);
        for layer in &weights.layers {
            attend(layer, windows, &mut state, &mut scratch, &multiply);
            feed_forward(layer, &mut state, &mut scratch, &multiply);
        }
        means(windows, &state)
    }
}

/// Memory that the layers share.
struct Scratch {
    /// Query, key and value of each token, then of a head's result.
    attention: Vec<f32>,
    mixed: Vec<f32>,
    /// The keys of one head and window: [`KEYS`] of them side by side, number by number.
    keys: Vec<[f32; KEYS]>,
    shares: Vec<[f32; KEYS]>,
    up: Vec<f32>,
    down: Vec<f32>,
    rounded: Vec<i16>,
    units: Vec<f32>,
}

impl Scratch {
    fn new(tokens: usize) -> Self {
        let chunk = tokens.min(CHUNK);
        let blocks = tokens.min(WINDOW).div_ceil(KEYS);
        Self {
            attention: vec![0.0; tokens * 3 * HIDDEN],
            mixed: vec![0.0; tokens * HIDDEN],
            keys: vec![[0.0; KEYS]; blocks * HEAD],
            shares: vec![[0.0; KEYS]; blocks],
            up: vec![0.0; chunk * FEED_FORWARD],
            down: vec![0.0; chunk * HIDDEN],
            rounded: vec![0; chunk * FEED_FORWARD],
            units: vec![0.0; chunk],
        }
    }
}

/// Rounds `rows` and multiplies them with the matrix.
#[inline(always)]
fn product(
    matrix: &Matrix<'_>,
    rows: &[f32],
    rounded: &mut [i16],
    units: &mut [f32],
    out: &mut [f32],
    multiply: &impl Fn(&Matrix<'_>, Vectors<'_>, &mut [f32]),
) {
    let width = matrix.columns();
    let count = rows.len() / width;
    let (rounded, units) = (&mut rounded[..count * width], &mut units[..count]);
    let targets = rounded.chunks_exact_mut(width).zip(units.iter_mut());
    for (row, (rounded, unit)) in rows.chunks_exact(width).zip(targets) {
        *unit = quantise(row, rounded);
    }
    multiply(
        matrix,
        Vectors::new(width, rounded, units),
        &mut out[..count * matrix.rows()],
    );
}

/// Adds `change` to the rows of `state` and brings them back to the layer's scale.
#[inline(always)]
fn add_and_normalise(state: &mut [f32], change: &[f32], norm: &Norm) {
    for (row, change) in state
        .chunks_exact_mut(HIDDEN)
        .zip(change.chunks_exact(HIDDEN))
    {
        for (value, change) in row.iter_mut().zip(change) {
            *value += change;
        }
        normalise_layer(row, &norm.gain, &norm.offset);
    }
}

/// Lets each token take in what the others of its window have to say to it.
#[inline(always)]
fn attend(
    layer: &Layer<'_>,
    windows: &[&[u16]],
    state: &mut [f32],
    scratch: &mut Scratch,
    multiply: &impl Fn(&Matrix<'_>, Vectors<'_>, &mut [f32]),
) {
    let Scratch {
        attention,
        mixed,
        keys,
        shares,
        down,
        rounded,
        units,
        ..
    } = scratch;
    let outs = attention.chunks_mut(CHUNK * 3 * HIDDEN);
    for (rows, out) in state.chunks(CHUNK * HIDDEN).zip(outs) {
        product(&layer.attention, rows, rounded, units, out, multiply);
    }
    let mut first = 0;
    for window in windows {
        let tokens = first..first + window.len();
        let attention = &attention[tokens.start * 3 * HIDDEN..tokens.end * 3 * HIDDEN];
        let mixed = &mut mixed[tokens.start * HIDDEN..tokens.end * HIDDEN];
        for head in 0..HEADS {
            attend_with_head(head, attention, mixed, keys, shares);
        }
        first = tokens.end;
    }
    for (rows, mixed) in state
        .chunks_mut(CHUNK * HIDDEN)
        .zip(mixed.chunks(CHUNK * HIDDEN))
    {
        product(&layer.attention_out, mixed, rounded, units, down, multiply);
        add_and_normalise(rows, down, &layer.attention_norm);
    }
}

#[inline(always)]
fn attend_with_head(
    head: usize,
    attention: &[f32],
    mixed: &mut [f32],
    keys: &mut [[f32; KEYS]],
    shares: &mut [[f32; KEYS]],
) {
    let tokens = mixed.len() / HIDDEN;
    let part = |token: usize, which: usize| -> &[f32; HEAD] {
        let start = token * 3 * HIDDEN + which * HIDDEN + head * HEAD;
        &attention[start..start + HEAD].as_chunks().0[0]
    };
    let blocks = tokens.div_ceil(KEYS);
    let (keys, shares) = (&mut keys[..blocks * HEAD], &mut shares[..blocks]);
    for (block, keys) in keys.chunks_exact_mut(HEAD).enumerate() {
        for lane in 0..KEYS {
            let token = block * KEYS + lane;
            for (number, lanes) in keys.iter_mut().enumerate() {
                lanes[lane] = if token < tokens {
                    part(token, 1)[number]
                } else {
                    0.0
                };
            }
        }
    }
    for token in 0..tokens {
        let query = part(token, 0);
        let mut largest = f32::MIN;
        for ((block, share), keys) in shares.iter_mut().enumerate().zip(keys.chunks_exact(HEAD)) {
            let mut scores = [0.0; KEYS];
            for (number, keys) in query.iter().zip(keys) {
                for lane in 0..KEYS {
                    scores[lane] += number * keys[lane];
                }
            }
            for (lane, score) in scores.iter_mut().enumerate() {
                if block * KEYS + lane >= tokens {
                    *score = f32::MIN;
                }
                largest = if *score > largest { *score } else { largest };
            }
            *share = scores;
        }
        let mut lanes = [0.0; KEYS];
        for (block, share) in shares.iter_mut().enumerate() {
            for lane in 0..KEYS {
                let weight = exp(share[lane] - largest);
                share[lane] = if block * KEYS + lane < tokens {
                    weight
                } else {
                    0.0
                };
                lanes[lane] += share[lane];
            }
        }
        let whole = crate::arithmetic::total(lanes);
        let mut sums = [0.0; HEAD];
        for other in 0..tokens {
            let share = shares[other / KEYS][other % KEYS];
            let value = part(other, 2);
            for number in 0..HEAD {
                sums[number] += share * value[number];
            }
        }
        let start = token * HIDDEN + head * HEAD;
        for (out, sum) in mixed[start..start + HEAD].iter_mut().zip(sums) {
            *out = sum / whole;
        }
    }
}

/// Lets each token think about what it has taken in.
#[inline(always)]
fn feed_forward(
    layer: &Layer<'_>,
    state: &mut [f32],
    scratch: &mut Scratch,
    multiply: &impl Fn(&Matrix<'_>, Vectors<'_>, &mut [f32]),
) {
    let Scratch {
        up,
        down,
        rounded,
        units,
        ..
    } = scratch;
    for rows in state.chunks_mut(CHUNK * HIDDEN) {
        let up = &mut up[..rows.len() / HIDDEN * FEED_FORWARD];
        product(&layer.up, rows, rounded, units, up, multiply);
        for value in up.iter_mut() {
            *value = gelu(*value);
        }
        product(&layer.down, up, rounded, units, down, multiply);
        add_and_normalise(rows, down, &layer.norm);
    }
}

#[inline(always)]
fn means(windows: &[&[u16]], state: &[f32]) -> Vec<[f32; HIDDEN]> {
    let mut rows = state.as_chunks::<HIDDEN>().0.iter();
    let mean = |window: &&[u16]| {
        let mut mean = [0.0; HIDDEN];
        for row in rows.by_ref().take(window.len()) {
            for (mean, value) in mean.iter_mut().zip(row) {
                *mean += value;
            }
        }
        mean.map(|sum| sum / window.len() as f32)
    };
    windows.iter().map(mean).collect()
}
