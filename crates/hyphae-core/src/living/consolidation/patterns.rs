//! Patterns: what several agents said on their own.

use std::{
    cell::OnceCell,
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashSet},
};

use uuid::Uuid;

use super::{super::place, Input, Pattern, Rules, Since, Step, near::Field};
use crate::{
    cell::{CellType, Share},
    ids::CellId,
    recall::{Term, telling_words},
};

pub(super) fn plan(
    field: &Field<'_>,
    input: Input<'_>,
    rules: &Rules,
    opposed: &dyn Fn(CellId, CellId) -> bool,
    new_id: &mut dyn FnMut() -> Uuid,
) -> Vec<Step> {
    let made = &input.made.patterns;
    let crystals = Crystals {
        field,
        rules,
        opposed,
        said: (0..field.len()).map(|_| OnceCell::new()).collect(),
    };
    let mut there: BTreeMap<CellId, Pattern> = (made.iter())
        .filter_map(|(id, pattern)| {
            let held = input.held.contains(id);
            Some((*id, crystals.refreshed(pattern, held)?))
        })
        .collect();
    let fresh: BTreeSet<usize> = match input.since {
        Since::Ever => (0..field.len()).collect(),
        Since::Changed(changed) => changed.iter().filter_map(|id| field.find(*id)).collect(),
    };
    // Whoever joins a pattern, or begins one, may have been in the way of another.
    let mut new = BTreeSet::new();
    loop {
        crystals.join(&mut there, &fresh);
        let found = crystals.crystallise(&there, &fresh);
        if found.is_empty() {
            break;
        }
        for pattern in found {
            let id = CellId::new(new_id());
            new.insert(id);
            there.insert(id, pattern);
        }
    }
    let ids = made.keys().chain(&new);
    let changed = ids.filter(|id| made.get(id) != there.get(id));
    changed
        .map(|id| Step::Pattern {
            id: *id,
            before: made.get(id).cloned(),
            after: there.get(id).cloned(),
        })
        .collect()
}

struct Crystals<'a> {
    field: &'a Field<'a>,
    rules: &'a Rules,
    opposed: &'a dyn Fn(CellId, CellId) -> bool,
    said: Vec<OnceCell<Said>>,
}

