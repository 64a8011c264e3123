//! Beginnings of ids and of names.

use hyphae_core::{
    cell::{Status, Visibility},
    conflict::Verdict,
    ids::{CellId, ConflictId, DiffId, EdgeId},
    ports::{Step, Wanted},
    relation::RelationKind,
    scope::{Project, Scope},
};
use uuid::Uuid;

use super::with_status;
use crate::contract::{
    Subject,
    fixture::{World, project, relate, tags, topic},
};

const NONE: [Uuid; 0] = [];

async fn ids(world: &World<'_>, scope: &Scope, wanted: Wanted, prefix: &str) -> Vec<Uuid> {
    let store = world.subject.memories();
    let found = store.ids_beginning(scope, wanted, prefix, usize::MAX).await;
    found.unwrap()
}

async fn names(world: &World<'_>, scope: &Scope, wanted: Wanted, prefix: &str) -> Vec<String> {
    let store = world.subject.memories();
    let found = store.names(scope, wanted, prefix, usize::MAX).await;
    found.unwrap()
}

pub async fn an_id_is_found_by_its_beginning_of_any_length(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let mut all = Vec::new();
    for id in [
        0x018b_cfe5_6800_7000_8000_0000_0000_0001,
        0x018b_cfe5_6800_7000_8000_0000_0000_0010,
        0x018b_cfe5_6800_7000_8000_0000_0000_00ff,
        0x018b_cfe5_68ff_7000_8000_0000_0000_0000,
        0x018b_cfe5_6900_7000_8000_0000_0000_0000,
        0x0a00_0000_0000_7000_8000_0000_0000_0000,
        0xf000_0000_0000_7000_8000_0000_0000_0000,
        0xffff_ffff_ffff_7fff_bfff_ffff_ffff_ffff,
        0xffff_ffff_ffff_ffff_ffff_ffff_ffff_ffff,
    ] {
        let mut new = world.cell(&scope, &format!("{id}"));
        new.cell.id = CellId::new(Uuid::from_u128(id));
        all.push(world.keep(&scope, new).await.cell.id.uuid());
    }
    let store = subject.memories();
    for of in &all {
        let whole = of.as_simple().to_string();
        for digits in 1..=32 {
            let prefix = &whole[..digits];
            let want: Vec<Uuid> = all
                .iter()
                .filter(|id| id.as_simple().to_string().starts_with(prefix))
                .copied()
                .collect();
            let found = ids(&world, &scope, Wanted::Cell, prefix).await;
            assert_eq!(found, want, "{prefix}");
            for limit in 0..3 {
                let found = store.ids_beginning(&scope, Wanted::Cell, prefix, limit);
                let want = &want[..limit.min(want.len())];
                assert_eq!(found.await.unwrap(), want, "{prefix} {limit}");
            }
        }
    }
    for none in ["1", "018bcfe57", "00", "fffffffe", "a"] {
        assert_eq!(
            ids(&world, &scope, Wanted::Cell, none).await,
            NONE,
            "{none}"
        );
    }
}

pub async fn ids_of_each_kind_are_found_apart_in_whatever_state(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let stranger = world.stranger().await.in_project(project("p"));
    let there = ana.in_project(project("q"));
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let open = world.store(&ana, "open").await.cell;
    let open = with_status(&world, &ana, &open, Status::Retracted).await;
    let other = world.store(&ana, "other").await.cell;
    let private = world.keep(&ana, world.private(&ana, "private")).await.cell;
    // One id may be that of a cell, of a relation and of a conflict.
    let same = open.id.uuid();
    let mut taken_back = world.relation(&ana, open.id, RelationKind::Related, other.id);
    taken_back.id = EdgeId::new(same);
    let mut decided = world.conflict(&ana, open.id, other.id);
    decided.id = ConflictId::new(same);
    let steps = vec![
        relate(&taken_back),
        Step::SetRelation {
            id: taken_back.id,
            active: false,
        },
        world.open(&decided),
        Step::CloseConflict {
            id: decided.id,
            verdict: Verdict::Both,
            reason: "both do".to_owned(),
            diff: DiffId::new(world.id()),
        },
    ];
    world.done(&ana, steps).await;
    let hidden = world.relate(&ana, private.id, RelationKind::Related, open.id);
    let hidden = hidden.await.id.uuid();
    let disputed = world.dispute(&ana, private.id, other.id).await.id.uuid();
    let cells = [same, other.id.uuid(), private.id.uuid()];
    for (scope, wanted, want) in [
        (&ana, Wanted::Cell, &cells[..]),
        (&ana, Wanted::Relation, &[same, hidden]),
        (&ana, Wanted::Conflict, &[same, disputed]),
        (&bob, Wanted::Cell, &cells[..2]),
        (&bob, Wanted::Relation, &[same]),
        (&bob, Wanted::Conflict, &[same]),
    ] {
        assert_eq!(ids(&world, scope, wanted, "0").await, want, "{wanted:?}");
        let whole = same.as_simple().to_string();
        assert_eq!(ids(&world, scope, wanted, &whole).await, [same]);
    }
    for id in [hidden, disputed, private.id.uuid()] {
        let whole = id.as_simple().to_string();
        for wanted in [Wanted::Cell, Wanted::Relation, Wanted::Conflict] {
            assert_eq!(ids(&world, &bob, wanted, &whole).await, NONE);
        }
    }
    for scope in [&there, &stranger] {
        for wanted in [Wanted::Cell, Wanted::Relation, Wanted::Conflict] {
            assert_eq!(ids(&world, scope, wanted, "0").await, NONE);
        }
    }
}

