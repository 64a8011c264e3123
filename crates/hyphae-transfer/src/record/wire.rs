//! The lines as they are written: names, order and form of every field.

use std::{borrow::Cow, fmt};

use data_encoding::BASE64;
use hyphae_core::ids::{AuditId, CellId, ConflictId, CredentialId, DiffId, EdgeId, SessionId};
use jiff::{Timestamp, fmt::temporal::DateTimePrinter};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, MapAccess},
    ser::SerializeMap,
};
use uuid::Uuid;

use crate::place::to_microsecond;

/// The kinds of lines, in the order in which a store gives items out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Identity,
    Cell,
    Past,
    Link,
    Relation,
    Conflict,
    Confirmation,
    Key,
    Diff,
    Audit,
    End,
}

impl Kind {
    /// The kinds of items.
    pub(super) const ITEMS: [Self; 10] = [
        Self::Identity,
        Self::Cell,
        Self::Past,
        Self::Link,
        Self::Relation,
        Self::Conflict,
        Self::Confirmation,
        Self::Key,
        Self::Diff,
        Self::Audit,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Cell => "cell",
            Self::Past => "past",
            Self::Link => "link",
            Self::Relation => "relation",
            Self::Conflict => "conflict",
            Self::Confirmation => "confirmation",
            Self::Key => "key",
            Self::Diff => "diff",
            Self::Audit => "audit",
            Self::End => "end",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        let mut all = Self::ITEMS.into_iter().chain([Self::End]);
        all.find(|kind| kind.name() == name)
    }
}

/// All that is read of a line before its kind is known.
#[derive(Debug, Deserialize)]
pub(super) struct Probe<'a> {
    #[serde(borrow)]
    pub(super) kind: Cow<'a, str>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HeaderLine<'a> {
    #[serde(borrow)]
    pub(super) hyphae: Cow<'a, str>,
    pub(super) version: u32,
    #[serde(borrow)]
    pub(super) program: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<Model<'a>>,
}

/// All that is read of a header before its version is known.
#[derive(Debug, Deserialize)]
pub(super) struct HeaderProbe<'a> {
    #[serde(borrow)]
    pub(super) hyphae: Cow<'a, str>,
    pub(super) version: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Model<'a> {
    #[serde(borrow)]
    pub(super) id: Cow<'a, str>,
    pub(super) dimension: usize,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EndLine {
    pub(super) kind: Kind,
    pub(super) items: Counts,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IdentityLine<'a> {
    pub(super) kind: Kind,
    pub(super) id: CredentialId,
    #[serde(borrow)]
    pub(super) name: Cow<'a, str>,
    pub(super) created_at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) revoked_at: Option<Time>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CellLine<'a> {
    pub(super) kind: Kind,
    #[serde(borrow)]
    pub(super) cell: CellState<'a>,
    /// Left out if it is the content.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) embedded_text: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Bytes::is_empty")]
    pub(super) context: Bytes,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) vector: Option<VectorState<'a>>,
    pub(super) last_access: Time,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CellState<'a> {
    pub(super) id: CellId,
    #[serde(borrow)]
    pub(super) content: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    pub(super) cell_type: Cow<'a, str>,
    pub(super) salience: f64,
    pub(super) confidence: f64,
    pub(super) author: CredentialId,
    #[serde(borrow)]
    pub(super) project: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) layer: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) visibility: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) status: Cow<'a, str>,
    pub(super) revision: u32,
    pub(super) content_revision: u32,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) topic: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub(super) tags: Vec<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) valid_from: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) valid_until: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) verified_at: Option<Time>,
    #[serde(borrow)]
    pub(super) origin: OriginState<'a>,
    pub(super) created_at: Time,
    pub(super) updated_at: Time,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OriginState<'a> {
    #[serde(borrow)]
    pub(super) source: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<SessionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) position: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) said_at: Option<Time>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VectorState<'a> {
    #[serde(borrow)]
    pub(super) model: Cow<'a, str>,
    pub(super) data: Bytes,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PastLine<'a> {
    pub(super) kind: Kind,
    #[serde(borrow)]
    pub(super) cell: CellState<'a>,
    pub(super) replaced_by: CredentialId,
    pub(super) replaced_at: Time,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<Cow<'a, str>>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkLine {
    pub(super) kind: Kind,
    pub(super) from: CellId,
    pub(super) to: CellId,
    pub(super) weight: f32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RelationLine<'a> {
    pub(super) kind: Kind,
    pub(super) id: EdgeId,
    pub(super) from: CellId,
    #[serde(borrow)]
    pub(super) relation: Cow<'a, str>,
    pub(super) to: CellId,
    pub(super) weight: f64,
    pub(super) author: CredentialId,
    pub(super) created_at: Time,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<Cow<'a, str>>,
    pub(super) active: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConflictLine<'a> {
    pub(super) kind: Kind,
    pub(super) id: ConflictId,
    pub(super) left: CellId,
    pub(super) right: CellId,
    #[serde(borrow)]
    pub(super) how: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) why: Option<Cow<'a, str>>,
    pub(super) opened_by: CredentialId,
    pub(super) opened_at: Time,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) resolution: Option<ResolutionState<'a>>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResolutionState<'a> {
    #[serde(borrow)]
    pub(super) verdict: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) reason: Cow<'a, str>,
    pub(super) by: CredentialId,
    pub(super) at: Time,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConfirmationLine<'a> {
    pub(super) kind: Kind,
    pub(super) cell: CellId,
    pub(super) revision: u32,
    pub(super) by: CredentialId,
    pub(super) at: Time,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) evidence: Option<Cow<'a, str>>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeyLine {
    pub(super) kind: Kind,
    pub(super) credential: CredentialId,
    pub(super) key: Bytes,
    pub(super) cell: CellId,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DiffLine<'a> {
    pub(super) kind: Kind,
    pub(super) id: DiffId,
    #[serde(borrow)]
    pub(super) change: Cow<'a, str>,
    pub(super) cell: CellId,
    pub(super) revision: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) other: Option<CellId>,
    pub(super) author: CredentialId,
    #[serde(borrow)]
    pub(super) cell_type: Cow<'a, str>,
    pub(super) salience: f64,
    pub(super) at: Time,
    #[serde(borrow)]
    pub(super) visibility: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) gone: Option<GoneState<'a>>,
}

