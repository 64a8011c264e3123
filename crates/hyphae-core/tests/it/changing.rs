//! How memories are changed.

use hyphae_core::{
    audit::{Action, Via},
    cell::{CellType, Share, Status, Validity},
    diff::DiffKind,
    ids::{CellId, SessionId},
    memories::{Forgetting, MemoryError, NewMemory, Patch, Updated},
    ports::{AuditFilter, Clock, MemoryStore, Sequence},
};
use pretty_assertions::assert_eq;

use crate::rig::{Rig, secret, tag, tags, via};

fn content(text: &str) -> Patch {
    Patch {
        content: Some(text.to_owned()),
        ..Patch::default()
    }
}

async fn update(
    rig: &Rig,
    id: CellId,
    expected: u32,
    patch: &Patch,
) -> Result<Updated, MemoryError> {
    let scope = rig.scope();
    rig.memories
        .update(&scope, id, expected, patch, via())
        .await
}

#[tokio::test]
async fn an_update_changes_what_it_names_and_nothing_else() {
    let rig = Rig::new().await;
    let memory = NewMemory {
        tags: tags(["old", "stays"]),
        ..NewMemory::new("tea is at four")
    };
    let id = rig.keep(memory).await.id;
    let before = rig.cell(id).await;
    let at = rig.tick();
    let until = rig.tick();
    let patch = Patch {
        content: Some(" tea is at five\n".to_owned()),
        cell_type: Some(CellType::Decision),
        salience: Some(Share::new(0.9).unwrap()),
        add_tags: vec![tag("new")],
        remove_tags: vec![tag("old"), tag("never there")],
        valid_until: Some(until),
        reason: Some(" the kitchen moved ".to_owned()),
    };
    let session = Some(SessionId::new(rig.clock.new_id()));
    let client = Some("editor/1".to_owned());
    let via = Via { session, client };
    let scope = rig.other();
    let updated = rig
        .memories
        .update(&scope, id, 1, &patch, &via)
        .await
        .unwrap();
    assert_eq!(
        (updated.id, updated.revision, updated.redactions),
        (id, 2, 0)
    );

    let after = rig.cell(id).await;
    let mut want = before.clone();
    want.content = after.content.clone();
    want.cell_type = CellType::Decision;
    want.salience = Share::new(0.9).unwrap();
    want.tags = tags(["new", "stays"]);
    want.validity = Validity::new(None, Some(until)).unwrap();
    (want.revision, want.content_revision) = (2, 2);
    want.updated_at = until;
    assert_eq!((after.content.as_str(), &after), ("tea is at five", &want));
    assert!(at < after.updated_at);

    let history = rig.store.history(&scope, id).await.unwrap();
    assert_eq!(history[0].cell, before);
    assert_eq!(history[0].reason.as_deref(), Some("the kitchen moved"));
    let diffs = rig.store.diffs(&scope, Sequence(0), &[], true, 9).await;
    let diff = diffs.unwrap().pop().unwrap();
    assert_eq!(
        (Some(diff.id), diff.kind, diff.author),
        (updated.diff, DiffKind::Updated, scope.credential)
    );
    let filter = AuditFilter {
        limit: 1,
        ..AuditFilter::default()
    };
    let row = rig
        .store
        .audit(rig.owner(), &filter)
        .await
        .unwrap()
        .remove(0);
    assert_eq!(
        (row.action, row.via, row.reason.as_deref(), row.subjects),
        (
            Action::Update,
            via,
            Some("the kitchen moved"),
            vec![id.uuid()]
        )
    );
}

#[tokio::test]
async fn an_updated_memory_is_found_by_its_new_words_only() {
    let rig = Rig::new().await;
    let id = rig.created("tea is at four").await.id;
    update(&rig, id, 1, &content("coffee in the morning"))
        .await
        .unwrap();
    assert_eq!(rig.texts("tea").await, [""; 0]);
    assert_eq!(rig.texts("coffee").await, ["coffee in the morning"]);
}

#[tokio::test]
async fn an_update_that_changes_nothing_writes_nothing() {
    let rig = Rig::new().await;
    let memory = NewMemory {
        tags: tags(["a"]),
        ..NewMemory::new("tea is at four")
    };
    let id = rig.keep(memory).await.id;
    let before = rig.store.newest(rig.owner()).await.unwrap();
    for patch in [
        Patch::default(),
        content("tea is at four "),
        Patch {
            cell_type: Some(CellType::Fact),
            salience: Some(Share::HALF),
            add_tags: vec![tag("A")],
            remove_tags: vec![tag("b")],
            reason: Some("no reason".to_owned()),
            ..Patch::default()
        },
    ] {
        let updated = update(&rig, id, 1, &patch).await.unwrap();
        assert_eq!((updated.revision, updated.diff), (1, None));
    }
    assert_eq!(rig.store.newest(rig.owner()).await.unwrap(), before);
}

