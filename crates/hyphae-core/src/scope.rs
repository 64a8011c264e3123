//! Whose data a request may touch: the one filter that every verb of every store applies.

use std::{fmt, path::Path};

use serde::{Deserialize, Serialize};

use crate::ids::{CredentialId, TenantId};

/// Who asks, on whose behalf, about which project. It comes from the process and its session,
/// never from an argument of a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scope {
    /// Those who share the memory.
    pub tenant: TenantId,
    /// The identity that reads and writes.
    pub credential: CredentialId,
    /// What memories are filed under and recalled from.
    pub project: Project,
}

/// Who asks, where no project matters: sessions belong to an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner {
    /// Those who share the memory.
    pub tenant: TenantId,
    /// The identity that reads and writes.
    pub credential: CredentialId,
}

impl Owner {
    /// Narrows to one project.
    pub const fn in_project(self, project: Project) -> Scope {
        Scope {
            tenant: self.tenant,
            credential: self.credential,
            project,
        }
    }
}

impl Scope {
    /// Returns the scope of nobody in particular, which sees what everybody in a project may see:
    /// no credential has its id, so nothing is private to it.
    pub const fn commons(tenant: TenantId, project: Project) -> Self {
        Self {
            tenant,
            credential: CredentialId::new(uuid::Uuid::nil()),
            project,
        }
    }

    /// Returns who asks, without the project.
    pub const fn owner(&self) -> Owner {
        Owner {
            tenant: self.tenant,
            credential: self.credential,
        }
    }
}

/// Names the scope of memories: a canonical directory, or a name that several directories share.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Project(String);

impl Project {
    /// The longest name taken, in bytes: as long as a path may be on Linux.
    pub const MAX_BYTES: usize = 4096;

    /// Names a project.
    ///
    /// # Errors
    /// [`BadProject`] for an empty or overlong name, or one with control characters.
    pub fn named(name: &str) -> Result<Self, BadProject> {
        let name = name.trim();
        if name.is_empty() || name.len() > Self::MAX_BYTES || name.chars().any(char::is_control) {
            return Err(BadProject);
        }
        Ok(Self(name.to_owned()))
    }

    /// Names the project of a canonical directory. Bytes that are no text are kept apart by
    /// escaping, so that two directories never share a project by accident.
    pub fn of_directory(canonical: &Path) -> Self {
        Self(canonical.to_str().map_or_else(
            || {
                format!(
                    "path:{}",
                    canonical.as_os_str().as_encoded_bytes().escape_ascii()
                )
            },
            str::to_owned,
        ))
    }

    /// Returns the name as it is stored and shown.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Project {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A project's name was not acceptable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a project's name is 1 to 4096 bytes without control characters")]
pub struct BadProject;
