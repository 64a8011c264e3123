//! LoCoMo as a retrieval task.

use std::{collections::HashSet, fmt, fs::File, io::BufReader, iter::Sum, path::Path};

use anyhow::Context;
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use serde_json::Value;

#[derive(Debug, Clone)]
pub(crate) struct Conversation {
    pub(crate) id: String,
    pub(crate) turns: Vec<Turn>,
    pub(crate) questions: Vec<Question>,
}

#[derive(Debug, Clone)]
pub(crate) struct Turn {
    pub(crate) id: String,
    pub(crate) session: u32,
    pub(crate) date: Option<Timestamp>,
    /// `speaker: text`, and what a shared picture shows.
    pub(crate) text: String,
}

#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) evidence: HashSet<String>,
}

/// Reads the conversations and their questions of categories 1 to 4. A question whose evidence
/// names no turn of its conversation is left out.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Conversation>> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let all: Vec<Value> = serde_json::from_reader(BufReader::new(file))?;
    all.iter()
        .map(|one| conversation(one).context("a conversation of another form"))
        .collect()
}

fn conversation(value: &Value) -> Option<Conversation> {
    let spoken = value["conversation"].as_object()?;
    let mut numbers: Vec<u32> = spoken
        .keys()
        .filter_map(|key| key.strip_prefix("session_")?.parse().ok())
        .collect();
    numbers.sort_unstable();
    let mut turns = Vec::new();
    for session in numbers {
        let date = spoken
            .get(&format!("session_{session}_date_time"))
            .and_then(Value::as_str);
        for turn in spoken[&format!("session_{session}")].as_array()? {
            let mut text = format!("{}: {}", turn["speaker"].as_str()?, turn["text"].as_str()?);
            if let Some(caption) = turn["blip_caption"].as_str() {
                text.push_str(&format!(" [shares a picture: {caption}]"));
            }
            turns.push(Turn {
                id: turn["dia_id"].as_str()?.to_owned(),
                session,
                date: date.and_then(timestamp),
                text,
            });
        }
    }
    let known: HashSet<&str> = turns.iter().map(|turn| turn.id.as_str()).collect();
    let questions = value["qa"].as_array()?.iter().filter_map(|qa| {
        let scored = (1..=4).contains(&qa["category"].as_u64()?);
        let evidence: HashSet<String> = qa["evidence"]
            .as_array()?
            .iter()
            .filter_map(Value::as_str)
            .flat_map(turn_ids)
            .filter(|id| known.contains(id.as_str()))
            .collect();
        (scored && !evidence.is_empty()).then(|| {
            Some(Question {
                text: qa["question"].as_str()?.to_owned(),
                evidence,
            })
        })?
    });
    let questions = questions.collect();
    Some(Conversation {
        id: value["sample_id"].as_str()?.to_owned(),
        turns,
        questions,
    })
}

/// Reads `1:56 pm on 8 May, 2023`.
fn timestamp(text: &str) -> Option<Timestamp> {
    let date = DateTime::strptime("%I:%M %p on %d %B, %Y", text).ok()?;
    TimeZone::UTC.to_timestamp(date).ok()
}

/// Finds `D1:3`, `D:1:3` and `D01:03` in a text, as `D1:3`.
fn turn_ids(text: &str) -> Vec<String> {
    let numbers = |text: &str| -> Option<(u32, u32)> {
        let (session, turn) = text.trim_start_matches(':').split_once(':')?;
        let digits: String = turn.chars().take_while(char::is_ascii_digit).collect();
        Some((session.trim().parse().ok()?, digits.parse().ok()?))
    };
    text.split('D')
        .skip(1)
        .filter_map(numbers)
        .map(|(session, turn)| format!("D{session}:{turn}"))
        .collect()
}

/// Sums over questions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Score {
    recall_at_10: f64,
    reciprocal_rank: f64,
    questions: usize,
}

impl Score {
    pub(crate) fn add(&mut self, ranking: &[String], evidence: &HashSet<String>) {
        let found = ranking
            .iter()
            .take(10)
            .filter(|id| evidence.contains(*id))
            .count();
        self.recall_at_10 += found as f64 / evidence.len() as f64;
        let first = ranking.iter().take(50).position(|id| evidence.contains(id));
        self.reciprocal_rank += first.map_or(0.0, |at| 1.0 / (at + 1) as f64);
        self.questions += 1;
    }

    pub(crate) fn recall(&self) -> f64 {
        self.recall_at_10 / self.questions.max(1) as f64
    }
}

impl Sum for Score {
    fn sum<I: Iterator<Item = Self>>(scores: I) -> Self {
        scores.fold(Self::default(), |a, b| Self {
            recall_at_10: a.recall_at_10 + b.recall_at_10,
            reciprocal_rank: a.reciprocal_rank + b.reciprocal_rank,
            questions: a.questions + b.questions,
        })
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rank = self.reciprocal_rank / self.questions.max(1) as f64;
        write!(
            f,
            "  {:.3}  {rank:.3}  {:>5}",
            self.recall(),
            self.questions
        )
    }
}

pub(crate) fn score(conversation: &Conversation, rank: impl Fn(&Question) -> Vec<String>) -> Score {
    let mut score = Score::default();
    for question in &conversation.questions {
        score.add(&rank(question), &question.evidence);
    }
    score
}
