//! `link`: what one memory is to another.

use hyphae_core::{cell::Share, memories::NewRelation, relation::RelationKind};
use serde_json::json;

use super::{Hints, Name, Tool, schema};
use crate::{
    call::{Answer, Call},
    decode::Arguments,
    errors::ToolError,
};

pub(super) fn tool() -> Tool {
    Tool {
        name: Name::Link,
        title: "Link two memories",
        description: "Says what one memory is to another, read as: from relation to. \
            contradicts opens a conflict; supersedes takes the other memory out of recall (forget restores it).",
        hints: Hints::Additive,
        input: schema::input(
            &json!({
                "from": schema::text("The memory that it is said of."),
                "to": schema::text("The other memory."),
                "relation": schema::choice(&RelationKind::ALL.map(RelationKind::name), "What the first is to the other."),
                "weight": schema::share("How strong, above 0; 1 if left out."),
                "reason": schema::text("Why."),
            }),
            &["from", "to", "relation"],
        ),
        output: schema::output(
            &json!({
                "edge_id": schema::string(),
                "outcome": schema::string(),
                "conflict_id": schema::string(),
                "superseded": schema::texts(),
            }),
            &["edge_id", "outcome", "superseded"],
        ),
    }
}

pub(super) async fn run(call: &Call<'_>, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let (from, to) = (arguments.text("from")?, arguments.text("to")?);
    let kind = arguments
        .choice::<RelationKind>("relation")?
        .ok_or_else(|| {
            ToolError::argument(
                "relation",
                "it is missing",
                format!(
                    "send one of: {}",
                    RelationKind::ALL.map(RelationKind::name).join(", ")
                ),
            )
        })?;
    let relation = NewRelation {
        from: call.cell("from", &from).await?,
        to: call.cell("to", &to).await?,
        kind,
        weight: arguments.share("weight")?.unwrap_or(Share::FULL),
        reason: arguments.optional_text("reason")?,
    };
    let related = call
        .memories()
        .link(&call.scope, &relation, &call.via)
        .await?;
    let mut answer = Answer::default();
    answer.field("edge_id", related.id.to_string());
    answer.field(
        "outcome",
        if related.created {
            "created"
        } else {
            "unchanged"
        },
    );
    answer.maybe("conflict_id", related.conflict);
    let superseded: Vec<String> = related
        .superseded
        .then(|| relation.to.to_string())
        .into_iter()
        .collect();
    answer.field("superseded", superseded);
    Ok(answer)
}
