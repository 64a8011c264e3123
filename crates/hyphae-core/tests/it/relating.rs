//! Links, conflicts and confirmations.

use hyphae_core::{
    cell::{Share, Status, Visibility},
    conflict::{ConflictKind, Verdict},
    diff::DiffKind,
    ids::{CellId, ConflictId},
    memories::{ForgetRequest, Forgetting, MemoryError, NewMemory, NewRelation, Resolved, Target},
    ports::{AuditFilter, Clock, MemoryStore, Sequence},
    relation::RelationKind,
};
use pretty_assertions::assert_eq;

use crate::rig::{Rig, relation, secret, via};

impl Rig {
    async fn two(&self) -> [CellId; 2] {
        [
            self.created("deploys run on Tuesday").await.id,
            self.created("nothing runs on its own").await.id,
        ]
    }

    /// Lets two memories contradict each other, and returns the conflict.
    async fn dispute(&self, left: CellId, right: CellId) -> ConflictId {
        let related = self.link(left, RelationKind::Contradicts, right).await;
        related.conflict.unwrap()
    }

    async fn resolve(&self, id: ConflictId, verdict: Verdict) -> Result<Resolved, MemoryError> {
        let scope = self.scope();
        let resolved = self.memories.resolve(&scope, id, verdict, "because", via());
        resolved.await
    }

    /// Returns the active relations of a memory as kinds and ends.
    async fn kinds(&self, id: CellId) -> Vec<(CellId, RelationKind, CellId)> {
        let found = self
            .memories
            .relations(&self.scope(), &[id], 1)
            .await
            .unwrap();
        found.iter().map(|r| (r.from, r.kind, r.to)).collect()
    }
}

#[tokio::test]
async fn a_link_is_given_once_whoever_gives_it() {
    let rig = Rig::new().await;
    let [a, b] = rig.two().await;
    for kind in RelationKind::ALL {
        if matches!(kind, RelationKind::Contradicts | RelationKind::Supersedes) {
            continue;
        }
        let first = rig.link(a, kind, b).await;
        assert!(first.created && first.conflict.is_none() && !first.superseded);
        let new = relation(a, kind, b);
        let again = rig.memories.link(&rig.other(), &new, via()).await.unwrap();
        assert_eq!((again.id, again.created), (first.id, false));
        assert!(
            rig.link(b, kind, a).await.created,
            "the other way is another link"
        );
    }
    assert_eq!(rig.kinds(a).await.len(), 12);
}

#[tokio::test]
async fn a_link_that_was_taken_back_comes_back_under_its_id() {
    let rig = Rig::new().await;
    let [a, b] = rig.two().await;
    let first = rig.link(a, RelationKind::Refines, b).await;
    let retract = ForgetRequest {
        targets: vec![Target::Relation(first.id)],
        mode: Forgetting::Retract,
        apply: true,
        token: None,
        reason: None,
    };
    let scope = rig.scope();
    rig.memories.forget(&scope, &retract, via()).await.unwrap();
    let again = rig.link(a, RelationKind::Refines, b).await;
    assert_eq!((again.id, again.created), (first.id, true));
}

#[tokio::test]
async fn what_cannot_be_linked_is_told() {
    let rig = Rig::new().await;
    let [a, b] = rig.two().await;
    let gone = CellId::new(rig.clock.new_id());
    let hidden = NewMemory {
        visibility: Visibility::Private,
        ..NewMemory::new("theirs alone")
    };
    let hidden = rig.keep_as(&rig.other(), hidden).await.id;
    let scope = rig.scope();
    let refused = async |new: NewRelation| {
        let refused = rig.memories.link(&scope, &new, via()).await;
        refused.unwrap_err()
    };
    let kind = RelationKind::Supports;
    for (from, to, named) in [(a, gone, gone), (gone, a, gone), (a, hidden, hidden)] {
        let error = refused(relation(from, kind, to)).await;
        assert!(
            matches!(&error, MemoryError::NotFound { id, .. } if *id == named.to_string()),
            "{error:?}"
        );
    }
    let error = refused(relation(a, kind, a)).await;
    assert!(matches!(error, MemoryError::SelfLink), "{error:?}");
    let weightless = NewRelation {
        weight: Share::new(0.0).unwrap(),
        ..relation(a, kind, b)
    };
    let error = refused(weightless).await;
    assert!(matches!(error, MemoryError::NoWeight), "{error:?}");
    rig.forget(a, Forgetting::Retract).await;
    for kind in [RelationKind::Contradicts, RelationKind::Supersedes] {
        let error = refused(relation(a, kind, b)).await;
        assert!(
            matches!(error, MemoryError::Inactive { id, .. } if id == a),
            "{error:?}"
        );
    }
    assert_eq!(rig.kinds(b).await, []);
}

