//! What every tool is given, and what it gives back.

use std::sync::Arc;

use hyphae_core::{
    audit::Via,
    ids::{CellId, CredentialId},
    memories::Memories,
    scope::Scope,
};
use serde_json::{Map, Value, json};

use crate::{
    access::{Names, OpenedMemory},
    budget,
    decode::Arguments,
    errors::ToolError,
    server::Shared,
};

/// One call: who asks, about which project, from where.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) server: &'a Shared,
    pub(crate) memory: Arc<OpenedMemory>,
    pub(crate) scope: Scope,
    pub(crate) via: Via,
}

impl Call<'_> {
    pub(crate) fn memories(&self) -> &Memories {
        &self.memory.memories
    }

    /// Returns what these authors are called.
    pub(crate) async fn names(&self, authors: Vec<CredentialId>) -> Result<Names, ToolError> {
        Ok(self.server.access.names(&self.memory, &authors).await?)
    }

    /// Returns the memory that an argument names.
    pub(crate) async fn cell(&self, argument: &str, id: &str) -> Result<CellId, ToolError> {
        let found = self.memories().find_cell(&self.scope, bare(id)).await;
        found.map_err(|error| ToolError::from(error).about(argument))
    }
}

/// An id may be written as the address of its resource.
pub(crate) fn bare(id: &str) -> &str {
    let id = id.trim();
    id.strip_prefix(crate::resources::MEMORY).unwrap_or(id)
}

/// What a tool answers, before scope and warnings are added.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    fields: Map<String, Value>,
    warnings: Vec<String>,
}

impl Answer {
    pub(crate) fn field(&mut self, name: &str, value: impl Into<Value>) {
        self.fields.insert(name.to_owned(), value.into());
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.fields.remove(name);
    }

    /// Adds a field that may not be there.
    pub(crate) fn maybe(&mut self, name: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.field(name, value.to_string());
        }
    }

    /// Adds a list under `name`, as much of it as fits into what `max_tokens` leaves beside the
    /// fields so far, and `omitted`, the count of the rest. Returns how many there are.
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
        let kept = fitted.kept.len();
        self.field(name, fitted.kept);
        self.field("omitted", fitted.omitted);
        kept
    }

    /// Adds a note for the model.
    pub(crate) fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }

    /// Notes that secrets were masked in what was written.
    pub(crate) fn redactions(&mut self, redactions: usize) {
        self.field("redactions", redactions);
        if redactions > 0 {
            self.warn("credentials in it were masked before it was kept");
        }
    }

    /// Returns the whole answer.
    pub(crate) fn framed(&self, call: &Call<'_>) -> Value {
        let mut fields = self.fields.clone();
        let mut warnings = self.warnings.clone();
        let projects = &call.server.projects;
        if call.scope.project == *projects.of_process() {
            warnings.extend(projects.warning().map(str::to_owned));
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
