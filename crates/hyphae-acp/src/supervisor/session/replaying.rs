//! What was said in a session, shown once more.

use super::{Session, opening::History};
use crate::{
    convert::{Shower, relayed},
    kept::store_error,
    supervisor::{archive::Archive, cards::Cards, child::Child, start::StartError},
    wire::Outgoing,
};
use hyphae_core::session::TranscriptEvent;

impl Session {
    /// Shows the whole conversation: the same order, the same bytes. A tool card that was never
    /// closed is closed, unless its turn still runs.
    pub(super) async fn replay(
        &mut self,
        archive: &Archive,
        history: History,
    ) -> Result<(), StartError> {
        self.keep().await;
        if history == History::Known {
            return Ok(());
        }
        self.show_now().await?;
        let (mut shower, mut cards) = (Shower::new(self.id), Cards::default());
        let mut pages = archive.read(self.id);
        while let Some(entries) = pages
            .next()
            .await
            .map_err(|error| StartError::Failed(store_error(&error)))?
        {
            for entry in entries {
                if let TranscriptEvent::Relayed { update } = &entry.event {
                    cards.see(update);
                }
                if let Some(shown) = shower.replayed(entry.event) {
                    self.put_out(shown).await?;
                }
            }
        }
        let is_running = |child: &Child| !child.calls().is_empty();
        if !self.child.as_ref().is_some_and(is_running) {
            for card in cards.close() {
                self.put_out(relayed(self.id, &card)).await?;
            }
        }
        Ok(())
    }

    /// Waits until what is to be shown is on its way, for something takes long from here.
    pub(super) async fn show_now(&mut self) -> Result<(), StartError> {
        while let Some(shown) = self.to_show.pop_front() {
            self.put_out(shown).await?;
        }
        Ok(())
    }

    /// Waits until there is room in the way out.
    async fn put_out(&self, shown: Outgoing) -> Result<(), StartError> {
        tokio::select! {
            biased;
            () = self.abort.cancelled() => Err(StartError::Aborted),
            sent = self.outbox.send(shown) => sent.map_err(|_| StartError::Aborted),
        }
    }
}
