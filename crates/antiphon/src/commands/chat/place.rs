//! Where the log of a chat is: where the person says, in the store, or nowhere for long.

use std::path::{Path, PathBuf};

use antiphon_library::{Environment, Store};

use super::ChatArgs;
use crate::failure::UserError;

/// The place of a new log.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    /// Removed at the end, with all that is in it.
    temporary: Option<PathBuf>,
}

impl Place {
    /// A place for a new log.
    pub(super) fn new(args: &ChatArgs) -> anyhow::Result<Self> {
        if let Some(path) = &args.log {
            if path.exists() {
                let what = format!("`{}` already exists", path.display());
                let hint = format!("antiphon chat --resume {} goes on with it", path.display());
                return Err(UserError::usage(what).hint(hint).into());
            }
            return Ok(Self { path: path.clone(), temporary: None });
        }
        if args.temp {
            let folder = format!("antiphon-chat-{}", std::process::id());
            let folder = std::env::temp_dir().join(folder);
            let path = Store::at(&folder).new_session(None)?.path;
            return Ok(Self { path, temporary: Some(folder) });
        }
        let store = Store::open_default(&Environment::of_process())?;
        Ok(Self { path: store.new_session(None)?.path, temporary: None })
    }

    /// The place of a log that is there.
    pub(super) fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), temporary: None }
    }

    /// The command that goes on with the session.
    pub(super) fn command(&self, session_id: Option<&str>) -> Option<String> {
        if self.temporary.is_some() {
            return None;
        }
        let in_store = self.path.is_dir().then_some(session_id).flatten();
        let name = in_store.map_or_else(|| self.path.display().to_string(), str::to_owned);
        Some(format!("antiphon chat --resume {name}"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(folder) = &self.temporary {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}
