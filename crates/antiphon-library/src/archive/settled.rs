//! Waiting until files are on the disk.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use antiphon_journal::regular;

use super::bytes::{Bytes as _, Folder};
use super::sizes::{has_changed_lately, size};

/// Waits for the files in a session's folder that were written lately; older ones have been written
/// by now.
pub(crate) fn write_back(folder: &Path) -> io::Result<()> {
    let files = Folder::new(folder).list("").into_iter().map(|name| folder.join(name));
    files.filter(|path| has_changed_lately(size(path).1)).try_for_each(|path| sync(&path))
}

#[expect(
    clippy::disallowed_methods,
    reason = "no log: a failure is told, and nothing relies on it"
)]
fn sync(path: &Path) -> io::Result<()> {
    match regular::open_by(path, OpenOptions::new().write(true)) {
        // Another process has replaced it, and takes care of what it adds.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // A pipe, which no process of ours created.
        Err(_) if !path.is_file() => Ok(()),
        file => file?.sync_data(),
    }
}
