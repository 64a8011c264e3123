//! The way out: one order, bounded, written by one task.
//!
//! A full outbox makes whoever wants to send wait. While the client is slow, pieces of one
//! message that stand behind each other are joined.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hyphae_core::ids::{MessageId, SessionId};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::{Notify, Semaphore, SemaphorePermit},
};

use super::{RequestId, RpcError};
use crate::convert;

/// Joined pieces are not made longer than this.
const JOINED_BYTES: usize = 64 * 1024;

/// What an entry weighs beside its text.
const ENTRY_BYTES: usize = 256;

/// The write buffer is given back when one line made it larger than this.
const KEPT_BYTES: usize = 256 * 1024;

/// Whose words a piece of a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    User,
    Agent,
    Thought,
}

/// A piece of text in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) session: SessionId,
    pub(crate) speaker: Speaker,
    pub(crate) message: MessageId,
    pub(crate) text: String,
}

/// The client cannot be written to any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gone;

/// Where everything for the client goes. Cheap to clone; all clones are one queue.
#[derive(Debug, Clone)]
pub(crate) struct Outbox(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Bytes that may still be queued.
    room: Semaphore,
    capacity: u32,
    queue: Mutex<Queue>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    entries: VecDeque<Entry>,
    /// Nothing more comes; the writer ends when it has written all.
    finished: bool,
}

#[derive(Debug)]
struct Entry {
    /// What it took of `room`, and gives back once written.
    cost: u32,
    body: Outgoing,
}

/// Something on its way to the client.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// A whole message, without its newline.
    Line(Vec<u8>),
    /// Text that may be joined with its neighbours.
    Chunk(Chunk),
}

impl Outgoing {
    /// Encodes a result.
    pub(crate) fn answer(id: &RequestId, result: impl Serialize) -> Self {
        Self::Line(encode(&Answer {
            jsonrpc: "2.0",
            id,
            result,
        }))
    }

    /// Encodes an error.
    pub(crate) fn refusal(id: &RequestId, error: &RpcError) -> Self {
        Self::Line(encode(&ErrorAnswer {
            jsonrpc: "2.0",
            id,
            error,
        }))
    }

    /// Encodes an error that somebody else made.
    pub(crate) fn foreign_refusal(id: &RequestId, error: &RawValue) -> Self {
        Self::Line(encode(&ErrorAnswer {
            jsonrpc: "2.0",
            id,
            error,
        }))
    }

    /// Encodes a notification.
    pub(crate) fn notification(method: &str, params: impl Serialize) -> Self {
        Self::Line(encode(&Notice {
            jsonrpc: "2.0",
            method,
            params,
        }))
    }

    fn cost(&self, capacity: u32) -> u32 {
        let bytes = match self {
            Self::Line(line) => line.len(),
            Self::Chunk(chunk) => chunk.text.len(),
        };
        u32::try_from(bytes + ENTRY_BYTES)
            .unwrap_or(u32::MAX)
            .min(capacity)
    }
}

/// Room for one [`Outgoing`]; given back if it is not used.
#[derive(Debug)]
pub(crate) struct Room<'a> {
    permit: SemaphorePermit<'a>,
    cost: u32,
}

#[derive(Serialize)]
struct Answer<'a, T> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    result: T,
}

#[derive(Serialize)]
struct ErrorAnswer<'a, E: ?Sized> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    error: &'a E,
}

#[derive(Serialize)]
struct Notice<'a, T> {
    jsonrpc: &'static str,
    method: &'a str,
    params: T,
}

impl Outbox {
    pub(crate) fn new(capacity: usize) -> Self {
        let capacity = u32::try_from(capacity.max(ENTRY_BYTES)).unwrap_or(u32::MAX >> 4);
        Self(Arc::new(Shared {
            room: Semaphore::new(capacity as usize),
            capacity,
            queue: Mutex::default(),
            wake: Notify::new(),
        }))
    }

    /// Queues without waiting and without counting, for a request whose task is gone.
    pub(crate) fn send_uncounted(&self, outgoing: Outgoing) {
        self.enqueue(Entry {
            cost: 0,
            body: outgoing,
        });
    }

