//! Bytes to lines, in bounded memory.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// A buffer that grew beyond this for one large line is given back after it.
const KEPT_BYTES: usize = 256 * 1024;

const READ_BYTES: usize = 16 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// One line as it came, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Whole(&'a [u8]),
    /// It was over the limit and is gone.
    TooLong,
}

/// Cuts a stream into lines. A line over the limit is skipped up to its newline.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    limit: usize,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Filling,
    Skipping,
    /// `line` was handed out and is old.
    Taken,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Reads lines of at most `limit` bytes.
    pub(crate) fn new(input: R, limit: usize) -> Self {
        Self {
            input: BufReader::with_capacity(READ_BYTES, input),
            line: Vec::new(),
            limit,
            state: State::Filling,
        }
    }

    /// Returns the next line that is not blank, or none at the end of the stream; a last line
    /// without a newline counts. Cancel-safe: a dropped call loses nothing.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            if self.state == State::Taken {
                self.line.clear();
                self.line.shrink_to(KEPT_BYTES);
                self.state = State::Filling;
            }
            let buffer = self.input.fill_buf().await?;
            let at_end = buffer.is_empty();
            let newline = memchr::memchr(b'\n', buffer);
            let part = &buffer[..newline.unwrap_or(buffer.len())];
            if self.state == State::Filling {
                if part.len() <= self.limit - self.line.len() {
                    self.line.extend_from_slice(part);
                } else {
                    self.state = State::Skipping;
                    self.line = Vec::new();
                }
            }
            let used = part.len() + usize::from(newline.is_some());
            self.input.consume(used);
            if newline.is_none() && !at_end {
                continue;
            }
            let skipped = self.state == State::Skipping;
            self.state = State::Taken;
            if skipped {
                return Ok(Some(Line::TooLong));
            }
            let start = if self.line.starts_with(BYTE_ORDER_MARK) {
                BYTE_ORDER_MARK.len()
            } else {
                0
            };
            if !self.line[start..].trim_ascii().is_empty() {
                return Ok(Some(Line::Whole(self.line[start..].trim_ascii())));
            }
            if at_end {
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use tokio::io::AsyncWriteExt;

    use super::*;

    async fn read(input: &[u8], piece: usize) -> Vec<String> {
        let (mut writer, reader) = tokio::io::duplex(piece);
        let mut lines = LineReader::new(reader, 24);
        let reading = async {
            let mut got = Vec::new();
            while let Some(line) = lines.next().await.unwrap() {
                got.push(match line {
                    Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                    Line::TooLong => "too long".to_owned(),
                });
            }
            got
        };
        let writing = async {
            writer.write_all(input).await.unwrap();
            drop(writer);
        };
        tokio::join!(reading, writing).0
    }

    #[track_caller]
    fn check(input: &[u8], want: &[&str]) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        for piece in [1, 2, 7, 4096] {
            let got = runtime.block_on(read(input, piece));
            assert_eq!(got, want, "in pieces of {piece}");
        }
    }

    #[test]
    fn lines_end_with_either_newline_and_blank_ones_are_no_lines() {
        check(b"{}\n{}\r\n\n  \r\n\t{} \n", &["{}", "{}", "{}"]);
        check(b"\xEF\xBB\xBF{}\n\xEF\xBB\xBF\n{}\n", &["{}", "{}"]);
        check(b"", &[]);
        check(b"\n\n", &[]);
    }

    #[test]
    fn a_last_line_needs_no_newline() {
        check(b"{}\n{\"a\":1}", &["{}", "{\"a\":1}"]);
    }

    #[test]
    fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
        let fits = "x".repeat(24);
        let long = "x".repeat(25);
        check(
            format!("{fits}\n{long}\n{fits}\n").as_bytes(),
            &[&fits, "too long", &fits],
        );
        check(long.as_bytes(), &["too long"]);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_takes_no_memory() {
        let endless = tokio::io::AsyncReadExt::take(tokio::io::repeat(b'x'), 64 << 20);
        let mut lines = LineReader::new(endless, 1 << 20);
        assert_eq!(lines.next().await.unwrap(), Some(Line::TooLong));
        assert_eq!(lines.line.capacity(), 0);
    }
}
