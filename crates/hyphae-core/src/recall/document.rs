//! What of a memory is embedded, and what is indexed beside its own words.

use jiff::Timestamp;

use super::{terms::Terms, words};
use crate::cell::{Content, Origin};

/// Returns the text that a memory's vector is made from: the memory, behind its date if it is
/// known when it was said. On LoCoMo the date is worth 0.05 of recall@10 to the vectors alone.
pub fn embedded_text(content: &Content, origin: &Origin) -> String {
    match origin.said_at {
        Some(at) => format!("[{}] {}", date(at), content.as_str()),
        None => content.as_str().to_owned(),
    }
}

/// Returns the words around a memory: its date and what was said before it in the same
/// conversation. They count less than its own words.
pub fn context_terms(at: Timestamp, previous: Option<&Content>) -> Terms {
    let before = previous.map(Content::as_str).unwrap_or_default();
    words::terms_of(&format!("{} {before}", date(at)))
}

fn date(at: Timestamp) -> impl std::fmt::Display {
    at.strftime("%-d %B %Y")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_embedded_only_when_it_was_told() {
        let content = Content::new("Mel: hi").unwrap();
        let at: Timestamp = "2023-05-08T13:56:00Z".parse().unwrap();
        let told = Origin {
            said_at: Some(at),
            ..Origin::default()
        };
        assert_eq!(embedded_text(&content, &told), "[8 May 2023] Mel: hi");
        assert_eq!(embedded_text(&content, &Origin::default()), "Mel: hi");
    }

    #[test]
    fn the_context_is_the_date_and_the_turn_before() {
        let at: Timestamp = "2023-05-08T13:56:00Z".parse().unwrap();
        let before = Content::new("we ship").unwrap();
        assert_eq!(
            context_terms(at, Some(&before)),
            words::terms_of("8 may 2023 ship")
        );
    }
}
