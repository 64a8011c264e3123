//! What recall needs of a cell beside its vector, packed into one column.
//!
//! One column instead of two dozen, because a row's price is the number of its columns, and a
//! process that starts reads this of every cell of its project. Numbers are little-endian:
//!
//! | bytes | what |
//! |---|---|
//! | 4 | length of what follows |
//! | 1 | format, 2 |
//! | 1, 1, 1 | type, layer, visibility, as in `cells` |
//! | 4 | revision |
//! | 8 | salience |
//! | 8 | time of the last change |
//! | 32 | fingerprint |
//! | 1 | status, as in `cells` |
//! | 8 | time at which it was stored |
//! | 8, 8 | when it is true: first moment, moment after the last; the least and the greatest number if open |
//! | 4, n | length of the tags, the tags as in `cells` |
//! | 4, n | length of the words, the words |
//! | rest | the words of the surroundings |
//!
//! Format 1 had nothing between the fingerprint and the words; the migration to version 2 has
//! turned it into this one.

use hyphae_core::{
    cell::{CellType, Fingerprint, Layer, Share, Status, Validity, Visibility},
    label::Tags,
    recall::{Terms, Vector},
};
use jiff::Timestamp;

use crate::{
    error::BadRow,
    statements::row::{
        from_cell_type, from_layer, from_status, from_tags, from_time, from_visibility,
        to_cell_type, to_layer, to_status, to_tags, to_time, to_validity, to_visibility,
    },
};

const FORMAT: u8 = 2;
/// Bytes of facts without tags and words.
const HEAD: usize = 93;

/// The parts of [`hyphae_core::ports::Entry`] that do not depend on who asks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Facts {
    pub(crate) cell_type: CellType,
    pub(crate) layer: Layer,
    pub(crate) visibility: Visibility,
    pub(crate) revision: u32,
    pub(crate) salience: Share,
    pub(crate) updated_at: Timestamp,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) status: Status,
    pub(crate) created_at: Timestamp,
    pub(crate) validity: Validity,
    pub(crate) tags: Tags,
    pub(crate) terms: Terms,
    pub(crate) context: Terms,
}

impl Facts {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let tags = from_tags(&self.tags);
        let (terms, context) = (self.terms.to_bytes(), self.context.to_bytes());
        let mut bytes = Vec::with_capacity(HEAD + tags.len() + terms.len() + context.len());
        bytes.extend([0; 4]);
        bytes.push(FORMAT);
        bytes.extend(
            [
                from_cell_type(self.cell_type),
                from_layer(self.layer),
                from_visibility(self.visibility),
            ]
            .map(small),
        );
        bytes.extend(self.revision.to_le_bytes());
        bytes.extend(self.salience.get().to_le_bytes());
        bytes.extend(from_time(self.updated_at).to_le_bytes());
        bytes.extend(self.fingerprint.0);
        bytes.push(small(from_status(self.status)));
        bytes.extend(from_time(self.created_at).to_le_bytes());
        let from = self.validity.from().map_or(i64::MIN, from_time);
        let until = self.validity.until().map_or(i64::MAX, from_time);
        bytes.extend(from.to_le_bytes());
        bytes.extend(until.to_le_bytes());
        for part in [tags.as_bytes(), &terms] {
            bytes.extend(length(part));
            bytes.extend(part);
        }
        bytes.extend(context);
        with_length(bytes)
    }

    /// Reads what [`part`] found, which is all but the length.
    pub(crate) fn from_part(bytes: &[u8]) -> Result<Self, BadRow> {
        Self::parse(bytes).ok_or(BadRow {
            what: "recall entry",
        })
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (&[format, kind, layer, visibility], bytes) = bytes.split_first_chunk()?;
        let (revision, bytes) = bytes.split_first_chunk()?;
        let (salience, bytes) = bytes.split_first_chunk()?;
        let (updated_at, bytes) = bytes.split_first_chunk()?;
        let (fingerprint, bytes) = bytes.split_first_chunk()?;
        let (&[status], bytes) = bytes.split_first_chunk()?;
        let (created_at, bytes) = bytes.split_first_chunk()?;
        let (from, bytes) = bytes.split_first_chunk()?;
        let (until, bytes) = bytes.split_first_chunk()?;
        let (tags, bytes) = part(bytes)?;
        let from = Some(i64::from_le_bytes(*from)).filter(|from| *from != i64::MIN);
        let until = Some(i64::from_le_bytes(*until)).filter(|until| *until != i64::MAX);
        let (terms, context) = part(bytes)?;
        (format == FORMAT).then_some(())?;
        Some(Self {
            cell_type: to_cell_type(kind.into()).ok()?,
            layer: to_layer(layer.into()).ok()?,
            visibility: to_visibility(visibility.into()).ok()?,
            revision: u32::from_le_bytes(*revision),
            salience: Share::new(f64::from_le_bytes(*salience))?,
            updated_at: to_time(i64::from_le_bytes(*updated_at)).ok()?,
            fingerprint: Fingerprint(*fingerprint),
            status: to_status(status.into()).ok()?,
            created_at: to_time(i64::from_le_bytes(*created_at)).ok()?,
            validity: to_validity(from, until).ok()?,
            tags: to_tags(std::str::from_utf8(tags).ok()?).ok()?,
            terms: Terms::from_bytes(terms)?,
            context: Terms::from_bytes(context)?,
        })
    }
}