impl Crystals<'_> {
    /// Tells whether two cells say the same, as far as this can be told without a model: they are
    /// near, one has all words of the other in their order, they name the same numbers, deny or do
    /// not deny, and are not known to be opposed. However near, two texts with different words are
    /// mostly different facts about the same things.
    fn same(&self, a: usize, b: usize) -> bool {
        let (one, other) = (self.field.grain(a), self.field.grain(b));
        self.field.cosine(a, b) >= self.rules.same
            && self.said(a).same(self.said(b))
            && !(self.opposed)(one.id, other.id)
            && !(self.opposed)(other.id, one.id)
    }

    fn said(&self, cell: usize) -> &Said {
        self.said[cell].get_or_init(|| Said::of(self.field.grain(cell).content.as_str()))
    }

    fn same_as_all(&self, cell: usize, group: &[usize]) -> bool {
        let author = |at: usize| self.field.grain(at).author;
        (group.iter()).all(|other| author(*other) != author(cell) && self.same(*other, cell))
    }

    /// A pattern said anew in the words of consolidation would confirm itself.
    fn may_be_source(&self, cell: usize) -> bool {
        self.field.grain(cell).cell_type != CellType::Pattern
    }

    /// Returns a pattern with those of its sources that are there and still say the same; none
    /// if they are too few and nobody else holds it.
    fn refreshed(&self, pattern: &Pattern, held: bool) -> Option<Pattern> {
        let first = pattern.sources.iter().filter(|id| **id == pattern.text_of);
        let rest = pattern.sources.iter().filter(|id| **id != pattern.text_of);
        let mut group: Vec<usize> = Vec::new();
        for cell in first.chain(rest).filter_map(|id| self.field.find(*id)) {
            if self.may_be_source(cell) && self.same_as_all(cell, &group) {
                group.push(cell);
            }
        }
        if group.len() < self.rules.agents {
            return held.then(|| pattern.clone());
        }
        let mut next = pattern.clone();
        next.sources = self.ids(&group);
        if !next.sources.contains(&next.text_of) {
            next.text_of = self.field.grain(self.medoid(&group)).id;
        }
        Some(next)
    }

    /// Adds to patterns what agents say that have not said it before.
    fn join(&self, there: &mut BTreeMap<CellId, Pattern>, fresh: &BTreeSet<usize>) {
        let mut taken = self.taken(there.values());
        for cell in fresh.iter().filter(|cell| self.may_be_source(**cell)) {
            if taken.contains(cell) {
                continue;
            }
            for pattern in there.values_mut() {
                let group: Vec<usize> = self.found(&pattern.sources);
                let complete = group.len() == pattern.sources.len();
                if complete && group.len() < self.rules.sources && self.same_as_all(*cell, &group) {
                    pattern.sources.insert(self.field.grain(*cell).id);
                    taken.insert(*cell);
                    break;
                }
            }
        }
    }

    /// Returns new patterns among the cells that belong to none and say something else than those
    /// that are there.
    fn crystallise(
        &self,
        there: &BTreeMap<CellId, Pattern>,
        fresh: &BTreeSet<usize>,
    ) -> Vec<Pattern> {
        let mut seeds = fresh.clone();
        for cell in fresh {
            let near = self.field.near(*cell, self.rules.same);
            seeds.extend(near.iter().map(|(other, _)| *other));
        }
        let mut taken = self.taken(there.values());
        let mut said: Vec<usize> = (there.values())
            .filter_map(|pattern| self.field.find(pattern.text_of))
            .collect();
        let mut new = Vec::new();
        for seed in self.by_company(&seeds, &taken) {
            let group = self.group(seed, &taken, &said);
            if group.len() >= self.rules.agents {
                let pattern = self.pattern(&group);
                said.extend(self.field.find(pattern.text_of));
                taken.extend(group);
                new.push(pattern);
            }
        }
        new
    }

    /// Returns seeds that belong to no pattern, those with most company first.
    fn by_company(&self, seeds: &BTreeSet<usize>, taken: &HashSet<usize>) -> Vec<usize> {
        let mut order: Vec<(Reverse<usize>, usize)> = (seeds.iter())
            .filter(|seed| !taken.contains(seed) && self.may_be_source(**seed))
            .map(|seed| {
                let near = self.field.near(*seed, self.rules.same);
                let free = near.iter().filter(|(other, _)| !taken.contains(other));
                (Reverse(free.count()), *seed)
            })
            .filter(|(company, _)| company.0 + 1 >= self.rules.agents)
            .collect();
        order.sort_unstable();
        order.into_iter().map(|(_, seed)| seed).collect()
    }

    /// Returns a seed and the cells nearest to it, one an author, that all say the same.
    fn group(&self, seed: usize, taken: &HashSet<usize>, said: &[usize]) -> Vec<usize> {
        let free = |cell: usize| {
            !taken.contains(&cell)
                && self.may_be_source(cell)
                && !said.iter().any(|other| self.same(*other, cell))
        };
        if !free(seed) {
            return Vec::new();
        }
        let mut near = self.field.near(seed, self.rules.same);
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut group = vec![seed];
        for (cell, _) in near {
            if group.len() == self.rules.sources {
                break;
            }
            if free(cell) && self.same_as_all(cell, &group) {
                group.push(cell);
            }
        }
        group
    }

    fn pattern(&self, group: &[usize]) -> Pattern {
        let saliences = group.iter().map(|cell| self.field.grain(*cell).salience);
        Pattern {
            text_of: self.field.grain(self.medoid(group)).id,
            salience: raised(saliences),
            sources: self.ids(group),
        }
    }

    fn medoid(&self, group: &[usize]) -> usize {
        let mut group = group.to_vec();
        group.sort_unstable();
        let places = group
            .iter()
            .map(|cell| (&self.field.grain(*cell).place, 1.0));
        let centre = place::centre(places);
        centre
            .and_then(|centre| self.field.nearest(&group, &centre))
            .unwrap_or(group[0])
    }

    fn ids(&self, group: &[usize]) -> BTreeSet<CellId> {
        group
            .iter()
            .map(|cell| self.field.grain(*cell).id)
            .collect()
    }

    fn found(&self, ids: &BTreeSet<CellId>) -> Vec<usize> {
        ids.iter().filter_map(|id| self.field.find(*id)).collect()
    }

    fn taken<'p>(&self, patterns: impl Iterator<Item = &'p Pattern>) -> HashSet<usize> {
        patterns
            .flat_map(|pattern| self.found(&pattern.sources))
            .collect()
    }
}

