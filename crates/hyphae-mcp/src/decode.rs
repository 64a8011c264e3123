//! Arguments of a tool, read the way that clients really send them.
//!
//! The schemas say what is right. What models and clients send besides is taken where it can
//! mean one thing only: lists and objects as JSON texts, `null` and `"null"` for what was left
//! out, numbers as texts, names in any case. What cannot be understood is an error that says
//! what to send instead; an unknown argument is one, because it was meant to do something.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr};

use hyphae_core::{cell::Share, text};
use jiff::{Timestamp, civil, tz::TimeZone};
use serde_json::{Map, Value};

use crate::errors::{ToolError, shown};

/// The arguments of one call.
#[derive(Debug)]
pub(crate) struct Arguments(Map<String, Value>);

impl Arguments {
    /// Takes the arguments of a call of a tool whose input has this schema.
    pub(crate) fn new(
        given: Option<Map<String, Value>>,
        schema: &Map<String, Value>,
    ) -> Result<Self, ToolError> {
        let mut given = given.unwrap_or_default();
        // Some clients put it here instead of beside the arguments.
        given.remove("_meta");
        let known: Vec<&str> = schema
            .get("properties")
            .and_then(Value::as_object)
            .map(|properties| properties.keys().map(String::as_str).collect())
            .unwrap_or_default();
        if let Some(unknown) = given.keys().find(|name| !known.contains(&name.as_str())) {
            let meant = text::nearest_name(unknown, known.iter().copied())
                .map(|name| format!("did you mean `{name}`? "))
                .unwrap_or_default();
            return Err(ToolError::argument(
                text::shorten(unknown, 40),
                "there is no such argument",
                format!("{meant}the arguments are: {}", known.join(", ")),
            ));
        }
        given.retain(|_, value| !value.is_null());
        Ok(Self(given))
    }

    /// Takes a text out that may be left out; a blank one counts as left out, and so does `null`.
    pub(crate) fn optional_text(&mut self, name: &str) -> Result<Option<String>, ToolError> {
        Ok(self.scalar(name)?.filter(|text| !is_nothing(text)))
    }

    /// Takes a text out that must be there. Here `null` in quotes is a text like any other.
    pub(crate) fn text(&mut self, name: &str) -> Result<String, ToolError> {
        self.scalar(name)?.ok_or_else(|| missing(name))
    }

