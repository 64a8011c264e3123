#!/usr/bin/env python3
"""Writes the character classes that BERT's tokenizer uses, as Rust ranges.

    unicode_tables.py > crates/hyphae-embed/src/tokenizer/tables.rs

Needs the `tokenizers` package (0.23.3 was used).  Instead of trusting one Unicode version, every one of
the 1.1 million characters is put through that package, and its answer is what is written.
"""
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer


def only(**on):
    off = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return BertNormalizer(**{**off, **on})


def main():
    clean, strip, space, split = only(clean_text=True), only(strip_accents=True), only(handle_chinese_chars=True), BertPreTokenizer()
    tests = [
        ("REMOVED", "Dropped before anything else: controls, formats and private use.", lambda c, t: clean.normalize_str(t) == "ab"),
        ("IDEOGRAPHS", "Written without spaces: each is a word of its own.", lambda c, t: space.normalize_str(t) != t),
        ("MARKS", "Accents, dropped after canonical decomposition.", lambda c, t: strip.normalize_str(t) == "ab"),
        ("PUNCTUATION", "Beyond ASCII, signs that are a word of their own.", lambda c, t: ord(c) > 127 and [p for p, _ in split.pre_tokenize_str(t)] == ["a", c, "b"]),
    ]
    print("//! Character classes as ranges of code points, first and last included.")
    print("//!\n//! Written by `scripts/embed/unicode_tables.py`; do not edit.")
    for name, doc, test in tests:
        ranges = []
        for code in range(0x110000):
            if 0xD800 <= code < 0xE000 or not test(chr(code), "a" + chr(code) + "b"):
                continue
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
        print(f"\n/// {doc}\n#[rustfmt::skip]\npub(super) static {name}: [(u32, u32); {len(ranges)}] = [")
        for i in range(0, len(ranges), 5):
            print("    " + " ".join(f"(0x{a:x}, 0x{b:x})," for a, b in ranges[i : i + 5]))
        print("];")


if __name__ == "__main__":
    main()
