//! Lines of a file that may be damaged: of any length, in any encoding, with any line end.

use std::io::{self, BufRead, Read};

/// Reads lines of bounded length. A byte order mark at the beginning, line ends of either kind
/// and lines of white space are passed over.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    longest: usize,
    number: u64,
    buffer: Vec<u8>,
}

/// A line that is not empty.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// Its number, from 1.
    pub(crate) number: u64,
    /// What it says, or why that is not known.
    pub(crate) text: Result<&'a str, String>,
}

impl<R: BufRead> Lines<R> {
    /// Reads lines of at most `longest` bytes; longer ones are passed over without being kept.
    pub(crate) fn new(input: R, longest: usize) -> Self {
        Self {
            input,
            longest,
            number: 0,
            buffer: Vec::new(),
        }
    }

    /// Returns the number of the last line read.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }

    /// Returns the next line that is not empty.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            self.buffer.clear();
            let limit = self.longest as u64 + 1;
            let read = (&mut self.input)
                .take(limit)
                .read_until(b'\n', &mut self.buffer)?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if read as u64 == limit && !self.buffer.ends_with(b"\n") {
                self.input.skip_until(b'\n')?;
                let why = format!("it is longer than {} bytes", self.longest);
                return Ok(Some(Line {
                    number: self.number,
                    text: Err(why),
                }));
            }
            if !self.content().is_empty() {
                break;
            }
        }
        let text = std::str::from_utf8(self.content()).map_err(|_| NOT_UTF8.to_owned());
        Ok(Some(Line {
            number: self.number,
            text,
        }))
    }

    fn content(&self) -> &[u8] {
        let bytes = match self.number {
            1 => without_mark(&self.buffer),
            _ => &self.buffer,
        };
        bytes.trim_ascii()
    }
}

/// Reads all of a file of at most `longest` bytes, or says why not.
pub(crate) fn whole(input: impl BufRead, longest: usize) -> io::Result<Result<String, String>> {
    let mut bytes = Vec::new();
    input.take(longest as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > longest {
        return Ok(Err(format!("it is longer than {longest} bytes")));
    }
    let text = std::str::from_utf8(without_mark(&bytes));
    Ok(text.map(str::to_owned).map_err(|_| NOT_UTF8.to_owned()))
}

pub(crate) const NOT_UTF8: &str = "it is no UTF-8 text";

/// Takes a byte order mark off.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], want: &[(u64, Result<&str, &str>)]) {
        // A buffer of one byte shows that no line has to lie in one piece.
        let mut lines = Lines::new(io::BufReader::with_capacity(1, bytes), 8);
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push((line.number, line.text.map(str::to_owned)));
        }
        let found: Vec<_> = found
            .iter()
            .map(|(number, text)| (*number, text.as_deref().map_err(String::as_str)))
            .collect();
        assert_eq!(found, want);
    }

    #[test]
    fn lines_of_any_kind_are_counted() {
        check(b"", &[]);
        check(b"\n \r\n", &[]);
        check(b"\xef\xbb\xbfa\r\n\r\nb", &[(1, Ok("a")), (3, Ok("b"))]);
        check(b"\xef\xbb\xbf\n\xef\xbb\xbf", &[(2, Ok("\u{feff}"))]);
    }

    #[test]
    fn a_line_that_is_too_long_or_no_text_does_not_hide_the_next() {
        check(
            b"12345678\n123456789\n\xff\n12345678",
            &[
                (1, Ok("12345678")),
                (2, Err("it is longer than 8 bytes")),
                (3, Err(NOT_UTF8)),
                (4, Ok("12345678")),
            ],
        );
        check(b"123456789", &[(1, Err("it is longer than 8 bytes"))]);
    }

    #[test]
    fn a_whole_file_is_read_up_to_its_bound() {
        let read = |bytes: &[u8]| whole(bytes, 4).unwrap();
        assert_eq!(read(b"\xef\xbb\xbfa"), Ok("a".to_owned()));
        assert_eq!(read(b"12345"), Err("it is longer than 4 bytes".to_owned()));
        assert_eq!(read(b"\xff"), Err(NOT_UTF8.to_owned()));
    }
}
