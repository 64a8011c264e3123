//! How a tool says that it failed: one text, because clients show nothing else of a failure.

use std::fmt;

use hyphae_core::{memories::MemoryError, ports::StoreError, text};

use crate::access::CannotOpen;

/// What a program can tell failures by. The names are a promise: they never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// An argument is missing, unknown or not what it must be.
    InvalidArgument,
    /// No such project.
    UnknownProject,
    /// The key opens nothing.
    Unauthorized,
    /// Another process holds the database.
    StoreLocked,
    /// No room is left.
    StoreFull,
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
            Self::UnknownProject => "unknown_project",
            Self::Unauthorized => "unauthorized",
            Self::StoreLocked => "store_locked",
            Self::StoreFull => "store_full",
            Self::StoreUnavailable => "store_unavailable",
            Self::EmbedderUnavailable => "embedder_unavailable",
            Self::Cancelled => "cancelled",
            Self::Internal => "internal",
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
}

impl ToolError {
    pub(crate) fn new(code: Code, problem: impl Into<String>) -> Self {
        Self {
            code,
            argument: None,
            problem: problem.into(),
            next: None,
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
        match error {
            MemoryError::Store(error) => error.into(),
            MemoryError::Embed(_) => Self::new(Code::EmbedderUnavailable, error.to_string())
                .next("call again; if it fails again, run `hyphae-server doctor`"),
            MemoryError::Content(_) => {
                let (problem, next) = split(&error.to_string());
                Self {
                    next,
                    ..Self::new(Code::InvalidArgument, problem).about("content")
                }
            }
            MemoryError::EmptyQuery | MemoryError::LongQuery { .. } => {
                let (problem, next) = split(&error.to_string());
                Self {
                    next,
                    ..Self::new(Code::InvalidArgument, problem).about("query")
                }
            }
            _ => Self::new(Code::Internal, error.to_string()),
        }
    }
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        let code = code_of(&error);
        let (problem, next) = split(&error.to_string());
        let next = next.unwrap_or_else(|| "run `hyphae-server doctor`, then call again".to_owned());
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
        let next = next.unwrap_or_else(|| "run `hyphae-server doctor`, then call again".to_owned());
        Self::new(code, problem).next(next)
    }
}

fn code_of(error: &StoreError) -> Code {
    if matches!(error, StoreError::Locked) {
        Code::StoreLocked
    } else if matches!(error, StoreError::Full) {
        Code::StoreFull
    } else {
        Code::StoreUnavailable
    }
}

/// The messages of the core say what is wrong and, behind a semicolon, what to do.
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
