//! Forgetting a session: everything that is kept of it goes, and a mark stays, so that the next
//! `sync` does not bring it back.

use std::fs;
use std::path::{Path, PathBuf};

use antiphon_formats::FORMATS;

use crate::archive::replace;
use crate::store::make_folders;
use crate::{Error, Key, Store};

/// Where the marks are, one for each session of each agent.
const FORGOTTEN: &str = "forgotten";

impl Store {
    /// What is kept of the session with that id: folders, all of which would go.
    pub fn kept_of(&self, session_id: &str) -> Vec<PathBuf> {
        let sessions = self.rows().into_iter().filter(|it| it.session_id == session_id);
        sessions.map(|session| session.folder).collect()
    }

    /// Removes all that is kept of a session. The mark comes first: if this is cut short, what is
    /// left is listed, and nothing comes back.
    pub fn forget(&self, session_id: &str) -> Result<Vec<PathBuf>, Error> {
        let folders = self.kept_of(session_id);
        let marks = self.root().join(FORGOTTEN);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| Error::Write { path, source }
        };
        make_folders(&marks).map_err(failed(&marks))?;
        for format in FORMATS.iter().filter(|format| format.kept.is_some()) {
            let mark = marks.join(Key::of(format.name, session_id).as_str());
            replace(&mark, b"").map_err(failed(&mark))?;
        }
        for folder in &folders {
            fs::remove_dir_all(folder).map_err(failed(folder))?;
        }
        self.drop_from_catalogue();
        Ok(folders)
    }

    pub(crate) fn is_forgotten(&self, key: &Key) -> bool {
        self.root().join(FORGOTTEN).join(key.as_str()).exists()
    }
}
