//! Texts that are longer than a model's window: where to cut them, and how to make one vector of
//! the parts.

use std::ops::Range;

use crate::arithmetic::make_unit;
use crate::tokenizer::Cut;

/// Cuts pieces into ranges of at most `limit`, without leaving one out.
///
/// Each range is as long as it can be, but ends where a sentence does if one ends in its second
/// half; if none does, between words; in a word only when the word is that long. No pieces give one
/// empty range.
pub(crate) fn windows(cuts: &[Cut], limit: usize) -> Vec<Range<usize>> {
    let mut windows = Vec::with_capacity(cuts.len() / limit + 1);
    let mut start = 0;
    while cuts.len() - start > limit {
        let earliest = start + limit.div_ceil(2);
        let candidates = earliest..=start + limit;
        // Of equally good places `max_by_key` takes the last one.
        let end = candidates
            .max_by_key(|place| cuts[*place])
            .unwrap_or(start + limit);
        windows.push(start..end);
        start = end;
    }
    windows.push(start..cuts.len());
    windows
}

/// Returns the unit vector of a text from its windows' vectors and lengths.
///
/// Every window's vector is scaled to length 1 and counts by its number of pieces. Should they
/// cancel each other out, the text is what its first window is.
pub(crate) fn pool<const N: usize>(parts: &mut [([f32; N], usize)]) -> Vec<f32> {
    for (vector, _) in parts.iter_mut() {
        settle(vector);
    }
    let [(first, _), rest @ ..] = &*parts else {
        return axis(N);
    };
    if rest.is_empty() {
        return first.to_vec();
    }
    let mut sum = vec![0.0; N];
    for (vector, length) in parts.iter() {
        let weight = (*length).max(1) as f32;
        for (sum, value) in sum.iter_mut().zip(vector) {
            *sum += weight * value;
        }
    }
    if make_unit(&mut sum) {
        sum
    } else {
        first.to_vec()
    }
}

/// Scales a vector to length 1; one without a direction becomes the last axis.
pub(crate) fn settle(vector: &mut [f32]) {
    if !make_unit(vector) {
        vector.copy_from_slice(&axis(vector.len()));
    }
}

fn axis(dimension: usize) -> Vec<f32> {
    let mut axis = vec![0.0; dimension];
    if let Some(last) = axis.last_mut() {
        *last = 1.0;
    }
    axis
}

#[cfg(test)]
mod tests {
    use super::*;
    use Cut::{Joint, Sentence, Space, Word};

    #[track_caller]
    fn check(cuts: &[Cut], limit: usize, want_ends: &[usize]) {
        let ends: Vec<usize> = windows(cuts, limit)
            .into_iter()
            .map(|window| window.end)
            .collect();
        assert_eq!(ends, want_ends);
    }

    #[test]
    fn windows_end_at_the_best_place_of_their_second_half() {
        check(&[], 4, &[0]);
        check(&[Space; 4], 4, &[4]);
        check(&[Space; 9], 4, &[4, 8, 9]);
        check(&[Space, Word, Word, Sentence, Space, Word], 4, &[3, 6]);
        check(&[Space, Sentence, Word, Joint, Word, Word], 4, &[3, 6]);
        check(&[Word; 6], 4, &[4, 6]);
    }

    #[test]
    fn every_piece_is_in_exactly_one_window() {
        let cuts: Vec<Cut> = (0..5000_u32)
            .map(|n| [Word, Joint, Space, Sentence][(n * n % 7 % 4) as usize])
            .collect();
        let windows = windows(&cuts, 254);
        assert_eq!(windows[0].start, 0);
        assert!(windows.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert!(
            windows
                .iter()
                .all(|window| !window.is_empty() && window.len() <= 254)
        );
        assert_eq!(windows.last().unwrap().end, 5000);
    }

    #[test]
    fn longer_windows_count_more() {
        let mut parts = [([3.0, 0.0].map(|v| v), 3)];
        assert_eq!(pool(&mut pad(&mut parts))[..2], [1.0, 0.0]);
        let mut parts = [([5.0, 0.0], 3), ([0.0, 0.1], 4)];
        let pooled = pool(&mut pad(&mut parts));
        assert!((pooled[0] - 0.6).abs() < 1e-6 && (pooled[1] - 0.8).abs() < 1e-6);
    }

    #[test]
    fn what_has_no_direction_gets_one() {
        assert_eq!(pool::<16>(&mut [])[15], 1.0);
        assert_eq!(pool(&mut [([0.0; 16], 0)])[15], 1.0);
        let mut parts = [([1.0, 0.0], 2), ([-1.0, 0.0], 2)];
        assert_eq!(pool(&mut pad(&mut parts))[..2], [1.0, 0.0]);
    }

    /// Vectors have a multiple of 16 numbers.
    fn pad(parts: &mut [([f32; 2], usize)]) -> Vec<([f32; 16], usize)> {
        let wide = |vector: [f32; 2]| {
            let mut wide = [0.0; 16];
            wide[..2].copy_from_slice(&vector);
            wide
        };
        parts
            .iter()
            .map(|(vector, length)| (wide(*vector), *length))
            .collect()
    }
}
