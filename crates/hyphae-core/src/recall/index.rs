//! The recall index of one scope: exact, in memory, derived. It can be dropped at any time and
//! is filled again from [`MemoryStore::changes`](crate::ports::MemoryStore::changes).

use std::{
    cmp::Ordering,
    collections::{BinaryHeap, HashMap},
    hash::BuildHasherDefault,
};

use jiff::Timestamp;

use super::{
    filter::{Filter, Judge, Mark, Row, Span},
    score::{Distance, Scoring, Words},
    terms::{Term, TermHasher, Terms},
    vector::{Probe, View},
};
use crate::{
    cell::{CellType, Fingerprint, Layer, Status, Validity, Visibility},
    ids::CellId,
    label::Tag,
    ports::{Change, Entry, Sequence},
    topology,
};

/// Everything that one scope can recall.
#[derive(Debug)]
pub struct ProjectIndex {
    dimension: usize,
    upto: Sequence,
    /// What a scan looks at, apart from the rest, so that it stays in the CPU's caches.
    marks: Vec<Mark>,
    rows: Vec<Row>,
    scales: Vec<f32>,
    numbers: Vec<i8>,
    place: HashMap<CellId, u32>,
    postings: HashMap<Term, Vec<Posting>, BuildHasherDefault<TermHasher>>,
    /// The first eight bytes of each text's hash: enough to find the identical one.
    texts: Vec<u64>,
    /// The rows of each tag.
    tagged: HashMap<Tag, Vec<u32>>,
    live: Live,
    /// Rows that are alive, of whatever status.
    kept: usize,
    without_vector: usize,
}

/// Sums over the rows that are alive and active: what is out of recall moves no ranking.
#[derive(Debug, Default)]
struct Live {
    rows: u32,
    own_words: u64,
    context_words: u64,
}

/// A row, how often it has a word itself and how often its surroundings have it, in four bytes:
/// most of an index is postings. Counts stop at 15, where BM25 hardly tells them apart any more.
#[derive(Debug, Clone, Copy)]
struct Posting(u32);

impl Posting {
    /// More rows than an exact scan should ever be asked to look at.
    const MAX_ROWS: u32 = 1 << 24;

    fn new(row: u32, own: u8, context: u8) -> Self {
        Self(row << 8 | u32::from(own.min(15)) << 4 | u32::from(context.min(15)))
    }

    #[inline(always)]
    fn row(self) -> usize {
        (self.0 >> 8) as usize
    }

    #[inline(always)]
    fn counts(self) -> (u8, u8) {
        ((self.0 >> 4 & 15) as u8, (self.0 & 15) as u8)
    }
}

/// What is asked of an index.
#[derive(Debug, Clone)]
pub struct Query<'a> {
    /// The query's vector; none to search by words alone.
    pub vector: Option<&'a [f32]>,
    /// The query's words.
    pub terms: &'a Terms,
    /// The hash of the query as a memory's text, which finds the identical one.
    pub fingerprint: Fingerprint,
    /// Which cells may answer.
    pub filter: &'a Filter,
    /// The most hits wanted, at least 1.
    pub k: usize,
}

/// A cell that answers a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The cell.
    pub id: CellId,
    /// The one number that sorts an answer.
    pub distance: Distance,
    /// The cosine part, in about [-1, 1]; none if the cell or the query has no usable vector.
    pub cosine: Option<f32>,
    /// The keyword part, in [0, 1].
    pub words: f32,
}

/// A cell near a vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// The cell.
    pub id: CellId,
    /// The cosine, in about [-1, 1].
    pub cosine: f32,
}

impl ProjectIndex {
    /// Makes an empty index for vectors of `dimension` numbers; vectors of another width are
    /// passed over.
    pub fn new(dimension: usize) -> Self {
        Self {
            dimension,
            upto: Sequence::default(),
            marks: Vec::new(),
            rows: Vec::new(),
            scales: Vec::new(),
            numbers: Vec::new(),
            place: HashMap::new(),
            postings: HashMap::default(),
            texts: Vec::new(),
            tagged: HashMap::new(),
            live: Live::default(),
            kept: 0,
            without_vector: 0,
        }
    }

    /// Returns the last change that the index knows of.
    pub const fn upto(&self) -> Sequence {
        self.upto
    }

