//! The corpora of this folder: how their lines become texts.

/// Kinds of tokens: whose, and what one looks like.
const KINDS: &str = include_str!("kinds.txt");
const CONTEXTS: &str = include_str!("contexts.txt");
const NAMED: &str = include_str!("named.txt");
const HARMLESS: &str = include_str!("harmless.txt");

const BEGIN: char = '⟦';
const END: char = '⟧';

/// A text, and what in it must not be left.
#[derive(Debug)]
pub(super) struct Secret {
    pub(super) text: String,
    pub(super) parts: Vec<String>,
}

/// A line of `kinds.txt`.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) issuer: &'static str,
    shape: &'static str,
}

impl Kind {
    /// Draws a token of this kind and puts it into a context.
    pub(super) fn within(&self, context: &str) -> Secret {
        let (token, parts) = drawn(self.shape, context);
        Secret {
            text: unescaped(context).replace("{}", &token),
            parts,
        }
    }
}

pub(super) fn kinds() -> Vec<Kind> {
    let of = |line: &'static str| {
        let (issuer, shape) = line.split_once(": ").unwrap();
        Kind { issuer, shape }
    };
    lines(KINDS).map(of).collect()
}

pub(super) fn contexts() -> Vec<&'static str> {
    lines(CONTEXTS).collect()
}

pub(super) fn named() -> Vec<&'static str> {
    lines(NAMED).collect()
}

pub(super) fn harmless() -> Vec<&'static str> {
    lines(HARMLESS).collect()
}

/// Draws what a line of `named.txt` leaves open; the secret parts stand between brackets.
pub(super) fn secret(line: &str, variant: usize) -> Secret {
    let marked = text(line, variant);
    let parts = marked
        .split(BEGIN)
        .skip(1)
        .flat_map(|rest| rest.split_once(END).unwrap().0.lines())
        .map(|part| part.trim().to_owned())
        .collect();
    Secret {
        text: marked.replace([BEGIN, END], ""),
        parts,
    }
}

/// Draws what a line leaves open.
pub(super) fn text(line: &str, variant: usize) -> String {
    let (text, _) = drawn(line, &format!("{line}{variant}"));
    unescaped(&text)
}

/// Lines that are neither comments nor empty. A `#` is a comment before a space only.
fn lines(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines()
        .filter(|line| !line.is_empty() && (!line.starts_with("# ") || line.starts_with("# {}")))
}

/// Fills each `{class count}` with that many characters; returns them by themselves, too.
fn drawn(shape: &str, seed: &str) -> (String, Vec<String>) {
    let mut hasher = blake3::Hasher::new();
    hasher.update(shape.as_bytes());
    hasher.update(seed.as_bytes());
    let mut random = hasher.finalize_xof();
    let (mut text, mut parts) = (String::new(), Vec::new());
    let mut rest = shape;
    while let Some(brace) = rest.find('{') {
        text.push_str(&rest[..brace]);
        rest = &rest[brace..];
        let open = rest[1..].split_once('}').and_then(|(inside, _)| {
            let (class, count) = inside.split_once(' ')?;
            Some((alphabet(class)?, count.parse().ok()?, inside.len() + 2))
        });
        let Some((alphabet, count, length)) = open else {
            text.push('{');
            rest = &rest[1..];
            continue;
        };
        let mut bytes = vec![0; count];
        random.fill(&mut bytes);
        let characters = alphabet.as_bytes();
        let part: String = bytes
            .iter()
            .map(|byte| char::from(characters[usize::from(*byte) % characters.len()]))
            .collect();
        text.push_str(&part);
        parts.push(part);
        rest = &rest[length..];
    }
    text.push_str(rest);
    (text, parts)
}

fn alphabet(class: &str) -> Option<&'static str> {
    Some(match class {
        "num" => "0123456789",
        "hex" => "0123456789abcdef",
        "HEX" => "0123456789ABCDEF",
        "low" => "abcdefghijklmnopqrstuvwxyz0123456789",
        "up" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        "b32" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        "let" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "mix" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "url" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        "b64" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "bech" => "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
        "bech-low" => "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
        _ => return None,
    })
}

/// Makes line breaks and the like of `\n`, `\r`, `\t` and `\\`.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        let c = match c {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('\\') => '\\',
                other => panic!("no escape in {text:?}: {other:?}"),
            },
            c => c,
        };
        plain.push(c);
    }
    plain
}
