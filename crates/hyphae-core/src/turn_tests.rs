use pretty_assertions::assert_eq;
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::ids::MessageId;

fn turn_id() -> TurnId {
    TurnId::new(Uuid::from_u128(1))
}

fn text(text: &str) -> AgentEvent {
    message(1, text)
}

fn message(id: u128, text: &str) -> AgentEvent {
    AgentEvent::Message {
        message: MessageId::new(Uuid::from_u128(id)),
        text: text.to_owned(),
    }
}

fn card(id: &str, status: ToolStatus) -> AgentEvent {
    AgentEvent::Tool(ToolCard {
        id: id.to_owned(),
        title: "look".to_owned(),
        status,
        text: None,
    })
}

fn said(event: AgentEvent) -> TurnInput {
    TurnInput::Said {
        turn: turn_id(),
        event,
    }
}

fn returned(end: AgentEnd) -> TurnInput {
    TurnInput::Returned {
        turn: turn_id(),
        end,
    }
}

fn ended() -> TurnInput {
    returned(AgentEnd::Stopped(StopReason::EndTurn))
}

fn failed(message: &str) -> TurnOutcome {
    TurnOutcome::Failed {
        message: message.to_owned(),
    }
}

#[track_caller]
fn check(inputs: impl IntoIterator<Item = TurnInput>, want: &[TurnEffect]) {
    let mut turn = Turn::new(turn_id());
    let got: Vec<_> = inputs.into_iter().flat_map(|i| turn.step(i)).collect();
    assert_eq!(got, want);
}

use StopReason::{Cancelled, EndTurn};
use TurnEffect::{AbandonAgent, Answer, Commit, Show, StopAgent};
use TurnOutcome::Stopped;

#[test]
fn a_turn_shows_what_is_said_keeps_it_and_answers() {
    check(
        [said(text("hi")), ended(), TurnInput::Committed],
        &[
            Show(text("hi")),
            Commit(Some(EndTurn)),
            Answer(Stopped(EndTurn)),
        ],
    );
}

#[test]
fn a_cancel_stops_the_agent_and_drops_its_last_words() {
    check(
        [
            TurnInput::Cancelled,
            TurnInput::Cancelled,
            said(text("late")),
            ended(),
            TurnInput::Committed,
            said(text("later")),
        ],
        &[
            StopAgent,
            Commit(Some(Cancelled)),
            Answer(Stopped(Cancelled)),
        ],
    );
}

#[test]
fn an_agent_that_fails_because_of_a_cancel_was_cancelled() {
    check(
        [
            TurnInput::Cancelled,
            returned(AgentEnd::Failed {
                message: "interrupted".to_owned(),
            }),
            TurnInput::Committed,
        ],
        &[
            StopAgent,
            Commit(Some(Cancelled)),
            Answer(Stopped(Cancelled)),
        ],
    );
}

#[test]
fn a_stuck_agent_is_left_behind() {
    check(
        [
            said(card("a", ToolStatus::InProgress)),
            TurnInput::Cancelled,
            TurnInput::SettleExpired,
            said(text("late")),
            TurnInput::Committed,
            ended(),
        ],
        &[
            Show(card("a", ToolStatus::InProgress)),
            StopAgent,
            AbandonAgent,
            Show(card("a", ToolStatus::Failed)),
            Commit(Some(Cancelled)),
            Answer(Stopped(Cancelled)),
        ],
    );
}

#[test]
fn an_agent_may_close_its_cards_after_a_cancel_but_open_none() {
    check(
        [
            said(card("a", ToolStatus::Pending)),
            TurnInput::Cancelled,
            said(card("b", ToolStatus::Pending)),
            said(card("b", ToolStatus::Completed)),
            said(card("a", ToolStatus::Completed)),
            ended(),
        ],
        &[
            Show(card("a", ToolStatus::Pending)),
            StopAgent,
            Show(card("a", ToolStatus::Completed)),
            Commit(Some(Cancelled)),
        ],
    );
}