/// Of a cell that was erased.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GoneState<'a> {
    #[serde(borrow)]
    pub(super) project: Cow<'a, str>,
    pub(super) author: CredentialId,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditLine<'a> {
    pub(super) kind: Kind,
    pub(super) id: AuditId,
    pub(super) at: Time,
    #[serde(borrow)]
    pub(super) action: Cow<'a, str>,
    pub(super) credential: CredentialId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<SessionId>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) client: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) project: Cow<'a, str>,
    pub(super) subjects: Vec<Uuid>,
    pub(super) diffs: Vec<DiffId>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<Cow<'a, str>>,
    pub(super) redactions: u32,
}

/// A moment, to the microsecond; what is finer is dropped.
#[derive(Debug, Clone, Copy)]
pub(super) struct Time(pub(super) Timestamp);

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(6));
        serializer.collect_str(&PRINTER.timestamp_to_string(&self.0))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Timestamp::deserialize(deserializer).map(|time| Self(to_microsecond(time)))
    }
}

/// Bytes, as base64.
#[derive(Debug, Default)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Bytes {
    const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&BASE64.encode_display(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <Cow<'de, str>>::deserialize(deserializer)?;
        let bytes = BASE64.decode(text.as_bytes());
        bytes
            .map(Self)
            .map_err(|_| de::Error::custom("bytes that are no base64"))
    }
}

/// How many items of each kind there are; what is not there is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counts([u64; Kind::ITEMS.len()]);

impl Counts {
    pub(super) const fn of(&self, kind: Kind) -> u64 {
        if matches!(kind, Kind::End) {
            0
        } else {
            self.0[kind as usize]
        }
    }

    pub(super) const fn add(&mut self, kind: Kind) {
        if !matches!(kind, Kind::End) {
            self.0[kind as usize] += 1;
        }
    }
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for kind in Kind::ITEMS {
            if self.of(kind) > 0 {
                map.serialize_entry(kind.name(), &self.of(kind))?;
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Counts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number for each kind of item")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Counts, A::Error> {
                let mut counts = Counts::default();
                while let Some((kind, count)) = map.next_entry::<Kind, u64>()? {
                    if kind == Kind::End {
                        return Err(de::Error::custom("an `end` is no item"));
                    }
                    counts.0[kind as usize] = count;
                }
                Ok(counts)
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}
