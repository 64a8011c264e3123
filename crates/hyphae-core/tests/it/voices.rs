//! Confirmations.

use hyphae_core::{
    cell::{CellType, Layer, Share, Visibility},
    ids::CellId,
    memories::{Confirmed, Forgetting, MemoryError, NewMemory, Patch, Voice},
    ports::Clock,
    scope::Scope,
};
use pretty_assertions::assert_eq;

use crate::rig::{Rig, secret, topic, via};

impl Rig {
    async fn confirm_as(&self, scope: &Scope, id: CellId) -> Confirmed {
        let confirmed = self.memories.confirm(scope, &[id], None, via()).await;
        confirmed.unwrap().remove(0)
    }
}

#[tokio::test]
async fn a_memory_rises_by_the_voices_of_others() {
    let rig = Rig::new().await;
    let memory = NewMemory {
        cell_type: CellType::Decision,
        ..NewMemory::new("we ship on Thursdays")
    };
    let id = rig.keep(memory).await.id;
    let (mine, theirs) = (rig.scope(), rig.other());
    let at = rig.tick();
    let by_author = rig.confirm_as(&mine, id).await;
    let want = Confirmed {
        id,
        outcome: Voice::Author,
        layer: Layer::L0,
        voices: 0,
        needed: Some(2),
        verified_at: Some(at),
    };
    assert_eq!(by_author, want, "an author has no voice of its own");
    let at = rig.tick();
    let counted = rig.confirm_as(&theirs, id).await;
    let want = Confirmed {
        outcome: Voice::Counted,
        voices: 1,
        verified_at: Some(at),
        ..want
    };
    assert_eq!(counted, want);
    let at = rig.tick();
    let repeated = rig.confirm_as(&theirs, id).await;
    let want = Confirmed {
        outcome: Voice::Repeated,
        verified_at: Some(at),
        ..want
    };
    assert_eq!(repeated, want);
    assert_eq!(rig.cell(id).await.revision, 1);
    // Nothing can be built on a fact.
    let fact = rig.created("tea is at four").await.id;
    assert_eq!(rig.confirm_as(&theirs, fact).await.needed, None);
}

#[tokio::test]
async fn another_text_has_no_voices_and_other_punctuation_keeps_them() {
    let rig = Rig::new().await;
    let (mine, theirs) = (rig.scope(), rig.other());
    let memory = NewMemory {
        topic: topic("tea"),
        ..NewMemory::new("tea is at four")
    };
    let of_topic = rig.keep(memory.clone()).await.id;
    let plain = rig.created("coffee in the morning").await.id;
    for id in [of_topic, plain] {
        assert_eq!(rig.confirm_as(&theirs, id).await.voices, 1);
    }
    let merged = rig.store("Coffee, in the morning!").await;
    assert_eq!((merged.id, merged.revision), (plain, 2));
    let again = rig.confirm_as(&mine, plain).await;
    assert_eq!((again.voices, again.outcome), (1, Voice::Author));
    let patch = Patch {
        salience: Some(Share::FULL),
        ..Patch::default()
    };
    rig.memories
        .update(&mine, plain, 2, &patch, via())
        .await
        .unwrap();
    assert_eq!(rig.confirm_as(&mine, plain).await.voices, 1);

    let patch = Patch {
        content: Some("no coffee at all".to_owned()),
        ..Patch::default()
    };
    rig.memories
        .update(&mine, plain, 3, &patch, via())
        .await
        .unwrap();
    let next = NewMemory {
        content: "no tea at all".to_owned(),
        ..memory
    };
    rig.keep(next).await;
    for id in [of_topic, plain] {
        assert_eq!(rig.confirm_as(&mine, id).await.voices, 0, "of another text");
        let counted = rig.confirm_as(&theirs, id).await;
        assert_eq!((counted.outcome, counted.voices), (Voice::Counted, 1));
    }
}

#[tokio::test]
async fn what_cannot_be_confirmed_is_told_one_by_one() {
    let rig = Rig::new().await;
    let good = rig.created("tea is at four").await.id;
    let retracted = rig.created("coffee in the morning").await.id;
    rig.forget(retracted, Forgetting::Retract).await;
    let unknown = CellId::new(rig.clock.new_id());
    let hidden = NewMemory {
        visibility: Visibility::Private,
        ..NewMemory::new("mine alone")
    };
    let hidden = rig.keep(hidden).await.id;
    let ids = [unknown, good, retracted, hidden, good];
    let scope = rig.other();
    let evidence = format!("seen {}", secret());
    let confirmed = rig.memories.confirm(&scope, &ids, Some(&evidence), via());
    let outcomes: Vec<_> = confirmed
        .await
        .unwrap()
        .iter()
        .map(|c| (c.id, c.outcome))
        .collect();
    assert_eq!(
        outcomes,
        [
            (unknown, Voice::Missing),
            (good, Voice::Counted),
            (retracted, Voice::Inactive),
            (hidden, Voice::Missing),
            (good, Voice::Counted),
        ]
    );
    let kept = rig
        .memories
        .get(&scope, &[good], false, true)
        .await
        .unwrap();
    let evidence = kept[0].confirmations[0].evidence.as_deref();
    assert_eq!(evidence, Some("seen [masked GitHub token]"));
    let long = "x".repeat(1001);
    let long = rig.memories.confirm(&scope, &ids, Some(&long), via());
    assert!(matches!(long.await, Err(MemoryError::LongText { .. })));
}
