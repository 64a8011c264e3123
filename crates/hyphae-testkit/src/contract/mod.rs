//! What every store must do: one suite that each adapter runs over itself.
//!
//! A check is a function over a [`Subject`], a store that holds nothing yet. Many small ones, so
//! that one failure does not hide the others. An adapter names its factory once per port, which gives none where there is nothing to test on:
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
pub mod living;
pub mod memories;
pub mod seen;
pub mod sessions;
pub mod transfer;

use std::{fmt, task::Poll};

use async_trait::async_trait;
use hyphae_core::ports::{CredentialStore, GossipStore, MemoryStore, SessionStore, TransferStore};

/// All that a store is asked for.
pub trait Ports: MemoryStore + SessionStore + CredentialStore + TransferStore {}

impl<T: MemoryStore + SessionStore + CredentialStore + TransferStore> Ports for T {}

/// A store under test, empty but for its default tenant. It ends when it is dropped.
#[async_trait]
pub trait Subject: fmt::Debug + Send + Sync {
    /// Returns the store, by all that it is asked for.
    fn ports(&self) -> &dyn Ports;

    /// Returns its memories.
    fn memories(&self) -> &dyn MemoryStore {
        self.ports()
    }

    /// Returns its sessions.
    fn sessions(&self) -> &dyn SessionStore {
        self.ports()
    }

    /// Returns its credentials.
    fn credentials(&self) -> &dyn CredentialStore {
        self.ports()
    }

    /// Returns how everything is moved into and out of it.
    fn transfer(&self) -> &dyn TransferStore {
        self.ports()
    }

    /// Opens the same database once more, as another process would.
    async fn again(&self) -> Box<dyn Subject>;
}

/// A store under test that lets changes travel.
#[async_trait]
pub trait Living: fmt::Debug + Send + Sync {
    /// Returns the store, whose default tenant is empty.
    fn subject(&self) -> &dyn Subject;

    /// Returns what of it waits, travels and arrives.
    fn gossip(&self) -> &dyn GossipStore;

    /// Opens the same database once more, as another process would.
    async fn again(&self) -> Box<dyn Living>;
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
    ($module:ident, $factory:path, $kind:ident $($name:ident)*) => {$(
        #[tokio::test]
        async fn $name() {
            let subject: Option<Box<dyn $crate::contract::$kind>> = $factory().await;
            if let Some(subject) = subject {
                $crate::contract::$module::$name(&*subject).await;
            }
        }
    )*};
}

