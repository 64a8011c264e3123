//! `updates`: what changed since last time.

use std::collections::VecDeque;

use hyphae_core::{
    diff::{Diff, DiffKind},
    memories::Update,
    ports::Sequence,
    text,
};
use serde_json::{Map, Value, json};

use super::{Hints, Name, PAGE_TOKENS, Tool, schema};
use crate::{
    access::Names,
    call::{Answer, Call},
    decode::Arguments,
    errors::ToolError,
    views,
};

const MOST: usize = 100;

/// What a change is called here, and which changes are called so.
const KINDS: [(&str, &[DiffKind]); 6] = [
    ("added", &[DiffKind::Created, DiffKind::Pattern]),
    ("revised", &[DiffKind::Updated, DiffKind::Restored]),
    ("promoted", &[DiffKind::Promoted]),
    ("superseded", &[DiffKind::Superseded]),
    ("retracted", &[DiffKind::Retracted, DiffKind::Erased]),
    ("conflict", &[DiffKind::Contradiction, DiffKind::Resolved]),
];

pub(super) fn tool() -> Tool {
    Tool {
        name: Name::Updates,
        title: "See what changed",
        description: "Tells what others changed in this project since a cursor, oldest first; without cursor, the latest changes. \
            Keep next_cursor for the next time.",
        hints: Hints::ReadOnly,
        input: schema::input(
            &json!({
                "cursor": schema::text("next_cursor of the last answer."),
                "k": schema::whole(1..=MOST, 20, "The most changes."),
                "kinds": schema::choices(&KINDS.map(|(name, _)| name), "Only these kinds."),
                "from_others": schema::flag(true, "Without your own."),
            }),
            &[],
        ),
        output: schema::output(
            &json!({
                "diffs": schema::list(&schema::shape(
                    &json!({
                        "diff_id": schema::string(),
                        "kind": schema::string(),
                        "change": schema::string(),
                        "memory_id": schema::string(),
                        "type": schema::string(),
                        "summary": schema::string(),
                        "author": schema::string(),
                        "at": schema::string(),
                        "hops": schema::integer(),
                        "energy": schema::number(),
                    }),
                    &["diff_id", "kind", "change", "memory_id", "type", "summary", "author", "at", "hops", "energy"],
                )),
                "omitted": schema::integer(),
                "next_cursor": schema::string(),
                "more": schema::boolean(),
            }),
            &["diffs", "omitted", "next_cursor", "more"],
        ),
    }
}

pub(super) async fn run(call: &Call<'_>, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let k = arguments.whole("k", 1..=MOST)?.unwrap_or(20);
    let kinds: Vec<DiffKind> = arguments.some_of("kinds", &KINDS)?.concat();
    let own = !arguments.flag("from_others")?.unwrap_or(true);
    let wanted = Wanted { kinds, own, k };
    let found = match arguments.optional_text("cursor")? {
        Some(cursor) => {
            let after = cursor.trim().parse().map(Sequence).map_err(|_| {
                ToolError::argument(
                    "cursor",
                    "it is none that an answer gave",
                    "send next_cursor of the last answer, or leave it out for the latest changes",
                )
            })?;
            since(call, after, &wanted).await?
        }
        None => latest(call, &wanted).await?,
    };
    let authors = found.updates.iter().map(|update| update.diff.author);
    let names = call.names(authors.collect()).await?;
    let mut answer = Answer::default();
    answer.field("more", found.more);
    answer.field("next_cursor", found.next.0.to_string());
    let diffs = found.updates.iter().map(|update| view(update, &names));
    let shown = answer.list(call, "diffs", diffs.collect(), PAGE_TOKENS, PAGE_TOKENS);
    let last = shown.checked_sub(1).and_then(|at| found.updates.get(at));
    if let Some(last) = last.filter(|_| shown < found.updates.len()) {
        answer.field("more", true);
        answer.field("next_cursor", last.diff.sequence.0.to_string());
    }
    Ok(answer)
}

struct Wanted {
    kinds: Vec<DiffKind>,
    own: bool,
    k: usize,
}

struct Found {
    updates: Vec<Update>,
    next: Sequence,
    more: bool,
}

async fn since(call: &Call<'_>, after: Sequence, wanted: &Wanted) -> Result<Found, ToolError> {
    let page = call
        .memories()
        .updates(&call.scope, after, &wanted.kinds, wanted.own, wanted.k)
        .await?;
    Ok(Found {
        updates: page.updates,
        next: page.next,
        more: page.more,
    })
}

/// Looks back in steps that double, until there are enough.
async fn latest(call: &Call<'_>, wanted: &Wanted) -> Result<Found, ToolError> {
    const AT_ONCE: usize = 256;
    let newest = call
        .memories()
        .store_port()
        .newest(call.scope.owner())
        .await?
        .0;
    let mut back = wanted.k as u64;
    loop {
        let mut at = Sequence(newest.saturating_sub(back));
        let from = at;
        let mut updates = VecDeque::new();
        loop {
            let page = call
                .memories()
                .updates(&call.scope, at, &wanted.kinds, wanted.own, AT_ONCE)
                .await?;
            updates.extend(page.updates);
            let surplus = updates.len().saturating_sub(wanted.k);
            updates.drain(..surplus);
            at = page.next;
            if !page.more {
                break;
            }
        }
        if updates.len() == wanted.k || from.0 == 0 {
            return Ok(Found {
                updates: updates.into(),
                next: at,
                more: false,
            });
        }
        back = back.saturating_mul(4);
    }
}

fn view(update: &Update, names: &Names) -> Map<String, Value> {
    const SUMMARY: usize = 160;
    let diff = &update.diff;
    let summary = match &update.cell {
        Some(cell) => text::shorten(cell.content.as_str(), SUMMARY),
        None => "(erased)".to_owned(),
    };
    let mut view = Map::new();
    let mut field = |name: &str, value: Value| view.insert(name.to_owned(), value);
    field("diff_id", diff.id.to_string().into());
    field("kind", kind(diff).into());
    field("change", diff.kind.name().into());
    field("memory_id", diff.cell.to_string().into());
    field("type", diff.cell_type.name().into());
    field("summary", summary.into());
    field("author", names.of(diff.author).into());
    field("at", views::time(diff.at).into());
    field("hops", update.hops.into());
    field("energy", views::rounded(update.energy));
    view
}

fn kind(diff: &Diff) -> &'static str {
    KINDS
        .iter()
        .find(|(_, kinds)| kinds.contains(&diff.kind))
        .map_or("revised", |(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_has_one_name() {
        for kind in DiffKind::ALL {
            let names = KINDS.iter().filter(|(_, kinds)| kinds.contains(&kind));
            assert_eq!(names.count(), 1, "{kind:?}");
        }
    }
}
