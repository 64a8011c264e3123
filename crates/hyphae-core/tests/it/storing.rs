//! How memories come in.

use hyphae_core::{
    audit::Action,
    cell::{CellType, Origin, Source, Visibility},
    ids::SessionId,
    memories::{MemoryError, NewMemory, Outcome},
    ports::{AuditFilter, Clock, MemoryStore, StoreError},
};
use pretty_assertions::assert_eq;

use crate::rig::{Rig, texts, via};

#[tokio::test]
async fn the_same_text_is_kept_once_per_type() {
    let rig = Rig::new().await;
    let first = rig.created("We ship Postgres for V1").await;
    let again = rig.store("  We ship Postgres for V1\n").await;
    assert_eq!((again.id, again.outcome), (first.id, Outcome::Unchanged));
    let decision = NewMemory {
        cell_type: CellType::Decision,
        ..NewMemory::new("We ship Postgres for V1")
    };
    let other = rig.keep(decision).await;
    assert_eq!(other.outcome, Outcome::Created);
    assert_ne!(other.id, first.id);
}

#[tokio::test]
async fn the_audit_tells_what_was_brought_in_from_what_was_stored() {
    let rig = Rig::new().await;
    let imported = NewMemory {
        origin: Origin {
            source: Source::Imported,
            ..Origin::default()
        },
        ..NewMemory::new("herons stand in the reeds")
    };
    rig.keep(imported).await;
    rig.created("We ship Postgres for V1").await;
    let all = AuditFilter {
        limit: 9,
        ..AuditFilter::default()
    };
    let audit = rig.store.audit(rig.owner(), &all).await.unwrap();
    let actions: Vec<Action> = audit.iter().map(|row| row.action).collect();
    assert_eq!(actions, [Action::Store, Action::Import]);
}

#[tokio::test]
async fn another_punctuation_is_merged_and_the_newest_text_is_recalled() {
    let rig = Rig::new().await;
    let first = rig.created("We ship Postgres for V1").await;
    let merged = rig.store("we ship Postgres, for V1!").await;
    assert_eq!((merged.id, merged.outcome), (first.id, Outcome::Merged));
    assert_eq!(rig.texts("postgres").await, ["we ship Postgres, for V1!"]);
    let cells = rig.store.cells(&rig.scope(), &[first.id]).await.unwrap();
    assert_eq!(cells[0].revision, 2);
}

#[tokio::test]
async fn what_is_near_but_says_something_else_stays_apart() {
    let rig = Rig::new().await;
    for text in [
        "we indent by tabs, not spaces",
        "we indent by spaces, not tabs",
        "we run Postgres 15",
        "we run Postgres 16",
        "we do ship on Fridays",
        "we do not ship on Fridays",
    ] {
        rig.created(text).await;
    }
}

#[tokio::test]
async fn secrets_are_masked_before_texts_are_compared() {
    let rig = Rig::new().await;
    let token = |tail: &str| format!("the token is ghp_{}{tail}", "a1B2c3D4e5F6".repeat(3));
    let first = rig.store(&token("")).await;
    assert_eq!((first.redactions, first.outcome), (1, Outcome::Created));
    let other = rig.store(&token("XYZ")).await;
    assert_eq!((other.id, other.outcome), (first.id, Outcome::Unchanged));
    assert_eq!(
        rig.texts("token").await,
        ["the token is [masked GitHub token]"]
    );
}

#[tokio::test]
async fn private_memories_are_their_authors_alone() {
    let rig = Rig::new().await;
    let (mine, theirs) = (rig.scope_of(0, "project"), rig.scope_of(1, "project"));
    let private = || NewMemory {
        visibility: Visibility::Private,
        ..NewMemory::new("a secret plan")
    };
    let first = rig.keep_as(&mine, private()).await;
    let other = rig.keep_as(&theirs, private()).await;
    assert_eq!(
        other.outcome,
        Outcome::Created,
        "not told that somebody has the same"
    );
    for (scope, want) in [(&mine, first.id), (&theirs, other.id)] {
        let recalled = crate::rig::recall(&rig.memories, scope, "secret plan").await;
        let ids: Vec<_> = recalled.matches.iter().map(|found| found.cell.id).collect();
        assert_eq!(ids, [want]);
    }
}

#[tokio::test]
async fn a_shared_memory_reaches_every_project_and_no_other_crosses() {
    let rig = Rig::new().await;
    let here = rig.scope_of(0, "here");
    let there = rig.scope_of(1, "there");
    let shared = NewMemory {
        visibility: Visibility::Shared,
        ..NewMemory::new("shared rule")
    };
    rig.keep_as(&here, shared).await;
    rig.keep_as(&here, NewMemory::new("local rule")).await;
    let recalled = crate::rig::recall(&rig.memories, &there, "rule").await;
    assert_eq!(texts(&recalled), ["shared rule"]);
}

#[tokio::test]
async fn memories_of_a_session_know_their_place_in_it() {
    let rig = Rig::new().await;
    let session = SessionId::new(rig.clock.new_id());
    let mut positions = Vec::new();
    for text in ["alpha one", "beta two", "gamma three"] {
        let origin = Origin {
            session: Some(session),
            ..Origin::default()
        };
        let memory = NewMemory {
            origin,
            ..NewMemory::new(text)
        };
        let stored = rig.keep(memory).await;
        let cells = rig.store.cells(&rig.scope(), &[stored.id]).await.unwrap();
        positions.push(cells[0].origin.position);
    }
    assert_eq!(positions, [Some(0), Some(1), Some(2)]);
    assert_eq!(
        rig.texts("alpha").await,
        ["alpha one", "beta two"],
        "found by what was before it"
    );
}

#[tokio::test]
async fn links_lead_both_ways_and_no_node_has_more_than_its_layer_allows() {
    let rig = Rig::new().await;
    let mut ids = Vec::new();
    for n in 0..60 {
        // All share a word, so all are near each other; each has words of its own.
        ids.push(rig.created(&format!("hub item{n} detail{n}")).await.id);
    }
    let links = rig
        .store
        .links(&rig.scope(), &ids, &|_| false)
        .await
        .unwrap();
    assert_eq!(links.len(), ids.len());
    let linked = links.iter().filter(|(_, links)| !links.is_empty()).count();
    assert!(linked > 1, "somebody has neighbours");
    for (id, links) in &links {
        assert!(links.len() <= 24, "{id} has {}", links.len());
        assert!(
            links
                .iter()
                .all(|link| link.to != *id && link.weight > 0.0 && link.weight <= 1.0)
        );
        assert!(
            links
                .windows(2)
                .all(|pair| pair[0].weight >= pair[1].weight),
            "strongest first"
        );
    }
}

#[tokio::test]
async fn a_process_with_another_model_is_told_and_nothing_is_kept() {
    let rig = Rig::new().await;
    rig.created("made with the first model").await;
    let other = rig.with_model("words/2", 256);
    let error = other
        .store(&rig.scope(), NewMemory::new("second"), via())
        .await
        .unwrap_err();
    assert!(
        matches!(&error, MemoryError::Store(StoreError::OtherModel { found, wanted })
            if found == "words/1" && wanted == "words/2"),
        "{error:?}"
    );
    assert_eq!(rig.texts("second").await, Vec::<String>::new());
}
