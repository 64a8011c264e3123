//! `import`: memories from an export of ours, or from files of another program. What is there
//! already stays as it is, so that an import that was stopped is simply run again.

mod foreign;
mod own;
mod source;

use std::{io::Write, path::Path};

use anyhow::bail;
use hyphae_core::{
    memories::Memories,
    ports::{ChosenModel, MemoryStore},
    scope::{Owner, Project},
};
use hyphae_transfer::{
    Bad,
    foreign::Program,
    sniff::{Format, UnknownFormat},
};

use super::Outcome;
use crate::{
    args::{self, Import},
    config::Config,
    output::Printer,
    progress::Progress,
    wiring::Wiring,
};
use source::Source;

/// How many memories are embedded between two writes.
const EMBED_BATCH: usize = 64;

pub(crate) async fn run(config: &Config, args: Import) -> anyhow::Result<Outcome> {
    let mut out = Printer::take()?;
    let project = args.project.as_deref().map(Project::named).transpose()?;
    let mut source = Source::open(&args.from)?;
    let format = match args.format {
        Some(format) => wanted(format),
        None => match source.format()? {
            Ok(format) => format,
            Err(error @ UnknownFormat { .. }) => bail!("{}: {error}", args.from.display()),
        },
    };
    if format == Format::Hyphae && project.is_some() {
        bail!("an export says itself what its memories are filed under; leave --project out");
    }
    let wiring = Wiring::open(config, args.embedder).await?;
    let mut tally = Tally::new(Progress::of_bytes(source.bytes(format)));
    let ended = match format {
        Format::Hyphae => own::import(&wiring, source, args.dry_run, &mut tally).await,
        Format::Foreign(program) => {
            let filing = foreign::Filing::new(config, project)?;
            foreign::import(&wiring, (program, source), filing, args.dry_run, &mut tally).await
        }
    };
    tally.progress.end();
    let ended = match ended {
        Ok(()) if !args.dry_run => make_vectors(&wiring.memories, &wiring).await,
        ended => ended,
    };
    wiring.store.close().await;
    if ended.is_ok() || !tally.is_empty() {
        out.line(tally.told(args.dry_run))?;
    }
    let Err(error) = ended else {
        return Ok(if tally.bad == 0 {
            Outcome::Done
        } else {
            Outcome::Failed
        });
    };
    let advice = if tally.is_empty() {
        ""
    } else {
        "; what came before is imported: run the same command again to go on"
    };
    writeln!(std::io::stderr(), "error: {error:#}{advice}")?;
    Ok(Outcome::Failed)
}

fn wanted(format: args::Format) -> Format {
    match format {
        args::Format::Hyphae => Format::Hyphae,
        args::Format::ServerMemory => Format::Foreign(Program::ServerMemory),
        args::Format::Mem0 => Format::Foreign(Program::Mem0),
        args::Format::BasicMemory => Format::Foreign(Program::BasicMemory),
        args::Format::ClaudeCode => Format::Foreign(Program::ClaudeCode),
        args::Format::Codex => Format::Foreign(Program::Codex),
    }
}

/// Makes the vectors that are missing or of another model, if this process' model is the
/// database's.
async fn make_vectors(memories: &Memories, wiring: &Wiring) -> anyhow::Result<()> {
    let owner: Owner = wiring.owner();
    let ours = memories.embedder().model();
    let ours = ChosenModel {
        id: ours.id.clone(),
        dimension: ours.dimension,
    };
    match wiring.store.chosen_model(owner).await? {
        None => memories.choose_model(owner).await?,
        Some(chosen) if chosen != ours => return Ok(()),
        Some(_) => {}
    }
    let stale = wiring.store.statistics(owner).await?.stale_vectors;
    if stale == 0 {
        return Ok(());
    }
    let progress = Progress::of_things(Some(stale));
    progress.say("embedding");
    loop {
        let made = memories.reembed(owner, EMBED_BATCH).await?;
        if made == 0 {
            break;
        }
        progress.advance(made as u64);
    }
    progress.end();
    Ok(())
}

/// What became of everything that was read.
struct Tally {
    progress: Progress,
    /// How often each thing happened, in the order in which it is told.
    counts: [(&'static str, &'static str, u64); 6],
    bad: u64,
    secrets: usize,
}

/// What may become of something that was read; numbers of [`Tally::counts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Became {
    New,
    Merged,
    There,
    Other,
    Taken,
    Orphan,
}

impl Tally {
    fn new(progress: Progress) -> Self {
        Self {
            progress,
            counts: [
                ("new", "new", 0),
                (
                    "merged into another memory",
                    "merged into other memories",
                    0,
                ),
                ("there already", "there already", 0),
                ("differs from what is there", "differ from what is there", 0),
                ("said by another memory", "said by other memories", 0),
                (
                    "refers to what is not there",
                    "refer to what is not there",
                    0,
                ),
            ],
            bad: 0,
            secrets: 0,
        }
    }

    /// Tells whether nothing was read.
    fn is_empty(&self) -> bool {
        self.bad == 0 && self.counts.iter().all(|(.., count)| *count == 0)
    }

    fn count(&mut self, became: Became) {
        self.counts[became as usize].2 += 1;
    }

    /// Tells of something that could not be read.
    fn bad(&mut self, bad: &Bad) -> std::io::Result<()> {
        self.bad += 1;
        self.progress.tell(bad)
    }

    /// Returns one line on all of it.
    fn told(&self, dry_run: bool) -> String {
        let mut parts: Vec<String> = Vec::new();
        for (at, (one, more, count)) in self.counts.iter().enumerate() {
            // That nothing was new is said as well.
            if *count > 0 || at == Became::New as usize {
                let label = if *count == 1 { one } else { more };
                parts.push(format!("{count} {label}"));
            }
        }
        let mut add = |count: u64, one: &str, more: &str| match count {
            0 => {}
            1 => parts.push(format!("1 {one}")),
            _ => parts.push(format!("{count} {more}")),
        };
        add(self.bad, "bad line", "bad lines");
        let secrets = self.secrets as u64;
        add(secrets, "secret masked", "secrets masked");
        let parts = parts.join(", ");
        if dry_run {
            format!("nothing was changed; there would be: {parts}")
        } else {
            parts
        }
    }
}

/// Says which file a complaint is about, where there are several.
fn name_of(path: &Path) -> String {
    path.file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
