//! `query`: going through what there is, page by page.

use hyphae_core::{
    cell::{CellType, Layer, Status},
    ids::{CellId, CredentialId},
    memories::{HitCount, Match, PageStart},
    recall::{Filter, When},
    text,
};
use jiff::Timestamp;
use serde_json::json;

use super::{Hints, Name, PAGE_TOKENS, Tool, schema, tags_of};
use crate::{
    call::{Answer, Call},
    decode::Arguments,
    errors::ToolError,
    views,
};

/// Which statuses a caller can ask for; none stands for all.
const STATUSES: [(&str, Option<Status>); 4] = [
    ("active", Some(Status::Active)),
    ("superseded", Some(Status::Superseded)),
    ("retracted", Some(Status::Retracted)),
    ("any", None),
];

pub(super) fn tool() -> Tool {
    Tool {
        name: Name::Query,
        title: "Browse memories",
        description: "Goes through the memories of one layer page by page, newest first, or nearest first with a query, \
            for browsing and auditing. To find out about something, use recall.",
        hints: Hints::ReadOnly,
        input: schema::input(
            &json!({
                "layer": schema::layer("L0 as stored, L1 risen, L2 principles of the project."),
                "query": schema::text("Nearest first to this."),
                "k": schema::whole(1..=usize::from(HitCount::MAX), 10, "The most hits of a page."),
                "types": schema::cell_types(),
                "tags": schema::tags(16, "With all of these tags."),
                "status": schema::choice(&STATUSES.map(|(name, _)| name), "active if left out."),
                "author": schema::text("By this author."),
                "since": schema::text("Stored since then."),
                "until": schema::text("Stored before then."),
                "cursor": schema::text("next_cursor of the page before."),
            }),
            &["layer"],
        ),
        output: schema::output(
            &json!({
                "hits": schema::list(&schema::hit()),
                "total": schema::integer(),
                "omitted": schema::integer(),
                "next_cursor": schema::string(),
            }),
            &["hits", "total", "omitted"],
        ),
    }
}

pub(super) async fn run(call: &Call<'_>, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let layer: Layer = arguments.choice("layer")?.ok_or_else(|| {
        ToolError::argument(
            "layer",
            "it is missing",
            "send L0, L1 or L2; L0 is what was stored",
        )
    })?;
    let query = arguments.optional_text("query")?;
    let k = arguments.whole("k", 1..=usize::from(HitCount::MAX))?;
    let status = arguments.one_of("status", &STATUSES)?;
    let (when, statuses) = match status.unwrap_or(Some(Status::Active)) {
        Some(Status::Active) => (call.memories().now(), Vec::new()),
        Some(other) => (When::Ever, vec![other]),
        None => (When::Ever, Vec::new()),
    };
    let author = match arguments.optional_text("author")? {
        Some(author) => Some(author_of(call, &author).await?),
        None => None,
    };
    let filter = Filter {
        layer: Some(layer),
        types: arguments.choices("types", CellType::ALL.len())?,
        tags: tags_of(&mut arguments, "tags")?,
        statuses,
        author,
        since: arguments.time("since")?,
        until: arguments.time("until")?,
        ..Filter::at(when)
    };
    let start = match arguments.optional_text("cursor")? {
        Some(cursor) => Some(start_of(&cursor).ok_or_else(|| {
            ToolError::argument(
                "cursor",
                "it is none that a page of this kind gave",
                "send next_cursor of the page before with the same arguments, or leave it out to begin anew",
            )
        })?),
        None => None,
    };
    let k = k.unwrap_or(usize::from(HitCount::default().get()));
    let page = call
        .memories()
        .list(&call.scope, query.as_deref(), &filter, start, k)
        .await?;
    let authors = page.matches.iter().map(|found| found.cell.author);
    let names = call.names(authors.collect()).await?;
    let mut answer = Answer::default();
    answer.field("total", page.total);
    // Room for the cursor is kept by one of the same length.
    answer.maybe("next_cursor", page.matches.last().map(cursor_behind));
    let hits: Vec<_> = page
        .matches
        .iter()
        .map(|found| views::hit(found, &names))
        .collect();
    let shown = answer.list(call, "hits", hits, PAGE_TOKENS, PAGE_TOKENS / 4);
    let next = if shown == page.matches.len() {
        page.next.map(cursor_of)
    } else {
        // What did not fit comes with the next page.
        let skipped = match start {
            Some(PageStart::Skip(skipped)) => skipped as usize,
            Some(PageStart::After(..)) | None => 0,
        };
        let last = shown.checked_sub(1).and_then(|at| page.matches.get(at));
        match (&query, last) {
            (Some(_), _) => u32::try_from(skipped + shown)
                .ok()
                .map(|skip| cursor_of(PageStart::Skip(skip))),
            (None, Some(last)) => Some(cursor_behind(last)),
            (None, None) => None,
        }
    };
    answer.remove("next_cursor");
    answer.maybe("next_cursor", next);
    Ok(answer)
}

fn cursor_behind(found: &Match) -> String {
    cursor_of(PageStart::After(found.cell.created_at, found.cell.id))
}

fn cursor_of(start: PageStart) -> String {
    match start {
        PageStart::Skip(skip) => format!("s{skip}"),
        PageStart::After(at, id) => format!("a{}.{id}", at.as_microsecond()),
    }
}

fn start_of(cursor: &str) -> Option<PageStart> {
    let cursor = cursor.trim();
    if let Some(skip) = cursor.strip_prefix('s') {
        return skip.parse().ok().map(PageStart::Skip);
    }
    let (at, id) = cursor.strip_prefix('a')?.split_once('.')?;
    let at = Timestamp::from_microsecond(at.parse().ok()?).ok()?;
    Some(PageStart::After(at, id.parse::<CellId>().ok()?))
}

/// Returns who is called so, or has this id.
async fn author_of(call: &Call<'_>, author: &str) -> Result<CredentialId, ToolError> {
    let author = author.trim();
    let all = call
        .memory
        .credentials
        .credentials(call.memory.credential.tenant)
        .await?;
    let named: Vec<CredentialId> = all
        .iter()
        .filter(|one| one.name == author || one.id.to_string() == author)
        .map(|one| one.id)
        .collect();
    match named.as_slice() {
        [only] => Ok(*only),
        [] => {
            let names = all.iter().map(|one| one.name.as_str());
            let meant = text::nearest_name(author, names)
                .map(|name| format!("did you mean `{name}`? "))
                .unwrap_or_default();
            Err(ToolError::argument(
                "author",
                "nobody is called so",
                format!("{meant}send an author as the hits name it"),
            ))
        }
        several => {
            let ids: Vec<String> = several.iter().map(ToString::to_string).collect();
            Err(ToolError::argument(
                "author",
                "several are called so",
                format!("send one of their ids: {}", ids.join(", ")),
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_nothing_else_is() {
        let id = "01a22cc7-88d3-74fe-93ff-7ab8221efb50".parse().unwrap();
        let at = Timestamp::from_microsecond(-1_700_000_000_123_456).unwrap();
        for start in [PageStart::Skip(40), PageStart::After(at, id)] {
            assert_eq!(start_of(&cursor_of(start)), Some(start));
        }
        for cursor in ["", "s", "s-1", "a1", "a1.x", "x", "a99999999999999999999.x"] {
            assert_eq!(start_of(cursor), None, "{cursor}");
        }
    }
}
