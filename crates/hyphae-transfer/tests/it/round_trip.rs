//! What is written is read back equal, and what was written is written again byte for byte.

use hyphae_core::ports::{ChosenModel, Item};
use hyphae_transfer::record::{Header, Reader, Record, Writer, masked};
use proptest::{collection::vec, option, prelude::*};

use crate::made;

fn write(header: &Header, items: &[Item]) -> Vec<u8> {
    let mut writer = Writer::begin(Vec::new(), header).unwrap();
    for item in items {
        writer.write(item).unwrap();
    }
    let (bytes, counts) = writer.finish().unwrap();
    assert_eq!(counts.total(), items.len() as u64);
    bytes
}

fn read(bytes: &[u8]) -> (Header, Vec<Item>) {
    let reader = Reader::open(bytes).unwrap();
    let header = reader.header().clone();
    let items = reader
        .zip(2..)
        .map(|(record, number)| match record.unwrap() {
            Record::Item { line, item } => {
                assert_eq!(line, number);
                item
            }
            Record::Bad(bad) => panic!("{bad}"),
        });
    (header, items.collect())
}

proptest! {
    #[test]
    fn a_round_trip_is_the_identity(
        program in "\\PC{0,12}",
        model in option::of(("\\PC{1,12}", 1_usize..1000)),
        items in vec(made::item(), 0..8),
    ) {
        let model = model.map(|(id, dimension)| ChosenModel { id, dimension });
        let header = Header { program, model };
        let bytes = write(&header, &items);
        let (header_again, items_again) = read(&bytes);
        prop_assert_eq!(&header_again, &header);
        prop_assert_eq!(&items_again, &items);
        let again = write(&header_again, &items_again);
        prop_assert_eq!(again, bytes);
    }

    #[test]
    fn masking_a_masked_item_changes_nothing(item in made::item()) {
        let Ok((once, _)) = masked(item) else {
            return Ok(());
        };
        let (twice, secrets) = masked(once.clone()).unwrap();
        prop_assert_eq!(secrets, 0);
        prop_assert_eq!(twice, once);
    }
}
