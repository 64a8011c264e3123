//! How memories and links are taken back, brought back, or removed for good.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use uuid::Uuid;

use super::{
    ATTEMPTS, ForgetOutcome, ForgetRequest, Forgettable, Forgetting, Forgotten, ForgottenItem,
    Memories, MemoryError, Target, beside,
};
use crate::{
    audit::{Action, Via},
    cell::{Cell, Status, Visibility},
    diff::DiffKind,
    ids::CellId,
    ports::{Committed, Revision, Step},
    recall::{self, Distance, Filter, Query, When},
    relation::{Relation, RelationKind},
    scope::Scope,
};

/// Erasures that were shown and may be confirmed, newest last.
#[derive(Debug, Default)]
pub(super) struct Previews(Mutex<Vec<Preview>>);

#[derive(Debug, PartialEq, Eq)]
struct Preview {
    token: Uuid,
    until: Timestamp,
    scope: Scope,
    /// What was shown: each target with its revision, sorted.
    shown: Vec<(Target, u32)>,
}

impl Previews {
    /// More are never waited for; the oldest goes.
    const MAX: usize = 64;
    /// How long an erasure may be confirmed.
    const LIFETIME: Duration = Duration::from_secs(600);

    fn add(&self, preview: Preview) {
        let mut previews = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if previews.len() >= Self::MAX {
            previews.remove(0);
        }
        previews.push(preview);
    }

    /// Takes the preview with this token that shows just this.
    fn take(&self, token: &str, scope: &Scope, shown: &[(Target, u32)], now: Timestamp) -> bool {
        let Ok(token) = Uuid::parse_str(token.trim()) else {
            return false;
        };
        let mut previews = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        previews.retain(|preview| now < preview.until);
        let found = previews.iter().position(|preview| {
            preview.token == token && preview.scope == *scope && preview.shown == shown
        });
        found.map(|at| previews.remove(at)).is_some()
    }
}

/// What is asked for, with what it is now.
struct Asked {
    items: Vec<ForgottenItem>,
    mode: Forgetting,
}

impl Memories {
    /// Shows what forgetting would do, or does it.
    ///
    /// An erasure is done only with the token of a preview of the same targets in the same
    /// state, at most ten minutes old, from this process.
    ///
    /// # Errors
    /// [`MemoryError::NotPreviewed`] for an erasure of anything without such a token; nothing is
    /// changed then.
    #[tracing::instrument(skip_all, fields(mode = request.mode.name(), request.apply))]
    pub async fn forget(
        &self,
        scope: &Scope,
        request: &ForgetRequest,
        via: &Via,
    ) -> Result<Forgotten, MemoryError> {
        let (reason, redactions) = beside("the reason", request.reason.as_deref())?;
        let _storing = self.storing.lock().await;
        let mut confirmed = false;
        for _ in 0..ATTEMPTS {
            let mut asked = self.asked(scope, &request.targets, request.mode).await?;
            if request.mode == Forgetting::Restore {
                self.mark_taken(scope, &mut asked).await?;
            }
            if !request.apply {
                let token = self.preview(scope, &asked);
                return Ok(Forgotten {
                    applied: false,
                    items: asked.items,
                    token,
                });
            }
            let erases = request.mode == Forgetting::Erase && asked.will_change();
            if erases && !confirmed {
                let now = self.clock.now();
                let shown = asked.shown();
                confirmed = (request.token.as_deref())
                    .is_some_and(|token| self.previews.take(token, scope, &shown, now));
                if !confirmed {
                    return Err(MemoryError::NotPreviewed);
                }
            }
            let steps = self.steps_of(scope, &asked).await?;
            if steps.is_empty() {
                return Ok(asked.applied());
            }
            let action = match request.mode {
                Forgetting::Retract => Action::Retract,
                Forgetting::Erase => Action::Erase,
                Forgetting::Restore => Action::Restore,
            };
            let mut write = self.write(action, via, steps);
            write.reason.clone_from(&reason);
            write.redactions = redactions;
            let done = self.store.commit(scope, &write).await?;
            if done.is_done() {
                return Ok(asked.applied());
            }
            if let Committed::Same(id) | Committed::TopicTaken(id) = done {
                return Err(MemoryError::Duplicate { id });
            }
            if request.mode == Forgetting::Erase {
                // What was confirmed is no longer what there is.
                return Err(MemoryError::NotPreviewed);
            }
        }
        Err(MemoryError::Contended)
    }

