//! From a cosine and a share of words to the one number that sorts an answer.
//!
//! `score = max(cosine, 0) + λ · words`, where `words` is BM25 divided by what a text of mean
//! length reaches that has each of the query's words once, at most 1. So it means the same from
//! query to query and does not depend on the other results. `distance = 1 − score / (1 + λ)`.

use std::fmt;

use crate::ports::Calibration;

/// How far a memory is from a query, in steps of 0.0001 from 0 (the identical text) to 1.
/// It is kept as it is printed: what sorts an answer is what people see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Distance(u16);

impl Distance {
    /// The identical text.
    pub const IDENTICAL: Self = Self(0);
    /// The nearest that another text can be.
    const NEAREST: u16 = 1;
    const STEPS: f32 = 10_000.0;

    fn of(share: f32) -> Self {
        let steps = ((1.0 - share) * Self::STEPS).round();
        Self((steps.clamp(f32::from(Self::NEAREST), Self::STEPS)) as u16)
    }

    /// Returns the distance nearest to a number, or none outside [0, 1].
    pub fn new(number: f64) -> Option<Self> {
        let steps = (number * f64::from(Self::STEPS)).round();
        (0.0..=1.0).contains(&number).then_some(Self(steps as u16))
    }

    /// Returns the distance as a number in [0, 1].
    pub fn get(self) -> f32 {
        f32::from(self.0) / Self::STEPS
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:04}", self.0 / 10_000, self.0 % 10_000)
    }
}

/// The numbers of the scoring rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scoring {
    /// λ: what a full match of words is worth beside a cosine of 1.
    pub words_weight: f32,
    /// What a word of the surroundings (date, turn before) counts beside one of the text, in
    /// [0, 1].
    pub context_weight: f32,
    /// BM25's saturation of repeated words.
    pub k1: f32,
    /// BM25's correction for length, in [0, 1].
    pub b: f32,
    /// Below this cosine a memory that shares no word is left out.
    pub unrelated_below: f32,
}

impl Scoring {
    /// Returns the rule for a model. The constants were chosen on two development
    /// conversations of LoCoMo and the paraphrase pairs; see `benches/` of this crate.
    pub const fn for_model(calibration: &Calibration) -> Self {
        Self {
            words_weight: 0.7,
            context_weight: 0.5,
            k1: 0.9,
            b: 0.4,
            unrelated_below: calibration.unrelated_below,
        }
    }

    /// Tells whether a memory has anything to do with the query.
    #[inline(always)]
    pub(crate) fn is_related(&self, cosine: Option<f32>, words: f32) -> bool {
        words > 0.0 || cosine.is_some_and(|cosine| cosine >= self.unrelated_below)
    }

    #[inline(always)]
    pub(crate) fn distance(&self, cosine: Option<f32>, words: f32) -> Distance {
        let score = cosine.unwrap_or_default().max(0.0) + self.words_weight * words;
        Distance::of(score / (1.0 + self.words_weight))
    }
}

/// BM25 (Robertson and Zaragoza, 2009) over a text and its surroundings, the latter at a
/// discount. Counts are those of one project as one credential sees it, so no other project's
/// writes move a ranking.
#[derive(Debug)]
pub(crate) struct Words<'a> {
    scoring: &'a Scoring,
    cells: f32,
    mean_length: f32,
}

impl<'a> Words<'a> {
    pub(crate) fn new(scoring: &'a Scoring, cells: u32, own: u64, context: u64) -> Self {
        let total = own as f32 + scoring.context_weight * context as f32;
        Self {
            scoring,
            cells: cells as f32,
            mean_length: (total / cells.max(1) as f32).max(1.0),
        }
    }

    /// Returns how much a word that occurs in `cells_with_it` cells tells apart.
    pub(crate) fn rarity(&self, cells_with_it: usize) -> f32 {
        let with = cells_with_it as f32;
        libm::logf(1.0 + (self.cells - with + 0.5) / (with + 0.5))
    }

    /// Returns what a word of this rarity adds if it occurs `times` times (in a text itself, in
    /// its surroundings) of this length; `rarity` for once in a text of mean length.
    #[inline(always)]
    pub(crate) fn score(&self, rarity: f32, times: (u8, u8), length: (u32, u32)) -> f32 {
        let weigh = |own: f32, context: f32| own + self.scoring.context_weight * context;
        let times = weigh(f32::from(times.0), f32::from(times.1));
        let length = weigh(length.0 as f32, length.1 as f32);
        let norm = 1.0 - self.scoring.b + self.scoring.b * length / self.mean_length;
        rarity * (self.scoring.k1 + 1.0) * times / (times + self.scoring.k1 * norm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALIBRATION: Calibration = Calibration {
        unrelated_below: 0.2,
        same_subject_from: 0.6,
        near_duplicate_from: 0.97,
    };

    #[test]
    fn a_distance_is_printed_with_four_decimals() {
        assert_eq!(Distance::IDENTICAL.to_string(), "0.0000");
        assert_eq!(Distance::of(0.876_6).to_string(), "0.1234");
        assert_eq!(Distance::of(0.0).to_string(), "1.0000");
        assert_eq!(
            Distance::of(1.0).to_string(),
            "0.0001",
            "only the identical text is at 0"
        );
        assert_eq!(Distance::of(1.2).to_string(), "0.0001");
        assert_eq!(Distance::new(0.123_44).unwrap().to_string(), "0.1234");
        assert_eq!((Distance::new(-0.1), Distance::new(f64::NAN)), (None, None));
    }

    #[test]
    fn the_score_is_a_sum_and_the_distance_its_share() {
        let scoring = Scoring {
            words_weight: 1.0,
            ..Scoring::for_model(&CALIBRATION)
        };
        assert_eq!(scoring.distance(Some(0.5), 0.3).to_string(), "0.6000");
        assert_eq!(scoring.distance(Some(-0.5), 0.0).to_string(), "1.0000");
        assert_eq!(scoring.distance(None, 0.5).to_string(), "0.7500");
    }

    #[test]
    fn a_memory_is_related_by_meaning_or_by_words() {
        let scoring = Scoring::for_model(&CALIBRATION);
        assert!(scoring.is_related(Some(0.2), 0.0));
        assert!(scoring.is_related(None, 0.01));
        assert!(!scoring.is_related(Some(0.19), 0.0));
        assert!(!scoring.is_related(None, 0.0));
    }

    #[test]
    fn a_word_once_in_a_text_of_mean_length_adds_its_rarity() {
        let scoring = Scoring::for_model(&CALIBRATION);
        let words = Words::new(&scoring, 10, 100, 0);
        let rarity = words.rarity(1);
        assert!(rarity > words.rarity(5));
        assert!(words.rarity(10) > 0.0);
        let once = words.score(rarity, (1, 0), (10, 0));
        assert!((once - rarity).abs() < 1e-6, "{once} {rarity}");
        assert!(words.score(rarity, (2, 0), (10, 0)) > once);
        assert!(words.score(rarity, (1, 0), (20, 0)) < once);
        assert!(words.score(rarity, (0, 1), (10, 0)) < once);
    }
}
