//! Which project a directory belongs to.

use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use hyphae_core::scope::Project;
use serde::{Deserialize, Serialize};

use crate::files;

/// Links from directories to names, kept for this user. Never read from inside a repository:
/// a hostile checkout must not name another project.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Links {
    links: BTreeMap<PathBuf, Project>,
}

impl Links {
    /// Reads the links; a file that is not there holds none.
    pub(crate) fn read(file: &Path) -> anyhow::Result<Self> {
        match fs::read_to_string(file) {
            Ok(text) => serde_json::from_str(&text)
                .with_context(|| format!("the project links {} cannot be read", file.display())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => bail!(
                "the project links {} cannot be read: {error}",
                file.display()
            ),
        }
    }

    /// Writes the links.
    pub(crate) fn write(&self, file: &Path) -> anyhow::Result<()> {
        let folder = file.parent().context("the project links have a folder")?;
        files::make_private_folder(folder)?;
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        files::replace(file, &text, Permissions::from_mode(0o600))
            .with_context(|| format!("the project links {} cannot be written", file.display()))
    }

    /// Files a canonical directory under a name; returns the former name.
    pub(crate) fn link(&mut self, directory: PathBuf, project: Project) -> Option<Project> {
        self.links.insert(directory, project)
    }

    /// Undoes a link; returns its name.
    pub(crate) fn unlink(&mut self, directory: &Path) -> Option<Project> {
        self.links.remove(directory)
    }

    /// Goes through the links, by directory.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Path, &Project)> {
        self.links
            .iter()
            .map(|(directory, project)| (directory.as_path(), project))
    }

    /// Returns the project of a canonical directory: the name that it, or the nearest directory
    /// above it, is linked to, else the directory itself.
    pub(crate) fn project_of(&self, directory: &Path) -> Project {
        directory
            .ancestors()
            .find_map(|ancestor| self.links.get(ancestor))
            .cloned()
            .unwrap_or_else(|| Project::of_directory(directory))
    }
}

/// Returns the project that a person or a client names: by its name, or by a directory, which
/// belongs to the name that it is linked to.
pub(crate) fn named(name: &str, links: &Path) -> anyhow::Result<Project> {
    if name.contains("${") {
        bail!("the client left {name} as it is; open a folder in it, or write a project's name");
    }
    let directory = Path::new(name);
    if directory.is_absolute() && directory.is_dir() {
        return Ok(Links::read(links)?.project_of(&directory.canonicalize()?));
    }
    Ok(Project::named(name)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_belongs_to_the_nearest_link_above_it_or_to_itself() {
        let mut links = Links::default();
        links.link("/src".into(), Project::named("all").unwrap());
        links.link("/src/app".into(), Project::named("app").unwrap());
        for (directory, want) in [
            ("/src/app", "app"),
            ("/src/app/deep", "app"),
            ("/src/application", "all"),
            ("/home/me", "/home/me"),
        ] {
            assert_eq!(links.project_of(Path::new(directory)).as_str(), want);
        }
    }

    #[test]
    fn a_project_is_named_by_its_name_or_by_its_directory() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (file, app, other) = (root.join("links"), root.join("app"), root.join("other"));
        fs::create_dir(&app).unwrap();
        fs::create_dir(&other).unwrap();
        let mut links = Links::default();
        links.link(app.clone(), Project::named("acme").unwrap());
        links.write(&file).unwrap();
        let named = |name: &str| named(name, &file).map(|project| project.as_str().to_owned());
        assert_eq!(named("acme").unwrap(), "acme");
        assert_eq!(named(app.to_str().unwrap()).unwrap(), "acme");
        let roundabout = format!("{}/../other", app.display());
        assert_eq!(named(&roundabout).unwrap(), other.to_str().unwrap());
        assert_eq!(named("/no/such/place").unwrap(), "/no/such/place");
        let error = named("${workspaceFolder}").unwrap_err().to_string();
        assert!(error.contains("open a folder"), "{error}");
    }

    #[test]
    fn links_survive_being_written_and_a_broken_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep/projects.json");
        assert_eq!(Links::read(&file).unwrap(), Links::default());
        let mut links = Links::default();
        links.link("/src".into(), Project::named("all").unwrap());
        links.write(&file).unwrap();
        assert_eq!(Links::read(&file).unwrap(), links);
        fs::write(&file, "{").unwrap();
        assert!(Links::read(&file).is_err());
    }
}
