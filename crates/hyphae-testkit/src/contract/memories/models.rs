//! Embedding models and their vectors.

use hyphae_core::{ids::CellId, ports::StoreError, scope::Scope};

use super::{another_text, entry_of};
use crate::contract::{
    Subject,
    fixture::{World, insert, model, other_model, project, revise, vector},
};

pub async fn the_first_vector_chooses_the_model(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let scope = owner.in_project(project("p"));
    let store = subject.memories();
    assert_eq!(store.chosen_model(owner).await.unwrap(), None);
    let one = world.store(&scope, "one").await;
    assert_eq!(store.chosen_model(owner).await.unwrap(), Some(model()));
    let stranger = world.stranger().await;
    assert_eq!(store.chosen_model(stranger).await.unwrap(), None);

    let mut two = world.cell(&scope, "two");
    two.derived.model = other_model();
    let mut three = another_text(&world, &one.cell, "three");
    three.derived = Some(two.derived.clone());
    for done in [
        world.try_commit(&scope, vec![insert(&two)]).await.map(drop),
        world
            .try_commit(&scope, vec![revise(three)])
            .await
            .map(drop),
        store
            .replace_vectors(owner, &other_model(), &[(one.cell.id, 1, vector("x"))])
            .await,
    ] {
        let Err(StoreError::OtherModel { found, wanted }) = done else {
            panic!("{done:?}");
        };
        assert_eq!((found, wanted), (model().id, other_model().id));
    }
    assert_eq!(world.changes(&scope).await.len(), 1);
}

pub async fn a_model_is_its_name_and_its_dimension(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let mut wide = model();
    wide.dimension = 32;
    let models = [model(), wide, other_model(), model()];
    for model in &models {
        subject.memories().choose_model(owner, model).await.unwrap();
        let chosen = subject.memories().chosen_model(owner).await.unwrap();
        assert_eq!(chosen.as_ref(), Some(model));
    }
}

/// Returns the ids of changes, and whether each has a vector.
async fn with_vectors(world: &World<'_>, scope: &Scope) -> Vec<(CellId, bool)> {
    let changes = world.changes(scope).await;
    let there = changes.iter().filter_map(|change| {
        let entry = change.entry.as_ref()?;
        Some((change.id, entry.vector.is_some()))
    });
    there.collect()
}

pub async fn vectors_of_another_model_are_stale_until_they_are_replaced(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (owner, other) = (world.owner().await, world.owner().await);
    let scope = owner.in_project(project("p"));
    let store = subject.memories();
    let one = world.store(&scope, "one").await;
    let hidden = other.in_project(project("q"));
    let two = world.keep(&hidden, world.private(&hidden, "two")).await;
    assert_eq!(store.stale_vectors(owner, 10).await.unwrap(), []);

    store.choose_model(owner, &other_model()).await.unwrap();
    assert_eq!(with_vectors(&world, &scope).await, [(one.cell.id, false)]);
    // Nor does whoever still works with the model that is chosen no more get them.
    let old = store
        .changes(&scope, hyphae_core::ports::Sequence(0), 10, &model())
        .await;
    assert_eq!(old.unwrap()[0].entry.as_ref().unwrap().vector, None);
    let stale = store.stale_vectors(owner, 10).await.unwrap();
    let mut texts: Vec<(CellId, u32, &str)> = stale
        .iter()
        .map(|stale| (stale.id, stale.revision, stale.embedded_text.as_str()))
        .collect();
    texts.sort_unstable();
    assert_eq!(
        texts,
        [
            (one.cell.id, 1, "someone: one"),
            (two.cell.id, 1, "someone: two")
        ]
    );
    assert_eq!(store.stale_vectors(owner, 1).await.unwrap().len(), 1);
    assert_eq!(store.statistics(owner).await.unwrap().stale_vectors, 2);

    let after = world.changes(&scope).await.last().unwrap().sequence;
    let replaced = vector("replaced");
    let vectors = [
        (one.cell.id, 1, replaced.clone()),
        (two.cell.id, 2, replaced.clone()),
        (CellId::new(world.id()), 1, replaced.clone()),
    ];
    store
        .replace_vectors(owner, &other_model(), &vectors)
        .await
        .unwrap();
    let wanted = other_model();
    let changes = store.changes(&scope, after, 10, &wanted).await.unwrap();
    let of_another = store.changes(&scope, after, 10, &model()).await.unwrap();
    assert_eq!(of_another[0].entry.as_ref().unwrap().vector, None);
    let mut want = entry_of(&one.cell, &one.derived, true);
    want.vector = Some(replaced);
    let found: Vec<_> = changes
        .into_iter()
        .map(|change| (change.id, change.entry))
        .collect();
    assert_eq!(found, [(one.cell.id, Some(want))]);
    let stale = store.stale_vectors(owner, 10).await.unwrap();
    assert_eq!(
        stale.iter().map(|stale| stale.id).collect::<Vec<_>>(),
        [two.cell.id]
    );

    store.choose_model(owner, &model()).await.unwrap();
    assert_eq!(with_vectors(&world, &scope).await, [(one.cell.id, false)]);
    assert_eq!(with_vectors(&world, &hidden).await, [(two.cell.id, true)]);
}

pub async fn a_cell_gets_another_text_while_its_vector_is_stale(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let scope = owner.in_project(project("p"));
    let one = world.store(&scope, "one").await;
    subject
        .memories()
        .choose_model(owner, &other_model())
        .await
        .unwrap();
    let mut new = another_text(&world, &one.cell, "two");
    new.derived.as_mut().unwrap().model = other_model();
    world.done(&scope, vec![revise(new)]).await;
    assert_eq!(with_vectors(&world, &scope).await, [(one.cell.id, true)]);
    assert_eq!(
        subject.memories().stale_vectors(owner, 10).await.unwrap(),
        []
    );
}
