//! Links that somebody gave.

use hyphae_core::{
    cell::{Share, Status, Visibility},
    ids::{CellId, EdgeId},
    ports::{Committed, Step},
    relation::{Relation, RelationKind},
    scope::Scope,
};

use super::with_status;
use crate::contract::{
    Subject,
    fixture::{World, link, project, relate},
    seen::Seen,
};

/// Returns the relations of cells, retracted ones too, with the ids that they have.
async fn all_of(world: &World<'_>, scope: &Scope, ids: &[CellId]) -> Vec<Relation> {
    let store = world.subject.memories();
    store.relations(scope, ids, true).await.unwrap()
}

async fn active_of(world: &World<'_>, scope: &Scope, ids: &[CellId]) -> Vec<Relation> {
    let store = world.subject.memories();
    store.relations(scope, ids, false).await.unwrap()
}

async fn by_id(world: &World<'_>, scope: &Scope, ids: &[EdgeId]) -> Vec<Relation> {
    let store = world.subject.memories();
    store.relations_by_id(scope, ids).await.unwrap()
}

fn set(id: EdgeId, active: bool) -> Step {
    Step::SetRelation { id, active }
}

pub async fn a_relation_comes_back_with_every_field(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let a = world.store(&ana, "a").await.cell.id;
    let b = world.store(&bob, "b").await.cell.id;
    let weights = [1.0, 0.1, 1.0 / 3.0, 1e-9, f64::EPSILON, 0.5];
    let mut all = Vec::new();
    for (i, kind) in RelationKind::ALL.into_iter().enumerate() {
        let scope = [&ana, &bob][i % 2];
        let mut relation = world.relation(scope, a, kind, b);
        relation.weight = Share::new(weights[i % 6]).unwrap();
        relation.reason = (i % 3 > 0).then(|| format!("{kind}: it's ☂ '; drop table"));
        world.done(scope, vec![relate(&relation)]).await;
        all.push(relation);
    }
    let ids: Vec<EdgeId> = all.iter().map(|relation| relation.id).collect();
    for scope in [&ana, &bob] {
        assert_eq!(active_of(&world, scope, &[a]).await, all);
        assert_eq!(active_of(&world, scope, &[b]).await, all);
        assert_eq!(by_id(&world, scope, &ids).await, all);
    }
}

pub async fn relations_are_given_by_either_end_each_once_and_oldest_first(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let mut cells = Vec::new();
    for n in 0..5 {
        cells.push(world.store(&scope, &format!("{n}")).await.cell.id);
    }
    let [a, b, c, d, e] = cells[..] else {
        panic!("five were stored")
    };
    let kind = RelationKind::DependsOn;
    let mut kept = Vec::new();
    for (from, to) in [(c, a), (a, b), (b, a), (d, c), (b, d)] {
        kept.push(world.relate(&scope, from, kind, to).await);
    }
    let [ca, ab, ba, dc, bd] = &kept[..] else {
        panic!("five were kept")
    };
    let unknown = CellId::new(world.id());
    for (ids, want) in [
        (vec![], vec![]),
        (vec![e], vec![]),
        (vec![unknown], vec![]),
        (vec![d], vec![dc, bd]),
        (vec![a], vec![ca, ab, ba]),
        (vec![a, b], vec![ca, ab, ba, bd]),
        (vec![b, unknown, a, e], vec![ca, ab, ba, bd]),
        (vec![c, b, a, d], vec![ca, ab, ba, dc, bd]),
    ] {
        let found = active_of(&world, &scope, &ids).await;
        assert_eq!(found.iter().collect::<Vec<_>>(), want, "{ids:?}");
    }
    let unknown = EdgeId::new(world.id());
    let found = by_id(&world, &scope, &[dc.id, unknown, ca.id, bd.id]).await;
    assert_eq!(found, [dc.clone(), ca.clone(), bd.clone()]);
    assert_eq!(by_id(&world, &scope, &[]).await, []);
}

pub async fn relations_come_by_time_and_of_one_time_by_id(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let a = world.store(&scope, "a").await.cell.id;
    let b = world.store(&scope, "b").await.cell.id;
    let times = [world.now(), world.now()];
    let mut all = Vec::new();
    for (i, kind) in RelationKind::ALL.into_iter().enumerate() {
        let mut relation = world.relation(&scope, a, kind, b);
        relation.created_at = times[1 - i % 2];
        all.push(relation);
    }
    for relation in all.iter().rev() {
        world.done(&scope, vec![relate(relation)]).await;
    }
    let early = all
        .iter()
        .filter(|relation| relation.created_at == times[0]);
    let late = all
        .iter()
        .filter(|relation| relation.created_at == times[1]);
    let want: Vec<Relation> = early.chain(late).cloned().collect();
    assert_eq!(active_of(&world, &scope, &[b, a]).await, want);
}

