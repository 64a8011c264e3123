//! Where in a file something stands, and why it could not be read.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, de::IgnoredAny};

/// Where something stands in what is read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file, as the caller named it; empty if there is only one.
    pub file: String,
    /// Where in it.
    pub spot: Spot,
}

/// Where in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Spot {
    /// All of it.
    Whole,
    /// In this line, from 1.
    Line(u64),
    /// In this entry of its list, from 1.
    Entry(u64),
}

impl Place {
    /// A line of the only file there is.
    pub fn of_line(number: u64) -> Self {
        Self::line("", number)
    }

    pub(crate) fn line(file: &str, number: u64) -> Self {
        Self {
            file: file.to_owned(),
            spot: Spot::Line(number),
        }
    }
}

impl fmt::Display for Place {
    /// Writes `notes/a.md, line 3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if !self.file.is_empty() && self.spot != Spot::Whole {
            f.write_str(", ")?;
        }
        match self.spot {
            Spot::Whole => Ok(()),
            Spot::Line(number) => write!(f, "line {number}"),
            Spot::Entry(number) => write!(f, "entry {number}"),
        }
    }
}

/// Something that could not be read, and was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bad {
    /// Where it stands.
    pub place: Place,
    /// What is wrong with it, in one line and without its text.
    pub why: String,
}

impl fmt::Display for Bad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.why)
    }
}

/// Drops what of a time is finer than what stores keep.
pub(crate) fn to_microsecond(time: Timestamp) -> Timestamp {
    let rest = time.subsec_nanosecond() / 1000 * 1000;
    Timestamp::new(time.as_second(), rest).unwrap_or(time)
}

/// Reads a JSON object, or says what is wrong with it. (A list would do for a struct, too.)
pub(crate) fn object<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, String> {
    if !json.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(json).is_ok() {
        return Err(NO_OBJECT.to_owned());
    }
    serde_json::from_str(json).map_err(|error| json_fault(&error))
}

pub(crate) const NO_OBJECT: &str = "it is no JSON object";

/// Says what is wrong with a piece of JSON, without quoting any text of it.
pub(crate) fn json_fault(error: &serde_json::Error) -> String {
    use serde_json::error::Category;
    match error.classify() {
        Category::Eof => "it is cut off in the middle of its JSON".to_owned(),
        Category::Io | Category::Syntax => format!("it is no JSON (column {})", error.column()),
        Category::Data => {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            unquoted(message)
        }
    }
}

/// Takes the text out of `invalid type: string "…", expected …`.
fn unquoted(message: &str) -> String {
    let quoted = message
        .find('"')
        .zip(message.rfind("\", expected"))
        .filter(|(start, end)| start < end);
    match quoted {
        Some((start, end)) => format!("{}{}", message[..start].trim_end(), &message[end + 1..]),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_like_a_sentence() {
        let place = Place::line("notes/a.md", 3);
        assert_eq!(place.to_string(), "notes/a.md, line 3");
        assert_eq!(Place::line("", 3).to_string(), "line 3");
        let whole = Place {
            file: "a.md".to_owned(),
            spot: Spot::Whole,
        };
        assert_eq!(whole.to_string(), "a.md");
    }

    #[test]
    fn a_fault_quotes_no_text() {
        let fault = |json: &str| json_fault(&serde_json::from_str::<Vec<u32>>(json).unwrap_err());
        assert_eq!(
            fault(r#"["my \", expected secret"]"#),
            "invalid type: string, expected u32"
        );
        assert_eq!(fault("[1,"), "it is cut off in the middle of its JSON");
        assert_eq!(fault("[1 my secret]"), "it is no JSON (column 4)");
    }
}
