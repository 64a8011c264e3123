//! The tools: what each is called, takes and gives, and how it is run.

mod confirm;
mod conflicts;
mod forget;
mod get;
mod link;
mod query;
mod recall;
mod resolve;
mod schema;
mod store;
mod update;
mod updates;

use std::sync::{Arc, LazyLock};

use rmcp::model::{JsonObject, Tool as WireTool, ToolAnnotations};
use serde_json::Value;

use crate::{
    call::{Answer, Call},
    decode::Arguments,
    errors::{Code, ToolError},
    order::Effect,
};

/// A tool as it is listed.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: Name,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) hints: Hints,
    pub(crate) input: Arc<JsonObject>,
    pub(crate) output: Arc<JsonObject>,
}

/// What a call does to the memory. Each tool may be called again with the same arguments and
/// changes nothing more, and none looks beyond the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hints {
    /// Nothing.
    ReadOnly,
    /// It adds; what was there stays.
    Additive,
    /// It takes something out of recall, or removes it.
    Destructive,
}

/// The tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    Recall,
    Query,
    Get,
    Conflicts,
    Updates,
    Store,
    Update,
    Link,
    Confirm,
    Forget,
    Resolve,
}

impl Name {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Recall => "recall",
            Self::Query => "query",
            Self::Get => "get",
            Self::Conflicts => "conflicts",
            Self::Updates => "updates",
            Self::Store => "store",
            Self::Update => "update",
            Self::Link => "link",
            Self::Confirm => "confirm",
            Self::Forget => "forget",
            Self::Resolve => "resolve",
        }
    }
}

/// All tools, in the order in which they are listed.
pub(crate) static TOOLS: LazyLock<[Tool; 11]> = LazyLock::new(|| {
    [
        recall::tool(),
        query::tool(),
        get::tool(),
        conflicts::tool(),
        updates::tool(),
        store::tool(),
        update::tool(),
        link::tool(),
        confirm::tool(),
        forget::tool(),
        resolve::tool(),
    ]
});

/// Returns the tool of this name.
pub(crate) fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name.as_str() == name)
}

/// Returns what a call of this name does to the memory; none if there is no such tool.
pub(crate) fn effect_of(name: &str) -> Option<Effect> {
    find(name).map(|tool| match tool.hints {
        Hints::ReadOnly => Effect::Reads,
        Hints::Additive | Hints::Destructive => Effect::Writes,
    })
}

/// Returns the tools as the protocol lists them.
pub(crate) fn listed() -> Vec<WireTool> {
    TOOLS.iter().map(Tool::wire).collect()
}

impl Tool {
    fn wire(&self) -> WireTool {
        let annotations = ToolAnnotations::new()
            .read_only(self.hints == Hints::ReadOnly)
            .destructive(self.hints == Hints::Destructive)
            .idempotent(true)
            .open_world(false);
        WireTool::new(
            self.name.as_str(),
            self.description,
            Arc::clone(&self.input),
        )
        .with_title(self.title)
        .with_raw_output_schema(Arc::clone(&self.output))
        .with_annotations(annotations)
    }

    /// Runs the tool.
    pub(crate) async fn run(
        &self,
        call: &Call<'_>,
        arguments: Arguments,
    ) -> Result<Answer, ToolError> {
        match self.name {
            Name::Recall => recall::run(call, arguments).await,
            Name::Query => query::run(call, arguments).await,
            Name::Get => get::run(call, arguments).await,
            Name::Conflicts => conflicts::run(call, arguments).await,
            Name::Updates => updates::run(call, arguments).await,
            Name::Store => store::run(call, arguments).await,
            Name::Update => update::run(call, arguments).await,
            Name::Link => link::run(call, arguments).await,
            Name::Confirm => confirm::run(call, arguments).await,
            Name::Forget => forget::run(call, arguments).await,
            Name::Resolve => resolve::run(call, arguments).await,
        }
    }
}

/// Returns the object that a schema was written as.
fn object(schema: &Value) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

/// Runs a tool that reads, for what shows the same elsewhere.
pub(crate) async fn read(
    call: &Call<'_>,
    name: Name,
    arguments: &Value,
) -> Result<Value, ToolError> {
    let tool =
        find(name.as_str()).ok_or_else(|| ToolError::new(Code::Internal, "a tool is missing"))?;
    let arguments = Arguments::new(arguments.as_object().cloned(), &tool.input)?;
    Ok(tool.run(call, arguments).await?.framed(call))
}

