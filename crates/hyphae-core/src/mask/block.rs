//! Keys that are blocks of lines: PEM, OpenPGP, PuTTY.

use super::{
    Rank, Span,
    scan::{ALNUM, BASE64, Scan, Set},
    value,
};

/// How many bytes of a block say what is in it.
const TITLE: usize = 60;
/// What a line of a key has at least, but for the last one.
const SHORTEST_LINE: usize = 20;
/// A block with less in it may be a blank to fill in.
const SHORTEST_KEY: usize = 100;
const LABEL: Set = ALNUM.and(" ");

/// Finds the private keys of a text.
pub(super) fn find(scan: &mut Scan<'_>, found: &mut Vec<Span>) {
    let ends: Vec<usize> = scan.text.match_indices("-END ").map(|(at, _)| at).collect();
    let begins: Vec<usize> = scan
        .text
        .match_indices("-BEGIN ")
        .map(|(at, _)| at)
        .collect();
    // SSH.com's blocks have a space behind the dashes.
    let spaced: Vec<usize> = scan
        .text
        .match_indices("- BEGIN ")
        .map(|(at, _)| at)
        .collect();
    let spaced_ends: Vec<usize> = scan
        .text
        .match_indices("- END ")
        .map(|(at, _)| at)
        .collect();
    for (begins, ends) in [(begins, ends), (spaced, spaced_ends)] {
        for (n, begin) in begins.iter().enumerate() {
            let next = begins.get(n + 1).copied().unwrap_or(scan.bytes.len());
            let end = ends.partition_point(|end| end < begin);
            let end = ends.get(end).copied().filter(|end| *end < next);
            found.extend(block(scan, *begin, end, next));
        }
    }
    for (at, head) in scan.text.match_indices("Private-Lines: ") {
        found.extend(putty(scan, at + head.len()));
    }
}

/// A block that begins at the last dash before `BEGIN`, and ends where `END` stands, or with its
/// lines, before the next one begins.
fn block(scan: &mut Scan<'_>, begin: usize, end: Option<usize>, next: usize) -> Option<Span> {
    let title = scan.text.get(begin..)?;
    let title = &title[..title.floor_char_boundary(TITLE)];
    let label = title.trim_start_matches(['-', ' ']);
    let label = &label[..label.find("--").or_else(|| label.find(" --"))?];
    let is_private = label.contains("PRIVATE KEY") || label.contains("OpenVPN Static key");
    if !is_private || !label.bytes().all(|byte| LABEL.has(byte)) {
        return None;
    }
    let start = scan.run_back(Set::of("-"), begin + 1, 8);
    let head = begin + title.find(label)? + label.len();
    let body = scan.run(Set::of("- "), head);
    let (body_end, end) = match end {
        Some(end) => {
            let label = scan.run(Set::of("- "), end);
            let line = scan.run(LABEL, label);
            (end, scan.run(Set::of("-"), line))
        }
        None => {
            let end = lines_end(scan, body, next)?;
            (end, end)
        }
    };
    let text = scan.text.get(body..body_end.max(body))?;
    let has_text = text
        .split("\\n")
        .any(|line| line.bytes().any(|byte| byte.is_ascii_alphanumeric()));
    let stands_in = text.len() < SHORTEST_KEY && value::is_stand_in(text.trim());
    (has_text && !stands_in).then_some(Span {
        start,
        end,
        label: "private key",
        rank: Rank::Block,
    })
}

/// Returns where the lines of a key end whose block is not closed; none if there are none.
fn lines_end(scan: &mut Scan<'_>, body: usize, next: usize) -> Option<usize> {
    let mut end = None;
    let mut place = body;
    while place < next {
        place = line_break(scan, place);
        let line = scan.run(BASE64, place);
        let header = scan.starts_with(line, ": ")
            || scan.starts_with(line, "-Info: ")
            || scan.starts_with(line, "-Type: ");
        if header && line > place {
            place = scan.run(Set::of("\r\n\\").others(), line);
            continue;
        }
        if line - place >= SHORTEST_LINE {
            end = Some(line);
            place = line;
            continue;
        }
        // The last line is as long as it happens to be; prose is not on a line by itself.
        let is_last = matches!(scan.at(line), 0 | b'\n' | b'\r' | b'"' | b'\'' | b'\\');
        return end.map(|end| if is_last && line > place { line } else { end });
    }
    end
}

/// Passes over line breaks, spaces, and line breaks that are escaped.
fn line_break(scan: &mut Scan<'_>, mut place: usize) -> usize {
    loop {
        let next = scan.run(Set::of(" \t\r\n"), place);
        let escaped = scan.starts_with(next, "\\n") || scan.starts_with(next, "\\r");
        let next = next + if escaped { 2 } else { 0 };
        if next == place {
            return place;
        }
        place = next;
    }
}

/// The private lines of a PuTTY key; how many there are stands before them.
fn putty(scan: &mut Scan<'_>, count: usize) -> Option<Span> {
    let digits = scan.run(Set::of("0123456789"), count);
    let lines: usize = scan.text.get(count..digits)?.parse().ok()?;
    let start = line_break(scan, digits);
    let (mut place, mut end) = (start, start);
    for _ in 0..lines.min(1000) {
        let line = scan.run(BASE64, place);
        if line == place {
            break;
        }
        end = line;
        place = line_break(scan, line);
    }
    (end > start).then_some(Span {
        start,
        end,
        label: "private key",
        rank: Rank::Block,
    })
}
