//! What waits in whose inbox, and what is known of the way there.

use hyphae_core::{
    cell::{Status, Visibility},
    diff::DiffKind,
    ids::{CredentialId, NodeId},
    living::gossip::{Journey, Stayed},
    ports::{Inbox, Settled},
};

use super::{
    super::{
        Living,
        fixture::{World, project, revise},
    },
    Arrival, Arrived, STAYED, Stop, Why, deliver, id, late, lease, settle, settle_all, tell, three,
};

/// However many of its nodes the diff reached.
pub async fn a_credential_has_one_letter_of_a_diff(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, one, two] = three(&world).await;
    let gossip = living.gossip();
    let new = tell(
        living,
        &world,
        &scope,
        "text",
        &[one.credential, two.credential],
    )
    .await;
    for (reader, node) in [(&one, id(1)), (&two, id(2))] {
        let inbox = gossip.inbox(reader, 0, false, 9).await.unwrap();
        assert_eq!(
            (inbox.letters.len(), inbox.unread, inbox.dropped),
            (1, 1, 0)
        );
        let letter = &inbox.letters[0];
        assert_eq!(letter.diff.cell, new.cell.id);
        assert_eq!((letter.at, letter.read), (late(0), false));
        let told = letter.told.unwrap();
        assert_eq!(
            (told.whom, told.via, told.hops),
            (reader.credential, node, 1)
        );
        assert_eq!((told.energy, told.score), (6.1, 0.7));
    }
}

/// In pages, and marked up to one of them.
pub async fn letters_are_read_in_the_order_in_which_they_arrived(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, reader, _] = three(&world).await;
    let gossip = living.gossip();
    let mut cells = Vec::new();
    for n in 0..5 {
        let text = format!("text {n}");
        cells.push(
            tell(living, &world, &scope, &text, &[reader.credential])
                .await
                .cell
                .id,
        );
    }
    let (mut found, mut after) = (Vec::new(), 0);
    loop {
        let page = gossip.inbox(&reader, after, false, 2).await.unwrap();
        assert_eq!(page.unread, 5);
        let Some(last) = page.letters.last() else {
            break;
        };
        assert!(last.number > after && page.letters.len() <= 2);
        after = last.number;
        found.extend(page.letters.iter().map(|letter| letter.diff.cell));
    }
    assert_eq!(found, cells);
    let all = gossip.inbox(&reader, 0, true, 9).await.unwrap();
    gossip
        .mark_read(&reader, all.letters[2].number)
        .await
        .unwrap();
    let unread = gossip.inbox(&reader, 0, false, 9).await.unwrap();
    assert_eq!((unread.letters.len(), unread.unread), (2, 2));
    let read = gossip.inbox(&reader, 0, true, 9).await.unwrap();
    let marks: Vec<bool> = read.letters.iter().map(|letter| letter.read).collect();
    assert_eq!(marks, [true, true, true, false, false]);
    gossip
        .mark_read(&reader, all.letters[0].number)
        .await
        .unwrap();
    assert_eq!(gossip.inbox(&reader, 0, false, 9).await.unwrap(), unread);
}

/// What was read makes no room and takes none.
pub async fn a_full_inbox_loses_its_oldest_unread_letters_and_counts_them(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, reader, _] = three(&world).await;
    let gossip = living.gossip();
    let read = tell(living, &world, &scope, "read", &[reader.credential]).await;
    let first = gossip.inbox(&reader, 0, false, 1).await.unwrap();
    gossip
        .mark_read(&reader, first.letters[0].number)
        .await
        .unwrap();
    let mut cell = world.store(&scope, "unread").await.cell;
    for _ in 0..Inbox::MOST + 2 {
        deliver(living, &world, cell.id, &[reader.credential]).await;
        cell = world.change(&scope, &cell, |_| {}).await;
    }
    let inbox = gossip.inbox(&reader, 0, true, usize::MAX).await.unwrap();
    assert_eq!((inbox.unread, inbox.dropped), (Inbox::MOST as u64, 2));
    assert_eq!(inbox.letters.len(), Inbox::MOST + 1);
    assert_eq!(inbox.letters[0].diff.cell, read.cell.id);
    assert_eq!(inbox.letters[1].diff.revision, 3, "the two oldest are gone");
    gossip
        .mark_read(&reader, inbox.letters[0].number)
        .await
        .unwrap();
    let told = gossip.inbox(&reader, 0, false, 1).await.unwrap();
    assert_eq!((told.unread, told.dropped), (Inbox::MOST as u64, 0));
}

/// They know the memory; others need not be told that it is gone.
pub async fn what_follows_reaches_those_who_were_told(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, reader, other] = three(&world).await;
    let gossip = living.gossip();
    let told = [reader.credential, scope.credential];
    let new = tell(living, &world, &scope, "text", &told).await;
    tell(living, &world, &scope, "another text", &[other.credential]).await;
    let seen = gossip.inbox(&reader, 0, false, 9).await.unwrap();
    gossip
        .mark_read(&reader, seen.letters[0].number)
        .await
        .unwrap();
    let mut retracting = world.revise(&new.cell, |cell| cell.status = Status::Retracted);
    retracting.kind = DiffKind::Retracted;
    world.done(&scope, vec![revise(retracting)]).await;
    for waiting in lease(gossip, &world, -60, 1).await {
        settle(gossip, &world, &waiting, &Settled::Followed).await;
    }
    let inbox = gossip.inbox(&reader, 0, false, 9).await.unwrap();
    assert_eq!((inbox.letters.len(), inbox.letters[0].told), (1, None));
    assert_eq!(inbox.letters[0].diff.cell, new.cell.id);
    assert_eq!(
        gossip
            .inbox(&other, 0, false, 9)
            .await
            .unwrap()
            .letters
            .len(),
        1
    );
    let own = gossip.inbox(&scope, 0, false, 9).await.unwrap();
    assert_eq!(own.letters.len(), 1, "only what it was made to be told");
}