/// Tests the memories of a store.
#[macro_export]
macro_rules! memory_contract {
    ($factory:path) => {
        $crate::contract_tests! { memories, $factory, Subject
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
            a_revision_changes_every_field_and_no_other_cell
            a_history_holds_every_earlier_state_with_who_replaced_it_and_why
            a_revision_follows_the_one_before_it_only
            of_two_revisions_at_once_one_wins
            a_revision_into_what_another_cell_says_changes_nothing
            what_is_not_active_stays_in_the_changes_and_out_of_the_way
            a_cell_that_is_no_longer_active_can_be_changed_and_brought_back
            the_time_of_a_cell_never_goes_back
            who_may_see_a_cell_learns_of_it_and_who_no_longer_may_learns_that
            a_superseded_cell_names_its_successor_in_its_diff
            a_topic_has_one_active_cell_for_the_same_readers
            a_revision_does_not_take_a_topic_away
            a_topic_is_free_once_nothing_active_stands_for_it
            topics_of_every_spelling_are_kept_apart
            of_an_erased_cell_nothing_remains_but_that_it_is_gone
            what_lay_beside_an_erased_cell_stays
            an_erasure_finds_only_the_expected_revision
            what_was_erased_can_be_stored_anew
            an_erasure_is_told_to_those_who_could_see_the_cell_and_to_nobody_else
            what_was_hidden_before_it_was_erased_stays_hidden
            what_was_erased_makes_room
            a_relation_comes_back_with_every_field
            relations_are_given_by_either_end_each_once_and_oldest_first
            relations_come_by_time_and_of_one_time_by_id
            a_relation_is_kept_once_for_each_pair_direction_and_kind
            a_relation_is_taken_back_and_brought_back
            a_relation_given_again_after_it_was_taken_back_has_its_old_id
            an_erased_relation_is_gone_and_may_be_given_anew
            a_relation_needs_both_of_its_ends
            a_relation_to_what_is_not_active_stays
            a_relation_is_seen_by_those_who_see_both_of_its_ends
            relations_are_no_semantic_links
            each_writer_has_one_confirmation_which_is_its_last
            a_confirmation_is_no_change_but_of_the_time_of_the_last
            confirmations_of_earlier_texts_stay_until_their_writer_confirms_again
            only_the_expected_revision_is_confirmed
            several_cells_are_confirmed_at_once_and_asked_for_together
            a_revision_keeps_the_time_of_a_confirmation
            what_is_hidden_is_not_confirmed
            a_conflict_comes_back_with_every_field_open_and_decided
            two_cells_have_one_open_conflict_whichever_is_left
            a_conflict_is_decided_once
            of_two_decisions_at_once_one_holds
            open_conflicts_are_listed_oldest_first_in_pages_and_by_cell
            a_conflict_needs_both_of_its_sides
            a_conflict_is_seen_and_decided_by_those_who_see_both_sides
            conflicts_are_told_about_their_left_side
            a_key_stands_for_a_cell_of_its_writer
            a_key_is_used_once
            of_two_writes_with_one_key_one_is_kept
            a_key_of_a_cell_that_its_writer_cannot_see_is_free
            a_key_needs_its_cell
            every_kind_of_change_is_told_as_it_was_when_it_happened
            diffs_are_read_by_kind_by_writer_and_in_pages
            all_diffs_of_one_write_are_told_however_it_is_cut_in_pages
            diffs_tell_of_what_is_visible
            a_diff_does_not_name_what_is_hidden
            a_reader_of_diffs_misses_none_while_others_write
            the_newest_place_is_that_of_the_last_write_of_the_tenant
            an_id_is_found_by_its_beginning_of_any_length
            ids_of_each_kind_are_found_apart_in_whatever_state
            topics_and_tags_are_found_by_their_beginning
            projects_are_found_by_their_beginning
            names_are_those_of_active_cells_that_are_visible
            every_write_is_in_the_audit_with_every_field
            the_audit_outlives_what_it_is_about
            a_write_that_repeats_a_step_names_its_subject_once
            the_audit_is_filtered_by_all_conditions_together
            the_audit_is_read_in_pages
            the_audit_is_that_of_the_tenant_and_of_no_other
            a_write_that_stops_or_fails_is_not_in_the_audit
            a_write_that_stops_at_its_last_step_leaves_nothing_of_the_others
            a_write_that_fails_at_its_last_step_leaves_nothing_of_the_others
            a_dropped_write_of_many_steps_leaves_all_or_nothing
            each_step_sees_what_those_before_it_did
            a_write_that_takes_no_place_is_at_the_newest
        }
    };
}

/// Tests the sessions of a store.
#[macro_export]
macro_rules! session_contract {
    ($factory:path) => {
        $crate::one_writer_session_contract!($factory);
        $crate::contract_tests! { sessions, $factory, Subject
            appends_at_once_keep_every_entry_and_each_append_whole
        }
    };
}

