//! Baselines, written apart from the engine: BM25 as Lucene counts it, with Snowball stems and
//! Lucene's English stop words.

use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

use super::locomo::Conversation;

/// Ranks a conversation's turns for a question.
pub(crate) type Ranker = fn(&Conversation, &str) -> Vec<String>;

/// All baselines. The second knows what the engine is told with session, order and date.
pub(crate) const ALL: [(&str, Ranker); 2] = [
    ("BM25, plain turns", plain),
    ("BM25, date and turn before", surrounded),
];

fn plain(conversation: &Conversation, question: &str) -> Vec<String> {
    let bm25 = Bm25::new(conversation.turns.iter().map(|turn| turn.text.as_str()));
    named(conversation, &bm25.ranking(question))
}

fn surrounded(conversation: &Conversation, question: &str) -> Vec<String> {
    let texts: Vec<String> = conversation
        .turns
        .iter()
        .enumerate()
        .map(|(at, turn)| {
            let date = turn.date.map(|date| date.strftime("%-d %B %Y").to_string());
            let before = at.checked_sub(1).map(|before| &conversation.turns[before]);
            let before = before.filter(|before| before.session == turn.session);
            format!(
                "{} {} {}",
                date.unwrap_or_default(),
                before.map_or("", |before| before.text.as_str()),
                turn.text
            )
        })
        .collect();
    named(
        conversation,
        &Bm25::new(texts.iter().map(String::as_str)).ranking(question),
    )
}

fn named(conversation: &Conversation, ranking: &[usize]) -> Vec<String> {
    ranking
        .iter()
        .take(50)
        .map(|&at| conversation.turns[at].id.clone())
        .collect()
}

/// BM25 with k1 1.2 (bm25s has 1.5; no difference worth a line) and b 0.75.
pub(crate) struct Bm25 {
    texts: Vec<HashMap<String, f64>>,
    lengths: Vec<f64>,
    with: HashMap<String, f64>,
}

impl Bm25 {
    pub(crate) fn new<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let counted: Vec<HashMap<String, f64>> = texts
            .map(|text| {
                let mut counts = HashMap::new();
                words(text)
                    .into_iter()
                    .for_each(|word| *counts.entry(word).or_default() += 1.0);
                counts
            })
            .collect();
        let mut with: HashMap<String, f64> = HashMap::new();
        for word in counted.iter().flat_map(HashMap::keys) {
            *with.entry(word.clone()).or_default() += 1.0;
        }
        let lengths = counted.iter().map(|counts| counts.values().sum()).collect();
        Self {
            texts: counted,
            lengths,
            with,
        }
    }

    /// Returns all texts, best first; equals in their own order.
    pub(crate) fn ranking(&self, query: &str) -> Vec<usize> {
        let n = self.texts.len() as f64;
        let mean = self.lengths.iter().sum::<f64>() / n;
        let mut scores = vec![0.0; self.texts.len()];
        for word in words(query) {
            let with = self.with.get(&word).copied().unwrap_or_default();
            let rarity = (1.0 + (n - with + 0.5) / (with + 0.5)).ln();
            for (at, counts) in self.texts.iter().enumerate() {
                if let Some(times) = counts.get(&word) {
                    let norm = 0.25 + 0.75 * self.lengths[at] / mean;
                    scores[at] += rarity * times / (times + 1.2 * norm);
                }
            }
        }
        let mut ranking: Vec<usize> = (0..scores.len()).collect();
        ranking.sort_by(|&a, &b| f64::total_cmp(&scores[b], &scores[a]));
        ranking
    }
}

/// Runs of at least two letters or digits, lower case, without stop words, stemmed.
fn words(text: &str) -> Vec<String> {
    const STOP: [&str; 33] = [
        "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is",
        "it", "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there",
        "these", "they", "this", "to", "was", "will", "with",
    ];
    let stemmer = Stemmer::create(Algorithm::English);
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.chars().count() > 1 && !STOP.contains(word))
        .map(|word| stemmer.stem(word).into_owned())
        .collect()
}
