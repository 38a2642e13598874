//! What is served: the user's store, or a single file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use antiphon_catalog::Origin;
use antiphon_library::{Found, Listed, Store, StoredSession};
use antiphon_model::Status;
use antiphon_redact::{Counts, Redactor};
use antiphon_views::Prices;

use crate::lock;
use crate::problem::Problem;

/// Where sessions come from.
#[derive(Debug)]
pub(crate) enum Library {
    Kept(Kept),
    /// Only the session at this path.
    File(PathBuf),
}

/// The sessions of a store.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) store: Store,
    /// Where ids were found lately: to look for one means to list all sessions.
    found: Mutex<HashMap<String, (Instant, StoredSession)>>,
}

/// For so long an id is where it was found, unless that is gone.
const FOUND_LIFE: Duration = Duration::from_secs(5);
const FOUND_MAX: usize = 256;

/// A session, before it is opened.
#[derive(Debug, Clone)]
pub(crate) struct Located {
    pub(crate) path: PathBuf,
    /// Its key in the store; empty for a file.
    pub(crate) key: String,
    /// The folder that changes when it does.
    pub(crate) folder: PathBuf,
    /// Whether it is a log of ours, to which can be added.
    pub(crate) is_recorded: bool,
    /// How it ended, if only the store knows.
    pub(crate) end: Option<Status>,
}

impl Located {
    fn of(session: &StoredSession) -> Self {
        Self {
            path: session.path(),
            key: session.key.to_string(),
            folder: session.folder.clone(),
            is_recorded: session.origin == Origin::Recorded,
            end: session.end,
        }
    }
}

impl Library {
    pub(crate) fn kept(store: Store) -> Self {
        Self::Kept(Kept { store, found: Mutex::default() })
    }

    /// The store, for what concerns many sessions.
    pub(crate) fn store(&self) -> Result<&Store, Problem> {
        match self {
            Self::Kept(kept) => Ok(&kept.store),
            Self::File(_) => Err(Problem::not_found("this server serves a single file")),
        }
    }

    /// The folders in which sessions change.
    pub(crate) fn watched(&self) -> Vec<PathBuf> {
        match self {
            Self::Kept(kept) => {
                ["sessions", "archive", "packs"].map(|name| kept.store.root().join(name)).into()
            }
            Self::File(path) => path.parent().map(Path::to_owned).into_iter().collect(),
        }
    }

    /// The session with that id or key.
    pub(crate) fn find(&self, word: &str) -> Result<Located, Problem> {
        let none = || Problem::not_found("there is no such session");
        match self {
            Self::Kept(kept) => kept.find(word).map(|it| Located::of(&it)).ok_or_else(none),
            Self::File(path) => {
                let opened = antiphon_library::open(path).map_err(|_| none())?;
                let own = opened.session.info().session_id.as_deref();
                let is_it = own == Some(word) || own.is_none() && opened.name == word;
                let is_it = is_it || file_key(path) == word;
                is_it.then(|| Self::file(path)).ok_or_else(none)
            }
        }
    }

    fn file(path: &Path) -> Located {
        Located {
            path: path.to_owned(),
            key: String::new(),
            folder: path.parent().unwrap_or(path).to_owned(),
            is_recorded: false,
            end: None,
        }
    }
}

/// The key in the row of a file that is served alone.
pub(crate) fn file_key(path: &Path) -> String {
    antiphon_catalog::Key::of("file", &path.to_string_lossy()).to_string()
}

/// The row of a file that is served alone.
pub(crate) fn file_row(path: &Path, prices: &Prices) -> Result<Listed, Problem> {
    let opened = antiphon_library::open(path)
        .map_err(|error| Problem::failed("the file cannot be read", &error))?;
    let listed = antiphon_library::listed_file(path, &opened, prices);
    listed.ok_or_else(|| Problem::not_found("the file has no events"))
}

impl Kept {
    fn find(&self, word: &str) -> Option<StoredSession> {
        if let Some((at, session)) = lock(&self.found).get(word)
            && at.elapsed() < FOUND_LIFE
            && session.folder.is_dir()
        {
            return Some(session.clone());
        }
        let is_it = |it: &StoredSession| it.session_id == word || it.key.as_str() == word;
        let session = match self.store.find(word) {
            Found::One(session) => Some(*session).filter(is_it),
            // Only a beginning names several; several with one id are one.
            Found::Several(_) | Found::Nothing => None,
        };
        let mut found = lock(&self.found);
        if found.len() >= FOUND_MAX {
            found.clear();
        }
        match &session {
            Some(session) => found.insert(word.to_owned(), (Instant::now(), session.clone())),
            None => found.remove(word),
        };
        session
    }
}

/// A row without secrets: its title is cut from a text, so the text is redacted before it is.
pub(crate) fn redact_row(listed: &mut Listed, redactor: &Redactor) {
    let summary = &mut listed.session.summary;
    for text in [&mut summary.title, &mut summary.prompt].into_iter().flatten() {
        *text = redactor.redact(text, &mut Counts::default()).into_owned();
    }
}
