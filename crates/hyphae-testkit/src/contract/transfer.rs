//! Moving everything: what is given out is taken in again as it was.
//!
//! Ids belong to a tenant, so that another tenant of the same store is as good as another store.

mod lives;

use std::collections::HashSet;

use hyphae_core::{
    cell::{Cell, Status, Visibility},
    ids::CellId,
    label::Topic,
    ports::{ChosenModel, Gone, Item, ItemKey, KeptCell, Put, Sequence, StaleVector},
    recall::{Vector, terms_of},
    scope::{Owner, Project, Scope},
};

use super::{
    Subject, drop_after,
    fixture::{World, model, other_model, project, tags, topic},
};
use lives::{KEY, another, as_seen_from, cells_of, counted, diffs_of, lived_in, odd_project};

/// Returns everything of a tenant, read in pages.
async fn all(world: &World<'_>, owner: Owner, project: Option<&Project>, page: usize) -> Vec<Item> {
    let store = world.subject.transfer();
    let mut items = Vec::new();
    let mut after: Option<ItemKey> = None;
    loop {
        let found = store.items(owner, project, after.as_ref(), page).await;
        let found = found.unwrap();
        assert!(found.len() <= page);
        let keys: Vec<&ItemKey> = found.iter().map(|(key, _)| key).collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "in order, each once");
        assert!(
            keys.first()
                .is_none_or(|first| Some(*first) > after.as_ref())
        );
        if found.is_empty() {
            return items;
        }
        after = found.last().map(|(key, _)| key.clone());
        items.extend(found.into_iter().map(|(_, item)| item));
    }
}

async fn everything(world: &World<'_>, owner: Owner) -> Vec<Item> {
    all(world, owner, None, 1000).await
}

async fn put(world: &World<'_>, owner: Owner, items: &[Item]) -> Vec<Put> {
    let puts = world.subject.transfer().put_items(owner, items).await;
    let puts = puts.unwrap();
    assert_eq!(puts.len(), items.len());
    puts
}

pub async fn everything_comes_back_as_it_was(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = lived_in(&world).await;
    let items = everything(&world, ana.owner()).await;
    assert_eq!(counted(&items), [2, 4, 2, 2, 3, 2, 2, 1, 11, 10]);
    let elsewhere = world.stranger().await;
    let puts = put(&world, elsewhere, &items).await;
    assert_eq!(puts, vec![Put::New; items.len()]);
    assert_eq!(everything(&world, elsewhere).await, items);

    let store = subject.memories();
    let ids: Vec<CellId> = cells_of(&items).map(|kept| kept.cell.id).collect();
    for scope in [&ana, &bob] {
        let there = as_seen_from(elsewhere, scope);
        let cells = store.cells(scope, &ids).await.unwrap();
        assert_eq!(store.cells(&there, &ids).await.unwrap(), cells);
        for cell in &cells {
            let history = store.history(scope, cell.id).await.unwrap();
            assert_eq!(store.history(&there, cell.id).await.unwrap(), history);
        }
        let links = store.links(scope, &ids, &|_| false).await.unwrap();
        assert_eq!(store.links(&there, &ids, &|_| false).await.unwrap(), links);
        let relations = store.relations(scope, &ids, true).await.unwrap();
        assert_eq!(
            store.relations(&there, &ids, true).await.unwrap(),
            relations
        );
        let voices = store.confirmations(scope, &ids).await.unwrap();
        assert_eq!(store.confirmations(&there, &ids).await.unwrap(), voices);
        let open = store.open_conflicts(scope, &[], None, 100).await.unwrap();
        let open_there = store.open_conflicts(&there, &[], None, 100).await.unwrap();
        assert_eq!(open_there, open);
        let known = store.cell_of_key(scope, &KEY).await.unwrap();
        assert_eq!(store.cell_of_key(&there, &KEY).await.unwrap(), known);
        let kinds = |diffs: Vec<hyphae_core::diff::Diff>| -> Vec<_> {
            let unordered = diffs.into_iter().map(|mut diff| {
                diff.sequence = Sequence(0);
                diff
            });
            unordered.collect()
        };
        let diffs = kinds(world.diffs(scope).await);
        assert_eq!(kinds(world.diffs(&there).await), diffs);
    }
    assert_eq!(
        world.audited(elsewhere).await,
        world.audited(ana.owner()).await
    );
}