    /// Returns how many active cells there are.
    pub const fn len(&self) -> usize {
        self.live.rows as usize
    }

    /// Tells whether there is no active cell.
    pub const fn is_empty(&self) -> bool {
        self.live.rows == 0
    }

    /// Returns how many active cells can be found by words only.
    pub const fn without_vector(&self) -> usize {
        self.without_vector
    }

    /// Tells whether more than half of the index is remains of what changed, so that it is
    /// cheaper to fill a new one.
    pub fn is_worn(&self) -> bool {
        let dead = self.rows.len() - self.kept;
        dead > 1024 && dead > self.kept
    }

    /// Returns roughly how many bytes the index holds.
    pub fn bytes(&self) -> usize {
        let postings: usize = self
            .postings
            .values()
            .map(|list| list.capacity() * 4 + 48)
            .sum();
        self.rows.capacity() * (size_of::<Row>() + size_of::<Mark>() + 4 + 8 + 40)
            + self.numbers.capacity()
            + postings
    }

    /// Takes changes in, in the order of their sequence.
    pub fn apply(&mut self, changes: Vec<Change>) {
        for change in changes {
            self.upto = self.upto.max(change.sequence);
            self.bury(change.id);
            if let Some(entry) = change.entry {
                self.add(change.id, &entry);
            }
        }
    }

    fn bury(&mut self, id: CellId) {
        let Some(at) = self.place.remove(&id) else {
            return;
        };
        let (row, mark) = (&self.rows[at as usize], &mut self.marks[at as usize]);
        mark.alive = false;
        self.kept -= 1;
        if mark.status != Status::Active {
            return;
        }
        self.live.rows -= 1;
        self.live.own_words -= u64::from(row.own_words);
        self.live.context_words -= u64::from(row.context_words);
        self.without_vector -= usize::from(!mark.has_vector);
    }

    fn add(&mut self, id: CellId, entry: &Entry) {
        let at = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        let vector = entry
            .vector
            .as_ref()
            .filter(|v| v.numbers.len() == self.dimension);
        self.make_room();
        match vector {
            Some(vector) => {
                self.scales.push(vector.scale);
                self.numbers.extend_from_slice(&vector.numbers);
            }
            None => {
                self.scales.push(0.0);
                self.numbers.resize(self.numbers.len() + self.dimension, 0);
            }
        }
        for (term, own, context) in entry.terms.beside(&entry.context) {
            // A row beyond what a posting can name is found by its vector alone.
            if at < Posting::MAX_ROWS {
                let posting = Posting::new(at, own, context);
                self.postings.entry(term).or_default().push(posting);
            }
        }
        for tag in entry.tags.iter() {
            self.tagged.entry(tag.clone()).or_default().push(at);
        }
        let row = Row {
            id,
            revision: entry.revision,
            visibility: entry.visibility,
            author: entry.author,
            span: Span::of(entry),
            weight: decaying_weight(entry),
            own_words: entry.terms.total(),
            context_words: entry.context.total(),
        };
        self.kept += 1;
        if entry.status == Status::Active {
            self.live.rows += 1;
            self.live.own_words += u64::from(row.own_words);
            self.live.context_words += u64::from(row.context_words);
            self.without_vector += usize::from(vector.is_none());
        }
        self.texts.push(short(entry.fingerprint));
        self.place.insert(id, at);
        self.rows.push(row);
        self.marks.push(Mark {
            alive: true,
            status: entry.status,
            has_vector: vector.is_some(),
            own_project: entry.own_project,
            timed: entry.validity != Validity::ALWAYS,
            cell_type: entry.cell_type,
            layer: entry.layer,
        });
    }

    /// Grows the largest table by an eighth instead of twofold: an index is filled once and then
    /// grows by single cells.
    fn make_room(&mut self) {
        if self.numbers.len() + self.dimension > self.numbers.capacity() {
            let eighth = self.rows.len() / 8;
            self.numbers.reserve_exact(self.dimension * eighth.max(64));
        }
    }

