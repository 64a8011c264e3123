//! Rules over memories' texts: masking is idempotent and never lengthens the list of secrets,
//! normalising is idempotent, words are found in any text.
#![no_main]

use hyphae_core::{cell::Content, mask::mask, recall};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let masked = mask(text);
    let again = mask(&masked.text);
    assert_eq!((again.redactions, &again.text), (0, &masked.text));
    if let Ok(content) = Content::new(text) {
        assert_eq!(Content::new(content.as_str()), Ok(content.clone()));
        assert!(recall::say_the_same(content.as_str(), content.as_str()));
        let terms = recall::terms_of(content.as_str());
        assert_eq!(recall::Terms::from_bytes(&terms.to_bytes()), Some(terms));
    }
});
