//! Files of another program: each memory is stored as if it were told to the console, so that
//! it is masked, embedded, compared with what is there, and linked.

use std::{
    collections::HashMap,
    fs,
    io::{self, BufReader},
    path::PathBuf,
};

use hyphae_acp::Projects;
use hyphae_core::{
    audit::Via,
    mask::mask,
    memories::Outcome,
    scope::{Project, Scope},
};
use hyphae_transfer::{
    Bad, Place, Spot,
    foreign::{Entry, Found, Program, Reader},
};

use super::{Became, Source, Tally, source::Part};
use crate::{
    config::Config,
    progress::Progress,
    wiring::{ProjectNames, Wiring},
};

pub(super) async fn import(
    wiring: &Wiring,
    (program, source): (Program, Source),
    mut filing: Filing,
    dry_run: bool,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let via = Via {
        session: None,
        client: Some(format!("hyphae-server {version} import {program}")),
    };
    for part in source.parts(program) {
        let name = part.name.clone();
        for entry in entries(program, part, &tally.progress) {
            match entry {
                // What is left of a file that cannot be read is passed over like a bad line.
                Err(error) => tally.bad(&Bad {
                    place: Place {
                        file: name.clone(),
                        spot: Spot::Whole,
                    },
                    why: format!("it cannot be read: {error}"),
                })?,
                Ok(Entry::Bad(bad)) => tally.bad(&bad)?,
                Ok(Entry::Found(found)) if dry_run => {
                    let secrets = mask(&found.memory.content).redactions;
                    tally.secrets += found.redactions + secrets;
                    tally.count(Became::New);
                }
                Ok(Entry::Found(found)) => {
                    let scope = wiring.owner().in_project(filing.project_of(&found));
                    store(wiring, &scope, *found, &via, tally).await?;
                }
            }
        }
    }
    Ok(())
}

/// Returns what a file holds, up to the first failure of reading it.
fn entries(
    program: Program,
    part: Part,
    progress: &Progress,
) -> Box<dyn Iterator<Item = io::Result<Entry>>> {
    match part.input {
        Err(error) => Box::new(std::iter::once(Err(error))),
        Ok(input) => {
            let input = BufReader::new(progress.reading(input));
            let mut failed = false;
            let entries = Reader::new(program, &part.name, input);
            Box::new(entries.take_while(move |entry| {
                let last = failed;
                failed = entry.is_err();
                !last
            }))
        }
    }
}

async fn store(
    wiring: &Wiring,
    scope: &Scope,
    found: Found,
    via: &Via,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    match wiring.memories.store(scope, found.memory, via).await {
        Ok(stored) => {
            tally.count(match stored.outcome {
                Outcome::Created => Became::New,
                Outcome::Merged | Outcome::Revised => Became::Merged,
                Outcome::Unchanged => Became::There,
            });
            if stored.outcome != Outcome::Unchanged {
                tally.secrets += found.redactions + stored.redactions;
            }
            Ok(())
        }
        Err(error) if error.is_ours() => Err(error.into()),
        Err(error) => Ok(tally.bad(&Bad {
            place: found.place,
            why: error.to_string(),
        })?),
    }
}

/// Decides what memories are filed under: what was asked for, else the project of the directory
/// that they were said in, else that of the directory at hand.
pub(super) struct Filing {
    asked: Option<Project>,
    names: ProjectNames,
    here: PathBuf,
    known: HashMap<String, Project>,
}

impl Filing {
    pub(super) fn new(config: &Config, asked: Option<Project>) -> anyhow::Result<Self> {
        Ok(Self {
            asked,
            names: ProjectNames::of(config)?,
            here: std::env::current_dir()?.canonicalize()?,
            known: HashMap::new(),
        })
    }

    fn project_of(&mut self, found: &Found) -> Project {
        if let Some(project) = &self.asked {
            return project.clone();
        }
        let Some(directory) = &found.directory else {
            return self.names.project_of(&self.here);
        };
        let names = &self.names;
        let known = self.known.entry(directory.clone()).or_insert_with(|| {
            // A directory of another machine, or one that is gone, is called as it was.
            let path = fs::canonicalize(directory).unwrap_or_else(|_| PathBuf::from(directory));
            names.project_of(&path)
        });
        known.clone()
    }
}
