//! How close the models are to what they were made from.

use hyphae_core::ports::Embedder;
use hyphae_embed::BuiltIn;

use crate::{cosine, models, texts, vector, vectors};

#[test]
fn minilm_is_within_a_thousandth_of_the_32_bit_model() {
    let reference: Vec<f32> = include_bytes!("../data/vectors.f16")
        .as_chunks::<2>()
        .0
        .iter()
        .map(|bytes| half(u16::from_le_bytes(*bytes)))
        .collect();
    let texts = texts();
    let found = vectors(&BuiltIn::minilm(), &texts);
    assert_eq!(found.len(), 300);
    let cosines: Vec<f32> = reference
        .chunks_exact(384)
        .zip(&found)
        .map(|(want, found)| cosine(want, found) / cosine(want, want).sqrt())
        .collect();
    let mean = cosines.iter().sum::<f32>() / cosines.len() as f32;
    let (worst, text) = cosines
        .iter()
        .zip(&texts)
        .min_by(|(a, _), (b, _)| a.total_cmp(b))
        .unwrap();
    println!("cosine to the reference: least {worst}, mean {mean}");
    assert!(*worst >= 0.999, "{worst} for {text:?}");
}

/// Widens a 16-bit float; the reference has no infinities.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 31);
    let fraction = f32::from(bits & 1023) / 1024.0;
    let size = if exponent == 0 {
        fraction / 2.0
    } else {
        (1.0 + fraction) * 2_f32.powi(exponent - 16)
    };
    let scale = if exponent == 0 { 2_f32.powi(-13) } else { 2.0 };
    sign * size * scale
}

#[test]
fn vectors_are_of_unit_length_and_of_the_stated_dimension() {
    for model in models() {
        for vector in vectors(&model, &texts()[..80]) {
            assert_eq!(vector.len(), model.model().dimension);
            assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-5);
        }
    }
}

#[test]
fn the_same_meaning_is_closer_than_the_same_topic() {
    for model in models() {
        let memory = vector(
            &model,
            "We chose Postgres as the database for the first release",
        );
        let question = vector(&model, "which database are we going to use in version one");
        let other = vector(&model, "The kitchen was painted yellow last weekend");
        let calibration = model.model().calibration;
        assert!(cosine(&memory, &question) > calibration.same_subject_from);
        assert!(cosine(&memory, &other) < calibration.unrelated_below);
    }
}
