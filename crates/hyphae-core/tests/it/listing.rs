//! Memories without a query, and pages of them.

use std::time::Duration;

use hyphae_core::{
    cell::{CellType, Share},
    ids::CellId,
    memories::{Forgetting, HitCount, Mode, NewMemory, PageStart, RecallRequest},
    recall::Filter,
};
use pretty_assertions::assert_eq;

use crate::rig::{Rig, texts};

#[tokio::test]
async fn a_briefing_begins_with_what_matters_most() {
    let rig = Rig::new().await;
    let stored = async |text: &str, cell_type, salience: f64| {
        let memory = NewMemory {
            cell_type,
            salience: Share::new(salience).unwrap(),
            ..NewMemory::new(text)
        };
        rig.keep(memory).await.id
    };
    stored("a task", CellType::Task, 0.9).await;
    stored("a fact", CellType::Fact, 0.5).await;
    stored("a constraint", CellType::Constraint, 0.5).await;
    stored("a salient fact", CellType::Fact, 0.9).await;
    stored("an equal fact", CellType::Fact, 0.5).await;
    let gone = stored("taken back", CellType::Decision, 1.0).await;
    rig.forget(gone, Forgetting::Retract).await;
    let want = [
        "a constraint",
        "a salient fact",
        "a fact",
        "an equal fact",
        "a task",
    ];
    for k in [1, 3, 10] {
        let request = RecallRequest {
            query: None,
            k: HitCount::new(k).unwrap(),
            filter: Filter::at(rig.memories.now()),
            max_distance: None,
        };
        let recalled = rig.memories.recall(&rig.scope(), &request).await.unwrap();
        assert_eq!(recalled.mode, Mode::Briefing);
        assert_eq!(texts(&recalled), want[..usize::from(k).min(5)]);
        assert!(
            recalled
                .matches
                .iter()
                .all(|found| found.distance.is_none())
        );
    }
    // What was said long ago matters less than the same said now.
    rig.clock.advance(Duration::from_secs(86_400 * 200));
    stored("a late fact", CellType::Fact, 0.5).await;
    let request = RecallRequest {
        query: None,
        k: HitCount::default(),
        filter: Filter::at(rig.memories.now()),
        max_distance: None,
    };
    let recalled = rig.memories.recall(&rig.scope(), &request).await.unwrap();
    let found = texts(&recalled);
    let place = |text: &str| found.iter().position(|found| found == text).unwrap();
    assert!(place("a late fact") < place("a fact"), "{found:?}");
}

#[tokio::test]
async fn a_listing_is_read_in_pages_newest_first_or_nearest_first() {
    let rig = Rig::new().await;
    let scope = rig.scope();
    let mut ids = Vec::new();
    for n in 0..7 {
        ids.push(rig.created(&format!("page x{n}")).await.id);
        if n % 3 == 0 {
            rig.tick();
        }
    }
    rig.created("something else").await;
    let filter = Filter::at(rig.memories.now());
    for (query, total) in [(None, 8), (Some("page"), 7)] {
        for limit in [1, 2, 3, 7, 8, 9] {
            let mut found = Vec::new();
            let mut start: Option<PageStart> = None;
            loop {
                let page = rig
                    .memories
                    .list(&scope, query, &filter, start, limit)
                    .await;
                let page = page.unwrap();
                assert_eq!(page.total, total);
                assert_eq!(page.mode, query.map(|_| Mode::Hybrid));
                assert!(page.matches.len() <= limit);
                found.extend(page.matches.into_iter().map(|found| found.cell.id));
                start = page.next;
                if start.is_none() {
                    break;
                }
            }
            assert_eq!(found.len() as u64, total, "{query:?} in pages of {limit}");
            // Of equal distance what changed last comes first, then what is older.
            let mut want = [&ids[4..], &ids[1..4], &ids[..1]].concat();
            if query.is_none() {
                want = ids.iter().rev().copied().collect();
                found.remove(0);
            }
            assert_eq!(found, want, "{query:?} in pages of {limit}");
        }
    }
    // Looking through them is no use of them.
    let before = rig
        .memories
        .list(&scope, None, &filter, None, 9)
        .await
        .unwrap();
    rig.memories.write_touched().await.unwrap();
    let after = rig
        .memories
        .list(&scope, None, &filter, None, 9)
        .await
        .unwrap();
    assert_eq!(before, after);
}

#[tokio::test]
async fn a_listing_of_pages_goes_on_behind_what_is_gone() {
    let rig = Rig::new().await;
    let scope = rig.scope();
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.push(rig.created(&format!("page x{n}")).await.id);
    }
    let filter = Filter::at(rig.memories.now());
    let first = rig
        .memories
        .list(&scope, None, &filter, None, 2)
        .await
        .unwrap();
    rig.forget(ids[3], Forgetting::Retract).await;
    let rest = rig
        .memories
        .list(&scope, None, &filter, first.next, 9)
        .await
        .unwrap();
    let found: Vec<CellId> = rest.matches.iter().map(|found| found.cell.id).collect();
    assert_eq!(found, [ids[2], ids[1], ids[0]]);
    assert_eq!(rest.total, 4);
}
