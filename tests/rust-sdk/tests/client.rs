//! The Rust SDK's own client against the program, as processes: a client that we did not write.
//! The program's path comes in HYPHAE_BIN.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use agent_client_protocol::{
    AcpAgent, Agent, Client,
    schema::ProtocolVersion,
    v1::{
        ConnectionTo,
        schema::{
            CloseSessionRequest, ContentBlock, InitializeRequest, ListSessionsRequest,
            LoadSessionRequest, NewSessionRequest, PromptRequest, SessionId, SessionNotification,
            SessionUpdate, StopReason, TextContent,
        },
    },
};

type Said = Arc<Mutex<Vec<String>>>;

fn program() -> String {
    std::env::var("HYPHAE_BIN").expect("HYPHAE_BIN names the program to test")
}

/// Runs `talk` over a connection of the SDK to a fresh process; gathers what the agent says.
async fn talk<T>(
    home: &Path,
    said: Said,
    talk: impl AsyncFnOnce(ConnectionTo<Agent>) -> Result<T, agent_client_protocol::Error>,
) -> T {
    let program = program();
    let home = home.display();
    let agent = AcpAgent::from_args([
        "/usr/bin/env".to_owned(),
        "-i".to_owned(),
        format!("HOME={home}"),
        program,
        "acp-stdio".to_owned(),
    ])
    .unwrap();
    Client
        .v1()
        .on_receive_notification(
            async move |notification: SessionNotification, _connection| {
                let text = match notification.update {
                    SessionUpdate::AgentMessageChunk(chunk) => text_of(&chunk.content, ""),
                    SessionUpdate::UserMessageChunk(chunk) => text_of(&chunk.content, "> "),
                    _ => None,
                };
                said.lock().unwrap().extend(text);
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .connect_with(agent, talk)
        .await
        .unwrap()
}

fn text_of(content: &ContentBlock, head: &str) -> Option<String> {
    match content {
        ContentBlock::Text(text) => Some(format!("{head}{}", text.text)),
        _ => None,
    }
}

async fn say(connection: &ConnectionTo<Agent>, session: &SessionId, text: &str) -> StopReason {
    let prompt = vec![ContentBlock::Text(TextContent::new(text))];
    let request = PromptRequest::new(session.clone(), prompt);
    connection
        .send_request(request)
        .block_task()
        .await
        .unwrap()
        .stop_reason
}

#[tokio::test]
async fn the_rust_sdks_client_stores_recalls_and_loads_after_a_restart() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("project");
    std::fs::create_dir(&project).unwrap();
    let init = std::process::Command::new(program())
        .arg("init")
        .env_clear()
        .env("HOME", home.path())
        .output()
        .unwrap();
    assert!(init.status.success());

    let said = Said::default();
    let session = talk(home.path(), Arc::clone(&said), async |connection| {
        let hello = InitializeRequest::new(ProtocolVersion::V1);
        let info = connection.send_request(hello).block_task().await?;
        assert!(info.agent_capabilities.load_session);
        let new = NewSessionRequest::new(project.clone());
        let session = connection.send_request(new).block_task().await?.session_id;
        let stored = say(
            &connection,
            &session,
            "/store --type Decision We ship Postgres",
        )
        .await;
        assert_eq!(stored, StopReason::EndTurn);
        assert_eq!(
            say(&connection, &session, "postgres").await,
            StopReason::EndTurn
        );
        connection
            .send_request(CloseSessionRequest::new(session.clone()))
            .block_task()
            .await?;
        Ok(session)
    })
    .await;
    let first = said.lock().unwrap().clone();
    assert!(first[0].starts_with("stored "), "{first:?}");
    assert!(
        first[1].ends_with(" type=Decision\nWe ship Postgres"),
        "{first:?}"
    );

    let replayed = Said::default();
    talk(home.path(), Arc::clone(&replayed), async |connection| {
        let hello = InitializeRequest::new(ProtocolVersion::V1);
        connection.send_request(hello).block_task().await?;
        let list = connection
            .send_request(ListSessionsRequest::new())
            .block_task()
            .await?;
        assert_eq!(list.sessions.len(), 1);
        let load = LoadSessionRequest::new(session.clone(), project.clone());
        connection.send_request(load).block_task().await?;
        // A second answer on the same connection: by then every update before it was handled.
        assert_eq!(
            say(&connection, &session, "/help").await,
            StopReason::EndTurn
        );
        Ok(())
    })
    .await;
    let replayed = replayed.lock().unwrap().clone();
    let want = [
        "> /store --type Decision We ship Postgres",
        &first[0],
        "> postgres",
        &first[1],
    ];
    assert_eq!(replayed[..4], want);
}
