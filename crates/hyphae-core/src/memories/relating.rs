//! What agents say of memories: that they belong together, that they hold, which of two holds.

use std::collections::HashSet;

use super::{
    ATTEMPTS, Confirmed, Dispute, Memories, MemoryError, NewRelation, Related, Resolved, Voice,
    beside,
};
use crate::{
    audit::{Action, Via},
    cell::{Cell, CellType, Layer, Share, Status},
    conflict::{Conflict, ConflictKind, Verdict},
    ids::{CellId, ConflictId, CredentialId, EdgeId},
    ports::{Confirmation, Step},
    relation::{Relation, RelationKind},
    scope::Scope,
};

impl Memories {
    /// Links two memories. `contradicts` opens a conflict between them; `supersedes` puts the
    /// other one out of recall.
    ///
    /// # Errors
    /// [`MemoryError::NotFound`], [`MemoryError::Inactive`], [`MemoryError::SelfLink`],
    /// [`MemoryError::NoWeight`]; nothing is changed then.
    #[tracing::instrument(skip_all, fields(kind = %new.kind))]
    pub async fn link(
        &self,
        scope: &Scope,
        new: &NewRelation,
        via: &Via,
    ) -> Result<Related, MemoryError> {
        if new.from == new.to {
            return Err(MemoryError::SelfLink);
        }
        if new.weight.get() <= 0.0 {
            return Err(MemoryError::NoWeight);
        }
        let (reason, redactions) = beside("the reason", new.reason.as_deref())?;
        let _storing = self.storing.lock().await;
        for _ in 0..ATTEMPTS {
            let from = self.cell(scope, new.from).await?;
            let to = self.cell(scope, new.to).await?;
            let there = self.relation(scope, new.kind, from.id, to.id).await?;
            let superseded = new.kind == RelationKind::Supersedes && to.status == Status::Active;
            let mut steps = Vec::new();
            if there.is_none() {
                let relation = self.relation_of(scope, new, reason.clone());
                steps.push(Step::Relate(Box::new(relation)));
            }
            if new.kind == RelationKind::Contradicts {
                steps.push(self.open_conflict(scope, &from, &to, reason.clone())?);
            }
            if superseded {
                if from.status != Status::Active {
                    return Err(MemoryError::Inactive {
                        id: from.id,
                        status: from.status,
                    });
                }
                steps.push(self.set_status(&to, Status::Superseded, Some(from.id)));
            }
            if !steps.is_empty() {
                let mut write = self.write(Action::Link, via, steps);
                write.reason.clone_from(&reason);
                write.redactions = redactions;
                if !self.store.commit(scope, &write).await?.is_done() {
                    continue;
                }
            }
            // A relation that was retracted came back with its own id.
            let Some(kept) = self.relation(scope, new.kind, from.id, to.id).await? else {
                continue;
            };
            return Ok(Related {
                id: kept.id,
                created: there.is_none(),
                conflict: self.conflict_between(scope, from.id, to.id).await?,
                superseded,
            });
        }
        Err(MemoryError::Contended)
    }

    fn relation_of(&self, scope: &Scope, new: &NewRelation, reason: Option<String>) -> Relation {
        Relation {
            id: EdgeId::new(self.clock.new_id()),
            from: new.from,
            kind: new.kind,
            to: new.to,
            weight: new.weight,
            author: scope.credential,
            created_at: self.clock.now(),
            reason,
            active: true,
        }
    }

    fn open_conflict(
        &self,
        scope: &Scope,
        left: &Cell,
        right: &Cell,
        why: Option<String>,
    ) -> Result<Step, MemoryError> {
        for cell in [left, right] {
            if cell.status != Status::Active {
                return Err(MemoryError::Inactive {
                    id: cell.id,
                    status: cell.status,
                });
            }
        }
        Ok(Step::OpenConflict {
            conflict: Box::new(Conflict {
                id: ConflictId::new(self.clock.new_id()),
                left: left.id,
                right: right.id,
                kind: ConflictKind::Stated,
                why,
                opened_by: scope.credential,
                opened_at: self.clock.now(),
                resolution: None,
            }),
            diff: self.new_diff(),
        })
    }

    async fn relation(
        &self,
        scope: &Scope,
        kind: RelationKind,
        from: CellId,
        to: CellId,
    ) -> Result<Option<Relation>, MemoryError> {
        let relations = self.store.relations(scope, &[from], false).await?;
        Ok(relations
            .into_iter()
            .find(|relation| relation.kind == kind && relation.from == from && relation.to == to))
    }

    async fn conflict_between(
        &self,
        scope: &Scope,
        a: CellId,
        b: CellId,
    ) -> Result<Option<ConflictId>, MemoryError> {
        let open = self.store.open_conflicts(scope, &[a], None, 1000).await?;
        let between = open
            .into_iter()
            .find(|conflict| [(a, b), (b, a)].contains(&(conflict.left, conflict.right)));
        Ok(between.map(|conflict| conflict.id))
    }