    fn preview(&self, scope: &Scope, asked: &Asked) -> Option<String> {
        if asked.mode != Forgetting::Erase || !asked.will_change() {
            return None;
        }
        let now = self.clock.now();
        let token = self.clock.new_id();
        self.previews.add(Preview {
            token,
            until: now + Previews::LIFETIME,
            scope: scope.clone(),
            shown: asked.shown(),
        });
        Some(token.to_string())
    }

    async fn asked(
        &self,
        scope: &Scope,
        targets: &[Target],
        mode: Forgetting,
    ) -> Result<Asked, MemoryError> {
        let mut unique: Vec<Target> = Vec::with_capacity(targets.len());
        for target in targets {
            if !unique.contains(target) {
                unique.push(*target);
            }
        }
        let cells: Vec<CellId> = unique
            .iter()
            .filter_map(|target| match target {
                Target::Cell(id) => Some(*id),
                Target::Relation(_) => None,
            })
            .collect();
        let edges: Vec<_> = unique
            .iter()
            .filter_map(|target| match target {
                Target::Relation(id) => Some(*id),
                Target::Cell(_) => None,
            })
            .collect();
        let cells = self.store.cells(scope, &cells).await?;
        let mut cells: HashMap<CellId, Cell> =
            cells.into_iter().map(|cell| (cell.id, cell)).collect();
        let relations = self.store.relations_by_id(scope, &edges).await?;
        let items = unique.into_iter().map(|target| {
            let what = match target {
                Target::Cell(id) => cells
                    .remove(&id)
                    .map(|cell| Forgettable::Cell(Box::new(cell))),
                Target::Relation(id) => relations
                    .iter()
                    .find(|relation| relation.id == id)
                    .cloned()
                    .map(Forgettable::Relation),
            };
            let outcome = what
                .as_ref()
                .map_or(ForgetOutcome::Missing, |what| outcome(what, mode));
            ForgottenItem {
                target,
                outcome,
                what,
            }
        });
        Ok(Asked {
            items: items.collect(),
            mode,
        })
    }

    /// Marks what cannot be brought back because another memory has its place by now.
    async fn mark_taken(&self, scope: &Scope, asked: &mut Asked) -> Result<(), MemoryError> {
        for item in asked.items.iter_mut().filter(|item| item.will_change()) {
            if let Some(Forgettable::Cell(cell)) = &item.what
                && let Some(by) = self.in_the_place_of(scope, cell).await?
            {
                item.outcome = ForgetOutcome::Taken(by);
            }
        }
        Ok(())
    }

    /// Returns the active memory that says the same to the same people, or stands for the same
    /// topic.
    async fn in_the_place_of(
        &self,
        scope: &Scope,
        cell: &Cell,
    ) -> Result<Option<CellId>, MemoryError> {
        /// More than ever have one text: one a type, a visibility and an author.
        const TWINS: usize = 64;
        if let Some(topic) = &cell.topic {
            let holder = self.store.cell_of_topic(scope, topic, cell.visibility);
            if let Some(holder) = holder.await?.filter(|holder| holder.id != cell.id) {
                return Ok(Some(holder.id));
            }
        }
        let index = self.fresh_index(scope).await?;
        let hits = index.lock().await.search(
            &Query {
                vector: None,
                terms: &recall::terms_of(cell.content.as_str()),
                fingerprint: cell.content.fingerprint(),
                filter: &Filter::at(When::Ever),
                k: TWINS,
            },
            &self.scoring,
        );
        let same: Vec<CellId> = hits
            .iter()
            .filter(|hit| hit.distance == Distance::IDENTICAL)
            .map(|hit| hit.id)
            .collect();
        let twins = self.store.cells(scope, &same).await?;
        let place = |cell: &Cell| {
            let to = (cell.visibility == Visibility::Private).then_some(cell.author);
            let kind = (cell.cell_type, cell.layer, cell.visibility, to);
            (cell.project.clone(), kind, cell.content.fingerprint())
        };
        let twin = twins.iter().find(|twin| {
            twin.id != cell.id && twin.status == Status::Active && place(twin) == place(cell)
        });
        Ok(twin.map(|twin| twin.id))
    }

