//! Files of this user: folders that only they can enter, and texts that replace each other at once.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::DirBuilderExt,
    path::Path,
};

use anyhow::Context;

/// Makes a folder, and those above it, with mode 0700 where they are not there yet.
pub(crate) fn make_private_folder(folder: &Path) -> anyhow::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("the folder {} cannot be made", folder.display()))
}

/// Puts a text in the place of a file's present one: whoever reads the file sees the one or the
/// other, also after a crash. Its folder must be there.
pub(crate) fn replace(path: &Path, text: &str, permissions: Permissions) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.as_file().set_permissions(permissions)?;
    io::Write::write_all(&mut new, text.as_bytes())?;
    new.as_file().sync_all()?;
    new.persist(path)?;
    Ok(())
}
