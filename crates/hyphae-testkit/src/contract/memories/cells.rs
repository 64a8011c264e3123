//! Cells: what is kept, once, and how it comes back.

use hyphae_core::{
    cell::{CellType, Content, Layer, Origin, Share, Source, Validity, Visibility},
    ids::{CellId, SessionId},
    ports::{Committed, NewCell, Statistics, StoreError},
    scope::Scope,
};

use crate::contract::{
    Subject,
    fixture::{World, insert, project, tags, topic},
};

pub async fn a_cell_comes_back_with_every_field(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let mut all = Vec::new();
    for (i, cell_type) in CellType::ALL.into_iter().enumerate() {
        let mut new = world.cell(&scope, &format!("{cell_type} ☂ \"quoted\" '; drop table"));
        new.cell.cell_type = cell_type;
        new.cell.layer = Layer::ALL[i % 3];
        new.cell.visibility = [Visibility::Private, Visibility::Project, Visibility::Shared][i % 3];
        new.cell.salience = Share::new(i as f64 / 9.0).unwrap();
        new.cell.confidence = Share::new(0.1 * i as f64).unwrap();
        if i % 2 == 0 {
            new.cell.topic = Some(topic(&format!("{i} it's ☂ 100% of _ \\")));
            new.cell.tags = tags(["ß", "b'", &format!("{i}%_\\\"")]);
            new.cell.validity = Validity::new(Some(world.now()), Some(world.now())).unwrap();
            new.cell.verified_at = Some(world.now());
            new.cell.origin = Origin {
                source: Source::ALL[i / 2 % 4],
                session: Some(SessionId::new(world.id())),
                position: Some(u32::MAX),
                said_at: Some(world.now()),
            };
        }
        new.cell.updated_at = world.now();
        all.push(world.keep(&scope, new).await.cell);
    }
    let ids: Vec<CellId> = all.iter().map(|cell| cell.id).collect();
    let found = subject.memories().cells(&scope, &ids).await.unwrap();
    assert_eq!(found, all);
}

pub async fn cells_come_in_the_order_asked_for_and_unknown_ones_are_left_out(
    subject: &dyn Subject,
) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let [a, b, c] = [
        world.store(&scope, "a").await.cell.id,
        world.store(&scope, "b").await.cell.id,
        world.store(&scope, "c").await.cell.id,
    ];
    let unknown = CellId::new(world.id());
    let found = subject.memories().cells(&scope, &[c, unknown, a, b]).await;
    let found: Vec<CellId> = found.unwrap().iter().map(|cell| cell.id).collect();
    assert_eq!(found, [c, a, b]);
    assert_eq!(subject.memories().cells(&scope, &[]).await.unwrap(), []);
}

pub async fn texts_of_every_kind_come_back(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let long = "é".repeat(Content::MAX_CHARS);
    let lines = "a line\n".repeat(1100);
    for text in [
        "'; drop table cells; --",
        "C++ \"a\" OR NEAR(b) * ^ : \\ %_ $1 ?1",
        "שלום \u{202e}rtl\u{202c} مرحبا",
        "👩‍👩‍👧‍👦 e\u{301}\u{301}\u{301} \u{10ffff} \u{feff}x",
        "\u{1}\u{7f}\u{85}.",
        &lines,
        &long,
    ] {
        let new = world.store(&scope, text).await;
        assert_eq!(world.find(&scope, new.cell.id).await, Some(new.cell));
    }
}

pub async fn projects_of_every_name_are_kept_apart(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let long = format!("/{}", "x".repeat(4095));
    let names = [
        "/a", "/a/", "/A", "/a b", "'/a'", "/ä", "/a%", "/a\n", " /a", &long,
    ];
    let mut kept = Vec::new();
    for name in names {
        let scope = owner.in_project(hyphae_core::scope::Project::of_directory(name.as_ref()));
        let new = world.store(&scope, "the same text").await;
        kept.push((scope, new.cell));
    }
    for (scope, cell) in kept {
        assert_eq!(
            world.recallable(&scope).await,
            [cell.id],
            "{}",
            scope.project
        );
        assert_eq!(world.find(&scope, cell.id).await, Some(cell));
    }
}

pub async fn the_same_text_is_kept_once(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let here = ana.in_project(project("p"));
    let first = world.store(&here, "tea at four").await;
    for scope in [&here, &bob.in_project(project("p"))] {
        let again = world.cell(scope, " tea at four\n");
        let done = world.commit(scope, vec![insert(&again)]).await;
        assert_eq!(done, Committed::Same(first.cell.id));
        assert_eq!(world.find(scope, again.cell.id).await, None);
    }
    assert_eq!(world.recallable(&here).await, [first.cell.id]);
}

pub async fn the_same_text_of_another_type_project_visibility_or_layer_is_another_cell(
    subject: &dyn Subject,
) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let scope = owner.in_project(project("p"));
    world.store(&scope, "tea at four").await;
    let mut lesson = world.cell(&scope, "tea at four");
    lesson.cell.cell_type = CellType::Lesson;
    world.keep(&scope, lesson).await;
    let mut risen = world.cell(&scope, "tea at four");
    risen.cell.layer = Layer::L1;
    world.keep(&scope, risen).await;
    world
        .keep(&scope, world.private(&scope, "tea at four"))
        .await;
    world
        .keep(&scope, world.shared(&scope, "tea at four"))
        .await;
    world
        .store(&owner.in_project(project("q")), "tea at four")
        .await;
}

