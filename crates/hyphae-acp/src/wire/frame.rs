//! Bytes to lines, in bounded memory.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use super::envelope::RequestId;

/// How much of an over-long frame is kept to find its id in.
const HEAD_BYTES: usize = 4096;

/// A buffer that grew beyond this for one large frame is given back after it.
const KEPT_BYTES: usize = 256 * 1024;

const READ_BYTES: usize = 16 * 1024;

/// One line as it came, without its end, or what is left of one that was too long.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame<'a> {
    Line(&'a [u8]),
    TooLong { id: Option<RequestId> },
}

/// Cuts a stream into lines. A frame over the limit is skipped up to its newline.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    input: BufReader<R>,
    /// The current line, or the head of a line that is being skipped.
    line: Vec<u8>,
    limit: usize,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// `line` holds what came of the next frame so far.
    Filling,
    /// `line` holds the head of a frame that is over the limit.
    Skipping,
    /// `line` was handed out and is old.
    Taken,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(input: R, limit: usize) -> Self {
        Self {
            input: BufReader::with_capacity(READ_BYTES, input),
            line: Vec::new(),
            limit,
            state: State::Filling,
        }
    }

    /// Returns the next frame that is not blank, or none at the end of the stream; a last line
    /// without a newline counts. Cancel-safe: a dropped call loses nothing.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Frame<'_>>> {
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
                if part.len() <= self.limit.saturating_sub(self.line.len()) {
                    self.line.extend_from_slice(part);
                } else {
                    self.state = State::Skipping;
                    self.line.truncate(HEAD_BYTES);
                    self.line.shrink_to(HEAD_BYTES);
                }
            }
            if self.state == State::Skipping {
                let wanted = HEAD_BYTES.saturating_sub(self.line.len());
                self.line.extend_from_slice(&part[..wanted.min(part.len())]);
            }
            let used = part.len() + usize::from(newline.is_some());
            self.input.consume(used);
            if newline.is_none() && !at_end {
                continue;
            }

            let skipped = self.state == State::Skipping;
            self.state = State::Taken;
            if skipped {
                let id = find_id(&self.line);
                return Ok(Some(Frame::TooLong { id }));
            }
            let start = if self.line.starts_with(b"\xEF\xBB\xBF") {
                3
            } else {
                0
            };
            if self.line[start..].trim_ascii().is_empty() {
                if at_end {
                    return Ok(None);
                }
                continue;
            }
            return Ok(Some(Frame::Line(self.line[start..].trim_ascii())));
        }
    }
}

/// Finds the value of the root object's `id` in the beginning of a message.
fn find_id(head: &[u8]) -> Option<RequestId> {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < head.len() {
        match head[at] {
            b'"' => {
                let end = string_end(head, at)?;
                let is_id = depth == 1 && &head[at..end] == b"\"id\"";
                at = end;
                if is_id {
                    let rest = head[at..].trim_ascii_start();
                    if let Some(value) = rest.strip_prefix(b":") {
                        return scalar_id(value.trim_ascii_start());
                    }
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns where the string that begins at `start` ends, behind its quote.
fn string_end(head: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match head.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Reads an id that is known to be whole, because something stands behind it.
fn scalar_id(value: &[u8]) -> Option<RequestId> {
    let end = if value.first() == Some(&b'"') {
        string_end(value, 0)?
    } else {
        value
            .iter()
            .position(|byte| matches!(byte, b',' | b'}' | b' ' | b'\t' | b'\r'))?
    };
    RequestId::parse(std::str::from_utf8(&value[..end]).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    /// Reads all of `input`, served in pieces of `piece` bytes.
    fn read(input: &[u8], piece: usize, limit: usize) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let (mut writer, reader) = tokio::io::duplex(piece);
            let mut lines = LineReader::new(reader, limit);
            let reading = async {
                let mut got = Vec::new();
                while let Some(frame) = lines.next().await.unwrap() {
                    got.push(match frame {
                        Frame::Line(line) => String::from_utf8_lossy(line).into_owned(),
                        Frame::TooLong { id } => format!("too long, id {id:?}"),
                    });
                }
                got
            };
            let writing = async {
                tokio::io::AsyncWriteExt::write_all(&mut writer, input)
                    .await
                    .unwrap();
                drop(writer);
            };
            tokio::join!(reading, writing).0
        })
    }

    #[track_caller]
    fn check(input: &[u8], want: &[&str]) {
        for piece in [1, 2, 7, 4096] {
            assert_eq!(read(input, piece, 24), want, "in pieces of {piece}");
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
    fn a_frame_may_be_as_long_as_the_limit_and_no_longer() {
        let fits = "x".repeat(24);
        let long = "x".repeat(25);
        check(
            format!("{fits}\n{long}\n{fits}\n").as_bytes(),
            &[&fits, "too long, id None", &fits],
        );
        check(long.as_bytes(), &["too long, id None"]);
    }

    #[test]
    fn the_id_of_a_frame_that_is_too_long_is_found_in_its_head() {
        for (head, id) in [
            (r#"{"id":7,"method":"#, "Some(Number(\"7\"))"),
            (
                r#"{"a":{"id":1},"x":"id","id" : "q\"w" ,"#,
                "Some(String(\"q\\\"w\"))",
            ),
            (r#"{"id":null,"#, "Some(Null)"),
            (r#"{"params":[{"id":1}],"#, "None"),
            (r#"{"id":{"a":1},"#, "None"),
            (r#"{"id":12"#, "None"),
            (r#"[{"id":12},"#, "None"),
        ] {
            let line = if id == "None" && head.ends_with("12") {
                format!("{head}{}", "3".repeat(5000))
            } else {
                format!("{head}\"{}\"}}", "y".repeat(5000))
            };
            check(line.as_bytes(), &[&format!("too long, id {id}")]);
        }
        let far = format!("{{\"params\":\"{}\",\"id\":1}}", "y".repeat(5000));
        check(far.as_bytes(), &["too long, id None"]);
    }

    #[test]
    fn a_frame_that_is_too_long_takes_no_memory() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let endless = tokio::io::AsyncReadExt::take(tokio::io::repeat(b'x'), 64 << 20);
            let mut lines = LineReader::new(endless, 1 << 20);
            let frame = lines.next().await.unwrap();
            assert_eq!(frame, Some(Frame::TooLong { id: None }));
            assert!(lines.line.capacity() <= 2 * HEAD_BYTES);
        });
    }

    #[test]
    fn a_large_frame_gives_its_memory_back() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let input = format!("{}\n{{}}\n", "x".repeat(8 << 20));
            let mut lines = LineReader::new(input.as_bytes(), 16 << 20);
            assert!(matches!(lines.next().await.unwrap(), Some(Frame::Line(_))));
            assert!(matches!(
                lines.next().await.unwrap(),
                Some(Frame::Line(b"{}"))
            ));
            assert!(lines.line.capacity() <= KEPT_BYTES);
        });
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_give_the_same_frames(
            bytes in proptest::collection::vec(
                prop_oneof![Just(b'\n'), Just(b'"'), Just(b'{'), any::<u8>()], 0..300),
            piece in 1_usize..64,
        ) {
            prop_assert_eq!(read(&bytes, piece, 24), read(&bytes, 4096, 24));
        }
    }
}