#[tokio::test]
async fn a_superseding_memory_takes_the_place_of_the_other() {
    let rig = Rig::new().await;
    let old = rig.created("deploys run on Tuesday").await.id;
    let new = rig.created("deploys run on Friday").await.id;
    let related = rig.link(new, RelationKind::Supersedes, old).await;
    assert!(related.created && related.superseded && related.conflict.is_none());
    assert_eq!(rig.texts("deploys").await, ["deploys run on Friday"]);
    let scope = rig.scope();
    let diffs = rig
        .store
        .diffs(&scope, Sequence(0), &[], true, 9)
        .await
        .unwrap();
    let last = diffs.last().unwrap();
    assert_eq!(
        (last.kind, last.cell, last.other),
        (DiffKind::Superseded, old, Some(new))
    );
    let again = rig.link(new, RelationKind::Supersedes, old).await;
    assert_eq!(
        (again.id, again.created, again.superseded),
        (related.id, false, false)
    );
    // One that is out of recall does not put its successor out.
    let backwards = relation(old, RelationKind::Supersedes, new);
    let backwards = rig.memories.link(&scope, &backwards, via());
    assert!(matches!(backwards.await, Err(MemoryError::Inactive { id, .. }) if id == old));
}

#[tokio::test]
async fn relations_are_followed_one_or_two_steps() {
    let rig = Rig::new().await;
    let mut ids = Vec::new();
    for text in ["alpha one", "beta two", "gamma three", "delta four"] {
        ids.push(rig.created(text).await.id);
    }
    let mut edges = Vec::new();
    for pair in ids.windows(2) {
        edges.push(rig.link(pair[0], RelationKind::DependsOn, pair[1]).await.id);
    }
    for (of, depth, want) in [
        (ids[0], 1, &edges[..1]),
        (ids[0], 2, &edges[..2]),
        (ids[1], 1, &edges[..2]),
        (ids[1], 2, &edges[..]),
        (ids[3], 1, &edges[2..]),
    ] {
        let found = rig
            .memories
            .relations(&rig.scope(), &[of], depth)
            .await
            .unwrap();
        let found: Vec<_> = found.iter().map(|relation| relation.id).collect();
        assert_eq!(found, want, "{depth}");
    }
}

#[tokio::test]
async fn contradicting_memories_are_in_conflict_until_somebody_decides() {
    let rig = Rig::new().await;
    let [a, b] = rig.two().await;
    let new = NewRelation {
        reason: Some(format!("leaked {}", secret())),
        ..relation(a, RelationKind::Contradicts, b)
    };
    let scope = rig.other();
    let related = rig.memories.link(&scope, &new, via()).await.unwrap();
    let id = related.conflict.unwrap();
    for (left, right) in [(a, b), (b, a)] {
        assert_eq!(
            rig.dispute(left, right).await,
            id,
            "one conflict, whoever is left"
        );
    }
    let disputes = rig
        .memories
        .conflicts(&rig.scope(), &[], None, 9)
        .await
        .unwrap();
    assert_eq!(disputes.len(), 1);
    let dispute = &disputes[0];
    assert_eq!(
        (&dispute.left, &dispute.right),
        (&rig.cell(a).await, &rig.cell(b).await)
    );
    let conflict = &dispute.conflict;
    assert_eq!(
        (conflict.kind, conflict.opened_by, conflict.why.as_deref()),
        (
            ConflictKind::Stated,
            scope.credential,
            Some("leaked [masked GitHub token]")
        )
    );
    // Whoever sees either of them is told.
    let recalled = rig.recall("deploys nothing").await;
    let told: Vec<_> = recalled
        .matches
        .iter()
        .map(|found| found.conflict)
        .collect();
    assert_eq!(told, [Some(id); 2]);
    let details = rig.memories.get(&scope, &[a], false, false).await.unwrap();
    assert_eq!(details[0].conflict, Some(id));
}

#[tokio::test]
async fn a_verdict_for_one_side_supersedes_the_other() {
    for (verdict, loser) in [(Verdict::Left, 1), (Verdict::Right, 0)] {
        let rig = Rig::new().await;
        let sides = rig.two().await;
        let id = rig.dispute(sides[0], sides[1]).await;
        let resolved = rig.resolve(id, verdict).await.unwrap();
        let (winner, loser) = (sides[1 - loser], sides[loser]);
        assert_eq!(
            (resolved.verdict, resolved.superseded),
            (verdict, vec![loser])
        );
        assert_eq!((resolved.retracted, resolved.diffs.len()), (vec![], 2));
        assert_eq!(rig.cell(loser).await.status, Status::Superseded);
        assert_eq!(rig.cell(winner).await.status, Status::Active);
        let kinds = rig.kinds(loser).await;
        assert!(
            kinds.contains(&(winner, RelationKind::Supersedes, loser)),
            "{kinds:?}"
        );
        let kept = rig.store.conflict(&rig.scope(), id).await.unwrap().unwrap();
        let resolution = kept.resolution.unwrap();
        assert_eq!(
            (resolution.verdict, resolution.reason.as_str()),
            (verdict, "because")
        );
        let open = rig
            .memories
            .conflicts(&rig.scope(), &[], None, 9)
            .await
            .unwrap();
        assert_eq!(open, []);
        let again = rig.resolve(id, Verdict::Both).await;
        assert!(
            matches!(again, Err(MemoryError::ConflictClosed { id: of }) if of == id),
            "{again:?}"
        );
    }
}

