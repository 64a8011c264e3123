//! Every statement names the tenant of every table that it touches: by that column the tables may
//! be spread over servers, and no statement may ask them all. Checked where statements are made,
//! in debug builds, so that every test is a test of it.

/// The tables that a tenant's rows are in.
const TABLES: [&str; 17] = [
    "tenants",
    "models",
    "projects",
    "credentials",
    "sessions",
    "transcript",
    "cells",
    "cell_tags",
    "revisions",
    "recall_entries",
    "edges",
    "conflicts",
    "confirmations",
    "store_keys",
    "diffs",
    "audit",
    "audit_subjects",
];

/// Asked once when a process starts, before its tenant is known.
const OF_NOBODY: [&str; 2] = [
    "from credentials where key_hash = $1",
    "from tenants where name = $1",
];

/// Tells whether a statement names the tenant of every table that it touches.
pub(crate) fn is_keyed(sql: &str) -> bool {
    let spaced: String = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    if OF_NOBODY.iter().any(|known| spaced.contains(known))
        || spaced.starts_with("insert into tenants ")
    {
        return true;
    }
    let words: Vec<&str> = spaced
        .split([' ', '(', ')', ','])
        .filter(|word| !word.is_empty())
        .collect();
    words.windows(2).enumerate().all(|(at, pair)| {
        let [before, table] = pair else { return true };
        if !["from", "join", "update", "into"].contains(before) || !TABLES.contains(table) {
            return true;
        }
        let alias = words.get(at + 2).filter(|word| is_name(word));
        match alias {
            Some(alias) => compares(&spaced, &format!("{alias}.tenant_id")),
            None => {
                spaced.contains(&format!("into {table} (tenant_id,"))
                    || compares(&spaced, "tenant_id")
            }
        }
    })
}

/// Tells whether a column is compared with another or with a value.
fn compares(sql: &str, column: &str) -> bool {
    sql.match_indices(column).any(|(at, _)| {
        let begins = sql[..at].ends_with([' ', '(']);
        let rest = &sql[at + column.len()..];
        begins && (rest.starts_with(" = ") || sql[..at].ends_with("= "))
    })
}

/// Tells whether a word behind a table is another name for it.
fn is_name(word: &str) -> bool {
    const WORDS: [&str; 14] = [
        "where",
        "on",
        "set",
        "join",
        "cross",
        "left",
        "order",
        "group",
        "limit",
        "union",
        "select",
        "values",
        "indexed",
        "returning",
    ];
    word.chars()
        .all(|letter| letter.is_ascii_lowercase() || letter == '_')
        && !WORDS.contains(&word)
        && !word.starts_with("tenant_id")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_without_its_tenant_is_found() {
        for keyed in [
            "select 1",
            "select value from settings where name = $1",
            "select 1 from cells where tenant_id = $1 and cell_id = $2",
            "select 1 from cells c join projects p on p.tenant_id = c.tenant_id where (c.tenant_id = $1)",
            "insert into cells (tenant_id, cell_id) values ($1, $2)",
            "update tenants set sequence = 1 where tenant_id = $1",
            "select credential_id from credentials where key_hash = $1",
        ] {
            assert!(is_keyed(keyed), "{keyed}");
        }
        for open in [
            "select 1 from cells where cell_id = $2",
            "select tenant_id from cells where cell_id = $2",
            "select 1 from cells c where c.cell_id = $1 and tenant_id = $2",
            "select 1 from cells c join projects p on p.project_no = c.project_no where c.tenant_id = $1",
            "insert into cells (cell_id) values ($2)",
            "update cells set status = 1 where cell_id = $1",
            "delete from cells where cell_id = $1",
        ] {
            assert!(!is_keyed(open), "{open}");
        }
    }
}