/// Others see nothing of it, and mark nothing.
pub async fn an_inbox_belongs_to_one_credential_in_one_project(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, reader, other] = three(&world).await;
    let gossip = living.gossip();
    tell(living, &world, &scope, "text", &[reader.credential]).await;
    let elsewhere = reader.owner().in_project(project("/q"));
    for scope in [&other, &elsewhere] {
        gossip.mark_read(scope, u64::from(u32::MAX)).await.unwrap();
        let inbox = gossip.inbox(scope, 0, true, 9).await.unwrap();
        assert_eq!(inbox, Inbox::default());
    }
    assert_eq!(gossip.inbox(&reader, 0, false, 9).await.unwrap().unread, 1);
}

/// A letter promises no access.
pub async fn a_letter_about_what_is_hidden_is_left_out(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, reader, _] = three(&world).await;
    let gossip = living.gossip();
    let new = tell(living, &world, &scope, "text", &[reader.credential]).await;
    let hidden = world
        .change(&scope, &new.cell, |cell| {
            cell.visibility = Visibility::Private;
        })
        .await;
    let inbox = gossip.inbox(&reader, 0, true, 9).await.unwrap();
    assert_eq!((inbox.letters, inbox.unread), (vec![], 0));
    world
        .change(&scope, &hidden, |cell| {
            cell.visibility = Visibility::Project;
        })
        .await;
    let inbox = gossip.inbox(&reader, 0, true, 9).await.unwrap();
    assert_eq!((inbox.letters.len(), inbox.unread), (1, 1));
}

fn way(cell: NodeId, over: NodeId) -> Settled {
    let arrival = |node, at, from, hops, energy: f64, score| Arrival {
        node,
        at,
        from,
        hops,
        energy,
        score,
    };
    let owner = CredentialId::new(id(77).uuid());
    let reached = vec![
        arrival(cell, Arrived::Cell(Some(id(5))), None, 0, 20.0, 1.0),
        arrival(
            over,
            Arrived::Cell(None),
            Some(cell),
            1,
            10.0 / 3.0,
            0.1 + 0.2,
        ),
        arrival(id(2), Arrived::Scene, Some(cell), 1, 3.0, 0.5),
        arrival(id(3), Arrived::Agent(owner), Some(over), 2, 2.0, -0.25),
        arrival(id(4), Arrived::Beacon(owner), Some(over), 2, 1.0, 1.0),
    ];
    let reasons = [
        Why::Spent {
            left: 1.5,
            cost: 2.0 / 3.0,
        },
        Why::Irrelevant { score: 0.299 },
        Why::Known,
        Why::Own,
        Why::Unwanted,
        Why::Faint,
        Why::Unplaced,
        Why::Full,
    ];
    let mut stops: Vec<Stop> = (10..)
        .zip(reasons)
        .map(|(n, why)| Stop {
            from: cell,
            to: Some(id(n)),
            why,
        })
        .collect();
    let (from, to, why) = (over, None, Why::TooFar);
    stops.push(Stop { from, to, why });
    Settled::Travelled {
        energy: 20.0,
        journey: Journey { reached, stops },
    }
}

/// To the last bit of each number.
pub async fn a_journey_comes_back_with_every_field(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, other, _] = three(&world).await;
    let gossip = living.gossip();
    let over = world.store(&scope, "over").await.cell.id.into();
    for settled in [
        STAYED,
        Settled::Stayed(Stayed::Expired),
        Settled::Stayed(Stayed::Faint),
        Settled::Stayed(Stayed::Hidden),
        Settled::Stayed(Stayed::Failed),
        Settled::Followed,
    ] {
        let new = world.store(&scope, &format!("{settled:?}")).await;
        assert_eq!(gossip.settled(&other, new.diff).await.unwrap(), None);
        settle_all(gossip, &world, &settled).await;
        assert_eq!(
            gossip.settled(&other, new.diff).await.unwrap(),
            Some(settled)
        );
    }
    let new = world.store(&scope, "travelled").await;
    let settled = way(new.cell.id.into(), over);
    settle_all(gossip, &world, &settled).await;
    assert_eq!(
        gossip.settled(&other, new.diff).await.unwrap(),
        Some(settled)
    );
}

/// Neither the cell of the diff nor those on its way.
pub async fn a_journey_shows_nobody_what_is_hidden(living: &dyn Living) {
    let world = World::new(living.subject()).await;
    let [scope, other, _] = three(&world).await;
    let gossip = living.gossip();
    let hide = async |cell| {
        world
            .change(&scope, cell, |cell| cell.visibility = Visibility::Private)
            .await
    };
    let over = world.store(&scope, "over").await;
    settle_all(gossip, &world, &STAYED).await;
    let new = world.store(&scope, "text").await;
    let settled = way(new.cell.id.into(), over.cell.id.into());
    settle_all(gossip, &world, &settled).await;
    hide(&over.cell).await;
    assert_eq!(
        gossip.settled(&scope, new.diff).await.unwrap(),
        Some(settled)
    );
    let Some(Settled::Travelled { journey, .. }) = gossip.settled(&other, new.diff).await.unwrap()
    else {
        panic!("the way is gone");
    };
    assert_eq!((journey.reached.len(), journey.stops.len()), (4, 8));
    hide(&new.cell).await;
    assert_eq!(gossip.settled(&other, new.diff).await.unwrap(), None);
}
