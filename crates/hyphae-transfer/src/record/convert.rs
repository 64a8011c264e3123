//! Between lines and items; pure, and each pair is each other's inverse.

use std::{borrow::Cow, str::FromStr};

use hyphae_core::{
    audit::{AuditRow, Via},
    cell::{BadValue, Cell, Content, Origin, Share, Validity},
    conflict::{Conflict, ConflictKind, Resolution},
    diff::{Diff, DiffKind},
    ids::CellId,
    label::{Tag, Tags, Topic},
    ports::{ChosenModel, Confirmation, Gone, Item, KeptCell, KeptDiff, Link, Past, Sequence},
    recall::{Terms, Vector},
    relation::Relation,
    scope::Project,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize, de::IntoDeserializer};

use super::wire::{
    AuditLine, Bytes, CellLine, CellState, ConfirmationLine, ConflictLine, DiffLine, GoneState,
    IdentityLine, KeyLine, Kind, LinkLine, OriginState, PastLine, RelationLine, ResolutionState,
    Time, VectorState,
};
use crate::place::object;

pub(super) const fn kind(item: &Item) -> Kind {
    match item {
        Item::Identity { .. } => Kind::Identity,
        Item::Cell(_) => Kind::Cell,
        Item::Past(_) => Kind::Past,
        Item::Link { .. } => Kind::Link,
        Item::Relation(_) => Kind::Relation,
        Item::Conflict(_) => Kind::Conflict,
        Item::Confirmation(_) => Kind::Confirmation,
        Item::Key { .. } => Kind::Key,
        Item::Diff(_) => Kind::Diff,
        Item::Audit(_) => Kind::Audit,
    }
}

/// Writes an item as JSON, without a line end.
pub(super) fn to_json(item: &Item, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let kind = kind(item);
    match item {
        Item::Identity {
            id,
            name,
            created_at,
            revoked_at,
        } => put(
            out,
            &IdentityLine {
                kind,
                id: *id,
                name: name.into(),
                created_at: Time(*created_at),
                revoked_at: revoked_at.map(Time),
            },
        ),
        Item::Cell(kept) => put(out, &from_kept(kind, kept)),
        Item::Past(past) => put(
            out,
            &PastLine {
                kind,
                cell: from_cell(&past.cell),
                replaced_by: past.replaced_by,
                replaced_at: Time(past.replaced_at),
                reason: optional(past.reason.as_deref()),
            },
        ),
        Item::Link { from, link } => put(
            out,
            &LinkLine {
                kind,
                from: *from,
                to: link.to,
                weight: link.weight,
            },
        ),
        Item::Relation(relation) => put(
            out,
            &RelationLine {
                kind,
                id: relation.id,
                from: relation.from,
                relation: relation.kind.name().into(),
                to: relation.to,
                weight: relation.weight.get(),
                author: relation.author,
                created_at: Time(relation.created_at),
                reason: optional(relation.reason.as_deref()),
                active: relation.active,
            },
        ),
        Item::Conflict(conflict) => put(out, &from_conflict(kind, conflict)),
        Item::Confirmation(confirmation) => put(
            out,
            &ConfirmationLine {
                kind,
                cell: confirmation.cell,
                revision: confirmation.revision,
                by: confirmation.by,
                at: Time(confirmation.at),
                evidence: optional(confirmation.evidence.as_deref()),
            },
        ),
        Item::Key {
            credential,
            key,
            cell,
        } => put(
            out,
            &KeyLine {
                kind,
                credential: *credential,
                key: Bytes(key.to_vec()),
                cell: *cell,
            },
        ),
        Item::Diff(kept) => put(out, &from_diff(kind, kept)),
        Item::Audit(row) => put(out, &from_audit(kind, row)),
    }
}

