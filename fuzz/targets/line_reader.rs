//! The line reader of the wire, over any bytes in any pieces.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let limit = bytes.first().map_or(64, |first| usize::from(*first) + 1);
    hyphae_acp::fuzz_line_reader(bytes, limit);
});
