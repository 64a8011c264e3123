use pretty_assertions::assert_eq;
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::{
    cell::{Content, Origin, Share, Validity},
    label::{Tag, Tags, Topic},
    scope::Project,
};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn node(n: u128) -> NodeId {
    NodeId::new(Uuid::from_u128(n))
}

fn credential(n: u128) -> CredentialId {
    CredentialId::new(Uuid::from_u128(n))
}

fn id(n: u128) -> CellId {
    CellId::new(Uuid::from_u128(n))
}

/// A cell by credential 0.
fn cell(cell_type: CellType, layer: Layer) -> Cell {
    Cell {
        id: id(1),
        content: Content::new("We ship Postgres").unwrap(),
        cell_type,
        salience: Share::new(0.8).unwrap(),
        confidence: Share::FULL,
        author: credential(0),
        project: Project::named("p").unwrap(),
        layer,
        visibility: Visibility::Project,
        status: Status::Active,
        revision: 3,
        content_revision: 2,
        topic: Some(Topic::new("database").unwrap()),
        tags: Tags::new([Tag::new("db").unwrap()]).unwrap(),
        validity: Validity::ALWAYS,
        verified_at: None,
        origin: Origin::default(),
        created_at: NOW,
        updated_at: NOW,
    }
}

fn standing<'a>(
    cell: &'a Cell,
    delivered: &'a [(NodeId, Option<NodeId>)],
    confirmed_by: &'a [CredentialId],
) -> Standing<'a> {
    Standing {
        cell,
        delivered,
        confirmed_by,
        disputed: false,
        risen: false,
    }
}

fn by(numbers: &[u128]) -> Vec<CredentialId> {
    numbers.iter().map(|n| credential(*n)).collect()
}

/// Deliveries to nodes, each in a scene.
fn to(nodes: &[(u128, u128)]) -> Vec<(NodeId, Option<NodeId>)> {
    let delivered = nodes
        .iter()
        .map(|(n, scene)| (node(*n), Some(node(*scene))));
    delivered.collect()
}

#[track_caller]
fn check(
    cell: &Cell,
    delivered: &[(NodeId, Option<NodeId>)],
    confirmed_by: &[CredentialId],
    want: Result<Ground, Hindrance>,
) {
    let found = rises(&standing(cell, delivered, confirmed_by));
    assert_eq!(found.map(|rise| rise.ground), want);
}

#[test]
fn a_cell_rises_to_the_scenes_when_two_others_confirm_it() {
    let decision = cell(CellType::Decision, Layer::L0);
    check(&decision, &[], &by(&[1, 2]), Ok(Ground::Confirmed(2)));
    check(&decision, &[], &by(&[1]), Err(Hindrance::Unproven));
    check(&decision, &[], &by(&[1, 1, 1]), Err(Hindrance::Unproven));
    check(&decision, &[], &by(&[0, 1]), Err(Hindrance::Unproven));
}

#[test]
fn a_cell_rises_to_the_scenes_when_five_nodes_of_one_scene_know_it() {
    let decision = cell(CellType::Decision, Layer::L0);
    let five = to(&[(11, 90), (12, 90), (13, 90), (14, 90), (15, 90)]);
    let ground = |scene, nodes| {
        let scene = node(scene);
        Ok(Ground::Delivered { scene, nodes })
    };
    check(&decision, &five, &[], ground(90, 5));
    check(&decision, &five[..4], &[], Err(Hindrance::Unproven));
    let again = [&five[..4], &five[..4]].concat();
    check(&decision, &again, &[], Err(Hindrance::Unproven));
    let itself = [&five[..4], &to(&[(1, 90)])].concat();
    check(&decision, &itself, &[], Err(Hindrance::Unproven));
    let elsewhere = [&five[..4], &to(&[(15, 91)]), &[(node(16), None)]].concat();
    check(&decision, &elsewhere, &[], Err(Hindrance::Unproven));
    let two = [
        five.clone(),
        to(&[(21, 80), (22, 80), (23, 80), (24, 80), (25, 80)]),
    ]
    .concat();
    check(&decision, &two, &[], ground(80, 5));
    let more = [two, to(&[(16, 90)])].concat();
    check(&decision, &more, &[], ground(90, 6));
}

