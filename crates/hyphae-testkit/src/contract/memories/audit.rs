//! Who wrote what, when, and from where.

use std::collections::BTreeSet;

use hyphae_core::{
    audit::{Action, AuditRow, Via},
    cell::Cell,
    conflict::Verdict,
    ids::{AuditId, CredentialId, DiffId, SessionId},
    ports::{AuditFilter, Committed, Step, StoreError},
    relation::RelationKind,
    scope::{Owner, Scope},
};
use jiff::Timestamp;
use uuid::Uuid;

use super::another_text;
use crate::contract::{
    Subject,
    fixture::{World, insert, project, relate, revise},
    seen::Seen,
};

async fn listed(world: &World<'_>, owner: Owner, filter: &AuditFilter) -> Vec<AuditRow> {
    let store = world.subject.memories();
    store.audit(owner, filter).await.unwrap()
}

fn all() -> AuditFilter {
    AuditFilter {
        limit: usize::MAX,
        ..AuditFilter::default()
    }
}

/// Commits steps under an action and returns the row that the audit is to have.
async fn written(
    world: &World<'_>,
    scope: &Scope,
    action: Action,
    steps: Vec<Step>,
    subjects: &[Uuid],
    diffs: &[DiffId],
) -> AuditRow {
    let mut write = world.write(action, steps);
    let n = action as usize;
    write.via = Via {
        session: n.is_multiple_of(2).then(|| SessionId::new(world.id())),
        client: (!n.is_multiple_of(3)).then(|| format!("it's ☂ client/{n}")),
    };
    write.reason = (!n.is_multiple_of(4)).then(|| "'; drop table audit; -- ☂".to_owned());
    write.redactions = [0, 1, u32::MAX][n % 3];
    let done = world.subject.memories().commit(scope, &write).await;
    assert!(done.unwrap().is_done(), "{action}");
    AuditRow {
        id: write.id,
        at: write.at,
        action,
        credential: scope.credential,
        via: write.via,
        project: scope.project.clone(),
        subjects: subjects.to_vec(),
        diffs: diffs.to_vec(),
        reason: write.reason,
        redactions: write.redactions,
    }
}

/// Writes something under each action and returns the rows, oldest first.
async fn history(world: &World<'_>, scope: &Scope) -> Vec<AuditRow> {
    let mut rows = Vec::new();
    let [one, two] =
        ["one", "two"].map(|text| world.cell(scope, &format!("{text} {}", world.id())));
    let (a, b) = (one.cell.id.uuid(), two.cell.id.uuid());
    let key = Step::Key {
        key: key_of(a),
        cell: one.cell.id,
    };
    let steps = vec![insert(&one), key];
    rows.push(written(world, scope, Action::Store, steps, &[a], &[one.diff]).await);
    let steps = vec![insert(&two)];
    rows.push(written(world, scope, Action::Import, steps, &[b], &[two.diff]).await);
    let revision = another_text(world, &one.cell, &format!("changed {a}"));
    let (cell, diff) = (revision.cell.clone(), revision.diff);
    let steps = vec![revise(revision)];
    rows.push(written(world, scope, Action::Update, steps, &[a], &[diff]).await);

    let relation = world.relation(scope, two.cell.id, RelationKind::Contradicts, cell.id);
    let conflict = world.conflict(scope, cell.id, two.cell.id);
    let diff = DiffId::new(world.id());
    let open = Step::OpenConflict {
        conflict: Box::new(conflict.clone()),
        diff,
    };
    let edge = relation.id.uuid();
    let subjects = [edge, b, a, conflict.id.uuid()];
    let steps = vec![relate(&relation), open];
    rows.push(written(world, scope, Action::Link, steps, &subjects, &[diff]).await);
    let confirm = |cell: &Cell| Step::Confirm {
        id: cell.id,
        revision: cell.revision,
        evidence: None,
    };
    let steps = vec![confirm(&two.cell), confirm(&cell)];
    rows.push(written(world, scope, Action::Confirm, steps, &[b, a], &[]).await);
    let set = |active| {
        let id = relation.id;
        vec![Step::SetRelation { id, active }]
    };
    let ends = [edge, b, a];
    rows.push(written(world, scope, Action::Retract, set(false), &ends, &[]).await);
    rows.push(written(world, scope, Action::Restore, set(true), &ends, &[]).await);
    let diff = DiffId::new(world.id());
    let close = Step::CloseConflict {
        id: conflict.id,
        verdict: Verdict::Both,
        reason: "both do".to_owned(),
        diff,
    };
    let subjects = [conflict.id.uuid(), a, b];
    rows.push(
        written(
            world,
            scope,
            Action::Resolve,
            vec![close],
            &subjects,
            &[diff],
        )
        .await,
    );
    let diff = DiffId::new(world.id());
    let erase = Step::Erase {
        id: two.cell.id,
        revision: 1,
        diff,
    };
    let other = world.relation(scope, cell.id, RelationKind::Supports, two.cell.id);
    let id = other.id;
    let steps = vec![relate(&other), Step::EraseRelation { id }, erase];
    let subjects = [id.uuid(), a, b];
    rows.push(written(world, scope, Action::Erase, steps, &subjects, &[diff]).await);
    rows
}

