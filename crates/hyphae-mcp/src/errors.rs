//! How a tool says that it failed: one text, because clients show nothing else of a failure.

use std::fmt;

use hyphae_core::{memories::MemoryError, ports::StoreError, scope::Project, text};
use rmcp::model::ErrorCode;

use crate::access::CannotOpen;

/// What a program can tell failures by. The names are a promise: they never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// An argument is missing, unknown or not what it must be.
    InvalidArgument,
    /// No memory, link or conflict that this key can see has such an id.
    NotFound,
    /// Several ids begin with these characters.
    AmbiguousId,
    /// Somebody changed the memory since it was read.
    RevisionConflict,
    /// The memory was retracted or superseded.
    Inactive,
    /// Another memory says the same already.
    Duplicate,
    /// The conflict was decided before.
    ConflictClosed,
    /// An erasure without the token of its preview.
    ConfirmationRequired,
    /// Others kept changing the same memories.
    Contended,
    /// No such project.
    UnknownProject,
    /// The key opens nothing.
    Unauthorized,
    /// Another process holds the database.
    StoreLocked,
    /// No room is left.
    StoreFull,
    /// The memories' vectors belong to another embedding model than this process'.
    OtherModel,
    /// The store cannot be used for another reason.
    StoreUnavailable,
    /// The embedding model cannot be used.
    EmbedderUnavailable,
    /// The client took the call back.
    Cancelled,
    /// A fault of this program.
    Internal,
}

impl Code {
    const fn name(self) -> &'static str {
        match self {
            Self::InvalidArgument => "invalid_argument",
            Self::NotFound => "not_found",
            Self::AmbiguousId => "ambiguous_id",
            Self::RevisionConflict => "revision_conflict",
            Self::Inactive => "inactive",
            Self::Duplicate => "duplicate",
            Self::ConflictClosed => "conflict_closed",
            Self::ConfirmationRequired => "confirmation_required",
            Self::Contended => "contended",
            Self::UnknownProject => "unknown_project",
            Self::Unauthorized => "unauthorized",
            Self::StoreLocked => "store_locked",
            Self::StoreFull => "store_full",
            Self::OtherModel => "other_model",
            Self::StoreUnavailable => "store_unavailable",
            Self::EmbedderUnavailable => "embedder_unavailable",
            Self::Cancelled => "cancelled",
            Self::Internal => "internal",
        }
    }

    /// What to do, where the message does not say it.
    const fn remedy(self) -> Option<&'static str> {
        match self {
            Self::EmbedderUnavailable => {
                Some("call again; if it fails again, run `hyphae-server doctor`")
            }
            Self::RevisionConflict => Some("get the memory again and decide anew"),
            Self::Contended => Some("call again"),
            Self::InvalidArgument => Some("call again with this argument put right"),
            Self::NotFound
            | Self::AmbiguousId
            | Self::Inactive
            | Self::Duplicate
            | Self::ConflictClosed
            | Self::ConfirmationRequired
            | Self::UnknownProject
            | Self::Unauthorized
            | Self::StoreLocked
            | Self::StoreFull
            | Self::OtherModel
            | Self::StoreUnavailable
            | Self::Cancelled
            | Self::Internal => None,
        }
    }
}

/// Why a tool could not do what it was asked: what is wrong, which argument, what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolError {
    code: Code,
    argument: Option<String>,
    problem: String,
    next: Option<String>,
    project: Option<Project>,
}

impl ToolError {
    pub(crate) fn new(code: Code, problem: impl Into<String>) -> Self {
        Self {
            code,
            argument: None,
            problem: problem.into(),
            next: None,
            project: None,
        }
    }

    /// An argument that is not what it must be.
    pub(crate) fn argument(
        name: impl Into<String>,
        problem: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        Self {
            argument: Some(name.into()),
            next: Some(next.into()),
            ..Self::new(Code::InvalidArgument, problem)
        }
    }

    pub(crate) fn about(mut self, argument: impl Into<String>) -> Self {
        self.argument = Some(argument.into());
        self
    }

    pub(crate) fn next(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }

    /// Notes which project the call was about.
    pub(crate) fn in_project(mut self, project: Project) -> Self {
        self.project = Some(project);
        self
    }

    /// Returns the project that the call was about, if it got that far.
    pub(crate) const fn project(&self) -> Option<&Project> {
        self.project.as_ref()
    }

    /// Tells whether the store has to be opened anew before anything can succeed.
    pub(crate) fn is_of_a_lost_store(&self) -> bool {
        self.code == Code::StoreUnavailable
    }

