//! `conflicts`: memories that contradict each other, as a list of what is to be decided.

use hyphae_core::ids::ConflictId;
use serde_json::json;

use super::{Hints, Name, PAGE_TOKENS, Tool, schema};
use crate::{
    call::{Answer, Call},
    decode::Arguments,
    errors::ToolError,
    views,
};

const MOST: usize = 50;
const MOST_IDS: usize = 20;

pub(super) fn tool() -> Tool {
    Tool {
        name: Name::Conflicts,
        title: "List open conflicts",
        description: "Lists pairs of memories that cannot both be true and that nobody has decided yet, oldest first. Decide one with resolve.",
        hints: Hints::ReadOnly,
        input: schema::input(
            &json!({
                "ids": {"type": "array", "items": {"type": "string"}, "maxItems": MOST_IDS, "description": "Only conflicts about these memories."},
                "k": schema::whole(1..=MOST, 10, "The most conflicts of a page."),
                "cursor": schema::text("next_cursor of the page before."),
            }),
            &[],
        ),
        output: schema::output(
            &json!({
                "conflicts": schema::list(&schema::shape(
                    &json!({
                        "conflict_id": schema::string(),
                        "kind": schema::string(),
                        "left": schema::memory(&json!({})),
                        "right": schema::memory(&json!({})),
                        "opened_at": schema::string(),
                        "opened_by": schema::string(),
                        "why": schema::string(),
                    }),
                    &["conflict_id", "kind", "left", "right", "opened_at", "opened_by"],
                )),
                "omitted": schema::integer(),
                "next_cursor": schema::string(),
            }),
            &["conflicts", "omitted"],
        ),
    }
}

pub(super) async fn run(call: &Call<'_>, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let mut about = Vec::new();
    for id in arguments.texts("ids", MOST_IDS)? {
        about.push(call.cell("ids", &id).await?);
    }
    let k = arguments.whole("k", 1..=MOST)?.unwrap_or(10);
    let after = match arguments.optional_text("cursor")? {
        Some(cursor) => Some(cursor.trim().parse::<ConflictId>().map_err(|_| {
            ToolError::argument(
                "cursor",
                "it is none that a page gave",
                "send next_cursor of the page before, or leave it out to begin anew",
            )
        })?),
        None => None,
    };
    let mut disputes = call
        .memories()
        .conflicts(&call.scope, &about, after, k + 1)
        .await?;
    let more = disputes.len() > k;
    disputes.truncate(k);
    let people = disputes.iter().flat_map(|dispute| {
        [
            dispute.left.author,
            dispute.right.author,
            dispute.conflict.opened_by,
        ]
    });
    let names = call.names(people.collect()).await?;
    let mut answer = Answer::default();
    answer.maybe(
        "next_cursor",
        disputes.last().map(|dispute| dispute.conflict.id),
    );
    let items = disputes
        .iter()
        .map(|dispute| views::dispute(dispute, PAGE_TOKENS / 8, &names))
        .collect();
    let shown = answer.list(call, "conflicts", items, PAGE_TOKENS, PAGE_TOKENS);
    answer.remove("next_cursor");
    if more || shown < disputes.len() {
        let last = shown.checked_sub(1).and_then(|at| disputes.get(at));
        answer.maybe("next_cursor", last.map(|dispute| dispute.conflict.id));
    }
    Ok(answer)
}
