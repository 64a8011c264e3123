//! `migrate`: brings the tables of the database up to date, or shows what that would be.

use super::Outcome;
use crate::{args::Migrate, config::Config, output::Printer, wiring};

pub(crate) async fn run(config: &Config, args: &Migrate) -> anyhow::Result<Outcome> {
    let mut out = Printer::take()?;
    let schema = wiring::schema_of(&config.database).await?;
    let (database, found, known) = (&config.database, schema.found, schema.known);
    if schema.pending.is_empty() {
        out.line(format!("{database} is up to date (schema {found})"))?;
        return Ok(Outcome::Done);
    }
    if args.dry_run {
        out.line(format!(
            "-- {database}: schema {found}, would become {known}"
        ))?;
        for script in schema.pending {
            out.line("")?;
            out.line(script.trim_end())?;
        }
        return Ok(Outcome::Done);
    }
    // Whoever opens it does it.
    wiring::open_store(config).await?.close().await;
    out.line(format!("{database}: schema {found} became {known}"))?;
    Ok(Outcome::Done)
}
