//! Who has which diff.

use hyphae_core::{cell::Status, ports::Settlement};

use super::{
    super::{Living, drop_after, fixture::World},
    STAYED, diffs, late, lease, lease_some, reaching, settle, three, worker,
};

/// What is written is what waits, and nothing else does.
pub async fn every_diff_waits_in_the_order_of_commits_until_it_is_settled(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, ..] = three(&world).await;
    let gossip = living.gossip();
    assert_eq!(lease(gossip, &world, 0, 1).await, []);
    let first = world.store(&scope, "first").await;
    let private = world.keep(&scope, world.private(&scope, "private")).await;
    world.store(&scope, "second").await;
    let changed = world
        .change(&scope, &first.cell, |cell| cell.status = Status::Retracted)
        .await;
    world.done(&scope, vec![world.erase(&private.cell)]).await;
    let all = world.diffs(&scope).await;
    assert_eq!(changed.revision, 2);
    assert_eq!(
        gossip.waiting(world.tenant).await.unwrap(),
        all.len() as u64
    );
    let waiting = lease(gossip, &world, 0, 1).await;
    let found: Vec<_> = waiting.iter().map(|waiting| waiting.diff.clone()).collect();
    assert_eq!(found, all);
    for one in &waiting {
        assert_eq!(settle(gossip, &world, one, &STAYED).await, Settlement::Done);
    }
    assert_eq!(gossip.waiting(world.tenant).await.unwrap(), 0);
    assert_eq!(lease(gossip, &world, 60, 1).await, []);
}

/// Its number tells how often it was taken.
pub async fn a_leased_diff_is_leased_again_when_its_lease_has_run_out(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, ..] = three(&world).await;
    let gossip = living.gossip();
    world.store(&scope, "one").await;
    let first = lease(gossip, &world, 0, 1).await;
    assert_eq!((first.len(), first[0].lease.number), (1, 1));
    assert_eq!(first[0].lease.worker, worker(1));
    for (minute, who) in [(0, 2), (1, 1), (1, 2), (-5, 2)] {
        assert_eq!(lease(gossip, &world, minute, who).await, [], "{minute}");
    }
    let second = lease(gossip, &world, 2, 2).await;
    assert_eq!(diffs(&second), diffs(&first));
    assert_eq!(
        (second[0].lease.worker, second[0].lease.number),
        (worker(2), 2)
    );
    assert_eq!(lease(gossip, &world, 3, 1).await, []);
    assert_eq!(lease(gossip, &world, 4, 2).await[0].lease.number, 3);
}

/// A full page leaves the rest for others.
pub async fn a_page_of_leases_has_the_oldest_that_are_free(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, ..] = three(&world).await;
    let gossip = living.gossip();
    for n in 0..5 {
        world.store(&scope, &format!("text {n}")).await;
    }
    let all: Vec<_> = world
        .diffs(&scope)
        .await
        .iter()
        .map(|diff| diff.id)
        .collect();
    assert_eq!(diffs(&lease_some(gossip, &world, 0, 1, 2).await), all[..2]);
    assert_eq!(lease_some(gossip, &world, 0, 2, 0).await, []);
    assert_eq!(diffs(&lease_some(gossip, &world, 1, 2, 2).await), all[2..4]);
    assert_eq!(
        diffs(&lease_some(gossip, &world, 2, 3, 9).await),
        [&all[..2], &all[4..]].concat()
    );
}

/// Two processes that look at the same time share the work.
pub async fn of_two_that_lease_at_once_each_has_its_own(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, ..] = three(&world).await;
    for n in 0..20 {
        world.store(&scope, &format!("text {n}")).await;
    }
    let other = living.again().await;
    let (mut ours, theirs) = tokio::join!(
        lease_some(living.gossip(), &world, 0, 1, 12),
        lease_some(other.gossip(), &world, 0, 2, 12),
    );
    ours.extend(theirs);
    let mut found = diffs(&ours);
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), ours.len(), "leased twice");
    assert_eq!(found.len(), 20);
}

/// Whoever comes second changes nothing.
pub async fn a_diff_is_settled_once(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, reader, _] = three(&world).await;
    let gossip = living.gossip();
    world.store(&scope, "one").await;
    let one = lease(gossip, &world, 0, 1).await.remove(0);
    assert_eq!(
        settle(gossip, &world, &one, &STAYED).await,
        Settlement::Done
    );
    let again = reaching(&one.diff, &[reader.credential]);
    assert_eq!(settle(gossip, &world, &one, &again).await, Settlement::Lost);
    assert_eq!(
        gossip.settled(&scope, one.diff.id).await.unwrap(),
        Some(STAYED)
    );
    assert_eq!(gossip.inbox(&reader, 0, true, 9).await.unwrap().letters, []);
}

