//! Checks of [`MemoryStore`](hyphae_core::ports::MemoryStore).

use hyphae_core::{
    cell::{CellType, Content, Layer, Origin, Share, Visibility},
    ids::{CellId, SessionId},
    ports::{Entry, Inserted, Link, NewCell, Sequence, Statistics, StoreError},
    recall::Terms,
    scope::Scope,
};

use super::{
    Subject,
    fixture::{World, link, model, other_model, project, terms, vector},
};

/// Returns what recall is to learn of a new cell.
fn entry_of(new: &NewCell, own_project: bool) -> Entry {
    Entry {
        revision: new.cell.revision,
        cell_type: new.cell.cell_type,
        layer: new.cell.layer,
        visibility: new.cell.visibility,
        own_project,
        salience: new.cell.salience,
        updated_at: new.cell.updated_at,
        fingerprint: new.fingerprint,
        vector: Some(new.vector.clone()),
        terms: new.terms.clone(),
        context: new.context.clone(),
    }
}

/// Returns what a merge would bring.
fn another_text(world: &World<'_>, scope: &Scope, text: &str) -> NewCell {
    let mut new = world.cell(scope, text);
    new.context = terms("another context");
    new
}

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
            new.cell.origin = Origin {
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
        let done = subject.memories().insert_cell(scope, &again).await.unwrap();
        assert_eq!(done, Inserted::Same(first.cell.id));
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
    let done = subject.memories().insert_cell(&ana, &again).await.unwrap();
    assert_eq!(done, Inserted::Same(of_ana));
    assert_eq!(world.recallable(&ana).await, [of_ana]);
    assert_eq!(world.recallable(&bob).await, [of_bob]);
}

pub async fn an_insert_that_is_repeated_finds_its_own_cell(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let new = world.store(&scope, "once").await;
    let done = subject.memories().insert_cell(&scope, &new).await.unwrap();
    assert_eq!(done, Inserted::Same(new.cell.id));
    assert_eq!(world.changes(&scope).await.len(), 1);
}

pub async fn an_id_is_given_to_one_cell_only(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let first = world.store(&scope, "one").await;
    let mut second = world.cell(&scope, "two");
    second.cell.id = first.cell.id;
    let done = subject.memories().insert_cell(&scope, &second).await;
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
        let done = subject.memories().insert_cell(&scope, &new).await;
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
    new.model.dimension = 17;
    let done = subject.memories().insert_cell(&scope, &new).await;
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
        insert_all(subject, &scope, here),
        insert_all(&*other, &scope, there)
    );
    let done: Vec<Inserted> = here.into_iter().chain(there).collect();
    let kept = world.recallable(&scope).await;
    assert_eq!(kept.len(), 1);
    let new = done.iter().filter(|done| **done == Inserted::New).count();
    let same = done.iter().filter(|done| **done == Inserted::Same(kept[0]));
    assert_eq!((new, same.count()), (1, 7));
}

async fn insert_all(subject: &dyn Subject, scope: &Scope, cells: &[NewCell]) -> Vec<Inserted> {
    let mut done = Vec::new();
    for new in cells {
        done.push(subject.memories().insert_cell(scope, new).await.unwrap());
    }
    done
}

pub async fn changes_tell_all_that_recall_needs(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let (here, there) = (
        owner.in_project(project("p")),
        owner.in_project(project("q")),
    );
    let own = world.store(&here, "seen here").await;
    let mut bare = world.private(&here, "x");
    bare.cell.salience = Share::new(0.123).unwrap();
    (bare.terms, bare.context) = (Terms::default(), Terms::default());
    let bare = world.keep(&here, bare).await;
    let shared = world
        .keep(&there, world.shared(&there, "seen everywhere"))
        .await;
    let found = world.changes(&here).await;
    let found: Vec<(CellId, Option<Entry>)> = found
        .into_iter()
        .map(|change| (change.id, change.entry))
        .collect();
    assert_eq!(
        found,
        [
            (own.cell.id, Some(entry_of(&own, true))),
            (bare.cell.id, Some(entry_of(&bare, true))),
            (shared.cell.id, Some(entry_of(&shared, false))),
        ]
    );
}