    async fn steps_of(&self, scope: &Scope, asked: &Asked) -> Result<Vec<Step>, MemoryError> {
        let (mut steps, mut of_cells) = (Vec::new(), Vec::new());
        for item in asked.items.iter().filter(|item| item.will_change()) {
            match &item.what {
                Some(Forgettable::Cell(cell)) => match asked.mode {
                    Forgetting::Erase => of_cells.push(Step::Erase {
                        id: cell.id,
                        revision: cell.revision,
                        diff: self.new_diff(),
                    }),
                    Forgetting::Retract => {
                        of_cells.push(self.set_status(cell, Status::Retracted, None));
                    }
                    Forgetting::Restore => {
                        of_cells.extend(self.unsupersede(scope, cell).await?);
                        of_cells.push(self.set_status(cell, Status::Active, None));
                    }
                },
                Some(Forgettable::Relation(relation)) => steps.push(match asked.mode {
                    Forgetting::Erase => Step::EraseRelation { id: relation.id },
                    Forgetting::Retract => Step::SetRelation {
                        id: relation.id,
                        active: false,
                    },
                    Forgetting::Restore => Step::SetRelation {
                        id: relation.id,
                        active: true,
                    },
                }),
                None => {}
            }
        }
        // A memory that is erased takes its links with it, so those come first.
        steps.extend(of_cells);
        Ok(steps)
    }

    /// A memory that is active again is superseded by none.
    async fn unsupersede(&self, scope: &Scope, cell: &Cell) -> Result<Vec<Step>, MemoryError> {
        let relations = self.store.relations(scope, &[cell.id], false).await?;
        let superseding = relations
            .into_iter()
            .filter(|relation| relation.kind == RelationKind::Supersedes && relation.to == cell.id);
        let steps = superseding.map(|relation| Step::SetRelation {
            id: relation.id,
            active: false,
        });
        Ok(steps.collect())
    }

    /// Returns the step that gives a cell another status.
    pub(super) fn set_status(&self, cell: &Cell, status: Status, other: Option<CellId>) -> Step {
        let kind = match status {
            Status::Active => DiffKind::Restored,
            Status::Superseded => DiffKind::Superseded,
            Status::Retracted => DiffKind::Retracted,
        };
        Step::Revise(Box::new(Revision {
            cell: Cell {
                status,
                revision: cell.revision.saturating_add(1),
                updated_at: cell.updated_at.max(self.clock.now()),
                ..cell.clone()
            },
            derived: None,
            kind,
            other,
            diff: self.new_diff(),
        }))
    }
}

impl Asked {
    fn will_change(&self) -> bool {
        self.items.iter().any(ForgottenItem::will_change)
    }

    /// What is shown of it, for comparing a confirmation with its preview.
    fn shown(&self) -> Vec<(Target, u32)> {
        let mut shown: Vec<(Target, u32)> = self
            .items
            .iter()
            .map(|item| (item.target, revision(item.what.as_ref())))
            .collect();
        shown.sort_unstable();
        shown
    }

    fn applied(self) -> Forgotten {
        Forgotten {
            applied: true,
            items: self.items,
            token: None,
        }
    }
}

impl ForgottenItem {
    fn will_change(&self) -> bool {
        matches!(self.outcome, ForgetOutcome::Done(_))
    }
}

fn revision(what: Option<&Forgettable>) -> u32 {
    match what {
        Some(Forgettable::Cell(cell)) => cell.revision,
        Some(Forgettable::Relation(relation)) => u32::from(relation.active),
        None => 0,
    }
}

fn outcome(what: &Forgettable, mode: Forgetting) -> ForgetOutcome {
    let status = match what {
        Forgettable::Cell(cell) => cell.status,
        Forgettable::Relation(Relation { active: true, .. }) => Status::Active,
        Forgettable::Relation(_) => Status::Retracted,
    };
    match (mode, status) {
        (Forgetting::Retract, Status::Retracted) | (Forgetting::Restore, Status::Active) => {
            ForgetOutcome::Already(status)
        }
        (mode, _) => ForgetOutcome::Done(mode),
    }
}