#[tokio::test]
async fn what_takes_no_part_in_recall_wins_no_conflict() {
    for (verdict, side) in [(Verdict::Left, 0), (Verdict::Right, 1)] {
        let rig = Rig::new().await;
        let sides = rig.two().await;
        let id = rig.dispute(sides[0], sides[1]).await;
        rig.forget(sides[side], Forgetting::Retract).await;
        let refused = rig.resolve(id, verdict).await;
        assert!(
            matches!(refused, Err(MemoryError::Inactive { id, .. }) if id == sides[side]),
            "{refused:?}"
        );
        assert_eq!(rig.cell(sides[1 - side]).await.status, Status::Active);
        let kept = rig.store.conflict(&rig.scope(), id).await.unwrap().unwrap();
        assert_eq!(kept.resolution, None);
    }
}

#[tokio::test]
async fn a_verdict_for_neither_takes_both_back_and_one_for_both_only_the_link() {
    let rig = Rig::new().await;
    let [a, b] = rig.two().await;
    let id = rig.dispute(a, b).await;
    let resolved = rig.resolve(id, Verdict::Both).await.unwrap();
    assert_eq!((resolved.superseded, resolved.retracted), (vec![], vec![]));
    assert_eq!(rig.kinds(a).await, []);
    assert_eq!(rig.cell(a).await.status, Status::Active);

    let id = rig.dispute(b, a).await;
    let resolved = rig.resolve(id, Verdict::Neither).await.unwrap();
    assert_eq!((resolved.superseded, resolved.retracted.len()), (vec![], 2));
    for id in [a, b] {
        assert_eq!(rig.cell(id).await.status, Status::Retracted);
    }
}

#[tokio::test]
async fn a_conflict_whose_sides_are_not_active_any_more_is_decided_all_the_same() {
    let rig = Rig::new().await;
    let [a, b] = rig.two().await;
    let id = rig.dispute(a, b).await;
    rig.forget(b, Forgetting::Retract).await;
    let resolved = rig.resolve(id, Verdict::Left).await.unwrap();
    assert_eq!((resolved.superseded, resolved.retracted), (vec![], vec![]));
    assert_eq!(rig.cell(b).await.status, Status::Retracted);
    assert_eq!(rig.texts("deploys").await.len(), 1);
}

#[tokio::test]
async fn a_decision_needs_a_reason_and_a_conflict() {
    let rig = Rig::new().await;
    let [a, b] = rig.two().await;
    let id = rig.dispute(a, b).await;
    let scope = rig.scope();
    let refused = rig
        .memories
        .resolve(&scope, id, Verdict::Left, " \n", via())
        .await;
    assert!(matches!(refused, Err(MemoryError::NoReason)), "{refused:?}");
    let unknown = ConflictId::new(rig.clock.new_id());
    let refused = rig.resolve(unknown, Verdict::Left).await;
    assert!(
        matches!(
            &refused,
            Err(MemoryError::NotFound {
                what: "conflict",
                ..
            })
        ),
        "{refused:?}"
    );
    let elsewhere = rig.scope_of(0, "elsewhere");
    let foreign = rig
        .memories
        .resolve(&elsewhere, id, Verdict::Left, "because", via());
    let foreign = foreign.await.unwrap_err().to_string();
    let unknown = refused
        .unwrap_err()
        .to_string()
        .replace(&unknown.to_string(), &id.to_string());
    assert_eq!(
        foreign, unknown,
        "a foreign conflict and an unknown one are the same"
    );

    let reason = format!("leaked {}", secret());
    let resolved = rig
        .memories
        .resolve(&scope, id, Verdict::Left, &reason, via());
    resolved.await.unwrap();
    let kept = rig.store.conflict(&scope, id).await.unwrap().unwrap();
    let filter = AuditFilter {
        limit: 1,
        ..AuditFilter::default()
    };
    let audit = rig.store.audit(rig.owner(), &filter).await.unwrap();
    let history = rig.store.history(&scope, b).await.unwrap();
    let shown = format!("{kept:?} {audit:?} {history:?} {:?}", rig.kinds(b).await);
    assert!(!shown.contains(&secret()), "{shown}");
    assert_eq!(audit[0].redactions, 1);
}