/// Reads an item of a kind, or says why it is none.
pub(super) fn from_json(kind: Kind, json: &str) -> Result<Option<Item>, String> {
    Ok(Some(match kind {
        Kind::Identity => {
            let line: IdentityLine<'_> = object(json)?;
            Item::Identity {
                id: line.id,
                name: line.name.into_owned(),
                created_at: line.created_at.0,
                revoked_at: line.revoked_at.map(|time| time.0),
            }
        }
        Kind::Cell => Item::Cell(Box::new(to_kept(object(json)?)?)),
        Kind::Past => {
            let line: PastLine<'_> = object(json)?;
            Item::Past(Box::new(Past {
                cell: to_cell(&line.cell)?,
                replaced_by: line.replaced_by,
                replaced_at: line.replaced_at.0,
                reason: line.reason.map(Cow::into_owned),
            }))
        }
        Kind::Link => {
            let line: LinkLine = object(json)?;
            two(line.from, line.to)?;
            if !(line.weight > 0.0 && line.weight <= 1.0) {
                return Err(NO_WEIGHT.to_owned());
            }
            Item::Link {
                from: line.from,
                link: Link {
                    to: line.to,
                    weight: line.weight,
                },
            }
        }
        Kind::Relation => {
            let line: RelationLine<'_> = object(json)?;
            two(line.from, line.to)?;
            let weight = Share::new(line.weight).filter(|weight| weight.get() > 0.0);
            Item::Relation(Box::new(Relation {
                id: line.id,
                from: line.from,
                kind: named("relation", &line.relation)?,
                to: line.to,
                weight: weight.ok_or_else(|| NO_WEIGHT.to_owned())?,
                author: line.author,
                created_at: line.created_at.0,
                reason: line.reason.map(Cow::into_owned),
                active: line.active,
            }))
        }
        Kind::Conflict => Item::Conflict(Box::new(to_conflict(object(json)?)?)),
        Kind::Confirmation => {
            let line: ConfirmationLine<'_> = object(json)?;
            Item::Confirmation(Box::new(Confirmation {
                cell: line.cell,
                revision: revision(line.revision)?,
                by: line.by,
                at: line.at.0,
                evidence: line.evidence.map(Cow::into_owned),
            }))
        }
        Kind::Key => {
            let line: KeyLine = object(json)?;
            let key = line.key.0.try_into();
            Item::Key {
                credential: line.credential,
                key: key.map_err(|_| "`key` is no hash of 32 bytes".to_owned())?,
                cell: line.cell,
            }
        }
        Kind::Diff => Item::Diff(Box::new(to_diff(object(json)?)?)),
        Kind::Audit => Item::Audit(Box::new(to_audit(object(json)?)?)),
        Kind::End => return Ok(None),
    }))
}

fn put(out: &mut Vec<u8>, line: &impl Serialize) -> serde_json::Result<()> {
    serde_json::to_writer(out, line)
}

fn optional(text: Option<&str>) -> Option<Cow<'_, str>> {
    text.map(Cow::Borrowed)
}

/// Reads one of a list of names.
fn named<T: FromStr<Err = BadValue>>(field: &str, name: &str) -> Result<T, String> {
    name.parse().map_err(|error| fault(field, &error))
}

fn share(field: &str, number: f64) -> Result<Share, String> {
    Share::new(number).ok_or_else(|| format!("`{field}` is not from 0 to 1"))
}

const NO_WEIGHT: &str = "`weight` is not above 0 and at most 1";

/// Refuses a link or a conflict of a cell with itself.
fn two(one: CellId, other: CellId) -> Result<(), String> {
    if one == other {
        return Err("it has the same memory at both ends".to_owned());
    }
    Ok(())
}

fn revision(number: u32) -> Result<u32, String> {
    if number == 0 {
        return Err("a revision is at least 1".to_owned());
    }
    Ok(number)
}

fn fault(field: &str, error: &impl std::error::Error) -> String {
    format!("`{field}`: {error}")
}

fn from_kept(kind: Kind, kept: &KeptCell) -> CellLine<'_> {
    let content = kept.cell.content.as_str();
    CellLine {
        kind,
        cell: from_cell(&kept.cell),
        embedded_text: (kept.embedded_text != content).then(|| (&kept.embedded_text).into()),
        context: Bytes(kept.context.to_bytes()),
        vector: kept.vector.as_ref().map(|(model, vector)| {
            let numbers = vector.numbers.iter().map(|number| number.cast_unsigned());
            let scale = vector.scale.to_le_bytes();
            VectorState {
                model: (&model.id).into(),
                data: Bytes(scale.into_iter().chain(numbers).collect()),
            }
        }),
        last_access: Time(kept.last_access),
    }
}