#[test]
fn a_cell_rises_to_the_project_when_three_scenes_or_three_others_hold_it() {
    let decision = cell(CellType::Decision, Layer::L1);
    let scenes = to(&[(90, 90), (91, 91), (12, 92)]);
    check(&decision, &scenes, &[], Ok(Ground::Present(3)));
    let two = to(&[(90, 90), (91, 91), (12, 91)]);
    check(&decision, &two, &by(&[1, 2]), Err(Hindrance::Unproven));
    check(&decision, &two, &by(&[1, 2, 3]), Ok(Ground::Confirmed(3)));
    check(&decision, &two, &by(&[1, 2, 0]), Err(Hindrance::Unproven));
    let mut faint = decision;
    faint.salience = Share::new(0.79).unwrap();
    check(&faint, &scenes, &by(&[1, 2, 3]), Err(Hindrance::Salience));
    faint.layer = Layer::L0;
    check(&faint, &[], &by(&[1, 2]), Ok(Ground::Confirmed(2)));
}

#[test]
fn types_rise_as_far_as_they_may() {
    use CellType::{Constraint, Decision, Lesson, Pattern};
    let confirmed = by(&[1, 2, 3]);
    for cell_type in CellType::ALL {
        let rises = |layer| rises(&standing(&cell(cell_type, layer), &[], &confirmed)).is_ok();
        let l1 = matches!(cell_type, Decision | Constraint | Pattern | Lesson);
        let l2 = matches!(cell_type, Decision | Constraint);
        assert_eq!(
            (rises(Layer::L0), rises(Layer::L1)),
            (l1, l2),
            "{cell_type}"
        );
        assert!(!rises(Layer::L2), "nothing is above");
    }
}

#[test]
fn what_is_disputed_hidden_or_has_risen_stays() {
    let decision = cell(CellType::Decision, Layer::L0);
    let confirmed = by(&[1, 2]);
    let well = standing(&decision, &[], &confirmed);
    assert!(rises(&well).is_ok());
    let disputed = Standing {
        disputed: true,
        ..well
    };
    assert_eq!(rises(&disputed), Err(Hindrance::Disputed));
    let risen = Standing {
        risen: true,
        ..well
    };
    assert_eq!(rises(&risen), Err(Hindrance::Risen));
    let mut private = decision.clone();
    private.visibility = Visibility::Private;
    check(&private, &[], &confirmed, Err(Hindrance::Hidden));
    for status in [Status::Superseded, Status::Retracted] {
        let gone = Cell {
            status,
            ..decision.clone()
        };
        check(&gone, &[], &confirmed, Err(Hindrance::Hidden));
    }
}

#[test]
fn what_has_risen_says_the_same_with_a_history_of_its_own() {
    let source = cell(CellType::Decision, Layer::L0);
    let at = Timestamp::from_second(77).unwrap();
    let copy = risen(&source, Layer::L1, id(2), at);
    let want = Cell {
        id: id(2),
        layer: Layer::L1,
        revision: 1,
        content_revision: 1,
        topic: None,
        created_at: at,
        updated_at: at,
        ..source.clone()
    };
    assert_eq!(copy, want);
    let confirmed = by(&[1, 2, 3]);
    let rise = rises(&standing(&copy, &[], &confirmed)).unwrap();
    assert_eq!(rise.to, Layer::L2);
    assert_eq!(risen(&copy, rise.to, id(3), at).layer, Layer::L2);
}

