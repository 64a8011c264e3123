//! Memories that nobody wrote, with the word frequencies and the neighbourhoods of real ones.

/// Words from the 11th most frequent of a Zipf distribution on: what is left of English without
/// its stop words, or a little more repetitive.
const WORDS: usize = 50_000;
const SKIPPED: f64 = 10.0;
/// So many subjects that a query finds about 2 % of the memories related, as MiniLM does.
const SUBJECTS: usize = 50;
/// How much of a vector is its subject: two memories of one have a cosine of about 0.3.
const SUBJECT_SHARE: f32 = 0.3;

/// Draws texts and vectors. The same number gives the same memory.
#[derive(Debug)]
pub(crate) struct Corpus {
    dimension: usize,
    /// Cumulated chances of the words.
    chances: Vec<f64>,
    subjects: Vec<Vec<f32>>,
}

/// One memory or question.
#[derive(Debug, Clone)]
pub(crate) struct Drawn {
    pub(crate) text: String,
    pub(crate) vector: Vec<f32>,
}

impl Corpus {
    pub(crate) fn new(dimension: usize) -> Self {
        let mut sum = 0.0;
        let chances = (0..WORDS).map(|rank| {
            sum += 1.0 / (rank as f64 + SKIPPED);
            sum
        });
        let chances = chances.collect();
        let subjects = (0..SUBJECTS)
            .map(|n| Random(n as u64 + 1_000_000_007).unit(dimension))
            .collect();
        Self {
            dimension,
            chances,
            subjects,
        }
    }

    /// Returns a memory of 10 to 30 words that differs from every other one.
    pub(crate) fn memory(&self, n: u64) -> Drawn {
        let mut random = Random(n.wrapping_mul(0x5851_f42d_4c95_7f2d));
        let count = 9 + random.below(21);
        let mut words: Vec<String> = (0..count).map(|_| self.word(&mut random)).collect();
        words.push(format!("case{n}"));
        Drawn {
            text: words.join(" "),
            vector: self.vector(n, &mut random),
        }
    }

    /// Returns a question of 8 words about memory `n`: four of its words and four others.
    pub(crate) fn question(&self, n: u64) -> Drawn {
        let mut random = Random(n ^ 0x0dea_dbea_f000_0000);
        let memory = self.memory(n);
        let mut words: Vec<String> = memory.text.split(' ').take(4).map(str::to_owned).collect();
        words.extend((0..4).map(|_| self.word(&mut random)));
        Drawn {
            text: words.join(" "),
            vector: self.vector(n, &mut random),
        }
    }

    fn word(&self, random: &mut Random) -> String {
        let total = self.chances.last().copied().unwrap_or_default();
        let drawn = random.share() * total;
        spell(self.chances.partition_point(|&chance| chance < drawn))
    }

    fn vector(&self, n: u64, random: &mut Random) -> Vec<f32> {
        let subject = &self.subjects[n as usize % SUBJECTS];
        let own = random.unit(self.dimension);
        let (a, b) = (SUBJECT_SHARE.sqrt(), (1.0 - SUBJECT_SHARE).sqrt());
        unit(
            subject
                .iter()
                .zip(own)
                .map(|(s, o)| a * s + b * o)
                .collect(),
        )
    }
}

/// Spells a rank as a word of two or three syllables.
fn spell(rank: usize) -> String {
    const CONSONANTS: [char; 16] = [
        'b', 'd', 'f', 'g', 'h', 'j', 'k', 'l', 'm', 'n', 'p', 'r', 's', 't', 'v', 'z',
    ];
    const VOWELS: [char; 5] = ['a', 'e', 'i', 'o', 'u'];
    let mut rest = rank + 80;
    let mut word = String::new();
    while rest > 0 {
        let syllable = rest % 80;
        word.extend([CONSONANTS[syllable / 5], VOWELS[syllable % 5]]);
        rest /= 80;
    }
    word
}

fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|x| *x /= norm);
    vector
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// A number in [0, 1).
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A direction; sums of a few uniform numbers are near enough to normal ones.
    fn unit(&mut self, dimension: usize) -> Vec<f32> {
        let mut number = || {
            let bits = self.next();
            let parts = [bits & 0xffff, (bits >> 16) & 0xffff, (bits >> 32) & 0xffff];
            parts
                .iter()
                .map(|&part| part as f32 / 65_536.0)
                .sum::<f32>()
                - 1.5
        };
        unit((0..dimension).map(|_| number()).collect())
    }
}
