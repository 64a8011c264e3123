//! Tests of the embedding models through the port.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, where a failure is a failed test"
)]

mod odd;
mod paths;
mod quality;

use hyphae_embed::BuiltIn;

/// Returns what every test that does not name a model is about.
fn models() -> [BuiltIn; 2] {
    [BuiltIn::minilm(), BuiltIn::static_table()]
}

/// Returns the 300 texts that the reference's vectors are of.
fn texts() -> Vec<String> {
    serde_json::from_str(include_str!("../data/texts.json")).unwrap()
}

fn vectors(model: &BuiltIn, texts: &[String]) -> Vec<Vec<f32>> {
    model.embed_blocking(texts).unwrap()
}

fn vector(model: &BuiltIn, text: &str) -> Vec<f32> {
    vectors(model, &[text.to_owned()]).remove(0)
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A hash of every bit of the vectors (FNV-1a).
fn hash(vectors: &[Vec<f32>]) -> u64 {
    let bits = vectors
        .iter()
        .flatten()
        .flat_map(|number| number.to_bits().to_le_bytes());
    bits.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}