/// Numbers of enumerations are below 256.
const fn small(number: i64) -> u8 {
    number.to_le_bytes()[0]
}

/// Returns a vector as it is kept: the length of what follows, four bytes of scale, its numbers.
pub(crate) fn from_vector(vector: &Vector) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 + vector.numbers.len());
    bytes.extend([0; 4]);
    bytes.extend(vector.scale.to_le_bytes());
    bytes.extend(vector.numbers.iter().map(|number| number.cast_unsigned()));
    with_length(bytes)
}

/// Reads what [`part`] found, which is all but the length.
pub(crate) fn to_vector(bytes: &[u8]) -> Result<Vector, BadRow> {
    let (scale, numbers) = bytes.split_first_chunk().ok_or(BadRow { what: "vector" })?;
    Ok(Vector {
        scale: f32::from_le_bytes(*scale),
        numbers: numbers.iter().map(|byte| byte.cast_signed()).collect(),
    })
}

/// Splits off what begins with its own length; empty if that is 0.
pub(crate) fn part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, bytes) = bytes.split_first_chunk()?;
    bytes.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)
}

/// Writes the length of what follows into the first four bytes.
fn with_length(mut bytes: Vec<u8>) -> Vec<u8> {
    if let Some((first, rest)) = bytes.split_first_chunk_mut::<4>() {
        *first = length(rest);
    }
    bytes
}

/// A text of 8,000 characters has fewer words, and a model fewer numbers, than fit.
fn length(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use hyphae_core::{label::Tag, recall::Term};

    use super::*;

    fn time(microseconds: i64) -> Timestamp {
        Timestamp::from_microsecond(microseconds).unwrap()
    }

    fn facts() -> Facts {
        let tags = ["a", "ß"].map(|tag| Tag::new(tag).unwrap());
        Facts {
            cell_type: CellType::Task,
            layer: Layer::L2,
            visibility: Visibility::Shared,
            revision: 7,
            salience: Share::HALF,
            updated_at: time(1_700_000_000_123_456),
            fingerprint: Fingerprint([9; 32]),
            status: Status::Retracted,
            created_at: time(-5),
            validity: Validity::new(Some(time(7)), Some(time(8))).unwrap(),
            tags: Tags::new(tags).unwrap(),
            terms: Terms::count([Term(3), Term(3), Term(u64::MAX)]),
            context: Terms::count([Term(1)]),
        }
    }

    #[test]
    fn facts_come_back_as_they_were() {
        let open = |from, until| Validity::new(from, until).unwrap();
        let ends = [Timestamp::MIN, Timestamp::MAX].map(from_time);
        let [least, greatest] = ends.map(|end| to_time(end).unwrap());
        for validity in [
            facts().validity,
            Validity::ALWAYS,
            open(Some(least), None),
            open(None, Some(greatest)),
        ] {
            let facts = Facts {
                validity,
                ..facts()
            };
            let bytes = facts.to_bytes();
            let (part, rest) = part(&bytes).unwrap();
            assert_eq!(Facts::from_part(part), Ok(facts));
            assert!(rest.is_empty());
        }
    }

    #[test]
    fn no_prefix_of_facts_passes_for_facts_with_all_words() {
        let bytes = facts().to_bytes().split_off(4);
        for end in 0..bytes.len() {
            let part = Facts::from_part(&bytes[..end]);
            assert_ne!(part, Ok(facts()), "{end}");
        }
        for format in [0, 1, 3, u8::MAX] {
            let mut other = bytes.clone();
            other[0] = format;
            assert!(Facts::from_part(&other).is_err());
        }
    }

    #[test]
    fn a_vector_comes_back_as_it_was() {
        let vector = Vector::quantise(&[0.5, -1.0, 0.25]);
        let bytes = from_vector(&vector);
        assert_eq!(to_vector(part(&bytes).unwrap().0), Ok(vector));
        assert!(to_vector(&[1, 2, 3]).is_err());
    }

    #[test]
    fn a_part_is_never_longer_than_what_is_there() {
        assert_eq!(part(&[2, 0, 0, 0, 7, 8, 9]), Some((&[7, 8][..], &[9][..])));
        assert_eq!(part(&[4, 0, 0, 0, 7, 8, 9]), None);
        assert_eq!(part(&[0, 0, 0]), None);
    }
}
