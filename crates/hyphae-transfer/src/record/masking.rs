//! Secrets are masked in what is brought in, too: an export may come from a version that knew
//! fewer kinds of them, or have been edited.

use hyphae_core::{
    cell::{BadContent, Cell, Content},
    label::{Tag, Tags, Topic},
    mask::mask,
    ports::Item,
};

/// Masks the secrets of all texts of an item that people wrote, and counts them. A memory whose
/// text changed loses its vector, which is to be made again.
///
/// # Errors
/// [`BadContent`] if a memory is too long once its secrets are masked.
pub fn masked(item: Item) -> Result<(Item, usize), BadContent> {
    let mut secrets = 0;
    let mut text = |text: String| {
        let found = mask(&text);
        secrets += found.redactions;
        if found.redactions == 0 {
            text
        } else {
            found.text
        }
    };
    let item = match item {
        Item::Cell(mut kept) => {
            let before = kept.cell.content.clone();
            kept.cell = cell(kept.cell, &mut text)?;
            kept.embedded_text = text(kept.embedded_text);
            if kept.cell.content != before {
                kept.vector = None;
            }
            Item::Cell(kept)
        }
        Item::Past(mut past) => {
            past.cell = cell(past.cell, &mut text)?;
            past.reason = past.reason.map(text);
            Item::Past(past)
        }
        Item::Relation(mut relation) => {
            relation.reason = relation.reason.map(text);
            Item::Relation(relation)
        }
        Item::Conflict(mut conflict) => {
            conflict.why = conflict.why.map(&mut text);
            conflict.resolution = conflict.resolution.map(|mut resolution| {
                resolution.reason = text(resolution.reason);
                resolution
            });
            Item::Conflict(conflict)
        }
        Item::Confirmation(mut confirmation) => {
            confirmation.evidence = confirmation.evidence.map(text);
            Item::Confirmation(confirmation)
        }
        Item::Audit(mut row) => {
            row.reason = row.reason.map(text);
            Item::Audit(row)
        }
        item @ (Item::Identity { .. } | Item::Link { .. } | Item::Key { .. } | Item::Diff(_)) => {
            item
        }
    };
    Ok((item, secrets))
}

fn cell(cell: Cell, text: &mut impl FnMut(String) -> String) -> Result<Cell, BadContent> {
    let content = Content::new(&text(cell.content.as_str().to_owned()))?;
    // A masked label that is none any more (too long) is left out: it was a secret.
    let topic = cell
        .topic
        .and_then(|topic| Topic::new(&text(topic.as_str().to_owned())).ok());
    let tags = cell
        .tags
        .iter()
        .filter_map(|tag| Tag::new(&text(tag.as_str().to_owned())).ok());
    Ok(Cell {
        content,
        topic,
        tags: Tags::new(tags).unwrap_or_default(),
        ..cell
    })
}
