//! `project`: names for what memories are filed under.

use std::{fs, path::Path};

use anyhow::{Context, bail};
use hyphae_core::scope;

use super::Outcome;
use crate::{args::Project, config::Config, output::Printer, projects::Links};

pub(crate) fn run(config: &Config, project: Project) -> anyhow::Result<Outcome> {
    let mut out = Printer::take()?;
    let file = config.project_links();
    let mut links = Links::read(&file)?;
    match project {
        Project::Link { name, path } => {
            let project = scope::Project::named(&name)?;
            let directory = canonical(&path)?;
            let former = links.link(directory.clone(), project.clone());
            links.write(&file)?;
            let instead = former
                .map(|name| format!(" (was {name})"))
                .unwrap_or_default();
            out.line(format!("{} -> {project}{instead}", directory.display()))?;
        }
        Project::Unlink { path } => {
            let directory = canonical(&path).unwrap_or(path);
            let Some(name) = links.unlink(&directory) else {
                bail!(
                    "{} is not linked; see `hyphae-server project list`",
                    directory.display()
                );
            };
            links.write(&file)?;
            out.line(format!("{} is no longer {name}", directory.display()))?;
        }
        Project::List => {
            for (directory, project) in links.iter() {
                out.line(format!("{} -> {project}", directory.display()))?;
            }
        }
    }
    Ok(Outcome::Done)
}

fn canonical(path: &Path) -> anyhow::Result<std::path::PathBuf> {
    fs::canonicalize(path).with_context(|| format!("the directory {}", path.display()))
}