pub async fn changes_are_read_in_pages_of_any_size(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let (here, there) = (
        owner.in_project(project("p")),
        owner.in_project(project("q")),
    );
    for n in 0..10 {
        world.store(&here, &format!("here {n}")).await;
        world
            .keep(&there, world.shared(&there, &format!("there {n}")))
            .await;
        world.store(&there, &format!("unseen {n}")).await;
    }
    let all = world.changes(&here).await;
    assert_eq!(all.len(), 20);
    assert!(all.is_sorted_by(|a, b| a.sequence < b.sequence));
    for limit in [1, 2, 3, 7, 19, 20, 21] {
        let mut read = Vec::new();
        let mut after = Sequence(0);
        loop {
            let page = subject
                .memories()
                .changes(&here, after, limit)
                .await
                .unwrap();
            let Some(last) = page.last() else { break };
            assert!(page.len() <= limit);
            after = last.sequence;
            read.extend(page);
        }
        assert_eq!(read, all, "pages of {limit}");
    }
    let far = Sequence(u64::MAX);
    assert_eq!(
        subject.memories().changes(&here, far, 10).await.unwrap(),
        []
    );
    assert_eq!(
        subject
            .memories()
            .changes(&here, Sequence(0), 0)
            .await
            .unwrap(),
        []
    );
}

pub async fn a_reader_never_misses_a_change(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let other = subject.again().await;
    let (odd, even) = tokio::join!(
        write_and_read(&world, subject, &scope, "odd"),
        write_and_read(&world, &*other, &scope, "even")
    );
    let all = world.recallable(&scope).await;
    assert_eq!(all.len(), 60);
    // Each reader had seen everything that was committed when it read last.
    for seen in [odd, even] {
        assert_eq!(seen, all[..seen.len()]);
        assert!(seen.len() >= 30);
    }
}

async fn write_and_read(
    world: &World<'_>,
    subject: &dyn Subject,
    scope: &Scope,
    name: &str,
) -> Vec<CellId> {
    let mut seen = Vec::new();
    let mut after = Sequence(0);
    for n in 0..30 {
        let new = world.cell(scope, &format!("{name} {n}"));
        subject.memories().insert_cell(scope, &new).await.unwrap();
        let changes = subject
            .memories()
            .changes(scope, after, 1000)
            .await
            .unwrap();
        after = changes.last().map_or(after, |change| change.sequence);
        seen.extend(changes.iter().map(|change| change.id));
        assert!(seen.contains(&new.cell.id), "own writes are seen at once");
    }
    seen
}

pub async fn a_merge_gives_a_cell_another_text(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let old = world.store(&scope, "tea at four").await;
    let other = world.store(&scope, "something else").await;
    let new = another_text(&world, &scope, "tea is at four");
    let id = old.cell.id;
    let done = subject.memories().merge_into(&scope, id, 1, &new).await;
    assert_eq!(done.unwrap(), Some(2));

    let mut want = old.cell.clone();
    want.content = new.cell.content.clone();
    want.revision = 2;
    want.updated_at = new.cell.updated_at;
    assert_eq!(world.find(&scope, id).await.as_ref(), Some(&want));
    assert_eq!(world.find(&scope, new.cell.id).await, None);

    let changes = world.changes(&scope).await;
    let ids: Vec<CellId> = changes.iter().map(|change| change.id).collect();
    assert_eq!(ids, [other.cell.id, id], "a changed cell moves to the end");
    let merged = NewCell { cell: want, ..new };
    assert_eq!(changes[1].entry, Some(entry_of(&merged, true)));

    let back = subject
        .memories()
        .insert_cell(&scope, &world.cell(&scope, "tea at four"))
        .await;
    assert_eq!(
        back.unwrap(),
        Inserted::New,
        "the old text is nobody's any more"
    );
    let same = subject
        .memories()
        .insert_cell(&scope, &world.cell(&scope, "tea is at four"))
        .await;
    assert_eq!(same.unwrap(), Inserted::Same(id));
}

pub async fn a_merge_finds_only_the_expected_revision(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let old = world.store(&scope, "one").await;
    let before = world.changes(&scope).await;
    let unknown = CellId::new(world.id());
    for (id, revision) in [
        (old.cell.id, 0),
        (old.cell.id, 2),
        (old.cell.id, u32::MAX),
        (unknown, 1),
    ] {
        let new = another_text(&world, &scope, "two");
        let done = subject
            .memories()
            .merge_into(&scope, id, revision, &new)
            .await;
        assert_eq!(done.unwrap(), None, "{id} {revision}");
    }
    assert_eq!(world.changes(&scope).await, before);
    assert_eq!(world.find(&scope, old.cell.id).await, Some(old.cell));
}

pub async fn of_two_merges_at_once_one_wins(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let old = world.store(&scope, "one").await;
    let other = subject.again().await;
    let (a, b) = (
        another_text(&world, &scope, "two"),
        another_text(&world, &scope, "three"),
    );
    let (first, second) = tokio::join!(
        subject.memories().merge_into(&scope, old.cell.id, 1, &a),
        other.memories().merge_into(&scope, old.cell.id, 1, &b)
    );
    let mut done = [first.unwrap(), second.unwrap()];
    done.sort_unstable();
    assert_eq!(done, [None, Some(2)]);
}

