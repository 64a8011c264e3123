//! Recall quality on LoCoMo and on paraphrases, beside baselines, in one run.
//!
//! ```text
//! HYPHAE_LOCOMO=../shared/data/locomo5.json cargo bench -p hyphae-server --bench recall_quality
//! … --bench recall_quality -- --sweep      the scoring constants, on the development half only
//! … --bench recall_quality -- --static     with the static table
//! ```
//!
//! Everything that is called "engine" goes through `Memories` and a real SQLite store, as the
//! program does; or the database on a server that `HYPHAE_BENCH_POSTGRES` names, where every
//! number must be the same. LoCoMo (Maharana et al., ACL 2024) is CC BY-NC 4.0 and not part of this
//! repository; its conversations conv-26 and conv-30 are for choosing constants, the others for
//! reporting. R@10 is the mean share of a question's evidence turns among the first ten.
#![expect(clippy::print_stdout, reason = "a measurement's output")]

mod baseline;
mod locomo;

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Context;
use async_trait::async_trait;
use hyphae_core::{
    audit::Via,
    credential::{ApiKey, Credential},
    ids::{CellId, CredentialId, SessionId, TenantId},
    memories::{HitCount, Memories, NewMemory, RecallRequest},
    ports::{CredentialStore, EmbedError, Embedder, EmbeddingModel},
    recall::{Filter, Scoring},
    scope::{Owner, Project, Scope},
};
use hyphae_embed::BuiltIn;
use hyphae_store::{PostgresAddress, PostgresOptions, SqliteOptions, Store};
use hyphae_testkit::WallClock;
use jiff::Timestamp;
use uuid::Uuid;

use locomo::{Conversation, Score};

/// How many hits are looked at.
const K: u16 = 50;
const DEVELOPMENT: [&str; 2] = ["conv-26", "conv-30"];

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let flags: Vec<String> = std::env::args().collect();
    let has = |flag: &str| flags.iter().any(|given| given == flag);
    let data = std::env::var("HYPHAE_LOCOMO").unwrap_or("../shared/data/locomo5.json".to_owned());
    // Cargo runs benches in the package's folder, people name files from the workspace's.
    let data = [Path::new("../..").join(&data), data.into()]
        .into_iter()
        .find(|path| path.exists())
        .context("HYPHAE_LOCOMO names no file; see the head of this bench")?;
    let conversations = locomo::read(&data)?;
    let embedder = Arc::new(Remembering::new(if has("--static") {
        BuiltIn::static_table()
    } else {
        BuiltIn::minilm()
    }));
    println!("model {}", embedder.model().id);
    let default = Scoring::for_model(&embedder.model().calibration);
    if has("--sweep") {
        return sweep(&conversations, &embedder, default).await;
    }

    let (development, held_out): (Vec<_>, Vec<_>) = conversations
        .iter()
        .partition(|c| DEVELOPMENT.contains(&c.id.as_str()));
    println!("\nLoCoMo, categories 1-4        development            held out");
    println!("                              R@10   MRR    n        R@10   MRR    n");
    let row = |name: &str, a: Score, b: Score| println!("{name:<28}{a}   {b}");
    for (name, ranker) in baseline::ALL {
        let of = |part: &[&Conversation]| -> Score {
            part.iter()
                .map(|c| locomo::score(c, |q| ranker(c, &q.text)))
                .sum()
        };
        row(name, of(&development), of(&held_out));
    }
    for (name, told) in [
        ("engine, plain turns", Told::Plain),
        ("engine, session and date", Told::All),
    ] {
        let engine = Engine::fill(&conversations, told, &embedder).await?;
        row(
            name,
            engine.score(&development, default).await?,
            engine.score(&held_out, default).await?,
        );
    }
    paraphrases(&conversations, &embedder, default).await
}

/// What the store is told of a turn beside its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// Nothing.
    Plain,
    /// Its session, and so its order, and when it was said.
    All,
}

/// Conversations in a real store, each in a project of its own.
struct Engine {
    store: Store,
    owner: Owner,
    embedder: Arc<Remembering>,
    turns: HashMap<CellId, String>,
    _folder: tempfile::TempDir,
}

/// Makes a key up that nobody has.
fn key() -> ApiKey {
    let mut random = [7; 32];
    random[..16].copy_from_slice(Uuid::now_v7().as_bytes());
    ApiKey::from_random(random)
}

