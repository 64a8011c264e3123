//! Taking back, bringing back, and removing for good.

use std::time::Duration;

use hyphae_core::{
    audit::Action,
    cell::{Status, Visibility},
    diff::DiffKind,
    ids::{CellId, EdgeId},
    memories::{
        ForgetOutcome, ForgetRequest, Forgettable, Forgetting, Forgotten, Memories, MemoryError,
        NewMemory, Patch, Target,
    },
    ports::{AuditFilter, Clock, MemoryStore, Sequence},
    relation::RelationKind,
    scope::Scope,
};
use pretty_assertions::assert_eq;

use crate::rig::{Rig, recall, secret, topic, via};

fn request(targets: &[Target], mode: Forgetting) -> ForgetRequest {
    ForgetRequest {
        targets: targets.to_vec(),
        mode,
        apply: true,
        token: None,
        reason: None,
    }
}

fn cells(ids: &[CellId]) -> Vec<Target> {
    ids.iter().copied().map(Target::Cell).collect()
}

impl Rig {
    async fn do_forget(&self, request: &ForgetRequest) -> Result<Forgotten, MemoryError> {
        let scope = self.scope();
        self.memories.forget(&scope, request, via()).await
    }

    /// Takes back or brings back.
    async fn forgets(&self, targets: &[Target], mode: Forgetting) -> Vec<ForgetOutcome> {
        let done = self.do_forget(&request(targets, mode)).await.unwrap();
        assert!(done.applied);
        done.items.iter().map(|item| item.outcome).collect()
    }

    /// Returns the token that confirms an erasure.
    async fn previewed(&self, targets: &[Target]) -> String {
        let preview = ForgetRequest {
            apply: false,
            ..request(targets, Forgetting::Erase)
        };
        let shown = self.do_forget(&preview).await.unwrap();
        assert!(!shown.applied);
        shown.token.unwrap()
    }

    async fn erase(&self, targets: &[Target], token: &str) -> Result<Forgotten, MemoryError> {
        let confirmed = ForgetRequest {
            token: Some(token.to_owned()),
            ..request(targets, Forgetting::Erase)
        };
        self.do_forget(&confirmed).await
    }

    async fn is_there(&self, id: CellId) -> bool {
        let found = self.store.cells(&self.scope(), &[id]).await.unwrap();
        !found.is_empty()
    }
}

#[tokio::test]
async fn what_is_taken_back_is_not_recalled_and_can_be_brought_back() {
    let rig = Rig::new().await;
    let id = rig.created("tea is at four").await.id;
    let unknown = CellId::new(rig.clock.new_id());
    let targets = cells(&[id, unknown, id]);
    let done = rig.forgets(&targets, Forgetting::Retract).await;
    use ForgetOutcome::{Already, Done, Missing};
    assert_eq!(
        done,
        [Done(Forgetting::Retract), Missing],
        "each named once"
    );
    assert_eq!(rig.texts("tea").await, [""; 0]);
    let again = rig.forgets(&targets, Forgetting::Retract).await;
    assert_eq!(again, [Already(Status::Retracted), Missing]);

    let back = rig.forgets(&cells(&[id]), Forgetting::Restore).await;
    assert_eq!(back, [Done(Forgetting::Restore)]);
    assert_eq!(rig.texts("tea").await, ["tea is at four"]);
    let again = rig.forgets(&cells(&[id]), Forgetting::Restore).await;
    assert_eq!(again, [Already(Status::Active)]);

    let scope = rig.scope();
    let diffs = rig
        .store
        .diffs(&scope, Sequence(0), &[], true, 9)
        .await
        .unwrap();
    let kinds: Vec<_> = diffs
        .iter()
        .map(|diff| (diff.kind, diff.revision))
        .collect();
    let want = [DiffKind::Created, DiffKind::Retracted, DiffKind::Restored];
    assert_eq!(kinds, want.into_iter().zip(1..).collect::<Vec<_>>());
    let all = AuditFilter {
        limit: 9,
        ..AuditFilter::default()
    };
    let audit = rig.store.audit(rig.owner(), &all).await.unwrap();
    let actions: Vec<Action> = audit.iter().map(|row| row.action).collect();
    assert_eq!(actions, [Action::Restore, Action::Retract, Action::Store]);
}

