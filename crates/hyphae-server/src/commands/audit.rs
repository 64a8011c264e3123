//! `audit`: who wrote what into the memory, when and from where. Whoever may open the database
//! may look.

use std::{collections::HashMap, str::FromStr};

use anyhow::{Context, bail};
use hyphae_core::{
    audit::AuditRow,
    credential::Credential,
    ids::CredentialId,
    ports::{AuditFilter, Clock, CredentialStore, MemoryStore},
    scope::{Owner, Project},
};
use jiff::{SpanRelativeTo, Timestamp, civil};
use serde_json::json;
use uuid::Uuid;

use super::Outcome;
use crate::{args::Audit, clock::SystemClock, config::Config, output::Printer, wiring};

/// Rows that are read at once.
const PAGE: usize = 500;

pub(crate) async fn run(config: &Config, args: Audit) -> anyhow::Result<Outcome> {
    let mut out = Printer::take()?;
    let store = wiring::open_store(config).await?;
    let tenant = store.default_tenant().await?;
    let credentials = store.credentials(tenant).await?;
    let mut filter = filter_of(&args, &credentials, SystemClock::default().now())?;
    let names: HashMap<CredentialId, &str> = credentials
        .iter()
        .map(|credential| (credential.id, credential.name.as_str()))
        .collect();
    let mut left = args.limit;
    while left > 0 {
        filter.limit = left.min(PAGE);
        // The tenant decides what is seen; whose credential asks does not matter here.
        let owner = Owner {
            tenant,
            credential: CredentialId::new(Uuid::nil()),
        };
        let rows = store.audit(owner, &filter).await?;
        for row in &rows {
            let who = names.get(&row.credential).copied();
            out.line(if args.json {
                as_json(row, who)
            } else {
                as_text(row, who)
            })?;
        }
        let Some(last) = rows.last() else { break };
        filter.before = Some(last.id);
        left -= rows.len().min(left);
        if rows.len() < filter.limit {
            break;
        }
    }
    store.close().await;
    Ok(Outcome::Done)
}

fn filter_of(
    args: &Audit,
    credentials: &[Credential],
    now: Timestamp,
) -> anyhow::Result<AuditFilter> {
    let moment = |text: &Option<String>, name: &str| {
        text.as_deref()
            .map(|text| moment_of(text, now).with_context(|| format!("--{name} {text}")))
            .transpose()
    };
    let project = args
        .project
        .as_deref()
        .map(|name| Project::named(name).context("--project"))
        .transpose()?;
    Ok(AuditFilter {
        actions: args.action.clone(),
        credential: args
            .by
            .as_deref()
            .map(|who| find(credentials, who))
            .transpose()?,
        project,
        subject: args.about,
        since: moment(&args.since, "since")?,
        until: moment(&args.until, "until")?,
        before: None,
        limit: PAGE,
    })
}

/// Finds a credential by its name, its id, or a prefix of the id that only one has.
fn find(all: &[Credential], who: &str) -> anyhow::Result<CredentialId> {
    let id = who.trim().to_lowercase();
    let mut found = all.iter().filter(|credential| {
        credential.name == who || id.len() >= 8 && credential.id.to_string().starts_with(&id)
    });
    match (found.next(), found.next()) {
        (Some(credential), None) => Ok(credential.id),
        (None, _) => bail!("--by {who}: there is no such key; see `hyphae-server keys list`"),
        (Some(_), Some(_)) => bail!("--by {who}: several keys are called so; give an id"),
    }
}

/// Reads a moment: a time with its zone, a date or a time of day in UTC, as this command prints
/// them, or how long ago (`2h`, `3 days`).
fn moment_of(text: &str, now: Timestamp) -> anyhow::Result<Timestamp> {
    if let Ok(moment) = Timestamp::from_str(text) {
        return Ok(moment);
    }
    if let Ok(time) = civil::DateTime::from_str(text) {
        return Ok(Timestamp::from_str(&format!("{time}Z"))?);
    }
    if let Ok(span) = jiff::Span::from_str(text) {
        let long = span
            .abs()
            .to_duration(SpanRelativeTo::days_are_24_hours())?;
        return Ok(now.checked_sub(long)?);
    }
    bail!("is no time; write 2026-01-31, 2026-01-31T12:00:00Z, or how long ago, such as 2h or 3d")
}

