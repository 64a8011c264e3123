//! What every tool is given, and what it gives back.

use hyphae_core::{memories::Memories, scope::Scope};
use serde_json::{Map, Value, json};

use crate::{access::OpenedMemory, budget, decode::Arguments, errors::ToolError};

/// One call of a tool: who asks, about which project.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) server: &'a crate::server::Shared,
    pub(crate) memory: &'a OpenedMemory,
    pub(crate) scope: Scope,
}

impl Call<'_> {
    pub(crate) fn memories(&self) -> &Memories {
        &self.memory.memories
    }
}

/// What a tool answers, before scope and warnings are added.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    fields: Map<String, Value>,
    pub(crate) warnings: Vec<String>,
}

impl Answer {
    pub(crate) fn field(&mut self, name: &str, value: impl Into<Value>) {
        self.fields.insert(name.to_owned(), value.into());
    }

    /// Adds a list under `name`, as much of it as fits into what `max_tokens` leaves beside the
    /// fields so far, and `omitted`, the count of the rest. Returns that count.
    pub(crate) fn list(
        &mut self,
        call: &Call<'_>,
        name: &str,
        items: Vec<Map<String, Value>>,
        max_tokens: usize,
        share: usize,
    ) -> usize {
        self.field("omitted", items.len());
        self.field(name, json!([]));
        let frame = budget::tokens_of(&self.framed(call));
        let fitted = budget::fit(items, max_tokens.saturating_sub(frame), share);
        self.field(name, fitted.kept);
        self.field("omitted", fitted.omitted);
        fitted.omitted
    }

    /// Adds a note for the model, if it is not there yet.
    pub(crate) fn warn(&mut self, warning: impl Into<String>) {
        let warning = warning.into();
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Returns the whole answer.
    pub(crate) fn framed(&self, call: &Call<'_>) -> Value {
        let mut fields = self.fields.clone();
        let mut warnings = self.warnings.clone();
        if call.scope.project == *call.server.projects.of_process() {
            warnings.extend(call.server.projects.warning().map(str::to_owned));
        }
        fields.insert("warnings".to_owned(), warnings.into());
        fields.insert(
            "scope".to_owned(),
            json!({
                "project": call.scope.project.as_str(),
                "agent": call.memory.credential.name,
            }),
        );
        Value::Object(fields)
    }
}

/// How many tokens an answer may have.
pub(crate) fn max_tokens(arguments: &mut Arguments, default: usize) -> Result<usize, ToolError> {
    let range = budget::LEAST_TOKENS..=budget::MOST_TOKENS;
    Ok(arguments.whole("max_tokens", range)?.unwrap_or(default))
}
