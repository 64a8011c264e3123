//! The directory of a session: found, and filed under a project.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use hyphae_core::scope::Project;

use super::HostInner;
use crate::wire::RpcError;

/// Finds the project of a working directory.
pub(crate) async fn project_of(host: &Arc<HostInner>, cwd: &Path) -> Result<Project, RpcError> {
    let (projects, cwd) = (host.projects.clone(), cwd.to_owned());
    // File systems may hang, and the other sessions must not hang with them.
    let found = tokio::task::spawn_blocking(move || {
        let canonical = cwd.canonicalize().ok().filter(|path| path.is_dir())?;
        Some(projects.project_of(&canonical))
    });
    match found.await {
        Ok(Some(project)) => Ok(project),
        Ok(None) => Err(not_a_directory()),
        Err(_) => Err(RpcError::internal(
            "the project of `cwd` could not be found",
        )),
    }
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

fn not_a_directory() -> RpcError {
    RpcError::invalid_params("cwd", "expected an existing directory")
}