/// Opens the database that is named, or else makes a file.
async fn open(folder: &Path) -> anyhow::Result<Store> {
    Ok(match std::env::var("HYPHAE_BENCH_POSTGRES") {
        Ok(url) => {
            let address = PostgresAddress::parse(&url)?;
            Store::create_on_server(&address, PostgresOptions::default()).await?
        }
        Err(_) => Store::create_file(&folder.join("bench.db"), SqliteOptions::default()).await?,
    })
}

impl Engine {
    async fn empty(embedder: &Arc<Remembering>) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let store = open(folder.path()).await?;
        let credential = Credential {
            id: CredentialId::new(Uuid::now_v7()),
            // A database on a server may hold others, of an earlier run too.
            tenant: TenantId::new(Uuid::now_v7()),
            name: "bench".to_owned(),
            created_at: Timestamp::now(),
            revoked_at: None,
        };
        store.add_credential(&credential, &key()).await?;
        let owner = credential.owner();
        let embedder = Arc::clone(embedder);
        Ok(Self {
            store,
            owner,
            embedder,
            turns: HashMap::new(),
            _folder: folder,
        })
    }

    async fn fill(
        conversations: &[Conversation],
        told: Told,
        embedder: &Arc<Remembering>,
    ) -> anyhow::Result<Self> {
        let mut engine = Self::empty(embedder).await?;
        let memories = engine.memories(Scoring::for_model(&embedder.model().calibration));
        for conversation in conversations {
            let scope = engine.scope(&conversation.id)?;
            let mut sessions: HashMap<u32, SessionId> = HashMap::new();
            for turn in &conversation.turns {
                let mut memory = NewMemory::new(turn.text.clone());
                if told == Told::All {
                    let session = sessions
                        .entry(turn.session)
                        .or_insert_with(|| SessionId::new(Uuid::now_v7()));
                    memory.origin.session = Some(*session);
                    memory.origin.said_at = turn.date;
                }
                let stored = memories.store(&scope, memory, &Via::default()).await?;
                engine
                    .turns
                    .entry(stored.id)
                    .or_insert_with(|| turn.id.clone());
            }
        }
        Ok(engine)
    }

    fn memories(&self, scoring: Scoring) -> Memories {
        let store = Arc::new(self.store.clone());
        let embedder = Arc::clone(&self.embedder) as Arc<dyn Embedder>;
        Memories::new(store, embedder, Arc::new(WallClock)).with_scoring(scoring)
    }

    fn scope(&self, project: &str) -> anyhow::Result<Scope> {
        Ok(self.owner.in_project(Project::named(project)?))
    }

    async fn ranking(
        &self,
        memories: &Memories,
        project: &str,
        query: &str,
    ) -> anyhow::Result<Vec<String>> {
        let request = RecallRequest {
            query: Some(query.to_owned()),
            k: HitCount::new(K).context("K is a count")?,
            filter: Filter::at(memories.now()),
            max_distance: None,
        };
        let recalled = memories.recall(&self.scope(project)?, &request).await?;
        let ids = recalled
            .matches
            .iter()
            .filter_map(|m| self.turns.get(&m.cell.id).cloned());
        Ok(ids.collect())
    }

    async fn score(
        &self,
        conversations: &[&Conversation],
        scoring: Scoring,
    ) -> anyhow::Result<Score> {
        let memories = self.memories(scoring);
        let mut score = Score::default();
        for conversation in conversations {
            for question in &conversation.questions {
                let ranking = self
                    .ranking(&memories, &conversation.id, &question.text)
                    .await?;
                score.add(&ranking, &question.evidence);
            }
        }
        Ok(score)
    }
}

/// Questions that share hardly a word with the memory that answers them, among 1,500 turns.
async fn paraphrases(
    conversations: &[Conversation],
    embedder: &Arc<Remembering>,
    scoring: Scoring,
) -> anyhow::Result<()> {
    let pairs: Vec<(&str, &str)> = include_str!("../../../hyphae-embed/calibration/pairs.tsv")
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .collect();
    let (hybrid, words) = paraphrase_hits(conversations, embedder, scoring, &pairs).await?;
    println!(
        "\nparaphrases, hit@10 of {}: engine {hybrid:.3}, words alone {words:.3}",
        pairs.len()
    );
    Ok(())
}