    /// Returns what the protocol calls it, where a failure is no result.
    pub(crate) const fn wire_code(&self) -> ErrorCode {
        if matches!(self.code, Code::NotFound) {
            ErrorCode::RESOURCE_NOT_FOUND
        } else if matches!(
            self.code,
            Code::InvalidArgument | Code::AmbiguousId | Code::UnknownProject
        ) {
            ErrorCode::INVALID_PARAMS
        } else {
            ErrorCode::INTERNAL_ERROR
        }
    }

    /// Returns the code, for the log.
    pub(crate) const fn code(&self) -> &'static str {
        self.code.name()
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error: {}", self.problem)?;
        if let Some(argument) = &self.argument {
            writeln!(f, "argument: {argument}")?;
        }
        if let Some(next) = &self.next {
            writeln!(f, "next: {next}")?;
        }
        write!(f, "code: {}", self.code.name())
    }
}

impl From<MemoryError> for ToolError {
    fn from(error: MemoryError) -> Self {
        let (problem, next) = split(&error.to_string());
        let (code, argument) = match error {
            MemoryError::Store(error) => return error.into(),
            MemoryError::Embed(_) => (Code::EmbedderUnavailable, None),
            MemoryError::Content(_) => (Code::InvalidArgument, Some("content")),
            MemoryError::EmptyQuery | MemoryError::LongQuery { .. } => {
                (Code::InvalidArgument, Some("query"))
            }
            MemoryError::NotFound { .. } => (Code::NotFound, None),
            MemoryError::Ambiguous { .. } => (Code::AmbiguousId, None),
            MemoryError::RevisionConflict { .. } => {
                (Code::RevisionConflict, Some("expected_revision"))
            }
            MemoryError::Inactive { .. } => (Code::Inactive, None),
            MemoryError::Duplicate { .. } => (Code::Duplicate, None),
            MemoryError::SelfLink => (Code::InvalidArgument, Some("to")),
            MemoryError::NoWeight => (Code::InvalidArgument, Some("weight")),
            MemoryError::NoTime => (Code::InvalidArgument, Some("valid_until")),
            MemoryError::ConflictClosed { .. } => (Code::ConflictClosed, Some("conflict_id")),
            MemoryError::NoReason => (Code::InvalidArgument, Some("reason")),
            MemoryError::NotPreviewed => (Code::ConfirmationRequired, Some("confirm")),
            MemoryError::Contended => (Code::Contended, None),
            MemoryError::BadId { .. } | MemoryError::LongText { .. } | MemoryError::Value(_) => {
                (Code::InvalidArgument, None)
            }
            _ => (Code::Internal, None),
        };
        Self {
            code,
            argument: argument.map(str::to_owned),
            problem,
            next: next.or_else(|| code.remedy().map(str::to_owned)),
            project: None,
        }
    }
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        let code = code_of(&error);
        let (problem, next) = split(&error.to_string());
        let next = next.unwrap_or_else(|| DOCTOR.to_owned());
        Self::new(code, problem).next(next)
    }
}

impl From<&CannotOpen> for ToolError {
    fn from(error: &CannotOpen) -> Self {
        let code = match error {
            CannotOpen::Unauthorized { .. } => Code::Unauthorized,
            CannotOpen::Store(error) => code_of(error),
            CannotOpen::Other { .. } => Code::StoreUnavailable,
        };
        let (problem, next) = split(&error.to_string());
        let next = next.unwrap_or_else(|| DOCTOR.to_owned());
        Self::new(code, problem).next(next)
    }
}

const DOCTOR: &str = "run `hyphae-server doctor`, then call again";

fn code_of(error: &StoreError) -> Code {
    if matches!(error, StoreError::Locked) {
        Code::StoreLocked
    } else if matches!(error, StoreError::Full) {
        Code::StoreFull
    } else if matches!(error, StoreError::OtherModel { .. }) {
        Code::OtherModel
    } else if matches!(error, StoreError::Revoked) {
        Code::Unauthorized
    } else {
        Code::StoreUnavailable
    }
}

/// The messages of the core say what is wrong and, behind a semicolon or a colon, what to do.
fn split(message: &str) -> (String, Option<String>) {
    match message.split_once("; ") {
        Some((problem, next)) => (problem.to_owned(), Some(next.to_owned())),
        None => (message.to_owned(), None),
    }
}

/// Returns the beginning of what a client sent, for a message.
pub(crate) fn shown(value: &serde_json::Value) -> String {
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    format!("`{}`", text::shorten(&text, 40))
}
