//! Any interleaving of prompts, cancels, closes and the end of input ends each request exactly
//! once, with its updates before it.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::rig::{Rig, Wire};

#[derive(Debug, Clone)]
enum Step {
    Prompt {
        session: usize,
        script: &'static str,
    },
    Invalid {
        session: usize,
    },
    Cancel {
        session: usize,
    },
    CancelRequest {
        back: i64,
    },
    Close {
        session: usize,
    },
    Delete {
        session: usize,
    },
    Load {
        session: usize,
    },
    Resume {
        session: usize,
    },
    List,
    /// Lets the host work for a while.
    Yield {
        times: usize,
    },
    /// Lets time pass.
    Sleep {
        millis: u64,
    },
    Release,
}

/// `TAG` becomes the request's id, so that every update can be told to be of its turn.
const SCRIPTS: &[&str] = &[
    "TAG",
    "TAG a\nTAG b\nTAG c",
    "TAG\nwait",
    "TAG\nstuck",
    "late TAG",
    "TAG\nrelease\nTAG again",
    "tool TAG pending\nTAG",
    "tool TAG pending\ntool TAG completed\ntool TAG-2 in_progress\nwait",
    "TAG\nerror TAG",
    "TAG\nmessages 60",
    "stop refusal",
];

const SESSIONS: usize = 2;

fn step() -> impl Strategy<Value = Step> {
    let session = 0..SESSIONS;
    prop_oneof![
        6 => (session.clone(), proptest::sample::select(SCRIPTS))
            .prop_map(|(session, script)| Step::Prompt { session, script }),
        1 => session.clone().prop_map(|session| Step::Invalid { session }),
        3 => session.clone().prop_map(|session| Step::Cancel { session }),
        1 => (1_i64..6).prop_map(|back| Step::CancelRequest { back }),
        1 => session.clone().prop_map(|session| Step::Close { session }),
        1 => session.clone().prop_map(|session| Step::Delete { session }),
        1 => session.clone().prop_map(|session| Step::Load { session }),
        1 => session.prop_map(|session| Step::Resume { session }),
        1 => Just(Step::List),
        4 => (1_usize..20).prop_map(|times| Step::Yield { times }),
        1 => (1_u64..40_000).prop_map(|millis| Step::Sleep { millis }),
        1 => Just(Step::Release),
    ]
}

/// Carries the steps out, closes the input, and returns everything that came, in order, with
/// the ids of the requests by kind.
async fn run(steps: &[Step], pipe: usize) -> (Vec<Value>, HashMap<i64, Asked>) {
    let rig = Rig::new();
    let mut wire: Wire = rig.connect_with_pipe(pipe);
    wire.initialize().await;
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        sessions.push(wire.new_session().await);
    }
    let mut asked = HashMap::new();
    let mut id = 0;
    let setup = |session: usize| json!({"sessionId": sessions[session], "cwd": rig.cwd(), "mcpServers": []});
    for step in steps {
        id += 1;
        match step {
            Step::Prompt { session, script } => {
                asked.insert(id, Asked::Prompt(*session));
                let script = script.replace("TAG", &format!("<{id}>"));
                wire.prompt(id, &sessions[*session], &script).await;
            }
            Step::Invalid { session } => {
                asked.insert(id, Asked::Other);
                wire.prompt(id, &sessions[*session], "refuse").await;
            }
            Step::Cancel { session } => wire.cancel(&sessions[*session]).await,
            Step::CancelRequest { back } => {
                wire.notify("$/cancel_request", json!({"requestId": id - back}))
                    .await;
            }
            Step::Close { session } => {
                asked.insert(id, Asked::Other);
                let params = json!({"sessionId": sessions[*session]});
                wire.request(id, "session/close", params).await;
            }
            Step::Delete { session } => {
                asked.insert(id, Asked::Other);
                let params = json!({"sessionId": sessions[*session]});
                wire.request(id, "session/delete", params).await;
            }
            Step::Load { session } => {
                asked.insert(id, Asked::Replay);
                wire.request(id, "session/load", setup(*session)).await;
            }
            Step::Resume { session } => {
                asked.insert(id, Asked::Other);
                wire.request(id, "session/resume", setup(*session)).await;
            }
            Step::List => {
                asked.insert(id, Asked::Other);
                wire.request(id, "session/list", json!({})).await;
            }
            Step::Yield { times } => {
                for _ in 0..*times {
                    tokio::task::yield_now().await;
                }
            }
            Step::Sleep { millis } => {
                tokio::time::sleep(std::time::Duration::from_millis(*millis)).await;
            }
            Step::Release => rig.agent.release(),
        }
    }
    let (rest, _) = wire.finish().await;
    (rest, asked)
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Asked {
    Prompt(usize),
    Replay,
    Other,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn each_request_ends_once_and_behind_its_updates(
        steps in proptest::collection::vec(step(), 0..30),
        pipe in prop_oneof![Just(1 << 16), Just(1 << 20)],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let (messages, asked) = runtime.block_on(run(&steps, pipe));

        let mut answered: HashMap<i64, usize> = HashMap::new();
        for (at, message) in messages.iter().enumerate() {
            if let Some(id) = message["id"].as_i64() {
                prop_assert!(answered.insert(id, at).is_none(), "{} answered twice", id);
            }
        }
        for id in asked.keys() {
            prop_assert!(answered.contains_key(id), "{} not answered", id);
        }
        prop_assert_eq!(answered.len(), asked.len());

        // Prompts of one session are answered in the order of their arrival.
        for session in 0..SESSIONS {
            let mut order: Vec<_> = asked
                .iter()
                .filter(|(_, kind)| **kind == Asked::Prompt(session))
                .filter(|(id, _)| messages[answered[*id]].get("result").is_some())
                .map(|(id, _)| (answered[id], *id))
                .collect();
            order.sort_unstable();
            prop_assert!(order.is_sorted_by_key(|(_, id)| *id));
        }

        // A replay shows old updates again, so the rest is for conversations without one.
        if asked.values().any(|kind| *kind == Asked::Replay) {
            return Ok(());
        }
        let mut open_cards: HashMap<String, i64> = HashMap::new();
        for (at, message) in messages.iter().enumerate() {
            let update = &message["params"]["update"];
            let text = update["content"]["text"].as_str().or(update["toolCallId"].as_str());
            let Some(id) = text.and_then(tag) else { continue };
            prop_assert!(at < answered[&id], "an update of {} behind its answer", id);
            if let Some(card) = update["toolCallId"].as_str() {
                match update["status"].as_str() {
                    Some("completed" | "failed") => open_cards.remove(card),
                    _ => open_cards.insert(card.to_owned(), id),
                };
            }
        }
        prop_assert!(open_cards.is_empty(), "left open: {:?}", open_cards);
    }
}

/// Finds `<id>` in a text.
fn tag(text: &str) -> Option<i64> {
    let (_, rest) = text.split_once('<')?;
    rest.split_once('>')?.0.parse().ok()
}