pub async fn items_come_in_pages_of_any_size(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, _) = lived_in(&world).await;
    let items = everything(&world, ana.owner()).await;
    for page in [1, 2, 3, 7, items.len(), usize::MAX] {
        assert_eq!(all(&world, ana.owner(), None, page).await, items, "{page}");
    }
    let none = subject.transfer().items(ana.owner(), None, None, 0).await;
    assert_eq!(none.unwrap(), []);
}

pub async fn an_item_refers_only_to_items_before_it(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, _) = lived_in(&world).await;
    let items = everything(&world, ana.owner()).await;
    let elsewhere = world.stranger().await;
    for item in &items {
        let puts = put(&world, elsewhere, std::slice::from_ref(item)).await;
        assert_eq!(puts, [Put::New], "{item:?}");
    }
    assert_eq!(everything(&world, elsewhere).await, items);
}

pub async fn what_is_there_already_is_left_alone(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, _) = lived_in(&world).await;
    let items = everything(&world, ana.owner()).await;
    let newest = subject.memories().newest(ana.owner()).await.unwrap();
    let puts = put(&world, ana.owner(), &items).await;
    assert_eq!(puts, vec![Put::Same; items.len()]);
    assert_eq!(everything(&world, ana.owner()).await, items);
    let after = subject.memories().newest(ana.owner()).await.unwrap();
    assert_eq!(after, newest, "nothing changed");

    // Half of it, as an interrupted transfer leaves it, and then all.
    let elsewhere = world.stranger().await;
    let half = items.len() / 2;
    put(&world, elsewhere, &items[..half]).await;
    let puts = put(&world, elsewhere, &items).await;
    assert_eq!(puts[..half], vec![Put::Same; half]);
    assert_eq!(puts[half..], vec![Put::New; items.len() - half]);
    assert_eq!(everything(&world, elsewhere).await, items);
}

pub async fn what_refers_to_nothing_is_an_orphan_and_the_others_are_kept(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, _) = lived_in(&world).await;
    let items = everything(&world, ana.owner()).await;
    let without: Vec<Item> = items
        .into_iter()
        .filter(|item| !matches!(item, Item::Cell(_)))
        .collect();
    let elsewhere = world.stranger().await;
    let puts = put(&world, elsewhere, &without).await;
    for (item, put) in without.iter().zip(puts) {
        let stands_alone = match item {
            Item::Identity { .. } | Item::Audit(_) => true,
            Item::Diff(kept) => kept.gone.is_some(),
            Item::Cell(_)
            | Item::Past(_)
            | Item::Link { .. }
            | Item::Relation(_)
            | Item::Conflict(_)
            | Item::Confirmation(_)
            | Item::Key { .. } => false,
        };
        let want = if stands_alone { Put::New } else { Put::Orphan };
        assert_eq!(put, want, "{item:?}");
    }
    assert_eq!(
        counted(&everything(&world, elsewhere).await)[..8],
        [2, 0, 0, 0, 0, 0, 0, 0]
    );
}

pub async fn a_memory_that_another_one_stands_for_is_not_kept(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, _) = lived_in(&world).await;
    let items = everything(&world, ana.owner()).await;
    let elsewhere = as_seen_from(world.stranger().await, &ana);
    let same = world.store(&elsewhere, "linked to it").await.cell;
    let mut about = world.cell(&elsewhere, "about it");
    about.cell.topic = Some(topic("the topic"));
    let about = world.keep(&elsewhere, about).await.cell;

    let puts = put(&world, elsewhere.owner(), &items).await;
    let of_cells: Vec<Put> = items
        .iter()
        .zip(&puts)
        .filter(|(item, _)| matches!(item, Item::Cell(_)))
        .map(|(_, put)| *put)
        .collect();
    // The first stands for a topic that is taken, but not actively.
    assert_eq!(
        of_cells,
        [Put::New, Put::Taken(same.id), Put::New, Put::New]
    );

    let active = cells_of(&items).next().unwrap();
    let with_topic = KeptCell {
        cell: Cell {
            id: CellId::new(world.id()),
            status: Status::Active,
            ..active.cell.clone()
        },
        ..active.clone()
    };
    let puts = put(
        &world,
        elsewhere.owner(),
        &[Item::Cell(Box::new(with_topic))],
    )
    .await;
    assert_eq!(puts, [Put::Taken(about.id)]);
}

