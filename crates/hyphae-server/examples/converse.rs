//! Speaks to any ACP agent and prints the conversation as a person would see it.
//!
//! ```text
//! cargo run --example converse -- PROGRAM [ARGUMENT ...] < prompts
//! ```
//!
//! Each line of stdin is a prompt. `./try` uses this to show the real server at work.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::{io::BufRead, process::Stdio};

use anyhow::Context;
use hyphae_acp::{Client, Shown};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let program = arguments.next().context("name the agent's program")?;
    #[expect(
        clippy::disallowed_methods,
        reason = "starting an agent is what this is for"
    )]
    let mut agent = tokio::process::Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let reader = agent.stdout.take().context("the agent's stdout")?;
    let writer = agent.stdin.take().context("the agent's stdin")?;
    let mut client = Client::new(reader, writer);
    let info = client
        .initialize("converse", env!("CARGO_PKG_VERSION"))
        .await?;
    println!(
        "connected to {} by ACP {}",
        info.name.unwrap_or_default(),
        info.protocol_version
    );
    let session = client.new_session(&std::env::current_dir()?).await?;
    println!("session {session}\n");
    for prompt in std::io::stdin().lock().lines() {
        let prompt = prompt?;
        println!("you     {prompt}");
        let mut turn = client.prompt(session, &prompt).await?;
        while let Some(shown) = turn.next().await? {
            if let Shown::Text { text, .. } = shown {
                for line in text.lines() {
                    println!("hyphae  {line}");
                }
            }
        }
        println!();
    }
    drop(client);
    let status = agent.wait().await?;
    anyhow::ensure!(status.success(), "the agent ended with {status}");
    Ok(())
}
