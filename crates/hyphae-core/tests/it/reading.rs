//! Memories by id, and what changed since last time.

use std::collections::HashSet;

use hyphae_core::{
    diff::DiffKind,
    ids::{CellId, ConflictId, DiffId},
    memories::{ForgetRequest, Forgetting, MemoryError, NewMemory, Patch, Target, Updates},
    ports::{Clock, Sequence},
    relation::RelationKind,
    scope::Scope,
};
use pretty_assertions::assert_eq;

use crate::rig::{Rig, via};

impl Rig {
    async fn updates(&self, scope: &Scope, after: Sequence, own: bool, limit: usize) -> Updates {
        let updates = self.memories.updates(scope, after, &[], own, limit).await;
        updates.unwrap()
    }

    async fn erase_one(&self, id: CellId) {
        let mut request = ForgetRequest {
            targets: vec![Target::Cell(id)],
            mode: Forgetting::Erase,
            apply: false,
            token: None,
            reason: None,
        };
        let scope = self.scope();
        let shown = self.memories.forget(&scope, &request, via()).await.unwrap();
        (request.apply, request.token) = (true, shown.token);
        self.memories.forget(&scope, &request, via()).await.unwrap();
    }
}

#[tokio::test]
async fn an_agent_is_told_what_others_did_since_it_looked_last() {
    let rig = Rig::new().await;
    let (mine, theirs) = (rig.scope(), rig.other());
    let id = rig.created("tea is at four").await.id;
    let nothing = rig.updates(&mine, Sequence(0), false, 9).await;
    assert_eq!((nothing.updates.len(), nothing.more), (0, false));
    assert!(
        nothing.next > Sequence(0),
        "what was passed over is not looked at again"
    );

    let patch = Patch {
        content: Some("tea is at five".to_owned()),
        ..Patch::default()
    };
    rig.memories
        .update(&theirs, id, 1, &patch, via())
        .await
        .unwrap();
    let gone = rig.keep_as(&theirs, NewMemory::new("coffee in the morning"));
    let gone = gone.await.id;
    rig.erase_one(gone).await;
    let told = rig.updates(&mine, nothing.next, false, 9).await;
    let kinds: Vec<_> = told
        .updates
        .iter()
        .map(|update| (update.diff.kind, update.diff.cell, update.cell.is_some()))
        .collect();
    assert_eq!(
        kinds,
        [
            (DiffKind::Updated, id, true),
            (DiffKind::Created, gone, false)
        ],
        "the erasure is her own"
    );
    assert_eq!(told.updates[0].cell.as_ref(), Some(&rig.cell(id).await));
    assert!((told.updates[0].energy - 10.0 * 0.5_f64.sqrt()).abs() < 1e-9);
    let all = rig.updates(&mine, Sequence(0), true, 9).await;
    assert_eq!(all.updates.len(), 4);
    let erased = rig
        .memories
        .updates(&mine, Sequence(0), &[DiffKind::Erased], true, 9);
    assert_eq!(erased.await.unwrap().updates.len(), 1);
    let again = rig.updates(&mine, told.next, false, 9).await;
    assert_eq!((again.updates.len(), again.next), (0, told.next));
}

#[tokio::test]
async fn updates_come_in_pages_that_lose_and_repeat_nothing() {
    let rig = Rig::new().await;
    for n in 0..7 {
        rig.created(&format!("page x{n}")).await;
    }
    let scope = rig.other();
    let all = rig.updates(&scope, Sequence(0), false, 100).await.updates;
    assert_eq!(all.len(), 7);
    for limit in [1, 2, 3, 6, 7, 8] {
        let mut found = Vec::new();
        let mut after = Sequence(0);
        loop {
            let page = rig.updates(&scope, after, false, limit).await;
            assert!(page.updates.len() <= limit);
            after = page.next;
            found.extend(page.updates);
            if !page.more {
                break;
            }
        }
        assert_eq!(found, all, "in pages of {limit}");
    }
    let none = rig.updates(&scope, Sequence(0), false, 0).await;
    assert_eq!(
        (none.updates.len(), none.next, none.more),
        (0, Sequence(0), true)
    );
}

#[tokio::test]
async fn no_update_is_lost_or_told_twice_while_others_write() {
    let rig = Rig::new().await;
    let reader = rig.other();
    let writers = [
        rig.with_model("words/1", 512),
        rig.with_model("words/1", 512),
    ];
    let scope = rig.scope();
    let write = async |name: &str, memories: &hyphae_core::memories::Memories| {
        for n in 0..20 {
            let memory = NewMemory::new(format!("{name}{n} item{n}{name}"));
            memories.store(&scope, memory, via()).await.unwrap();
        }
    };
    let read = async || {
        let mut seen: Vec<DiffId> = Vec::new();
        let mut after = Sequence(0);
        while seen.len() < 40 {
            let page = rig.updates(&reader, after, false, 3).await;
            assert!(page.next >= after);
            after = page.next;
            seen.extend(page.updates.iter().map(|update| update.diff.id));
            tokio::task::yield_now().await;
        }
        seen
    };
    let ((), (), seen) = tokio::join!(
        write("left", &writers[0]),
        write("right", &writers[1]),
        read()
    );
    let once: HashSet<_> = seen.iter().collect();
    assert_eq!((seen.len(), once.len()), (40, 40));
}

