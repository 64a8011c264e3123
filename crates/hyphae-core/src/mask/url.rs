//! Passwords in URLs: `scheme://user:password@host`.

use super::{
    Rank, Span,
    scan::{ALNUM, Scan, Set},
    value,
};

const SCHEME: Set = ALNUM.and("+.-");
const URL: Set = Set::of(" \t\r\n\"'`<>\\").others();
const AUTHORITY: Set = Set::of(" \t\r\n\"'`<>\\/?#").others();
/// How far a password with a slash in it is looked for.
const LONGEST: usize = 256;

/// Finds the passwords and tokens in the URLs of a text.
pub(super) fn find(scan: &mut Scan<'_>, found: &mut Vec<Span>) {
    let mut place = 0;
    while let Some(next) = scan.text[place..].find("://") {
        let at = place + next;
        place = at + 3;
        let scheme = scan.run_back(SCHEME, at, 20);
        if scheme < at {
            found.extend(in_authority(scan, place));
        }
    }
    // Oracle's own form has the host behind the password too.
    for (at, head) in scan.text.match_indices("jdbc:oracle:thin:") {
        let user = at + head.len();
        let end = scan.run(URL, user);
        let whole = &scan.text[user..end.min(scan.text.floor_char_boundary(user + LONGEST))];
        if let (Some(slash), Some(host)) = (whole.find('/'), whole.rfind('@'))
            && slash > 0
            && slash < host
        {
            found.extend(password(scan, user + slash + 1, user + host));
        }
    }
}

fn in_authority(scan: &mut Scan<'_>, start: usize) -> Option<Span> {
    let end = scan.run(AUTHORITY, start);
    let authority = &scan.text[start..end];
    if let Some(at) = authority.rfind('@') {
        return match authority[..at].find(':') {
            Some(colon) => password(scan, start + colon + 1, start + at),
            None => token(scan, start, start + at),
        };
    }
    // A password may hold the very characters that end this part of a URL. What is between a
    // colon and the first of them is then no port.
    let colon = authority.find(':')?;
    let port = &authority[colon + 1..];
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
    if is_port || authority.starts_with('[') {
        return None;
    }
    let whole = scan.run(URL, start);
    let limit = scan.text.floor_char_boundary(whole.min(start + LONGEST));
    let at = scan.text[end..limit.max(end)].rfind('@')?;
    password(scan, start + colon + 1, end + at)
}

fn password(scan: &Scan<'_>, start: usize, end: usize) -> Option<Span> {
    let value = scan.text.get(start..end)?;
    let digest = ["sha256:", "sha512:"]
        .iter()
        .any(|head| scan.starts_with(end + 1, head));
    let stands_in = value.is_empty() || value::is_stand_in(value) || value::is_no_password(value);
    (!digest && !stands_in).then_some(Span {
        start,
        end,
        label: "password",
        rank: Rank::Url,
    })
}

/// A token in the place of the user, as GitHub's: `https://TOKEN@github.com`.
fn token(scan: &mut Scan<'_>, start: usize, end: usize) -> Option<Span> {
    let value = scan.text.get(start..end)?;
    let host = scan.run(AUTHORITY, end + 1);
    // What Sentry calls a DSN is made to be public.
    let public = scan.text.get(end + 1..host)?.contains("sentry");
    (!public && value.len() >= 20 && value::is_secret(value, 2)).then_some(Span {
        start,
        end,
        label: "credentials",
        rank: Rank::Url,
    })
}