/// Returns a key that belongs to an id.
fn key_of(id: Uuid) -> [u8; 32] {
    let mut key = [0; 32];
    key[..16].copy_from_slice(id.as_bytes());
    key
}

pub async fn every_write_is_in_the_audit_with_every_field(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p ☂"));
    let mut want = history(&world, &scope).await;
    let actions: BTreeSet<Action> = want.iter().map(|row| row.action).collect();
    assert_eq!(actions.len(), Action::ALL.len());
    want.reverse();
    assert_eq!(listed(&world, scope.owner(), &all()).await, want);
}

pub async fn the_audit_outlives_what_it_is_about(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    history(&world, &scope).await;
    let before = listed(&world, scope.owner(), &all()).await;
    let ids: Vec<_> = world.recallable(&scope).await;
    for id in ids {
        let cell = world.find(&scope, id).await.unwrap();
        world.done(&scope, vec![world.erase(&cell)]).await;
    }
    let after = listed(&world, scope.owner(), &all()).await;
    assert_eq!(after[after.len() - before.len()..], before);
}

pub async fn a_write_that_repeats_a_step_names_its_subject_once(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let [left, right] = [world.cell(&scope, "left"), world.cell(&scope, "right")];
    let left = world.keep(&scope, left).await.cell.id;
    let right = world.keep(&scope, right).await.cell.id;
    world.dispute(&scope, left, right).await;
    let new = world.cell(&scope, "new");
    let revision = another_text(&world, &new.cell, "newer");
    let (id, diffs) = (new.cell.id, [new.diff, revision.diff]);
    let confirm = Step::Confirm {
        id,
        revision: 2,
        evidence: None,
    };
    // A conflict that is open already is passed over.
    let again = world.conflict(&scope, right, left);
    let steps = vec![insert(&new), revise(revision), confirm, world.open(&again)];
    let subjects = [id.uuid()];
    let want = written(&world, &scope, Action::Store, steps, &subjects, &diffs).await;
    let found = listed(&world, scope.owner(), &all()).await;
    assert_eq!(found[0], want);
}

fn fits(filter: &AuditFilter, row: &AuditRow) -> bool {
    (filter.actions.is_empty() || filter.actions.contains(&row.action))
        && filter.credential.is_none_or(|by| by == row.credential)
        && filter.project.as_ref().is_none_or(|of| *of == row.project)
        && filter.subject.is_none_or(|subject| {
            row.subjects.contains(&subject) || row.diffs.iter().any(|diff| diff.uuid() == subject)
        })
        && filter.since.is_none_or(|since| since <= row.at)
        && filter.until.is_none_or(|until| row.at < until)
        && filter.before.is_none_or(|before| row.id < before)
}

