//! Settings in JSON with comments: one entry is set, everything else stays byte for byte.

use anyhow::Context;
use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstObject, CstRootNode},
};
use serde_json::{Map, Value, json};

use super::launch::Launch;

/// An entry as most clients take it: a command, its arguments and its variables.
pub(super) fn entry(launch: &Launch, command: &str) -> Map<String, Value> {
    Map::from_iter([
        ("command".to_owned(), json!(launch.program)),
        ("args".to_owned(), json!([command])),
        ("env".to_owned(), environment(launch)),
    ])
}

/// The same with `type` before it.
pub(super) fn entry_of_type(kind: &str, launch: &Launch, command: &str) -> Map<String, Value> {
    let mut typed = Map::from_iter([("type".to_owned(), json!(kind))]);
    typed.extend(entry(launch, command));
    typed
}

fn environment(launch: &Launch) -> Value {
    launch
        .env
        .iter()
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect()
}

/// Sets `section.name`. What a present entry says beyond ours, such as a time limit or more
/// variables, stays, and so does a present value of what `ours_if_absent` names.
pub(super) fn set(
    present: &str,
    section: &str,
    name: &str,
    entry: &Map<String, Value>,
    ours_if_absent: &[&str],
) -> anyhow::Result<String> {
    let (root, settings) = parse(present)?;
    let section = settings
        .object_value_or_create(section)
        .with_context(|| format!("`{section}` in the settings is no JSON object"))?;
    match section.get(name) {
        Some(property) => match property.object_value() {
            Some(object) => merge(&object, entry, ours_if_absent),
            None => property.set_value(input(&Value::Object(entry.clone()))),
        },
        None => {
            section.append(name, input(&Value::Object(entry.clone())));
        }
    }
    Ok(root.to_string())
}

/// acpx: `agents.<name>` with the whole command line, in place of whatever was there. It has no
/// place for variables, so `env` sets them.
pub(super) fn acpx_agent(present: &str, launch: &Launch, command: &str) -> anyhow::Result<String> {
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
    argv.extend([launch.program.clone(), command.to_owned()]);
    let entry = json!({ "argv": argv });
    let (root, settings) = parse(present)?;
    let agents = settings
        .object_value_or_create("agents")
        .context("`agents` in the settings is no JSON object")?;
    match agents.get("hyphae") {
        Some(property) => {
            let same = property.value().and_then(|value| value.to_serde_value());
            if same.as_ref() != Some(&entry) {
                property.set_value(input(&entry));
            }
        }
        None => {
            agents.append("hyphae", input(&entry));
        }
    }
    Ok(root.to_string())
}

/// acpx: an element of the list `mcpServers`, whose variables are a list of pairs.
pub(super) fn acpx_server(present: &str, launch: &Launch, command: &str) -> anyhow::Result<String> {
    let pairs = launch
        .env
        .iter()
        .map(|(name, value)| json!({ "name": name, "value": value }));
    let entry = json!({
        "name": "hyphae",
        "type": "stdio",
        "command": launch.program,
        "args": [command],
        "env": pairs.collect::<Vec<_>>(),
    });
    let (root, settings) = parse(present)?;
    let servers = settings
        .array_value_or_create("mcpServers")
        .context("`mcpServers` in the settings is no JSON list")?;
    let is_ours = |object: &CstObject| {
        let name = object.get("name").and_then(|name| name.value());
        name.and_then(|name| name.to_serde_value()) == Some(json!("hyphae"))
    };
    let mut present = servers
        .elements()
        .into_iter()
        .filter_map(|element| element.as_object());
    match (present.find(is_ours), &entry) {
        (Some(object), Value::Object(entry)) => merge(&object, entry, &[]),
        _ => {
            servers.append(input(&entry));
        }
    }
    Ok(root.to_string())
}

fn parse(present: &str) -> anyhow::Result<(CstRootNode, CstObject)> {
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
    Ok((root, settings))
}