#[tokio::test]
async fn only_the_expected_revision_is_changed() {
    let rig = Rig::new().await;
    let id = rig.created("tea is at four").await.id;
    update(&rig, id, 1, &content("tea is at five"))
        .await
        .unwrap();
    for expected in [0, 1, 3] {
        let error = update(&rig, id, expected, &content("tea is at six")).await;
        let error = error.unwrap_err();
        assert!(
            matches!(error, MemoryError::RevisionConflict { id: of, expected: e, current: 2 }
                if of == id && e == expected),
            "{error:?}"
        );
    }
    let unknown = CellId::new(rig.clock.new_id());
    let error = update(&rig, unknown, 1, &content("x")).await.unwrap_err();
    assert!(matches!(error, MemoryError::NotFound { .. }), "{error:?}");
    assert_eq!(rig.cell(id).await.content.as_str(), "tea is at five");
}

#[tokio::test]
async fn of_two_processes_that_change_a_memory_at_once_one_is_told() {
    let rig = Rig::new().await;
    let id = rig.created("tea is at four").await.id;
    let other = rig.with_model("words/1", 512);
    let scope = rig.scope();
    let (a, b) = (content("tea is at five"), content("tea is at six"));
    let (first, second) = tokio::join!(update(&rig, id, 1, &a), async {
        other.update(&scope, id, 1, &b, via()).await
    });
    let (won, lost) = match (first, second) {
        (Ok(won), Err(lost)) | (Err(lost), Ok(won)) => (won, lost),
        both => panic!("{both:?}"),
    };
    assert_eq!(won.revision, 2);
    assert!(
        matches!(
            lost,
            MemoryError::RevisionConflict {
                expected: 1,
                current: 2,
                ..
            }
        ),
        "{lost:?}"
    );
}

#[tokio::test]
async fn what_cannot_be_is_refused_and_nothing_is_changed() {
    let rig = Rig::new().await;
    let from = rig.tick();
    let memory = NewMemory {
        validity: Validity::new(Some(from), None).unwrap(),
        tags: hyphae_core::label::Tags::new((0..16).map(|n| tag(&n.to_string()))).unwrap(),
        ..NewMemory::new("tea is at four")
    };
    let id = rig.keep(memory).await.id;
    let there = rig.created("coffee in the morning").await.id;
    let before = (
        rig.cell(id).await,
        rig.store.newest(rig.owner()).await.unwrap(),
    );
    let until = Patch {
        valid_until: Some(from),
        ..Patch::default()
    };
    let many = Patch {
        add_tags: vec![tag("one more")],
        ..Patch::default()
    };
    let long_reason = Patch {
        reason: Some("x".repeat(1001)),
        ..content("tea is at five")
    };
    let same = update(&rig, id, 1, &content("coffee in the morning")).await;
    assert!(
        matches!(same, Err(MemoryError::Duplicate { id }) if id == there),
        "{same:?}"
    );
    let refused = update(&rig, id, 1, &until).await;
    assert!(matches!(refused, Err(MemoryError::NoTime)), "{refused:?}");
    let refused = update(&rig, id, 1, &many).await;
    assert!(matches!(refused, Err(MemoryError::Value(_))), "{refused:?}");
    let refused = update(&rig, id, 1, &long_reason).await;
    assert!(
        matches!(refused, Err(MemoryError::LongText { chars: 1001, .. })),
        "{refused:?}"
    );
    let refused = update(&rig, id, 1, &content(" ")).await;
    assert!(
        matches!(refused, Err(MemoryError::Content(_))),
        "{refused:?}"
    );
    let after = (
        rig.cell(id).await,
        rig.store.newest(rig.owner()).await.unwrap(),
    );
    assert_eq!(after, before);
}

#[tokio::test]
async fn what_is_not_active_is_not_changed() {
    let rig = Rig::new().await;
    let id = rig.created("tea is at four").await.id;
    rig.forget(id, Forgetting::Retract).await;
    let error = update(&rig, id, 2, &content("tea is at five"))
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            MemoryError::Inactive {
                status: Status::Retracted,
                ..
            }
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn secrets_are_masked_in_all_that_an_update_brings() {
    let rig = Rig::new().await;
    let id = rig.created("tea is at four").await.id;
    let patch = Patch {
        content: Some(format!("the token is {}", secret())),
        add_tags: vec![tag(&secret())],
        reason: Some(format!("it was {}", secret())),
        ..Patch::default()
    };
    let updated = update(&rig, id, 1, &patch).await.unwrap();
    assert_eq!(updated.redactions, 3);
    let scope = rig.scope();
    let filter = AuditFilter {
        limit: 9,
        ..AuditFilter::default()
    };
    let audit = rig.store.audit(rig.owner(), &filter).await.unwrap();
    assert_eq!((audit[0].redactions, audit[1].redactions), (3, 0));
    let history = rig.store.history(&scope, id).await.unwrap();
    let shown = format!("{:?} {audit:?} {history:?}", rig.cell(id).await).to_lowercase();
    assert!(!shown.contains(&secret().to_lowercase()), "{shown}");
    assert_eq!(shown.matches("[masked").count(), 4, "{shown}");
}
