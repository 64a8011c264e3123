//! `forget`: something takes no part in recall any more, or is gone for good.

use hyphae_core::{
    memories::{
        ForgetOutcome, ForgetRequest, Forgettable, Forgetting, ForgottenItem, MemoryError, Target,
    },
    text,
};
use serde_json::{Map, Value, json};

use super::{Hints, Name, PAGE_TOKENS, Tool, schema};
use crate::{
    call::{Answer, Call, bare},
    decode::Arguments,
    errors::ToolError,
};

const MOST: usize = 50;

pub(super) fn tool() -> Tool {
    Tool {
        name: Name::Forget,
        title: "Forget memories or links",
        description: "Takes memories or links out of recall (retract; restore undoes it) or removes them for good (erase). \
            Without apply it shows what would happen. To erase: preview first, show the user, then repeat with apply and the confirm token.",
        hints: Hints::Destructive,
        input: schema::input(
            &json!({
                "ids": schema::ids(MOST, "Memories or links."),
                "mode": schema::choice(&Forgetting::ALL.map(Forgetting::name), "retract if left out."),
                "apply": schema::flag(false, "Do it."),
                "confirm": schema::text("The token of the preview, to erase."),
                "reason": schema::text("Why."),
            }),
            &["ids"],
        ),
        output: schema::output(
            &json!({
                "applied": schema::boolean(),
                "items": schema::list(&schema::shape(
                    &json!({
                        "id": schema::string(),
                        "outcome": schema::string(),
                        "preview": schema::string(),
                        "taken_by": schema::string(),
                    }),
                    &["id", "outcome"],
                )),
                "omitted": schema::integer(),
                "confirm": schema::string(),
            }),
            &["applied", "items", "omitted"],
        ),
    }
}

pub(super) async fn run(call: &Call<'_>, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let modes = Forgetting::ALL.map(|mode| (mode.name(), mode));
    let wanted = arguments.ids("ids", MOST)?;
    let mode = arguments
        .one_of("mode", &modes)?
        .unwrap_or(Forgetting::Retract);
    let apply = arguments.flag("apply")?.unwrap_or(false);
    let token = arguments.optional_text("confirm")?;
    let reason = arguments.optional_text("reason")?;
    let mut targets: Vec<Target> = Vec::new();
    let mut missing = Vec::new();
    for id in &wanted {
        match call.memories().find_target(&call.scope, bare(id)).await {
            Ok(target) => targets.push(target),
            Err(MemoryError::NotFound { .. }) => missing.push(absent(id)),
            Err(error) => return Err(ToolError::from(error).about("ids")),
        }
    }
    let request = ForgetRequest {
        targets,
        mode,
        apply,
        token,
        reason,
    };
    let forgotten = call
        .memories()
        .forget(&call.scope, &request, &call.via)
        .await?;
    let mut answer = Answer::default();
    answer.field("applied", forgotten.applied);
    answer.maybe("confirm", forgotten.token);
    if !forgotten.applied {
        answer.warn("this is a preview; nothing was changed");
    }
    let items = forgotten.items.iter().map(item).chain(missing).collect();
    answer.list(call, "items", items, PAGE_TOKENS, PAGE_TOKENS);
    Ok(answer)
}

fn absent(id: &str) -> Map<String, Value> {
    let mut item = Map::new();
    item.insert("id".to_owned(), text::shorten(id, 40).into());
    item.insert("outcome".to_owned(), "not_found".into());
    item
}

fn item(forgotten: &ForgottenItem) -> Map<String, Value> {
    const PREVIEW: usize = 120;
    let id = match forgotten.target {
        Target::Cell(id) => id.to_string(),
        Target::Relation(id) => id.to_string(),
    };
    let mut item = absent(&id);
    let mut field = |name: &str, value: Value| item.insert(name.to_owned(), value);
    match forgotten.outcome {
        ForgetOutcome::Done(mode) => field("outcome", mode.name().into()),
        ForgetOutcome::Already(status) => field("outcome", format!("already_{status}").into()),
        ForgetOutcome::Taken(by) => {
            field("taken_by", by.to_string().into());
            field("outcome", "taken".into())
        }
        ForgetOutcome::Missing => None,
    };
    match &forgotten.what {
        Some(Forgettable::Cell(cell)) => {
            field(
                "preview",
                text::shorten(cell.content.as_str(), PREVIEW).into(),
            );
        }
        Some(Forgettable::Relation(relation)) => {
            let says = format!("{} {} {}", relation.from, relation.kind, relation.to);
            field("preview", says.into());
        }
        None => {}
    }
    item
}