/// Returns the salience of what was crystallised: `min(1, mean + 0.2)`.
fn raised(sources: impl ExactSizeIterator<Item = Share>) -> Share {
    let count = sources.len().max(1) as f64;
    let mean = sources.map(Share::get).sum::<f64>() / count;
    Share::new((mean + 0.2).min(1.0)).unwrap_or(Share::FULL)
}

/// What must be the same in texts that say the same, whatever their vectors.
#[derive(Debug)]
struct Said {
    /// The words that tell something, each once, in their order.
    words: Vec<Term>,
    /// Words with digits: numbers, versions, dates, sizes.
    figures: BTreeSet<String>,
    /// Whether something is denied.
    denies: bool,
}

impl Said {
    fn same(&self, other: &Self) -> bool {
        let (short, long) = if self.words.len() <= other.words.len() {
            (&self.words, &other.words)
        } else {
            (&other.words, &self.words)
        };
        let mut rest = long.iter();
        !short.is_empty()
            && short.iter().all(|word| rest.any(|other| other == word))
            && self.figures == other.figures
            && self.denies == other.denies
    }

    fn of(text: &str) -> Self {
        let lower = text.to_lowercase().replace('\u{2019}', "'");
        let words = || {
            (lower.split(|c: char| c.is_whitespace() || "()[]{}\"`,;!?".contains(c)))
                .map(|word| word.trim_matches(|c: char| ".:'-".contains(c)))
        };
        let figure = |word: &&str| word.chars().any(char::is_numeric);
        let denial = |word: &str| {
            word.ends_with("n't")
                || matches!(
                    word,
                    "not"
                        | "no"
                        | "never"
                        | "none"
                        | "nothing"
                        | "nobody"
                        | "without"
                        | "cannot"
                        | "neither"
                        | "nor"
                )
        };
        Self {
            words: telling_words(text)
                .into_iter()
                .map(|(term, _)| term)
                .collect(),
            figures: words().filter(figure).map(str::to_owned).collect(),
            denies: words().any(denial),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_texts_say_the_same_with_the_same_words_numbers_and_denial() {
        let same = |a, b| Said::of(a).same(&Said::of(b));
        assert!(same(
            "We ship Postgres 15.",
            "We are shipping postgres 15 for V"
        ));
        assert!(same("Never deploy on Friday", "no deployments on Friday!"));
        assert!(same("v1.2 ships (v1.2)", "v1.2, of course, ships"));
        for (one, other) in [
            ("We ship Postgres 15", "We ship Postgres 16"),
            ("Retry after 3 s", "Retry after a while"),
            ("We use tabs", "We don\u{2019}t use tabs"),
            ("Deploy on Friday", "Never deploy on Friday"),
            ("We ship Postgres", "We ship MySQL"),
            ("The proxy slows the cache", "The cache slows the proxy"),
            (
                "Anna looks after the mails",
                "Anna looks after the invoices",
            ),
            ("it is so", "so it is"),
        ] {
            assert!(!same(one, other) && !same(other, one), "{one} {other}");
        }
    }

    #[test]
    fn a_crystallised_memory_is_a_little_more_salient_than_its_sources() {
        let check = |shares: &[f64], want: f64| {
            let shares: Vec<Share> = shares.iter().map(|s| Share::new(*s).unwrap()).collect();
            let found = raised(shares.into_iter()).get();
            assert!((found - want).abs() < 1e-12, "{found}");
        };
        check(&[0.5, 0.6, 0.7], 0.8);
        check(&[1.0, 0.9, 0.9], 1.0);
        check(&[0.0, 0.0, 0.0], 0.2);
    }
}
