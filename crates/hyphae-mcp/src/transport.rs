//! One message a line, over any pair of byte streams.
//!
//! The library's own transport is not used because of what it leaves undone: it answers no line
//! that it cannot read, drops a last line without a newline, does not number what it receives,
//! reads on while nobody takes the answers, and loses the answers to calls that run for more
//! than a few seconds after the end of the input.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rmcp::{
    RoleServer,
    model::{
        ClientJsonRpcMessage, ClientRequest, GetExtensions, JsonRpcMessage, ServerJsonRpcMessage,
    },
    transport::Transport,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    task::JoinHandle,
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::{
    lines::{Line, LineReader},
    messages::{self, Understood},
    order::{Effect, Order, Ticket},
    tools,
};

/// The longest line taken, in bytes. A memory is far smaller; what is over it is no mistake of a
/// model but a broken client.
const LONGEST_LINE: usize = 16 << 20;

/// Calls that may be running or waiting at once; the next is read when one of them has ended.
const MOST_CALLS: u32 = 256;

/// Answers that may wait for a client that does not read; nothing more is read meanwhile.
const MOST_UNSENT: usize = 1024;

/// How long the calls that still run at the end of the input may take.
const GRACE: Duration = Duration::from_secs(60);

/// What a call carries through the library to its handler.
#[derive(Debug)]
pub(crate) struct Admission {
    pub(crate) ticket: Ticket,
    _place: OwnedSemaphorePermit,
}

/// Moments of a connection that others wait for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Milestones {
    /// The first answer has left.
    pub(crate) answered: CancellationToken,
    /// The input has ended, and all calls have.
    pub(crate) ended: CancellationToken,
    /// The library has opened the session and takes any message.
    pub(crate) serving: Arc<AtomicBool>,
}

/// The server's end of a connection.
#[derive(Debug)]
pub(crate) struct LineTransport<R> {
    lines: LineReader<R>,
    order: Order,
    places: Arc<Semaphore>,
    place: Option<OwnedSemaphorePermit>,
    output: mpsc::Sender<Vec<u8>>,
    refusal: Option<ServerJsonRpcMessage>,
    input_ended: Option<Instant>,
    milestones: Milestones,
}

/// What writes to the client. It ends when all senders are gone and all is written.
pub(crate) type Writer = JoinHandle<io::Result<()>>;

impl<R: AsyncRead + Unpin> LineTransport<R> {
    /// Starts the writer of a connection.
    pub(crate) fn new<W>(input: R, output: W, milestones: Milestones) -> (Self, Writer)
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (sender, receiver) = mpsc::channel(MOST_UNSENT);
        let writer = tokio::spawn(write(output, receiver, milestones.answered.clone()));
        let transport = Self {
            lines: LineReader::new(input, LONGEST_LINE),
            order: Order::default(),
            places: Arc::new(Semaphore::new(MOST_CALLS as usize)),
            place: None,
            output: sender,
            refusal: None,
            input_ended: None,
            milestones,
        };
        (transport, writer)
    }

    /// Gives a call its place in the order.
    fn admit(&mut self, message: &mut ClientJsonRpcMessage) {
        let JsonRpcMessage::Request(request) = message else {
            return;
        };
        let Some(effect) = effect_of(&request.request) else {
            return;
        };
        // There is always one: it was taken before the line was read.
        if let Some(place) = self.place.take() {
            let admission = Admission {
                ticket: self.order.take(effect),
                _place: place,
            };
            request.request.extensions_mut().insert(Arc::new(admission));
        }
    }

    /// Before the session is open the library takes requests only, and ends at anything else.
    fn is_early(&self, message: &ClientJsonRpcMessage) -> bool {
        !matches!(message, JsonRpcMessage::Request(_))
            && !self.milestones.serving.load(Ordering::Relaxed)
    }
}

/// Returns what a request does to the memory; none if it does not look at it.
fn effect_of(request: &ClientRequest) -> Option<Effect> {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "all that is left asks about this program, not about the memory"
    )]
    match request {
        ClientRequest::CallToolRequest(call) => tools::effect_of(&call.params.name),
        ClientRequest::ReadResourceRequest(_)
        | ClientRequest::GetPromptRequest(_)
        | ClientRequest::CompleteRequest(_) => Some(Effect::Reads),
        _ => None,
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for LineTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = self.output.clone();
        async move {
            let line = line_of(&message)?;
            output.send(line).await.map_err(|_| gone())
        }
    }

    /// Cancel-safe: the library drops this at any time and calls it again.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // Waits while the client does not read, and ends when it cannot any more.
            let room = self.output.reserve().await.ok()?;
            if let Some(refusal) = self.refusal.take() {
                tracing::debug!("a line was refused");
                room.send(line_of(&refusal).ok()?);
                continue;
            }
            drop(room);
            if let Some(ended) = self.input_ended {
                let all = self.places.acquire_many(MOST_CALLS);
                if tokio::time::timeout_at(ended + GRACE, all).await.is_err() {
                    tracing::warn!("calls were still running long after the end of the input");
                }
                self.milestones.ended.cancel();
                return None;
            }
            if self.place.is_none() {
                self.place = Arc::clone(&self.places).acquire_owned().await.ok();
            }
            let understood = match self.lines.next().await {
                Ok(Some(Line::Whole(line))) => messages::understand(line),
                Ok(Some(Line::TooLong)) => {
                    Understood::Refused(Box::new(messages::too_long(LONGEST_LINE)))
                }
                Ok(None) => {
                    self.input_ended = Some(Instant::now());
                    self.place = None;
                    continue;
                }
                Err(error) => {
                    tracing::warn!(%error, "the input cannot be read any more");
                    self.input_ended = Some(Instant::now());
                    self.place = None;
                    continue;
                }
            };
            match understood {
                Understood::Message(message) if self.is_early(&message) => {}
                Understood::Message(mut message) => {
                    self.admit(&mut message);
                    return Some(*message);
                }
                Understood::Nothing => {}
                Understood::Refused(refusal) => self.refusal = Some(*refusal),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        let (closed, _) = mpsc::channel(1);
        self.output = closed;
        Ok(())
    }
}

fn line_of(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

fn gone() -> io::Error {
    io::Error::new(
        io::ErrorKind::BrokenPipe,
        "the client does not read any more",
    )
}

/// Writes lines in order, those that wait together at once.
async fn write<W: AsyncWrite + Unpin>(
    mut output: W,
    mut lines: mpsc::Receiver<Vec<u8>>,
    answered: CancellationToken,
) -> io::Result<()> {
    const AT_ONCE: usize = 64;
    let mut waiting = Vec::new();
    while lines.recv_many(&mut waiting, AT_ONCE).await > 0 {
        output.write_all(&waiting.concat()).await?;
        output.flush().await?;
        waiting.clear();
        answered.cancel();
    }
    Ok(())
}
