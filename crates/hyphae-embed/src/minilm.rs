//! The sentence model: all-MiniLM-L6-v2 with 8-bit weights.

use std::collections::VecDeque;
use std::sync::OnceLock;

use crate::built_in::Stop;
use crate::forward::encode;
use crate::kernel::CpuPath;
use crate::pool::{pool, windows};
use crate::tokenizer::{self, CLASS, SEPARATOR, Tokenizer};
use crate::weights::{HIDDEN, WINDOW, Weights};

/// How many numbers a vector has.
pub(crate) const DIMENSION: usize = HIDDEN;

/// Makes the file start at a cache line, so that no load of a register touches two.
#[repr(C, align(64))]
struct Aligned<T: ?Sized>(T);

static FILE: &Aligned<[u8]> = &Aligned(*include_bytes!("../data/minilm-l6-v2-int8.bin"));

/// The weight file as it is in the program.
pub(crate) static WEIGHTS: &[u8] = &FILE.0;

/// The loaded model.
#[derive(Debug)]
pub(crate) struct MiniLm<'a> {
    weights: Weights<'a>,
    tokenizer: &'static Tokenizer,
}

/// Returns the model, loading it at the first call (under 5 ms).
pub(crate) fn shared() -> Result<&'static MiniLm<'static>, String> {
    static SHARED: OnceLock<Result<MiniLm<'static>, String>> = OnceLock::new();
    SHARED
        .get_or_init(|| MiniLm::load(WEIGHTS))
        .as_ref()
        .map_err(Clone::clone)
}

impl<'a> MiniLm<'a> {
    pub(crate) fn load(file: &'a [u8]) -> Result<Self, String> {
        Ok(Self {
            weights: Weights::parse(file)?,
            tokenizer: tokenizer::shared()?,
        })
    }

    /// Returns a vector for each text, or nothing when told to stop.
    pub(crate) fn embed(
        &self,
        texts: &[String],
        path: CpuPath,
        stop: &Stop,
    ) -> Option<Vec<Vec<f32>>> {
        let mut batch = Batch {
            model: self,
            path,
            windows: Vec::new(),
            tokens: 0,
            done: Vec::new(),
        };
        let mut vectors = Vec::with_capacity(texts.len());
        // How many windows each text has that is not in `vectors` yet.
        let mut counts = VecDeque::new();
        for text in texts {
            let pieces = self.tokenizer.pieces(text);
            let ranges = windows(&pieces.cuts, WINDOW - 2);
            counts.push_back(ranges.len());
            for range in ranges {
                if stop.is_set() {
                    return None;
                }
                batch.add(&pieces.ids[range]);
                batch.settle(&mut counts, &mut vectors);
            }
        }
        batch.compute();
        batch.settle(&mut counts, &mut vectors);
        Some(vectors)
    }
}

/// Windows that are waiting to be computed together.
struct Batch<'a> {
    model: &'a MiniLm<'a>,
    path: CpuPath,
    windows: Vec<Vec<u16>>,
    tokens: usize,
    /// Vectors and lengths of windows whose text is not complete.
    done: Vec<([f32; DIMENSION], usize)>,
}

impl Batch<'_> {
    fn add(&mut self, pieces: &[u16]) {
        if self.tokens + pieces.len() + 2 > WINDOW {
            self.compute();
        }
        let mut window = Vec::with_capacity(pieces.len() + 2);
        window.push(CLASS);
        window.extend_from_slice(pieces);
        window.push(SEPARATOR);
        self.tokens += window.len();
        self.windows.push(window);
    }

    fn compute(&mut self) {
        let windows: Vec<&[u16]> = self.windows.iter().map(Vec::as_slice).collect();
        let vectors = encode(&self.model.weights, &windows, self.path);
        let lengths = windows.iter().map(|window| window.len() - 2);
        self.done.extend(vectors.into_iter().zip(lengths));
        self.windows.clear();
        self.tokens = 0;
    }

    /// Moves the texts whose windows are all done to `vectors`.
    fn settle(&mut self, counts: &mut VecDeque<usize>, vectors: &mut Vec<Vec<f32>>) {
        let mut used = 0;
        while let Some(count) = counts.front().copied()
            && used + count <= self.done.len()
        {
            vectors.push(pool(&mut self.done[used..used + count]));
            used += count;
            counts.pop_front();
        }
        self.done.drain(..used);
    }
}
