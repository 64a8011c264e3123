//! Whole conversations, byte for byte. They hold whatever the libraries below us become: what
//! a client sees changes only in a commit that changes these files.
//!
//! A line `> …` is sent, the lines `< …` behind it are what must come. `$CWD` stands for the
//! working directory.

use pretty_assertions::assert_eq;

use crate::rig::Rig;

async fn check(capture: &str) {
    let rig = Rig::accepting_everything();
    let mut wire = rig.connect();
    let mut got = String::new();
    for line in capture.lines() {
        if let Some(sent) = line.strip_prefix("> ") {
            wire.send_line(&sent.replace("$CWD", rig.cwd())).await;
            got.push_str(line);
        } else if line.starts_with("< ") {
            wire.receive().await;
            let last = wire.transcript.last().unwrap();
            got.push_str(&format!("< {}", last.trim_end().replace(rig.cwd(), "$CWD")));
        } else {
            got.push_str(line);
        }
        got.push('\n');
    }
    assert_eq!(got, capture);
}

#[tokio::test(start_paused = true)]
async fn a_first_conversation() {
    check(include_str!("golden/first.txt")).await;
}

#[tokio::test(start_paused = true)]
async fn sessions_and_their_history() {
    check(include_str!("golden/sessions.txt")).await;
}

#[tokio::test(start_paused = true)]
async fn errors() {
    check(include_str!("golden/errors.txt")).await;
}
