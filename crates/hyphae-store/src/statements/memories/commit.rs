//! Carries out a write: its steps in their order, then its audit row.

use hyphae_core::{
    ids::{CellId, DiffId},
    ports::{Committed, Derived, Sequence, Step, Write},
    scope::Scope,
};
use uuid::Uuid;

use super::{audit, conflicts, edges, erase, insert, relations, revise, voices};
use crate::{
    error::Fault,
    sql::{Connection, sql},
    statements::{
        models::{check_dimension, give_back, take_turns},
        scope::scoped,
    },
    store::Verdict,
};

/// What a step has come to; what stops one stops the write.
pub(super) type Stop = Option<Committed>;

/// What is known of a write while its steps are carried out.
#[derive(Debug)]
pub(super) struct Ledger {
    next: i64,
    /// The number of the model of all vectors of this write; 0 if it brings none.
    pub(super) model: i64,
    /// What it touched, for the audit.
    pub(super) subjects: Vec<Uuid>,
    /// The diffs it wrote.
    pub(super) diffs: Vec<DiffId>,
    /// The cells that it erased.
    pub(super) erased: Vec<CellId>,
}

impl Ledger {
    /// Returns the next place in the order of changes.
    pub(super) fn take_turn(&mut self) -> i64 {
        self.next += 1;
        self.next - 1
    }

    /// Notes what is touched, once.
    pub(super) fn touch<const N: usize>(&mut self, ids: [Uuid; N]) {
        for id in ids {
            if !self.subjects.contains(&id) {
                self.subjects.push(id);
            }
        }
    }
}

pub(crate) async fn commit(
    connection: &mut Connection,
    scope: &Scope,
    write: &Write,
) -> Result<Verdict<Committed>, Fault> {
    check(scope, write)?;
    let places = write.steps.iter().filter(|step| takes_turn(step)).count();
    let mut turns = take_turns(connection, scope.tenant, places).await?;
    let mut model = 0;
    for derived in write.steps.iter().filter_map(derived_of) {
        let tenant = scope.tenant;
        model = turns.model(connection, tenant, &derived.model).await?;
    }
    ensure_project(connection, scope).await?;
    let mut ledger = Ledger {
        next: turns.first,
        model,
        subjects: Vec::new(),
        diffs: Vec::new(),
        erased: Vec::new(),
    };
    for step in &write.steps {
        let stop = Box::pin(carry_out(connection, scope, write, step, &mut ledger)).await?;
        if let Some(stop) = stop {
            return Ok(Verdict::Rollback(stop));
        }
    }
    edges::forget(connection, scope.tenant, &ledger.erased).await?;
    audit::add(connection, scope, write, &ledger).await?;
    let end = turns.first + i64::try_from(places).unwrap_or(i64::MAX);
    if ledger.next < end {
        give_back(connection, scope.tenant, end - ledger.next).await?;
    }
    let last = u64::try_from(ledger.next - 1).map_err(|_| Fault::other("a place before all"))?;
    Ok(Verdict::Commit(Committed::Done(Sequence(last))))
}

/// Refuses what no caller may ask for.
fn check(scope: &Scope, write: &Write) -> Result<(), Fault> {
    for step in &write.steps {
        if let Step::Insert(new) = step
            && (new.cell.author != scope.credential || new.cell.project != scope.project)
        {
            return Err(Fault::other(
                "a cell is written by its author and into its project",
            ));
        }
        if let Some(derived) = derived_of(step) {
            check_dimension(&derived.model, &derived.vector)?;
        }
    }
    Ok(())
}

fn derived_of(step: &Step) -> Option<&Derived> {
    match step {
        Step::Insert(new) => Some(&new.derived),
        Step::Revise(revision) => revision.derived.as_ref(),
        Step::Erase { .. }
        | Step::Relate(_)
        | Step::SetRelation { .. }
        | Step::EraseRelation { .. }
        | Step::Confirm { .. }
        | Step::OpenConflict { .. }
        | Step::CloseConflict { .. }
        | Step::Key { .. } => None,
    }
}

/// Whether a step writes a diff, and so takes a place in the order of changes.
const fn takes_turn(step: &Step) -> bool {
    match step {
        Step::Insert(_)
        | Step::Revise(_)
        | Step::Erase { .. }
        | Step::OpenConflict { .. }
        | Step::CloseConflict { .. } => true,
        Step::Relate(_)
        | Step::SetRelation { .. }
        | Step::EraseRelation { .. }
        | Step::Confirm { .. }
        | Step::Key { .. } => false,
    }
}

pub(super) async fn ensure_project(
    connection: &mut Connection,
    scope: &Scope,
) -> Result<(), Fault> {
    let sql = sql!(
        "insert into projects (tenant_id, project_no, name)
         select $1, coalesce(max(project_no), 0) + 1, $2 from projects where tenant_id = $1
         on conflict do nothing"
    );
    scoped(sql, scope).execute_later(connection).await
}

async fn carry_out(
    connection: &mut Connection,
    scope: &Scope,
    write: &Write,
    step: &Step,
    ledger: &mut Ledger,
) -> Result<Stop, Fault> {
    match step {
        Step::Insert(new) => insert::insert(connection, scope, write, new, ledger).await,
        Step::Revise(revision) => revise::revise(connection, scope, write, revision, ledger).await,
        Step::Erase { id, revision, diff } => {
            erase::erase(connection, scope, write, (*id, *revision), *diff, ledger).await
        }
        Step::Relate(relation) => relations::relate(connection, scope, relation, ledger).await,
        Step::SetRelation { id, active } => {
            relations::set(connection, scope, *id, *active, ledger).await
        }
        Step::EraseRelation { id } => relations::erase(connection, scope, *id, ledger).await,
        Step::Confirm {
            id,
            revision,
            evidence,
        } => {
            let evidence = evidence.as_deref();
            voices::confirm(connection, scope, write, (*id, *revision), evidence, ledger).await
        }
        Step::OpenConflict { conflict, diff } => {
            conflicts::open(connection, scope, write, conflict, *diff, ledger).await
        }
        Step::CloseConflict {
            id,
            verdict,
            reason,
            diff,
        } => {
            let decision = conflicts::Decision {
                id: *id,
                verdict: *verdict,
                reason,
            };
            conflicts::close(connection, scope, write, &decision, *diff, ledger).await
        }
        Step::Key { key, cell } => voices::keep_key(connection, scope, key, *cell, ledger).await,
    }
}