    /// Returns the nearest cells, nearest first; cells of one distance by salience, then the
    /// older one first. Cells that have nothing to do with the query are left out.
    pub fn search(&self, query: &Query<'_>, scoring: &Scoring) -> Vec<Hit> {
        let shares = self.keyword_shares(query.terms, scoring);
        let wanted = Judge::new(query.filter, &self.marks, &self.rows, &self.tagged);
        let identical = short(query.fingerprint);
        let mut best = Best::new(query.k);
        let mut judge = |row: usize, cosine: Option<f32>| {
            let share = shares.get(row).copied().unwrap_or_default();
            let distance = if self.texts[row] == identical {
                Distance::IDENTICAL
            } else if scoring.is_related(cosine, share) {
                scoring.distance(cosine, share)
            } else {
                return;
            };
            if best.may_take(distance) {
                best.offer(distance, &self.rows[row], cosine, share);
            }
        };
        match query.vector {
            Some(vector) => Probe::fine(vector).scan(
                &self.scales,
                &self.numbers,
                |row| wanted.takes(row),
                |row, cosine| judge(row, self.marks[row].has_vector.then_some(cosine)),
            ),
            None => (0..self.rows.len())
                .filter(|&row| wanted.takes(row))
                .for_each(|row| judge(row, None)),
        }
        best.into_hits()
    }

    /// Returns the `k` most important cells, without a query: a higher layer first, then by
    /// salience as it decays, times the energy of the cell's type (HyphaeDB paper, §3.2: μ).
    pub fn briefing(&self, filter: &Filter, k: usize) -> Vec<CellId> {
        let wanted = Judge::new(filter, &self.marks, &self.rows, &self.tagged);
        let importance = |row: usize| {
            let energy = topology::energy(self.marks[row].cell_type);
            self.rows[row].weight + libm::log(energy)
        };
        let mut rows: Vec<usize> = (0..self.rows.len())
            .filter(|&row| wanted.takes(row))
            .collect();
        rows.sort_unstable_by(|&a, &b| {
            (self.marks[b].layer.cmp(&self.marks[a].layer))
                .then_with(|| importance(b).total_cmp(&importance(a)))
                .then_with(|| self.rows[a].id.cmp(&self.rows[b].id))
        });
        rows.truncate(k);
        rows.into_iter().map(|row| self.rows[row].id).collect()
    }

    /// Returns the newest cells, by creation and then by id, at most `limit`, that are older than
    /// `after` in that order, and how many there are without `after` and `limit`.
    pub fn newest(
        &self,
        filter: &Filter,
        after: Option<(Timestamp, CellId)>,
        limit: usize,
    ) -> (Vec<CellId>, usize) {
        let wanted = Judge::new(filter, &self.marks, &self.rows, &self.tagged);
        let key = |row: usize| (self.rows[row].span.created, self.rows[row].id);
        let after = after.map(|(at, id)| (at.as_microsecond(), id));
        let fitting = (0..self.rows.len()).filter(|&row| wanted.takes(row));
        let mut total = 0;
        let mut keys: Vec<_> = fitting
            .inspect(|_| total += 1)
            .map(key)
            .filter(|key| after.is_none_or(|after| *key < after))
            .collect();
        keys.sort_unstable_by(|a, b| b.cmp(a));
        keys.truncate(limit);
        (keys.into_iter().map(|(_, id)| id).collect(), total)
    }

    /// Returns the `n` active cells of a layer nearest to a vector by cosine alone, nearest first.
    pub fn nearest(&self, vector: &[f32], layer: Layer, n: usize) -> Vec<Near> {
        let mut near = Vec::new();
        Probe::fine(vector).scan(
            &self.scales,
            &self.numbers,
            |row| {
                let mark = self.marks[row];
                mark.is_active() && mark.has_vector && mark.own_project && mark.layer == layer
            },
            |row, cosine| near.push((cosine, row)),
        );
        let order = |a: &(f32, usize), b: &(f32, usize)| {
            b.0.total_cmp(&a.0)
                .then_with(|| self.rows[a.1].id.cmp(&self.rows[b.1].id))
        };
        if n < near.len() {
            near.select_nth_unstable_by(n, order);
            near.truncate(n);
        }
        near.sort_unstable_by(order);
        near.into_iter()
            .map(|(cosine, row)| Near {
                id: self.rows[row].id,
                cosine,
            })
            .collect()
    }

    /// Tells whether a cell, of whatever status, is in the index.
    pub(crate) fn contains(&self, id: CellId) -> bool {
        self.place.contains_key(&id)
    }