/// The same but for appends to one session at the same instant.
#[macro_export]
macro_rules! one_writer_session_contract {
    ($factory:path) => {
        $crate::contract_tests! { sessions, $factory, Subject
            a_session_comes_back_with_every_field
            a_directory_that_is_no_text_comes_back
            an_id_is_given_to_one_session_only
            sessions_are_listed_newest_first_in_pages
            a_page_begins_behind_a_session_that_is_gone
            a_transcript_keeps_every_kind_of_entry_in_order
            a_transcript_is_read_in_pages
            an_append_sets_the_time_and_the_first_title
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
        $crate::contract_tests! { credentials, $factory, Subject
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

/// Tests that everything can be moved from one store to another.
#[macro_export]
macro_rules! transfer_contract {
    ($factory:path) => {
        $crate::contract_tests! { transfer, $factory, Subject
            everything_comes_back_as_it_was
            items_come_in_pages_of_any_size
            an_item_refers_only_to_items_before_it
            what_is_there_already_is_left_alone
            what_refers_to_nothing_is_an_orphan_and_the_others_are_kept
            a_memory_that_another_one_stands_for_is_not_kept
            something_else_under_the_same_id_stays
            a_state_that_is_no_earlier_one_is_not_taken_for_history
            only_what_belongs_to_a_project_is_given_out
            a_tenant_gives_out_its_own_only
            vectors_stay_with_their_model
            a_vector_that_is_not_as_long_as_its_model_is_refused
            what_is_brought_in_is_told_in_its_order_with_its_words
            labels_of_what_is_brought_in_are_known
            what_was_erased_is_told_and_stays_erased
            an_identity_is_known_and_no_key_opens_it
            a_dropped_transfer_leaves_all_or_nothing
            a_diff_without_its_memory_is_an_orphan
        }
    };
}

/// Tests that changes wait, travel and arrive once.
#[macro_export]
macro_rules! living_contract {
    ($factory:path) => {
        $crate::contract_tests! { living, $factory, Living
            every_diff_waits_in_the_order_of_commits_until_it_is_settled
            a_leased_diff_is_leased_again_when_its_lease_has_run_out
            a_page_of_leases_has_the_oldest_that_are_free
            of_two_that_lease_at_once_each_has_its_own
            a_diff_is_settled_once
            a_lease_that_was_taken_over_settles_nothing
            a_lease_that_ran_out_settles_while_nobody_took_it
            a_worker_that_leaves_gives_its_leases_back
            another_process_goes_on_where_one_ended
            a_dropped_settling_leaves_all_or_nothing
            a_diff_comes_with_its_cell_as_it_is_now
            a_contradiction_comes_with_the_salience_of_the_other_cell
            what_not_everybody_may_see_has_no_subject
            a_diff_whose_cell_has_no_vector_waits_until_it_expires
            energy_is_counted_for_an_hour_and_for_its_author
            a_tenant_lets_its_own_diffs_travel
            a_credential_has_one_letter_of_a_diff
            letters_are_read_in_the_order_in_which_they_arrived
            a_full_inbox_loses_its_oldest_unread_letters_and_counts_them
            what_follows_reaches_those_who_were_told
            an_inbox_belongs_to_one_credential_in_one_project
            a_letter_about_what_is_hidden_is_left_out
            a_journey_comes_back_with_every_field
            a_journey_shows_nobody_what_is_hidden
            a_graph_has_the_links_of_all_kinds
            a_graph_leads_to_nothing_that_is_private_or_gone
            a_graph_answers_in_the_order_of_the_question
        }
    };
}

/// Tests that nobody sees what is not theirs, through every verb.
#[macro_export]
macro_rules! isolation_contract {
    ($factory:path) => {
        $crate::contract_tests! { isolation, $factory, Subject
            a_foreign_id_and_an_unknown_one_are_the_same
            two_tenants_may_use_the_same_ids
            no_verb_shows_what_is_not_visible
            no_verb_changes_what_is_not_visible
            a_tenant_is_maintained_alone
        }
    };
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    /// A check that no macro names would never run.
    #[test]
    fn every_check_is_run() {
        let named = include_str!("mod.rs");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/contract");
        let mut sources = String::new();
        let parts = ["memories", "isolation", "living"].map(|part| folder.join(part));
        for folder in parts.into_iter().chain([folder]) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() && path.file_name().unwrap() != "mod.rs" {
                    sources.push_str(&fs::read_to_string(path).unwrap());
                }
            }
        }
        let checks: Vec<&str> = sources
            .lines()
            .filter_map(|line| line.strip_prefix("pub async fn ")?.split('(').next())
            .collect();
        assert!(checks.len() > 100, "{} checks", checks.len());
        let forgotten: Vec<&&str> = checks
            .iter()
            .filter(|name| !named.lines().any(|line| line.trim() == **name))
            .collect();
        assert!(forgotten.is_empty(), "{forgotten:?}");
    }
}
