//! What users of other memory servers ran into, and what shows that it does not happen here.
//!
//! Each is named by what happened to them. What cannot happen says why.

use std::{collections::BTreeSet, fs, path::Path};

use crate::layers::sources;

/// What shows it.
enum Shown {
    /// Tests of these names, somewhere in the workspace.
    By(&'static [&'static str]),
    /// It cannot happen.
    Because(&'static str),
}

use Shown::{Because, By};

const PROBLEMS: [(&str, Shown); 30] = [
    (
        "1 calls at once corrupt the file for good",
        By(&["four_processes_lose_nothing"]),
    ),
    (
        "2 two processes discard each other's writes",
        By(&["four_processes_lose_nothing"]),
    ),
    (
        "3 of several stores sent together a few survive",
        By(&["a_recall_behind_fifty_stores_sees_them_all"]),
    ),
    (
        "4 a queued store is dropped later and nobody is told",
        By(&["what_was_acknowledged_survives_a_kill"]),
    ),
    (
        "5 what was stored lives in memory only",
        By(&[
            "what_one_process_stores_another_recalls_and_so_does_the_console",
            "nothing_is_stored_in_a_database_that_was_taken_away",
        ]),
    ),
    (
        "6 merging similar texts loses the older one",
        By(&["storing_says_what_became_of_it"]),
    ),
    (
        "7 deduplication deletes both twins",
        By(&["storing_says_what_became_of_it"]),
    ),
    (
        "8 a write overwrites what was there",
        By(&["a_memory_is_changed_by_who_knows_its_revision_and_keeps_its_history"]),
    ),
    (
        "9 loading a model on start exceeds the client's patience",
        By(&["tools_are_listed_before_there_is_any_database"]),
    ),
    (
        "10 embedding what is missing blocks the handshake",
        By(&["what_asks_nothing_of_the_memory_is_answered_while_a_call_runs"]),
    ),
    (
        "11 the first embedding takes longer than the client waits",
        Because(
            "the models are inside the program; loading one and filling an index of 10,000 takes 30 ms (docs/measurements.md)",
        ),
    ),
    (
        "12 helper processes are left behind",
        By(&[
            "a_client_that_leaves_at_once_is_no_failure",
            "a_shutdown_ends_what_runs",
        ]),
    ),
    (
        "13 whoever holds the database stops all others for good",
        By(&["a_database_that_stays_locked_is_told_and_works_afterwards"]),
    ),
    (
        "14 a line of log on stdout ends the connection",
        By(&["the_log_holds_neither_questions_nor_memories"]),
    ),
    (
        "15 writers at once corrupt the search index",
        Because(
            "the index is in memory, one a process, filled from the committed order of changes",
        ),
    ),
    (
        "16 the server ends at server/discover",
        By(&[
            "a_client_of_2026_discovers_and_every_request_says_its_version",
            "a_client_may_ask_in_one_era_and_go_on_in_the_other",
        ]),
    ),
    (
        "17 a schema makes all calls of a session fail",
        By(&["schemas_use_only_what_every_client_takes"]),
    ),
    (
        "18 lists come as texts, null comes in quotes",
        By(&[
            "arguments_are_read_as_clients_send_them",
            "lists_are_read_as_clients_send_them",
        ]),
    ),
    (
        "19 names are too long, hints are missing",
        By(&["the_tools_are_these_eleven_and_each_says_what_it_does"]),
    ),
    (
        "20 clients drop the text of a success and the structure of a failure",
        By(&["arguments_are_read_as_clients_send_them"]),
    ),
    (
        "21 an answer floods the context",
        By(&["no_answer_exceeds_its_tokens_however_much_there_is"]),
    ),
    (
        "22 something is always found",
        By(&["a_query_about_nothing_stored_matches_nothing"]),
    ),
    (
        "23 a question finds nothing because of its other words, or of its signs",
        By(&["signs_and_short_words_are_looked_for_and_not_parsed"]),
    ),
    (
        "24 what was superseded comes back; unknown ids succeed",
        By(&[
            "a_contradiction_is_listed_until_somebody_decides_it",
            "another_tenants_and_another_projects_ids_are_as_unknown_as_made_up_ones",
        ]),
    ),
    (
        "25 the project is asked of the model, or dropped",
        By(&["a_project_is_the_start_directory_unless_it_is_named"]),
    ),
    (
        "26 reads and writes go to the neighbour's project",
        By(&["a_project_is_the_start_directory_unless_it_is_named"]),
    ),
    (
        "27 some tools look across projects; spellings hide memories",
        By(&[
            "another_tenants_and_another_projects_ids_are_as_unknown_as_made_up_ones",
            "prompts_carry_memories_apart_from_what_they_ask",
        ]),
    ),
    (
        "28 a memory is taken for an instruction; anybody overwrites by id",
        By(&[
            "prompts_carry_memories_apart_from_what_they_ask",
            "another_tenants_and_another_projects_ids_are_as_unknown_as_made_up_ones",
        ]),
    ),
    (
        "29 keys are kept and recalled",
        By(&["credentials_are_masked_before_anything_keeps_them"]),
    ),
    (
        "30 another embedding model is mixed in, or silently not",
        By(&["another_embedding_model_searches_by_words_and_stores_nothing"]),
    ),
];

#[test]
fn each_of_thirty_problems_has_a_test_or_a_reason() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut tests = BTreeSet::new();
    for file in sources(&crates) {
        let text = fs::read_to_string(file).unwrap();
        let names = text
            .split("fn ")
            .skip(1)
            .filter_map(|rest| rest.split('(').next());
        tests.extend(names.map(str::to_owned));
    }
    let mut missing: Vec<&str> = Vec::new();
    for (at, (problem, shown)) in PROBLEMS.iter().enumerate() {
        assert!(problem.starts_with(&format!("{} ", at + 1)), "{problem}");
        match shown {
            By(names) => {
                missing.extend(names.iter().filter(|name| !tests.contains(**name)).copied());
            }
            Because(reason) => assert!(!reason.is_empty()),
        }
    }
    assert_eq!(missing, [""; 0]);
}
