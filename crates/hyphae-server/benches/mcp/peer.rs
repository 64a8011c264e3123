//! The reference memory server, whose memory is a file of JSON lines.

use std::{fs, path::Path};

use anyhow::Context;
use serde_json::{Value, json};

use crate::{
    agent::{Agent, Recipe},
    call,
};

/// How it is started; `HYPHAE_SERVER_MEMORY` names the folder that npm installed it into.
pub(crate) fn recipe(memory: &Path) -> anyhow::Result<Recipe> {
    let folder = std::env::var("HYPHAE_SERVER_MEMORY")
        .context("HYPHAE_SERVER_MEMORY is not set, see the head of this bench")?;
    let script =
        Path::new(&folder).join("node_modules/@modelcontextprotocol/server-memory/dist/index.js");
    let script = fs::canonicalize(&script).with_context(|| script.display().to_string())?;
    let path = std::env::var("PATH")?;
    Ok(Recipe {
        program: "node".into(),
        arguments: vec![script.display().to_string()],
        environment: vec![
            ("PATH", path),
            ("MEMORY_FILE_PATH", memory.display().to_string()),
        ],
    })
}

/// Writes a memory file that holds these texts.
pub(crate) fn fill(memory: &Path, texts: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let lines = texts.enumerate().map(|(n, text)| {
        let mut line = entity(n as u64, &text)["entities"][0].take();
        line["type"] = "entity".into();
        line["name"] = format!("held {n}").into();
        line.to_string()
    });
    fs::write(memory, lines.collect::<Vec<_>>().join("\n"))?;
    Ok(())
}

/// The arguments that keep one text.
pub(crate) fn entity(n: u64, text: &str) -> Value {
    json!({"entities": [{"name": format!("memory {n}"), "entityType": "Fact", "observations": [text]}]})
}

/// How many texts it holds.
pub(crate) fn count(server: &mut Agent) -> anyhow::Result<u64> {
    let graph = call(server, "read_graph", &json!({}))?;
    let entities = graph["entities"].as_array().context("entities")?;
    Ok(entities.len() as u64)
}