pub async fn a_relation_is_kept_once_for_each_pair_direction_and_kind(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let a = world.store(&ana, "a").await.cell.id;
    let b = world.store(&ana, "b").await.cell.id;
    let there = world.relate(&ana, a, RelationKind::Supports, b).await;
    let before = Seen::by(&world, &ana).await;
    for scope in [&ana, &bob] {
        let mut again = world.relation(scope, a, RelationKind::Supports, b);
        again.reason = Some("another reason".to_owned());
        again.weight = Share::FULL;
        let done = world.commit(scope, vec![relate(&again)]).await;
        assert_eq!(done, Committed::SameRelation(there.id));
        assert_eq!(by_id(&world, &ana, &[again.id]).await, []);
    }
    assert_eq!(Seen::by(&world, &ana).await, before);
    world.relate(&ana, b, RelationKind::Supports, a).await;
    world.relate(&bob, a, RelationKind::Refines, b).await;
    assert_eq!(active_of(&world, &ana, &[a]).await.len(), 3);
}

pub async fn a_relation_is_taken_back_and_brought_back(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let a = world.store(&ana, "a").await.cell.id;
    let b = world.store(&ana, "b").await.cell.id;
    let other = world.relate(&ana, b, RelationKind::CausedBy, a).await;
    let relation = world.relate(&ana, a, RelationKind::CausedBy, b).await;
    let id = relation.id;
    let retracted = Relation {
        active: false,
        ..relation.clone()
    };
    for _ in 0..2 {
        world.done(&bob, vec![set(id, false)]).await;
        assert_eq!(
            active_of(&world, &ana, &[a]).await,
            std::slice::from_ref(&other)
        );
        let all = [other.clone(), retracted.clone()];
        assert_eq!(all_of(&world, &ana, &[a]).await, all);
        assert_eq!(
            by_id(&world, &ana, &[id]).await,
            std::slice::from_ref(&retracted)
        );
        let again = world.commit(&bob, vec![set(id, false)]).await;
        assert_eq!(again, Committed::RelationGone(id));

        world.done(&ana, vec![set(id, true)]).await;
        let all = [other.clone(), relation.clone()];
        assert_eq!(active_of(&world, &ana, &[b]).await, all);
        let again = world.commit(&ana, vec![set(id, true)]).await;
        assert_eq!(again, Committed::RelationGone(id));
    }
    let unknown = EdgeId::new(world.id());
    let before = Seen::by(&world, &ana).await;
    for step in [
        set(unknown, true),
        set(unknown, false),
        Step::EraseRelation { id: unknown },
    ] {
        let done = world.commit(&ana, vec![step]).await;
        assert_eq!(done, Committed::RelationGone(unknown));
    }
    assert_eq!(Seen::by(&world, &ana).await, before);
}

pub async fn a_relation_given_again_after_it_was_taken_back_has_its_old_id(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let a = world.store(&ana, "a").await.cell.id;
    let b = world.store(&ana, "b").await.cell.id;
    let mut first = world.relation(&ana, a, RelationKind::ExampleOf, b);
    first.reason = Some("the first reason".to_owned());
    world
        .done(&ana, vec![relate(&first), set(first.id, false)])
        .await;
    for reason in [Some("another"), None] {
        let mut again = world.relation(&bob, a, RelationKind::ExampleOf, b);
        again.reason = reason.map(str::to_owned);
        again.weight = Share::new(0.9).unwrap();
        world.done(&bob, vec![relate(&again)]).await;
        assert_eq!(by_id(&world, &ana, &[again.id]).await, []);
        let want = Relation {
            id: first.id,
            ..again
        };
        assert_eq!(all_of(&world, &ana, &[b]).await, [want]);
        world.done(&ana, vec![set(first.id, false)]).await;
    }
}

pub async fn an_erased_relation_is_gone_and_may_be_given_anew(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let a = world.store(&ana, "a").await.cell.id;
    let b = world.store(&ana, "b").await.cell.id;
    for active in [true, false] {
        let relation = world.relate(&ana, a, RelationKind::Related, b).await;
        let id = relation.id;
        if !active {
            world.done(&ana, vec![set(id, false)]).await;
        }
        world.done(&bob, vec![Step::EraseRelation { id }]).await;
        assert_eq!(all_of(&world, &ana, &[a, b]).await, []);
        assert_eq!(by_id(&world, &ana, &[id]).await, []);
        for step in [Step::EraseRelation { id }, set(id, true), set(id, false)] {
            let done = world.commit(&ana, vec![step]).await;
            assert_eq!(done, Committed::RelationGone(id));
        }
    }
}

