//! A foreign id and an unknown one are the same.

use hyphae_core::{
    audit::Action,
    cell::{Cell, Content, Visibility},
    conflict::{Conflict, Verdict},
    ids::{CellId, ConflictId, DiffId, EdgeId},
    ports::{Committed, Step, Wanted},
    relation::{Relation, RelationKind},
    scope::Scope,
};
use uuid::Uuid;

use crate::contract::{
    Subject,
    fixture::{World, insert, project, relate, revise, topic},
    seen::Seen,
};

const KEY: [u8; 32] = [3; 32];

/// A cell with a history, a relation, a conflict, confirmations and a key.
struct Known {
    cell: Cell,
    relation: Relation,
    conflict: Conflict,
}

impl Known {
    async fn kept(world: &World<'_>, scope: &Scope) -> Self {
        let mut new = world.private(scope, "the first text");
        new.cell.topic = Some(topic("the topic"));
        let cell = world.keep(scope, new).await.cell;
        let cell = world
            .change(scope, &cell, |cell| {
                cell.content = Content::new("the second text").unwrap();
            })
            .await;
        let other = world.keep(scope, world.private(scope, "other")).await.cell;
        let id = cell.id;
        let relation = world.relate(scope, id, RelationKind::Refines, other.id);
        let relation = relation.await;
        let conflict = world.dispute(scope, id, other.id).await;
        let confirm = Step::Confirm {
            id,
            revision: 2,
            evidence: Some("seen".to_owned()),
        };
        let key = Step::Key { key: KEY, cell: id };
        world.done(scope, vec![confirm, key]).await;
        Self {
            cell: world.find(scope, id).await.unwrap(),
            relation,
            conflict,
        }
    }

    /// The same, of which nobody ever heard.
    fn unknown(world: &World<'_>, known: &Self) -> Self {
        let cell = Cell {
            id: CellId::new(world.id()),
            topic: Some(topic("another topic")),
            ..known.cell.clone()
        };
        Self {
            relation: Relation {
                id: EdgeId::new(world.id()),
                from: cell.id,
                ..known.relation.clone()
            },
            conflict: Conflict {
                id: ConflictId::new(world.id()),
                left: cell.id,
                ..known.conflict.clone()
            },
            cell,
        }
    }
}

/// Returns the answers of all that asks by id or by name, as text.
async fn answers(world: &World<'_>, scope: &Scope, known: &Known, key: [u8; 32]) -> String {
    let store = world.subject.memories();
    let id = known.cell.id;
    let prefix = |id: Uuid| id.as_simple().to_string();
    let begin = async |wanted, id| {
        let found = store.ids_beginning(scope, wanted, &prefix(id), 9).await;
        found.unwrap()
    };
    let name = known.cell.topic.as_ref().unwrap();
    let mut all = vec![
        format!("{:?}", store.cells(scope, &[id]).await),
        format!("{:?}", store.links(scope, &[id], &|_| false).await),
        format!("{:?}", store.history(scope, id).await),
        format!("{:?}", store.confirmations(scope, &[id]).await),
        format!("{:?}", store.relations(scope, &[id], true).await),
        format!(
            "{:?}",
            store.relations_by_id(scope, &[known.relation.id]).await
        ),
        format!("{:?}", store.conflict(scope, known.conflict.id).await),
        format!("{:?}", store.open_conflicts(scope, &[id], None, 9).await),
        format!(
            "{:?}",
            store
                .open_conflicts(scope, &[], Some(known.conflict.id), 9)
                .await
        ),
        format!("{:?}", store.cell_of_key(scope, &key).await),
        format!(
            "{:?}",
            store.names(scope, Wanted::Topic, name.as_str(), 9).await
        ),
        format!("{:?}", begin(Wanted::Cell, id.uuid()).await),
        format!(
            "{:?}",
            begin(Wanted::Relation, known.relation.id.uuid()).await
        ),
        format!(
            "{:?}",
            begin(Wanted::Conflict, known.conflict.id.uuid()).await
        ),
    ];
    for visibility in Visibility::ALL {
        let found = store.cell_of_topic(scope, name, visibility).await;
        all.push(format!("{found:?}"));
    }
    all.join("\n")
}