pub async fn a_private_text_of_two_authors_is_two_cells(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let ana = world.owner().await.in_project(project("p"));
    let bob = world.owner().await.in_project(project("p"));
    let of_ana = world.keep(&ana, world.private(&ana, "mine")).await.cell.id;
    let of_bob = world.keep(&bob, world.private(&bob, "mine")).await.cell.id;
    let again = world.private(&ana, "mine");
    let done = world.commit(&ana, vec![insert(&again)]).await;
    assert_eq!(done, Committed::Same(of_ana));
    assert_eq!(world.recallable(&ana).await, [of_ana]);
    assert_eq!(world.recallable(&bob).await, [of_bob]);
}

pub async fn an_insert_that_is_repeated_finds_its_own_cell(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let new = world.store(&scope, "once").await;
    let done = world.commit(&scope, vec![insert(&new)]).await;
    assert_eq!(done, Committed::Same(new.cell.id));
    assert_eq!(world.changes(&scope).await.len(), 1);
}

pub async fn an_id_is_given_to_one_cell_only(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let first = world.store(&scope, "one").await;
    let mut second = world.cell(&scope, "two");
    second.cell.id = first.cell.id;
    let done = world.try_commit(&scope, vec![insert(&second)]).await;
    assert!(
        matches!(done, Err(StoreError::Unavailable { .. })),
        "{done:?}"
    );
    assert_eq!(world.find(&scope, first.cell.id).await, Some(first.cell));
}

pub async fn a_cell_is_written_by_its_author_into_its_project(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let scope = ana.in_project(project("p"));
    for (name, other) in [
        ("author", bob.in_project(project("p"))),
        ("project", ana.in_project(project("q"))),
    ] {
        let new = world.cell(&other, "text");
        let done = world.try_commit(&scope, vec![insert(&new)]).await;
        assert!(
            matches!(done, Err(StoreError::Unavailable { .. })),
            "{name}"
        );
    }
    assert_eq!(world.changes(&scope).await, []);
}

pub async fn a_vector_is_as_long_as_its_models_are(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let mut new = world.cell(&scope, "short");
    new.derived.model.dimension = 17;
    let done = world.try_commit(&scope, vec![insert(&new)]).await;
    assert!(
        matches!(done, Err(StoreError::Unavailable { .. })),
        "{done:?}"
    );
    assert_eq!(world.changes(&scope).await, []);
}

pub async fn equal_inserts_at_once_keep_one_cell(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let other = subject.again().await;
    let cells: Vec<NewCell> = (0..8).map(|_| world.cell(&scope, "the same")).collect();
    let (here, there) = cells.split_at(4);
    let (here, there) = tokio::join!(
        insert_all(&world, subject, &scope, here),
        insert_all(&world, &*other, &scope, there)
    );
    let done: Vec<Committed> = here.into_iter().chain(there).collect();
    let kept = world.recallable(&scope).await;
    assert_eq!(kept.len(), 1);
    let same = done
        .iter()
        .filter(|done| **done == Committed::Same(kept[0]));
    assert_eq!((done.len(), same.count()), (8, 7));
}

async fn insert_all(
    world: &World<'_>,
    subject: &dyn Subject,
    scope: &Scope,
    cells: &[NewCell],
) -> Vec<Committed> {
    let mut done = Vec::new();
    for new in cells {
        let one = world.commit_on(subject, scope, vec![insert(new)]).await;
        done.push(one.unwrap());
    }
    done
}

pub async fn the_last_cell_of_a_session_is_the_newest(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let session = SessionId::new(world.id());
    let last = async |scope: &Scope| {
        let found = subject.memories().last_of_session(scope, session).await;
        found.unwrap().map(|cell| cell.id)
    };
    assert_eq!(last(&ana).await, None);
    let said = async |mut new: NewCell, scope: &Scope| {
        new.cell.origin.session = Some(session);
        world.keep(scope, new).await.cell.id
    };
    let first = said(world.cell(&ana, "first"), &ana).await;
    assert_eq!(last(&ana).await, Some(first));
    let second = said(world.private(&ana, "second"), &ana).await;
    world.store(&ana, "of no session").await;
    assert_eq!(last(&ana).await, Some(second));
    assert_eq!(last(&bob).await, Some(first));
}

pub async fn reading_changes_no_answer(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let new = world.store(&scope, "read me").await;
    let before = world.changes(&scope).await;
    let ids = [new.cell.id, CellId::new(world.id())];
    subject
        .memories()
        .touch(&scope, &ids, world.now())
        .await
        .unwrap();
    subject
        .memories()
        .touch(&scope, &[], world.now())
        .await
        .unwrap();
    assert_eq!(world.changes(&scope).await, before);
    assert_eq!(world.find(&scope, new.cell.id).await, Some(new.cell));
}

pub async fn statistics_count_what_a_tenant_keeps(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let stranger = world.stranger().await;
    let store = subject.memories();
    assert_eq!(store.statistics(ana).await.unwrap(), Statistics::default());
    let p = ana.in_project(project("p"));
    let q = bob.in_project(project("q"));
    world.store(&p, "one").await;
    world.keep(&q, world.private(&q, "two")).await;
    world.store(&q, "three").await;
    let session = world.session("/p");
    subject
        .sessions()
        .create_session(bob, &session)
        .await
        .unwrap();
    let want = Statistics {
        cells: 3,
        sessions: 1,
        projects: 2,
        stale_vectors: 0,
        conflicts: 0,
    };
    assert_eq!(store.statistics(ana).await.unwrap(), want);
    assert_eq!(
        store.statistics(stranger).await.unwrap(),
        Statistics::default()
    );
}

pub async fn a_second_handle_sees_everything_at_once(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let other = subject.again().await;
    for n in 0..5 {
        let new = world.store(&scope, &format!("{n}")).await;
        let found = other
            .memories()
            .cells(&scope, &[new.cell.id])
            .await
            .unwrap();
        assert_eq!(found, [new.cell]);
    }
}