pub async fn something_else_under_the_same_id_stays(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, _) = lived_in(&world).await;
    let items = everything(&world, ana.owner()).await;
    let first = cells_of(&items).next().unwrap().cell.id;
    let others = items.iter().cloned().map(|item| another(item, first));
    let others: Vec<Item> = others.collect();
    assert!(items.iter().zip(&others).all(|(item, other)| item != other));
    let puts = put(&world, ana.owner(), &others).await;
    assert_eq!(puts, vec![Put::Other; items.len()]);
    assert_eq!(everything(&world, ana.owner()).await, items);
}

pub async fn a_state_that_is_no_earlier_one_is_not_taken_for_history(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, _) = lived_in(&world).await;
    let items = everything(&world, ana.owner()).await;
    let Some(Item::Past(past)) = items.iter().find(|item| matches!(item, Item::Past(_))) else {
        panic!("no history")
    };
    let later = |change: &dyn Fn(&mut Cell)| {
        let mut past = past.clone();
        past.cell.revision = 9;
        change(&mut past.cell);
        Item::Past(past)
    };
    let strange = [
        later(&|_| ()),
        later(&|cell| cell.project = project("elsewhere")),
    ];
    let puts = put(&world, ana.owner(), &strange).await;
    assert_eq!(puts, [Put::Other, Put::Other]);
    assert_eq!(everything(&world, ana.owner()).await, items);
}

pub async fn only_what_belongs_to_a_project_is_given_out(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, _) = lived_in(&world).await;
    let here = all(&world, ana.owner(), Some(&ana.project), 3).await;
    assert_eq!(counted(&here), [2, 3, 2, 2, 2, 2, 2, 1, 10, 9]);
    let there = all(&world, ana.owner(), Some(&odd_project()), 1000).await;
    assert_eq!(counted(&there), [1, 1, 0, 0, 0, 0, 0, 0, 1, 1]);
    let nowhere = all(&world, ana.owner(), Some(&project("nowhere")), 1000).await;
    assert_eq!(nowhere, []);

    let elsewhere = world.stranger().await;
    let puts = put(&world, elsewhere, &here).await;
    assert_eq!(puts, vec![Put::New; here.len()], "nothing leads out of it");
    assert_eq!(everything(&world, elsewhere).await, here);
    let puts = put(&world, elsewhere, &there).await;
    let new = puts.iter().filter(|put| **put == Put::New).count();
    assert_eq!(new, there.len() - 1, "bob is known already");
}

pub async fn a_tenant_gives_out_its_own_only(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let stranger = world.stranger().await;
    lived_in(&world).await;
    assert_eq!(everything(&world, stranger).await, [], "not even who it is");
    let scope = stranger.in_project(project("here"));
    world.store(&scope, "of a stranger").await;
    let items = everything(&world, stranger).await;
    assert_eq!(counted(&items), [1, 1, 0, 0, 0, 0, 0, 0, 1, 1]);
}

/// A cell of nobody in particular, with a vector or without.
fn kept(world: &World<'_>, scope: &Scope, text: &str, vector: Option<ChosenModel>) -> KeptCell {
    let new = world.cell(scope, text);
    KeptCell {
        embedded_text: format!("someone: {text}"),
        context: new.derived.context,
        vector: vector.map(|model| (model, new.derived.vector)),
        last_access: new.cell.created_at,
        cell: new.cell,
    }
}

