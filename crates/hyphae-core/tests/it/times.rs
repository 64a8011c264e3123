//! What held when, which memories a filter lets through, and in which order they come without a
//! query.

use std::time::Duration;

use hyphae_core::{
    cell::{CellType, Status, Validity, Visibility},
    memories::{Forgetting, NewMemory, Patch},
    recall::{Filter, When},
    relation::RelationKind,
};
use jiff::Timestamp;
use pretty_assertions::assert_eq;

use crate::rig::{Rig, request, tag, tags, texts, topic, via};

impl Rig {
    /// Recalls the texts that hold at a time.
    async fn texts_at(&self, query: &str, when: When) -> Vec<String> {
        let mut request = request(&self.memories, query, 10);
        request.filter.when = when;
        let recalled = self.memories.recall(&self.scope(), &request).await;
        texts(&recalled.unwrap())
    }

    async fn as_of(&self, query: &str, at: Timestamp) -> Vec<String> {
        self.texts_at(query, When::AsOf(at)).await
    }

    async fn list(&self, filter: &Filter) -> Vec<String> {
        let scope = self.scope();
        let page = self
            .memories
            .list(&scope, None, filter, None, 100)
            .await
            .unwrap();
        assert_eq!((page.total as usize, page.next), (page.matches.len(), None));
        let cells = page.matches.iter();
        cells
            .map(|found| found.cell.content.as_str().to_owned())
            .collect()
    }
}

#[tokio::test]
async fn a_question_about_the_past_finds_what_was_superseded_since() {
    let rig = Rig::new().await;
    let before = rig.tick();
    rig.tick();
    let old = rig.created("deploys run on Tuesday").await.id;
    let between = rig.tick();
    rig.tick();
    let new = rig.created("deploys run on Friday").await.id;
    rig.link(new, RelationKind::Supersedes, old).await;
    let after = rig.tick();

    assert_eq!(rig.texts("deploys").await, ["deploys run on Friday"]);
    assert_eq!(rig.as_of("deploys", before).await, [""; 0]);
    assert_eq!(
        rig.as_of("deploys", between).await,
        ["deploys run on Tuesday"]
    );
    assert_eq!(rig.as_of("deploys", after).await, ["deploys run on Friday"]);
    let then = rig.cell(old).await.updated_at;
    assert_eq!(
        rig.as_of("deploys", then).await,
        ["deploys run on Friday"],
        "the moment itself belongs to the new one"
    );
}

#[tokio::test]
async fn a_question_about_the_past_shows_the_text_of_that_time() {
    let rig = Rig::new().await;
    let memory = NewMemory {
        topic: topic("deploys"),
        ..NewMemory::new("deploys run on Tuesday")
    };
    let id = rig.keep(memory).await.id;
    let first = rig.tick();
    rig.tick();
    let patch = Patch {
        content: Some("deploys run on Friday".to_owned()),
        ..Patch::default()
    };
    let scope = rig.scope();
    rig.memories
        .update(&scope, id, 1, &patch, via())
        .await
        .unwrap();
    let second = rig.tick();
    rig.tick();
    let memory = NewMemory {
        topic: topic("deploys"),
        ..NewMemory::new("deploys run on Sunday")
    };
    rig.keep(memory).await;

    for (at, want) in [
        (first, "deploys run on Tuesday"),
        (second, "deploys run on Friday"),
        (rig.tick(), "deploys run on Sunday"),
    ] {
        assert_eq!(rig.as_of("deploys", at).await, [want]);
        let mut request = request(&rig.memories, "deploys", 1);
        request.filter.when = When::AsOf(at);
        let recalled = rig.memories.recall(&scope, &request).await.unwrap();
        let found = &recalled.matches[0].cell;
        assert_eq!((found.id, found.status), (id, Status::Active));
    }
}

