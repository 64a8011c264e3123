//! A client that is killed again and again while it stores: what it acknowledged is there, and
//! nothing is there twice.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use hyphae_testkit::postgres::Release;
use serde_json::json;

use crate::{
    faults::{Dice, spin},
    mcp::{Era, Mcp, succeeded},
    world::World,
};

const STORES: usize = 200;

#[test]
fn a_client_that_is_killed_keeps_what_it_acknowledged_once() {
    let Some(world) = World::empty_on(Release::Oldest) else {
        return;
    };
    world.run(["init", "--embedder", "static"]).well();
    let content = |n: usize| format!("gauge {n} stands by the lock");
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let mut acknowledged: BTreeMap<usize, String> = BTreeMap::new();
    let mut killed = 0;
    while acknowledged.len() < STORES {
        let mut mcp = Mcp::start(&world, Era::Legacy);
        // All that was not acknowledged is asked for again, under its name, at once.
        let sent: HashMap<u64, usize> = (0..STORES)
            .filter(|n| !acknowledged.contains_key(n))
            .map(|n| {
                let arguments = json!({"content": content(n), "key": format!("gauge-{n}")});
                (mcp.send_call("store", arguments), n)
            })
            .collect();
        let wanted = usize::try_from(1 + dice.below(20)).unwrap();
        let mut answers: Vec<_> = (0..wanted.min(sent.len())).map(|_| mcp.next()).collect();
        // Somewhere in the middle of the next.
        spin(Duration::from_micros(dice.below(10_000)));
        answers.extend(mcp.kill());
        killed += 1;
        for answer in answers {
            let n = sent[&answer["id"].as_u64().unwrap()];
            let id = succeeded(answer)["id"].as_str().unwrap().to_owned();
            assert_eq!(acknowledged.insert(n, id), None);
        }
    }
    assert!(killed > 5, "{killed}");
    let counts = world.sql(
        "select (select count(*) from cells), (select count(distinct content) from cells),
            (select count(*) from store_keys), (select count(*) from recall_entries),
            (select count(*) from audit where action = 0), (select count(*) from diffs where kind = 0)",
    );
    assert_eq!(counts, vec![STORES.to_string(); 6].join("|"));
    let mut mcp = Mcp::start(&world, Era::Legacy);
    for (n, id) in acknowledged {
        let found = mcp.call("recall", json!({"query": content(n), "k": 1}));
        let hit = &found["hits"][0];
        assert_eq!(
            (&hit["id"], &hit["content"]),
            (&json!(id), &json!(content(n)))
        );
    }
    mcp.end();
}
