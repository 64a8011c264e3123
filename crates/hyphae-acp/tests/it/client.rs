//! The client of this crate, against the host of this crate.

use hyphae_acp::{Client, ClientError, Shown};
use hyphae_core::agent::StopReason;
use pretty_assertions::assert_eq;
use tokio_util::sync::CancellationToken;

use crate::rig::Rig;

fn connect(rig: &Rig) -> Client {
    let (ours, theirs) = tokio::io::duplex(4096);
    let (reader, writer) = tokio::io::split(theirs);
    let host = rig.host();
    tokio::spawn(async move { host.serve(reader, writer, CancellationToken::new()).await });
    let (reader, writer) = tokio::io::split(ours);
    Client::new(reader, writer)
}

#[tokio::test(start_paused = true)]
async fn a_whole_conversation() {
    let rig = Rig::new();
    let mut client = connect(&rig);
    let info = client.initialize("test", "1").await.unwrap();
    assert_eq!(info.protocol_version, 1);
    assert_eq!(info.name.as_deref(), Some("scripted"));
    assert!(info.load_session);
    client.authenticate(&info.auth_methods[0]).await.unwrap();

    let session = client.new_session(rig.dir.path()).await.unwrap();
    let mut turn = client.prompt(session, "hello\nstream 3 2").await.unwrap();
    let mut text = String::new();
    while let Some(shown) = turn.next().await.unwrap() {
        if let Shown::Text { text: piece, .. } = shown {
            text.push_str(&piece);
        }
    }
    assert_eq!(turn.stop_reason(), Some(StopReason::EndTurn));
    assert_eq!(text, "hello000102");
    assert_eq!(client.commands().len(), 2);

    let mut turn = client.prompt(session, "wait").await.unwrap();
    turn.cancel().await.unwrap();
    while turn.next().await.unwrap().is_some() {}
    assert_eq!(turn.stop_reason(), Some(StopReason::Cancelled));

    let rows = client.list_sessions(Some(rig.dir.path())).await.unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].title.as_deref(), Some("hello"));

    let mut other = connect(&rig);
    other.initialize("test", "1").await.unwrap();
    let mut history = Vec::new();
    let load = other.load_session(session, rig.dir.path(), |shown| history.push(shown));
    load.await.unwrap();
    let words: Vec<_> = history
        .iter()
        .map(|shown| match shown {
            Shown::User { text, .. } => format!("user {text}"),
            Shown::Text { text, .. } => format!("agent {text}"),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        words,
        [
            "user hello\nstream 3 2",
            "agent hello",
            "agent 000102",
            "user wait"
        ]
    );

    other.resume_session(session, rig.dir.path()).await.unwrap();
    other.close_session(session).await.unwrap();
    let refused = other.close_session(session).await.unwrap_err();
    assert!(
        matches!(refused, ClientError::Refused { code: -32002, .. }),
        "{refused}"
    );
    other.delete_session(session).await.unwrap();
    assert_eq!(other.list_sessions(None).await.unwrap(), []);
}
