//! `resolve`: which of two memories holds.

use hyphae_core::{
    conflict::Verdict,
    ids::{CellId, DiffId},
};
use serde_json::json;

use super::{Hints, Name, Tool, schema};
use crate::{
    call::{Answer, Call},
    decode::Arguments,
    errors::ToolError,
};

pub(super) fn tool() -> Tool {
    Tool {
        name: Name::Resolve,
        title: "Decide a conflict",
        description: "Decides which side of a conflict holds. left or right: the other is superseded; both: neither changes; neither: both are retracted. \
            If people stated both sides, ask the user first.",
        hints: Hints::Destructive,
        input: schema::input(
            &json!({
                "conflict_id": schema::text("The conflict."),
                "verdict": schema::choice(&Verdict::ALL.map(Verdict::name), "Which side holds."),
                "reason": schema::text("Why, for those who read it later."),
            }),
            &["conflict_id", "verdict", "reason"],
        ),
        output: schema::output(
            &json!({
                "status": schema::string(),
                "verdict": schema::string(),
                "superseded": schema::texts(),
                "retracted": schema::texts(),
                "diff_ids": schema::texts(),
            }),
            &["status", "verdict", "superseded", "retracted", "diff_ids"],
        ),
    }
}

pub(super) async fn run(call: &Call<'_>, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let id = arguments.text("conflict_id")?;
    let verdict = arguments.choice::<Verdict>("verdict")?.ok_or_else(|| {
        ToolError::argument(
            "verdict",
            "it is missing",
            format!(
                "send one of: {}",
                Verdict::ALL.map(Verdict::name).join(", ")
            ),
        )
    })?;
    let reason = arguments.text("reason")?;
    let id = call
        .memories()
        .find_conflict(&call.scope, id.trim())
        .await
        .map_err(|error| ToolError::from(error).about("conflict_id"))?;
    let resolved = call
        .memories()
        .resolve(&call.scope, id, verdict, &reason, &call.via)
        .await?;
    let cells = |ids: &[CellId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mut answer = Answer::default();
    answer.field("status", "resolved");
    answer.field("verdict", resolved.verdict.name());
    answer.field("superseded", cells(&resolved.superseded));
    answer.field("retracted", cells(&resolved.retracted));
    let diffs: Vec<String> = resolved.diffs.iter().map(DiffId::to_string).collect();
    answer.field("diff_ids", diffs);
    Ok(answer)
}
