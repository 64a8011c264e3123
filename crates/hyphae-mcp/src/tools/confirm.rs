//! `confirm`: a memory was found to be true.

use hyphae_core::memories::Confirmed;
use serde_json::{Map, Value, json};

use super::{Hints, Name, PAGE_TOKENS, Tool, schema};
use crate::{
    call::{Answer, Call},
    decode::Arguments,
    errors::ToolError,
    views,
};

const MOST: usize = 20;

pub(super) fn tool() -> Tool {
    Tool {
        name: Name::Confirm,
        title: "Confirm memories",
        description: "Says that you found memories to be true just now. Renews their freshness; \
            confirmations by several agents make a memory rise. One voice an agent, none for the author.",
        hints: Hints::Additive,
        input: schema::input(
            &json!({
                "ids": schema::ids(MOST, "The memories."),
                "evidence": schema::text("What you saw, in a few words."),
            }),
            &["ids"],
        ),
        output: schema::output(
            &json!({
                "items": schema::list(&schema::shape(
                    &json!({
                        "id": schema::string(),
                        "outcome": schema::string(),
                        "layer": schema::string(),
                        "promoted": schema::boolean(),
                        "voices": schema::integer(),
                        "needed": schema::integer(),
                        "verified_at": schema::string(),
                    }),
                    &["id", "outcome"],
                )),
                "omitted": schema::integer(),
            }),
            &["items", "omitted"],
        ),
    }
}

pub(super) async fn run(call: &Call<'_>, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let wanted = arguments.ids("ids", MOST)?;
    let evidence = arguments.optional_text("evidence")?;
    let mut ids = Vec::new();
    for id in &wanted {
        ids.push(call.cell("ids", id).await?);
    }
    let confirmed = call
        .memories()
        .confirm(&call.scope, &ids, evidence.as_deref(), &call.via)
        .await?;
    let mut answer = Answer::default();
    let items = confirmed.iter().map(item).collect();
    answer.list(call, "items", items, PAGE_TOKENS, PAGE_TOKENS);
    Ok(answer)
}

fn item(confirmed: &Confirmed) -> Map<String, Value> {
    let mut item = Map::new();
    let mut field = |name: &str, value: Value| item.insert(name.to_owned(), value);
    field("id", confirmed.id.to_string().into());
    field("outcome", confirmed.outcome.name().into());
    field("layer", confirmed.layer.name().into());
    field("promoted", false.into());
    field("voices", confirmed.voices.into());
    if let Some(needed) = confirmed.needed {
        field("needed", needed.into());
    }
    if let Some(at) = confirmed.verified_at {
        field("verified_at", views::time(at).into());
    }
    item
}
