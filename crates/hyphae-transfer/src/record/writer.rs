//! Items in, lines out.

use std::io::{self, Write};

use hyphae_core::ports::Item;

use super::{
    Counts, Header, VERSION, convert,
    wire::{EndLine, HeaderLine, Kind, Model},
};

/// Writes an export, line by line.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    line: Vec<u8>,
    counts: Counts,
}

impl<W: Write> Writer<W> {
    /// Begins an export.
    ///
    /// # Errors
    /// What `out` fails with.
    pub fn begin(out: W, header: &Header) -> io::Result<Self> {
        let mut writer = Self {
            out,
            line: Vec::new(),
            counts: Counts::default(),
        };
        let header = HeaderLine {
            hyphae: "export".into(),
            version: VERSION,
            program: (&header.program).into(),
            model: header.model.as_ref().map(|model| Model {
                id: (&model.id).into(),
                dimension: model.dimension,
            }),
        };
        serde_json::to_writer(&mut writer.line, &header)?;
        writer.flush_line()?;
        Ok(writer)
    }

    /// Writes an item. Times lose what they have beyond microseconds.
    ///
    /// # Errors
    /// What the output fails with.
    pub fn write(&mut self, item: &Item) -> io::Result<()> {
        convert::to_json(item, &mut self.line)?;
        self.counts.add(item);
        self.flush_line()
    }

    /// Ends the export, without which it reads as cut. Returns the output, flushed, and what was
    /// written.
    ///
    /// # Errors
    /// What the output fails with.
    pub fn finish(mut self) -> io::Result<(W, Counts)> {
        let end = EndLine {
            kind: Kind::End,
            items: self.counts.0,
        };
        serde_json::to_writer(&mut self.line, &end)?;
        self.flush_line()?;
        self.out.flush()?;
        Ok((self.out, self.counts))
    }

    fn flush_line(&mut self) -> io::Result<()> {
        self.line.push(b'\n');
        self.out.write_all(&self.line)?;
        self.line.clear();
        Ok(())
    }
}