fn to_kept(line: CellLine<'_>) -> Result<KeptCell, String> {
    let cell = to_cell(&line.cell)?;
    let context = Terms::from_bytes(&line.context.0);
    Ok(KeptCell {
        embedded_text: line
            .embedded_text
            .map_or_else(|| cell.content.as_str().to_owned(), Cow::into_owned),
        cell,
        context: context.ok_or_else(|| "`context` is no list of words".to_owned())?,
        vector: line.vector.map(to_vector).transpose()?,
        last_access: line.last_access.0,
    })
}

fn to_vector(state: VectorState<'_>) -> Result<(ChosenModel, Vector), String> {
    let split = state.data.0.split_first_chunk();
    let Some((scale, numbers)) = split.map(|(scale, rest)| (f32::from_le_bytes(*scale), rest))
    else {
        return Err("`vector` is no vector".to_owned());
    };
    if !scale.is_finite() || scale.is_sign_negative() || numbers.is_empty() {
        return Err("`vector` is no vector".to_owned());
    }
    let model = ChosenModel {
        id: state.model.into_owned(),
        dimension: numbers.len(),
    };
    let numbers = numbers.iter().map(|number| number.cast_signed()).collect();
    Ok((model, Vector { scale, numbers }))
}

fn from_cell(cell: &Cell) -> CellState<'_> {
    CellState {
        id: cell.id,
        content: cell.content.as_str().into(),
        cell_type: cell.cell_type.name().into(),
        salience: cell.salience.get(),
        confidence: cell.confidence.get(),
        author: cell.author,
        project: cell.project.as_str().into(),
        layer: cell.layer.name().into(),
        visibility: cell.visibility.name().into(),
        status: cell.status.name().into(),
        revision: cell.revision,
        content_revision: cell.content_revision,
        topic: optional(cell.topic.as_ref().map(Topic::as_str)),
        tags: cell.tags.iter().map(|tag| tag.as_str().into()).collect(),
        valid_from: cell.validity.from().map(Time),
        valid_until: cell.validity.until().map(Time),
        verified_at: cell.verified_at.map(Time),
        origin: OriginState {
            source: cell.origin.source.name().into(),
            session: cell.origin.session,
            position: cell.origin.position,
            said_at: cell.origin.said_at.map(Time),
        },
        created_at: Time(cell.created_at),
        updated_at: Time(cell.updated_at),
    }
}

fn to_cell(state: &CellState<'_>) -> Result<Cell, String> {
    let time = |time: Option<Time>| -> Option<Timestamp> { time.map(|time| time.0) };
    let topic = state.topic.as_deref().map(Topic::new).transpose();
    let tags: Result<Vec<Tag>, BadValue> = state.tags.iter().map(|tag| Tag::new(tag)).collect();
    let validity = Validity::new(time(state.valid_from), time(state.valid_until));
    if revision(state.content_revision)? > revision(state.revision)? {
        return Err("`content_revision` is above `revision`".to_owned());
    }
    Ok(Cell {
        id: state.id,
        content: Content::new(&state.content).map_err(|error| fault("content", &error))?,
        cell_type: named("type", &state.cell_type)?,
        salience: share("salience", state.salience)?,
        confidence: share("confidence", state.confidence)?,
        author: state.author,
        project: to_project(&state.project)?,
        layer: named("layer", &state.layer)?,
        visibility: named("visibility", &state.visibility)?,
        status: named("status", &state.status)?,
        revision: state.revision,
        content_revision: state.content_revision,
        topic: topic.map_err(|_| "`topic` is no topic".to_owned())?,
        tags: tags
            .and_then(Tags::new)
            .map_err(|_| "`tags` are not at most 16 tags".to_owned())?,
        validity: validity.ok_or_else(|| "`valid_from` is not before `valid_until`".to_owned())?,
        verified_at: time(state.verified_at),
        origin: Origin {
            source: named("source", &state.origin.source)?,
            session: state.origin.session,
            position: state.origin.position,
            said_at: time(state.origin.said_at),
        },
        created_at: state.created_at.0,
        updated_at: state.updated_at.0,
    })
}

/// Reads a project's name. Unlike [`Project::named`] it trims nothing and takes control
/// characters, because a directory may have any name.
fn to_project(name: &str) -> Result<Project, String> {
    if name.is_empty() || name.len() > Project::MAX_BYTES {
        return Err("`project` is no name of a project".to_owned());
    }
    let name: serde::de::value::StrDeserializer<'_, serde::de::value::Error> =
        name.into_deserializer();
    Project::deserialize(name).map_err(|error| fault("project", &error))
}

