//! Which project a call is about.

use std::fmt;

use hyphae_core::scope::Project;

/// Knows the projects that this process may name.
pub trait Projects: fmt::Debug + Send + Sync {
    /// Returns the project of calls that name none. It is the same for the life of the process:
    /// never "the last one used".
    fn of_process(&self) -> &Project;

    /// Returns the project that a name or an existing directory means, if the user linked it or
    /// it is there.
    fn named(&self, name: &str) -> Option<Project>;

    /// Returns the names that can be given, sorted.
    fn names(&self) -> Vec<Project>;

    /// Returns what people should know about the project of this process, such as that it is no
    /// project at all.
    fn warning(&self) -> Option<&str>;
}