/// Names with everything that a search by pattern takes for something else.
const ODD: [&str; 14] = [
    "100%", "100x", "a", "a_b", "axb", "a\\b", "a*", "a[b]", "a'b", "ä", "äh", "z", "ß", "日本",
];

/// Checks the names of one kind against what each prefix is to find.
async fn check_prefixes(world: &World<'_>, scope: &Scope, wanted: Wanted, all: &[&str]) {
    let mut all = all.to_vec();
    all.sort_unstable();
    let prefixes = [
        "", "a", "a_", "a\\", "a%", "%", "_", "100%", "100", "ä", "a*", "*", "a[", "[", "?", "日",
        "'", "a'", "A", "s", "/", "/x", "/X", "zz",
    ];
    for prefix in prefixes {
        let want: Vec<&str> = all
            .iter()
            .filter(|name| name.starts_with(prefix))
            .copied()
            .collect();
        let found = names(world, scope, wanted, prefix).await;
        assert_eq!(found, want, "{wanted:?} {prefix:?}");
        for limit in [0, 1, 3] {
            let store = world.subject.memories();
            let found = store.names(scope, wanted, prefix, limit).await.unwrap();
            let want = &want[..limit.min(want.len())];
            assert_eq!(found, want, "{wanted:?} {prefix:?} {limit}");
        }
    }
}

pub async fn topics_and_tags_are_found_by_their_beginning(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    for (i, name) in ODD.into_iter().enumerate() {
        let mut new = world.cell(&scope, name);
        new.cell.topic = Some(topic(name));
        // Each tag is on several cells.
        new.cell.tags = tags([name, ODD[(i + 1) % ODD.len()], "a"]);
        world.keep(&scope, new).await;
    }
    check_prefixes(&world, &scope, Wanted::Topic, &ODD).await;
    check_prefixes(&world, &scope, Wanted::Tag, &ODD).await;
}

pub async fn projects_are_found_by_their_beginning(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let owner = world.owner().await;
    let mut all: Vec<&str> = ODD.to_vec();
    all.extend(["/x", "/X", "/x/y", "A"]);
    for name in &all {
        let scope = owner.in_project(Project::named(name).unwrap());
        world.keep(&scope, world.shared(&scope, "text")).await;
    }
    let scope = owner.in_project(project("100x"));
    check_prefixes(&world, &scope, Wanted::Project, &all).await;
}

pub async fn names_are_those_of_active_cells_that_are_visible(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let stranger = world.stranger().await.in_project(project("p"));
    let there = bob.in_project(project("q"));
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let named = async |scope: &Scope, name: &str, visibility| {
        let mut new = world.cell(scope, name);
        new.cell.topic = Some(topic(name));
        new.cell.tags = tags([name, "both"]);
        new.cell.visibility = visibility;
        world.keep(scope, new).await.cell
    };
    let kinds = [Wanted::Topic, Wanted::Tag, Wanted::Project];
    for scope in [&ana, &there, &stranger] {
        for wanted in kinds {
            assert_eq!(names(&world, scope, wanted, "").await, [""; 0]);
        }
    }
    let open = named(&ana, "open", Visibility::Project).await;
    named(&ana, "private", Visibility::Private).await;
    let shared = named(&ana, "shared", Visibility::Shared).await;
    named(&there, "far", Visibility::Project).await;
    for (scope, topics, projects) in [
        (&ana, &["open", "private", "shared"][..], &["p"][..]),
        (&bob, &["open", "shared"], &["p"]),
        (&there, &["far", "shared"], &["p", "q"]),
        (&stranger, &[], &[]),
    ] {
        assert_eq!(names(&world, scope, Wanted::Topic, "").await, topics);
        let mut tags: Vec<&str> = topics.to_vec();
        tags.extend((!topics.is_empty()).then_some("both"));
        tags.sort_unstable();
        assert_eq!(names(&world, scope, Wanted::Tag, "").await, tags);
        assert_eq!(names(&world, scope, Wanted::Project, "").await, projects);
    }

    with_status(&world, &ana, &open, Status::Retracted).await;
    let shared = world.change(&ana, &shared, |cell| {
        cell.topic = None;
        cell.tags = tags(["newly"]);
    });
    let shared = shared.await;
    assert_eq!(names(&world, &bob, Wanted::Topic, "").await, [""; 0]);
    assert_eq!(names(&world, &bob, Wanted::Tag, "").await, ["newly"]);
    assert_eq!(names(&world, &bob, Wanted::Project, "").await, ["p"]);
    with_status(&world, &ana, &shared, Status::Superseded).await;
    for wanted in kinds {
        assert_eq!(names(&world, &bob, wanted, "").await, [""; 0], "{wanted:?}");
    }
    assert_eq!(names(&world, &there, Wanted::Project, "").await, ["q"]);
}
