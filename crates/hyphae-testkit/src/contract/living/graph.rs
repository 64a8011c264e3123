//! What a walk can see.

use hyphae_core::{
    cell::{Cell, Layer, Status, Visibility},
    ids::NodeId,
    living::node::NodeKind,
    ports::Step,
    relation::RelationKind,
    scope::Scope,
};

use super::{
    super::{
        Living,
        fixture::{World, link, project},
    },
    id, three,
};

/// Returns where the links of a cell lead, by the weight of each.
async fn around(living: &dyn Living, commons: &Scope, cell: &Cell) -> Vec<(NodeId, f32)> {
    let graph = living.gossip().graph(commons);
    let lists = graph.around(Layer::L0, &[cell.id.into()]).await.unwrap();
    assert_eq!(lists.len(), 1);
    let links = lists[0].iter().map(|near| (near.node.id, near.weight));
    let mut links: Vec<(NodeId, f32)> = links.collect();
    links.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    links
}

/// Semantic ones and those that somebody gave, with what is known of the other end.
pub async fn a_graph_has_the_links_of_all_kinds(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, ..] = three(&world).await;
    let commons = Scope::commons(world.tenant, scope.project.clone());
    let near = world.store(&scope, "near").await;
    let far = world.store(&scope, "far").await;
    let mut new = world.cell(&scope, "new");
    new.derived.links = vec![link(near.cell.id, 0.75)];
    let new = world.keep(&scope, new).await;
    world
        .relate(&scope, new.cell.id, RelationKind::DependsOn, far.cell.id)
        .await;
    let (from, near_id, far_id) = (new.cell.id.into(), near.cell.id.into(), far.cell.id.into());
    assert_eq!(
        around(living, &commons, &new.cell).await,
        [(near_id, 0.75), (far_id, 0.5)]
    );
    assert_eq!(around(living, &commons, &near.cell).await, [(from, 0.75)]);
    assert_eq!(
        around(living, &commons, &far.cell).await,
        [],
        "a relation has a direction"
    );
    let graph = living.gossip().graph(&commons);
    let lists = graph.around(Layer::L0, &[from]).await.unwrap();
    let node = &lists[0]
        .iter()
        .find(|found| found.node.id == near_id)
        .unwrap()
        .node;
    assert_eq!(node.place.as_ref(), Some(&near.derived.vector));
    let NodeKind::Cell {
        salience,
        last_access,
        scene,
    } = node.kind
    else {
        panic!("{node:?}");
    };
    assert_eq!((salience, scene), (near.cell.salience, None));
    assert!(last_access >= near.cell.created_at);
    assert_eq!(graph.around(Layer::L1, &[from]).await.unwrap(), [vec![]]);
}

/// What a walk can see is what everybody in the project can.
pub async fn a_graph_leads_to_nothing_that_is_private_or_gone(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, ..] = three(&world).await;
    let commons = Scope::commons(world.tenant, scope.project.clone());
    let mut ends = Vec::new();
    for n in 0..5 {
        ends.push(world.store(&scope, &format!("end {n}")).await.cell);
    }
    let mut new = world.cell(&scope, "new");
    new.derived.links = ends.iter().map(|end| link(end.id, 0.75)).collect();
    let new = world.keep(&scope, new).await.cell;
    let relation = world
        .relate(&scope, new.id, RelationKind::Related, ends[4].id)
        .await;
    let retracted = Step::SetRelation {
        id: relation.id,
        active: false,
    };
    world.done(&scope, vec![retracted]).await;
    assert_eq!(around(living, &commons, &new).await.len(), 5);
    for status in [Status::Retracted, Status::Superseded] {
        let end = ends.remove(0);
        world
            .change(&scope, &end, |cell| cell.status = status)
            .await;
    }
    let end = ends.remove(0);
    world
        .change(&scope, &end, |cell| cell.visibility = Visibility::Private)
        .await;
    world.done(&scope, vec![world.erase(&ends.remove(0))]).await;
    let last: NodeId = ends[0].id.into();
    assert_eq!(around(living, &commons, &new).await, [(last, 0.75)]);
    let elsewhere = Scope::commons(world.tenant, project("/q"));
    assert_eq!(around(living, &elsewhere, &new).await, []);
    let gone = world
        .change(&scope, &new, |cell| cell.status = Status::Superseded)
        .await;
    assert_eq!(
        around(living, &commons, &gone).await,
        [(last, 0.75)],
        "a last way out"
    );
    assert_eq!(around(living, &commons, &ends[0]).await, []);
}

/// One list a node, whatever is known of it.
pub async fn a_graph_answers_in_the_order_of_the_question(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, ..] = three(&world).await;
    let commons = Scope::commons(world.tenant, scope.project.clone());
    let one = world.store(&scope, "one").await.cell.id;
    let mut two = world.cell(&scope, "two");
    two.derived.links = vec![link(one, 0.75)];
    let two = world.keep(&scope, two).await.cell.id;
    let (one, two): (NodeId, NodeId) = (one.into(), two.into());
    let graph = living.gossip().graph(&commons);
    let asked = [two, id(1), one, two];
    let lists = graph.around(Layer::L0, &asked).await.unwrap();
    let ends: Vec<Vec<NodeId>> = (lists.iter())
        .map(|list| list.iter().map(|near| near.node.id).collect())
        .collect();
    assert_eq!(ends, [vec![one], vec![], vec![two], vec![one]]);
    assert_eq!(
        graph.around(Layer::L0, &[]).await.unwrap(),
        Vec::<Vec<_>>::new()
    );
}