fn merge(object: &CstObject, entry: &Map<String, Value>, ours_if_absent: &[&str]) {
    for (name, value) in entry {
        let Some(property) = object.get(name) else {
            object.append(name, input(value));
            continue;
        };
        if let (Some(inner), Value::Object(entry)) = (property.object_value(), value) {
            merge(&inner, entry, ours_if_absent);
            continue;
        }
        let same = property.value().and_then(|value| value.to_serde_value());
        if same.as_ref() != Some(value) && !ours_if_absent.contains(&name.as_str()) {
            property.set_value(input(value));
        }
    }
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

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn launch(env: &[(&str, &str)]) -> Launch {
        let env = env
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Launch {
            program: "/opt/hyphae-server".to_owned(),
            env: env.collect(),
        }
    }

    #[track_caller]
    fn check(edit: impl Fn(&str) -> anyhow::Result<String>, before: &str, after: &str) {
        let once = edit(before).unwrap();
        assert_eq!(once, after);
        assert_eq!(edit(&once).unwrap(), once, "twice");
    }

    fn server(present: &str, env: &[(&str, &str)]) -> anyhow::Result<String> {
        let entry = entry_of_type("stdio", &launch(env), "mcp-stdio");
        set(present, "mcpServers", "hyphae", &entry, &["HYPHAE_PROJECT"])
    }

    #[test]
    fn comments_and_other_entries_stay() {
        check(
            |present| server(present, &[]),
            "// mine\n{\n  \"theme\": \"One\", // dark\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" }\n  }\n}\n",
            "// mine\n{\n  \"theme\": \"One\", // dark\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" },\n    \"hyphae\": {\n      \"type\": \"stdio\",\n      \"command\": \"/opt/hyphae-server\",\n      \"args\": [\"mcp-stdio\"],\n      \"env\": {}\n    }\n  }\n}\n",
        );
    }

    #[test]
    fn a_present_entry_is_brought_up_to_date_and_keeps_what_a_person_added() {
        let env = [("DATABASE_URL", "sqlite:/m.db"), ("HYPHAE_PROJECT", "ours")];
        check(
            |present| server(present, &env),
            "{ \"mcpServers\": { \"hyphae\": { \"type\": \"stdio\", \"command\": \"/old\", \"args\": [ \"mcp-stdio\" ], \"timeout\": 9, \"env\": { \"HYPHAE_PROJECT\": \"acme\" /* us */, \"DATABASE_URL\": \"sqlite:/m.db\" } } } }",
            "{ \"mcpServers\": { \"hyphae\": { \"type\": \"stdio\", \"command\": \"/opt/hyphae-server\", \"args\": [ \"mcp-stdio\" ], \"timeout\": 9, \"env\": { \"HYPHAE_PROJECT\": \"acme\" /* us */, \"DATABASE_URL\": \"sqlite:/m.db\" } } } }",
        );
    }

    #[test]
    fn an_entry_that_is_no_object_is_replaced() {
        let after = server("{ \"mcpServers\": { \"hyphae\": null } }", &[]).unwrap();
        assert!(after.contains("/opt/hyphae-server"), "{after}");
        assert_eq!(server(&after, &[]).unwrap(), after);
    }

    #[test]
    fn acpx_takes_a_server_from_a_list_and_an_agent_from_an_object() {
        let env = [("DATABASE_URL", "sqlite:/m.db")];
        let in_list = |present: &str| acpx_server(present, &launch(&env), "mcp-stdio");
        let after = in_list("{ \"mcpServers\": [ { \"name\": \"other\" } ] }").unwrap();
        let list: Value = serde_json::from_str(&after).unwrap();
        assert_eq!(
            list,
            json!({ "mcpServers": [{ "name": "other" }, {
                "name": "hyphae",
                "type": "stdio",
                "command": "/opt/hyphae-server",
                "args": ["mcp-stdio"],
                "env": [{ "name": "DATABASE_URL", "value": "sqlite:/m.db" }],
            }] })
        );
        assert_eq!(in_list(&after).unwrap(), after);
        check(
            in_list,
            "{ \"mcpServers\": [{\"name\":\"hyphae\",\"command\":\"/old\",\"x\":1,\"args\":[\"mcp-stdio\"],\"type\":\"stdio\",\"env\":[{\"name\":\"DATABASE_URL\",\"value\":\"sqlite:/m.db\"}]}] }",
            "{ \"mcpServers\": [{\"name\":\"hyphae\",\"command\":\"/opt/hyphae-server\",\"x\":1,\"args\":[\"mcp-stdio\"],\"type\":\"stdio\",\"env\":[{\"name\":\"DATABASE_URL\",\"value\":\"sqlite:/m.db\"}]}] }",
        );
        let before = "{\"agents\":{\"hyphae\":{\"command\":\"/old/hyphae-server acp-stdio\"}}}";
        let after = acpx_agent(before, &launch(&[]), "acp-stdio").unwrap();
        let agent: Value = serde_json::from_str(&after).unwrap();
        assert_eq!(
            agent,
            json!({ "agents": { "hyphae": { "argv": ["/opt/hyphae-server", "acp-stdio"] } } })
        );
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for (present, want) in [
            ("{ \"mcpServers\": ", "not JSON that can be read"),
            ("[]", "no JSON object"),
            (
                "{ \"mcpServers\": 3 }",
                "`mcpServers` in the settings is no JSON object",
            ),
        ] {
            let error = format!("{:#}", server(present, &[]).unwrap_err());
            assert!(error.contains(want), "{error}");
        }
        let error = acpx_server("{ \"mcpServers\": {} }", &launch(&[]), "mcp-stdio").unwrap_err();
        assert!(error.to_string().contains("no JSON list"), "{error}");
    }
}