pub async fn a_merge_into_a_text_that_another_cell_has_changes_nothing(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let one = world.store(&scope, "one").await;
    world.store(&scope, "two").await;
    let before = world.changes(&scope).await;
    let new = another_text(&world, &scope, "two");
    let done = subject
        .memories()
        .merge_into(&scope, one.cell.id, 1, &new)
        .await;
    assert_eq!(done.unwrap(), None);
    assert_eq!(world.changes(&scope).await, before);
    assert_eq!(world.find(&scope, one.cell.id).await, Some(one.cell));
}

pub async fn a_merge_keeps_links_unless_it_brings_others(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let a = world.store(&scope, "a").await.cell.id;
    let b = world.store(&scope, "b").await.cell.id;
    let mut c = world.cell(&scope, "c");
    c.links = vec![link(a, 0.5)];
    let c = world.keep(&scope, c).await.cell.id;

    let new = another_text(&world, &scope, "c again");
    subject
        .memories()
        .merge_into(&scope, c, 1, &new)
        .await
        .unwrap();
    assert_eq!(world.links(&scope, c).await, [Link { to: a, weight: 0.5 }]);

    let mut new = another_text(&world, &scope, "c anew");
    new.links = vec![link(b, 0.25)];
    subject
        .memories()
        .merge_into(&scope, c, 2, &new)
        .await
        .unwrap();
    assert_eq!(
        world.links(&scope, c).await,
        [Link {
            to: b,
            weight: 0.25
        }]
    );
    assert_eq!(
        world.links(&scope, b).await,
        [Link {
            to: c,
            weight: 0.25
        }]
    );
}

pub async fn links_lead_both_ways_strongest_first(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let a = world.store(&scope, "a").await.cell.id;
    let b = world.store(&scope, "b").await.cell.id;
    let c = world.store(&scope, "c").await.cell.id;
    let mut new = world.cell(&scope, "d");
    new.links = vec![link(c, 0.3), link(a, 0.1), link(b, 0.3)];
    new.links[1].back = false;
    let d = world.keep(&scope, new).await.cell.id;

    let to = |to, weight| Link { to, weight };
    let unknown = CellId::new(world.id());
    let found = subject
        .memories()
        .links(&scope, &[d, unknown, a, b])
        .await
        .unwrap();
    assert_eq!(
        found,
        [
            (d, vec![to(b, 0.3), to(c, 0.3), to(a, 0.1)]),
            (a, vec![]),
            (b, vec![to(d, 0.3)]),
        ]
    );
}

pub async fn links_to_what_is_not_there_are_passed_over(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let hidden = world
        .keep(&bob, world.private(&bob, "hidden"))
        .await
        .cell
        .id;
    let mut new = world.cell(&ana, "new");
    new.links = vec![
        link(CellId::new(world.id()), 0.5),
        link(hidden, 0.5),
        link(new.cell.id, 0.5),
    ];
    let new = world.keep(&ana, new).await.cell.id;
    assert_eq!(world.links(&ana, new).await, []);
    assert_eq!(world.links(&bob, new).await, []);
    assert_eq!(world.links(&bob, hidden).await, []);
}

/// Stores a cell and `count` others that link to it, of weights 0.5, 0.501 and so on.
async fn hub(
    world: &World<'_>,
    scope: &Scope,
    layer: Layer,
    count: usize,
) -> (CellId, Vec<CellId>) {
    let mut hub = world.cell(scope, "hub");
    hub.cell.layer = layer;
    let hub = world.keep(scope, hub).await.cell.id;
    let mut spokes = Vec::new();
    for n in 0..count {
        let mut spoke = world.cell(scope, &format!("spoke {n}"));
        spoke.cell.layer = layer;
        spoke.links = vec![link(hub, 0.5 + n as f32 / 1000.0)];
        spokes.push(world.keep(scope, spoke).await.cell.id);
    }
    (hub, spokes)
}

pub async fn a_neighbour_with_too_many_links_loses_its_weakest(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    for layer in Layer::ALL {
        let scope = owner.in_project(project(layer.name()));
        let (hub, spokes) = hub(&world, &scope, layer, layer.degree() + 3).await;
        let links: Vec<CellId> = world
            .links(&scope, hub)
            .await
            .iter()
            .map(|link| link.to)
            .collect();
        let strongest: Vec<CellId> = spokes[3..].iter().rev().copied().collect();
        assert_eq!(links, strongest, "{layer}");
        let lost = world.links(&scope, spokes[0]).await;
        assert_eq!(lost.len(), 1, "the link that leads to the neighbour stays");
    }
}