    /// Says that memories are true. Each agent has one voice, the author none: what counts is
    /// that others found the same.
    ///
    /// # Errors
    /// [`MemoryError::LongText`] for the evidence, [`MemoryError::Store`].
    #[tracing::instrument(skip_all, fields(memories = ids.len()))]
    pub async fn confirm(
        &self,
        scope: &Scope,
        ids: &[CellId],
        evidence: Option<&str>,
        via: &Via,
    ) -> Result<Vec<Confirmed>, MemoryError> {
        let (evidence, redactions) = beside("the evidence", evidence)?;
        let _storing = self.storing.lock().await;
        for _ in 0..ATTEMPTS {
            let cells = self.store.cells(scope, ids).await?;
            let before = self.store.confirmations(scope, ids).await?;
            let active = cells.iter().filter(|cell| cell.status == Status::Active);
            let mut named = HashSet::new();
            let steps: Vec<Step> = active
                .filter(|cell| named.insert(cell.id))
                .map(|cell| Step::Confirm {
                    id: cell.id,
                    revision: cell.revision,
                    evidence: evidence.clone(),
                })
                .collect();
            if !steps.is_empty() {
                let mut write = self.write(Action::Confirm, via, steps);
                write.reason.clone_from(&evidence);
                write.redactions = redactions;
                if !self.store.commit(scope, &write).await?.is_done() {
                    continue;
                }
            }
            let cells = self.store.cells(scope, ids).await?;
            let after = self.store.confirmations(scope, ids).await?;
            let confirmed = ids.iter().map(|id| {
                let cell = cells.iter().find(|cell| cell.id == *id);
                confirmed(scope.credential, *id, cell, &before, &after)
            });
            return Ok(confirmed.collect());
        }
        Err(MemoryError::Contended)
    }

    /// Returns open conflicts, oldest first, with both of their sides.
    ///
    /// # Errors
    /// [`MemoryError::Store`].
    pub async fn conflicts(
        &self,
        scope: &Scope,
        about: &[CellId],
        after: Option<ConflictId>,
        limit: usize,
    ) -> Result<Vec<Dispute>, MemoryError> {
        let open = self
            .store
            .open_conflicts(scope, about, after, limit)
            .await?;
        self.disputes(scope, open).await
    }

    async fn disputes(
        &self,
        scope: &Scope,
        conflicts: Vec<Conflict>,
    ) -> Result<Vec<Dispute>, MemoryError> {
        let sides: Vec<CellId> = conflicts
            .iter()
            .flat_map(|conflict| [conflict.left, conflict.right])
            .collect();
        let cells = self.store.cells(scope, &sides).await?;
        let side = |id: CellId| cells.iter().find(|cell| cell.id == id).cloned();
        // A side may have gone since; its conflict went with it.
        let disputes = conflicts.into_iter().filter_map(|conflict| {
            Some(Dispute {
                left: side(conflict.left)?,
                right: side(conflict.right)?,
                conflict,
            })
        });
        Ok(disputes.collect())
    }

    /// Decides a conflict. A side that loses is superseded by the other; if neither holds, both
    /// are retracted; if both do, the link that says they contradict each other is.
    ///
    /// # Errors
    /// [`MemoryError::NotFound`], [`MemoryError::ConflictClosed`], [`MemoryError::NoReason`], or
    /// [`MemoryError::Inactive`] if the side that is to win takes no part in recall; nothing is
    /// changed then.
    #[tracing::instrument(skip_all, fields(conflict.id = %id, verdict = %verdict))]
    pub async fn resolve(
        &self,
        scope: &Scope,
        id: ConflictId,
        verdict: Verdict,
        reason: &str,
        via: &Via,
    ) -> Result<Resolved, MemoryError> {
        let (reason, redactions) = beside("the reason", Some(reason))?;
        let reason = reason.ok_or(MemoryError::NoReason)?;
        let _storing = self.storing.lock().await;
        for _ in 0..ATTEMPTS {
            let conflict = self.store.conflict(scope, id).await?;
            let conflict = conflict.ok_or_else(|| MemoryError::NotFound {
                what: "conflict",
                id: id.to_string(),
            })?;
            if conflict.resolution.is_some() {
                return Err(MemoryError::ConflictClosed { id });
            }
            let left = self.cell(scope, conflict.left).await?;
            let right = self.cell(scope, conflict.right).await?;
            let winner = match verdict {
                Verdict::Left => Some(&left),
                Verdict::Right => Some(&right),
                Verdict::Both | Verdict::Neither => None,
            };
            if let Some(winner) = winner.filter(|winner| winner.status != Status::Active) {
                return Err(MemoryError::Inactive {
                    id: winner.id,
                    status: winner.status,
                });
            }
            let diff = self.new_diff();
            let mut steps = vec![Step::CloseConflict {
                id,
                verdict,
                reason: reason.clone(),
                diff,
            }];
            let mut resolved = Resolved {
                verdict,
                superseded: Vec::new(),
                retracted: Vec::new(),
                diffs: vec![diff],
            };
            match verdict {
                Verdict::Left => {
                    let end = self.supersede(scope, &left, &right, &reason).await?;
                    steps.extend(end);
                }
                Verdict::Right => {
                    let end = self.supersede(scope, &right, &left, &reason).await?;
                    steps.extend(end);
                }
                Verdict::Both => steps.extend(self.reconcile(scope, &left, &right).await?),
                Verdict::Neither => {
                    let active = [&left, &right]
                        .into_iter()
                        .filter(|cell| cell.status == Status::Active);
                    steps.extend(active.map(|cell| self.set_status(cell, Status::Retracted, None)));
                }
            }
            for step in &steps {
                if let Step::Revise(revision) = step {
                    resolved.diffs.push(revision.diff);
                    match revision.cell.status {
                        Status::Superseded => resolved.superseded.push(revision.cell.id),
                        Status::Retracted => resolved.retracted.push(revision.cell.id),
                        Status::Active => {}
                    }
                }
            }
            let mut write = self.write(Action::Resolve, via, steps);
            write.reason = Some(reason.clone());
            write.redactions = redactions;
            if self.store.commit(scope, &write).await?.is_done() {
                return Ok(resolved);
            }
        }
        Err(MemoryError::Contended)
    }

