//! Everything that a scope can see of a store, so that a check can tell that nothing changed.

use hyphae_core::{
    audit::AuditRow,
    cell::Cell,
    conflict::Conflict,
    diff::Diff,
    ids::{CellId, ConflictId, EdgeId},
    ports::{AuditFilter, Change, Confirmation, Link, Past, Sequence, Statistics, Wanted},
    relation::Relation,
    scope::Scope,
};
use uuid::Uuid;

use super::fixture::{BEGINNING_OF_IDS, World};

/// What a scope can see, through every method that lists.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    changes: Vec<Change>,
    cells: Vec<Cell>,
    histories: Vec<Vec<Past>>,
    links: Vec<(CellId, Vec<Link>)>,
    relations: Vec<Relation>,
    confirmations: Vec<Confirmation>,
    conflicts: Vec<Option<Conflict>>,
    open_conflicts: Vec<Conflict>,
    diffs: Vec<Diff>,
    names: Vec<Vec<String>>,
    audit: Vec<AuditRow>,
    newest: Sequence,
    statistics: Statistics,
}

impl Seen {
    /// Looks at everything.
    pub async fn by(world: &World<'_>, scope: &Scope) -> Self {
        let store = world.subject.memories();
        let ids = async |wanted| -> Vec<Uuid> {
            let all = store.ids_beginning(scope, wanted, BEGINNING_OF_IDS, usize::MAX);
            all.await.unwrap()
        };
        let cells: Vec<CellId> = ids(Wanted::Cell)
            .await
            .into_iter()
            .map(CellId::new)
            .collect();
        let relations = ids(Wanted::Relation).await;
        let relations: Vec<EdgeId> = relations.into_iter().map(EdgeId::new).collect();
        let mut histories = Vec::new();
        for id in &cells {
            histories.push(store.history(scope, *id).await.unwrap());
        }
        let mut conflicts = Vec::new();
        for id in ids(Wanted::Conflict).await {
            let conflict = store.conflict(scope, ConflictId::new(id)).await;
            conflicts.push(conflict.unwrap());
        }
        let mut names = Vec::new();
        for wanted in [Wanted::Topic, Wanted::Tag, Wanted::Project] {
            let all = store.names(scope, wanted, "", usize::MAX).await;
            names.push(all.unwrap());
        }
        let whole_audit = AuditFilter {
            limit: usize::MAX,
            ..AuditFilter::default()
        };
        Self {
            changes: world.changes(scope).await,
            cells: store.cells(scope, &cells).await.unwrap(),
            histories,
            links: store.links(scope, &cells, &|_| false).await.unwrap(),
            relations: store.relations_by_id(scope, &relations).await.unwrap(),
            confirmations: store.confirmations(scope, &cells).await.unwrap(),
            conflicts,
            open_conflicts: store
                .open_conflicts(scope, &[], None, usize::MAX)
                .await
                .unwrap(),
            diffs: world.diffs(scope).await,
            names,
            audit: store.audit(scope.owner(), &whole_audit).await.unwrap(),
            newest: store.newest(scope.owner()).await.unwrap(),
            statistics: store.statistics(scope.owner()).await.unwrap(),
        }
    }
}
