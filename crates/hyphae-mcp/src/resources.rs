//! What can be read without a tool: a memory, a briefing, what changed, how things stand.

use hyphae_core::{recall::Filter, scope::Project};
use rmcp::model::{Resource, ResourceTemplate};
use serde_json::{Value, json};

use crate::{
    call::Call,
    errors::{Code, ToolError},
    server::Shared,
    tools,
};

/// What stands before the id in the address of a memory.
pub(crate) const MEMORY: &str = "hyphae://memory/";

const PROJECT: &str = "hyphae://project/";
const BRIEFING: &str = "/briefing";

/// The address of what others changed.
pub(crate) const UPDATES: &str = "hyphae://updates";
const STATUS: &str = "hyphae://status";

const JSON: &str = "application/json";

/// How many tokens a briefing may have.
const BRIEFING_TOKENS: usize = 2000;

/// What an address names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Memory(String),
    Briefing(String),
    Updates,
    Status,
}

impl Address {
    /// Reads an address; none if there is no such resource.
    pub(crate) fn of(uri: &str) -> Option<Self> {
        match uri {
            UPDATES => return Some(Self::Updates),
            STATUS => return Some(Self::Status),
            _ => {}
        }
        if let Some(id) = uri.strip_prefix(MEMORY) {
            return Some(Self::Memory(decoded(id)?)).filter(|_| !id.is_empty());
        }
        let project = uri.strip_prefix(PROJECT)?.strip_suffix(BRIEFING)?;
        Some(Self::Briefing(decoded(project)?)).filter(|_| !project.is_empty())
    }

    /// Returns the project that it names, if it does.
    pub(crate) fn project(&self) -> Option<&str> {
        match self {
            Self::Briefing(project) => Some(project),
            Self::Memory(_) | Self::Updates | Self::Status => None,
        }
    }
}

/// Returns the address of a project's briefing.
pub(crate) fn briefing_of(project: &Project) -> String {
    format!("{PROJECT}{}{BRIEFING}", encoded(project.as_str()))
}

/// The resources that are always there.
pub(crate) fn listed(shared: &Shared) -> Vec<Resource> {
    let briefing = briefing_of(shared.projects.of_process());
    [
        (
            briefing.as_str(),
            "briefing",
            "Briefing",
            "What matters most in this project.",
        ),
        (
            UPDATES,
            "updates",
            "What changed",
            "The latest changes by other agents and people.",
        ),
        (
            STATUS,
            "status",
            "Status",
            "Whose memory this is, its size, and its embedding model.",
        ),
    ]
    .map(|(uri, name, title, description)| {
        Resource::new(uri, name)
            .with_title(title)
            .with_description(description)
            .with_mime_type(JSON)
    })
    .into()
}

/// The resources that have many addresses.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    [
        (
            "hyphae://memory/{id}",
            "memory",
            "A memory",
            "A memory in full, by id.",
        ),
        (
            "hyphae://project/{project}/briefing",
            "project-briefing",
            "Briefing of a project",
            "What matters most in a project.",
        ),
    ]
    .map(|(uri, name, title, description)| {
        ResourceTemplate::new(uri, name)
            .with_title(title)
            .with_description(description)
            .with_mime_type(JSON)
    })
    .into()
}

/// Reads a resource. What a tool shows as well is shown as the tool does.
pub(crate) async fn read(call: &Call<'_>, address: &Address) -> Result<Value, ToolError> {
    match address {
        Address::Memory(id) => {
            let id = call.cell("id", id).await?.to_string();
            let arguments = json!({"ids": [id], "include": ["history", "edges", "sources"], "max_tokens": 8000});
            let mut answer = tools::read(call, tools::Name::Get, &arguments).await?;
            let memory = answer["memories"][0].take();
            if memory.is_null() {
                return Err(ToolError::new(Code::NotFound, "there is no such memory"));
            }
            Ok(memory)
        }
        Address::Briefing(_) => briefing(call).await,
        Address::Updates => tools::read(call, tools::Name::Updates, &json!({})).await,
        Address::Status => status(call).await,
    }
}

/// Returns what matters most in the call's project.
pub(crate) async fn briefing(call: &Call<'_>) -> Result<Value, ToolError> {
    let arguments = json!({"k": 20, "max_tokens": BRIEFING_TOKENS});
    tools::read(call, tools::Name::Recall, &arguments).await
}

async fn status(call: &Call<'_>) -> Result<Value, ToolError> {
    let store = call.memories().store_port();
    let statistics = store.statistics(call.scope.owner()).await?;
    let chosen = store.chosen_model(call.scope.owner()).await?;
    let model = &call.memories().embedder().model().id;
    let usable = chosen.as_ref().is_none_or(|chosen| chosen.id == *model);
    let all = Filter::at(call.memories().now());
    let page = call
        .memories()
        .list(&call.scope, None, &all, None, 1)
        .await?;
    Ok(json!({
        "agent": call.memory.credential.name,
        "agent_id": call.memory.credential.id.to_string(),
        "project": call.scope.project.as_str(),
        "version": call.server.version,
        "memories_in_project": page.total,
        "memories": statistics.cells,
        "projects": statistics.projects,
        "open_conflicts": statistics.conflicts,
        "model": model,
        "search": if usable && statistics.stale_vectors == 0 { "hybrid" } else { "keyword" },
        "vectors_to_make": statistics.stale_vectors,
        "warnings": call.server.projects.warning().into_iter().collect::<Vec<_>>(),
    }))
}

/// Percent-encodes all that is not unreserved (RFC 3986 §2.3), as a template's variable.
fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        if *first != b'%' {
            bytes.push(*first);
            rest = behind;
            continue;
        }
        let (digits, behind) = behind.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = behind;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn addresses_are_read_as_they_are_written() {
        let project = Project::named("/home/me/a b/käse").unwrap();
        let uri = briefing_of(&project);
        assert_eq!(
            uri,
            "hyphae://project/%2Fhome%2Fme%2Fa%20b%2Fk%C3%A4se/briefing"
        );
        for (uri, want) in [
            (
                uri.as_str(),
                Some(Address::Briefing("/home/me/a b/käse".to_owned())),
            ),
            (
                "hyphae://project//src/briefing",
                Some(Address::Briefing("/src".to_owned())),
            ),
            (
                "hyphae://memory/01a22cc7",
                Some(Address::Memory("01a22cc7".to_owned())),
            ),
            ("hyphae://updates", Some(Address::Updates)),
            ("hyphae://status", Some(Address::Status)),
            ("hyphae://memory/", None),
            ("hyphae://memory/%f", None),
            ("hyphae://memory/%ff", None),
            ("hyphae://project//briefing", None),
            ("hyphae://nothing", None),
            ("file:///etc/passwd", None),
        ] {
            assert_eq!(Address::of(uri), want, "{uri}");
        }
    }
}
