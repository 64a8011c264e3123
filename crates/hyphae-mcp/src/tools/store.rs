//! `store`: one statement to keep.

use hyphae_core::{
    cell::CellType,
    memories::{BASE_LAYER, NewMemory, Outcome},
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
        name: Name::Store,
        title: "Store a memory",
        description: "Keeps one statement for later sessions and for other agents: a decision with its reason, a constraint, \
            a lesson, a preference, a fact that is not in the code. One statement a call, complete in itself. \
            It is on disk and can be recalled when this returns. The same text again changes nothing.",
        hints: Hints::Additive,
        input: schema::input(
            &json!({
                "content": schema::content("The statement. Credentials in it are masked."),
                "type": schema::cell_type("What kind of knowledge it is; Fact if left out."),
                "salience": schema::share(0.5, "How important it is."),
                "project": schema::project(),
            }),
            &["content"],
        ),
        output: schema::output(
            &json!({
                "id": {"type": "string"},
                "outcome": {"type": "string"},
                "layer": {"type": "string"},
                "searchable": {"type": "boolean"},
                "redactions": {"type": "integer"},
            }),
            &["id", "outcome", "layer", "searchable", "redactions"],
        ),
    }
}

pub(super) async fn run(call: &Call<'_>, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let content = arguments.text("content")?;
    let cell_type: CellType = arguments.choice("type")?.unwrap_or_default();
    let salience = arguments.share("salience")?;
    let mut memory = NewMemory {
        cell_type,
        ..NewMemory::new(content)
    };
    memory.salience = salience.unwrap_or(memory.salience);
    let stored = call.memories().store(&call.scope, memory).await?;
    let mut answer = Answer::default();
    answer.field("id", stored.id.to_string());
    answer.field(
        "outcome",
        match stored.outcome {
            Outcome::Created => "created",
            Outcome::Unchanged => "unchanged",
            Outcome::Merged => "merged",
        },
    );
    answer.field("layer", BASE_LAYER.name());
    answer.field("searchable", true);
    answer.field("redactions", stored.redactions);
    if stored.redactions > 0 {
        answer.warn("credentials in the text were masked before it was kept");
    }
    Ok(answer)
}