pub async fn a_neighbour_with_too_many_links_loses_the_named_ones_first(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let (hub, spokes) = hub(&world, &scope, Layer::L0, 24).await;
    let mut new = world.cell(&scope, "new");
    new.links = vec![link(hub, 0.4)];
    new.links[0].drops = vec![spokes[23], spokes[22]];
    let new = world.keep(&scope, new).await.cell.id;
    let links: Vec<CellId> = world
        .links(&scope, hub)
        .await
        .iter()
        .map(|link| link.to)
        .collect();
    let want: Vec<CellId> = spokes[..22].iter().rev().copied().chain([new]).collect();
    assert_eq!(links, want);
}

pub async fn a_neighbour_with_room_loses_nothing(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let (hub, spokes) = hub(&world, &scope, Layer::L0, 23).await;
    let mut new = world.cell(&scope, "new");
    new.links = vec![link(hub, 0.4)];
    new.links[0].drops = vec![spokes[5]];
    world.keep(&scope, new).await;
    assert_eq!(world.links(&scope, hub).await.len(), 24);
}

pub async fn a_new_cell_keeps_its_strongest_links(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let mut ids = Vec::new();
    for n in 0..30 {
        ids.push(world.store(&scope, &format!("{n}")).await.cell.id);
    }
    let mut new = world.cell(&scope, "new");
    new.links = ids.iter().map(|id| link(*id, 0.5)).collect();
    let new = world.keep(&scope, new).await.cell.id;
    let links: Vec<CellId> = world
        .links(&scope, new)
        .await
        .iter()
        .map(|link| link.to)
        .collect();
    assert_eq!(links, ids[..24], "of equal links those to older cells");
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
    two.model = other_model();
    for done in [
        store.insert_cell(&scope, &two).await.map(drop),
        store
            .merge_into(&scope, one.cell.id, 1, &two)
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
    let changes = store.changes(&scope, after, 10).await.unwrap();
    let mut want = entry_of(&one, true);
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

pub async fn a_cell_is_merged_while_its_vector_is_stale(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let scope = owner.in_project(project("p"));
    let one = world.store(&scope, "one").await;
    subject
        .memories()
        .choose_model(owner, &other_model())
        .await
        .unwrap();
    let mut new = another_text(&world, &scope, "two");
    new.model = other_model();
    let done = subject
        .memories()
        .merge_into(&scope, one.cell.id, 1, &new)
        .await;
    assert_eq!(done.unwrap(), Some(2));
    assert_eq!(with_vectors(&world, &scope).await, [(one.cell.id, true)]);
    assert_eq!(
        subject.memories().stale_vectors(owner, 10).await.unwrap(),
        []
    );
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

pub async fn a_dropped_insert_leaves_all_or_nothing(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let hub = world.store(&scope, "hub").await.cell.id;
    let mut kept = 0;
    for polls in 0..40 {
        let mut new = world.cell(&scope, &format!("dropped after {polls}"));
        new.links = vec![link(hub, 0.5)];
        super::drop_after(polls, subject.memories().insert_cell(&scope, &new)).await;
        // A write that follows is served, and is not part of what was dropped.
        world.store(&scope, &format!("after {polls}")).await;
        let is_there = world.find(&scope, new.cell.id).await.is_some();
        kept += usize::from(is_there);
        let in_changes = world.recallable(&scope).await.contains(&new.cell.id);
        let linked = !world.links(&scope, new.cell.id).await.is_empty();
        assert_eq!((in_changes, linked), (is_there, is_there), "{polls}");
    }
    let counted = subject.memories().statistics(scope.owner()).await.unwrap();
    assert_eq!(counted.cells, 41 + kept as u64);
}

pub async fn a_dropped_merge_leaves_all_or_nothing(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let id = world.store(&scope, "text 0").await.cell.id;
    let mut revision = 1;
    for polls in 0..40 {
        let new = another_text(&world, &scope, &format!("text {}", polls + 1));
        let merge = subject.memories().merge_into(&scope, id, revision, &new);
        super::drop_after(polls, merge).await;
        world.store(&scope, &format!("after {polls}")).await;
        let found = world.find(&scope, id).await.unwrap();
        let changes = world.changes(&scope).await;
        let entries: Vec<&Entry> = changes
            .iter()
            .filter(|change| change.id == id)
            .filter_map(|change| change.entry.as_ref())
            .collect();
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].revision, found.revision);
        assert_eq!(entries[0].fingerprint, found.content.fingerprint());
        assert!(found.revision == revision || found.content == new.cell.content);
        revision = found.revision;
    }
}

pub async fn dropped_reads_do_no_harm(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    for n in 0..50 {
        world.store(&scope, &format!("{n}")).await;
    }
    for polls in 0..20 {
        let read = subject.memories().changes(&scope, Sequence(0), 50);
        super::drop_after(polls, read).await;
        assert_eq!(world.changes(&scope).await.len(), 50);
    }
}