    fn scalar(&mut self, name: &str) -> Result<Option<String>, ToolError> {
        match self.0.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(Some(value.to_string())),
            Some(value) => Err(ToolError::argument(
                name,
                format!("{} is not a text", shown(&value)),
                "send a string",
            )),
        }
    }

    /// Takes a list of at most `most` texts out; one text alone is a list of one.
    pub(crate) fn texts(&mut self, name: &str, most: usize) -> Result<Vec<String>, ToolError> {
        let wrong = |value: &Value| {
            ToolError::argument(
                name,
                format!("{} is not a list of texts", shown(value)),
                "send an array of strings",
            )
        };
        let value = match self.0.remove(name) {
            None => return Ok(Vec::new()),
            Some(Value::String(text)) if is_nothing(&text) => return Ok(Vec::new()),
            Some(Value::String(text)) if text.trim_start().starts_with('[') => {
                // A list written as a text; a text that merely begins like one stays a text.
                serde_json::from_str(&text).unwrap_or(Value::String(text))
            }
            Some(value) => value,
        };
        let items = match value {
            Value::Array(items) => items,
            one @ (Value::String(_) | Value::Number(_)) => vec![one],
            other @ (Value::Object(_) | Value::Bool(_) | Value::Null) => return Err(wrong(&other)),
        };
        if items.len() > most {
            return Err(ToolError::argument(
                name,
                format!("{} are too many", items.len()),
                format!("send at most {most}"),
            ));
        }
        let texts = items.into_iter().filter(|item| !item.is_null());
        texts
            .map(|item| {
                if let Value::String(text) = item {
                    Ok(text)
                } else if item.is_number() {
                    Ok(item.to_string())
                } else {
                    Err(wrong(&item))
                }
            })
            .filter(|text| text.as_ref().map_or(true, |text| !is_nothing(text)))
            .collect()
    }

    /// Takes a whole number out.
    pub(crate) fn whole(
        &mut self,
        name: &str,
        range: RangeInclusive<usize>,
    ) -> Result<Option<usize>, ToolError> {
        let Some(number) = self.number(name, || whole_range(&range))? else {
            return Ok(None);
        };
        // No float is exact beyond 2^53, and no range goes that far.
        if number.fract() == 0.0 && number >= *range.start() as f64 && number <= *range.end() as f64
        {
            return Ok(Some(number as usize));
        }
        Err(ToolError::argument(
            name,
            format!("{number} is out of range"),
            format!("send {}", whole_range(&range)),
        ))
    }

    /// Takes a share between 0 and 1 out.
    pub(crate) fn share(&mut self, name: &str) -> Result<Option<Share>, ToolError> {
        const ALLOWED: &str = "a number from 0 to 1, such as 0.5";
        let Some(number) = self.number(name, || ALLOWED.to_owned())? else {
            return Ok(None);
        };
        Share::new(number).map(Some).ok_or_else(|| {
            ToolError::argument(
                name,
                format!("{number} is out of range"),
                format!("send {ALLOWED}"),
            )
        })
    }

    fn number(
        &mut self,
        name: &str,
        allowed: impl Fn() -> String,
    ) -> Result<Option<f64>, ToolError> {
        let wrong = |value: &Value| {
            ToolError::argument(
                name,
                format!("{} is not a number", shown(value)),
                format!("send {}", allowed()),
            )
        };
        match self.0.remove(name) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(number.as_f64()),
            Some(Value::String(text)) if is_nothing(&text) => Ok(None),
            Some(Value::String(text)) => match text.trim().parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Some(number)),
                _ => Err(wrong(&text.into())),
            },
            Some(other) => Err(wrong(&other)),
        }
    }

    /// Takes yes or no out.
    pub(crate) fn flag(&mut self, name: &str) -> Result<Option<bool>, ToolError> {
        match self.0.remove(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(Value::String(text)) if is_nothing(&text) => Ok(None),
            Some(Value::String(text)) if text.trim().eq_ignore_ascii_case("true") => Ok(Some(true)),
            Some(Value::String(text)) if text.trim().eq_ignore_ascii_case("false") => {
                Ok(Some(false))
            }
            Some(other) => Err(ToolError::argument(
                name,
                format!("{} is neither true nor false", shown(&other)),
                "send true or false",
            )),
        }
    }

    /// Takes one of several names out, in any case.
    pub(crate) fn choice<T>(&mut self, name: &str) -> Result<Option<T>, ToolError>
    where
        T: FromStr<Err: Display>,
    {
        let Some(text) = self.optional_text(name)? else {
            return Ok(None);
        };
        choose(name, &text).map(Some)
    }

    /// Takes a list of names out, in any case.
    pub(crate) fn choices<T>(&mut self, name: &str, most: usize) -> Result<Vec<T>, ToolError>
    where
        T: FromStr<Err: Display>,
    {
        let texts = self.texts(name, most)?;
        texts.iter().map(|text| choose(name, text)).collect()
    }

    /// Takes a moment out: RFC 3339, or a date, which begins at midnight UTC.
    pub(crate) fn time(&mut self, name: &str) -> Result<Option<Timestamp>, ToolError> {
        let Some(text) = self.optional_text(name)? else {
            return Ok(None);
        };
        let text = text.trim();
        let utc = |moment: civil::DateTime| TimeZone::UTC.to_timestamp(moment).ok();
        let read = text
            .parse::<Timestamp>()
            .ok()
            .or_else(|| text.parse::<civil::DateTime>().ok().and_then(utc));
        read.map(Some).ok_or_else(|| {
            ToolError::argument(
                name,
                format!("{} is not a time", shown(&text.into())),
                "send a date or a time such as 2026-01-31 or 2026-01-31T12:00:00Z",
            )
        })
    }

    /// Takes one of the given names out, in any case.
    pub(crate) fn one_of<T: Copy>(
        &mut self,
        name: &str,
        allowed: &[(&str, T)],
    ) -> Result<Option<T>, ToolError> {
        let Some(text) = self.optional_text(name)? else {
            return Ok(None);
        };
        pick(name, &text, allowed).map(Some)
    }

    /// Takes a list of the given names out, in any case.
    pub(crate) fn some_of<T: Copy>(
        &mut self,
        name: &str,
        allowed: &[(&str, T)],
    ) -> Result<Vec<T>, ToolError> {
        let texts = self.texts(name, allowed.len())?;
        texts.iter().map(|text| pick(name, text, allowed)).collect()
    }

    /// Takes at least one and at most `most` ids or their beginnings out.
    pub(crate) fn ids(&mut self, name: &str, most: usize) -> Result<Vec<String>, ToolError> {
        let ids = self.texts(name, most)?;
        if ids.is_empty() {
            return Err(missing(name));
        }
        Ok(ids)
    }
}

/// Tells what clients send for what was left out.
fn is_nothing(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text == "null"
}

fn choose<T>(name: &str, text: &str) -> Result<T, ToolError>
where
    T: FromStr<Err: Display>,
{
    text.trim().parse().map_err(|error: T::Err| {
        ToolError::argument(name, error.to_string(), "send one of these names")
    })
}

fn pick<T: Copy>(name: &str, text: &str, allowed: &[(&str, T)]) -> Result<T, ToolError> {
    let plain = text.trim().replace(['-', ' '], "_");
    allowed
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(&plain))
        .map(|(_, value)| *value)
        .ok_or_else(|| {
            let names: Vec<&str> = allowed.iter().map(|(known, _)| *known).collect();
            ToolError::argument(
                name,
                format!("{} is none of its values", shown(&text.into())),
                format!("send one of: {}", names.join(", ")),
            )
        })
}

fn missing(name: &str) -> ToolError {
    ToolError::argument(name, "it is missing", format!("send `{name}`"))
}