#[tokio::test]
async fn memories_and_conflicts_are_named_by_the_beginning_of_their_ids() {
    let rig = Rig::new().await;
    let a = rig.created("alpha one").await.id;
    rig.clock.advance(std::time::Duration::from_secs(3600));
    let b = rig.created("beta two").await.id;
    let related = rig.link(a, RelationKind::Contradicts, b).await;
    let conflict = related.conflict.unwrap();
    let scope = rig.scope();
    let memories = &rig.memories;
    for id in [a, b] {
        let whole = id.to_string();
        for name in [
            whole.clone(),
            whole.to_uppercase(),
            whole.replace('-', ""),
            format!(" {} ", &whole[..13]),
            whole[..10].to_owned(),
        ] {
            let found = memories.find_cell(&scope, &name).await.unwrap();
            assert_eq!(found, id, "{name}");
            let target = memories.find_target(&scope, &name).await;
            if name.trim().len() > 13 {
                assert_eq!(target.unwrap(), Target::Cell(id));
            }
        }
    }
    let found = memories.find_conflict(&scope, &conflict.to_string()).await;
    assert_eq!(found.unwrap(), conflict);
    let edge = related.id.to_string();
    let found = memories.find_target(&scope, &edge).await.unwrap();
    assert_eq!(found, Target::Relation(related.id));

    for short in ["", "018bcfe", "018bcfe5-zzzz", "not an id", "'; --"] {
        let error = memories.find_cell(&scope, short).await.unwrap_err();
        assert!(
            matches!(error, MemoryError::BadId { .. }),
            "{short}: {error:?}"
        );
    }
    let error = memories.find_cell(&scope, &a.to_string()[..8]).await;
    let ambiguous_or_found = error.as_ref().is_ok_and(|id| *id == a)
        || matches!(error, Err(MemoryError::Ambiguous { .. }));
    assert!(ambiguous_or_found, "{error:?}");
    let c = rig.created("gamma three").await.id;
    let shared: String = c.to_string().chars().take(13).collect();
    let error = memories.find_cell(&scope, &shared).await.unwrap_err();
    assert!(matches!(error, MemoryError::Ambiguous { .. }), "{error:?}");

    let unknown = rig.clock.new_id();
    let elsewhere = rig.scope_of(0, "elsewhere");
    let missing = memories.find_cell(&scope, &unknown.to_string()).await;
    let foreign = memories.find_cell(&elsewhere, &a.to_string()).await;
    let (missing, foreign) = (missing.unwrap_err(), foreign.unwrap_err());
    assert_eq!(
        missing.to_string().replace(&unknown.to_string(), "ID"),
        foreign.to_string().replace(&a.to_string(), "ID")
    );
    for id in [unknown, a.uuid()] {
        let missing = memories.find_conflict(&scope, &id.to_string()).await;
        assert!(matches!(
            missing,
            Err(MemoryError::NotFound {
                what: "conflict",
                ..
            })
        ));
    }
    let foreign = ConflictId::new(conflict.uuid()).to_string();
    let foreign = memories.find_conflict(&elsewhere, &foreign).await;
    assert!(matches!(foreign, Err(MemoryError::NotFound { .. })));
}

#[tokio::test]
async fn details_come_in_the_order_asked_for_with_what_was_asked_for() {
    let rig = Rig::new().await;
    let a = rig.created("tea is at four").await.id;
    let b = rig.created("coffee in the morning").await.id;
    let patch = Patch {
        content: Some("tea is at five".to_owned()),
        ..Patch::default()
    };
    let scope = rig.scope();
    rig.memories
        .update(&scope, a, 1, &patch, via())
        .await
        .unwrap();
    for id in [a, b] {
        rig.memories
            .confirm(&rig.other(), &[id], None, via())
            .await
            .unwrap();
    }
    let unknown = CellId::new(rig.clock.new_id());
    for (history, confirmations) in [(false, false), (true, false), (false, true)] {
        let ids = [b, unknown, a];
        let details = rig
            .memories
            .get(&scope, &ids, history, confirmations)
            .await
            .unwrap();
        let found: Vec<CellId> = details.iter().map(|details| details.cell.id).collect();
        assert_eq!(found, [b, a]);
        let lengths: Vec<_> = details
            .iter()
            .map(|details| (details.history.len(), details.confirmations.len()))
            .collect();
        let (h, c) = (usize::from(history), usize::from(confirmations));
        assert_eq!(lengths, [(0, c), (h, c)]);
    }
}