/// The slower of two workers delivers nothing.
pub async fn a_lease_that_was_taken_over_settles_nothing(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, reader, _] = three(&world).await;
    let gossip = living.gossip();
    world.store(&scope, "one").await;
    let slow = lease(gossip, &world, 0, 1).await.remove(0);
    let fast = lease(gossip, &world, 2, 1).await.remove(0);
    let told = reaching(&slow.diff, &[reader.credential]);
    assert_eq!(settle(gossip, &world, &slow, &told).await, Settlement::Lost);
    assert_eq!(gossip.inbox(&reader, 0, true, 9).await.unwrap().letters, []);
    assert_eq!(gossip.waiting(world.tenant).await.unwrap(), 1);
    assert_eq!(settle(gossip, &world, &fast, &told).await, Settlement::Done);
    assert_eq!(settle(gossip, &world, &slow, &told).await, Settlement::Lost);
    assert_eq!(
        gossip
            .inbox(&reader, 0, true, 9)
            .await
            .unwrap()
            .letters
            .len(),
        1
    );
}

/// Work that took too long is not lost without need.
pub async fn a_lease_that_ran_out_settles_while_nobody_took_it(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, ..] = three(&world).await;
    let gossip = living.gossip();
    world.store(&scope, "one").await;
    let one = lease(gossip, &world, -600, 1).await.remove(0);
    let (diff, lease) = (one.diff.id, one.lease);
    let settled = gossip.settle(world.tenant, diff, lease, &STAYED, late(600));
    assert_eq!(settled.await.unwrap(), Settlement::Done);
}

/// Those of others stay.
pub async fn a_worker_that_leaves_gives_its_leases_back(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, ..] = three(&world).await;
    let gossip = living.gossip();
    for text in ["one", "two"] {
        world.store(&scope, text).await;
    }
    let one = lease_some(gossip, &world, 0, 1, 1).await;
    lease_some(gossip, &world, 0, 2, 1).await;
    gossip.release(world.tenant, worker(1)).await.unwrap();
    let again = lease(gossip, &world, 0, 3).await;
    assert_eq!(diffs(&again), diffs(&one));
    assert_eq!(again[0].lease.number, 2);
}

/// What was leased and not settled is found again, what was settled is not.
pub async fn another_process_goes_on_where_one_ended(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, reader, _] = three(&world).await;
    for text in ["one", "two"] {
        world.store(&scope, text).await;
    }
    let leased = lease(living.gossip(), &world, 0, 1).await;
    let told = reaching(&leased[0].diff, &[reader.credential]);
    settle(living.gossip(), &world, &leased[0], &told).await;
    let other = living.again().await;
    assert_eq!(lease(other.gossip(), &world, 1, 2).await, []);
    let rest = lease(other.gossip(), &world, 2, 2).await;
    assert_eq!(diffs(&rest), diffs(&leased[1..]));
    let letters = other.gossip().inbox(&reader, 0, false, 9).await.unwrap();
    assert_eq!(letters.letters.len(), 1);
}

/// A crash between delivery and acknowledgement delivers once.
pub async fn a_dropped_settling_leaves_all_or_nothing(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, reader, _] = three(&world).await;
    let gossip = living.gossip();
    for polls in 0..40 {
        let new = world.store(&scope, &format!("text {polls}")).await;
        let minute = i64::try_from(10 * polls).unwrap();
        let one = lease(gossip, &world, minute, 1).await.remove(0);
        let told = reaching(&one.diff, &[reader.credential]);
        let (diff, lease_of_it) = (one.diff.id, one.lease);
        let settling = gossip.settle(world.tenant, diff, lease_of_it, &told, late(0));
        drop_after(polls, settling).await;
        // Whatever was under way is over once another call has answered.
        let again = settle(gossip, &world, &one, &told).await;
        let settled = gossip.settled(&scope, diff).await.unwrap();
        assert_eq!(settled, Some(told), "{again:?} after {polls}");
        let inbox = gossip.inbox(&reader, 0, true, 99).await.unwrap();
        let letters = inbox
            .letters
            .iter()
            .filter(|letter| letter.diff.cell == new.cell.id);
        assert_eq!(letters.count(), 1, "after {polls}");
    }
}