    /// Returns the steps that put one memory in another's place.
    pub(super) async fn supersede(
        &self,
        scope: &Scope,
        winner: &Cell,
        loser: &Cell,
        reason: &str,
    ) -> Result<Vec<Step>, MemoryError> {
        let mut steps = Vec::new();
        let kind = RelationKind::Supersedes;
        if self
            .relation(scope, kind, winner.id, loser.id)
            .await?
            .is_none()
        {
            let new = NewRelation {
                from: winner.id,
                to: loser.id,
                kind,
                weight: Share::FULL,
                reason: None,
            };
            let relation = self.relation_of(scope, &new, Some(reason.to_owned()));
            steps.push(Step::Relate(Box::new(relation)));
        }
        if loser.status == Status::Active {
            steps.push(self.set_status(loser, Status::Superseded, Some(winner.id)));
        }
        Ok(steps)
    }

    async fn reconcile(
        &self,
        scope: &Scope,
        left: &Cell,
        right: &Cell,
    ) -> Result<Vec<Step>, MemoryError> {
        let mut steps = Vec::new();
        for (from, to) in [(left.id, right.id), (right.id, left.id)] {
            let kind = RelationKind::Contradicts;
            let relation = self.relation(scope, kind, from, to).await?;
            steps.extend(relation.map(|relation| Step::SetRelation {
                id: relation.id,
                active: false,
            }));
        }
        Ok(steps)
    }
}

fn confirmed(
    by: CredentialId,
    id: CellId,
    cell: Option<&Cell>,
    before: &[Confirmation],
    after: &[Confirmation],
) -> Confirmed {
    let Some(cell) = cell else {
        return Confirmed {
            id,
            outcome: Voice::Missing,
            layer: Layer::L0,
            voices: 0,
            needed: None,
            verified_at: None,
        };
    };
    let had = voices(cell, before).contains(&by);
    let outcome = if cell.status != Status::Active {
        Voice::Inactive
    } else if cell.author == by {
        Voice::Author
    } else if had {
        Voice::Repeated
    } else {
        Voice::Counted
    };
    Confirmed {
        id,
        outcome,
        layer: cell.layer,
        voices: u32::try_from(voices(cell, after).len()).unwrap_or(u32::MAX),
        needed: needed(cell),
        verified_at: cell.verified_at,
    }
}

/// Returns who confirmed what a cell says now, its author not counted.
fn voices(cell: &Cell, confirmations: &[Confirmation]) -> HashSet<CredentialId> {
    confirmations
        .iter()
        .filter(|confirmation| {
            confirmation.cell == cell.id
                && confirmation.revision >= cell.content_revision
                && confirmation.by != cell.author
        })
        .map(|confirmation| confirmation.by)
        .collect()
}

/// Returns how many voices lift a cell to the next layer: two to `L1`, three to `L2`, and only
/// what a project can build on rises.
fn needed(cell: &Cell) -> Option<u32> {
    use CellType::{Constraint, Decision, Lesson, Pattern};
    match (cell.layer, cell.cell_type) {
        (Layer::L0, Decision | Pattern | Constraint | Lesson) => Some(2),
        (Layer::L1, Decision | Constraint) => Some(3),
        _ => None,
    }
}
