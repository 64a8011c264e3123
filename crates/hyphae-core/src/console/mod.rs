//! The memory console: an agent that parses what is typed and answers from the memory.
//! No model, nothing inferred: the same prompt over the same memories gives the same bytes.

mod completion;
mod grammar;

use std::{fmt::Write as _, sync::Arc};

use async_trait::async_trait;

pub use completion::completions;
pub use grammar::{Command, HELP, Misunderstood, VERBS, Verb, parse};

use crate::{
    agent::{
        Agent, AgentError, AgentProfile, CommandInfo, PromptBlock, PromptKinds, PromptRefusal,
        StopReason, TurnEvents, TurnRequest,
    },
    audit::Via,
    ids::MessageId,
    mask,
    memories::{
        BASE_LAYER, Match, Memories, MemoryError, Mode, NewMemory, RecallRequest, Recalled,
    },
    ports::Clock,
    recall::Filter,
};

/// The agent behind `acp-stdio`.
#[derive(Debug)]
pub struct Console {
    memories: Arc<Memories>,
    clock: Arc<dyn Clock>,
    profile: AgentProfile,
}

/// What the answer to an empty search says.
pub const NO_RESULTS: &str = "no results";

/// What an answer to a failed command begins with.
pub const ERROR_PREFIX: &str = "error: ";

impl Console {
    /// Makes a console over a memory; `version` is the program's.
    pub fn new(memories: Arc<Memories>, clock: Arc<dyn Clock>, version: &str) -> Self {
        let commands = VERBS.iter().map(|verb| CommandInfo {
            name: verb.name.to_owned(),
            description: verb.description.to_owned(),
            hint: (!verb.arguments.is_empty()).then(|| verb.arguments.to_owned()),
        });
        let profile = AgentProfile {
            name: "hyphae".to_owned(),
            title: "Hyphae memory console".to_owned(),
            version: version.to_owned(),
            accepts: PromptKinds::default(),
            commands: commands.collect(),
        };
        Self {
            memories,
            clock,
            profile,
        }
    }

    /// Carries out one command and returns the messages that answer it.
    async fn answer(&self, request: &TurnRequest) -> Result<Vec<String>, AgentError> {
        let command = match parse(&text_of(&request.prompt)) {
            Ok(command) => command,
            // A message may repeat what was typed, and answers are kept.
            Err(misunderstood) => {
                let message = mask::mask(&misunderstood.to_string()).text;
                return Ok(vec![format!("{ERROR_PREFIX}{message}")]);
            }
        };
        let (query, k, layer) = match command {
            Command::Help => return Ok(vec![HELP.to_owned()]),
            Command::Store {
                cell_type,
                salience,
                content,
            } => {
                let mut memory = NewMemory {
                    cell_type,
                    salience,
                    ..NewMemory::new(content)
                };
                memory.origin.session = Some(request.session);
                let via = Via {
                    session: Some(request.session),
                    client: None,
                };
                let stored = self.memories.store(&request.scope, memory, &via).await;
                return stored.map_or_else(told, |stored| Ok(vec![stored_answer(&stored)]));
            }
            Command::Recall { k, query } => (query, k, BASE_LAYER),
            Command::Query { layer, k, query } => (query, k, layer),
        };
        let filter = Filter {
            layer: Some(layer),
            ..Filter::at(self.memories.now())
        };
        let recall = RecallRequest {
            query: Some(query),
            k,
            filter,
            max_distance: None,
        };
        let recalled = self.memories.recall(&request.scope, &recall).await;
        recalled.map_or_else(told, |recalled| Ok(recall_answer(&recalled)))
    }
}

/// Tells people of what they can mend in the conversation; the rest is a failed turn.
fn told(error: MemoryError) -> Result<Vec<String>, AgentError> {
    if error.is_ours() {
        return Err(AgentError::Failed {
            message: error.to_string(),
            source: Some(Box::new(error)),
        });
    }
    Ok(vec![format!("{ERROR_PREFIX}{error}")])
}

fn stored_answer(stored: &crate::memories::Stored) -> String {
    let mut answer = format!("stored {}", stored.id);
    match stored.redactions {
        0 => {}
        1 => answer.push_str("\n1 secret was masked before it was stored"),
        n => {
            // Writing to a string cannot fail.
            let _infallible = write!(answer, "\n{n} secrets were masked before it was stored");
        }
    }
    answer
}

fn recall_answer(recalled: &Recalled) -> Vec<String> {
    let mut messages: Vec<String> = recalled.matches.iter().map(match_answer).collect();
    if messages.is_empty() {
        messages.push(NO_RESULTS.to_owned());
    }
    if recalled.mode == Mode::Keywords {
        messages.push(
            "note: searched by keywords only where the embedding model differs; run `hyphae-server reembed --embedder minilm`"
                .to_owned(),
        );
    }
    messages
}

fn match_answer(found: &Match) -> String {
    let cell = &found.cell;
    let distance = found.distance.map_or_else(String::new, |d| d.to_string());
    format!(
        "{} distance={} type={}\n{}",
        cell.id,
        distance,
        cell.cell_type,
        cell.content.as_str()
    )
}

/// Returns a prompt as one text: its text blocks joined by newlines, a resource link as its
/// name and address.
fn text_of(prompt: &[PromptBlock]) -> String {
    let parts: Vec<String> = prompt
        .iter()
        .filter_map(|block| match block {
            PromptBlock::Text { text } => Some(text.clone()),
            PromptBlock::ResourceLink { name, uri } => Some(format!("{name} {uri}")),
            PromptBlock::Image { .. }
            | PromptBlock::Audio { .. }
            | PromptBlock::Resource { .. } => None,
        })
        .collect();
    parts.join("\n")
}

#[async_trait]
impl Agent for Console {
    fn profile(&self) -> &AgentProfile {
        &self.profile
    }

    fn check_prompt(&self, prompt: &[PromptBlock]) -> Result<(), PromptRefusal> {
        let refused = prompt.iter().find_map(|block| match block {
            PromptBlock::Text { .. } | PromptBlock::ResourceLink { .. } => None,
            PromptBlock::Image { .. } => Some("an image"),
            PromptBlock::Audio { .. } => Some("audio"),
            PromptBlock::Resource { .. } => Some("an embedded resource"),
        });
        match refused {
            Some(kind) => Err(PromptRefusal {
                message: format!(
                    "prompt: the memory console does not take {kind}; send text or resource links"
                ),
            }),
            None => Ok(()),
        }
    }

    fn prompt_for_record(&self, prompt: &[PromptBlock]) -> Vec<PromptBlock> {
        let masked = prompt.iter().map(|block| match block {
            PromptBlock::Text { text } => PromptBlock::Text {
                text: mask::mask(text).text,
            },
            PromptBlock::ResourceLink { .. }
            | PromptBlock::Image { .. }
            | PromptBlock::Audio { .. }
            | PromptBlock::Resource { .. } => block.clone(),
        });
        masked.collect()
    }

    async fn run_turn(
        &self,
        request: TurnRequest,
        events: TurnEvents,
    ) -> Result<StopReason, AgentError> {
        let cancel = request.cancel.clone();
        let Some(messages) = cancel.run_until_cancelled(self.answer(&request)).await else {
            return Ok(StopReason::Cancelled);
        };
        for text in messages? {
            let message = MessageId::new(self.clock.new_id());
            if cancel.is_cancelled() || events.message(message, text).await.is_err() {
                return Ok(StopReason::Cancelled);
            }
        }
        Ok(StopReason::EndTurn)
    }
}
