//! The directory of a session: found, and filed under a project.

use std::{path::Path, sync::Arc};

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

fn not_a_directory() -> RpcError {
    RpcError::invalid_params("cwd", "expected an existing directory")
}