#[test]
fn what_has_risen_is_what_its_source_is() {
    let source = cell(CellType::Decision, Layer::L0);
    let copy = risen(&source, Layer::L1, id(2), NOW);
    let at = Timestamp::from_second(9).unwrap();
    let one = |source: &Cell| follows(&copy, std::slice::from_ref(source), at);
    assert_eq!(one(&source), Follows::Stays);
    assert_eq!(follows(&copy, &[], at), Follows::Goes);
    let becomes = |change: fn(&mut Cell)| {
        let mut next = Cell {
            revision: 2,
            updated_at: at,
            ..copy.clone()
        };
        change(&mut next);
        Follows::Becomes(Box::new(next))
    };
    let mut labelled = source.clone();
    labelled.tags = Tags::default();
    labelled.salience = Share::HALF;
    labelled.revision += 1;
    labelled.updated_at = at;
    let want = becomes(|copy| {
        copy.tags = Tags::default();
        copy.salience = Share::HALF;
    });
    assert_eq!(one(&labelled), want);
    let mut retracted = source.clone();
    retracted.status = Status::Retracted;
    assert_eq!(
        one(&retracted),
        becomes(|copy| copy.status = Status::Retracted)
    );
    let mut reworded = source.clone();
    reworded.content = Content::new("We ship MySQL").unwrap();
    assert_eq!(
        one(&reworded),
        becomes(|copy| copy.status = Status::Superseded)
    );
}

#[test]
fn what_rose_from_several_stays_while_one_of_them_says_the_same() {
    let source = cell(CellType::Decision, Layer::L0);
    let copy = risen(&source, Layer::L1, id(2), NOW);
    let twin = Cell {
        id: id(7),
        ..source.clone()
    };
    let mut retracted = source.clone();
    retracted.status = Status::Retracted;
    let sources = [retracted, twin];
    assert_eq!(follows(&copy, &sources, NOW), Follows::Stays);
}

#[test]
fn a_text_that_comes_back_brings_back_what_rose_from_it() {
    let source = cell(CellType::Decision, Layer::L0);
    let mut copy = risen(&source, Layer::L1, id(2), NOW);
    copy.status = Status::Superseded;
    let Follows::Becomes(back) = follows(&copy, &[source], NOW) else {
        panic!("it does not come back");
    };
    assert_eq!((back.status, back.revision), (Status::Active, 2));
}

fn text(c: char) -> Fingerprint {
    Fingerprint::of(&c.to_string())
}

#[test]
fn twins_are_shown_as_the_one_that_rose_highest_at_the_place_of_the_first() {
    let found = vec![
        ('a', Layer::L0),
        ('b', Layer::L1),
        ('a', Layer::L2),
        ('c', Layer::L0),
        ('a', Layer::L1),
        ('b', Layer::L1),
    ];
    let twins = gather(found, |(c, layer)| (text(*c), *layer));
    let shown: Vec<_> = (twins.iter())
        .map(|twins| (twins.shown, twins.others.as_slice()))
        .collect();
    assert_eq!(
        shown,
        [
            (('a', Layer::L2), &[('a', Layer::L0), ('a', Layer::L1)][..]),
            (('b', Layer::L1), &[('b', Layer::L1)][..]),
            (('c', Layer::L0), &[][..]),
        ]
    );
}

proptest! {
    /// Whatever is known and in whatever order, each cell rises at most once from each layer.
    #[test]
    fn a_cell_rises_at_most_once_from_each_layer(
        events in proptest::collection::vec((0..3_u8, 0..6_u128, 90..95_u128), 0..80)
    ) {
        let mut chain = vec![cell(CellType::Decision, Layer::L0)];
        let (mut delivered, mut confirmed) = (Vec::new(), Vec::new());
        let mut disputed = false;
        for (what, who, scene) in events {
            match what {
                0 => delivered.push((node(10 + who), Some(node(scene)))),
                1 => confirmed.push(credential(who)),
                _ => disputed = who == 0,
            }
            for at in 0..chain.len() {
                let risen_before = chain.len() > at + 1;
                let standing = Standing {
                    cell: &chain[at],
                    delivered: &delivered,
                    confirmed_by: &confirmed,
                    disputed,
                    risen: risen_before,
                };
                if let Ok(rise) = rises(&standing) {
                    prop_assert!(!disputed && !risen_before);
                    prop_assert!(rise.to > chain[at].layer);
                    let copy = risen(&chain[at], rise.to, id(100 + at as u128), NOW);
                    chain.push(copy);
                }
            }
        }
        let layers: Vec<Layer> = chain.iter().map(|cell| cell.layer).collect();
        prop_assert!(layers.windows(2).all(|pair| above(pair[0]) == Some(pair[1])), "{:?}", layers);
    }
}
