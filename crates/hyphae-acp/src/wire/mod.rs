//! The connection, below any meaning: lines in, lines out, JSON-RPC around them.

mod envelope;
mod error;
mod frame;
mod outbox;
mod relay;

pub(crate) use envelope::{BadParams, Incoming, Params, Rejection, RequestId, parse};
pub(crate) use error::RpcError;
pub(crate) use frame::{Frame, LineReader};
pub(crate) use outbox::{Chunk, Gone, Outbox, Outgoing, Room, Speaker};
pub(crate) use relay::{Parts, member};

/// Reads `bytes` as a connection would and returns how many requests, notifications,
/// responses and faults it saw. For fuzzing: it must neither panic nor hang.
#[doc(hidden)]
pub fn fuzz_line_reader(bytes: &[u8], frame_limit: usize) -> [usize; 4] {
    let mut seen = [0; 4];
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build() else {
        return seen;
    };
    runtime.block_on(async {
        let mut lines = LineReader::new(bytes, frame_limit);
        while let Ok(Some(frame)) = lines.next().await {
            let kind = match frame {
                Frame::Line(line) => match parse(line) {
                    Ok(Incoming::Request { .. }) => 0,
                    Ok(Incoming::Notification { .. }) => 1,
                    Ok(Incoming::Response) => 2,
                    Err(_) => 3,
                },
                Frame::TooLong { .. } => 3,
            };
            seen[kind] += 1;
        }
    });
    seen
}