pub async fn vectors_stay_with_their_model(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("here"));
    let kepts = [
        kept(&world, &scope, "without", None),
        kept(&world, &scope, "chooses", Some(model())),
        kept(&world, &scope, "of another", Some(other_model())),
    ];
    let items: Vec<Item> = kepts
        .iter()
        .cloned()
        .map(Box::new)
        .map(Item::Cell)
        .collect();
    assert_eq!(put(&world, scope.owner(), &items).await, [Put::New; 3]);

    let store = subject.memories();
    let chosen = store.chosen_model(scope.owner()).await.unwrap();
    assert_eq!(chosen, Some(model()), "the first vector chose");
    let there = everything(&world, scope.owner()).await;
    assert!(cells_of(&there).eq(kepts.iter()));
    let entries = world.changes(&scope).await;
    let vectors: Vec<Option<Vector>> = entries
        .into_iter()
        .map(|change| change.entry.unwrap().vector)
        .collect();
    let of = |cell: &KeptCell| cell.vector.clone().map(|(_, vector)| vector);
    assert_eq!(vectors, [None, of(&kepts[1]), None]);

    let mut stale = store.stale_vectors(scope.owner(), 10).await.unwrap();
    stale.sort_by_key(|stale| stale.id);
    let want = [&kepts[0], &kepts[2]].map(|kept| StaleVector {
        id: kept.cell.id,
        revision: 1,
        embedded_text: kept.embedded_text.clone(),
    });
    assert_eq!(stale, want);
    let made: Vec<_> = stale
        .iter()
        .map(|stale| (stale.id, stale.revision, super::fixture::vector("made")))
        .collect();
    let replaced = store.replace_vectors(scope.owner(), &model(), &made).await;
    replaced.unwrap();
    let now = everything(&world, scope.owner()).await;
    let models = cells_of(&now).map(|kept| kept.vector.as_ref().map(|(model, _)| model.clone()));
    assert!(models.eq(vec![Some(model()); 3]));
}

pub async fn a_vector_that_is_not_as_long_as_its_model_is_refused(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("here"));
    let good = kept(&world, &scope, "good", Some(model()));
    let long = ChosenModel {
        dimension: 17,
        ..model()
    };
    let bad = kept(&world, &scope, "bad", Some(long));
    let items = [good, bad].map(|kept| Item::Cell(Box::new(kept)));
    let put = subject.transfer().put_items(scope.owner(), &items).await;
    assert!(put.is_err());
    assert_eq!(
        everything(&world, scope.owner()).await,
        [],
        "all or nothing"
    );
}

pub async fn what_is_brought_in_is_told_in_its_order_with_its_words(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("here"));
    let before = world.store(&scope, "before").await.cell;
    let newest = subject.memories().newest(scope.owner()).await.unwrap();
    let cells =
        ["one word", "two words", "before"].map(|text| kept(&world, &scope, text, Some(model())));
    let ids: Vec<CellId> = cells.iter().rev().map(|kept| kept.cell.id).collect();
    let items: Vec<Item> = cells
        .iter()
        .rev()
        .cloned()
        .map(Box::new)
        .map(Item::Cell)
        .collect();
    let puts = put(&world, scope.owner(), &items).await;
    assert_eq!(puts, [Put::Taken(before.id), Put::New, Put::New]);

    let changes = subject
        .memories()
        .changes(&scope, newest, 100, &model())
        .await
        .unwrap();
    let told: Vec<CellId> = changes.iter().map(|change| change.id).collect();
    assert_eq!(told, ids[1..]);
    let sequences: Vec<u64> = changes.iter().map(|change| change.sequence.0).collect();
    assert_eq!(
        sequences,
        [newest.0 + 1, newest.0 + 2],
        "no place is left empty"
    );
    let entry = changes[0].entry.clone().unwrap();
    assert_eq!(entry.terms, terms_of("two words"));
    assert_eq!(entry.context, cells[1].context);
    let after = subject.memories().newest(scope.owner()).await.unwrap();
    assert_eq!(after.0, newest.0 + 2);
}

pub async fn labels_of_what_is_brought_in_are_known(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("here"));
    let mut active = kept(&world, &scope, "active", None);
    active.cell.tags = tags(["green"]);
    active.cell.topic = Some(topic("trees"));
    let mut retracted = kept(&world, &scope, "retracted", None);
    retracted.cell.tags = tags(["gone"]);
    retracted.cell.status = Status::Retracted;
    let items = [active.clone(), retracted].map(|kept| Item::Cell(Box::new(kept)));
    assert_eq!(put(&world, scope.owner(), &items).await, [Put::New; 2]);
    let store = subject.memories();
    let names = async |wanted| store.names(&scope, wanted, "g", 10).await.unwrap();
    assert_eq!(names(hyphae_core::ports::Wanted::Tag).await, ["green"]);
    let trees = Topic::new("trees").unwrap();
    let found = store
        .cell_of_topic(&scope, &trees, Visibility::Project)
        .await;
    assert_eq!(found.unwrap(), Some(active.cell));
}

