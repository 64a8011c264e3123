//! The one place that touches the real stdout.

use std::{
    fs::File,
    io::{self, IsTerminal, Write},
    os::fd::AsFd,
};

use crate::config;

/// Takes sole ownership of the real stdout; whatever else writes to descriptor 1 from now on,
/// a careless library included, lands on stderr.
pub(crate) fn take_stdout() -> io::Result<File> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that may touch stdout"
    )]
    let wire = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(File::from(wire))
}

/// Prints lines for people and scripts. Fails when the reader has gone away.
#[derive(Debug)]
pub(crate) struct Printer {
    out: File,
    colour: bool,
}

impl Printer {
    /// Takes stdout over.
    pub(crate) fn take() -> io::Result<Self> {
        take_stdout().map(Self::over)
    }

    /// Prints on stdout and leaves it to others as well, for a line editor that draws on it.
    pub(crate) fn shared() -> io::Result<Self> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the one place that may touch stdout"
        )]
        let out = io::stdout().as_fd().try_clone_to_owned()?;
        Ok(Self::over(File::from(out)))
    }

    fn over(out: File) -> Self {
        let colour = out.is_terminal() && config::colours_wanted();
        Self { out, colour }
    }

    /// Prints a line.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) -> io::Result<()> {
        let mut line = text.as_ref().to_owned();
        line.push('\n');
        self.out.write_all(line.as_bytes())
    }

    /// Prints a line in a colour, where there are colours.
    pub(crate) fn coloured(&mut self, colour: Colour, text: &str) -> io::Result<()> {
        let painted = self.paint(colour, text);
        self.line(painted)
    }

    /// Returns a text in a colour, where there are colours.
    pub(crate) fn paint(&self, colour: Colour, text: &str) -> String {
        if self.colour {
            format!("\u{1b}[{}m{text}\u{1b}[0m", colour.code())
        } else {
            text.to_owned()
        }
    }
}

/// The few colours in use.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Colour {
    Green,
    Red,
    Dim,
}

impl Colour {
    const fn code(self) -> u8 {
        match self {
            Self::Green => 32,
            Self::Red => 31,
            Self::Dim => 2,
        }
    }
}
