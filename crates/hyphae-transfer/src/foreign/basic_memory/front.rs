//! What stands before a note: YAML between two lines of `---`.

use std::fmt;

use jiff::Timestamp;
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use super::super::time::Moment;

/// What is used of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Front {
    pub(super) title: Option<String>,
    pub(super) permalink: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) created: Option<Timestamp>,
    pub(super) modified: Option<Timestamp>,
}

/// Takes the YAML off a note; none if it has none.
pub(super) fn split(text: &str) -> (Option<&str>, &str) {
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else {
        return (None, text);
    };
    let mut end = first.len();
    for line in lines {
        let start = end;
        end += line.len();
        if line.trim_end() == "---" {
            return (Some(&text[first.len()..start]), &text[end..]);
        }
    }
    (None, text)
}

impl Front {
    /// Reads the YAML. A field that is missing, null or a mapping counts as not there.
    pub(super) fn parse(yaml: &str) -> Result<Self, String> {
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Written {
            title: Texts,
            permalink: Texts,
            tags: Texts,
            created: Texts,
            modified: Texts,
        }
        if yaml.trim().is_empty() {
            return Ok(Self::default());
        }
        // The parser's own message may quote the note.
        let written: Option<Written> = serde_saphyr::from_str(yaml)
            .map_err(|_| "what stands between its lines `---` is no YAML".to_owned())?;
        let written = written.unwrap_or_default();
        let one = |texts: Texts| {
            let text = texts.0.join(", ");
            (!text.trim().is_empty()).then(|| text.trim().to_owned())
        };
        let time = |texts: Texts, field: &str| {
            let text = one(texts);
            let moment = text.map(|text| {
                Moment::parse(&text).ok_or_else(|| format!("its `{field}` is no time"))
            });
            moment
                .transpose()
                .map(|moment| moment.map(|moment| moment.0))
        };
        let tags = written.tags.0.iter().flat_map(|tags| tags.split(','));
        Ok(Self {
            title: one(written.title),
            permalink: one(written.permalink),
            tags: tags.map(|tag| tag.trim().to_owned()).collect(),
            created: time(written.created, "created")?,
            modified: time(written.modified, "modified")?,
        })
    }
}

/// The scalars of a value, of whatever type YAML takes them for.
#[derive(Debug, Default)]
struct Texts(Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Scalars)
    }
}

struct Scalars;

impl Scalars {
    fn one(text: impl fmt::Display) -> Texts {
        Texts(vec![text.to_string()])
    }
}

impl<'de> Visitor<'de> for Scalars {
    type Value = Texts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or a list of values")
    }

    fn visit_str<E>(self, text: &str) -> Result<Texts, E> {
        Ok(Self::one(text))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Texts, E> {
        Ok(Self::one(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Texts, E> {
        Ok(Self::one(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Texts, E> {
        Ok(Self::one(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Texts, E> {
        Ok(Self::one(value))
    }

    fn visit_unit<E>(self) -> Result<Texts, E> {
        Ok(Texts::default())
    }

    fn visit_none<E>(self) -> Result<Texts, E> {
        Ok(Texts::default())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Texts, D::Error> {
        Texts::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Texts, A::Error> {
        let mut all = Texts::default();
        while let Some(Texts(texts)) = list.next_element()? {
            all.0.extend(texts);
        }
        Ok(all)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Texts, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Texts::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_is_taken_off_only_where_it_is_one() {
        assert_eq!(split("---\na: 1\n---\nb"), (Some("a: 1\n"), "b"));
        assert_eq!(split("---\r\na: 1\r\n---\r\n"), (Some("a: 1\r\n"), ""));
        for text in [
            "",
            "b",
            "---\nnever closed",
            "----\na\n----\n",
            "\n---\n---\n",
        ] {
            assert_eq!(split(text), (None, text));
        }
    }

    #[test]
    fn values_of_any_type_are_read_as_text() {
        let front = Front::parse(
            "title: 2025\npermalink: [a, b]\ntags:\n  - x\n  - 7\n  - y, z\ncreated: 2025-03-04\nmodified: \"2025-03-05T06:07:08Z\"\nother: {a: {b: c}}\n",
        );
        let time = |text: &str| Some(text.parse().unwrap());
        assert_eq!(
            front,
            Ok(Front {
                title: Some("2025".to_owned()),
                permalink: Some("a, b".to_owned()),
                tags: ["x", "7", "y", "z"].map(str::to_owned).to_vec(),
                created: time("2025-03-04T00:00:00Z"),
                modified: time("2025-03-05T06:07:08Z"),
            })
        );
        for nothing in [
            "",
            "\n",
            "# only a comment",
            "title:\ntags:\n",
            "title: {a: b}",
        ] {
            assert_eq!(Front::parse(nothing), Ok(Front::default()), "{nothing:?}");
        }
    }

    #[test]
    fn what_is_no_yaml_is_said_without_quoting_it() {
        for yaml in ["title: [a", "a: b: c", "- a list\n", "\t\tx", "a text"] {
            let why = Front::parse(yaml).unwrap_err();
            assert_eq!(
                why, "what stands between its lines `---` is no YAML",
                "{yaml}"
            );
        }
        let why = Front::parse("created: yesterday").unwrap_err();
        assert_eq!(why, "its `created` is no time");
    }

    #[test]
    fn aliases_do_not_multiply_without_bound() {
        let mut yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for n in 1..12 {
            let list = vec![format!("*a{}", n - 1); 10].join(", ");
            yaml.push_str(&format!("a{n}: &a{n} [{list}]\n"));
        }
        yaml.push_str("title: *a11\n");
        assert!(Front::parse(&yaml).is_err());
    }
}
