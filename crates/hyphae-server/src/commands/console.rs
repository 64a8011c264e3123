//! `console`: the same language in a terminal, through the same session host, over an in-memory
//! connection. Interactive with prompt, history and completion; else one command from the
//! arguments, or one a line from stdin.

mod editor;

use std::{io::IsTerminal, sync::Arc};

use hyphae_acp::{Client, ClientError, Host, HostOptions, Shown};
use hyphae_core::{agent::StopReason, console::ERROR_PREFIX, ids::SessionId};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio_util::sync::CancellationToken;

use super::{Outcome, acp_stdio::write_touched};
use crate::{
    args::Console,
    config::Config,
    output::{Colour, Printer},
    wiring::{ProjectNames, Wiring},
};
use editor::LineEditor;

/// How much may lie between client and host.
const PIPE_BYTES: usize = 64 << 10;

pub(crate) async fn run(config: &Config, args: Console) -> anyhow::Result<Outcome> {
    let interactive = args.command.is_empty() && std::io::stdin().is_terminal();
    // An interactive line editor draws on the real stdout; a script gets it guarded.
    let mut out = if interactive {
        Printer::shared()?
    } else {
        Printer::take()?
    };
    let wiring = Wiring::open(config, args.embedder).await?;
    let host = wiring.console_host(ProjectNames::of(config)?, HostOptions::default());
    let touching = tokio::spawn(write_touched(Arc::clone(&wiring.memories)));
    let outcome = converse(&host, async |client| {
        let mut conversation = Conversation::open(client, &mut out).await?;
        if !args.command.is_empty() {
            return conversation.say(&args.command.join(" ")).await;
        }
        if interactive {
            return conversation.interactive(config).await;
        }
        conversation.script().await
    })
    .await;
    touching.abort();
    if let Err(error) = wiring.memories.write_touched().await {
        tracing::info!(%error, "last accesses were not written");
    }
    wiring.store.close().await;
    outcome
}

/// Runs a client against a host in memory until the client is done.
pub(super) async fn converse<T>(
    host: &Host,
    talk: impl AsyncFnOnce(Client) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
    let (reader, writer) = tokio::io::split(theirs);
    let serving = host.serve(reader, writer, CancellationToken::new());
    let talking = async {
        let (reader, writer) = tokio::io::split(ours);
        // The client is dropped when the talk ends, and so the host sees the end of its input.
        talk(Client::new(reader, writer)).await
    };
    let (served, said) = tokio::join!(serving, talking);
    let said = said?;
    served?;
    Ok(said)
}

struct Conversation<'a> {
    client: Client,
    session: SessionId,
    out: &'a mut Printer,
}

impl<'a> Conversation<'a> {
    async fn open(mut client: Client, out: &'a mut Printer) -> anyhow::Result<Self> {
        client
            .initialize("hyphae-server console", env!("CARGO_PKG_VERSION"))
            .await?;
        let session = client.new_session(&std::env::current_dir()?).await?;
        Ok(Self {
            client,
            session,
            out,
        })
    }

    /// Says one thing and prints what comes of it. A failed command is an outcome, not an error.
    async fn say(&mut self, text: &str) -> anyhow::Result<Outcome> {
        let mut messages = Messages::default();
        let mut outcome = Outcome::Done;
        let mut cancelled = false;
        match self.client.prompt(self.session, text).await {
            Ok(mut turn) => loop {
                let shown = tokio::select! {
                    shown = turn.next() => shown,
                    _ = tokio::signal::ctrl_c(), if !cancelled => {
                        cancelled = true;
                        turn.cancel().await?;
                        continue;
                    }
                };
                match shown {
                    Ok(Some(Shown::Text { message, text })) => messages.add(message, &text),
                    Ok(Some(_)) => {}
                    Ok(None) => {
                        if turn.stop_reason() == Some(StopReason::Cancelled) {
                            messages.add(None, "error: cancelled");
                        }
                        break;
                    }
                    Err(error) => {
                        messages.add(None, &told(error)?);
                        break;
                    }
                }
            },
            Err(error) => messages.add(None, &told(error)?),
        }
        for (at, message) in messages
            .0
            .iter()
            .map(|(_, text)| text.trim_end())
            .enumerate()
        {
            if at > 0 {
                self.out.line("")?;
            }
            if message.starts_with(ERROR_PREFIX) {
                outcome = Outcome::Failed;
                self.out.coloured(Colour::Red, message)?;
            } else {
                self.print(message)?;
            }
        }
        Ok(outcome)
    }

    /// Prints an answer: the line that names a match is dimmed, so that its text stands out.
    fn print(&mut self, message: &str) -> anyhow::Result<()> {
        match message.split_once('\n') {
            Some((head, content)) if head.contains(" distance=") => {
                self.out.coloured(Colour::Dim, head)?;
                self.out.line(content)?;
            }
            _ => self.out.line(message)?,
        }
        Ok(())
    }

    /// Runs each line of stdin that is not blank, and fails if one of them failed.
    async fn script(&mut self) -> anyhow::Result<Outcome> {
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        let mut outcome = Outcome::Done;
        while let Some(line) = lines.next_line().await? {
            if !line.trim().is_empty() && self.say(&line).await? == Outcome::Failed {
                outcome = Outcome::Failed;
            }
        }
        Ok(outcome)
    }

    async fn interactive(&mut self, config: &Config) -> anyhow::Result<Outcome> {
        self.out.coloured(
            Colour::Dim,
            "Hyphae memory console. /help shows the commands, Ctrl-D ends it.",
        )?;
        let mut editor = LineEditor::open(&config.state_dir)?;
        loop {
            let (back, line) = tokio::task::spawn_blocking(move || {
                let line = editor.read();
                (editor, line)
            })
            .await?;
            editor = back;
            match line? {
                editor::Line::Typed(line) if line.trim().is_empty() => {}
                editor::Line::Typed(line) => {
                    self.say(&line).await?;
                    self.out.line("")?;
                }
                editor::Line::Interrupted => {}
                editor::Line::End => return Ok(Outcome::Done),
            }
        }
    }
}

/// The messages of an answer, pieces put together.
#[derive(Default)]
struct Messages(Vec<(Option<String>, String)>);

impl Messages {
    fn add(&mut self, message: Option<String>, piece: &str) {
        match self.0.last_mut() {
            Some((last, text)) if message.is_some() && *last == message => text.push_str(piece),
            _ => self.0.push((message, piece.to_owned())),
        }
    }
}

/// A refusal is told in the conversation; a broken connection is an error.
fn told(error: ClientError) -> anyhow::Result<String> {
    if matches!(error, ClientError::Refused { .. }) {
        return Ok(format!("{ERROR_PREFIX}{error}"));
    }
    Err(error.into())
}
