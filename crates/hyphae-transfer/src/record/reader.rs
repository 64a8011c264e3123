//! Lines in, items and complaints out.

use std::io::{self, BufRead};

use hyphae_core::ports::{ChosenModel, Item};

use super::{
    Header, LONGEST_LINE, VERSION, convert,
    wire::{Counts, EndLine, HeaderLine, HeaderProbe, Kind, Probe},
};
use crate::{
    lines::Lines,
    place::{Bad, Place, object},
};

/// Reads an export. A line that cannot be read is passed over and told of; so is a file that
/// ends before its last line. Ends once a last line was read.
#[derive(Debug)]
pub struct Reader<R> {
    lines: Lines<R>,
    header: Header,
    /// Lines between the first and the last, readable or not, of known kinds and of others.
    counts: Counts,
    others: u64,
    ended: bool,
}

/// What was read.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// An item.
    Item {
        /// The number of its line, from 1.
        line: u64,
        /// The item.
        item: Item,
    },
    /// Something that could not be read.
    Bad(Bad),
}

/// Why a file cannot be read as an export at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// The first line is not one of ours.
    #[error("the first line is no header of an export ({why}); is it a file of another program?")]
    NoHeader {
        /// What is wrong with it.
        why: String,
    },
    /// The format is newer than this program.
    #[error(
        "the export has version {found} of its format, this program reads up to {VERSION}; update hyphae-server"
    )]
    Newer {
        /// Its version.
        found: u64,
    },
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl<R: BufRead> Reader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`Unreadable`] if it is no header of a version that this program reads.
    pub fn open(input: R) -> Result<Self, Unreadable> {
        let mut lines = Lines::new(input, LONGEST_LINE);
        let header = match lines.next()? {
            Some(line) => header(line.text)?,
            None => return Err(no_header("it is empty".to_owned())),
        };
        Ok(Self {
            lines,
            header,
            counts: Counts::default(),
            others: 0,
            ended: false,
        })
    }

    /// Returns what the first line says.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    fn advance(&mut self) -> io::Result<Option<Record>> {
        if self.ended {
            return Ok(None);
        }
        let Some(line) = self.lines.next()? else {
            self.ended = true;
            let why = "the file ends before its last line: it was cut; what it has was read";
            return Ok(Some(bad(self.lines.number(), why.to_owned())));
        };
        let number = line.number;
        let (kind, json) = match line.text.and_then(|json| Ok((kind(json)?, json))) {
            Ok(found) => found,
            Err(why) => {
                self.others += 1;
                return Ok(Some(bad(number, why)));
            }
        };
        self.counts.add(kind);
        match convert::from_json(kind, json) {
            Ok(Some(item)) => Ok(Some(Record::Item { line: number, item })),
            Ok(None) => {
                let end = object::<EndLine>(json);
                self.ended = true;
                self.end(number, end)
            }
            Err(why) => Ok(Some(bad(number, why))),
        }
    }

    /// Compares the file with what its last line says of it.
    fn end(&mut self, number: u64, end: Result<EndLine, String>) -> io::Result<Option<Record>> {
        let said = match end {
            Ok(end) => end.items,
            Err(why) => return Ok(Some(bad(number, why))),
        };
        if self.lines.next()?.is_some() {
            let why = "something stands behind the last line of the export; it was not read";
            return Ok(Some(bad(number + 1, why.to_owned())));
        }
        if self.others == 0 && said == self.counts {
            return Ok(None);
        }
        let sum = |counts: Counts| Kind::ITEMS.map(|kind| counts.of(kind)).iter().sum::<u64>();
        let (said_all, found_all) = (sum(said), sum(self.counts) + self.others);
        if said_all == found_all {
            // Every line is there, and those that could not be read were told of one by one.
            return Ok(None);
        }
        let why = format!(
            "the export had {said_all} items when it was written, and has {found_all} now: lines were lost or added"
        );
        Ok(Some(bad(number, why)))
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = io::Result<Record>;

    fn next(&mut self) -> Option<io::Result<Record>> {
        self.advance().transpose()
    }
}

fn header(text: Result<&str, String>) -> Result<Header, Unreadable> {
    let json = text.map_err(no_header)?;
    let probe: HeaderProbe<'_> = object(json).map_err(no_header)?;
    if probe.hyphae != "export" {
        return Err(no_header("`hyphae` is not `export`".to_owned()));
    }
    if probe.version > u64::from(VERSION) {
        return Err(Unreadable::Newer {
            found: probe.version,
        });
    }
    if probe.version == 0 {
        return Err(no_header("there never was a version 0".to_owned()));
    }
    let line: HeaderLine<'_> = object(json).map_err(no_header)?;
    Ok(Header {
        program: line.program.into_owned(),
        model: line.model.map(|model| ChosenModel {
            id: model.id.into_owned(),
            dimension: model.dimension,
        }),
    })
}

fn no_header(why: String) -> Unreadable {
    Unreadable::NoHeader { why }
}

fn kind(json: &str) -> Result<Kind, String> {
    let probe: Probe<'_> = object(json)?;
    Kind::named(&probe.kind).ok_or_else(|| {
        let kind = hyphae_core::text::shorten(&probe.kind, 20);
        format!("`{kind}` is no kind of line that this program knows")
    })
}

fn bad(line: u64, why: String) -> Record {
    Record::Bad(Bad {
        place: Place::line("", line),
        why,
    })
}