    /// Queues if there is room now, else gives it back.
    pub(crate) fn try_send(&self, outgoing: Outgoing) -> Result<(), Outgoing> {
        let cost = outgoing.cost(self.0.capacity);
        match self.0.room.try_acquire_many(cost) {
            Ok(permit) => {
                self.put(Room { permit, cost }, outgoing);
                Ok(())
            }
            Err(_) => Err(outgoing),
        }
    }

    /// Queues anything; waits while the queue is full. A dropped call queues nothing.
    pub(crate) async fn send(&self, outgoing: Outgoing) -> Result<(), Gone> {
        let room = self.room_for(&outgoing).await?;
        self.put(room, outgoing);
        Ok(())
    }

    /// Waits for room. What is larger than the whole queue gets all of it.
    pub(crate) async fn room_for(&self, outgoing: &Outgoing) -> Result<Room<'_>, Gone> {
        let cost = outgoing.cost(self.0.capacity);
        let permit = self.0.room.acquire_many(cost).await.map_err(|_| Gone)?;
        Ok(Room { permit, cost })
    }

    /// Queues what the room was for.
    pub(crate) fn put(&self, room: Room<'_>, outgoing: Outgoing) {
        room.permit.forget();
        self.enqueue(Entry {
            cost: room.cost,
            body: outgoing,
        });
    }

    fn enqueue(&self, entry: Entry) {
        let mut queue = self.queue();
        if let Some(entry) = joined(queue.entries.back_mut(), entry) {
            queue.entries.push_back(entry);
        }
        drop(queue);
        self.0.wake.notify_one();
    }

    /// Tells the writer to end once everything queued is written.
    pub(crate) fn finish(&self) {
        self.queue().finished = true;
        self.0.wake.notify_one();
    }

    /// Drops everything: the client is gone, and who waits to send is told so.
    pub(crate) fn abandon(&self) {
        self.0.room.close();
        self.queue().entries.clear();
    }

    /// Writes what is queued, line by line, until [`Self::finish`] and the queue is empty.
    pub(crate) async fn write_to<W: AsyncWrite + Unpin>(&self, mut writer: W) -> io::Result<()> {
        let mut line = Vec::new();
        while let Some(entry) = self.next().await {
            // One write a line: a reader never sees half of one for longer than it must.
            line.clear();
            line.shrink_to(KEPT_BYTES);
            match entry.body {
                Outgoing::Line(bytes) => line = bytes,
                Outgoing::Chunk(chunk) => line = encode_chunk(line, chunk),
            }
            line.push(b'\n');
            writer.write_all(&line).await?;
            writer.flush().await?;
            self.0.room.add_permits(entry.cost as usize);
        }
        writer.shutdown().await
    }

    async fn next(&self) -> Option<Entry> {
        loop {
            let woken = self.0.wake.notified();
            {
                let mut queue = self.queue();
                if let Some(entry) = queue.entries.pop_front() {
                    return Some(entry);
                }
                if queue.finished {
                    return None;
                }
            }
            woken.await;
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Appends `entry` to `last` if both are pieces of one message, else gives it back.
fn joined(last: Option<&mut Entry>, entry: Entry) -> Option<Entry> {
    let (
        Some(Entry {
            cost,
            body: Outgoing::Chunk(old),
        }),
        Outgoing::Chunk(new),
    ) = (last, &entry.body)
    else {
        return Some(entry);
    };
    let same = old.session == new.session
        && old.speaker == new.speaker
        && old.message == new.message
        && old.text.len() + new.text.len() <= JOINED_BYTES;
    if !same {
        return Some(entry);
    }
    old.text.push_str(&new.text);
    *cost += entry.cost;
    None
}

fn encode_chunk(mut line: Vec<u8>, chunk: Chunk) -> Vec<u8> {
    let notice = Notice {
        jsonrpc: "2.0",
        method: convert::SESSION_UPDATE,
        params: convert::chunk(chunk),
    };
    write_json(&mut line, &notice);
    line
}

fn encode(message: &impl Serialize) -> Vec<u8> {
    let mut line = Vec::with_capacity(ENTRY_BYTES);
    write_json(&mut line, message);
    line
}

/// Writes a message of ours. It cannot fail: the keys are strings and memory does not err. Were
/// a type to break that, the line is replaced by one that at least is a message.
fn write_json(line: &mut Vec<u8>, message: &impl Serialize) {
    if let Err(error) = serde_json::to_writer(&mut *line, message) {
        tracing::error!(%error, "a message could not be encoded");
        line.clear();
        line.extend_from_slice(br#"{"jsonrpc":"2.0","method":"_hyphae/lost","params":{}}"#);
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    fn piece(message: u128, text: &str) -> Outgoing {
        Outgoing::Chunk(Chunk {
            session: SessionId::new(Uuid::from_u128(1)),
            speaker: Speaker::Agent,
            message: MessageId::new(Uuid::from_u128(message)),
            text: text.to_owned(),
        })
    }

    fn line(text: &str) -> Outgoing {
        Outgoing::notification(text, json!({}))
    }

    /// What the client reads when it starts to read only after everything was queued.
    async fn written(outbox: &Outbox) -> Vec<String> {
        outbox.finish();
        let mut out = Vec::new();
        outbox.write_to(&mut out).await.unwrap();
        let text = String::from_utf8(out).unwrap();
        text.lines()
            .map(|line| {
                let message: serde_json::Value = serde_json::from_str(line).unwrap();
                let text = message["params"]["update"]["content"]["text"].as_str();
                text.unwrap_or(message["method"].as_str().unwrap())
                    .to_owned()
            })
            .collect()
    }

    #[tokio::test]
    async fn only_neighbours_of_one_message_are_joined() {
        let outbox = Outbox::new(1 << 20);
        for outgoing in [
            piece(1, "a"),
            piece(1, "b"),
            piece(2, "c"),
            piece(1, "d"),
            line("x"),
            piece(1, "e"),
            piece(1, "f"),
        ] {
            outbox.send(outgoing).await.unwrap();
        }
        assert_eq!(written(&outbox).await, ["ab", "c", "d", "x", "ef"]);
    }

    #[tokio::test]
    async fn joined_pieces_have_a_limit() {
        let outbox = Outbox::new(1 << 20);
        let half = "x".repeat(JOINED_BYTES / 2);
        for _ in 0..4 {
            outbox.send(piece(1, &half)).await.unwrap();
        }
        let lengths: Vec<_> = written(&outbox).await.iter().map(String::len).collect();
        assert_eq!(lengths, [JOINED_BYTES, JOINED_BYTES]);
    }

    #[tokio::test]
    async fn a_full_queue_takes_nothing_until_something_is_written() {
        let outbox = Outbox::new(4 * ENTRY_BYTES);
        outbox.send(line("a")).await.unwrap();
        outbox.send(line("b")).await.unwrap();
        assert!(outbox.try_send(line(&"c".repeat(600))).is_err());
        let waiting = tokio::spawn({
            let outbox = outbox.clone();
            async move { outbox.send(line(&"d".repeat(600))).await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        let (client, server) = tokio::io::duplex(1 << 16);
        let writing = tokio::spawn({
            let outbox = outbox.clone();
            async move { outbox.write_to(server).await }
        });
        assert_eq!(waiting.await.unwrap(), Ok(()));
        outbox.finish();
        writing.await.unwrap().unwrap();
        drop(client);
    }

    #[tokio::test]
    async fn a_message_larger_than_the_queue_passes_alone() {
        let outbox = Outbox::new(1000);
        let huge = "x".repeat(100_000);
        outbox.send(line(&huge)).await.unwrap();
        assert!(outbox.try_send(line("y")).is_err());
        assert_eq!(written(&outbox).await, [huge]);
        assert!(outbox.try_send(line("y")).is_ok());
    }

    #[tokio::test]
    async fn room_that_is_not_used_is_given_back() {
        let outbox = Outbox::new(1000);
        let outgoing = line(&"x".repeat(700));
        for _ in 0..3 {
            drop(outbox.room_for(&outgoing).await.unwrap());
        }
        assert!(outbox.try_send(outgoing).is_ok());
    }

    #[tokio::test]
    async fn who_waits_for_a_client_that_is_gone_is_told() {
        let outbox = Outbox::new(1000);
        outbox.send(line(&"x".repeat(700))).await.unwrap();
        let waiting = tokio::spawn({
            let outbox = outbox.clone();
            async move { outbox.send(line(&"y".repeat(700))).await }
        });
        tokio::task::yield_now().await;
        outbox.abandon();
        assert_eq!(waiting.await.unwrap(), Err(Gone));
    }
}