#[tokio::test]
async fn a_preview_changes_nothing_and_shows_what_there_is() {
    let rig = Rig::new().await;
    let a = rig.created("alpha one").await.id;
    let b = rig.created("beta two").await.id;
    let edge = rig.link(a, RelationKind::Supports, b).await.id;
    let before = rig.store.newest(rig.owner()).await.unwrap();
    let unknown = EdgeId::new(rig.clock.new_id());
    let targets = [
        Target::Cell(a),
        Target::Relation(edge),
        Target::Relation(unknown),
    ];
    for mode in Forgetting::ALL {
        let preview = ForgetRequest {
            apply: false,
            ..request(&targets, mode)
        };
        let shown = rig.do_forget(&preview).await.unwrap();
        assert!(!shown.applied);
        assert_eq!(shown.token.is_some(), mode == Forgetting::Erase);
        let Some(Forgettable::Cell(cell)) = &shown.items[0].what else {
            panic!("{:?}", shown.items[0]);
        };
        assert_eq!(**cell, rig.cell(a).await);
        let Some(Forgettable::Relation(relation)) = &shown.items[1].what else {
            panic!("{:?}", shown.items[1]);
        };
        assert_eq!((relation.id, relation.active), (edge, true));
        assert_eq!(shown.items[2].outcome, ForgetOutcome::Missing);
        let want = if mode == Forgetting::Restore {
            ForgetOutcome::Already(Status::Active)
        } else {
            ForgetOutcome::Done(mode)
        };
        assert_eq!(
            (shown.items[0].outcome, shown.items[1].outcome),
            (want, want)
        );
    }
    assert_eq!(rig.store.newest(rig.owner()).await.unwrap(), before);
    assert!(rig.is_there(a).await);
}

#[tokio::test]
async fn a_confirmed_erasure_removes_the_memory_once() {
    let rig = Rig::new().await;
    let id = rig.created("tea is at four").await.id;
    let token = rig.previewed(&cells(&[id])).await;
    let done = rig
        .erase(&cells(&[id]), &format!(" {token} "))
        .await
        .unwrap();
    assert_eq!(
        (done.applied, done.items[0].outcome),
        (true, ForgetOutcome::Done(Forgetting::Erase))
    );
    assert!(!rig.is_there(id).await);
    assert_eq!(rig.texts("tea").await, [""; 0]);
    // What is gone needs no confirmation, and another memory is another erasure.
    let again = rig.erase(&cells(&[id]), &token).await.unwrap();
    assert_eq!(again.items[0].outcome, ForgetOutcome::Missing);
    let other = rig.created("tea is at four").await.id;
    let refused = rig.erase(&cells(&[other]), &token).await;
    assert!(
        matches!(refused, Err(MemoryError::NotPreviewed)),
        "{refused:?}"
    );
    assert!(rig.is_there(other).await);
}

#[tokio::test]
async fn an_erasure_is_done_only_as_it_was_previewed() {
    let rig = Rig::new().await;
    let a = rig.created("alpha one").await.id;
    let b = rig.created("beta two").await.id;
    let refused = async |memories: &Memories, scope: &Scope, targets: &[Target], token: &str| {
        let confirmed = ForgetRequest {
            token: Some(token.to_owned()),
            ..request(targets, Forgetting::Erase)
        };
        let done = memories.forget(scope, &confirmed, via()).await;
        assert!(matches!(done, Err(MemoryError::NotPreviewed)), "{done:?}");
        assert!(rig.is_there(a).await && rig.is_there(b).await);
    };
    let (ours, scope) = (&rig.memories, rig.scope());
    let none = rig
        .do_forget(&request(&cells(&[a]), Forgetting::Erase))
        .await;
    assert!(matches!(none, Err(MemoryError::NotPreviewed)), "{none:?}");

    let token = rig.previewed(&cells(&[a])).await;
    for wrong in ["", "yes", &rig.clock.new_id().to_string(), &token[1..]] {
        refused(ours, &scope, &cells(&[a]), wrong).await;
    }
    refused(ours, &scope, &cells(&[b]), &token).await;
    refused(ours, &scope, &cells(&[a, b]), &token).await;
    refused(ours, &rig.other(), &cells(&[a]), &token).await;
    refused(
        &rig.with_model("words/1", 512),
        &scope,
        &cells(&[a]),
        &token,
    )
    .await;

    // Changed since it was shown.
    let patch = Patch {
        content: Some("alpha three".to_owned()),
        ..Patch::default()
    };
    rig.memories
        .update(&scope, a, 1, &patch, via())
        .await
        .unwrap();
    refused(ours, &scope, &cells(&[a]), &token).await;

    // Too old.
    let token = rig.previewed(&cells(&[a])).await;
    rig.clock.advance(Duration::from_secs(600));
    refused(ours, &scope, &cells(&[a]), &token).await;

    // Just in time, in whatever order.
    let token = rig.previewed(&cells(&[a, b])).await;
    rig.clock.advance(Duration::from_secs(599));
    rig.erase(&cells(&[b, a]), &token).await.unwrap();
    assert!(!rig.is_there(a).await && !rig.is_there(b).await);
}

