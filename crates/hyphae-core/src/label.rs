//! Names that people and agents give to memories: a topic, of which there is one memory, and
//! tags, of which a memory may have several.

use std::fmt;

use crate::{cell::BadValue, mask, text};

/// What a memory is about, so that a later memory of the same topic takes its place instead of
/// standing beside it. 1 to [`Topic::MAX_CHARS`] characters, normalised: NFC, lower case, single spaces.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Topic(String);

impl Topic {
    /// The longest topic, in characters.
    pub const MAX_CHARS: usize = 128;

    /// Normalises and checks a topic.
    ///
    /// # Errors
    /// [`BadValue`] if it is empty, too long or has control characters.
    pub fn new(text: &str) -> Result<Self, BadValue> {
        label(text, Self::MAX_CHARS).map(Self).ok_or_else(|| {
            let max = Self::MAX_CHARS;
            BadValue::new(
                text,
                format!("a topic of 1 to {max} characters in one line"),
            )
        })
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A word that groups memories. 1 to [`Tag::MAX_CHARS`] characters, normalised (NFC, lower case,
/// `-` for white space), without commas.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(String);

impl Tag {
    /// The longest tag, in characters.
    pub const MAX_CHARS: usize = 64;

    /// Normalises and checks a tag; `#` in front of it is taken off.
    ///
    /// # Errors
    /// [`BadValue`] if it is empty, too long, or has commas or control characters.
    pub fn new(text: &str) -> Result<Self, BadValue> {
        // All of it: a tag that a store gives back must be the tag that it was given.
        let bare = text.trim_start_matches(|c: char| c == '#' || c.is_whitespace());
        label(bare, Self::MAX_CHARS)
            .filter(|tag| !tag.contains(','))
            .map(|tag| Self(tag.replace(' ', "-")))
            .ok_or_else(|| {
                let max = Self::MAX_CHARS;
                BadValue::new(
                    text,
                    format!("a tag of 1 to {max} characters without commas"),
                )
            })
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The tags of a memory: sorted, each once, at most [`Tags::MAX`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Tags(Vec<Tag>);

impl Tags {
    /// The most tags of one memory.
    pub const MAX: usize = 16;

    /// Sorts tags and drops repeated ones.
    ///
    /// # Errors
    /// [`BadValue`] if there are more than [`Self::MAX`].
    pub fn new(tags: impl IntoIterator<Item = Tag>) -> Result<Self, BadValue> {
        let mut tags: Vec<Tag> = tags.into_iter().collect();
        tags.sort_unstable();
        tags.dedup();
        if tags.len() > Self::MAX {
            let max = Self::MAX;
            let count = format!("{} tags", tags.len());
            return Err(BadValue::new(&count, format!("at most {max} tags")));
        }
        Ok(Self(tags))
    }

    /// Returns the tags, sorted.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Tag> {
        self.0.iter()
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells whether a tag is among them.
    pub fn contains(&self, tag: &Tag) -> bool {
        self.0.binary_search(tag).is_ok()
    }
}

/// Normalises a label: without secrets (see [`mask`]), NFC, lower case, white space
/// around it removed and inside it single spaces. None if nothing is left, if it has control characters, or more than `max` characters.
fn label(text: &str, max: usize) -> Option<String> {
    // Many secrets are known by their capitals.
    let masked = mask::mask(text).text;
    // Lower-case letters may compose where their capitals do not.
    let normal = text::normalise(&text::normalise(&masked).to_lowercase());
    if normal.chars().any(|c| c.is_control() && !c.is_whitespace()) {
        return None;
    }
    let words: Vec<&str> = normal.split_whitespace().collect();
    let label = words.join(" ");
    (1..=max).contains(&label.chars().count()).then_some(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(text: &str) -> Tag {
        Tag::new(text).unwrap()
    }

    #[test]
    fn labels_of_one_spelling_are_one_label() {
        assert_eq!(Topic::new("  Data \t Base ").unwrap().as_str(), "data base");
        assert_eq!(Topic::new("cafe\u{301}"), Topic::new("CAFÉ"));
        assert_eq!(tag("#Rust Lang").as_str(), "rust-lang");
    }

    #[test]
    fn a_label_is_its_own_label() {
        for text in [
            "##a",
            "# #a",
            "J\u{30c}",
            "İ",
            "ΑΣ ΑΣ",
            "a # b",
            "\u{1e9e}x",
            "password=Tr0ub4dor&3",
            "api_key: 'sd9f8s7d6f98s7d6f'",
        ] {
            let label = tag(text);
            assert_eq!(tag(label.as_str()), label, "{text:?}");
            let label = Topic::new(text).unwrap();
            assert_eq!(Topic::new(label.as_str()), Ok(label), "{text:?}");
        }
    }

    #[test]
    fn labels_that_are_none_are_refused() {
        for text in ["", "  ", "#", "a,b", "a\u{7}b", &"x".repeat(65)] {
            assert!(Tag::new(text).is_err(), "{text:?}");
        }
        assert!(Topic::new(&"é".repeat(128)).is_ok());
        let error = Topic::new(&"é".repeat(129)).unwrap_err().to_string();
        assert!(error.contains("1 to 128"), "{error}");
    }

    #[test]
    fn tags_are_sorted_once_and_few() {
        let tags = Tags::new([tag("b"), tag("a"), tag("B")]).unwrap();
        assert!(tags.iter().map(Tag::as_str).eq(["a", "b"]));
        assert!(tags.contains(&tag("b")) && !tags.contains(&tag("c")));
        let many = (0..17).map(|n| tag(&n.to_string()));
        let error = Tags::new(many).unwrap_err().to_string();
        assert!(error.contains("at most 16"), "{error}");
    }
}
