//! An agent that does what its prompt says.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use hyphae_core::{
    agent::{
        Agent, AgentError, AgentEvent, AgentProfile, CommandInfo, PromptBlock, PromptKinds,
        PromptRefusal, StopReason, ToolCard, ToolStatus, TurnEvents, TurnOver, TurnRequest,
    },
    ids::{MessageId, SessionId},
};
use tokio::sync::Notify;
use uuid::Uuid;

/// Follows the script in a prompt: one command a line, everything else is echoed.
///
/// | line | what it does |
/// |---|---|
/// | `stream N S` | N chunks of S bytes, in one message |
/// | `messages N` | N messages of one chunk |
/// | `think TEXT` | a thought |
/// | `tool ID STATUS` | a tool card: pending, in_progress, completed, failed |
/// | `wait` | until the turn is cancelled, then `cancelled` |
/// | `stuck` | for ever, whatever is asked of it |
/// | `release` | until [`ScriptedAgent::release`] |
/// | `late TEXT` | waits for the cancel and speaks after it |
/// | `error TEXT` | fails |
/// | `panic` | panics |
/// | `panic when checked`, `… recorded`, `… closed` | panics there, not in the turn |
/// | `refuse` | the prompt itself is refused |
/// | `stop REASON` | ends with max_tokens, max_turn_requests or refusal |
#[derive(Debug)]
pub struct ScriptedAgent {
    profile: AgentProfile,
    release: Notify,
    log: Mutex<Vec<String>>,
    started: Notify,
    closes_badly: AtomicBool,
}

impl Default for ScriptedAgent {
    fn default() -> Self {
        Self::accepting(PromptKinds::default())
    }
}

impl ScriptedAgent {
    /// Takes these kinds of content beside text and links.
    pub fn accepting(accepts: PromptKinds) -> Self {
        Self {
            profile: AgentProfile {
                name: "scripted".to_owned(),
                title: "Scripted agent".to_owned(),
                version: "1.2.3".to_owned(),
                accepts,
                commands: vec![
                    CommandInfo {
                        name: "echo".to_owned(),
                        description: "says it again".to_owned(),
                        hint: Some("<text>".to_owned()),
                    },
                    CommandInfo {
                        name: "help".to_owned(),
                        description: "shows what there is".to_owned(),
                        hint: None,
                    },
                ],
            },
            release: Notify::new(),
            log: Mutex::default(),
            started: Notify::new(),
            closes_badly: AtomicBool::new(false),
        }
    }

    /// Lets one turn that stands at `release` go on.
    pub fn release(&self) {
        self.release.notify_one();
    }

    /// Waits until a turn has begun; each begin wakes one waiter, early ones are not lost.
    pub async fn turn_started(&self) {
        self.started.notified().await;
    }

    /// Returns what happened so far: `start TEXT`, `end REASON`, `closed ID`.
    pub fn log(&self) -> Vec<String> {
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn note(&self, line: String) {
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
    }

    #[expect(clippy::panic, reason = "a crash is one of the scripts")]
    async fn follow(
        &self,
        line: &str,
        request: &TurnRequest,
        say: &mut Sayer<'_>,
    ) -> Result<Option<StopReason>, Ended> {
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        let numbers: Vec<usize> = rest.split(' ').filter_map(|n| n.parse().ok()).collect();
        match (command, numbers.as_slice()) {
            ("stream", &[count, size]) => {
                let message = say.new_message();
                for at in 0..count {
                    let text = format!("{at:0size$}");
                    say.event(AgentEvent::Message { message, text }).await?;
                }
            }
            ("messages", &[count]) => {
                for at in 0..count {
                    say.text(&format!("message {at}")).await?;
                }
            }
            ("think", _) => {
                let message = say.new_message();
                let text = rest.to_owned();
                say.event(AgentEvent::Thought { message, text }).await?;
            }
            ("tool", _) => {
                let (id, status) = rest.split_once(' ').unwrap_or((rest, "pending"));
                say.event(AgentEvent::Tool(ToolCard {
                    id: id.to_owned(),
                    title: format!("tool {id}"),
                    status: match status {
                        "in_progress" => ToolStatus::InProgress,
                        "completed" => ToolStatus::Completed,
                        "failed" => ToolStatus::Failed,
                        _ => ToolStatus::Pending,
                    },
                    text: (status == "completed").then(|| "done".to_owned()),
                }))
                .await?;
            }
            ("wait", _) => {
                request.cancel.cancelled().await;
                return Ok(Some(StopReason::Cancelled));
            }
            ("stuck", _) => std::future::pending::<()>().await,
            ("release", _) => self.release.notified().await,
            ("late", _) => {
                request.cancel.cancelled().await;
                say.text(rest).await?;
            }
            ("error", _) => {
                return Err(Ended::Failed(AgentError::Failed {
                    message: rest.to_owned(),
                    source: None,
                }));
            }
            ("panic", _) if rest == "when closed" => {
                self.closes_badly.store(true, Ordering::SeqCst);
            }
            ("panic", _) => panic!("the script says so"),
            ("stop", _) => {
                return Ok(Some(match rest {
                    "max_tokens" => StopReason::MaxTokens,
                    "max_turn_requests" => StopReason::MaxTurnRequests,
                    _ => StopReason::Refusal,
                }));
            }
            _ => say.text(line).await?,
        }
        Ok(None)
    }
}

/// Why a script does not go on.
enum Ended {
    Over,
    Failed(AgentError),
}

impl From<TurnOver> for Ended {
    fn from(_: TurnOver) -> Self {
        Self::Over
    }
}

/// Speaks under ids that depend on the turn only.
struct Sayer<'a> {
    events: &'a TurnEvents,
    turn: Uuid,
    messages: u128,
}

