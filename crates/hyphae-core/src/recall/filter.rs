//! Which cells may answer a query.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::{
    cell::{CellType, Layer, Status, Visibility},
    ids::{CellId, CredentialId},
    label::Tag,
    ports::Entry,
};

/// Which cells may answer; all conditions hold together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Only cells that hold at this time.
    pub when: When,
    /// Only cells of this layer.
    pub layer: Option<Layer>,
    /// Only cells of any of these types; of all, if none is named.
    pub types: Vec<CellType>,
    /// Only cells with all of these tags.
    pub tags: Vec<Tag>,
    /// Only cells of any of these statuses, where [`Filter::when`] leaves a choice; of all, if
    /// none is named.
    pub statuses: Vec<Status>,
    /// Only cells that this credential wrote.
    pub author: Option<CredentialId>,
    /// Only cells that were stored at or after this moment.
    pub since: Option<Timestamp>,
    /// Only cells that were stored before this moment.
    pub until: Option<Timestamp>,
}

/// The time at which a cell is to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Now, which is this moment: it is active and true.
    Now(Timestamp),
    /// At this moment of the past: it was true, was known (or said to be true) by then, and was
    /// superseded only later, if at all. What was retracted is taken to have never been true.
    AsOf(Timestamp),
    /// At any time, superseded, retracted and expired ones included.
    Ever,
}

impl Filter {
    /// Lets everything through that holds at a time.
    pub const fn at(when: When) -> Self {
        Self {
            when,
            layer: None,
            types: Vec::new(),
            tags: Vec::new(),
            statuses: Vec::new(),
            author: None,
            since: None,
            until: None,
        }
    }
}

/// What a scan looks at of each row, apart from the rest, so that it stays in the CPU's caches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) alive: bool,
    pub(super) status: Status,
    pub(super) has_vector: bool,
    pub(super) own_project: bool,
    /// Whether it is not true at all times.
    pub(super) timed: bool,
    pub(super) cell_type: CellType,
    pub(super) layer: Layer,
}

impl Mark {
    #[inline(always)]
    pub(super) fn is_active(self) -> bool {
        self.alive && self.status == Status::Active
    }
}

/// The rest of a row.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) id: CellId,
    pub(super) revision: u32,
    pub(super) visibility: Visibility,
    pub(super) author: CredentialId,
    pub(super) span: Span,
    /// Orders rows of one distance: the logarithm of the salience as it decays from the last
    /// change on. Its order does not change with the time at which it is looked at.
    pub(super) weight: f64,
    pub(super) own_words: u32,
    pub(super) context_words: u32,
}

/// The times of a row, in microseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) created: i64,
    updated: i64,
    from: i64,
    until: i64,
}

impl Span {
    pub(super) fn of(entry: &Entry) -> Self {
        let micros = |time: Timestamp| time.as_microsecond();
        Self {
            created: micros(entry.created_at),
            updated: micros(entry.updated_at),
            from: entry.validity.from().map_or(i64::MIN, micros),
            until: entry.validity.until().map_or(i64::MAX, micros),
        }
    }

    fn contains(self, at: i64) -> bool {
        self.from <= at && at < self.until
    }

    /// Tells whether it was known or said to be true by then, and still true.
    fn held(self, at: i64) -> bool {
        let known = if self.from == i64::MIN {
            self.created
        } else {
            self.from
        };
        known <= at && at < self.until
    }
}

/// A filter, made ready for the rows of one index.
pub(super) struct Judge<'a> {
    filter: &'a Filter,
    marks: &'a [Mark],
    rows: &'a [Row],
    types: u16,
    /// Which rows have all the tags; none if tags do not matter.
    tagged: Option<Vec<bool>>,
    /// Whether nothing but the mark decides, unless the row is true only for a time.
    simple: bool,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        filter: &'a Filter,
        marks: &'a [Mark],
        rows: &'a [Row],
        tagged: &HashMap<Tag, Vec<u32>>,
    ) -> Self {
        let types = match filter.types.as_slice() {
            [] => u16::MAX,
            types => types.iter().fold(0, |set, kind| set | bit(*kind)),
        };
        let simple = matches!(filter.when, When::Now(_))
            && filter.author.is_none()
            && filter.since.is_none()
            && filter.until.is_none();
        Self {
            filter,
            marks,
            rows,
            types,
            tagged: rows_with(&filter.tags, rows.len(), tagged),
            simple,
        }
    }

    #[inline(always)]
    pub(super) fn takes(&self, row: usize) -> bool {
        let mark = self.marks[row];
        mark.alive
            && self.filter.layer.is_none_or(|layer| layer == mark.layer)
            && self.types & bit(mark.cell_type) != 0
            && if self.simple && !mark.timed {
                mark.status == Status::Active
            } else {
                self.takes_row(mark, &self.rows[row])
            }
            && self.tagged.as_ref().is_none_or(|tagged| tagged[row])
    }

    fn takes_row(&self, mark: Mark, row: &Row) -> bool {
        let filter = self.filter;
        let holds = match filter.when {
            When::Now(at) => {
                mark.status == Status::Active && row.span.contains(at.as_microsecond())
            }
            When::AsOf(at) => {
                let at = at.as_microsecond();
                let was_active = match mark.status {
                    Status::Active => true,
                    Status::Superseded => at < row.span.updated,
                    Status::Retracted => false,
                };
                was_active && row.span.held(at)
            }
            When::Ever => filter.statuses.is_empty() || filter.statuses.contains(&mark.status),
        };
        holds
            && filter.author.is_none_or(|author| author == row.author)
            && (filter.since).is_none_or(|since| since.as_microsecond() <= row.span.created)
            && (filter.until).is_none_or(|until| row.span.created < until.as_microsecond())
    }
}

const fn bit(kind: CellType) -> u16 {
    1 << kind as u16
}

fn rows_with(tags: &[Tag], rows: usize, tagged: &HashMap<Tag, Vec<u32>>) -> Option<Vec<bool>> {
    let mut result: Option<Vec<bool>> = None;
    for tag in tags {
        let mut has = vec![false; rows];
        for row in tagged.get(tag).into_iter().flatten() {
            let row = *row as usize;
            has[row] = result.as_ref().is_none_or(|before| before[row]);
        }
        result = Some(has);
    }
    result
}
