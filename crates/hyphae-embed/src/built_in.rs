//! The port's implementation.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use hyphae_core::ports::{Calibration, EmbedError, Embedder, EmbeddingModel};
use tokio::sync::Semaphore;

use crate::kernel::CpuPath;
use crate::{minilm, static_table};

/// An embedding model that is part of the program: no download, no file, no network.
///
/// Creating one is free; the model is loaded when the first text comes. The vectors' bits depend
/// on the text and [`EmbeddingModel::id`] alone, not on the machine, nor on what else is embedded
/// in the same call or at the same time.
#[derive(Debug)]
pub struct BuiltIn {
    kind: Kind,
    model: EmbeddingModel,
    path: CpuPath,
    /// One for each core: more at once would only need more memory.
    permits: OnceLock<Arc<Semaphore>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    MiniLm,
    StaticTable,
}

/// Texts of at most this many bytes altogether go through the static table on the caller's
/// thread: it takes less time (about 0.2 ms) than handing them to another one may.
const SMALL: usize = 4096;

/// Of 70 questions that are worded unlike their memory, 91 % reach 0.22 with it; of other sentences
/// 1.6 % do. 0.4 is reached by 53 % and by 0.06 %. Of 40 changes of wording that keep what is said 21
/// stay above 0.98; of 30 that change it 2 do, both by swapping two words. No cosine tells the two
/// apart (a changed full stop reaches 0.96, a changed number 0.98), so `near_duplicate_from` only
/// chooses the candidates whose words and signs are then compared.
///
/// Measured with `cargo run --release -p hyphae-embed --example calibrate -- corpus.txt`.
const MINILM_CALIBRATION: Calibration = Calibration {
    unrelated_below: 0.22,
    same_subject_from: 0.4,
    near_duplicate_from: 0.9,
};

/// Of 70 questions that are worded unlike their memory, 91 % reach 0.14 with it; of other sentences
/// 6.6 % do. 0.4 is reached by 26 % and by 0.09 %. Of 40 changes of wording that keep what is said 24
/// stay above 0.98; of 30 that change it 2 do: the order of words is nothing to a sum. As above,
/// `near_duplicate_from` only chooses candidates.
///
/// Measured with `cargo run --release -p hyphae-embed --example calibrate -- corpus.txt`.
const STATIC_CALIBRATION: Calibration = Calibration {
    unrelated_below: 0.14,
    same_subject_from: 0.4,
    near_duplicate_from: 0.9,
};

impl BuiltIn {
    /// Returns the sentence model: all-MiniLM-L6-v2, 384 numbers, milliseconds a text.
    ///
    /// It knows English. A text that has no pieces is the vector of an empty one.
    pub fn minilm() -> Self {
        Self::new(
            Kind::MiniLm,
            EmbeddingModel {
                id: "minilm-l6-v2-int8/1".to_owned(),
                dimension: minilm::DIMENSION,
                calibration: MINILM_CALIBRATION,
            },
        )
    }

    /// Returns the static table: a vector for each word piece, 256 numbers, microseconds a text.
    ///
    /// It was fitted to what the sentence model says about English texts, and does not see the
    /// order of words. A text of which it knows no piece, such as an empty one, is the last axis.
    pub fn static_table() -> Self {
        Self::new(
            Kind::StaticTable,
            EmbeddingModel {
                id: "static-256-int8/1".to_owned(),
                dimension: static_table::DIMENSION,
                calibration: STATIC_CALIBRATION,
            },
        )
    }

    fn new(kind: Kind, model: EmbeddingModel) -> Self {
        Self {
            kind,
            model,
            path: CpuPath::fastest(),
            permits: OnceLock::new(),
        }
    }

    /// Computes with other instructions, for tests and measurements; the bits stay the same.
    #[must_use]
    pub fn with_path(self, path: CpuPath) -> Self {
        Self { path, ..self }
    }

    /// Does what [`Embedder::embed`] does, on the caller's thread.
    pub fn embed_blocking(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.finish(self.kind.compute(texts, self.path, &Stop::default()))
    }

    fn finish(&self, result: Computed) -> Result<Vec<Vec<f32>>, EmbedError> {
        match result {
            Ok(Some(vectors)) => Ok(vectors),
            Ok(None) => Err(EmbedError::Interrupted),
            Err(reason) => Err(EmbedError::Unusable {
                model: self.model.id.clone(),
                reason,
            }),
        }
    }
}

/// Vectors; nothing, if it was told to stop; or why the model cannot be loaded.
type Computed = Result<Option<Vec<Vec<f32>>>, String>;

impl Kind {
    fn compute(self, texts: &[String], path: CpuPath, stop: &Stop) -> Computed {
        match self {
            Self::MiniLm => Ok(minilm::shared()?.embed(texts, path, stop)),
            Self::StaticTable => Ok(static_table::shared()?.embed(texts, stop)),
        }
    }

    /// Whether embedding takes less time than handing it to another thread may.
    fn is_instant(self, texts: &[String]) -> bool {
        self == Self::StaticTable
            && static_table::is_loaded()
            && texts.iter().map(String::len).sum::<usize>() <= SMALL
    }
}

#[async_trait]
impl Embedder for BuiltIn {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    /// Dropping the future stops the work at the next 256 word pieces.
    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        let Self { kind, path, .. } = *self;
        if kind.is_instant(&texts) {
            return self.embed_blocking(&texts);
        }
        // Counting the cores reads a dozen files, which a process that embeds nothing need not do.
        let permits = Arc::clone(self.permits.get_or_init(|| {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            Arc::new(Semaphore::new(cores))
        }));
        let permit = permits
            .acquire_owned()
            .await
            .map_err(|_| EmbedError::Interrupted)?;
        let stop = Stop::default();
        let _stop_when_dropped = StopWhenDropped(stop.clone());
        let work = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            kind.compute(&texts, path, &stop)
        });
        self.finish(work.await.map_err(|_| EmbedError::Interrupted)?)
    }
}

/// Tells a computation that nobody waits for it any more.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

struct StopWhenDropped(Stop);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_nobody_waits_for_stops() {
        let stop = Stop::default();
        let texts = ["a text".to_owned()];
        for kind in [Kind::MiniLm, Kind::StaticTable] {
            assert!(
                kind.compute(&texts, CpuPath::fastest(), &stop)
                    .unwrap()
                    .is_some()
            );
        }
        drop(StopWhenDropped(stop.clone()));
        for kind in [Kind::MiniLm, Kind::StaticTable] {
            assert_eq!(kind.compute(&texts, CpuPath::fastest(), &stop), Ok(None));
        }
    }

    #[test]
    fn a_damaged_file_makes_the_model_unusable() {
        let Err(error) = minilm::MiniLm::load(&minilm::WEIGHTS[..1000]) else {
            panic!("1,000 bytes are not a model");
        };
        let error = BuiltIn::minilm().finish(Err(error)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the embedding model `minilm-l6-v2-int8/1` cannot be loaded: of another shape or length"
        );
        assert!(matches!(error, EmbedError::Unusable { .. }));
    }
}
