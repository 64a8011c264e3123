//! Messages that pass through: where their parts lie, and the few bytes that are changed.
//!
//! Whatever is not changed keeps its bytes: order of members, spaces, numbers too large for any
//! type of ours, members that nobody has heard of.

use std::{borrow::Cow, fmt, ops::Range};

use serde::{
    Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::envelope::{Envelope, string};

/// A message, as its bytes lie in its line.
pub(crate) struct Parts<'a> {
    line: &'a str,
    /// The JSON of each member, if it is there.
    pub(crate) id: Option<&'a str>,
    pub(crate) method: Option<Cow<'a, str>>,
    pub(crate) params: Option<&'a str>,
    pub(crate) result: Option<&'a str>,
    pub(crate) error: Option<&'a str>,
}

impl fmt::Debug for Parts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts")
            .field("id", &self.id)
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

impl<'a> Parts<'a> {
    /// Finds the parts of a line; none if it is no message at all.
    pub(crate) fn of(line: &'a [u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?;
        if !line.starts_with('{') {
            return None;
        }
        let envelope: Envelope<'a> = serde_json::from_str(line).ok()?;
        let method = match envelope.method {
            Some(method) if method.get().starts_with('"') => Some(string(method.get())?),
            Some(_) => return None,
            None => None,
        };
        Some(Self {
            line,
            id: envelope.id.map(RawValue::get),
            method,
            params: envelope.params.map(RawValue::get),
            result: envelope.result.map(RawValue::get),
            error: envelope.error.map(RawValue::get),
        })
    }

    /// Begins to change the line.
    pub(crate) const fn rewrite(&self) -> Rewrite<'a> {
        Rewrite {
            line: self.line,
            edits: Vec::new(),
        }
    }

    /// Returns a member of the parameters, if they are an object that has it once.
    pub(crate) fn param(&self, name: &str) -> Option<&'a str> {
        member(self.params?, name)
    }
}

/// Returns the JSON of an object's member, if `json` is an object that has it once.
pub(crate) fn member<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    if !json.starts_with('{') {
        return None;
    }
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let found = deserializer.deserialize_map(Pick { name }).ok()?;
    match found {
        Found::Once(value) => Some(value.get()),
        Found::Never | Found::Often => None,
    }
}

struct Pick<'n> {
    name: &'n str,
}

enum Found<'a> {
    Never,
    Once(&'a RawValue),
    Often,
}

impl<'de> Visitor<'de> for Pick<'_> {
    type Value = Found<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = Found::Never;
        while let Some(is_it) = map.next_key_seed(Is(self.name))? {
            if is_it {
                let value = map.next_value()?;
                found = match found {
                    Found::Never => Found::Once(value),
                    Found::Once(_) | Found::Often => Found::Often,
                };
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// Reads a key and tells whether it is this one.
struct Is<'n>(&'n str);

impl<'de> DeserializeSeed<'de> for Is<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Is<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, text: &str) -> Result<bool, E> {
        Ok(text == self.0)
    }
}

/// A line and what is changed in it.
#[derive(Debug)]
pub(crate) struct Rewrite<'a> {
    line: &'a str,
    edits: Vec<(Range<usize>, String)>,
}

impl<'a> Rewrite<'a> {
    /// Puts other JSON in the place of a part of this line.
    pub(crate) fn replace(mut self, part: &'a str, json: impl Into<String>) -> Self {
        let start = self.offset(part);
        self.edits.push((start..start + part.len(), json.into()));
        self
    }

    /// Puts a member at the beginning of an object of this line, which does not have it.
    pub(crate) fn add(mut self, object: &'a str, name: &str, json: &str) -> Self {
        let start = self.offset(object) + 1;
        let is_empty = object[1..].trim_start().starts_with('}');
        let comma = if is_empty { "" } else { "," };
        self.edits
            .push((start..start, format!("\"{name}\":{json}{comma}")));
        self
    }

    fn offset(&self, part: &str) -> usize {
        let offset = (part.as_ptr() as usize).wrapping_sub(self.line.as_ptr() as usize);
        debug_assert!(
            offset + part.len() <= self.line.len(),
            "a part of another line"
        );
        offset
    }

    /// Returns the changed line.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.edits.sort_by_key(|(range, _)| range.start);
        let added: usize = self.edits.iter().map(|(_, json)| json.len()).sum();
        let mut out = Vec::with_capacity(self.line.len() + added + 1);
        let mut at = 0;
        for (range, json) in self.edits {
            out.extend_from_slice(&self.line.as_bytes()[at..range.start]);
            out.extend_from_slice(json.as_bytes());
            at = range.end;
        }
        out.extend_from_slice(&self.line.as_bytes()[at..]);
        out
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn all_but_what_is_changed_keeps_its_bytes() {
        let line = "{ \"params\":{\"_x\":1e400,\"a\":{\"sessionId\":\"no\"} ,\"sessionId\" : \"s\\u0031\"},\"method\":\"_odd/\\u0031\", \"id\":18446744073709551616 , \"z\":[] }";
        let parts = Parts::of(line.as_bytes()).unwrap();
        assert_eq!(parts.method.as_deref(), Some("_odd/1"));
        let session = parts.param("sessionId").unwrap();
        assert_eq!(session, "\"s\\u0031\"");
        let out = parts
            .rewrite()
            .replace(parts.id.unwrap(), "7")
            .replace(session, "\"ours\"")
            .finish();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{ \"params\":{\"_x\":1e400,\"a\":{\"sessionId\":\"no\"} ,\"sessionId\" : \"ours\"},\"method\":\"_odd/\\u0031\", \"id\":7 , \"z\":[] }"
        );
    }

    #[test]
    fn a_member_is_added_to_empty_and_full_objects() {
        for (line, want) in [
            (r#"{"result":{}}"#, r#"{"result":{"m":1}}"#),
            (r#"{"result":{ }}"#, r#"{"result":{"m":1 }}"#),
            (r#"{"result":{"a":2}}"#, r#"{"result":{"m":1,"a":2}}"#),
        ] {
            let parts = Parts::of(line.as_bytes()).unwrap();
            let out = parts
                .rewrite()
                .add(parts.result.unwrap(), "m", "1")
                .finish();
            assert_eq!(String::from_utf8(out).unwrap(), want);
        }
    }

    #[test]
    fn what_is_no_object_or_says_a_thing_twice_has_no_members() {
        assert_eq!(member(r#"{"a":1,"b":2,"\u0061":3}"#, "a"), None);
        assert_eq!(member(r#"{"\u0061":3}"#, "a"), Some("3"));
        assert_eq!(member("[1]", "a"), None);
        assert_eq!(member("null", "a"), None);
        for line in ["banner", "[]", "{", r#"{"method":1}"#, r#"{"id":1,"id":2}"#] {
            assert!(Parts::of(line.as_bytes()).is_none(), "{line}");
        }
    }

    proptest! {
        #[test]
        fn a_line_that_nothing_is_changed_in_is_the_same(text in "\\PC{0,40}", n in any::<i64>()) {
            let line = serde_json::json!({ "method": text, "params": { "sessionId": text, "n": n } }).to_string();
            let parts = Parts::of(line.as_bytes()).unwrap();
            let session = parts.param("sessionId").unwrap();
            let out = parts.rewrite().replace(session, session).finish();
            prop_assert_eq!(String::from_utf8(out).unwrap(), line);
        }
    }
}