impl Sayer<'_> {
    fn new_message(&mut self) -> MessageId {
        self.messages += 1;
        MessageId::new(Uuid::from_u128(self.turn.as_u128() ^ (self.messages << 32)))
    }

    async fn text(&mut self, text: &str) -> Result<(), TurnOver> {
        let message = self.new_message();
        self.events.message(message, text).await
    }

    async fn event(&self, event: AgentEvent) -> Result<(), TurnOver> {
        self.events.send(event).await
    }
}

#[async_trait]
impl Agent for ScriptedAgent {
    fn profile(&self) -> &AgentProfile {
        &self.profile
    }

    fn check_prompt(&self, prompt: &[PromptBlock]) -> Result<(), PromptRefusal> {
        let script = script(prompt);
        assert!(script != "panic when checked", "the script says so");
        if script.lines().any(|line| line == "refuse") {
            return Err(PromptRefusal {
                message: "this agent does not take such prompts".to_owned(),
            });
        }
        Ok(())
    }

    fn prompt_for_record(&self, prompt: &[PromptBlock]) -> Vec<PromptBlock> {
        let script = script(prompt);
        assert!(script != "panic when recorded", "the script says so");
        prompt.to_vec()
    }

    async fn run_turn(
        &self,
        request: TurnRequest,
        events: TurnEvents,
    ) -> Result<StopReason, AgentError> {
        let script = script(&request.prompt);
        self.note(format!("start {script}"));
        self.started.notify_one();
        let mut say = Sayer {
            events: &events,
            turn: request.turn.uuid(),
            messages: 0,
        };
        let mut reason = StopReason::EndTurn;
        for line in script.lines() {
            match self.follow(line, &request, &mut say).await {
                Ok(None) => {}
                Ok(Some(stop)) => {
                    reason = stop;
                    break;
                }
                Err(Ended::Over) => {
                    reason = StopReason::Cancelled;
                    break;
                }
                Err(Ended::Failed(error)) => return Err(error),
            }
        }
        self.note(format!("end {reason:?}"));
        Ok(reason)
    }

    async fn session_closed(&self, session: SessionId) {
        self.note(format!("closed {session}"));
        let closes_badly = self.closes_badly.load(Ordering::SeqCst);
        assert!(!closes_badly, "the script says so");
    }
}

/// The text of a prompt; a link counts as its name.
fn script(prompt: &[PromptBlock]) -> String {
    let lines: Vec<&str> = prompt
        .iter()
        .map(|block| match block {
            PromptBlock::Text { text } => text.as_str(),
            PromptBlock::ResourceLink { name, .. } => name.as_str(),
            PromptBlock::Image { .. } => "image",
            PromptBlock::Audio { .. } => "audio",
            PromptBlock::Resource { uri, .. } => uri.as_str(),
        })
        .collect();
    lines.join("\n")
}
