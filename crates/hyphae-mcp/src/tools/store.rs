//! `store`: one statement to keep.

use hyphae_core::{
    cell::{CellType, Source, Validity, Visibility},
    label::{Tags, Topic},
    memories::NewMemory,
};
use serde_json::{Value, json};

use super::{Hints, Name, Tool, schema, tags_of};
use crate::{
    call::{Answer, Call},
    decode::Arguments,
    errors::ToolError,
    views,
};

/// The longest key, in bytes.
const LONGEST_KEY: usize = 256;

pub(super) fn tool() -> Tool {
    Tool {
        name: Name::Store,
        title: "Store a memory",
        description: "Keeps one statement for later sessions and other agents: a decision with its reason, a constraint, a lesson, \
            a preference, a fact that the code does not say. One statement a call, complete in itself. \
            The same text or key again adds nothing; \
            a topic replaces what was known under it, the old text stays as history.",
        hints: Hints::Additive,
        input: schema::input(
            &json!({
                "content": schema::content("The statement. Credentials in it are masked."),
                "type": schema::cell_type("Fact if left out."),
                "salience": schema::share("How important, 0.5 if left out."),
                "topic": schema::text("What it is about, such as release day; one memory a topic."),
                "tags": schema::tags(Tags::MAX, "Words to group by."),
                "origin": schema::choice(&Source::ALL.map(Source::name), "Who vouches for it; agent_inferred if left out."),
                "valid_from": schema::text("True from this time on."),
                "valid_until": schema::text("True until this time."),
                "visibility": schema::choice(&Visibility::ALL.map(Visibility::name), "private: you; project (if left out); shared: all projects."),
                "key": schema::text("A name for this request."),
            }),
            &["content"],
        ),
        output: schema::output(
            &json!({
                "id": schema::string(),
                "revision": schema::integer(),
                "outcome": schema::string(),
                "layer": schema::string(),
                "searchable": schema::boolean(),
                "similar": schema::list(&schema::shape(
                    &json!({"id": schema::string(), "distance": schema::number()}),
                    &["id", "distance"],
                )),
                "conflict_id": schema::string(),
                "redactions": schema::integer(),
            }),
            &[
                "id",
                "revision",
                "outcome",
                "layer",
                "searchable",
                "similar",
                "redactions",
            ],
        ),
    }
}

pub(super) async fn run(call: &Call<'_>, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let content = arguments.text("content")?;
    let mut memory = NewMemory::new(content);
    memory.cell_type = arguments
        .choice::<CellType>("type")?
        .unwrap_or(memory.cell_type);
    memory.salience = arguments.share("salience")?.unwrap_or(memory.salience);
    memory.topic = match arguments.optional_text("topic")? {
        Some(topic) => Some(Topic::new(&topic).map_err(|error| {
            ToolError::argument(
                "topic",
                error.to_string(),
                "send a shorter topic in one line",
            )
        })?),
        None => None,
    };
    memory.tags = Tags::new(tags_of(&mut arguments, "tags")?)
        .map_err(|error| ToolError::argument("tags", error.to_string(), "send fewer tags"))?;
    memory.origin.source = arguments
        .choice::<Source>("origin")?
        .unwrap_or(Source::AgentInferred);
    let (from, until) = (
        arguments.time("valid_from")?,
        arguments.time("valid_until")?,
    );
    memory.validity = Validity::new(from, until).ok_or_else(|| {
        ToolError::argument(
            "valid_until",
            "it is not after valid_from",
            "send a later time, or leave one of them out",
        )
    })?;
    memory.visibility = arguments
        .choice::<Visibility>("visibility")?
        .unwrap_or(memory.visibility);
    memory.key = arguments.optional_text("key")?;
    if memory
        .key
        .as_ref()
        .is_some_and(|key| key.len() > LONGEST_KEY)
    {
        return Err(ToolError::argument(
            "key",
            "it is too long",
            format!("send at most {LONGEST_KEY} bytes"),
        ));
    }
    let stored = call
        .memories()
        .store(&call.scope, memory, &call.via)
        .await?;
    let mut answer = Answer::default();
    answer.field("id", stored.id.to_string());
    answer.field("revision", stored.revision);
    answer.field("outcome", stored.outcome.name());
    answer.field("layer", stored.layer.name());
    answer.field("searchable", true);
    let similar: Vec<Value> = stored
        .similar
        .iter()
        .map(|near| {
            json!({
                "id": near.id.to_string(),
                "distance": views::rounded(f64::from(near.distance.get())),
            })
        })
        .collect();
    answer.field("similar", similar);
    answer.maybe("conflict_id", stored.conflict);
    if stored.key_reused {
        answer.warn("this key stands for another text, so this one was not stored; send a new key to store it");
    }
    answer.redactions(stored.redactions);
    Ok(answer)
}
