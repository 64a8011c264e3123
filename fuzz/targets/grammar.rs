//! The console's grammar: no prompt is a panic, plain text is always a search for itself, and
//! what is stored or searched for is a part of what was typed.
#![no_main]

use hyphae_core::console::{Command, completions, parse};

libfuzzer_sys::fuzz_target!(|prompt: &str| {
    match parse(prompt) {
        Ok(Command::Store { content, .. }) => assert!(prompt.ends_with(&content)),
        Ok(Command::Recall { query, .. } | Command::Query { query, .. }) => {
            assert!(prompt.ends_with(&query));
        }
        Ok(Command::Help) => assert!(prompt.starts_with('/')),
        Err(misunderstood) => {
            assert!(prompt.starts_with('/'));
            let message = misunderstood.to_string();
            assert!(!message.is_empty() && !message.contains('\n'));
        }
    }
    let (start, offers) = completions(prompt);
    assert!(prompt.is_char_boundary(start));
    assert!(offers.len() < 16);
});