fn whole_range(range: &RangeInclusive<usize>) -> String {
    format!("a whole number from {} to {}", range.start(), range.end())
}

#[cfg(test)]
mod tests {
    use hyphae_core::cell::CellType;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(object) = value else {
            panic!("{value} is no object");
        };
        object
    }

    fn arguments(value: impl Into<Value>) -> Arguments {
        Arguments::new(Some(object(json!({"a": value.into()}))), &schema()).unwrap()
    }

    fn schema() -> Map<String, Value> {
        object(json!({"properties": {"a": {}, "salience": {}}}))
    }

    #[test]
    fn an_unknown_argument_is_an_error_that_names_the_known_ones() {
        let given = object(json!({"_meta": {}, "salince": 1}));
        let error = Arguments::new(Some(given), &schema()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "error: there is no such argument\nargument: salince\nnext: did you mean `salience`? the arguments are: a, salience\ncode: invalid_argument"
        );
    }

    #[test]
    fn lists_are_read_as_clients_send_them() {
        for (value, want) in [
            (json!(["x", "y"]), vec!["x", "y"]),
            (json!("[\"x\", \"y\"]"), vec!["x", "y"]),
            (json!("x"), vec!["x"]),
            (json!("[x"), vec!["[x"]),
            (json!([]), vec![]),
            (json!("[]"), vec![]),
            (json!(""), vec![]),
            (json!("null"), vec![]),
            (json!(null), vec![]),
            (json!([null, "x", 7]), vec!["x", "7"]),
        ] {
            let got = arguments(value.clone()).texts("a", 5);
            assert_eq!(
                got,
                Ok(want.into_iter().map(str::to_owned).collect()),
                "{value}"
            );
        }
        for value in [json!({}), json!([{}]), json!(true), json!([["x"]])] {
            assert!(arguments(value.clone()).texts("a", 5).is_err(), "{value}");
        }
        assert!(arguments(json!(["1", "2", "3"])).texts("a", 2).is_err());
    }

    #[test]
    fn numbers_may_be_texts_and_have_a_range() {
        for (value, want) in [
            (json!(5), Some(5)),
            (json!("5"), Some(5)),
            (json!(5.0), Some(5)),
            (json!(null), None),
            (json!("null"), None),
            (json!(""), None),
        ] {
            assert_eq!(
                arguments(value.clone()).whole("a", 1..=9),
                Ok(want),
                "{value}"
            );
        }
        for value in [
            json!(0),
            json!(10),
            json!(1.5),
            json!("x"),
            json!([]),
            json!("inf"),
            json!(1e300),
            json!(-1),
        ] {
            let error = arguments(value.clone()).whole("a", 1..=9).unwrap_err();
            assert!(
                error.to_string().contains("from 1 to 9"),
                "{value}: {error}"
            );
        }
        assert_eq!(arguments(json!(".5")).share("a"), Ok(Some(Share::HALF)));
        assert!(arguments(json!(1.5)).share("a").is_err());
    }

    #[test]
    fn names_are_read_in_any_case() {
        let read = arguments(json!(" decision ")).choice::<CellType>("a");
        assert_eq!(read, Ok(Some(CellType::Decision)));
        let read = arguments(json!("[\"RISK\"]")).choices::<CellType>("a", 9);
        assert_eq!(read, Ok(vec![CellType::Risk]));
        let error = arguments(json!("choice"))
            .choice::<CellType>("a")
            .unwrap_err();
        assert!(
            error.to_string().contains("Decision, Constraint"),
            "{error}"
        );
    }

    #[test]
    fn a_text_that_must_be_there_may_say_null() {
        assert_eq!(arguments(json!("null")).text("a"), Ok("null".to_owned()));
        assert_eq!(arguments(json!("null")).optional_text("a"), Ok(None));
        assert_eq!(arguments(json!(42)).text("a"), Ok("42".to_owned()));
        assert!(arguments(json!(null)).text("a").is_err());
        assert!(arguments(json!(["x"])).text("a").is_err());
    }

    #[test]
    fn times_may_be_dates() {
        let midnight = "2026-01-31T00:00:00Z".parse::<Timestamp>().unwrap();
        for text in [
            "2026-01-31",
            "2026-01-31T00:00:00Z",
            "2026-01-31T01:00:00+01:00",
            "2026-01-31T00:00",
            "2026-01-31 00:00:00",
        ] {
            assert_eq!(
                arguments(json!(text)).time("a"),
                Ok(Some(midnight)),
                "{text}"
            );
        }
        for text in ["yesterday", "31.1.2026", "2026-13-01"] {
            assert!(arguments(json!(text)).time("a").is_err(), "{text}");
        }
    }

    #[test]
    fn flags_may_be_texts() {
        for (value, want) in [
            (json!(true), Some(true)),
            (json!("False"), Some(false)),
            (json!(null), None),
        ] {
            assert_eq!(arguments(value).flag("a"), Ok(want));
        }
        assert!(arguments(json!("yes")).flag("a").is_err());
    }
}
