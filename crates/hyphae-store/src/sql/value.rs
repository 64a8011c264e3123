//! Values of parameters.

use std::borrow::Cow;

use sqlx::{Arguments as _, error::BoxDynError, sqlite::SqliteArguments};
use uuid::Uuid;

/// A value of a parameter.
#[derive(Debug, Clone)]
pub(crate) enum Value<'q> {
    Int(Option<i64>),
    Real(f64),
    Bool(bool),
    Text(Option<Cow<'q, str>>),
    Bytes(Option<Cow<'q, [u8]>>),
    Id(Option<Uuid>),
    /// Rows of one column, see [`super::each`].
    Ids(Vec<Uuid>),
    /// The same of texts.
    Names(Vec<String>),
}

impl Value<'_> {
    /// Copies what is borrowed.
    pub(crate) fn into_owned(self) -> Value<'static> {
        match self {
            Self::Int(number) => Value::Int(number),
            Self::Real(number) => Value::Real(number),
            Self::Bool(yes) => Value::Bool(yes),
            Self::Text(text) => Value::Text(text.map(|text| Cow::Owned(text.into_owned()))),
            Self::Bytes(bytes) => Value::Bytes(bytes.map(|bytes| Cow::Owned(bytes.into_owned()))),
            Self::Id(id) => Value::Id(id),
            Self::Ids(ids) => Value::Ids(ids),
            Self::Names(names) => Value::Names(names),
        }
    }

    /// Adds the value to a statement's for SQLite, which knows no lists but as JSON.
    pub(crate) fn add_to(self, arguments: &mut SqliteArguments) -> Result<(), BoxDynError> {
        match self {
            Self::Int(number) => arguments.add(number),
            Self::Real(number) => arguments.add(number),
            Self::Bool(yes) => arguments.add(yes),
            Self::Text(text) => arguments.add(text.map(Cow::into_owned)),
            Self::Bytes(bytes) => arguments.add(bytes.map(Cow::into_owned)),
            Self::Id(id) => arguments.add(id.map(|id| id.into_bytes().to_vec())),
            Self::Ids(ids) => arguments.add(ids_as_json(&ids)),
            Self::Names(names) => arguments.add(serde_json::to_string(&names)?),
        }
    }
}

/// Returns ids as a JSON array of hexadecimal texts.
fn ids_as_json(ids: &[Uuid]) -> String {
    let mut json = String::with_capacity(2 + 35 * ids.len());
    json.push('[');
    let mut buffer = Uuid::encode_buffer();
    for (index, id) in ids.iter().enumerate() {
        // Nothing in it needs escaping.
        json.push_str(if index == 0 { "\"" } else { ",\"" });
        json.push_str(id.as_simple().encode_lower(&mut buffer));
        json.push('"');
    }
    json.push(']');
    json
}

macro_rules! values {
    ($($from:ty => |$value:pat_param| $made:expr;)*) => {$(
        impl<'q> From<$from> for Value<'q> {
            fn from($value: $from) -> Self {
                $made
            }
        }
    )*};
}

values! {
    i64 => |number| Self::Int(Some(number));
    Option<i64> => |number| Self::Int(number);
    f64 => |number| Self::Real(number);
    bool => |yes| Self::Bool(yes);
    &'q str => |text| Self::Text(Some(Cow::Borrowed(text)));
    Option<&'q str> => |text| Self::Text(text.map(Cow::Borrowed));
    String => |text| Self::Text(Some(Cow::Owned(text)));
    Option<String> => |text| Self::Text(text.map(Cow::Owned));
    &'q [u8] => |bytes| Self::Bytes(Some(Cow::Borrowed(bytes)));
    Option<&'q [u8]> => |bytes| Self::Bytes(bytes.map(Cow::Borrowed));
    Vec<u8> => |bytes| Self::Bytes(Some(Cow::Owned(bytes)));
    Option<Vec<u8>> => |bytes| Self::Bytes(bytes.map(Cow::Owned));
    Uuid => |id| Self::Id(Some(id));
    Option<Uuid> => |id| Self::Id(id);
    Vec<Uuid> => |ids| Self::Ids(ids);
    Vec<String> => |names| Self::Names(names);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_a_json_array() {
        let id = Uuid::from_u128(0x1f);
        let one = "0000000000000000000000000000001f";
        assert_eq!(ids_as_json(&[]), "[]");
        assert_eq!(ids_as_json(&[id]), format!("[\"{one}\"]"));
        assert_eq!(ids_as_json(&[id, id]), format!("[\"{one}\",\"{one}\"]"));
    }
}
