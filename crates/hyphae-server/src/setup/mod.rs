//! Clients' entries for Hyphae, as an agent (ACP) or as tools (MCP), and rules for their agents:
//! printed, or written where the client reads them.
//!
//! Writing shows the difference, keeps a backup beside the file, keeps everything else in the
//! file as it is (comments included), and changes nothing the second time.

mod clients;
mod json;
mod launch;
mod neovim;
mod rules;
mod toml;
mod writing;

use anyhow::{Context, bail};

use crate::{
    args::{Role, Setup},
    config::Config,
    output::{Colour, Printer},
};
use clients::{Place, Target};
use launch::Launch;

/// Prints the entry and the rules, or writes what was asked for.
pub(crate) fn run(args: &Setup, config: &Config, out: &mut Printer) -> anyhow::Result<()> {
    let here = std::env::current_dir().context("the directory this was started in")?;
    let place = if args.project {
        Place::Project(here.clone())
    } else {
        Place::User
    };
    let target = Target::new(args.client, args.role, place)?;
    if args.rules && target.role == Role::Acp {
        bail!(
            "rules are for agents that have the memory's tools; add `--as mcp`, or leave `--rules` out"
        );
    }
    let launch = Launch::of_this_program(config)?;
    if args.write {
        let file = target.file(config);
        writing::edit(&file, |present| target.with_entry(present, &launch), out)?;
        print_notes(&target, &launch, out)?;
    }
    if args.rules {
        let file = here.join(rules::file(target.client));
        writing::edit(&file, |present| rules::set(target.client, present), out)?;
    }
    if !args.write && !args.rules {
        print(&target, &launch, config, out)?;
    }
    Ok(())
}

fn print(
    target: &Target,
    launch: &Launch,
    config: &Config,
    out: &mut Printer,
) -> anyhow::Result<()> {
    let entry = target.with_entry("", launch)?;
    let file = target.file(config);
    out.coloured(Colour::Dim, &format!("# {}", file.display()))?;
    out.line(entry.trim_end())?;
    print_notes(target, launch, out)?;
    if target.role == Role::Mcp {
        let file = rules::file(target.client);
        out.coloured(
            Colour::Dim,
            &format!("\n# {} of a project; `--rules` writes it", file.display()),
        )?;
        out.line(rules::RULES.trim_end())?;
    }
    Ok(())
}

fn print_notes(target: &Target, launch: &Launch, out: &mut Printer) -> anyhow::Result<()> {
    for note in target.notes(launch) {
        out.coloured(Colour::Dim, &note)?;
    }
    Ok(())
}
