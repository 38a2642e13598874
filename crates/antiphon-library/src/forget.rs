//! Forgetting a session: everything that is kept of it goes, and a mark stays, so that the next
//! `sync` does not bring it back.
//!
//! ```text
//! forgotten/<key>          a session that must not come back
//! forgotten/<key>.pending  its id, the folders that are still to be removed, and the keys under
//!                          which it must not come back
//! ```
//!
//! What is to be done is written down first and removed last. So whoever comes after a process that
//! was killed finishes what that one had begun.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use antiphon_catalog::{Key, Origin};
use antiphon_formats::FORMATS;
use antiphon_journal::regular;
use antiphon_sources::{Error, list, relative};

use crate::Store;
use crate::archive::{PACKS, Packs, is_half_written, replace};
use crate::store::{FORGOTTEN, make_folders};

/// The ending of what is still to be done.
const PENDING: &str = ".pending";

impl Store {
    /// What is kept of the session with that id: folders, all of which would go.
    pub fn kept_of(&self, session_id: &str) -> Vec<PathBuf> {
        let sessions = self.rows().into_iter().filter(|it| it.session_id == session_id);
        sessions.map(|session| session.folder).collect()
    }

    /// Removes all that is kept of a session. If this is cut short, the next process finishes it.
    pub fn forget(&self, session_id: &str) -> Result<Vec<PathBuf>, Error> {
        let rows = self.rows().into_iter().filter(|it| it.session_id == session_id);
        let (mut folders, mut keys) = (Vec::new(), Vec::new());
        for row in rows {
            // An agent's files are known by what `sync` calls the session, which may be no id that
            // stands in them.
            keys.extend((row.origin == Origin::Archived).then_some(row.summary.key));
            folders.push(row.folder);
        }
        let kept = FORMATS.iter().filter(|format| format.layout.kept.is_some());
        keys.extend(kept.map(|format| Key::of(format.name, session_id)));
        let marks = self.root().join(FORGOTTEN);
        make_folders(&marks).map_err(|error| cannot_write(&marks, error))?;
        let pending = marks.join(format!("{}{PENDING}", Key::of("", session_id)));
        let below = folders.iter().map(|folder| relative(folder, self.root()) + "\n");
        let keys = keys.iter().map(|key| format!("{key}\n"));
        let text =
            format!("{}\n{}", session_id.replace('\n', " "), below.chain(keys).collect::<String>());
        remove_drafts(&pending).map_err(|error| cannot_write(&pending, error))?;
        write_settled(&pending, &text).map_err(|error| cannot_write(&pending, error))?;
        self.finish(&pending)?;
        self.drop_from_catalogue();
        Ok(folders)
    }

    /// Finishes what a process that was killed had begun to forget: the ids of those sessions.
    pub fn finish_forgetting(&self) -> Result<Vec<String>, Error> {
        let marks = list(&self.root().join(FORGOTTEN));
        let is_pending = |path: &PathBuf| path.to_string_lossy().ends_with(PENDING);
        let mut finished = Vec::new();
        for path in marks.into_iter().filter(is_pending) {
            finished.extend(self.finish(&path)?);
        }
        if !finished.is_empty() {
            self.drop_from_catalogue();
        }
        Ok(finished)
    }

    /// Whether a session is being forgotten, or somebody was killed while doing so.
    pub(crate) fn is_deleting(&self) -> bool {
        let marks = list(&self.root().join(FORGOTTEN));
        marks.iter().any(|path| path.to_string_lossy().ends_with(PENDING))
    }

    /// Marks the keys and removes the folders that a file names, then the file; the id of the
    /// session.
    fn finish(&self, pending: &Path) -> Result<Option<String>, Error> {
        let Ok(text) = regular::read_text(pending) else { return Ok(None) };
        let mut lines = text.lines();
        let session_id = lines.next().unwrap_or_default().to_owned();
        // Marks come before anything is removed: otherwise a `sync` could bring it back meanwhile.
        for key in lines.clone().filter_map(Key::parse) {
            let mark = pending.with_file_name(key.as_str());
            write_settled(&mark, "").map_err(|error| cannot_write(&mark, error))?;
        }
        let folders: Vec<&str> = lines.filter(|line| is_session_folder(line)).collect();
        let keys = folders.iter().filter_map(|folder| Key::of_folder(Path::new(folder)));
        let packs = self.root().join(PACKS);
        Packs::remove(self.root(), &keys.collect()).map_err(|error| cannot_write(&packs, error))?;
        for folder in folders {
            let folder = self.root().join(folder);
            if let Some(key) = Key::of_folder(&folder) {
                self.unmark(&key);
            }
            // Whoever copies has the lock, and sees the mark when it has it the next time.
            let lock = File::open(&folder).and_then(|folder| folder.lock().map(|()| folder));
            let removed = absent_is_fine(fs::remove_dir_all(&folder));
            drop(lock);
            removed.map_err(|error| cannot_write(&folder, error))?;
        }
        absent_is_fine(fs::remove_file(pending)).map_err(|error| cannot_write(pending, error))?;
        Ok(Some(session_id))
    }
}

/// Removes what was left by one that was killed while it wrote a file: the session's id is in it.
fn remove_drafts(file: &Path) -> io::Result<()> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let is_draft = |path: &PathBuf| {
        let other = path.file_name().unwrap_or_default().to_string_lossy();
        other.starts_with(&*name) && is_half_written(&other)
    };
    let drafts = list(file.parent().unwrap_or(Path::new(""))).into_iter().filter(is_draft);
    drafts.map(fs::remove_file).try_for_each(absent_is_fine)
}

/// Whether this is what the folder of a session is called, and nothing else in the world.
fn is_session_folder(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    let is_name = |agent: &str| FORMATS.iter().any(|format| format.name == agent);
    match parts.as_slice() {
        ["sessions", key] => Key::parse(key).is_some(),
        ["archive", agent, key] => is_name(agent) && Key::parse(key).is_some(),
        _ => false,
    }
}

fn absent_is_fine(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Writes a file that is on the disk before anything else is done.
#[expect(clippy::disallowed_methods, reason = "no log: there is one sync, and its failure is told")]
fn write_settled(path: &Path, text: &str) -> io::Result<()> {
    replace(path, text.as_bytes())?;
    File::open(path)?.sync_data()
}

fn cannot_write(path: &Path, source: io::Error) -> Error {
    Error::Write { path: path.to_owned(), source }
}
