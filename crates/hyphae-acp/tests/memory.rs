//! How much memory the whole process takes while a client does not read. In a file of its own,
//! because that makes it a process of its own.
#![cfg(target_os = "linux")]
#![expect(clippy::expect_used, reason = "helpers of tests fail by panic, too")]

use std::{sync::Arc, time::Duration};

use hyphae_acp::{DirectoryProjects, Host, HostOptions};
use hyphae_testkit::{ManualClock, MemorySessions, ScriptedAgent, Transcripts, owner};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio_util::sync::CancellationToken;

/// Resident memory at its highest so far, in KiB.
fn peak_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("a process");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .expect("a peak");
    line.split_ascii_whitespace()
        .nth(1)
        .and_then(|kib| kib.parse().ok())
        .expect("a number")
}

#[tokio::test(start_paused = true)]
async fn memory_stays_flat_while_200_000_updates_wait_for_a_client() {
    let agent = Arc::new(ScriptedAgent::default());
    let sessions = Arc::new(MemorySessions::new(Transcripts::Counted));
    let host = Host::new(
        agent.clone(),
        sessions.clone(),
        Arc::new(ManualClock::default()),
        owner(1),
        Arc::new(DirectoryProjects),
        HostOptions::default(),
    );
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    tokio::spawn(async move { host.serve(reader, writer, CancellationToken::new()).await });
    let (read, mut write) = tokio::io::split(ours);
    let mut read = BufReader::new(read).lines();

    let mut id = 0;
    let mut send = |method: &str, params: Value| {
        id += 1;
        format!(
            "{}\n",
            json!({"jsonrpc":"2.0","id":id,"method":method,"params":params})
        )
    };
    let hello = send("initialize", json!({"protocolVersion":1}));
    let new = send("session/new", json!({"cwd":"/","mcpServers":[]}));
    write
        .write_all(format!("{hello}{new}").as_bytes())
        .await
        .unwrap();
    let mut session = Value::Null;
    while session.is_null() {
        let line = read.next_line().await.unwrap().unwrap();
        session = serde_json::from_str::<Value>(&line).unwrap()["result"]["sessionId"].clone();
    }
    let text = "stream 200000 1024";
    let prompt = json!({"sessionId":session,"prompt":[{"type":"text","text":text}]});
    write
        .write_all(send("session/prompt", prompt).as_bytes())
        .await
        .unwrap();
    agent.turn_started().await;

    // The client sleeps; all that can be produced is produced.
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert!(
        peak_kib() < 64 * 1024,
        "{} KiB while nobody reads",
        peak_kib()
    );

    // Then it reads everything, and nothing is missing.
    let mut bytes = 0;
    loop {
        let line = read.next_line().await.unwrap().unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        if message["result"]["stopReason"] == "end_turn" {
            break;
        }
        let text = message["params"]["update"]["content"]["text"].as_str();
        bytes += text.map_or(0, str::len);
    }
    assert_eq!(bytes, 200_000 * 1024);
    assert!(
        peak_kib() < 64 * 1024,
        "{} KiB after all was read",
        peak_kib()
    );
    println!("peak {} KiB", peak_kib());
}