/// Returns all steps that name something by its id, without what makes the id.
fn steps(world: &World<'_>, scope: &Scope, known: &Known, own: CellId) -> Vec<Step> {
    let id = known.cell.id;
    vec![
        revise(world.revise(&known.cell, |_| {})),
        world.erase(&known.cell),
        relate(&world.relation(scope, own, RelationKind::Supports, id)),
        relate(&world.relation(scope, id, RelationKind::Refines, own)),
        world.open(&world.conflict(scope, own, id)),
        Step::Confirm {
            id,
            revision: 2,
            evidence: None,
        },
        Step::Key {
            key: [4; 32],
            cell: id,
        },
        Step::SetRelation {
            id: known.relation.id,
            active: false,
        },
        Step::SetRelation {
            id: known.relation.id,
            active: true,
        },
        Step::EraseRelation {
            id: known.relation.id,
        },
        Step::CloseConflict {
            id: known.conflict.id,
            verdict: Verdict::Left,
            reason: "why not".to_owned(),
            diff: DiffId::new(world.id()),
        },
    ]
}

/// What is to be answered to each of [`steps`].
fn stopped(known: &Known) -> Vec<Committed> {
    let mut all = vec![Committed::Changed(known.cell.id); 7];
    all.extend([Committed::RelationGone(known.relation.id); 3]);
    all.push(Committed::ConflictGone(known.conflict.id));
    all
}

pub async fn a_foreign_id_and_an_unknown_one_are_the_same(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let home = ana.in_project(project("p"));
    let known = Known::kept(&world, &home).await;
    for scope in [
        bob.in_project(project("p")),
        ana.in_project(project("q")),
        world.stranger().await.in_project(project("p")),
    ] {
        let own = world.store(&scope, "own").await.cell.id;
        let before = (
            Seen::by(&world, &home).await,
            Seen::by(&world, &scope).await,
        );
        let unknown = Known::unknown(&world, &known);
        let foreign = answers(&world, &scope, &known, KEY).await;
        assert_eq!(foreign, answers(&world, &scope, &unknown, [5; 32]).await);
        for known in [&known, &unknown] {
            let mut done = Vec::new();
            for step in steps(&world, &scope, known, own) {
                done.push(world.commit(&scope, vec![step]).await);
            }
            assert_eq!(done, stopped(known));
        }
        let after = (
            Seen::by(&world, &home).await,
            Seen::by(&world, &scope).await,
        );
        assert_eq!(after, before);
    }
    let at_home = answers(&world, &home, &known, KEY).await;
    for id in [
        known.cell.id.uuid(),
        known.relation.id.uuid(),
        known.conflict.id.uuid(),
    ] {
        assert!(
            at_home.contains(&id.to_string()),
            "there was something to hide"
        );
    }
}

pub async fn two_tenants_may_use_the_same_ids(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, eve) = (world.owner().await, world.stranger().await);
    let (ana, eve) = (ana.in_project(project("p")), eve.in_project(project("p")));
    let mut one = world.cell(&ana, "one");
    one.cell.topic = Some(topic("topic"));
    let two = world.cell(&ana, "two");
    let relation = world.relation(&ana, one.cell.id, RelationKind::Refines, two.cell.id);
    let conflict = world.conflict(&ana, one.cell.id, two.cell.id);
    let steps = |by: &Scope| {
        let [mut one, mut two] = [one.clone(), two.clone()];
        for new in [&mut one, &mut two] {
            new.cell.author = by.credential;
        }
        vec![
            insert(&one),
            insert(&two),
            relate(&relation),
            Step::OpenConflict {
                conflict: Box::new(conflict.clone()),
                diff: DiffId::new(Uuid::from_u128(7)),
            },
            Step::Key {
                key: KEY,
                cell: one.cell.id,
            },
        ]
    };
    let mut write = world.write(Action::Store, steps(&ana));
    let store = subject.memories();
    assert!(store.commit(&ana, &write).await.unwrap().is_done());
    let before = Seen::by(&world, &ana).await;

    write.steps = steps(&eve);
    assert!(store.commit(&eve, &write).await.unwrap().is_done());
    let own = world.find(&eve, one.cell.id).await.unwrap();
    assert_eq!(own.author, eve.credential);
    let changed = world.change(&eve, &own, |cell| {
        cell.content = Content::new("of eve").unwrap();
    });
    let changed = changed.await;
    world.done(&eve, vec![world.erase(&changed)]).await;
    assert_eq!(Seen::by(&world, &ana).await, before);
    let key = store.cell_of_key(&ana, &KEY).await.unwrap();
    assert_eq!(key, Some(one.cell.id));
    assert_eq!(store.cell_of_key(&eve, &KEY).await.unwrap(), None);
}
