//! basic-memory: a folder of Markdown notes, each with YAML in front.
//!
//! `- [category] text #tag (context)` is an observation, `- kind [[Note]] (context)` a relation,
//! anywhere in a note but in code and quotations; `- [ ] text` is a task to be done. What else a
//! section says is one memory a section, as `Context`.
//!
//! An observation says little without the note it stands in, so the note's title stands before
//! it. The time is that of the note's last change, if its front says so.

mod front;
mod item;

use front::Front;
use hyphae_core::cell::CellType;
use item::Item;

use super::{
    draft::{Draft, Drafts},
    text::words,
};
use crate::place::Spot;

pub(super) fn read(text: &str, drafts: &mut Drafts) {
    let (yaml, body) = front::split(text);
    let front = Front::parse(yaml.unwrap_or_default()).unwrap_or_else(|why| {
        drafts.spot = Spot::Line(1);
        drafts.bad(why);
        Front::default()
    });
    let file = drafts.name.clone();
    let stem = file.rsplit('/').next().unwrap_or_default();
    let note = Note {
        title: front
            .title
            .clone()
            .unwrap_or_else(|| stem.trim_end_matches(".md").to_owned()),
        id: front.permalink.clone().unwrap_or(file),
        front,
    };
    let first = text[..text.len() - body.len()].matches('\n').count() as u64;
    let mut section = Section::default();
    let mut lines = (first + 1..).zip(body.lines()).peekable();
    let mut fence: Option<&str> = None;
    while let Some((number, line)) = lines.next() {
        let start = line.trim_start();
        let marker = ["```", "~~~"]
            .into_iter()
            .find(|mark| start.starts_with(mark));
        if fence.is_some() || marker.is_some() {
            match fence {
                None => fence = marker,
                Some(open) if start.starts_with(open) => fence = None,
                Some(_) => {}
            }
            section.push(number, line);
            continue;
        }
        if let Some(heading) = heading(line) {
            note.prose(&section, drafts);
            section = Section::under(heading);
            continue;
        }
        let Some(entry) = item::entry(line) else {
            section.push(number, line);
            continue;
        };
        // An entry goes on in lines that are indented and begin none of their own.
        let mut whole = entry.to_owned();
        let mut written = vec![(number, line)];
        while let Some(next) = lines.next_if(|(_, next)| item::continues(next)) {
            whole.push(' ');
            whole.push_str(next.1.trim());
            written.push(next);
        }
        drafts.spot = Spot::Line(number);
        match Item::parse(&whole) {
            Some(item) => note.item(&item, drafts),
            None => written
                .into_iter()
                .for_each(|(number, line)| section.push(number, line)),
        }
    }
    note.prose(&section, drafts);
}

struct Note {
    title: String,
    id: String,
    front: Front,
}

/// What was said since the last heading.
#[derive(Default)]
struct Section {
    heading: String,
    text: String,
    first: u64,
}

impl Section {
    fn under(heading: &str) -> Self {
        Self {
            heading: heading.to_owned(),
            ..Self::default()
        }
    }

    fn push(&mut self, number: u64, line: &str) {
        if self.text.trim().is_empty() {
            self.first = number;
        }
        self.text.push_str(line);
        self.text.push('\n');
    }
}

impl Note {
    fn item(&self, item: &Item, drafts: &mut Drafts) {
        let title = &self.title;
        match item {
            Item::Observation {
                category,
                text,
                tags,
            } => {
                let category = category.as_deref();
                let own = tags.iter().map(String::as_str).chain(category);
                let kind = category.map_or(CellType::Fact, cell_type);
                self.add(format!("{title}: {text}"), kind, own, drafts);
            }
            Item::Task { text } => {
                self.add(format!("{title}: {text}"), CellType::Task, [], drafts);
            }
            Item::Relation {
                kind,
                target,
                context,
            } => {
                let context = match context {
                    Some(context) => format!(" ({context})"),
                    None => String::new(),
                };
                let text = format!("{title} {} {target}{context}", words(kind));
                self.add(text, CellType::Fact, ["relation"], drafts);
            }
        }
    }

    fn prose(&self, section: &Section, drafts: &mut Drafts) {
        if !section.text.chars().any(char::is_alphanumeric) {
            return;
        }
        let (title, heading) = (&self.title, &section.heading);
        let about = if heading.is_empty() || heading == title {
            title.clone()
        } else {
            format!("{title}: {heading}")
        };
        drafts.spot = Spot::Line(section.first);
        let text = format!("{about}\n\n{}", section.text.trim());
        self.add(text, CellType::Context, [], drafts);
    }

    fn add<'a>(
        &'a self,
        text: String,
        cell_type: CellType,
        tags: impl IntoIterator<Item = &'a str>,
        drafts: &mut Drafts,
    ) {
        let of_note = self.front.tags.iter().map(String::as_str);
        drafts.add(&Draft {
            text,
            cell_type,
            id: &self.id,
            tags: tags.into_iter().chain(of_note).collect(),
            said_at: self.front.modified.or(self.front.created),
            ..Draft::default()
        });
    }
}

/// Returns the text of a heading.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let spaced = text.is_empty() || text.starts_with([' ', '\t']);
    ((1..=6).contains(&level) && spaced).then(|| text.trim().trim_end_matches('#').trim_end())
}

/// Returns the type of memory that a category stands for; a fact if it is none of ours.
fn cell_type(category: &str) -> CellType {
    match category.to_lowercase().as_str() {
        "decision" | "decided" | "choice" => CellType::Decision,
        "constraint" | "requirement" | "rule" | "limit" | "limitation" => CellType::Constraint,
        "risk" | "warning" | "concern" | "problem" | "issue" | "gotcha" => CellType::Risk,
        "pattern" | "convention" | "practice" | "technique" => CellType::Pattern,
        "lesson" | "insight" | "learning" | "tip" => CellType::Lesson,
        "preference" | "likes" | "dislikes" => CellType::Preference,
        "context" | "background" | "status" => CellType::Context,
        "task" | "todo" | "action" | "next" => CellType::Task,
        _ => CellType::Fact,
    }
}