#[tokio::test]
async fn a_memory_and_its_links_are_erased_together() {
    let rig = Rig::new().await;
    let a = rig.created("alpha one").await.id;
    let b = rig.created("beta two").await.id;
    let edge = rig.link(a, RelationKind::Supports, b).await.id;
    let targets = [Target::Cell(a), Target::Relation(edge)];
    let token = rig.previewed(&targets).await;
    rig.erase(&targets, &token).await.unwrap();
    assert!(!rig.is_there(a).await);
    assert_eq!(
        rig.memories.relations(&rig.scope(), &[b], 1).await.unwrap(),
        []
    );
}

#[tokio::test]
async fn links_are_taken_back_brought_back_and_removed() {
    let rig = Rig::new().await;
    let a = rig.created("alpha one").await.id;
    let b = rig.created("beta two").await.id;
    let edge = rig.link(a, RelationKind::Supports, b).await.id;
    let target = [Target::Relation(edge)];
    let scope = rig.scope();
    let there = async || {
        let found = rig.memories.relations(&scope, &[a], 1).await.unwrap();
        found.iter().map(|relation| relation.id).collect::<Vec<_>>()
    };
    use ForgetOutcome::{Already, Done};
    let done = rig.forgets(&target, Forgetting::Retract).await;
    assert_eq!(
        (done, there().await),
        (vec![Done(Forgetting::Retract)], vec![])
    );
    let done = rig.forgets(&target, Forgetting::Retract).await;
    assert_eq!(done, [Already(Status::Retracted)]);
    let done = rig.forgets(&target, Forgetting::Restore).await;
    assert_eq!(
        (done, there().await),
        (vec![Done(Forgetting::Restore)], vec![edge])
    );
    let token = rig.previewed(&target).await;
    // A link that was taken back since is not what was shown.
    rig.forgets(&target, Forgetting::Retract).await;
    let refused = rig.erase(&target, &token).await;
    assert!(
        matches!(refused, Err(MemoryError::NotPreviewed)),
        "{refused:?}"
    );
    let token = rig.previewed(&target).await;
    rig.erase(&target, &token).await.unwrap();
    let done = rig.forgets(&target, Forgetting::Restore).await;
    assert_eq!(done, [ForgetOutcome::Missing]);
}

#[tokio::test]
async fn what_was_superseded_comes_back_without_the_link_that_superseded_it() {
    let rig = Rig::new().await;
    let old = rig.created("deploys run on Tuesday").await.id;
    let new = rig.created("deploys run on Friday").await.id;
    rig.link(new, RelationKind::Supports, old).await;
    rig.link(new, RelationKind::Supersedes, old).await;
    assert_eq!(rig.cell(old).await.status, Status::Superseded);
    rig.forgets(&cells(&[old]), Forgetting::Restore).await;
    assert_eq!(rig.cell(old).await.status, Status::Active);
    let left = rig
        .memories
        .relations(&rig.scope(), &[old], 1)
        .await
        .unwrap();
    let kinds: Vec<_> = left.iter().map(|relation| relation.kind).collect();
    assert_eq!(kinds, [RelationKind::Supports]);
    // It can be superseded once more.
    let again = rig.link(new, RelationKind::Supersedes, old).await;
    assert!(again.created && again.superseded);
    assert_eq!(rig.cell(old).await.status, Status::Superseded);
}

#[tokio::test]
async fn what_another_person_says_to_themselves_is_in_nobodys_way() {
    use ForgetOutcome::Done;
    let rig = Rig::new().await;
    let old = rig.created("tea is at four").await.id;
    rig.forgets(&cells(&[old]), Forgetting::Retract).await;
    let own = NewMemory {
        visibility: Visibility::Private,
        ..NewMemory::new("tea is at four")
    };
    rig.keep(own).await;
    let done = rig.forgets(&cells(&[old]), Forgetting::Restore).await;
    assert_eq!(done, [Done(Forgetting::Restore)]);
}

