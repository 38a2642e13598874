//! Creating the folder of a session to be recorded.

use std::io;
use std::path::{Path, PathBuf};

use antiphon_catalog::Key;

use crate::store::{Store, StoreError, make_folders, private_folder};

/// The new, empty folder of a session to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFolder {
    pub key: Key,
    /// A folder that `antiphon_journal` opens.
    pub path: PathBuf,
}

impl Store {
    /// Creates the folder of a session to be recorded. `native` is the agent and the id that it
    /// gave the session, if known. The folder is always new: a session that continues later is
    /// recorded into another one.
    pub fn new_session(&self, native: Option<(&str, &str)>) -> Result<SessionFolder, StoreError> {
        let sessions = self.root().join("sessions");
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| StoreError::Write { path, source }
        };
        // An unfinished deletion must not apply to what is recorded now.
        let _ = self.finish_forgetting();
        make_folders(&sessions).map_err(failed(&sessions))?;
        let mut time = 0;
        loop {
            let key = match native {
                Some((agent, id)) => Key::of_time(agent, id, time),
                None => Key::unique(),
            };
            let path = sessions.join(key.as_str());
            match private_folder().create(&path) {
                Ok(()) => return Ok(SessionFolder { key, path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => time += 1,
                Err(error) => return Err(failed(&path)(error)),
            }
        }
    }
}