#[test]
fn a_failed_agent_is_answered_with_its_message_after_all_is_kept() {
    check(
        [
            said(text("hm")),
            returned(AgentEnd::Failed {
                message: "no store".to_owned(),
            }),
            TurnInput::Committed,
        ],
        &[Show(text("hm")), Commit(None), Answer(failed("no store"))],
    );
}

#[test]
fn a_transcript_that_cannot_be_kept_is_an_error_not_a_silent_loss() {
    let full = || TurnInput::StoreFailed {
        message: "disk full".to_owned(),
    };
    check(
        [ended(), full()],
        &[Commit(Some(EndTurn)), Answer(failed("disk full"))],
    );
    check(
        [full(), ended(), TurnInput::Committed],
        &[StopAgent, Commit(None), Answer(failed("disk full"))],
    );
}

#[test]
fn words_of_another_turn_are_dropped() {
    let other = TurnId::new(Uuid::from_u128(2));
    check(
        [
            TurnInput::Said {
                turn: other,
                event: text("old"),
            },
            TurnInput::Returned {
                turn: other,
                end: AgentEnd::Stopped(EndTurn),
            },
            said(text("new")),
        ],
        &[Show(text("new"))],
    );
}

#[test]
fn pieces_of_one_message_become_one_entry() {
    let mut buffer = TranscriptBuffer::new(turn_id());
    for event in [
        message(1, "a"),
        message(1, "b"),
        message(2, "c"),
        message(1, "d"),
    ] {
        buffer.push(TranscriptEvent::Agent(event));
    }
    let got: Vec<_> = buffer
        .entries()
        .iter()
        .map(|entry| entry.event.clone())
        .collect();
    assert_eq!(
        got,
        [message(1, "ab"), message(2, "c"), message(1, "d")].map(TranscriptEvent::Agent)
    );
}

#[test]
fn a_buffer_is_full_by_bytes_however_they_come() {
    let mut buffer = TranscriptBuffer::new(turn_id());
    for _ in 0..63 {
        buffer.push(TranscriptEvent::Agent(text(&"x".repeat(1024))));
    }
    assert!(!buffer.is_full());
    buffer.push(TranscriptEvent::Agent(text(&"x".repeat(1024))));
    assert!(buffer.is_full());
    buffer.clear();
    assert!(!buffer.is_full() && buffer.entries().is_empty());
}

fn any_input() -> impl Strategy<Value = TurnInput> {
    let status = prop_oneof![
        Just(ToolStatus::Pending),
        Just(ToolStatus::InProgress),
        Just(ToolStatus::Completed),
        Just(ToolStatus::Failed),
    ];
    prop_oneof![
        Just(TurnInput::Cancelled),
        "[ab]".prop_map(|t| said(text(&t))),
        ("[abc]", status).prop_map(|(id, status)| said(card(&id, status))),
        Just(ended()),
        Just(returned(AgentEnd::Failed {
            message: "no".to_owned()
        })),
        Just(TurnInput::SettleExpired),
        Just(TurnInput::StoreFailed {
            message: "full".to_owned()
        }),
        Just(TurnInput::Committed),
    ]
}

proptest! {
    /// Whatever happens in whatever order, followed by what always happens at last.
    #[test]
    fn every_turn_ends_once_with_its_cards_closed(
        mut inputs in proptest::collection::vec(any_input(), 0..40)
    ) {
        inputs.extend([ended(), TurnInput::Committed, said(text("late")), TurnInput::Cancelled]);
        let mut turn = Turn::new(turn_id());
        let effects: Vec<_> = inputs.into_iter().flat_map(|i| turn.step(i)).collect();

        prop_assert!(turn.is_over());
        let answers = effects.iter().filter(|e| matches!(e, Answer(_))).count();
        prop_assert_eq!(answers, 1);
        prop_assert!(matches!(effects.last(), Some(Answer(_))));
        prop_assert!(matches!(effects[effects.len() - 2], Commit(_)));

        let mut open = std::collections::BTreeSet::new();
        for effect in &effects {
            if let Show(AgentEvent::Tool(card)) = effect {
                if card.status.is_final() {
                    open.remove(&card.id);
                } else {
                    open.insert(&card.id);
                }
            }
        }
        prop_assert!(open.is_empty(), "still open: {:?}", open);
    }
}
