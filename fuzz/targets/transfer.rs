//! Files of other programs and exports, of any bytes: what is read can be stored, what is an
//! export is written back as it was read, and a file's own format is always the same one.
#![no_main]

use hyphae_core::{cell::Content, mask::mask};
use hyphae_transfer::{
    foreign::{Entry, Program, Reader},
    record::{self, Record, Writer, masked},
    sniff::{Format, sniff},
};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let name = if bytes.len() % 2 == 0 {
        "a.md"
    } else {
        "a.json"
    };
    for program in Program::ALL {
        for entry in Reader::new(program, name, bytes) {
            match entry.expect("memory does not fail") {
                Entry::Found(found) => {
                    let masked = mask(&found.memory.content).text;
                    assert!(Content::new(&masked).is_ok());
                    assert!(found.memory.key.is_some());
                }
                Entry::Bad(bad) => assert!(!bad.to_string().contains('\n')),
            }
        }
    }
    let export = record::Reader::open(bytes);
    if sniff(name, bytes) != Ok(Format::Hyphae) {
        assert!(export.is_err());
    }
    let Ok(reader) = export else { return };
    let header = reader.header().clone();
    let items: Vec<_> = reader
        .filter_map(|record| match record.expect("memory does not fail") {
            Record::Item { item, .. } => Some(item),
            Record::Bad(bad) => {
                assert!(!bad.to_string().contains('\n'));
                None
            }
        })
        .collect();
    let mut writer = Writer::begin(Vec::new(), &header).expect("memory does not fail");
    for item in &items {
        writer.write(item).expect("memory does not fail");
        if let Ok((once, _)) = masked(item.clone()) {
            assert_eq!(masked(once.clone()), Ok((once, 0)));
        }
    }
    let (written, _) = writer.finish().expect("memory does not fail");
    let again = record::Reader::open(&*written).expect("it was written here");
    let again: Vec<_> = again
        .map(|record| match record.expect("memory does not fail") {
            Record::Item { item, .. } => item,
            Record::Bad(bad) => panic!("{bad}"),
        })
        .collect();
    assert_eq!(again, items);
});
