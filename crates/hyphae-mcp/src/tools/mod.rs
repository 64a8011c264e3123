//! The tools: what each is called, takes and gives, and how it is run.

mod recall;
mod schema;
mod store;

use std::sync::{Arc, LazyLock};

use rmcp::model::{JsonObject, Tool as WireTool, ToolAnnotations};
use serde_json::Value;

use crate::{
    call::{Answer, Call},
    decode::Arguments,
    errors::ToolError,
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

/// What a call does to the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hints {
    /// Nothing.
    ReadOnly,
    /// It adds; what was there stays.
    Additive,
}

/// The tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    Recall,
    Store,
}

impl Name {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Recall => "recall",
            Self::Store => "store",
        }
    }
}

/// All tools, in the order in which they are listed.
pub(crate) static TOOLS: LazyLock<Vec<Tool>> =
    LazyLock::new(|| vec![recall::tool(), store::tool()]);

/// Returns the tool of this name.
pub(crate) fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name.as_str() == name)
}

/// Returns what a call of this name does to the memory; none if there is no such tool.
pub(crate) fn effect_of(name: &str) -> Option<Effect> {
    find(name).map(|tool| match tool.hints {
        Hints::ReadOnly => Effect::Reads,
        Hints::Additive => Effect::Writes,
    })
}

/// Returns the tools as the protocol lists them.
pub(crate) fn listed() -> Vec<WireTool> {
    TOOLS.iter().map(Tool::wire).collect()
}

impl Tool {
    fn wire(&self) -> WireTool {
        let (read_only, destructive) = match self.hints {
            Hints::ReadOnly => (true, false),
            Hints::Additive => (false, false),
        };
        WireTool::new(
            self.name.as_str(),
            self.description,
            Arc::clone(&self.input),
        )
        .with_title(self.title)
        .with_raw_output_schema(Arc::clone(&self.output))
        .with_annotations(
            ToolAnnotations::with_title(self.title)
                .read_only(read_only)
                .destructive(destructive)
                .idempotent(true)
                .open_world(false),
        )
    }

    /// Runs the tool.
    pub(crate) async fn run(
        &self,
        call: &Call<'_>,
        arguments: Arguments,
    ) -> Result<Answer, ToolError> {
        match self.name {
            Name::Recall => recall::run(call, arguments).await,
            Name::Store => store::run(call, arguments).await,
        }
    }
}

/// Returns the object that a schema was written as.
fn object(schema: &Value) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}