fn as_text(row: &AuditRow, who: Option<&str>) -> String {
    let mut line = format!(
        "{:.3}  {:<8} {}  in {}",
        row.at,
        row.action.name(),
        who.map_or_else(|| row.credential.to_string(), ToOwned::to_owned),
        row.project
    );
    let mut add = |label: &str, text: String| {
        line.push_str("  ");
        line.push_str(label);
        line.push_str(&text);
    };
    if !row.subjects.is_empty() {
        add("", joined(row.subjects.iter()));
    }
    if !row.diffs.is_empty() {
        add("diff ", joined(row.diffs.iter()));
    }
    if let Some(client) = &row.via.client {
        add("via ", client.clone());
    }
    if let Some(session) = row.via.session {
        add("session ", session.to_string());
    }
    if row.redactions > 0 {
        add("masked ", row.redactions.to_string());
    }
    if let Some(reason) = &row.reason {
        // One row, one line.
        add("reason ", format!("{reason:?}"));
    }
    line
}

fn as_json(row: &AuditRow, who: Option<&str>) -> String {
    json!({
        "id": row.id,
        "at": row.at,
        "action": row.action.name(),
        "credential": row.credential,
        "name": who,
        "client": row.via.client,
        "session": row.via.session,
        "project": row.project,
        "subjects": row.subjects,
        "diffs": row.diffs,
        "redactions": row.redactions,
        "reason": row.reason,
    })
    .to_string()
}

fn joined<T: ToString>(ids: impl Iterator<Item = T>) -> String {
    ids.map(|id| id.to_string()).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> anyhow::Result<Timestamp> {
        moment_of(text, "2026-11-30T12:00:00Z".parse().unwrap())
    }

    #[test]
    fn a_moment_is_a_time_a_date_or_how_long_ago() {
        let want = |text: &str| text.parse::<Timestamp>().unwrap();
        assert_eq!(
            moment("2026-11-01T10:00:00Z").unwrap(),
            want("2026-11-01T10:00:00Z")
        );
        assert_eq!(moment("2h").unwrap(), want("2026-11-30T10:00:00Z"));
        assert_eq!(moment("90 minutes").unwrap(), want("2026-11-30T10:30:00Z"));
        assert!(moment("2026-11-01").unwrap() < moment("2026-11-02").unwrap());
        let error = moment("yesterday").unwrap_err().to_string();
        assert!(error.contains("2h or 3d"), "{error}");
    }

    #[test]
    fn a_key_is_named_or_given_by_its_id() {
        let credential = |n: u128, name: &str| Credential {
            id: CredentialId::new(Uuid::from_u128(n << 64)),
            tenant: hyphae_core::ids::TenantId::new(Uuid::nil()),
            name: name.to_owned(),
            created_at: Timestamp::UNIX_EPOCH,
            revoked_at: None,
        };
        let all = [
            credential(0x1111_2222_3333_4444, "ci"),
            credential(0x5555_6666_7777_8888, "ci"),
            credential(0x9999_aaaa_bbbb_cccc, "me"),
        ];
        assert_eq!(find(&all, "me").unwrap(), all[2].id);
        assert_eq!(find(&all, "55556666").unwrap(), all[1].id);
        assert!(
            find(&all, "ci")
                .unwrap_err()
                .to_string()
                .contains("several")
        );
        assert!(
            find(&all, "you")
                .unwrap_err()
                .to_string()
                .contains("no such")
        );
        assert!(find(&all, "5555666").is_err(), "too short for an id");
    }
}
