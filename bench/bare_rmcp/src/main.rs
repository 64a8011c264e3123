//! The least that an MCP server costs: the Rust SDK as its guide shows it, with one tool. The
//! bench `mcp` of `hyphae-server` measures the program beside it.
//!
//! ```text
//! cargo build --release --manifest-path bench/bare_rmcp/Cargo.toml --target-dir target/bare_rmcp
//! ```
//!
//! It runs on one thread, as the program does; with the argument `--threads` on tokio's pool, as
//! the SDK's own examples do.

use rmcp::{
    ServerHandler, ServiceExt, handler::server::wrapper::Parameters, model::JsonObject, tool,
    tool_handler, tool_router, transport::stdio,
};

#[derive(Debug, Clone)]
struct Bare;

#[tool_router]
impl Bare {
    #[tool(description = "Says how many arguments came")]
    async fn count(&self, Parameters(arguments): Parameters<JsonObject>) -> String {
        arguments.len().to_string()
    }
}

#[tool_handler]
impl ServerHandler for Bare {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let threads = std::env::args().any(|argument| argument == "--threads");
    let mut runtime = if threads {
        tokio::runtime::Builder::new_multi_thread()
    } else {
        tokio::runtime::Builder::new_current_thread()
    };
    let runtime = runtime.enable_all().build()?;
    runtime.block_on(async {
        let session = Bare.serve(stdio()).await?;
        session.waiting().await?;
        Ok::<_, Box<dyn std::error::Error>>(())
    })?;
    // Its thread that reads stdin cannot be stopped.
    runtime.shutdown_background();
    Ok(())
}