/// Reads tags.
fn tags_of(
    arguments: &mut Arguments,
    name: &str,
) -> Result<Vec<hyphae_core::label::Tag>, ToolError> {
    let texts = arguments.texts(name, hyphae_core::label::Tags::MAX)?;
    let tags = texts.iter().map(|text| hyphae_core::label::Tag::new(text));
    tags.collect::<Result<_, _>>()
        .map_err(|error| ToolError::argument(name, error.to_string(), "send other tags"))
}

/// How many tokens the page of a list may have whose caller names no bound.
const PAGE_TOKENS: usize = 4000;

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn list() -> Vec<Value> {
        let listed = serde_json::to_value(listed()).unwrap();
        listed.as_array().unwrap().clone()
    }

    /// Looks at a schema and at all below it; returns how many that were.
    #[track_caller]
    fn look(schema: &Value, name: &str) -> usize {
        const TAKEN: [&str; 14] = [
            "additionalProperties",
            "default",
            "description",
            "enum",
            "items",
            "maxItems",
            "maxLength",
            "maximum",
            "minItems",
            "minLength",
            "minimum",
            "properties",
            "required",
            "type",
        ];
        let object = schema.as_object().unwrap();
        assert!(object["type"].is_string(), "{name}: {object:?}");
        for keyword in object.keys() {
            assert!(TAKEN.contains(&keyword.as_str()), "{name}: {keyword}");
        }
        let properties = object.get("properties").and_then(Value::as_object);
        let below = properties.into_iter().flat_map(|all| all.values());
        let below = below.chain(object.get("items"));
        1 + below.map(|schema| look(schema, name)).sum::<usize>()
    }

    #[test]
    fn the_tools_are_these_eleven_and_each_says_what_it_does() {
        let hints: Vec<_> = list()
            .iter()
            .map(|tool| {
                let hints = &tool["annotations"];
                assert!(tool["title"].is_string() && tool["description"].is_string());
                (
                    tool["name"].as_str().unwrap().to_owned(),
                    [
                        "readOnlyHint",
                        "destructiveHint",
                        "idempotentHint",
                        "openWorldHint",
                    ]
                    .map(|hint| hints[hint].as_bool().unwrap()),
                )
            })
            .collect();
        let read_only = [true, false, true, false];
        let additive = [false, false, true, false];
        let destructive = [false, true, true, false];
        let want = [
            ("recall", read_only),
            ("query", read_only),
            ("get", read_only),
            ("conflicts", read_only),
            ("updates", read_only),
            ("store", additive),
            ("update", additive),
            ("link", additive),
            ("confirm", additive),
            ("forget", destructive),
            ("resolve", destructive),
        ];
        assert_eq!(hints, want.map(|(name, hints)| (name.to_owned(), hints)));
    }

    #[test]
    fn schemas_use_only_what_every_client_takes() {
        for tool in list() {
            let name = tool["name"].as_str().unwrap();
            for schema in ["inputSchema", "outputSchema"] {
                let schema = &tool[schema];
                assert_eq!(schema["type"], "object");
                assert!(look(schema, name) > 3, "{name}");
                assert!(!schema.to_string().contains("null"), "{name}");
            }
        }
    }

    #[test]
    fn schemas_are_schemas() {
        for tool in list() {
            for schema in ["inputSchema", "outputSchema"] {
                jsonschema::meta::validate(&tool[schema]).unwrap();
            }
        }
    }

    #[test]
    fn the_list_is_short() {
        let mut bare = list();
        for tool in &mut bare {
            tool.as_object_mut().unwrap().remove("outputSchema");
        }
        let bytes = json!({"tools": bare}).to_string().len();
        assert!(bytes <= 12_000, "{bytes} bytes without output schemas");
        let bytes = json!({"tools": list()}).to_string().len();
        assert!(bytes <= 24_000, "{bytes} bytes with output schemas");
    }

    #[test]
    fn every_required_argument_is_one() {
        for tool in TOOLS.iter() {
            for schema in [&tool.input, &tool.output] {
                let required = schema["required"].as_array().unwrap();
                for name in required {
                    let name = name.as_str().unwrap();
                    assert!(schema["properties"].get(name).is_some(), "{name}");
                }
            }
        }
    }
}
