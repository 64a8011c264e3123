//! The least that an ACP agent costs: the protocol's own Rust SDK, and an agent that says what it
//! hears. The bench `wire` of `hyphae-server` measures the program beside it.
//!
//! ```text
//! cargo build --release --manifest-path bench/echo_agent/Cargo.toml --target-dir target/echo_agent
//! ```
//!
//! The prompt `stream N S` is answered with N chunks of S bytes. It runs on one thread, as the
//! program does; with the argument `--threads` on tokio's pool, as the SDK's own examples do.

use agent_client_protocol::{
    Agent, Stdio,
    v1::schema::{
        AgentCapabilities, ContentBlock, ContentChunk, InitializeRequest, InitializeResponse,
        NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse, SessionNotification,
        SessionUpdate, StopReason,
    },
};

fn main() -> agent_client_protocol::Result<()> {
    let threads = std::env::args().any(|argument| argument == "--threads");
    let mut runtime = if threads {
        tokio::runtime::Builder::new_multi_thread()
    } else {
        tokio::runtime::Builder::new_current_thread()
    };
    let runtime = runtime
        .enable_all()
        .build()
        .map_err(agent_client_protocol::Error::into_internal_error)?;
    runtime.block_on(serve())
}

async fn serve() -> agent_client_protocol::Result<()> {
    Agent
        .v1()
        .name("echo")
        .on_receive_request(
            async move |request: InitializeRequest, responder, _connection| {
                responder.respond(
                    InitializeResponse::new(request.protocol_version)
                        .agent_capabilities(AgentCapabilities::new()),
                )
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |_request: NewSessionRequest, responder, _connection| {
                responder.respond(NewSessionResponse::new("the-session"))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, connection| {
                for text in answers(&request.prompt) {
                    let chunk = SessionUpdate::AgentMessageChunk(ContentChunk::new(text.into()));
                    connection.send_notification(SessionNotification::new(
                        request.session_id.clone(),
                        chunk,
                    ))?;
                }
                responder.respond(PromptResponse::new(StopReason::EndTurn))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_to(Stdio::new())
        .await
}

fn answers(prompt: &[ContentBlock]) -> Box<dyn Iterator<Item = String> + Send> {
    let text = prompt
        .iter()
        .find_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.clone()),
            _ => None,
        })
        .unwrap_or_default();
    let numbers: Vec<usize> = text.split(' ').filter_map(|n| n.parse().ok()).collect();
    match numbers.as_slice() {
        &[count, size] if text.starts_with("stream ") => {
            Box::new((0..count).map(move |at| format!("{at:0size$}")))
        }
        _ => Box::new(std::iter::once(text)),
    }
}