pub async fn what_was_erased_is_told_and_stays_erased(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let ana = world.owner().await.in_project(project("here"));
    let bob = world.owner().await.in_project(project("here"));
    let old = world.store(&ana, "old").await.cell;
    let private = world.keep(&ana, world.private(&ana, "private")).await.cell;
    let before = everything(&world, ana.owner()).await;
    world.done(&ana, vec![world.erase(&old)]).await;
    world.done(&ana, vec![world.erase(&private)]).await;
    let items = everything(&world, ana.owner()).await;
    let gone: HashSet<(CellId, Visibility)> = diffs_of(&items)
        .map(|kept| {
            let gone = Gone {
                project: project("here"),
                author: ana.credential,
            };
            assert_eq!(kept.gone, Some(gone));
            (kept.diff.cell, kept.visibility)
        })
        .collect();
    let want = [
        (old.id, Visibility::Project),
        (private.id, Visibility::Private),
    ];
    assert_eq!(gone, HashSet::from(want));

    let elsewhere = world.stranger().await;
    put(&world, elsewhere, &items).await;
    assert_eq!(everything(&world, elsewhere).await, items);
    let told = async |scope: &Scope| -> Vec<CellId> {
        let diffs = world.diffs(&as_seen_from(elsewhere, scope)).await;
        diffs.iter().map(|diff| diff.cell).collect()
    };
    assert_eq!(told(&ana).await, [old.id, private.id, old.id, private.id]);
    assert_eq!(told(&bob).await, [old.id, old.id], "who could see it");

    // A memory that is there is not erased by the history of another store.
    let elsewhere = world.stranger().await;
    put(&world, elsewhere, &before).await;
    let erased: Vec<Item> = items
        .into_iter()
        .filter(|item| matches!(item, Item::Diff(_)))
        .collect();
    let puts = put(&world, elsewhere, &erased).await;
    assert_eq!(puts, vec![Put::Other; erased.len()]);
    assert_eq!(everything(&world, elsewhere).await, before);
}

pub async fn an_identity_is_known_and_no_key_opens_it(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (credential, key) = world.credential(world.tenant);
    let credentials = subject.credentials();
    credentials.add_credential(&credential, &key).await.unwrap();
    let scope = credential.owner().in_project(project("here"));
    world.store(&scope, "by somebody").await;
    let items = everything(&world, scope.owner()).await;
    let elsewhere = world.stranger().await;
    put(&world, elsewhere, &items).await;
    let known = credentials.credentials(elsewhere.tenant).await.unwrap();
    let known = known.into_iter().find(|known| known.id == credential.id);
    assert_eq!(
        known,
        Some(hyphae_core::credential::Credential {
            tenant: elsewhere.tenant,
            ..credential.clone()
        })
    );
    let opened = credentials.credential_of_key(&key).await.unwrap();
    assert_eq!(
        opened,
        Some(credential),
        "the key is still the one's it was"
    );
}

pub async fn a_dropped_transfer_leaves_all_or_nothing(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, _) = lived_in(&world).await;
    let items = everything(&world, ana.owner()).await;
    for polls in 0..6 {
        let elsewhere = world.stranger().await;
        drop_after(polls, subject.transfer().put_items(elsewhere, &items)).await;
        // What follows waits for a write that has begun.
        let scope = elsewhere.in_project(project("here"));
        let mut probe = world.cell(&scope, "a probe");
        probe.cell.id = CellId::new(world.id());
        world.keep(&scope, probe).await;
        let kept = counted(&everything(&world, elsewhere).await)[1];
        assert!(kept == 1 || kept == 5, "{kept} after {polls}");
    }
}

/// A diff of a memory that is nowhere.
pub async fn a_diff_without_its_memory_is_an_orphan(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, _) = lived_in(&world).await;
    let items = everything(&world, ana.owner()).await;
    let diff = diffs_of(&items).find(|kept| kept.gone.is_none());
    let diff = diff.cloned();
    let diff = Item::Diff(Box::new(diff.unwrap()));
    let elsewhere = world.stranger().await;
    assert_eq!(put(&world, elsewhere, &[diff]).await, [Put::Orphan]);
}
