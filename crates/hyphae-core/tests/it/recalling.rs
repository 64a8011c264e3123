//! How memories are found.

use std::time::Duration;

use hyphae_core::{
    cell::{Layer, Share},
    memories::{MemoryError, Mode, NewMemory},
};
use pretty_assertions::assert_eq;

use crate::rig::{Rig, recall, request, texts, via};

#[tokio::test]
async fn the_identical_text_is_at_distance_nothing_and_distances_never_fall() {
    let rig = Rig::new().await;
    for text in [
        "release on Thursday",
        "release notes",
        "Thursday lunch",
        "unrelated words here",
    ] {
        rig.created(text).await;
    }
    let recalled = rig.recall("release on Thursday").await;
    let shown: Vec<String> = recalled
        .matches
        .iter()
        .map(|found| found.distance.unwrap().to_string())
        .collect();
    assert_eq!(shown[0], "0.0000");
    assert!(shown.is_sorted(), "{shown:?}");
    assert_eq!(texts(&recalled)[0], "release on Thursday");
    assert!(!texts(&recalled).contains(&"unrelated words here".to_owned()));
}

#[tokio::test]
async fn nothing_is_found_where_nothing_is_near() {
    let rig = Rig::new().await;
    rig.created("release on Thursday").await;
    for query in [
        "giraffe",
        "the of and",
        "?!",
        "'; drop table cells; --",
        "\"",
        "NEAR(a, b)",
    ] {
        assert_eq!(rig.texts(query).await, Vec::<String>::new(), "{query}");
    }
}

#[tokio::test]
async fn no_more_than_k_are_found_and_the_older_of_equals_comes_first() {
    let rig = Rig::new().await;
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.push(rig.created(&format!("twin x{n}")).await.id);
    }
    let request = request(&rig.memories, "twin", 3);
    let recalled = rig.memories.recall(&rig.scope(), &request).await.unwrap();
    let found: Vec<_> = recalled.matches.iter().map(|found| found.cell.id).collect();
    assert_eq!(found, ids[..3]);
}

#[tokio::test]
async fn of_equals_the_more_salient_comes_first() {
    let rig = Rig::new().await;
    for (text, salience) in [("twin x1", 0.2), ("twin x2", 0.9), ("twin x3", 0.5)] {
        let salience = Share::new(salience).unwrap();
        let memory = NewMemory {
            salience,
            ..NewMemory::new(text)
        };
        rig.keep(memory).await;
    }
    assert_eq!(rig.texts("twin").await, ["twin x2", "twin x3", "twin x1"]);
}

#[tokio::test]
async fn a_layer_holds_only_its_own() {
    let rig = Rig::new().await;
    rig.created("architecture pattern").await;
    for (layer, found) in [(Layer::L0, 1), (Layer::L1, 0), (Layer::L2, 0)] {
        let mut request = request(&rig.memories, "architecture pattern", 10);
        request.filter.layer = Some(layer);
        let recalled = rig.memories.recall(&rig.scope(), &request).await.unwrap();
        assert_eq!(recalled.matches.len(), found, "{layer}");
    }
}

#[tokio::test]
async fn what_another_process_stores_is_found_by_the_next_recall() {
    let rig = Rig::new().await;
    let other = rig.with_model("words/1", 512);
    assert_eq!(rig.texts("alpha").await, Vec::<String>::new());
    let memory = NewMemory::new("alpha");
    other.store(&rig.scope(), memory, via()).await.unwrap();
    assert_eq!(rig.texts("alpha").await, ["alpha"]);
}

#[tokio::test]
async fn reading_changes_no_later_answer() {
    let rig = Rig::new().await;
    for n in 0..8 {
        rig.created(&format!("twin x{n}")).await;
    }
    let first = rig.recall("twin").await;
    rig.memories
        .recall(&rig.scope(), &request(&rig.memories, "x5", 1))
        .await
        .unwrap();
    rig.memories.write_touched().await.unwrap();
    rig.clock.advance(Duration::from_secs(86_400 * 400));
    assert_eq!(rig.recall("twin").await, first);
    let fresh = rig.with_model("words/1", 512);
    assert_eq!(
        recall(&fresh, &rig.scope(), "twin").await,
        first,
        "and no other process' either"
    );
}

#[tokio::test]
async fn another_project_moves_no_ranking() {
    let rig = Rig::new().await;
    for text in ["rare common", "common thing", "common other"] {
        rig.created(text).await;
    }
    let before = rig.recall("rare common").await;
    for n in 0..20 {
        let elsewhere = rig.scope_of(0, "elsewhere");
        let memory = NewMemory::new(format!("rare {n}"));
        rig.keep_as(&elsewhere, memory).await;
    }
    assert_eq!(rig.recall("rare common").await, before);
}

#[tokio::test]
async fn an_empty_or_endless_query_is_an_error_that_says_so() {
    let rig = Rig::new().await;
    let of = |query: String| {
        let rig = &rig;
        async move {
            rig.memories
                .recall(&rig.scope(), &request(&rig.memories, &query, 10))
                .await
                .unwrap_err()
        }
    };
    assert!(matches!(
        of(" \n".to_owned()).await,
        MemoryError::EmptyQuery
    ));
    assert!(matches!(
        of("x".repeat(8001)).await,
        MemoryError::LongQuery { chars: 8001 }
    ));
}

#[tokio::test]
async fn with_another_model_words_are_searched_until_all_is_embedded_anew() {
    let rig = Rig::new().await;
    for text in ["alpha one", "alpha two", "beta three"] {
        rig.created(text).await;
    }
    let other = rig.with_model("words/2", 256);
    let meanwhile = recall(&other, &rig.scope(), "alpha").await;
    assert_eq!(
        (meanwhile.mode, meanwhile.matches.len()),
        (Mode::Keywords, 2)
    );

    other.choose_model(rig.owner()).await.unwrap();
    let memory = NewMemory::new("alpha four");
    other.store(&rig.scope(), memory, via()).await.unwrap();
    assert_eq!(
        rig.recall("alpha").await.mode,
        Mode::Keywords,
        "the first process notices"
    );
    assert_eq!(other.reembed(rig.owner(), 2).await.unwrap(), 2);
    assert_eq!(
        recall(&other, &rig.scope(), "alpha").await.mode,
        Mode::Keywords
    );
    assert_eq!(other.reembed(rig.owner(), 2).await.unwrap(), 1);
    assert_eq!(other.reembed(rig.owner(), 2).await.unwrap(), 0);

    let after = recall(&other, &rig.scope(), "alpha").await;
    assert_eq!((after.mode, after.matches.len()), (Mode::Hybrid, 3));
    assert!(after.matches.iter().all(|found| found.cosine.is_some()));
}