async fn paraphrase_hits(
    conversations: &[Conversation],
    embedder: &Arc<Remembering>,
    scoring: Scoring,
    pairs: &[(&str, &str)],
) -> anyhow::Result<(f64, f64)> {
    let mut engine = Engine::empty(embedder).await?;
    let memories = engine.memories(scoring);
    let scope = engine.scope("paraphrases")?;
    let others = conversations.iter().flat_map(|c| &c.turns).take(1500);
    let texts = others
        .map(|turn| turn.text.as_str())
        .chain(pairs.iter().map(|(m, _)| *m));
    for text in texts {
        let stored = memories
            .store(&scope, NewMemory::new(text), &Via::default())
            .await?;
        engine.turns.insert(stored.id, text.to_owned());
    }
    let all: Vec<String> = engine.turns.values().cloned().collect();
    let bm25 = baseline::Bm25::new(all.iter().map(String::as_str));
    let (mut hybrid, mut words) = (0, 0);
    for (memory, question) in pairs {
        let ranking = engine.ranking(&memories, "paraphrases", question).await?;
        hybrid += usize::from(ranking.iter().take(10).any(|text| text == memory));
        let ranking = bm25.ranking(question);
        words += usize::from(ranking.iter().take(10).any(|&at| all[at] == *memory));
    }
    Ok((
        hybrid as f64 / pairs.len() as f64,
        words as f64 / pairs.len() as f64,
    ))
}

/// Tries the constants on the development conversations and the paraphrases.
async fn sweep(
    conversations: &[Conversation],
    embedder: &Arc<Remembering>,
    default: Scoring,
) -> anyhow::Result<()> {
    let development: Vec<Conversation> = conversations
        .iter()
        .filter(|c| DEVELOPMENT.contains(&c.id.as_str()))
        .cloned()
        .collect();
    let part: Vec<&Conversation> = development.iter().collect();
    let plain = Engine::fill(&development, Told::Plain, embedder).await?;
    let all = Engine::fill(&development, Told::All, embedder).await?;
    let pairs: Vec<(&str, &str)> = include_str!("../../../hyphae-embed/calibration/pairs.tsv")
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .collect();
    let mut tries = Vec::new();
    for words_weight in [0.2, 0.35, 0.5, 0.7, 0.9, 1.2] {
        tries.push(Scoring {
            words_weight,
            ..default
        });
    }
    for context_weight in [0.0, 0.35, 0.65, 0.8, 1.0] {
        tries.push(Scoring {
            context_weight,
            ..default
        });
    }
    for (k1, b) in [(0.7, 0.4), (0.9, 0.3), (0.9, 0.5), (1.2, 0.4), (1.2, 0.75)] {
        tries.push(Scoring { k1, b, ..default });
    }
    for unrelated_below in [0.1, 0.15, 0.2, 0.25, 0.3] {
        tries.push(Scoring {
            unrelated_below,
            ..default
        });
    }
    println!("words context   k1    b  floor | plain R@10  all R@10  paraphrases");
    for scoring in tries {
        let (hits, _) = paraphrase_hits(conversations, embedder, scoring, &pairs).await?;
        println!(
            "{:5.2} {:7.2} {:4.1} {:4.2} {:6.2} |      {:.3}     {:.3}        {hits:.3}",
            scoring.words_weight,
            scoring.context_weight,
            scoring.k1,
            scoring.b,
            scoring.unrelated_below,
            plain.score(&part, scoring).await?.recall(),
            all.score(&part, scoring).await?.recall(),
        );
    }
    Ok(())
}

/// An embedder that does not compute the same text twice.
#[derive(Debug)]
struct Remembering {
    inner: BuiltIn,
    known: Mutex<HashMap<String, Vec<f32>>>,
}

impl Remembering {
    fn new(inner: BuiltIn) -> Self {
        Self {
            inner,
            known: Mutex::default(),
        }
    }
}

#[async_trait]
impl Embedder for Remembering {
    fn model(&self) -> &EmbeddingModel {
        self.inner.model()
    }

    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut vectors = Vec::new();
        for text in texts {
            let known = self
                .known
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get(&text)
                .cloned();
            let vector = match known {
                Some(vector) => vector,
                None => {
                    let made = self.inner.embed(vec![text.clone()]).await?;
                    let vector = made.into_iter().next().ok_or(EmbedError::Interrupted)?;
                    self.known
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .insert(text, vector.clone());
                    vector
                }
            };
            vectors.push(vector);
        }
        Ok(vectors)
    }
}
