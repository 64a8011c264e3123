//! From what a file says to memories that can be stored: masked, split, keyed.

use hyphae_core::{
    cell::{CellType, Content, Fingerprint, Origin, Source, Validity},
    ids::SessionId,
    label::{Tag, Tags},
    mask::mask,
    memories::NewMemory,
    text::normalise,
};
use jiff::Timestamp;

use super::{Entries, Entry, Found, Program, text};
use crate::place::{Bad, Place, Spot};

/// A memory as a file tells it.
#[derive(Debug, Default)]
pub(super) struct Draft<'a> {
    /// What it says, of any length.
    pub(super) text: String,
    /// What kind of knowledge it is.
    pub(super) cell_type: CellType,
    /// What names it in its source; with the text it makes the key.
    pub(super) id: &'a str,
    /// What it is grouped under. What is no tag of ours (with a comma, too long), and what is
    /// more than a memory may have, is left out.
    pub(super) tags: Vec<&'a str>,
    pub(super) said_at: Option<Timestamp>,
    pub(super) valid_until: Option<Timestamp>,
    pub(super) session: Option<SessionId>,
    pub(super) directory: Option<&'a str>,
}

/// What was read and not given out yet.
pub(super) struct Drafts {
    pub(super) program: Program,
    pub(super) name: String,
    /// Where reading is.
    pub(super) spot: Spot,
    pub(super) entries: Entries,
}

impl Drafts {
    pub(super) fn new(program: Program, name: &str) -> Self {
        Self {
            program,
            name: name.to_owned(),
            spot: Spot::Whole,
            entries: Entries::new(),
        }
    }

    fn place(&self) -> Place {
        Place {
            file: self.name.clone(),
            spot: self.spot,
        }
    }

    /// Tells of something that cannot be read.
    pub(super) fn bad(&mut self, why: impl Into<String>) {
        let bad = Bad {
            place: self.place(),
            why: why.into(),
        };
        self.entries.push_back(Entry::Bad(bad));
    }

    /// Adds a memory; of a text of nothing but white space there is none.
    pub(super) fn add(&mut self, draft: &Draft<'_>) {
        // A memory has no NUL; the replacement character shows that something stood there.
        let text = normalise(&draft.text.replace('\0', "\u{fffd}"));
        let masked = mask(&text);
        let parts = text::parts(&masked.text, Content::MAX_CHARS);
        let whole = parts.len() == 1;
        let mut redactions = masked.redactions;
        for part in parts {
            let source = [self.program.name(), draft.id, &part].join("\0");
            let Fingerprint(hash) = Fingerprint::of(&source);
            let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            let memory = NewMemory {
                cell_type: draft.cell_type,
                origin: Origin {
                    source: Source::Imported,
                    session: draft.session,
                    position: None,
                    said_at: draft.said_at,
                },
                tags: tags(&draft.tags),
                validity: Validity::new(None, draft.valid_until).unwrap_or_default(),
                key: Some(format!("import {} {hash}", self.program)),
                // A whole text is masked by whoever stores it, and counted there.
                ..NewMemory::new(if whole { text.clone() } else { part })
            };
            let found = Found {
                place: self.place(),
                memory,
                directory: draft.directory.map(str::to_owned),
                redactions: if whole {
                    0
                } else {
                    std::mem::take(&mut redactions)
                },
            };
            self.entries.push_back(Entry::Found(Box::new(found)));
        }
    }
}

fn tags(names: &[&str]) -> Tags {
    let mut tags: Vec<Tag> = Vec::new();
    for tag in names.iter().filter_map(|name| Tag::new(name).ok()) {
        if tags.len() < Tags::MAX && !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    Tags::new(tags).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(draft: &Draft<'_>) -> Vec<Found> {
        let mut drafts = Drafts::new(Program::Mem0, "a.json");
        drafts.add(draft);
        let found = drafts.entries.into_iter().map(|entry| match entry {
            Entry::Found(found) => *found,
            Entry::Bad(bad) => panic!("{bad}"),
        });
        found.collect()
    }

    fn draft(text: &str) -> Draft<'static> {
        Draft {
            text: text.to_owned(),
            id: "1",
            ..Draft::default()
        }
    }

    #[test]
    fn the_key_depends_on_the_id_and_the_text_only() {
        let key = |draft: &Draft<'_>| made(draft)[0].memory.key.clone().unwrap();
        let one = key(&draft("we ship on Thursdays"));
        assert_eq!(one, key(&draft("  we ship on Thursdays\r\n")));
        let tagged = Draft {
            tags: vec!["release"],
            said_at: Some(Timestamp::UNIX_EPOCH),
            ..draft("we ship on Thursdays")
        };
        assert_eq!(one, key(&tagged));
        assert_ne!(one, key(&draft("we ship on Fridays")));
        let other = Draft {
            id: "2",
            ..draft("we ship on Thursdays")
        };
        assert_ne!(one, key(&other));
    }

    #[test]
    fn no_half_of_a_secret_remains_where_a_text_is_split() {
        let secret = format!("ghp_{}", "a1B2c3".repeat(6));
        let text = format!("{} {secret} {}", "word ".repeat(1596), "end ".repeat(50));
        let parts = made(&draft(&text));
        assert_eq!(parts.len(), 2);
        assert_eq!(parts.iter().map(|part| part.redactions).sum::<usize>(), 1);
        for part in parts {
            assert!(!part.memory.content.contains("a1B2c3"));
            assert_eq!(mask(&part.memory.content).redactions, 0);
            assert!(Content::new(&part.memory.content).is_ok());
        }
    }

    #[test]
    fn tags_that_are_none_and_too_many_are_left_out() {
        let names: Vec<String> = (0..20).map(|n| format!("t{n:02}")).collect();
        let mut all = vec!["a,b", "", "T00"];
        all.extend(names.iter().map(String::as_str));
        let tags = tags(&all);
        assert_eq!(tags.len(), Tags::MAX);
        assert!(tags.contains(&Tag::new("t15").unwrap()));
        assert!(!tags.contains(&Tag::new("t16").unwrap()));
    }

    #[test]
    fn nothing_is_made_of_nothing() {
        assert_eq!(made(&draft(" \n\t")), []);
        assert_eq!(made(&draft("a\0b"))[0].memory.content, "a\u{fffd}b");
    }
}
