//! Topics, keys and merges: memories that go into a cell that is there.

use hyphae_core::{
    cell::{CellType, Share, Source, Status, Validity, Visibility},
    memories::{NewMemory, Outcome},
    ports::MemoryStore,
};
use pretty_assertions::assert_eq;

use crate::rig::{Rig, secret, tags, texts, topic, via};

fn about(name: &str, text: &str) -> NewMemory {
    NewMemory {
        topic: topic(name),
        ..NewMemory::new(text)
    }
}

fn keyed(key: &str, text: &str) -> NewMemory {
    NewMemory {
        key: Some(key.to_owned()),
        ..NewMemory::new(text)
    }
}

#[tokio::test]
async fn a_later_memory_of_a_topic_takes_the_place_of_the_earlier() {
    let rig = Rig::new().await;
    let first = NewMemory {
        tags: tags(["storage"]),
        ..about("Database", "we run on MySQL")
    };
    let first = rig.keep(first).await;
    assert_eq!((first.outcome, first.revision), (Outcome::Created, 1));
    let before = rig.cell(first.id).await;

    let at = rig.tick();
    let mut second = about(" DATABASE\t", "Postgres 17 holds everything");
    second.cell_type = CellType::Decision;
    second.salience = Share::new(0.9).unwrap();
    second.confidence = Share::new(0.8).unwrap();
    second.validity = Validity::new(Some(at), None).unwrap();
    second.origin.source = Source::AgentInferred;
    let scope = rig.other();
    let second = rig.keep_as(&scope, second).await;
    assert_eq!(
        (second.id, second.outcome, second.revision),
        (first.id, Outcome::Revised, 2)
    );
    assert_eq!(
        rig.texts("postgres").await,
        ["Postgres 17 holds everything"]
    );
    assert_eq!(rig.texts("mysql").await, [""; 0]);

    let after = rig.cell(first.id).await;
    let mut want = before.clone();
    want.content = after.content.clone();
    want.cell_type = CellType::Decision;
    want.salience = Share::new(0.9).unwrap();
    want.confidence = Share::new(0.8).unwrap();
    want.validity = Validity::new(Some(at), None).unwrap();
    want.origin.source = Source::AgentInferred;
    (want.revision, want.content_revision) = (2, 2);
    want.updated_at = at;
    assert_eq!(after, want, "its tags stay, as none were given");
    let details = rig.memories.get(&scope, &[first.id], true, false).await;
    let history = &details.unwrap()[0].history;
    assert_eq!(history.len(), 1);
    assert_eq!(
        (&history[0].cell, history[0].replaced_by),
        (&before, scope.credential)
    );
}

#[tokio::test]
async fn a_topic_said_again_changes_nothing() {
    let rig = Rig::new().await;
    let first = rig.keep(about("database", "we run on Postgres")).await;
    rig.tick();
    let again = rig.keep(about("database", " we run on Postgres ")).await;
    assert_eq!(
        (again.id, again.outcome, again.revision),
        (first.id, Outcome::Unchanged, 1)
    );
    let tagged = NewMemory {
        tags: tags(["storage"]),
        ..about("database", "we run on Postgres")
    };
    let tagged = rig.keep(tagged).await;
    assert_eq!((tagged.outcome, tagged.revision), (Outcome::Revised, 2));
    assert_eq!(rig.cell(first.id).await.content_revision, 1);
}

#[tokio::test]
async fn what_is_there_already_comes_to_stand_for_the_topic() {
    let rig = Rig::new().await;
    let plain = rig.created("we run on Postgres").await;
    let stored = rig.keep(about("database", "we run on Postgres")).await;
    assert_eq!((stored.id, stored.outcome), (plain.id, Outcome::Revised));
    assert_eq!(rig.cell(plain.id).await.topic, topic("database"));
    let next = rig.keep(about("database", "we run on SQLite")).await;
    assert_eq!((next.id, next.revision), (plain.id, 3));
}