fn from_conflict(kind: Kind, conflict: &Conflict) -> ConflictLine<'_> {
    ConflictLine {
        kind,
        id: conflict.id,
        left: conflict.left,
        right: conflict.right,
        how: conflict.kind.name().into(),
        why: optional(conflict.why.as_deref()),
        opened_by: conflict.opened_by,
        opened_at: Time(conflict.opened_at),
        resolution: conflict
            .resolution
            .as_ref()
            .map(|resolution| ResolutionState {
                verdict: resolution.verdict.name().into(),
                reason: (&resolution.reason).into(),
                by: resolution.by,
                at: Time(resolution.at),
            }),
    }
}

fn to_conflict(line: ConflictLine<'_>) -> Result<Conflict, String> {
    two(line.left, line.right)?;
    let how = [ConflictKind::Stated, ConflictKind::Judged]
        .into_iter()
        .find(|kind| kind.name() == line.how);
    let resolution = line.resolution.map(|state| {
        Ok::<_, String>(Resolution {
            verdict: named("verdict", &state.verdict)?,
            reason: state.reason.into_owned(),
            by: state.by,
            at: state.at.0,
        })
    });
    Ok(Conflict {
        id: line.id,
        left: line.left,
        right: line.right,
        kind: how.ok_or_else(|| "`how` is neither stated nor judged".to_owned())?,
        why: line.why.map(Cow::into_owned),
        opened_by: line.opened_by,
        opened_at: line.opened_at.0,
        resolution: resolution.transpose()?,
    })
}

fn from_diff(kind: Kind, kept: &KeptDiff) -> DiffLine<'_> {
    let diff = &kept.diff;
    DiffLine {
        kind,
        id: diff.id,
        change: diff.kind.name().into(),
        cell: diff.cell,
        revision: diff.revision,
        other: diff.other,
        author: diff.author,
        cell_type: diff.cell_type.name().into(),
        salience: diff.salience.get(),
        at: Time(diff.at),
        visibility: kept.visibility.name().into(),
        gone: kept.gone.as_ref().map(|gone| GoneState {
            project: gone.project.as_str().into(),
            author: gone.author,
        }),
    }
}

fn to_diff(line: DiffLine<'_>) -> Result<KeptDiff, String> {
    let change = DiffKind::ALL
        .into_iter()
        .find(|kind| kind.name() == line.change);
    let gone = line.gone.map(|state| {
        Ok::<_, String>(Gone {
            project: to_project(&state.project)?,
            author: state.author,
        })
    });
    Ok(KeptDiff {
        diff: Diff {
            id: line.id,
            sequence: Sequence::default(),
            kind: change.ok_or_else(|| "`change` is no kind of diff".to_owned())?,
            cell: line.cell,
            revision: revision(line.revision)?,
            other: line.other,
            author: line.author,
            cell_type: named("cell_type", &line.cell_type)?,
            salience: share("salience", line.salience)?,
            at: line.at.0,
        },
        visibility: named("visibility", &line.visibility)?,
        gone: gone.transpose()?,
    })
}

fn from_audit(kind: Kind, row: &AuditRow) -> AuditLine<'_> {
    AuditLine {
        kind,
        id: row.id,
        at: Time(row.at),
        action: row.action.name().into(),
        credential: row.credential,
        session: row.via.session,
        client: optional(row.via.client.as_deref()),
        project: row.project.as_str().into(),
        subjects: row.subjects.clone(),
        diffs: row.diffs.clone(),
        reason: optional(row.reason.as_deref()),
        redactions: row.redactions,
    }
}

fn to_audit(line: AuditLine<'_>) -> Result<AuditRow, String> {
    Ok(AuditRow {
        id: line.id,
        at: line.at.0,
        action: named("action", &line.action)?,
        credential: line.credential,
        via: Via {
            session: line.session,
            client: line.client.map(Cow::into_owned),
        },
        project: to_project(&line.project)?,
        subjects: line.subjects,
        diffs: line.diffs,
        reason: line.reason.map(Cow::into_owned),
        redactions: line.redactions,
    })
}
