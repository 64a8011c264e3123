//! What is kept of a session's conversation, and when.

use std::time::Duration;

use hyphae_core::ids::{MessageId, TurnId};
use tokio::time::Instant;

use super::Session;
use crate::{
    convert::relayed,
    kept::store_error,
    supervisor::{
        archive::Archive,
        briefing::{self, ANNOUNCEMENT},
        messages::quoted,
        record::Recorder,
    },
    wire::RpcError,
};

/// How long something that was said may wait until it is kept. What a turn said is kept before
/// its answer in any case.
const SOON: Duration = Duration::from_secs(1);

/// A conversation that is being kept.
#[derive(Debug)]
pub(super) struct Record {
    archive: Archive,
    recorder: Recorder,
    /// When what waits is to be kept.
    keep_by: Option<Instant>,
    /// What could not be kept since the last answer.
    failure: Option<RpcError>,
    /// The child does not know what was said before it was started.
    needs_briefing: bool,
}

impl Record {
    pub(super) const fn keep_by(&self) -> Option<Instant> {
        self.keep_by
    }

    /// The child calls the session by this name; anew if it has never heard of it.
    pub(super) fn agent_session(&mut self, name: &str, is_anew: bool) {
        self.recorder.agent_session(name);
        self.needs_briefing = is_anew;
        self.something_waits();
    }

    fn something_waits(&mut self) {
        if self.recorder.waits() {
            self.keep_by.get_or_insert_with(|| Instant::now() + SOON);
        }
    }
}

impl Session {
    /// From now on the conversation is kept.
    pub(super) fn begin_record(&mut self, archive: Archive) {
        let turn = TurnId::new(self.shared.clock.new_id());
        self.record = Some(Record {
            archive,
            recorder: Recorder::new(turn),
            keep_by: None,
            failure: None,
            needs_briefing: false,
        });
    }

    /// Keeps what waits. What cannot be kept is told with the next answer to a prompt.
    pub(super) async fn keep(&mut self) {
        let now = self.shared.clock.now();
        let Some(record) = &mut self.record else {
            return;
        };
        record.keep_by = None;
        let (entries, title) = record.recorder.waiting();
        if entries.is_empty() {
            return;
        }
        let kept = record.archive.append(self.id, entries, title, now).await;
        record.recorder.clear();
        if let Err(error) = kept {
            record.failure.get_or_insert_with(|| store_error(&error));
        }
    }

    /// The child showed something.
    pub(super) async fn note_update(&mut self, update: &str) {
        let Some(record) = &mut self.record else {
            return;
        };
        record.recorder.update(update);
        record.something_waits();
        if record.recorder.is_full() {
            self.keep().await;
        }
    }

    /// The child does not take the prompt.
    pub(super) fn note_refusal(&mut self) {
        if let Some(record) = &mut self.record {
            record.recorder.refused();
        }
    }

    /// A turn has ended; what was said in it is kept now.
    pub(super) async fn note_end(&mut self, result: &str) -> Result<(), RpcError> {
        if let Some(record) = &mut self.record {
            record.recorder.ended(result);
        }
        self.keep().await;
        match self
            .record
            .as_mut()
            .and_then(|record| record.failure.take())
        {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    /// A turn begins with this prompt. Returns another one for a child that must be told first
    /// what was said before it came.
    pub(super) async fn note_prompt(&mut self, prompt: &str) -> Result<Option<String>, RpcError> {
        let briefing = self.briefing().await?;
        let (turn, message) = (self.shared.clock.new_id(), self.shared.clock.new_id());
        let Some(record) = &mut self.record else {
            return Ok(None);
        };
        record
            .recorder
            .prompt(TurnId::new(turn), MessageId::new(message), prompt);
        record.something_waits();
        let (Some(block), Some(blocks)) = (briefing, prompt.strip_prefix('[')) else {
            return Ok(None);
        };
        self.announce().await;
        let comma = if blocks.trim_start().starts_with(']') {
            ""
        } else {
            ","
        };
        Ok(Some(format!("[{block}{comma}{blocks}")))
    }

    /// Returns a block about what was said so far, if the child must be told.
    async fn briefing(&mut self) -> Result<Option<String>, RpcError> {
        if !self
            .record
            .as_ref()
            .is_some_and(|record| record.needs_briefing)
        {
            return Ok(None);
        }
        self.keep().await;
        let Some(record) = &mut self.record else {
            return Ok(None);
        };
        let briefing = briefing::of(&record.archive, self.id)
            .await
            .map_err(|error| store_error(&error))?;
        record.needs_briefing = false;
        Ok(briefing)
    }

    /// Says in the conversation that the child knows it from hearsay.
    async fn announce(&mut self) {
        let message = self.shared.clock.new_id();
        let update = format!(
            r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":{}}},"messageId":"{message}"}}"#,
            quoted(&format!("{ANNOUNCEMENT}\n\n")),
        );
        self.to_show.push_back(relayed(self.id, &update));
        self.note_update(&update).await;
    }
}
