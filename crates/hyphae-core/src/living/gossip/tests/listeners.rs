//! Who is told, who is passed by, and how much a credential may tell.

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn a_writer_is_not_told_of_its_own_change() {
    let mut map = Map::default();
    map.link(0, agent(1, 0), 1.0);
    map.link(0, beacon(2, 0, Interest::default()), 1.0);
    map.link(0, agent(3, 7), 1.0);
    let journey = map.go(&change(CellType::Fact, 1.0));
    assert_eq!(numbers(&journey), [0, 3]);
    assert_eq!(journey.stops, [stop(0, 1, Why::Own), stop(0, 2, Why::Own)]);
}

#[test]
fn a_credential_is_told_once_by_the_node_that_was_entered_first() {
    let mut map = Map::default();
    map.link(0, agent(1, 7), 0.25);
    map.link(0, beacon(2, 7, Interest::default()), 0.5);
    map.link(0, agent(3, 8), 1.0);
    let journey = map.go(&change(CellType::Fact, 1.0));
    let told: Vec<_> = (journey.told().iter())
        .map(|told| (told.whom, told.via, told.hops, told.energy))
        .collect();
    assert_eq!(
        told,
        [
            (credential(8), id(3), 1, 9.0),
            (credential(7), id(2), 1, 8.0)
        ]
    );
}

#[test]
fn a_beacon_is_told_only_of_what_it_is_for() {
    let mut map = Map::default();
    let prod = || vec![Tag::new("prod").unwrap()];
    let interest = |tags| Interest {
        types: vec![CellType::Fact],
        tags,
        kinds: vec![],
    };
    map.link(0, beacon(1, 1, interest(vec![])), 1.0);
    map.link(0, beacon(2, 2, interest(prod())), 1.0);
    let mut change = change(CellType::Fact, 1.0);
    let journey = map.go(&change);
    assert_eq!(numbers(&journey), [0, 1]);
    assert_eq!(journey.stops, [stop(0, 2, Why::Unwanted)]);
    change.tags = Tags::new(prod()).unwrap();
    assert_eq!(numbers(&map.go(&change)), [0, 1, 2]);
}

#[test]
fn who_listens_hands_nothing_on() {
    let mut map = Map::default();
    map.link(0, agent(1, 1), 1.0);
    map.link(1, cell(2), 1.0);
    assert_eq!(numbers(&map.go(&change(CellType::Fact, 1.0))), [0, 1]);
}

#[test]
fn a_contradiction_and_a_promotion_have_more_energy() {
    let energy = |kind, cell_type, salience| {
        format!(
            "{:.2}",
            energy(kind, cell_type, Share::new(salience).unwrap())
        )
    };
    let decision = CellType::Decision;
    assert_eq!(energy(DiffKind::Contradiction, decision, 0.9), "28.46");
    assert_eq!(energy(DiffKind::Promoted, decision, 1.0), "25.00");
    assert_eq!(energy(DiffKind::Updated, decision, 1.0), "20.00");
    assert_eq!(energy(DiffKind::Pattern, CellType::Pattern, 1.0), "15.00");
}

#[test]
fn what_takes_a_memory_away_follows_those_who_were_told_of_it() {
    let follows = DiffKind::ALL
        .into_iter()
        .filter(|kind| route(*kind) == Route::Follow);
    assert_eq!(
        follows.map(DiffKind::name).collect::<Vec<_>>(),
        ["retracted", "restored", "erased", "resolved"]
    );
}

#[test]
fn a_flood_of_one_credential_ends_with_its_energy_for_the_hour() {
    let mut spent = 0.0;
    let mut travelled = 0;
    for _ in 0..10_000 {
        let energy = allowance(20.0, spent);
        travelled += usize::from(energy > 0.0);
        spent += energy;
    }
    assert_eq!((travelled, spent), (100, HOURLY));
    assert_eq!(allowance(7.0, HOURLY - 7.0), 7.0);
    assert_eq!(allowance(7.0, HOURLY - 6.9), 0.0);
}

#[test]
fn a_faded_cell_and_one_without_a_place_are_passed_by() {
    let mut map = Map::default();
    let faded = |salience, last_access| NodeKind::Cell {
        salience: Share::new(salience).unwrap(),
        last_access,
        scene: None,
    };
    let days = |days: i64| NOW - SignedDuration::from_hours(24 * days);
    for (n, kind) in [
        (1, faded(0.5, days(160))),
        (2, faded(0.5, days(161))),
        (3, faded(0.1, NOW)),
        (4, faded(0.09, NOW)),
    ] {
        map.link(0, Node { kind, ..cell(n) }, 1.0);
    }
    let place = None;
    map.link(0, Node { place, ..cell(5) }, 1.0);
    let scene = NodeKind::Scene;
    map.link(
        0,
        Node {
            kind: scene,
            ..cell(6)
        },
        1.0,
    );
    let journey = map.go(&change(CellType::Fact, 1.0));
    assert_eq!(numbers(&journey), [0, 1, 3, 6]);
    assert_eq!(
        journey.stops,
        [
            stop(0, 2, Why::Faint),
            stop(0, 4, Why::Faint),
            stop(0, 5, Why::Unplaced)
        ]
    );
}

#[test]
fn who_listens_has_a_threshold_of_their_own() {
    let mut map = Map::default();
    let aside = |node| Node {
        place: Some(place(70.0)),
        ..node
    };
    map.link(0, aside(cell(1)), 1.0);
    map.link(0, aside(agent(2, 1)), 1.0);
    let change = change(CellType::Fact, 1.0);
    let score = score(&change, &aside(agent(2, 1))).unwrap();
    let told = |attention| {
        let rules = Rules {
            attention,
            ..Rules::default()
        };
        map.walk(&change, rules, 1)
    };
    assert_eq!(numbers(&told(score)), [0, 1, 2]);
    let journey = told(score.next_up());
    assert_eq!(numbers(&journey), [0, 1]);
    assert_eq!(journey.stops[0], stop(0, 2, Why::Irrelevant { score }));
}
