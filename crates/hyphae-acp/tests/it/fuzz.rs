//! The line reader and the envelope under random input; a fuzzer can call the same function.

use hyphae_acp::fuzz_line_reader;
use proptest::prelude::*;

/// Pieces that make random lines look like messages often enough to get deep.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    let words: Vec<&'static [u8]> = vec![
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b",",
        b"\"",
        b"\\",
        b"\n",
        b"\r\n",
        b"null",
        b"true",
        b"\"jsonrpc\":\"2.0\"",
        b"\"id\":1",
        b"\"id\":\"a\"",
        b"\"id\":null",
        b"\"method\":",
        b"\"session/prompt\"",
        b"\"params\":{",
        b"\"result\":",
        b"\"error\":",
        b"\\ud800",
        b"\xEF\xBB\xBF",
        b"\xff",
        b"1e999",
        b"-",
        b" ",
        b"\0",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{}}\n",
    ];
    prop_oneof![
        4 => proptest::sample::select(words).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 0..20),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_input_is_read_to_its_end(
        fragments in proptest::collection::vec(fragment(), 0..60),
        limit in 1_usize..400,
    ) {
        let input = fragments.concat();
        let lines = input.split(|byte| *byte == b'\n').count();
        let seen: usize = fuzz_line_reader(&input, limit).iter().sum();
        prop_assert!(seen <= lines);
    }

    #[test]
    fn a_whole_message_is_found_behind_any_line(
        fragments in proptest::collection::vec(fragment(), 0..30),
    ) {
        let mut input = fragments.concat();
        let before = fuzz_line_reader(&input, 1 << 20);
        let whole = input.last().is_none_or(|byte| *byte == b'\n');
        if !whole {
            input.push(b'\n');
        }
        input.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\n");
        let after = fuzz_line_reader(&input, 1 << 20);
        prop_assert_eq!(after[0], before[0] + 1);
    }
}
