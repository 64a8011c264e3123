//! From a method's name and its fields to whoever does the work. What is refused here disturbs
//! nothing.

use std::{panic::AssertUnwindSafe, path::PathBuf};

use hyphae_core::ids::SessionId;
use tracing::Instrument;

use super::{
    connection::{Connection, Phase, Request},
    lane::{History, Job},
};
use crate::{
    convert,
    kept::page,
    options::Unstable,
    requests::{Fields, NamedSession, Unread},
    wire::{Outgoing, Params, Rejection, RequestId, RpcError},
};

impl Connection {
    /// Reads a request and starts it. What is refused here disturbs nothing.
    pub(super) async fn request(
        &mut self,
        id: RequestId,
        method: &str,
        params: Params<'_>,
        bytes: usize,
    ) -> Result<(), Rejection> {
        let refused = |error| Rejection {
            id: id.clone(),
            error,
        };
        if self.phase == Phase::Fresh && method != "initialize" {
            return Err(refused(RpcError::invalid_request(
                "`initialize` comes before everything else".into(),
            )));
        }
        if !self.knows(method) {
            return Err(refused(RpcError::method_not_found()));
        }
        let fields = Fields::read(params).map_err(|unread| match unread {
            Unread::NotJson => Rejection::unparsable(),
            Unread::Bad(error) => refused(error),
        })?;
        let span = tracing::info_span!(
            "request",
            method,
            traceparent = fields.traceparent().map(tracing::field::display),
        );
        let room = self.make_room(bytes).await;
        let request = Request {
            id: id.clone(),
            method,
            fields,
            room,
            span: span.clone(),
        };
        span.in_scope(|| self.dispatch(request)).map_err(refused)
    }

    fn knows(&self, method: &str) -> bool {
        match method {
            "initialize" | "authenticate" | "session/new" | "session/load" | "session/resume"
            | "session/list" | "session/close" | "session/delete" | "session/prompt" => true,
            "session/fork" => self.host.options.unstable == Unstable::Offered,
            _ => false,
        }
    }

    fn dispatch(&mut self, mut request: Request<'_>) -> Result<(), RpcError> {
        let fields = &mut request.fields;
        match request.method {
            "initialize" => {
                fields.protocol_version()?;
                tracing::info!(
                    client = fields.client_name().unwrap_or("unnamed"),
                    "initialize"
                );
                self.phase = Phase::Initialized;
                let options = &self.host.options;
                let profile = self.host.agent.profile();
                let answer = convert::initialized(profile, &options.auth, options.unstable);
                let answer = Outgoing::answer(&request.id, answer);
                self.reply(answer, request.room);
            }
            "authenticate" => {
                if fields.method_id()? != self.host.options.auth.id {
                    return Err(RpcError::invalid_params(
                        "methodId",
                        "expected an id from `authMethods`",
                    ));
                }
                let answer = Outgoing::answer(&request.id, convert::authenticated());
                self.reply(answer, request.room);
            }
            "session/new" => {
                let cwd = fields.cwd()?;
                log_servers(&fields.setup()?);
                let id = SessionId::new(self.host.clock.new_id());
                self.errand(id, request, Job::Create { cwd }, None);
            }
            "session/load" => self.open(request, History::Replayed)?,
            "session/resume" => self.open(request, History::Kept)?,
            "session/fork" => {
                let cwd = fields.cwd()?;
                log_servers(&fields.setup()?);
                let named = fields.session_id()?;
                let source = named.id().ok_or_else(|| named.not_found())?;
                let id = SessionId::new(self.host.clock.new_id());
                self.errand(id, request, Job::Fork { source, cwd }, None);
            }
            "session/list" => {
                let cwd = fields.cwd_filter()?;
                let after = fields.after()?;
                self.list(request, cwd, after);
            }
            "session/close" => {
                let id = self.open_session(fields.session_id()?)?;
                self.cancel_prompts(id);
                self.errand(id, request, Job::Close, None);
            }
            "session/delete" => match fields.session_id()?.id() {
                Some(id) => {
                    self.cancel_prompts(id);
                    self.errand(id, request, Job::Delete, None);
                }
                None => {
                    let answer = Outgoing::answer(&request.id, convert::session_deleted());
                    self.reply(answer, request.room);
                }
            },
            _ => self.prompt(request)?,
        }
        Ok(())
    }

    fn open(&mut self, request: Request<'_>, history: History) -> Result<(), RpcError> {
        let fields = &request.fields;
        let named = fields.session_id()?;
        let cwd = fields.cwd()?;
        log_servers(&fields.setup()?);
        let id = named.id().ok_or_else(|| named.not_found())?;
        self.errand(id, request, Job::Open { cwd, history }, None);
        Ok(())
    }

    /// Starts a turn. A prompt that is taken ends the turns before it; one that is not leaves
    /// them alone.
    fn prompt(&mut self, mut request: Request<'_>) -> Result<(), RpcError> {
        let agent = &self.host.agent;
        let fields = &mut request.fields;
        let named_id = fields.session_id()?.id();
        let blocks = fields.prompt(agent.profile().accepts)?;
        let id = match named_id {
            Some(id) => self.open_session_id(id).ok_or(()),
            None => Err(()),
        };
        let Ok(id) = id else {
            return Err(fields.session_id()?.not_found());
        };
        match std::panic::catch_unwind(AssertUnwindSafe(|| agent.check_prompt(&blocks))) {
            Ok(Ok(())) => {}
            Ok(Err(refusal)) => return Err(RpcError::invalid_params("prompt", &refusal.message)),
            Err(_) => return Err(RpcError::internal("the agent could not judge this prompt")),
        }
        self.cancel_prompts(id);
        self.errand(id, request, Job::Prompt(blocks), Some(id));
        Ok(())
    }

    fn open_session(&self, named: NamedSession<'_>) -> Result<SessionId, RpcError> {
        named
            .id()
            .and_then(|id| self.open_session_id(id))
            .ok_or_else(|| named.not_found())
    }

    /// Returns the id if somebody works on that session. Whether it is open its lane knows.
    fn open_session_id(&self, id: SessionId) -> Option<SessionId> {
        self.lanes.contains_key(&id).then_some(id)
    }

    fn list(&mut self, request: Request<'_>, cwd: Option<PathBuf>, after: Option<SessionId>) {
        let span = request.span.clone();
        let ticket = self.ticket(request, None);
        let host = self.host.clone();
        let listing = async move {
            let (sessions, owner) = (&*host.sessions, host.owner);
            let answer = page(sessions, owner, host.options.page, cwd, after).await;
            ticket.answer(answer).await;
        };
        self.tasks.spawn(listing.instrument(span));
    }
}

fn log_servers(names: &[String]) {
    if !names.is_empty() {
        tracing::info!(
            ?names,
            "the client's MCP servers are not used by this agent"
        );
    }
}
