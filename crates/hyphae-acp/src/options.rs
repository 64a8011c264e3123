//! What a host is told by whoever builds it.

use std::{fmt, path::Path, time::Duration};

use hyphae_core::{scope::Project, session::PageSize};

/// Knows which project a directory belongs to.
pub trait Projects: fmt::Debug + Send + Sync {
    /// Returns the project of a canonical, existing directory. May read files: it is called
    /// where blocking is allowed.
    fn project_of(&self, directory: &Path) -> Project;
}

/// Every directory is a project of its own.
#[derive(Debug, Clone, Copy, Default)]
pub struct DirectoryProjects;

impl Projects for DirectoryProjects {
    fn project_of(&self, directory: &Path) -> Project {
        Project::of_directory(directory)
    }
}

/// How a client is told to authenticate. The key of the process is the identity, so
/// `authenticate` with this id has nothing left to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthMethod {
    /// What `authenticate` names it.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// One line on what it is.
    pub description: String,
}

/// Whether methods are offered that the protocol has not settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unstable {
    /// Only what is stable.
    #[default]
    Hidden,
    /// `session/fork` as well.
    Offered,
}

/// Limits and choices of a host.
#[derive(Debug, Clone)]
pub struct HostOptions {
    /// The longest line that is taken, in bytes.
    pub frame_limit: usize,
    /// How much may wait for a client that reads slowly, in bytes.
    pub outbox_bytes: usize,
    /// How long a cancelled turn may take to stop.
    pub settle: Duration,
    /// After which time the commands are announced once more; some clients drop the first
    /// announcement because they do not know the session yet.
    pub announce_again: Duration,
    /// How long everything may take when the connection ends.
    pub wind_down: Duration,
    /// How many sessions a page of `session/list` has.
    pub page: PageSize,
    /// Methods that are not settled.
    pub unstable: Unstable,
    /// The one auth method.
    pub auth: AuthMethod,
}

impl Default for HostOptions {
    fn default() -> Self {
        Self {
            frame_limit: 32 * 1024 * 1024,
            outbox_bytes: 1024 * 1024,
            settle: Duration::from_secs(30),
            announce_again: Duration::from_millis(100),
            wind_down: Duration::from_millis(900),
            page: PageSize::default(),
            unstable: Unstable::default(),
            auth: AuthMethod {
                id: "hyphae-api-key".to_owned(),
                name: "HyphaeDB key".to_owned(),
                description: "The API key that this process was started with".to_owned(),
            },
        }
    }
}
