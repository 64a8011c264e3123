//! The console's answers, whole.

use std::sync::Arc;

use hyphae_core::{
    agent::{Agent, AgentEvent, PromptBlock, StopReason, TurnEvents, TurnRequest},
    console::{Console, HELP},
    ids::{SessionId, TurnId},
    memories::Memories,
    ports::Clock,
};
use hyphae_testkit::WordEmbedder;
use pretty_assertions::assert_eq;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::rig::Rig;

struct Terminal {
    rig: Rig,
    console: Console,
}

impl Terminal {
    async fn new() -> Self {
        let rig = Rig::new().await;
        let clock = Arc::clone(&rig.clock) as Arc<dyn Clock>;
        let memories = Memories::new(
            Arc::new(rig.store.clone()),
            Arc::new(WordEmbedder::new("words/1", 512)),
            Arc::clone(&clock),
        );
        Self {
            console: Console::new(Arc::new(memories), clock, "1.2.3"),
            rig,
        }
    }

    async fn say(&self, text: &str) -> Vec<String> {
        self.prompt(vec![PromptBlock::Text {
            text: text.to_owned(),
        }])
        .await
    }

    /// Returns the messages of an answer; each must have an id of its own.
    async fn prompt(&self, prompt: Vec<PromptBlock>) -> Vec<String> {
        self.console.check_prompt(&prompt).unwrap();
        let request = TurnRequest {
            session: SessionId::new(self.rig.clock.new_id()),
            scope: self.rig.scope(),
            cwd: "/project".into(),
            turn: TurnId::new(self.rig.clock.new_id()),
            prompt,
            cancel: CancellationToken::new(),
        };
        let (sender, mut events) = mpsc::channel(64);
        let ended = self
            .console
            .run_turn(request, TurnEvents::new(sender))
            .await
            .unwrap();
        assert_eq!(ended, StopReason::EndTurn);
        let (mut ids, mut messages) = (Vec::new(), Vec::new());
        while let Some(event) = events.recv().await {
            let AgentEvent::Message { message, text } = event else {
                panic!("the console only speaks: {event:?}");
            };
            assert!(!ids.contains(&message), "a message of its own");
            ids.push(message);
            messages.push(text);
        }
        messages
    }
}

#[tokio::test]
async fn the_manuals_walk() {
    let terminal = Terminal::new().await;
    assert_eq!(terminal.say("/help").await, [HELP]);
    assert_eq!(terminal.say("anything").await, ["no results"]);
    let stored = terminal
        .say("/store --type Decision --salience 0.9 We ship Postgres for V1")
        .await;
    let id = stored[0].strip_prefix("stored ").unwrap().to_owned();
    assert_eq!(
        terminal.say("We ship Postgres for V1").await,
        [format!(
            "{id} distance=0.0000 type=Decision\nWe ship Postgres for V1"
        )]
    );
    assert_eq!(
        terminal.say("/QUERY --layer l1 Postgres").await,
        ["no results"]
    );
    assert_eq!(terminal.say("/query --layer l0 Postgres").await.len(), 1);
    assert_eq!(
        terminal.say("/recal x").await,
        ["error: unknown command \"/recal\"; try /help"]
    );
}

#[tokio::test]
async fn content_comes_back_line_by_line_as_it_was_stored() {
    let terminal = Terminal::new().await;
    let content = "first line\n\n  indented\ttabbed\nlast";
    terminal.say(&format!("/store {content}")).await;
    let found = terminal.say("/recall indented tabbed").await;
    assert_eq!(found[0].split_once('\n').unwrap().1, content);
}

#[tokio::test]
async fn what_cannot_be_stored_is_told_and_nothing_is_kept() {
    let terminal = Terminal::new().await;
    assert_eq!(
        terminal.say(&format!("/store {}", "x".repeat(8001))).await,
        ["error: a memory has at most 8000 characters, this one has 8001; store it in parts"]
    );
    assert_eq!(
        terminal.say("/store a\0b").await,
        ["error: a memory cannot contain the NUL character (U+0000); remove it"]
    );
    assert_eq!(terminal.say("x").await, ["no results"]);
}

#[tokio::test]
async fn a_secret_is_masked_in_the_memory_in_the_record_and_in_errors() {
    let terminal = Terminal::new().await;
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let stored = terminal.say(&format!("/store the token {token}")).await;
    assert!(
        stored[0].ends_with("\n1 secret was masked before it was stored"),
        "{stored:?}"
    );
    let unknown = terminal.say(&format!("/{token}")).await;
    assert!(!unknown[0].contains(&token), "{unknown:?}");
    let prompt = [PromptBlock::Text {
        text: token.clone(),
    }];
    let record = terminal.console.prompt_for_record(&prompt);
    assert_eq!(
        record,
        [PromptBlock::Text {
            text: "[masked GitHub token]".to_owned()
        }]
    );
}

#[tokio::test]
async fn links_count_as_text_and_other_blocks_are_refused_by_name() {
    let terminal = Terminal::new().await;
    let link = || PromptBlock::ResourceLink {
        name: "notes.md".to_owned(),
        uri: "file:///notes.md".to_owned(),
    };
    let text = |text: &str| PromptBlock::Text {
        text: text.to_owned(),
    };
    terminal.prompt(vec![text("/store see"), link()]).await;
    let found = terminal.prompt(vec![link()]).await;
    assert!(
        found[0].ends_with("\nsee\nnotes.md file:///notes.md"),
        "{found:?}"
    );

    let data = || "aGk=".to_owned();
    for (block, kind) in [
        (
            PromptBlock::Image {
                mime_type: "image/png".to_owned(),
                data: data(),
            },
            "an image",
        ),
        (
            PromptBlock::Audio {
                mime_type: "audio/wav".to_owned(),
                data: data(),
            },
            "audio",
        ),
        (
            PromptBlock::Resource {
                uri: "file:///x".to_owned(),
                contents: data(),
            },
            "an embedded resource",
        ),
    ] {
        let refused = terminal
            .console
            .check_prompt(&[text("/store x"), block])
            .unwrap_err();
        assert!(refused.message.contains(kind), "{refused}");
    }
}

#[tokio::test]
async fn a_cancelled_turn_ends_as_such_and_shows_nothing_more() {
    let terminal = Terminal::new().await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let request = TurnRequest {
        session: SessionId::new(terminal.rig.clock.new_id()),
        scope: terminal.rig.scope(),
        cwd: "/project".into(),
        turn: TurnId::new(terminal.rig.clock.new_id()),
        prompt: vec![PromptBlock::Text {
            text: "/help".to_owned(),
        }],
        cancel,
    };
    let (sender, mut events) = mpsc::channel(1);
    let ended = terminal
        .console
        .run_turn(request, TurnEvents::new(sender))
        .await
        .unwrap();
    assert_eq!(ended, StopReason::Cancelled);
    assert_eq!(events.recv().await, None);
}
