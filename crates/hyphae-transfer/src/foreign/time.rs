//! Times as other programs write them.

use jiff::{Timestamp, civil, tz::TimeZone};
use serde::{Deserialize, Deserializer, de};

use crate::place::to_microsecond;

/// A moment. One without a zone is taken as UTC, a day as its beginning, a number as seconds
/// since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment(pub(super) Timestamp);

impl Moment {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let in_utc = |time: civil::DateTime| TimeZone::UTC.to_timestamp(time).ok();
        text.parse()
            .ok()
            .or_else(|| text.parse().ok().and_then(in_utc))
            .or_else(|| {
                text.parse()
                    .ok()
                    .and_then(|day: civil::Date| in_utc(day.into()))
            })
            .map(|time| Self(to_microsecond(time)))
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Seconds(i64),
            Text(String),
        }
        let moment = match Written::deserialize(deserializer) {
            Ok(Written::Seconds(seconds)) => Timestamp::from_second(seconds).ok().map(Self),
            Ok(Written::Text(text)) => Self::parse(&text),
            Err(_) => None,
        };
        moment.ok_or_else(|| de::Error::custom("a time that is none"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        let check = |json: &str, want: &str| {
            let moment: Moment = serde_json::from_str(json).unwrap();
            assert_eq!(moment.0.to_string(), want, "{json}");
        };
        check(
            "\"2025-03-04T05:06:07.123456789Z\"",
            "2025-03-04T05:06:07.123456Z",
        );
        check("\"2025-03-04T05:06:07-07:00\"", "2025-03-04T12:06:07Z");
        check("\"2025-03-04T05:06:07\"", "2025-03-04T05:06:07Z");
        check("\"2025-03-04 05:06:07\"", "2025-03-04T05:06:07Z");
        check("\"2025-03-04\"", "2025-03-04T00:00:00Z");
        check("1741064767", "2025-03-04T05:06:07Z");
    }

    #[test]
    fn what_is_no_time_is_refused_without_quoting_it() {
        for json in [
            "\"yesterday\"",
            "\"\"",
            "true",
            "{}",
            "1e300",
            "9223372036854775807",
        ] {
            let error = serde_json::from_str::<Moment>(json).unwrap_err();
            assert!(
                error.to_string().starts_with("a time that is none"),
                "{error}"
            );
        }
    }
}