pub async fn a_relation_needs_both_of_its_ends(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let there = bob.in_project(project("q"));
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let a = world.store(&ana, "a").await.cell.id;
    let erased = world.store(&ana, "erased").await.cell;
    world.done(&ana, vec![world.erase(&erased)]).await;
    let hidden = world.keep(&bob, world.private(&bob, "hidden")).await;
    let far = world.store(&there, "far").await;
    let gone = [
        CellId::new(world.id()),
        erased.id,
        hidden.cell.id,
        far.cell.id,
    ];
    let before = Seen::by(&world, &ana).await;
    for gone in gone {
        for (from, to) in [(a, gone), (gone, a)] {
            let relation = world.relation(&ana, from, RelationKind::Supports, to);
            let done = world.commit(&ana, vec![relate(&relation)]).await;
            assert_eq!(done, Committed::Changed(gone));
        }
    }
    assert_eq!(Seen::by(&world, &ana).await, before);
}

pub async fn a_relation_to_what_is_not_active_stays(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let a = world.store(&scope, "a").await.cell;
    let b = world.store(&scope, "b").await.cell;
    let first = world.relate(&scope, a.id, RelationKind::Supersedes, b.id);
    let first = first.await;
    with_status(&world, &scope, &b, Status::Superseded).await;
    let second = world.relate(&scope, b.id, RelationKind::Supports, a.id);
    let second = second.await;
    assert_eq!(active_of(&world, &scope, &[b.id]).await, [first, second]);
}

pub async fn a_relation_is_seen_by_those_who_see_both_of_its_ends(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let (ana, bob) = (world.owner().await, world.owner().await);
    let there = bob.in_project(project("q"));
    let (ana, bob) = (ana.in_project(project("p")), bob.in_project(project("p")));
    let open = world.store(&ana, "open").await.cell;
    let private = world.keep(&ana, world.private(&ana, "private")).await.cell;
    let shared = world.keep(&ana, world.shared(&ana, "shared")).await.cell;
    let far = world.keep(&there, world.shared(&there, "far")).await.cell;
    let kind = RelationKind::Refines;
    let mut kept = Vec::new();
    for (from, to) in [
        (open.id, private.id),
        (private.id, open.id),
        (open.id, shared.id),
        (shared.id, far.id),
    ] {
        kept.push(world.relate(&ana, from, kind, to).await);
    }
    let cells = [open.id, private.id, shared.id, far.id];
    let ids: Vec<EdgeId> = kept.iter().map(|relation| relation.id).collect();
    for (scope, seen) in [(&ana, &kept[..]), (&bob, &kept[2..]), (&there, &kept[3..])] {
        assert_eq!(all_of(&world, scope, &cells).await, seen);
        assert_eq!(by_id(&world, scope, &ids).await, seen);
    }
    for hidden in &ids[..2] {
        for step in [
            set(*hidden, false),
            set(*hidden, true),
            Step::EraseRelation { id: *hidden },
        ] {
            let done = world.commit(&bob, vec![step]).await;
            assert_eq!(done, Committed::RelationGone(*hidden));
        }
    }
    assert_eq!(all_of(&world, &ana, &cells).await, kept);
    let opened = world.change(&ana, &private, |cell| cell.visibility = Visibility::Project);
    opened.await;
    assert_eq!(all_of(&world, &bob, &cells).await, kept);
    let closed = world.change(&ana, &shared, |cell| cell.visibility = Visibility::Private);
    closed.await;
    assert_eq!(all_of(&world, &bob, &cells).await, kept[..2]);
}

pub async fn relations_are_no_semantic_links(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let hub = world.store(&scope, "hub").await.cell.id;
    let mut semantic = Vec::new();
    for n in 0..30 {
        let mut new = world.cell(&scope, &format!("{n}"));
        if n >= 20 {
            new.derived.links = vec![link(hub, 0.5)];
        }
        let id = world.keep(&scope, new).await.cell.id;
        world.relate(&scope, id, RelationKind::Related, hub).await;
        if n >= 20 {
            semantic.push(id);
        }
    }
    let links = world.links(&scope, hub).await;
    let links: Vec<CellId> = links.iter().map(|link| link.to).collect();
    assert_eq!(links, semantic);
    assert_eq!(active_of(&world, &scope, &[hub]).await.len(), 30);
}