#[tokio::test]
async fn what_was_taken_back_was_never_true() {
    let rig = Rig::new().await;
    let id = rig.created("deploys run on Tuesday").await.id;
    let then = rig.tick();
    rig.tick();
    rig.forget(id, Forgetting::Retract).await;
    assert_eq!(rig.as_of("deploys", then).await, [""; 0]);
    rig.tick();
    rig.forget(id, Forgetting::Restore).await;
    assert_eq!(rig.as_of("deploys", then).await, ["deploys run on Tuesday"]);
}

#[tokio::test]
async fn a_memory_holds_from_when_it_is_said_to_be_true_until_when() {
    let rig = Rig::new().await;
    let long_ago = rig.tick();
    let from = rig.tick();
    let during = rig.tick();
    let stored_at = rig.tick();
    let memory = |text: &str, from, until| NewMemory {
        validity: Validity::new(from, until).unwrap(),
        ..NewMemory::new(text)
    };
    let later = rig.tick();
    let until = later + Duration::from_secs(60);
    rig.keep(memory("deploys once", Some(from), Some(stored_at)))
        .await;
    rig.keep(memory("deploys since", Some(from), None)).await;
    rig.keep(memory("deploys until", None, Some(until))).await;
    rig.keep(memory("deploys soon", Some(until), None)).await;
    let found = async |when| {
        let mut found = rig.texts_at("deploys", when).await;
        found.sort_unstable();
        found
    };
    assert_eq!(found(When::AsOf(long_ago)).await, [""; 0]);
    assert_eq!(
        found(When::AsOf(from)).await,
        ["deploys once", "deploys since"],
        "true before it was stored"
    );
    assert_eq!(
        found(When::AsOf(during)).await,
        ["deploys once", "deploys since"]
    );
    assert_eq!(found(When::AsOf(stored_at)).await, ["deploys since"]);
    assert_eq!(
        found(rig.memories.now()).await,
        ["deploys since", "deploys until"]
    );
    assert_eq!(
        found(When::Now(until)).await,
        ["deploys since", "deploys soon"],
        "what expires is gone without anybody doing anything"
    );
    assert_eq!(
        found(When::AsOf(until)).await,
        ["deploys since", "deploys soon"]
    );
    assert_eq!(found(When::Ever).await.len(), 4);
}

#[tokio::test]
async fn whatever_its_status_a_memory_is_found_when_asked_for_ever() {
    let rig = Rig::new().await;
    let retracted = rig.created("deploys one").await.id;
    let superseded = rig.created("deploys two").await.id;
    let active = rig.created("deploys three").await.id;
    rig.link(active, RelationKind::Supersedes, superseded).await;
    rig.forget(retracted, Forgetting::Retract).await;
    assert_eq!(rig.texts("deploys").await, ["deploys three"]);
    for (statuses, want) in [
        (vec![], 3),
        (vec![Status::Active], 1),
        (vec![Status::Retracted], 1),
        (vec![Status::Superseded, Status::Retracted], 2),
    ] {
        let mut request = request(&rig.memories, "deploys", 10);
        request.filter.when = When::Ever;
        request.filter.statuses.clone_from(&statuses);
        let recalled = rig.memories.recall(&rig.scope(), &request).await.unwrap();
        assert_eq!(recalled.matches.len(), want, "{statuses:?}");
        for found in recalled.matches {
            assert!(statuses.is_empty() || statuses.contains(&found.cell.status));
        }
    }
}

