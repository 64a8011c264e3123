//! The order of a transfer: a byte for the kind, then what the kind is ordered by, the highest
//! byte first, so that keys are ordered as their bytes are.

use hyphae_core::ports::{Item, ItemKey};

use crate::error::Fault;

/// The kinds of items, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Identity,
    Cell,
    Past,
    Link,
    Relation,
    Conflict,
    Confirmation,
    Key,
    Diff,
    Audit,
}

impl Kind {
    const ALL: [Self; 10] = [
        Self::Identity,
        Self::Cell,
        Self::Past,
        Self::Link,
        Self::Relation,
        Self::Conflict,
        Self::Confirmation,
        Self::Key,
        Self::Diff,
        Self::Audit,
    ];

    /// Returns the kinds from this one on.
    pub(super) fn onwards(self) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().skip(self as usize)
    }

    pub(super) fn key(self, place: &[u8]) -> ItemKey {
        let kind = self as u8;
        ItemKey(std::iter::once(kind).chain(place.iter().copied()).collect())
    }

    /// Returns the kind of a key and the place in it; of none, what is before everything.
    pub(super) fn of_key(key: Option<&ItemKey>) -> Result<(Self, &[u8]), Fault> {
        let Some(ItemKey(bytes)) = key else {
            return Ok((Self::Identity, &[]));
        };
        bytes
            .split_first()
            .and_then(|(kind, place)| Some((*Self::ALL.get(usize::from(*kind))?, place)))
            .ok_or_else(|| Fault::other("a place of a transfer that is none"))
    }
}

/// Returns what an item is found by: its place, but of a diff its id.
pub(super) fn found_by(item: &Item) -> (Kind, Vec<u8>) {
    match item {
        Item::Identity { id, .. } => (Kind::Identity, id.uuid().as_bytes().to_vec()),
        Item::Cell(kept) => (Kind::Cell, kept.cell.id.uuid().as_bytes().to_vec()),
        Item::Past(past) => {
            let revision = past.cell.revision.to_be_bytes();
            let id = past.cell.id.uuid();
            (Kind::Past, [&id.as_bytes()[..], &revision].concat())
        }
        Item::Link { from, link } => {
            let (from, to) = (from.uuid(), link.to.uuid());
            (Kind::Link, [*from.as_bytes(), *to.as_bytes()].concat())
        }
        Item::Relation(relation) => (Kind::Relation, relation.id.uuid().as_bytes().to_vec()),
        Item::Conflict(conflict) => (Kind::Conflict, conflict.id.uuid().as_bytes().to_vec()),
        Item::Confirmation(voice) => {
            let (cell, by) = (voice.cell.uuid(), voice.by.uuid());
            let place = [*cell.as_bytes(), *by.as_bytes()].concat();
            (Kind::Confirmation, place)
        }
        Item::Key {
            credential,
            key,
            cell,
        } => {
            let (credential, cell) = (credential.uuid(), cell.uuid());
            let place = [&credential.as_bytes()[..], key, cell.as_bytes()].concat();
            (Kind::Key, place)
        }
        Item::Diff(kept) => (Kind::Diff, kept.diff.id.uuid().as_bytes().to_vec()),
        Item::Audit(row) => (Kind::Audit, row.id.uuid().as_bytes().to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_knows_its_kind_and_keys_are_ordered_by_it() {
        let keys: Vec<ItemKey> = Kind::ALL.map(|kind| kind.key(&[7, 8])).to_vec();
        assert!(keys.is_sorted());
        for (kind, key) in Kind::ALL.into_iter().zip(&keys) {
            assert_eq!(Kind::of_key(Some(key)).unwrap(), (kind, &[7, 8][..]));
        }
        assert_eq!(Kind::of_key(None).unwrap(), (Kind::Identity, &[][..]));
        assert_eq!(
            Kind::Diff.onwards().collect::<Vec<_>>(),
            [Kind::Diff, Kind::Audit]
        );
    }

    #[test]
    fn a_key_that_is_none_is_refused() {
        for bytes in [vec![], vec![10], vec![u8::MAX, 1]] {
            assert!(Kind::of_key(Some(&ItemKey(bytes))).is_err());
        }
    }
}
