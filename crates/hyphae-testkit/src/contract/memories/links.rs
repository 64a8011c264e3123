//! Semantic links and their bounds.

use hyphae_core::{
    cell::{Layer, Share},
    ids::CellId,
    ports::{Link, Seen},
    scope::Scope,
};

use super::another_text;
use crate::contract::{
    Subject,
    fixture::{World, link, project, revise},
};

pub async fn a_revision_keeps_links_unless_it_brings_others(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let a = world.store(&scope, "a").await.cell.id;
    let b = world.store(&scope, "b").await.cell.id;
    let mut c = world.cell(&scope, "c");
    c.derived.links = vec![link(a, 0.5)];
    let cell = world.keep(&scope, c).await.cell;
    let c = cell.id;

    let new = another_text(&world, &cell, "c again");
    let cell = new.cell.clone();
    world.done(&scope, vec![revise(new)]).await;
    let cell = world
        .change(&scope, &cell, |cell| cell.salience = Share::FULL)
        .await;
    assert_eq!(world.links(&scope, c).await, [Link { to: a, weight: 0.5 }]);

    let mut new = another_text(&world, &cell, "c anew");
    new.derived.as_mut().unwrap().links = vec![link(b, 0.25)];
    world.done(&scope, vec![revise(new)]).await;
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
    new.derived.links = vec![link(c, 0.3), link(a, 0.1), link(b, 0.3)];
    new.derived.links[1].back = false;
    let d = world.keep(&scope, new).await.cell.id;

    let to = |to, weight| Link { to, weight };
    let unknown = CellId::new(world.id());
    // Whichever of them the caller knows already.
    let known: [Seen<'_>; 4] = [&|_| false, &|id| id == a, &|id| id != b, &|_| true];
    for seen in known {
        let store = subject.memories();
        let found = store
            .links(&scope, &[d, unknown, a, b], seen)
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
    new.derived.links = vec![
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
        spoke.derived.links = vec![link(hub, 0.5 + n as f32 / 1000.0)];
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
    new.derived.links = vec![link(hub, 0.4)];
    new.derived.links[0].drops = vec![spokes[23], spokes[22]];
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
    new.derived.links = vec![link(hub, 0.4)];
    new.derived.links[0].drops = vec![spokes[5]];
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
    new.derived.links = ids.iter().map(|id| link(*id, 0.5)).collect();
    let new = world.keep(&scope, new).await.cell.id;
    let links: Vec<CellId> = world
        .links(&scope, new)
        .await
        .iter()
        .map(|link| link.to)
        .collect();
    assert_eq!(links, ids[..24], "of equal links those to older cells");
}

pub async fn weights_come_back_to_the_last_digit(subject: &dyn Subject) {
    let world = World::new(subject).await;
    let scope = world.owner().await.in_project(project("p"));
    let hub = world.store(&scope, "hub").await.cell.id;
    for (n, weight) in [
        1.0,
        1.0 - f32::EPSILON / 2.0,
        0.1,
        1.0 / 3.0,
        0.001,
        0.000_123_456_79,
        f32::EPSILON,
        f32::MIN_POSITIVE,
    ]
    .into_iter()
    .enumerate()
    {
        let mut new = world.cell(&scope, &format!("{n}"));
        new.derived.links = vec![link(hub, weight)];
        let id = world.keep(&scope, new).await.cell.id;
        let found = world.links(&scope, id).await;
        assert_eq!(found, [Link { to: hub, weight }]);
    }
}