#[tokio::test]
async fn a_topic_moves_to_the_memory_that_says_the_same_already() {
    let rig = Rig::new().await;
    let old = rig.keep(about("database", "we run on MySQL")).await;
    let plain = rig.created("Postgres holds everything").await;
    rig.tick();
    let stored = rig
        .keep(about("database", "Postgres holds everything"))
        .await;
    assert_eq!((stored.id, stored.outcome), (plain.id, Outcome::Revised));
    assert_eq!(rig.cell(plain.id).await.topic, topic("database"));
    assert_eq!(rig.cell(old.id).await.status, Status::Superseded);
    assert_eq!(
        rig.texts("mysql").await,
        [""; 0],
        "what is outdated is not recalled"
    );
}

#[tokio::test]
async fn topics_of_other_readers_are_other_topics() {
    let rig = Rig::new().await;
    let mut ids = Vec::new();
    for (owner, project, visibility) in [
        (0, "project", Visibility::Project),
        (0, "project", Visibility::Private),
        (1, "project", Visibility::Private),
        (0, "project", Visibility::Shared),
        (0, "elsewhere", Visibility::Project),
    ] {
        let memory = NewMemory {
            visibility,
            ..about("database", "we run on Postgres")
        };
        let scope = rig.scope_of(owner, project);
        let stored = rig.keep_as(&scope, memory).await;
        assert_eq!(stored.outcome, Outcome::Created);
        ids.push(stored.id);
    }
    let mine = NewMemory {
        visibility: Visibility::Private,
        ..about("database", "I run on paper")
    };
    let stored = rig.keep_as(&rig.other(), mine).await;
    assert_eq!((stored.id, stored.outcome), (ids[2], Outcome::Revised));
}

#[tokio::test]
async fn a_memory_without_a_topic_does_not_go_into_one_with_a_topic() {
    let rig = Rig::new().await;
    let of_topic = rig.keep(about("tea", "tea is at four")).await;
    let plain = rig.store("Tea is at four!").await;
    assert_eq!(plain.outcome, Outcome::Created);
    assert_ne!(plain.id, of_topic.id);
}

#[tokio::test]
async fn a_repeated_request_adds_nothing() {
    let rig = Rig::new().await;
    let first = rig.keep(keyed("import 7", "tea is at four")).await;
    assert_eq!((first.outcome, first.key_reused), (Outcome::Created, false));
    let again = rig.keep(keyed("import 7", "tea is at four")).await;
    assert_eq!(
        (again.id, again.outcome, again.key_reused),
        (first.id, Outcome::Unchanged, false)
    );
    let other_text = rig.keep(keyed("import 7", "coffee in the morning")).await;
    assert_eq!(
        (other_text.id, other_text.outcome, other_text.key_reused),
        (first.id, Outcome::Unchanged, true),
        "another text under the same key is not stored"
    );
    assert_eq!(rig.texts("coffee").await, [""; 0]);
    let other_key = rig.keep(keyed("import 8", "coffee in the morning")).await;
    assert_eq!(other_key.outcome, Outcome::Created);
    // Another writer's key is another key.
    let theirs = keyed("import 7", "milk at noon");
    let theirs = rig.keep_as(&rig.other(), theirs).await;
    assert_eq!(theirs.outcome, Outcome::Created);
}

#[tokio::test]
async fn a_repeated_request_is_the_same_though_its_memory_was_changed_since() {
    let rig = Rig::new().await;
    let first = rig.keep(keyed("import 7", "tea is at four")).await;
    let patch = hyphae_core::memories::Patch {
        content: Some("tea is at five".to_owned()),
        ..Default::default()
    };
    let scope = rig.other();
    let updated = rig.memories.update(&scope, first.id, 1, &patch, via());
    updated.await.unwrap();
    let again = rig.keep(keyed("import 7", "tea is at four")).await;
    assert_eq!(
        (again.id, again.outcome, again.key_reused),
        (first.id, Outcome::Unchanged, false)
    );
    assert_eq!(rig.texts("tea").await, ["tea is at five"]);
}