#[tokio::test]
async fn all_conditions_of_a_filter_hold_together() {
    let rig = Rig::new().await;
    let other = rig.other();
    let memory = |text: &str, cell_type, tags| NewMemory {
        cell_type,
        tags,
        ..NewMemory::new(text)
    };
    let (fact, risk, task) = (CellType::Fact, CellType::Risk, CellType::Task);
    rig.keep(memory("x one", fact, tags(["a"]))).await;
    let second = rig.tick();
    rig.keep(memory("x two", risk, tags(["a", "b"]))).await;
    rig.keep_as(&other, memory("x three", fact, tags(["b"])))
        .await;
    let third = rig.tick();
    rig.keep_as(&other, memory("x four", task, tags(["a", "b", "c"])))
        .await;

    let all = || Filter::at(rig.memories.now());
    let by = |owner: usize| Some(rig.scope_of(owner, "project").credential);
    for (filter, want) in [
        (all(), vec!["x four", "x three", "x two", "x one"]),
        (
            Filter {
                types: vec![fact, task],
                ..all()
            },
            vec!["x four", "x three", "x one"],
        ),
        (
            Filter {
                tags: vec![tag("a")],
                ..all()
            },
            vec!["x four", "x two", "x one"],
        ),
        (
            Filter {
                tags: vec![tag("b"), tag("a")],
                ..all()
            },
            vec!["x four", "x two"],
        ),
        (
            Filter {
                tags: vec![tag("b"), tag("nowhere")],
                ..all()
            },
            vec![],
        ),
        (
            Filter {
                author: by(1),
                ..all()
            },
            vec!["x four", "x three"],
        ),
        (
            Filter {
                since: Some(second),
                until: Some(third),
                ..all()
            },
            vec!["x three", "x two"],
        ),
        (
            Filter {
                author: by(0),
                tags: vec![tag("a")],
                since: Some(second),
                ..all()
            },
            vec!["x two"],
        ),
        (
            Filter {
                author: by(0),
                types: vec![task],
                ..all()
            },
            vec![],
        ),
    ] {
        assert_eq!(rig.list(&filter).await, want, "{filter:?}");
        let mut request = request(&rig.memories, "x", 10);
        request.filter = filter;
        let recalled = rig.memories.recall(&rig.scope(), &request).await.unwrap();
        let (mut found, mut want) = (texts(&recalled), want);
        found.sort_unstable();
        want.sort_unstable();
        assert_eq!(found, want, "{:?}", request.filter);
    }
}

#[tokio::test]
async fn tags_that_were_taken_away_no_longer_count() {
    let rig = Rig::new().await;
    let memory = NewMemory {
        tags: tags(["a", "b"]),
        ..NewMemory::new("x")
    };
    let id = rig.keep(memory).await.id;
    let patch = Patch {
        remove_tags: vec![tag("a")],
        ..Patch::default()
    };
    let with = |name| Filter {
        tags: vec![tag(name)],
        ..Filter::at(rig.memories.now())
    };
    assert_eq!(rig.list(&with("a")).await, ["x"]);
    let scope = rig.scope();
    rig.memories
        .update(&scope, id, 1, &patch, via())
        .await
        .unwrap();
    assert_eq!(rig.list(&with("a")).await, [""; 0]);
    assert_eq!(rig.list(&with("b")).await, ["x"]);
}

#[tokio::test]
async fn only_what_is_near_enough_is_recalled_if_that_is_asked_for() {
    let rig = Rig::new().await;
    rig.created("release on Thursday evening").await;
    rig.created("release of a bird").await;
    let mut request = request(&rig.memories, "release on Thursday evening", 10);
    let all = rig.memories.recall(&rig.scope(), &request).await.unwrap();
    assert_eq!(all.matches.len(), 2);
    for (max, want) in [
        (all.matches[0].distance, 1),
        (all.matches[1].distance, 2),
        (None, 2),
    ] {
        request.max_distance = max;
        let near = rig.memories.recall(&rig.scope(), &request).await.unwrap();
        assert_eq!(near.matches, all.matches[..want]);
    }
}

#[tokio::test]
async fn a_filter_shows_nothing_of_others() {
    let rig = Rig::new().await;
    let other = rig.other();
    let memory = NewMemory {
        visibility: Visibility::Private,
        tags: tags(["a"]),
        ..NewMemory::new("theirs alone")
    };
    rig.keep_as(&other, memory).await;
    let filter = Filter {
        tags: vec![tag("a")],
        author: Some(other.credential),
        ..Filter::at(When::Ever)
    };
    assert_eq!(rig.list(&filter).await, [""; 0]);
}
