//! Settings in TOML: one table is set, everything else stays byte for byte.

use anyhow::Context;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};

use super::launch::Launch;

/// Codex: `[mcp_servers.hyphae]`. What a present table says beyond ours stays.
pub(super) fn codex(present: &str, launch: &Launch, command: &str) -> anyhow::Result<String> {
    let mut settings: DocumentMut = present
        .parse()
        .context("the settings are not TOML that can be read")?;
    let servers = inner(settings.as_item_mut(), "mcp_servers", Heading::Implied)?;
    let entry = inner(servers, "hyphae", Heading::Shown)?;
    set(entry, "command", Value::from(launch.program.as_str()));
    set(entry, "args", Value::from(Array::from_iter([command])));
    if !launch.env.is_empty() {
        let env = inner(entry, "env", Heading::Shown)?;
        for (name, value) in &launch.env {
            set(env, name, Value::from(value.as_str()));
        }
    }
    Ok(settings.to_string())
}

/// Whether a table has a heading of its own, or only those of the tables in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heading {
    Shown,
    Implied,
}

/// Returns a table in a table, made in its style if it is not there.
fn inner<'t>(table: &'t mut Item, name: &str, heading: Heading) -> anyhow::Result<&'t mut Item> {
    let made = if table.is_inline_table() {
        Item::Value(InlineTable::new().into())
    } else {
        let mut made = Table::new();
        made.set_implicit(heading == Heading::Implied);
        Item::Table(made)
    };
    let item = table
        .as_table_like_mut()
        .map(|table| table.entry(name).or_insert(made));
    item.filter(|item| item.is_table_like())
        .with_context(|| format!("`{name}` in the settings is no table"))
}

/// Sets a value; comments beside it stay.
fn set(table: &mut Item, name: &str, mut value: Value) {
    let Some(table) = table.as_table_like_mut() else {
        return;
    };
    if let Some(Item::Value(present)) = table.get_mut(name) {
        if !is_same(present, &value) {
            *value.decor_mut() = present.decor().clone();
            *present = value;
        }
    } else {
        table.insert(name, Item::Value(value));
    }
}

/// Tells whether two values say the same, however they are written.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left.as_array(), right.as_array()) {
        (Some(left), Some(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right.iter())
                    .all(|(left, right)| is_same(left, right))
        }
        _ => left.as_str().is_some() && left.as_str() == right.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[track_caller]
    fn check(before: &str, env: &[(&str, &str)], after: &str) {
        let env = env
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let launch = Launch {
            program: "/opt/hyphae-server".to_owned(),
            env: env.collect(),
        };
        let once = codex(before, &launch, "mcp-stdio").unwrap();
        assert_eq!(once, after);
        assert_eq!(codex(&once, &launch, "mcp-stdio").unwrap(), once, "twice");
    }

    const ENTRY: &str =
        "[mcp_servers.hyphae]\ncommand = \"/opt/hyphae-server\"\nargs = [\"mcp-stdio\"]\n";

    #[test]
    fn an_empty_file_gets_the_table_alone() {
        check("", &[], ENTRY);
        let env = "\n[mcp_servers.hyphae.env]\nDATABASE_URL = \"sqlite:/data/m.db\"\n";
        check(
            "",
            &[("DATABASE_URL", "sqlite:/data/m.db")],
            &format!("{ENTRY}{env}"),
        );
    }

    #[test]
    fn comments_and_other_tables_stay() {
        let before = "# mine\nmodel = \"o5\" # best\n\n[mcp_servers.other]\ncommand = \"x\"\n";
        check(before, &[], &format!("{before}\n{ENTRY}"));
    }

    #[test]
    fn a_present_table_is_brought_up_to_date_and_keeps_the_rest() {
        check(
            "[mcp_servers.hyphae]\ncommand = \"/old\" # here\nargs = [ 'mcp-stdio' ]\nstartup_timeout_sec = 20\nenv = { HYPHAE_PROJECT = \"acme\" }\n",
            &[("DATABASE_URL", "sqlite:/m.db")],
            "[mcp_servers.hyphae]\ncommand = \"/opt/hyphae-server\" # here\nargs = [ 'mcp-stdio' ]\nstartup_timeout_sec = 20\nenv = { HYPHAE_PROJECT = \"acme\" , DATABASE_URL = \"sqlite:/m.db\" }\n",
        );
    }

    #[test]
    fn tables_in_braces_get_theirs_in_braces() {
        check(
            "mcp_servers = { other = { command = \"x\" } }\n",
            &[],
            "mcp_servers = { other = { command = \"x\" } , hyphae = { command = \"/opt/hyphae-server\", args = [\"mcp-stdio\"] } }\n",
        );
    }
}