#[tokio::test]
async fn a_key_is_kept_whatever_became_of_its_memory() {
    let rig = Rig::new().await;
    let plain = rig.created("tea is at four").await;
    let same = rig.keep(keyed("same", "tea is at four")).await;
    assert_eq!((same.id, same.outcome), (plain.id, Outcome::Unchanged));
    let merged = rig.keep(keyed("merged", "Tea is at four!")).await;
    assert_eq!((merged.id, merged.outcome), (plain.id, Outcome::Merged));
    for key in ["same", "merged"] {
        let again = rig.keep(keyed(key, "something else")).await;
        assert_eq!((again.id, again.key_reused), (plain.id, true), "{key}");
    }
    // In another project the same key is unused.
    let elsewhere = rig.scope_of(0, "elsewhere");
    let stored = rig
        .keep_as(&elsewhere, keyed("same", "tea is at six"))
        .await;
    assert_eq!(stored.outcome, Outcome::Created);
    let again = rig
        .keep_as(&elsewhere, keyed("same", "tea is at six"))
        .await;
    assert_eq!((again.id, again.outcome), (stored.id, Outcome::Unchanged));
}

#[tokio::test]
async fn a_merge_keeps_the_text_before_and_all_else() {
    let rig = Rig::new().await;
    let memory = NewMemory {
        tags: tags(["tea"]),
        salience: Share::new(0.9).unwrap(),
        ..NewMemory::new("tea is at four")
    };
    let first = rig.keep(memory).await;
    let before = rig.cell(first.id).await;
    let at = rig.tick();
    let scope = rig.other();
    let merged = rig.keep_as(&scope, NewMemory::new("Tea is at four!")).await;
    assert_eq!(
        (merged.id, merged.outcome, merged.revision),
        (first.id, Outcome::Merged, 2)
    );
    let after = rig.cell(first.id).await;
    let mut want = before.clone();
    want.content = after.content.clone();
    want.revision = 2;
    want.updated_at = at;
    assert_eq!(after, want, "it says nothing else than before");
    let history = rig.store.history(&scope, first.id).await.unwrap();
    assert_eq!(history.len(), 1);
    assert_eq!(
        (
            &history[0].cell,
            history[0].replaced_by,
            history[0].replaced_at
        ),
        (&before, scope.credential, at)
    );
}

#[tokio::test]
async fn what_is_true_at_another_time_or_was_taken_back_is_not_merged_into() {
    let rig = Rig::new().await;
    let first = rig.created("tea is at four").await;
    let later = NewMemory {
        validity: Validity::new(Some(rig.tick()), None).unwrap(),
        ..NewMemory::new("Tea is at four!")
    };
    let later = rig.keep(later).await;
    assert_eq!(later.outcome, Outcome::Created);
    let cell = rig.cell(first.id).await;
    assert_eq!(cell.content.as_str(), "tea is at four");
}

#[tokio::test]
async fn secrets_are_masked_in_topics_and_tags() {
    let rig = Rig::new().await;
    // What is known by its capitals is a secret before a label makes it small.
    let aws = "AKIAQPZRY2X7GFAKLMNB";
    let age = format!("AGE-SECRET-KEY-1{}", &"QPZRY9X8GF".repeat(6)[..58]);
    let memory = NewMemory {
        topic: topic(&format!("key {age}")),
        tags: tags([&secret(), aws, "plain"]),
        ..NewMemory::new("text")
    };
    let stored = rig.keep(memory).await;
    assert_eq!(stored.redactions, 3);
    let shown = format!("{:?}", rig.cell(stored.id).await).to_lowercase();
    for secret in [&secret(), aws, &age] {
        assert!(!shown.contains(&secret.to_lowercase()), "{shown}");
    }
    assert!(
        shown.contains("plain") && shown.contains("masked"),
        "{shown}"
    );
}

#[tokio::test]
async fn similar_memories_and_an_open_conflict_are_told() {
    let rig = Rig::new().await;
    let a = rig.created("release on Thursday evening").await;
    let b = rig.created("release on Friday evening").await;
    rig.created("unrelated words here").await;
    let ids: Vec<_> = b.similar.iter().map(|similar| similar.id).collect();
    assert_eq!(ids, [a.id]);
    let related = rig
        .link(a.id, hyphae_core::relation::RelationKind::Contradicts, b.id)
        .await;
    let again = rig.store("release on Friday evening").await;
    assert_eq!((again.id, again.conflict), (b.id, related.conflict));
    assert!(again.conflict.is_some());
    assert_eq!(texts(&rig.recall("release").await).len(), 2);
}
