//! `get`: memories in full, by id.

use std::collections::HashSet;

use hyphae_core::{
    ids::{CellId, CredentialId},
    memories::{Details, MemoryError},
    relation::Relation,
};
use serde_json::json;

use super::{Hints, Name, Tool, schema};
use crate::{
    call::{Answer, Call, bare, max_tokens},
    decode::Arguments,
    errors::ToolError,
    views::{self, Extent},
};

const TOKENS: usize = 4000;
const MOST: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    History,
    Edges,
    Sources,
}

const PARTS: [(&str, Part); 3] = [
    ("history", Part::History),
    ("edges", Part::Edges),
    ("sources", Part::Sources),
];

pub(super) fn tool() -> Tool {
    Tool {
        name: Name::Get,
        title: "Get memories in full",
        description: "Returns memories by id with their revision, which update needs, and on request earlier texts, links, \
            and where they came from and who confirmed them. Ids that are not there are listed in missing.",
        hints: Hints::ReadOnly,
        input: schema::input(
            &json!({
                "ids": schema::ids(MOST, "Ids, or their first 8 or more characters."),
                "include": schema::choices(&PARTS.map(|(name, _)| name), "Also show these."),
                "depth": schema::whole(1..=2, 1, "2: also the links of linked memories."),
                "max_tokens": schema::max_tokens(TOKENS),
            }),
            &["ids"],
        ),
        output: schema::output(
            &json!({
                "memories": schema::list(&schema::memory(&json!({
                    "revision": schema::integer(),
                    "salience": schema::number(),
                    "visibility": schema::string(),
                    "project": schema::string(),
                    "updated_at": schema::string(),
                    "valid_from": schema::string(),
                    "history": schema::list(&json!({"type": "object"})),
                    "history_omitted": schema::integer(),
                    "edges": schema::list(&json!({"type": "object"})),
                    "edges_omitted": schema::integer(),
                    "sources": json!({"type": "object"}),
                }))),
                "missing": schema::texts(),
                "omitted": schema::integer(),
            }),
            &["memories", "missing", "omitted"],
        ),
    }
}

pub(super) async fn run(call: &Call<'_>, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let wanted = arguments.ids("ids", MOST)?;
    let parts = arguments.some_of("include", &PARTS)?;
    let depth = arguments.whole("depth", 1..=2)?.unwrap_or(1);
    let max_tokens = max_tokens(&mut arguments, TOKENS)?;
    let extent = Extent {
        history: parts.contains(&Part::History),
        edges: parts.contains(&Part::Edges),
        sources: parts.contains(&Part::Sources),
    };
    let (ids, missing) = find(call, &wanted).await?;
    let details = call
        .memories()
        .get(&call.scope, &ids, extent.history, extent.sources)
        .await?;
    let relations = if extent.edges {
        let depth = if depth == 2 { 2 } else { 1 };
        call.memories().relations(&call.scope, &ids, depth).await?
    } else {
        Vec::new()
    };
    let names = call.names(people(&details, &relations)).await?;
    let mut answer = Answer::default();
    answer.field("missing", missing);
    let share = max_tokens / details.len().max(1);
    let memories = details.iter().map(|one| {
        let around = around(one, &relations);
        let mut memory = views::full(one, &around, extent, &names);
        views::trim(&mut memory, share.saturating_sub(150));
        memory
    });
    answer.list(call, "memories", memories.collect(), max_tokens, max_tokens);
    Ok(answer)
}

/// Everybody who is named in what is shown.
fn people(details: &[Details], relations: &[Relation]) -> Vec<CredentialId> {
    let mut people: Vec<_> = relations.iter().map(|relation| relation.author).collect();
    for one in details {
        people.push(one.cell.author);
        people.extend(one.history.iter().map(|past| past.replaced_by));
        people.extend(one.confirmations.iter().map(|confirmation| confirmation.by));
    }
    people
}

/// Finds what ids name; those that name nothing come back as they were written.
async fn find(call: &Call<'_>, wanted: &[String]) -> Result<(Vec<CellId>, Vec<String>), ToolError> {
    let mut ids = Vec::new();
    let mut missing = Vec::new();
    for id in wanted {
        match call.memories().find_cell(&call.scope, bare(id)).await {
            Ok(found) if ids.contains(&found) => {}
            Ok(found) => ids.push(found),
            Err(MemoryError::NotFound { .. }) => missing.push(id.clone()),
            Err(error) => return Err(ToolError::from(error).about("ids")),
        }
    }
    Ok((ids, missing))
}

/// The relations of a memory, and those of the memories at their other ends that were read.
fn around(memory: &Details, relations: &[Relation]) -> Vec<Relation> {
    let id = memory.cell.id;
    let near: HashSet<CellId> = relations
        .iter()
        .filter(|relation| relation.from == id || relation.to == id)
        .flat_map(|relation| [relation.from, relation.to])
        .collect();
    relations
        .iter()
        .filter(|relation| near.contains(&relation.from) || near.contains(&relation.to))
        .cloned()
        .collect()
}
