//! What a diff comes with.

use hyphae_core::{
    audit::Action,
    cell::{Layer, Share},
    diff::DiffKind,
    ports::{Settled, Settlement, Subject},
    scope::Scope,
};
use jiff::SignedDuration;

use super::{
    super::{
        Living,
        fixture::{World, insert, other_model, project, tags},
    },
    STAYED, late, lease, reaching, settle, settle_all, three, worker,
};

/// Not as it was when the diff was written.
pub async fn a_diff_comes_with_its_cell_as_it_is_now(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, ..] = three(&world).await;
    let new = world.store(&scope, "one").await;
    let retagged = world
        .change(&scope, &new.cell, |cell| cell.tags = tags(["a", "b"]))
        .await;
    let waiting = lease(living.gossip(), &world, 0, 1).await;
    assert_eq!(waiting.len(), 2);
    let subject = Subject {
        layer: Layer::L0,
        scene: None,
        tags: retagged.tags,
        place: new.derived.vector,
        other: None,
    };
    for one in &waiting {
        assert_eq!(one.subject.as_ref(), Some(&subject));
        assert_eq!(one.commons, Scope::commons(world.tenant, project("/p")));
        let carried = one.carried().unwrap();
        assert_eq!(carried.author, scope.credential);
        assert!((carried.energy - 50.0_f64.sqrt()).abs() < 1e-9);
    }
}

/// The energy of a contradiction is that of the more salient side.
pub async fn a_contradiction_comes_with_the_salience_of_the_other_cell(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, ..] = three(&world).await;
    let left = world.store(&scope, "left").await;
    let mut right = world.cell(&scope, "right");
    right.cell.salience = Share::FULL;
    world.keep(&scope, right.clone()).await;
    settle_all(living.gossip(), &world, &STAYED).await;
    world.dispute(&scope, left.cell.id, right.cell.id).await;
    let waiting = lease(living.gossip(), &world, 0, 1).await;
    assert_eq!(waiting[0].diff.kind, DiffKind::Contradiction);
    assert_eq!(
        waiting[0].subject.as_ref().unwrap().other,
        Some(Share::FULL)
    );
    assert_eq!(waiting[0].carried().unwrap().energy, 15.0);
}

/// They are leased all the same, so that somebody can settle them.
pub async fn what_not_everybody_may_see_has_no_subject(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, ..] = three(&world).await;
    world.keep(&scope, world.private(&scope, "private")).await;
    let erased = world.store(&scope, "erased").await;
    world.done(&scope, vec![world.erase(&erased.cell)]).await;
    let waiting = lease(living.gossip(), &world, 0, 1).await;
    assert_eq!(waiting.len(), 3);
    for one in waiting {
        assert_eq!(
            (one.subject.clone(), one.carried()),
            (None, None),
            "{one:?}"
        );
    }
}

/// A new model is not the end of what was said before.
pub async fn a_diff_whose_cell_has_no_vector_waits_until_it_expires(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, ..] = three(&world).await;
    let new = world.store(&scope, "one").await;
    let memories = living.subject().memories();
    let model = other_model();
    memories.choose_model(scope.owner(), &model).await.unwrap();
    let at = world.diffs(&scope).await[0].at;
    let lease = |expired| {
        let gossip = living.gossip();
        gossip.lease_diffs(world.tenant, worker(1), late(0), late(0), expired, 9)
    };
    let micro = SignedDuration::from_micros(1);
    assert_eq!(lease(at - micro).await.unwrap(), []);
    let expired = lease(at + micro).await.unwrap();
    assert_eq!((expired.len(), &expired[0].subject), (1, &None));
    let vectors = [(new.cell.id, 1, new.derived.vector.clone())];
    let replaced = memories.replace_vectors(scope.owner(), &model, &vectors);
    replaced.await.unwrap();
    let again = lease(at - micro).await.unwrap();
    let place = again[0].subject.as_ref().map(|subject| &subject.place);
    assert_eq!(place, Some(&new.derived.vector));
}

/// Only what travelled, of whoever wrote it, in the hour before.
pub async fn energy_is_counted_for_an_hour_and_for_its_author(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, other, _] = three(&world).await;
    let gossip = living.gossip();
    let hour = SignedDuration::from_hours(1);
    let now = world.now();
    let mut stored = 0;
    let mut at = async |scope: &Scope, created_at| {
        stored += 1;
        let mut new = world.cell(scope, &format!("text {stored}"));
        new.cell.created_at = created_at;
        new.cell.updated_at = created_at;
        let mut write = world.write(Action::Store, vec![insert(&new)]);
        write.at = created_at;
        let committed = living.subject().memories().commit(scope, &write).await;
        assert!(committed.unwrap().is_done());
        lease(gossip, &world, 0, 1).await.remove(0)
    };
    let first = at(&scope, now).await;
    assert_eq!(first.spent, 0.0);
    settle(gossip, &world, &first, &reaching(&first.diff, &[])).await;
    let second = at(&scope, now + hour - SignedDuration::from_micros(1)).await;
    assert_eq!(second.spent, 7.25);
    settle(gossip, &world, &second, &STAYED).await;
    let later = at(&scope, now + hour).await;
    assert_eq!(later.spent, 0.0);
    settle(gossip, &world, &later, &Settled::Followed).await;
    let foreign = at(&other, now).await;
    assert_eq!(foreign.spent, 0.0);
}

/// Nothing crosses from one tenant to another.
pub async fn a_tenant_lets_its_own_diffs_travel(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, ..] = three(&world).await;
    let stranger = world.stranger().await.in_project(project("/p"));
    world.store(&stranger, "theirs").await;
    let gossip = living.gossip();
    assert_eq!(lease(gossip, &world, 0, 1).await, []);
    assert_eq!(gossip.waiting(world.tenant).await.unwrap(), 0);
    world.store(&scope, "ours").await;
    let ours = lease(gossip, &world, 0, 1).await.remove(0);
    let (diff, lease) = (ours.diff.id, ours.lease);
    let settled = gossip.settle(stranger.tenant, diff, lease, &STAYED, late(0));
    assert_eq!(settled.await.unwrap(), Settlement::Lost);
    settle(gossip, &world, &ours, &STAYED).await;
    assert_eq!(gossip.settled(&stranger, diff).await.unwrap(), None);
}
