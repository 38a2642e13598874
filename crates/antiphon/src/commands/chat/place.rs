//! Where the log of a chat is: where the person says, in the store, or nowhere for long.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use antiphon_agents::Session;
use antiphon_library::{Environment, Store};
use anyhow::Context as _;

use super::ChatArgs;
use crate::failure::UserError;
use crate::shell::quoted;

/// How many names are tried for a temporary folder.
const ATTEMPTS_MAX: u32 = 100;

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
            let folder = private_folder().context("cannot make a temporary folder")?;
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

    /// Removes a new log that came to nothing.
    pub(super) fn discard(self) {
        let _ = match self.path.is_dir() {
            true => std::fs::remove_dir_all(&self.path),
            false => std::fs::remove_file(&self.path),
        };
    }

    /// The command that goes on with the session, as a shell takes it. What a log names is not
    /// followed, so the command names again what this one did.
    pub(super) fn command(&self, session: &Session, args: &ChatArgs) -> Option<String> {
        let in_store = self.path.is_dir().then(|| session.id()).flatten();
        self.command_for(in_store, session.has_open_calls(), args)
    }

    /// The same, for a session that cannot be opened now.
    pub(super) fn later_command(&self, args: &ChatArgs) -> Option<String> {
        self.command_for(None, args.close_open, args)
    }

    fn command_for(
        &self,
        session_id: Option<String>,
        close_open: bool,
        args: &ChatArgs,
    ) -> Option<String> {
        if self.temporary.is_some() {
            return None;
        }
        let name = session_id.unwrap_or_else(|| self.path.display().to_string());
        let mut words = vec!["antiphon".to_owned(), "chat".to_owned(), "--resume".to_owned(), name];
        let cast = args.cast.as_ref().map(|cast| cast.display().to_string());
        let named =
            [("--cast", cast), ("--model", args.model.clone()), ("--then", args.then.clone())];
        let named = named.into_iter().filter_map(|(option, value)| Some((option, value?)));
        let servers = args.mcp.iter().map(|server| ("--mcp", server.clone()));
        for (option, value) in named.chain(servers) {
            words.extend([option.to_owned(), value]);
        }
        words.extend(close_open.then(|| "--close-open".to_owned()));
        Some(quoted(&words))
    }
}

/// A new folder for temporary files that nobody else can read, and that nobody else has made.
fn private_folder() -> std::io::Result<PathBuf> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let mut attempt = 0;
    loop {
        let name = format!("antiphon-chat-{}-{attempt}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        match builder.create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && attempt < ATTEMPTS_MAX => {
                attempt += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A folder of the store in which nothing was written. One that is not empty stays.
        let _ = std::fs::remove_dir(&self.path);
        if let Some(folder) = &self.temporary {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}
