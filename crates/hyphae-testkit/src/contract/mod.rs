//! What every store must do: one suite that each adapter runs over itself.
//!
//! A check is a function over a [`Subject`], a store that holds nothing yet. Many small ones, so
//! that one failure does not hide the others. An adapter names its factory once per port:
//!
//! ```ignore
//! mod memories {
//!     hyphae_testkit::memory_contract!(crate::subject);
//! }
//! ```
//!
//! What only one kind of database can do (a full disk, a damaged file) is tested beside the
//! adapter, not here.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "checks fail by panicking"
)]

pub mod credentials;
pub mod fixture;
pub mod isolation;
pub mod memories;
pub mod sessions;

use std::{fmt, task::Poll};

use async_trait::async_trait;
use hyphae_core::ports::{CredentialStore, MemoryStore, SessionStore};

/// A store under test, empty but for its default tenant. It ends when it is dropped.
#[async_trait]
pub trait Subject: fmt::Debug + Send + Sync {
    /// Returns its memories.
    fn memories(&self) -> &dyn MemoryStore;

    /// Returns its sessions.
    fn sessions(&self) -> &dyn SessionStore;

    /// Returns its credentials.
    fn credentials(&self) -> &dyn CredentialStore;

    /// Opens the same database once more, as another process would.
    async fn again(&self) -> Box<dyn Subject>;
}

/// Polls a future a few times and drops it, as a caller does that goes away.
pub(crate) async fn drop_after<T>(polls: usize, future: impl Future<Output = T>) {
    let mut future = std::pin::pin!(future);
    let mut polled = 0;
    std::future::poll_fn(|context| {
        if polled == polls {
            return Poll::Ready(());
        }
        polled += 1;
        future.as_mut().poll(context).map(drop)
    })
    .await;
}

/// Makes one test of each check of a module of [`crate::contract`].
#[doc(hidden)]
#[macro_export]
macro_rules! contract_tests {
    ($module:ident, $factory:path, $($name:ident)*) => {$(
        #[tokio::test]
        async fn $name() {
            let subject: Box<dyn $crate::contract::Subject> = $factory().await;
            $crate::contract::$module::$name(&*subject).await;
        }
    )*};
}

/// Tests the memories of a store.
#[macro_export]
macro_rules! memory_contract {
    ($factory:path) => {
        $crate::contract_tests! { memories, $factory,
            a_cell_comes_back_with_every_field
            cells_come_in_the_order_asked_for_and_unknown_ones_are_left_out
            texts_of_every_kind_come_back
            projects_of_every_name_are_kept_apart
            the_same_text_is_kept_once
            the_same_text_of_another_type_project_visibility_or_layer_is_another_cell
            a_private_text_of_two_authors_is_two_cells
            an_insert_that_is_repeated_finds_its_own_cell
            an_id_is_given_to_one_cell_only
            a_cell_is_written_by_its_author_into_its_project
            a_vector_is_as_long_as_its_models_are
            equal_inserts_at_once_keep_one_cell
            the_last_cell_of_a_session_is_the_newest
            reading_changes_no_answer
            statistics_count_what_a_tenant_keeps
            a_second_handle_sees_everything_at_once
            changes_tell_all_that_recall_needs
            changes_are_read_in_pages_of_any_size
            a_reader_never_misses_a_change
            a_revision_gives_a_cell_another_text
            a_dropped_insert_leaves_all_or_nothing
            a_dropped_revision_leaves_all_or_nothing
            dropped_reads_do_no_harm
            a_revision_keeps_links_unless_it_brings_others
            links_lead_both_ways_strongest_first
            links_to_what_is_not_there_are_passed_over
            a_neighbour_with_too_many_links_loses_its_weakest
            a_neighbour_with_too_many_links_loses_the_named_ones_first
            a_neighbour_with_room_loses_nothing
            a_new_cell_keeps_its_strongest_links
            weights_come_back_to_the_last_digit
            the_first_vector_chooses_the_model
            a_model_is_its_name_and_its_dimension
            vectors_of_another_model_are_stale_until_they_are_replaced
            a_cell_gets_another_text_while_its_vector_is_stale
        }
    };
}

/// Tests the sessions of a store.
#[macro_export]
macro_rules! session_contract {
    ($factory:path) => {
        $crate::contract_tests! { sessions, $factory,
            a_session_comes_back_with_every_field
            a_directory_that_is_no_text_comes_back
            an_id_is_given_to_one_session_only
            sessions_are_listed_newest_first_in_pages
            a_page_begins_behind_a_session_that_is_gone
            a_transcript_keeps_every_kind_of_entry_in_order
            a_transcript_is_read_in_pages
            an_append_sets_the_time_and_the_first_title
            appends_at_once_keep_every_entry_and_each_append_whole
            a_dropped_append_leaves_all_or_nothing
            a_fork_has_the_past_and_its_own_future
            a_deleted_session_is_gone_with_its_transcript
            a_foreign_session_and_an_unknown_one_are_the_same
            a_second_handle_sees_sessions_at_once
        }
    };
}

/// Tests the credentials of a store.
#[macro_export]
macro_rules! credential_contract {
    ($factory:path) => {
        $crate::contract_tests! { credentials, $factory,
            a_key_opens_its_credential_and_no_other
            the_default_tenant_stays_the_same
            another_handle_knows_the_same_keys
            credentials_are_listed_oldest_first_and_by_tenant
            a_revoked_key_stays_revoked_since_the_first_time
            only_a_credential_of_the_tenant_is_revoked
            a_key_has_one_holder
            a_name_of_any_kind_comes_back
        }
    };
}

/// Tests that nobody sees what is not theirs, through every verb.
#[macro_export]
macro_rules! isolation_contract {
    ($factory:path) => {
        $crate::contract_tests! { isolation, $factory,
            no_verb_shows_what_is_not_visible
            no_verb_changes_what_is_not_visible
            a_tenant_is_maintained_alone
        }
    };
}

#[cfg(test)]
mod tests {
    /// A check that no macro names would never run.
    #[test]
    fn every_check_is_run() {
        let named = include_str!("mod.rs");
        let checks = [
            include_str!("memories/cells.rs"),
            include_str!("memories/changes.rs"),
            include_str!("memories/drops.rs"),
            include_str!("memories/links.rs"),
            include_str!("memories/models.rs"),
            include_str!("sessions.rs"),
            include_str!("credentials.rs"),
            include_str!("isolation.rs"),
        ];
        let names = checks
            .iter()
            .flat_map(|source| source.lines())
            .filter_map(|line| {
                let rest = line.strip_prefix("pub async fn ")?;
                rest.split('(').next()
            });
        let forgotten: Vec<&str> = names
            .filter(|name| !named.lines().any(|line| line.trim() == *name))
            .collect();
        assert_eq!(forgotten, [""; 0]);
    }
}