    /// Returns a cell's vector, if it is in the index.
    pub(crate) fn vector(&self, id: CellId) -> Option<View<'_>> {
        let at = *self.place.get(&id)? as usize;
        let numbers = self
            .numbers
            .get(at * self.dimension..(at + 1) * self.dimension)?;
        self.marks[at].has_vector.then(|| View {
            scale: self.scales[at],
            numbers,
        })
    }

    /// Returns what is needed to judge whether a cell may take another text in.
    pub fn summary(&self, id: CellId) -> Option<Summary> {
        let at = *self.place.get(&id)? as usize;
        let (row, mark) = (&self.rows[at], self.marks[at]);
        Some(Summary {
            revision: row.revision,
            cell_type: mark.cell_type,
            visibility: row.visibility,
            own_project: mark.own_project,
        })
    }

    fn keyword_shares(&self, terms: &Terms, scoring: &Scoring) -> Vec<f32> {
        let mut shares = vec![0.0; if terms.is_empty() { 0 } else { self.rows.len() }];
        let words = Words::new(
            scoring,
            self.live.rows,
            self.live.own_words,
            self.live.context_words,
        );
        let mut reachable = 0.0;
        for (term, times) in terms.iter() {
            let list = self
                .postings
                .get(&term)
                .map(Vec::as_slice)
                .unwrap_or_default();
            let active = list
                .iter()
                .filter(|posting| self.marks[posting.row()].is_active());
            let rarity = words.rarity(active.count()) * f32::from(times);
            reachable += rarity;
            for posting in list {
                let row = &self.rows[posting.row()];
                shares[posting.row()] +=
                    words.score(rarity, posting.counts(), (row.own_words, row.context_words));
            }
        }
        if reachable > 0.0 {
            shares
                .iter_mut()
                .for_each(|share| *share = (*share / reachable).min(1.0));
        }
        shares
    }
}

/// What is needed to judge whether a cell may take another text in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Its revision.
    pub revision: u32,
    /// Its type.
    pub cell_type: CellType,
    /// Who may recall it.
    pub visibility: Visibility,
    /// Whether it lies in the scope's own project.
    pub own_project: bool,
}

fn short(fingerprint: Fingerprint) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = fingerprint.0;
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

/// Salience decays as `s0 · 0.99^days` (HyphaeDB paper, eq. 6), so of two cells the order of
/// `ln s0 + days · -ln 0.99`, days counted up to the last change, is the order at every moment.
fn decaying_weight(entry: &Entry) -> f64 {
    const SECONDS_A_DAY: f64 = 86_400.0;
    let days = entry.updated_at.as_second() as f64 / SECONDS_A_DAY;
    libm::log(entry.salience.get()) - days * libm::log(0.99)
}

/// The `k` best candidates seen so far.
struct Best {
    k: usize,
    heap: BinaryHeap<Candidate>,
}

#[derive(PartialEq)]
struct Candidate {
    distance: Distance,
    weight: f64,
    hit: Hit,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    /// The worse candidate is the greater one.
    fn cmp(&self, other: &Self) -> Ordering {
        self.distance
            .cmp(&other.distance)
            .then_with(|| other.weight.total_cmp(&self.weight))
            .then_with(|| self.hit.id.cmp(&other.hit.id))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Best {
    fn new(k: usize) -> Self {
        Self {
            k: k.max(1),
            heap: BinaryHeap::with_capacity(k.min(1024) + 1),
        }
    }

    /// Tells whether a candidate at this distance could still be among the best.
    #[inline(always)]
    fn may_take(&self, distance: Distance) -> bool {
        self.heap.len() < self.k
            || self
                .heap
                .peek()
                .is_none_or(|worst| distance <= worst.distance)
    }

    fn offer(&mut self, distance: Distance, row: &Row, cosine: Option<f32>, words: f32) {
        let hit = Hit {
            id: row.id,
            distance,
            cosine,
            words,
        };
        self.heap.push(Candidate {
            distance,
            weight: row.weight,
            hit,
        });
        if self.heap.len() > self.k {
            self.heap.pop();
        }
    }

    fn into_hits(self) -> Vec<Hit> {
        self.heap
            .into_sorted_vec()
            .into_iter()
            .map(|candidate| candidate.hit)
            .collect()
    }
}
