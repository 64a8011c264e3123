//! Kept sessions in the protocol's words.

use std::path::{Path, PathBuf};

use hyphae_core::{
    ids::SessionId,
    ports::{SessionError, SessionStore},
    scope::Owner,
    session::{PageSize, Session},
};

use crate::{convert, cursor, wire::RpcError};

/// Reads one page of the list, and one row more to know whether there is another page.
pub(crate) async fn page(
    store: &dyn SessionStore,
    owner: Owner,
    size: PageSize,
    cwd: Option<PathBuf>,
    after: Option<SessionId>,
) -> Result<impl serde::Serialize + use<>, RpcError> {
    let size = size.get().min(PageSize::MAX - 1);
    let one_more = PageSize::new(size + 1).unwrap_or_default();
    let mut sessions: Vec<Session> = store
        .sessions(owner, cwd.as_deref(), after, one_more)
        .await
        .map_err(|error| store_error(&error))?;
    let more = sessions.len() > usize::from(size);
    sessions.truncate(usize::from(size));
    let next = sessions
        .last()
        .filter(|_| more)
        .map(|last| cursor::after(last.id));
    Ok(convert::session_list(&sessions, next))
}

/// Checks that a client means the directory that the session was opened in.
pub(crate) async fn same_directory(kept: &Path, named: &Path) -> Result<(), RpcError> {
    if kept == named {
        return Ok(());
    }
    let (kept, named) = (kept.to_owned(), named.to_owned());
    let canonical = |path: PathBuf| path.canonicalize().ok();
    let same = tokio::task::spawn_blocking(move || {
        canonical(kept).is_some_and(|kept| canonical(named) == Some(kept))
    });
    if same.await.unwrap_or(false) {
        Ok(())
    } else {
        Err(RpcError::invalid_params(
            "cwd",
            "expected the directory that the session was opened in",
        ))
    }
}

/// Puts a store's error into the protocol's words.
pub(crate) fn store_error(error: &SessionError) -> RpcError {
    match error {
        SessionError::NotFound { id } => RpcError::session_not_found(&id.to_string()),
        SessionError::Damaged { .. } | SessionError::Store(_) => {
            tracing::error!(%error, "a session could not be read or written");
            RpcError::internal(error.to_string())
        }
        _ => RpcError::internal("the session could not be read or written; see the log"),
    }
}