#[tokio::test]
async fn of_two_that_say_the_same_one_is_not_brought_back() {
    let rig = Rig::new().await;
    let first = rig.created("tea is at four").await.id;
    rig.forgets(&cells(&[first]), Forgetting::Retract).await;
    let second = rig.created("tea is at four").await.id;
    rig.forgets(&cells(&[second]), Forgetting::Retract).await;
    let both = request(&cells(&[first, second]), Forgetting::Restore);
    let refused = rig.do_forget(&both).await;
    assert!(
        matches!(refused, Err(MemoryError::Duplicate { .. })),
        "{refused:?}"
    );
    assert_eq!(rig.cell(first).await.status, Status::Retracted);
}

#[tokio::test]
async fn what_another_memory_says_by_now_is_not_brought_back() {
    use ForgetOutcome::{Done, Taken};
    let rig = Rig::new().await;
    let old = NewMemory {
        topic: topic("tea"),
        ..NewMemory::new("tea is at four")
    };
    let old = rig.keep(old).await.id;
    rig.forgets(&cells(&[old]), Forgetting::Retract).await;
    let other = rig.created("coffee is at ten").await.id;
    let same = rig.created("tea is at four").await.id;
    rig.forgets(&cells(&[other]), Forgetting::Retract).await;
    let preview = ForgetRequest {
        apply: false,
        ..request(&cells(&[old]), Forgetting::Restore)
    };
    let shown = rig.do_forget(&preview).await.unwrap();
    assert_eq!(shown.items[0].outcome, Taken(same));
    // The others are brought back.
    let done = rig
        .forgets(&cells(&[old, other]), Forgetting::Restore)
        .await;
    assert_eq!(done, [Taken(same), Done(Forgetting::Restore)]);
    assert_eq!(rig.cell(other).await.status, Status::Active);
    assert_eq!(rig.cell(old).await.status, Status::Retracted);

    rig.forgets(&cells(&[same]), Forgetting::Retract).await;
    let of_topic = NewMemory {
        topic: topic("tea"),
        ..NewMemory::new("tea is at five")
    };
    let of_topic = rig.keep(of_topic).await.id;
    let done = rig.forgets(&cells(&[old]), Forgetting::Restore).await;
    assert_eq!(done, [Taken(of_topic)]);
    assert_eq!(rig.cell(old).await.status, Status::Retracted);
}

#[tokio::test]
async fn nobody_forgets_what_is_not_theirs_to_see() {
    let rig = Rig::new().await;
    let private = NewMemory {
        visibility: Visibility::Private,
        ..NewMemory::new("mine alone")
    };
    let id = rig.keep(private).await.id;
    for scope in [rig.other(), rig.scope_of(0, "elsewhere")] {
        for mode in [Forgetting::Retract, Forgetting::Restore] {
            let retract = request(&cells(&[id]), mode);
            let done = rig.memories.forget(&scope, &retract, via());
            let done = done.await.unwrap();
            assert_eq!(done.items[0].outcome, ForgetOutcome::Missing);
            assert_eq!(done.items[0].what, None);
        }
        let preview = ForgetRequest {
            apply: false,
            ..request(&cells(&[id]), Forgetting::Erase)
        };
        let shown = rig.memories.forget(&scope, &preview, via()).await.unwrap();
        assert_eq!((shown.token, &shown.items[0].what), (None, &None));
    }
    let recalled = recall(&rig.memories, &rig.scope(), "mine alone").await;
    assert_eq!(recalled.matches[0].cell.id, id);
}

#[tokio::test]
async fn the_reason_is_kept_without_its_secrets() {
    let rig = Rig::new().await;
    let id = rig.created("tea is at four").await.id;
    let retract = ForgetRequest {
        reason: Some(format!("it leaked {}", secret())),
        ..request(&cells(&[id]), Forgetting::Retract)
    };
    rig.do_forget(&retract).await.unwrap();
    let all = AuditFilter {
        limit: 1,
        ..AuditFilter::default()
    };
    let row = rig.store.audit(rig.owner(), &all).await.unwrap().remove(0);
    assert_eq!(
        (row.reason.as_deref(), row.redactions),
        (Some("it leaked [masked GitHub token]"), 1)
    );
    let history = rig.store.history(&rig.scope(), id).await.unwrap();
    assert_eq!(history[0].reason, row.reason);
}
