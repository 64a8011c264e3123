//! What other programs wrote: each of their files becomes a stream of memories.
//!
//! | program | file | what becomes a memory |
//! |---|---|---|
//! | `server-memory` | JSON Lines | each observation (a `Fact`, "NAME (TYPE): …"), each entity without one, each relation (a `Fact`, "A works at B") |
//! | mem0 | the JSON of `get_all` or an export | each memory (a `Fact`), each relation of its graph |
//! | basic-memory | Markdown | each observation (of the type its category names), each open task, each relation (a `Fact`), each section of prose (`Context`) |
//! | Claude Code | a session's JSON Lines | each message of the person and the agent, each summary (`Context`) |
//! | Codex | a rollout's JSON Lines | likewise |
//!
//! Relations of these programs are between people, places and notes, of which each has many
//! memories or none; ours are between memories. So a relation becomes a sentence, which is found
//! like any other.
//!
//! None gets a topic: a topic stands for one memory, and a note or an entity becomes several.
//! Every memory says that it was imported, when it was said if the file tells, and has a key
//! that is the same each time the same file is read, so that a second import adds nothing. What
//! is longer than a memory may be is split between paragraphs and says which part it is. Secrets
//! are masked before a text is split, because no half of a secret looks like one.

mod basic_memory;
mod claude_code;
mod codex;
mod draft;
mod mem0;
mod server_memory;
mod text;
mod time;

use std::{
    collections::VecDeque,
    fmt,
    io::{self, BufRead},
};

use draft::Drafts;
use hyphae_core::memories::NewMemory;

use crate::{
    lines::{self, Lines},
    place::{Bad, Place, Spot},
};

/// The longest line that is read, in bytes; lines of sessions hold whole files and images.
pub const LONGEST_LINE: usize = 64 << 20;

/// The longest file that is read as a whole, in bytes.
pub const LONGEST_FILE: usize = 256 << 20;

/// A program whose files can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Program {
    /// `@modelcontextprotocol/server-memory`.
    ServerMemory,
    /// mem0.
    Mem0,
    /// basic-memory.
    BasicMemory,
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
}

impl Program {
    /// All programs.
    pub const ALL: [Self; 5] = [
        Self::ServerMemory,
        Self::Mem0,
        Self::BasicMemory,
        Self::ClaudeCode,
        Self::Codex,
    ];

    /// Returns the name as it is written everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ServerMemory => "server-memory",
            Self::Mem0 => "mem0",
            Self::BasicMemory => "basic-memory",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }

    /// Returns what the names of its files end with.
    pub const fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::ServerMemory => &["jsonl", "json"],
            Self::Mem0 => &["json"],
            Self::BasicMemory => &["md"],
            Self::ClaudeCode | Self::Codex => &["jsonl"],
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What was read.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A memory.
    Found(Box<Found>),
    /// Something that could not be read, and was passed over.
    Bad(Bad),
}

/// A memory of another program.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Where it stands.
    pub place: Place,
    /// The memory. Its key depends on the program, the source's own id and the text without its
    /// secrets.
    pub memory: NewMemory,
    /// The directory that it was said in, if the file tells, as that names it.
    pub directory: Option<String>,
    /// How many secrets were masked in a text before it was split into this memory and those
    /// that follow; 0 for all but the first. A text that is not split comes as it is.
    pub redactions: usize,
}

/// Reads a file of another program, bit by bit where it has lines.
pub struct Reader<R> {
    input: Input<R>,
    drafts: Drafts,
}

enum Input<R> {
    Lines(Lines<R>, Box<dyn LineReader>),
    Whole(R, fn(&str, &mut Drafts)),
    Ended,
}

/// Reads the lines of one file.
trait LineReader {
    /// Reads a line.
    ///
    /// # Errors
    /// Says why it cannot be read.
    fn line(&mut self, text: &str, drafts: &mut Drafts) -> Result<(), String>;
}

impl<R: BufRead> Reader<R> {
    /// Reads a file called `name`, which stands in places and, of basic-memory, tells notes
    /// apart: the path in its folder, with `/`.
    pub fn new(program: Program, name: &str, input: R) -> Self {
        let lines = |input, reader: Box<dyn LineReader>| {
            Input::Lines(Lines::new(input, LONGEST_LINE), reader)
        };
        let input = match program {
            Program::ServerMemory => lines(input, Box::new(server_memory::Graph)),
            Program::ClaudeCode => lines(input, Box::new(claude_code::Session)),
            Program::Codex => lines(input, Box::<codex::Rollout>::default()),
            Program::Mem0 => Input::Whole(input, mem0::read),
            Program::BasicMemory => Input::Whole(input, basic_memory::read),
        };
        Self {
            input,
            drafts: Drafts::new(program, name),
        }
    }

    fn advance(&mut self) -> io::Result<Option<Entry>> {
        loop {
            if let Some(entry) = self.drafts.entries.pop_front() {
                return Ok(Some(entry));
            }
            match std::mem::replace(&mut self.input, Input::Ended) {
                Input::Ended => return Ok(None),
                Input::Whole(input, read) => match lines::whole(input, LONGEST_FILE)? {
                    Ok(text) => read(&text, &mut self.drafts),
                    Err(why) => self.drafts.bad(why),
                },
                Input::Lines(mut lines, mut reader) => {
                    let Some(line) = lines.next()? else {
                        return Ok(None);
                    };
                    self.drafts.spot = Spot::Line(line.number);
                    let read = line
                        .text
                        .and_then(|text| reader.line(text, &mut self.drafts));
                    if let Err(why) = read {
                        self.drafts.bad(why);
                    }
                    self.input = Input::Lines(lines, reader);
                }
            }
        }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = io::Result<Entry>;

    fn next(&mut self) -> Option<io::Result<Entry>> {
        self.advance().transpose()
    }
}

impl<R> fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("program", &self.drafts.program)
            .finish_non_exhaustive()
    }
}

type Entries = VecDeque<Entry>;
