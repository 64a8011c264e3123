//! What a person may be about to type.

use std::collections::BTreeSet;

use hyphae_core::{label::Topic, ports::Wanted};
use rmcp::model::{CompletionInfo, Reference};

use crate::{call::Call, errors::ToolError};

/// What can be completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    Project,
    Topic,
    Tags,
    Memory,
}

impl Subject {
    /// Returns what an argument of a prompt or the variable of an address stands for; none if
    /// it cannot be completed.
    pub(crate) fn of(reference: &Reference, argument: &str) -> Option<Self> {
        let place = reference
            .as_prompt_name()
            .or_else(|| reference.as_resource_uri())?;
        match (place, argument) {
            ("brief-me", "project") | ("hyphae://project/{project}/briefing", "project") => {
                Some(Self::Project)
            }
            ("remember", "topic") => Some(Self::Topic),
            ("remember", "tags") => Some(Self::Tags),
            ("hyphae://memory/{id}", "id") => Some(Self::Memory),
            _ => None,
        }
    }
}

/// Returns what may follow.
pub(crate) async fn complete(
    call: &Call<'_>,
    subject: Subject,
    typed: &str,
) -> Result<CompletionInfo, ToolError> {
    const ONE_MORE: usize = CompletionInfo::MAX_VALUES + 1;
    let store = call.memories().store_port();
    let values = match subject {
        Subject::Project => projects(call, typed, ONE_MORE).await?,
        Subject::Topic => {
            let prefix =
                Topic::new(typed).map_or_else(|_| String::new(), |topic| topic.to_string());
            let topics = store.names(&call.scope, Wanted::Topic, &prefix, ONE_MORE);
            topics.await?
        }
        Subject::Tags => {
            // Only the last of several is being typed.
            let (before, last) = match typed.rsplit_once(',') {
                Some((before, last)) => (format!("{before},"), last),
                None => (String::new(), typed),
            };
            let last = last.trim().to_lowercase().replace(' ', "-");
            let tags = store.names(&call.scope, Wanted::Tag, &last, ONE_MORE);
            let tags = tags.await?.into_iter();
            tags.map(|tag| format!("{before}{tag}")).collect()
        }
        Subject::Memory => ids(call, typed, ONE_MORE).await?,
    };
    Ok(info(values))
}

async fn projects(call: &Call<'_>, typed: &str, most: usize) -> Result<Vec<String>, ToolError> {
    let store = call.memories().store_port();
    let kept = store
        .names(&call.scope, Wanted::Project, typed, most)
        .await?;
    let linked = call.server.projects.names().into_iter();
    let linked = linked.map(|project| project.to_string());
    let all: BTreeSet<String> = linked
        .filter(|name| name.starts_with(typed))
        .chain(kept)
        .collect();
    Ok(all.into_iter().collect())
}

async fn ids(call: &Call<'_>, typed: &str, most: usize) -> Result<Vec<String>, ToolError> {
    let digits = typed.trim().to_lowercase().replace('-', "");
    if digits.len() > 32 || !digits.chars().all(|c| c.is_ascii_hexdigit()) {
        return Ok(Vec::new());
    }
    let store = call.memories().store_port();
    let ids = store.ids_beginning(&call.scope, Wanted::Cell, &digits, most);
    Ok(ids.await?.iter().map(ToString::to_string).collect())
}

fn info(mut values: Vec<String>) -> CompletionInfo {
    let more = values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    // It cannot be too long any more.
    CompletionInfo::with_pagination(values, None, more).unwrap_or_default()
}
