//! `update`: a memory says something else from now on.

use hyphae_core::{cell::CellType, label::Tags, memories::Patch};
use serde_json::json;

use super::{Hints, Name, Tool, schema, tags_of};
use crate::{
    call::{Answer, Call},
    decode::Arguments,
    errors::ToolError,
};

pub(super) fn tool() -> Tool {
    Tool {
        name: Name::Update,
        title: "Change a memory",
        description: "Changes a memory and keeps what it was as history; what is left out stays. \
            If somebody changed it since the revision that you read, nothing happens and you are told.",
        hints: Hints::Additive,
        input: schema::input(
            &json!({
                "id": schema::text("The memory."),
                "expected_revision": {"type": "integer", "minimum": 1, "description": "Its revision as you read it."},
                "content": schema::content("What it says from now on."),
                "type": schema::cell_type("Its type."),
                "salience": schema::share("Its importance."),
                "add_tags": schema::tags(Tags::MAX, "Tags that it gets."),
                "remove_tags": schema::tags(Tags::MAX, "Tags that it loses."),
                "valid_until": schema::text("True until this time."),
                "reason": schema::text("Why it is changed."),
            }),
            &["id", "expected_revision"],
        ),
        output: schema::output(
            &json!({
                "id": schema::string(),
                "revision": schema::integer(),
                "diff_id": schema::string(),
                "conflict_id": schema::string(),
                "searchable": schema::boolean(),
                "redactions": schema::integer(),
            }),
            &["id", "revision", "searchable", "redactions"],
        ),
    }
}

pub(super) async fn run(call: &Call<'_>, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let id = arguments.text("id")?;
    let expected = arguments
        .whole("expected_revision", 1..=u32::MAX as usize)?
        .and_then(|revision| u32::try_from(revision).ok())
        .ok_or_else(|| {
            ToolError::argument(
                "expected_revision",
                "it is missing",
                "get the memory and send the revision that it has",
            )
        })?;
    let patch = Patch {
        content: arguments.optional_text("content")?,
        cell_type: arguments.choice::<CellType>("type")?,
        salience: arguments.share("salience")?,
        add_tags: tags_of(&mut arguments, "add_tags")?,
        remove_tags: tags_of(&mut arguments, "remove_tags")?,
        valid_until: arguments.time("valid_until")?,
        reason: arguments.optional_text("reason")?,
    };
    let id = call.cell("id", &id).await?;
    let updated = call
        .memories()
        .update(&call.scope, id, expected, &patch, &call.via)
        .await?;
    let mut answer = Answer::default();
    answer.field("id", updated.id.to_string());
    answer.field("revision", updated.revision);
    answer.maybe("diff_id", updated.diff);
    answer.maybe("conflict_id", updated.conflict);
    answer.field("searchable", true);
    if updated.diff.is_none() {
        answer.warn("it is so already; nothing was changed");
    }
    answer.redactions(updated.redactions);
    Ok(answer)
}
