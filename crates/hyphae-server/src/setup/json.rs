//! Settings in JSON with comments: one entry is set, everything else stays byte for byte.

use anyhow::Context;
use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstRootNode},
};
use serde_json::{Value, json};

use super::Launch;

/// Zed: `agent_servers.<name>` with `type: "custom"`.
pub(super) fn zed(present: &str, launch: &Launch) -> anyhow::Result<String> {
    let entry = json!({
        "type": "custom",
        "command": launch.program,
        "args": ["acp-stdio"],
        "env": environment(launch),
    });
    set(present, "agent_servers", "Hyphae", &entry)
}

/// JetBrains: `agent_servers.<name>` in `acp.json`.
pub(super) fn jetbrains(present: &str, launch: &Launch) -> anyhow::Result<String> {
    let entry = json!({
        "command": launch.program,
        "args": ["acp-stdio"],
        "env": environment(launch),
    });
    set(present, "agent_servers", "Hyphae", &entry)
}

/// acpx: `agents.<name>` with the whole command line. It has no place for variables, so `env`
/// sets them.
pub(super) fn acpx(present: &str, launch: &Launch) -> anyhow::Result<String> {
    let mut argv: Vec<String> = Vec::new();
    if !launch.env.is_empty() {
        argv.push("env".to_owned());
        argv.extend(
            launch
                .env
                .iter()
                .map(|(name, value)| format!("{name}={value}")),
        );
    }
    argv.extend([launch.program.clone(), "acp-stdio".to_owned()]);
    set(present, "agents", "hyphae", &json!({ "argv": argv }))
}

fn environment(launch: &Launch) -> Value {
    launch
        .env
        .iter()
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect()
}

fn set(present: &str, section: &str, name: &str, entry: &Value) -> anyhow::Result<String> {
    let present = if present.trim().is_empty() {
        "{}\n"
    } else {
        present
    };
    let root = CstRootNode::parse(present, &ParseOptions::default())
        .context("the settings are not JSON that can be read")?;
    let settings = root
        .object_value_or_create()
        .context("the settings are no JSON object")?;
    let section = settings
        .object_value_or_create(section)
        .with_context(|| format!("`{section}` in the settings is no JSON object"))?;
    match section.get(name) {
        Some(property) => {
            let same = property.value().and_then(|value| value.to_serde_value());
            if same.as_ref() != Some(entry) {
                property.set_value(input(entry));
            }
        }
        None => {
            section.append(name, input(entry));
        }
    }
    Ok(root.to_string())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(values) => CstInputValue::Object(
            values
                .iter()
                .map(|(name, value)| (name.clone(), input(value)))
                .collect(),
        ),
    }
}
