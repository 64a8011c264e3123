//! Where an import reads from: a file, a folder, or stdin.

use std::{
    fs::{self, File},
    io::{self, BufReader, Cursor, Read},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use hyphae_transfer::{
    foreign::Program,
    sniff::{Format, HEAD_BYTES, UnknownFormat, sniff},
};

use super::name_of;

/// What is read.
pub(super) enum Source {
    Stdin {
        /// What was read of it to tell its format.
        head: Vec<u8>,
    },
    /// One file.
    File(PathBuf),
    /// All files below a folder, by name.
    Folder { root: PathBuf, files: Vec<PathBuf> },
}

/// A file of a source.
pub(super) struct Part {
    /// How it is called in complaints; empty for stdin.
    pub(super) name: String,
    pub(super) input: io::Result<Box<dyn Read>>,
}

impl Source {
    /// Looks at what is there.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Stdin { head: Vec::new() });
        }
        let place = || format!("{} cannot be read", path.display());
        let there = fs::metadata(path).with_context(place)?;
        if !there.is_dir() {
            // A file that cannot be opened is told of before anything is done.
            File::open(path).with_context(place)?;
            return Ok(Self::File(path.to_owned()));
        }
        let mut files = Vec::new();
        walk(path, &mut files).with_context(place)?;
        files.sort();
        Ok(Self::Folder {
            root: path.to_owned(),
            files,
        })
    }

    /// Tells whose it is; of a folder, the first file that is known tells for all.
    pub(super) fn format(&mut self) -> io::Result<Result<Format, UnknownFormat>> {
        match self {
            Self::Stdin { head } => {
                io::stdin().take(HEAD_BYTES as u64).read_to_end(head)?;
                Ok(sniff("", head))
            }
            Self::File(path) => of_file(path),
            Self::Folder { files, .. } => {
                let known = files.iter().find_map(|file| {
                    let format = of_file(file).ok()?.ok()?;
                    let Format::Foreign(program) = format else {
                        return None;
                    };
                    is_of(program, file).then_some(format)
                });
                Ok(known.ok_or(UnknownFormat))
            }
        }
    }

    /// Returns how many bytes there are to read, if that is known.
    pub(super) fn bytes(&self, format: Format) -> Option<u64> {
        let size = |path: &PathBuf| fs::metadata(path).map_or(0, |there| there.len());
        match self {
            Self::Stdin { .. } => None,
            Self::File(path) => Some(size(path)),
            Self::Folder { files, .. } => {
                let wanted = files.iter().filter(|file| match format {
                    Format::Hyphae => false,
                    Format::Foreign(program) => is_of(program, file),
                });
                Some(wanted.map(size).sum())
            }
        }
    }

    /// Returns the one file that an export is.
    pub(super) fn single(self) -> anyhow::Result<Box<dyn Read>> {
        match self {
            Self::Stdin { head } => Ok(stdin_after(head)),
            Self::File(path) => Ok(Box::new(File::open(path)?)),
            Self::Folder { root, .. } => {
                bail!("{} is a folder; name the export in it", root.display())
            }
        }
    }

    /// Goes through the files of a program, each opened when its turn comes.
    pub(super) fn parts(self, program: Program) -> Box<dyn Iterator<Item = Part>> {
        match self {
            Self::Stdin { head } => Box::new(std::iter::once(Part {
                name: String::new(),
                input: Ok(stdin_after(head)),
            })),
            Self::File(path) => Box::new(std::iter::once(Part {
                name: name_of(&path),
                input: open(&path),
            })),
            Self::Folder { root, files } => {
                let files = files.into_iter().filter(move |file| is_of(program, file));
                Box::new(files.map(move |path| {
                    let inside = path.strip_prefix(&root).unwrap_or(&path);
                    Part {
                        name: inside.to_string_lossy().into_owned(),
                        input: open(&path),
                    }
                }))
            }
        }
    }
}

fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    Ok(Box::new(File::open(path)?))
}

fn stdin_after(head: Vec<u8>) -> Box<dyn Read> {
    Box::new(Cursor::new(head).chain(io::stdin()))
}

fn of_file(path: &Path) -> io::Result<Result<Format, UnknownFormat>> {
    let mut head = Vec::new();
    let file = BufReader::new(File::open(path)?);
    file.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(sniff(&name_of(path), &head))
}

/// Tells whether a file is called as those of a program are.
fn is_of(program: Program, file: &Path) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| {
        let lower = extension.to_lowercase();
        program.extensions().contains(&lower.as_str())
    })
}

/// Collects files; what begins with a dot is somebody's own, and links to folders may go round.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if kind.is_dir() {
            walk(&entry.path(), files)?;
        } else if kind.is_file() || fs::metadata(entry.path()).is_ok_and(|there| there.is_file()) {
            files.push(entry.path());
        }
    }
    Ok(())
}