pub async fn the_audit_is_filtered_by_all_conditions_together(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let scopes = [
        ana.in_project(project("p")),
        bob.in_project(project("p")),
        ana.in_project(project("q")),
    ];
    let mut rows = Vec::new();
    for scope in &scopes {
        rows.extend(history(&world, scope).await);
    }
    rows.reverse();
    assert_eq!(listed(&world, bob, &all()).await, rows);
    let (early, late) = (&rows[20], &rows[5]);
    let actions = [
        vec![],
        vec![Action::Link],
        vec![Action::Erase, Action::Store],
    ];
    let by = [
        None,
        Some(ana.credential),
        Some(CredentialId::new(world.id())),
    ];
    let of = [None, Some(project("p")), Some(project("nowhere"))];
    let conflict = rows
        .iter()
        .find(|row| row.action == Action::Resolve)
        .unwrap();
    let link = rows.iter().find(|row| row.action == Action::Link).unwrap();
    let about = [
        None,
        Some(conflict.subjects[0]),
        Some(link.subjects[0]),
        Some(link.subjects[1]),
        Some(rows[0].diffs[0].uuid()),
        Some(world.id()),
    ];
    let times: [(Option<Timestamp>, Option<Timestamp>); 5] = [
        (None, None),
        (Some(early.at), None),
        (None, Some(late.at)),
        (Some(early.at), Some(late.at)),
        (Some(late.at), Some(early.at)),
    ];
    let mut found_some = 0;
    for actions in &actions {
        for credential in by {
            for project in &of {
                for subject in about {
                    for (since, until) in times {
                        let filter = AuditFilter {
                            actions: actions.clone(),
                            credential,
                            project: project.clone(),
                            subject,
                            since,
                            until,
                            ..all()
                        };
                        let want: Vec<_> = rows.iter().filter(|row| fits(&filter, row)).collect();
                        let found = listed(&world, ana, &filter).await;
                        assert_eq!(found.iter().collect::<Vec<_>>(), want, "{filter:?}");
                        found_some += usize::from(!want.is_empty());
                    }
                }
            }
        }
    }
    assert!(found_some > 40, "{found_some} filters found something");
}

pub async fn the_audit_is_read_in_pages(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let mut rows = history(&world, &owner.in_project(project("p"))).await;
    rows.extend(history(&world, &owner.in_project(project("q"))).await);
    rows.reverse();
    for of in [None, Some(project("p"))] {
        let filter = AuditFilter {
            project: of,
            ..all()
        };
        let want: Vec<AuditId> = rows
            .iter()
            .filter(|row| fits(&filter, row))
            .map(|row| row.id)
            .collect();
        for limit in [1, 2, 5, 100] {
            let mut found: Vec<AuditId> = Vec::new();
            loop {
                let page = AuditFilter {
                    before: found.last().copied(),
                    limit,
                    ..filter.clone()
                };
                let page = listed(&world, owner, &page).await;
                if page.is_empty() {
                    break;
                }
                assert!(page.len() <= limit);
                found.extend(page.iter().map(|row| row.id));
                assert!(found.len() <= want.len(), "in pages of {limit}");
            }
            assert_eq!(found, want, "in pages of {limit}");
        }
    }
    let nothing = AuditFilter { limit: 0, ..all() };
    assert_eq!(listed(&world, owner, &nothing).await, []);
}

pub async fn the_audit_is_that_of_the_tenant_and_of_no_other(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob, eve) = (
        world.owner().await,
        world.owner().await,
        world.stranger().await,
    );
    let rows = history(&world, &ana.in_project(project("p"))).await;
    let foreign = history(&world, &eve.in_project(project("p"))).await;
    assert_eq!(world.audited(bob).await.len(), rows.len());
    assert_eq!(world.audited(eve).await.len(), foreign.len());
    for row in &rows {
        for filter in [
            AuditFilter {
                credential: Some(ana.credential),
                ..all()
            },
            AuditFilter {
                subject: Some(row.subjects[0]),
                ..all()
            },
        ] {
            assert_eq!(listed(&world, eve, &filter).await, []);
        }
    }
}

pub async fn a_write_that_stops_or_fails_is_not_in_the_audit(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let there = world.store(&ana, "there").await;
    let before = Seen::by(&world, &ana).await;
    let same = world.commit(&ana, vec![insert(&world.cell(&ana, "there"))]);
    assert_eq!(same.await, Committed::Same(there.cell.id));
    let foreign = world.try_commit(&ana, vec![insert(&world.cell(&bob, "of bob"))]);
    assert!(matches!(foreign.await, Err(StoreError::Unavailable { .. })));

    // The id of a write is its own as well.
    let mut write = world.write(Action::Store, vec![insert(&world.cell(&ana, "new"))]);
    write.id = world.audited(ana.owner()).await[0];
    let done = subject.memories().commit(&ana, &write).await;
    assert!(
        matches!(done, Err(StoreError::Unavailable { .. })),
        "{done:?}"
    );
    assert_eq!(Seen::by(&world, &ana).await, before);
}
