//! The plainest agent that the Rust SDK makes: the baseline of the wire bench.

use agent_client_protocol::{
    Agent, Stdio,
    v1::schema::{
        AgentCapabilities, ContentBlock, ContentChunk, InitializeRequest, InitializeResponse,
        NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse, SessionId,
        SessionNotification, SessionUpdate, StopReason, TextContent,
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), agent_client_protocol::Error> {
    Agent
        .v1()
        .name("echo")
        .on_receive_request(
            async move |request: InitializeRequest, responder, _connection| {
                let capabilities = AgentCapabilities::new().load_session(false);
                responder.respond(
                    InitializeResponse::new(request.protocol_version)
                        .agent_capabilities(capabilities),
                )
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |_request: NewSessionRequest, responder, _connection| {
                responder.respond(NewSessionResponse::new(SessionId::new("1")))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, connection| {
                for block in request.prompt {
                    if let ContentBlock::Text(text) = block {
                        let chunk =
                            ContentChunk::new(ContentBlock::Text(TextContent::new(text.text)));
                        connection.send_notification(SessionNotification::new(
                            request.session_id.clone(),
                            SessionUpdate::AgentMessageChunk(chunk),
                        ))?;
                    }
                }
                responder.respond(PromptResponse::new(StopReason::EndTurn))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_to(Stdio::new())
        .await
}
