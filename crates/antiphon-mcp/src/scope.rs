//! What may be asked about: the sessions of one project, or all of them.

use std::path::{Path, PathBuf};

use antiphon_catalog::{ProjectQuery, SessionQuery, SessionSort};
use antiphon_library::{
    Asked, Environment, FRESH_WITHIN, List, Store, StoredSession, open_with, repository_around,
};
use antiphon_model::Zone;
use antiphon_redact::Redactor;
use antiphon_sources::Opened;
use antiphon_views::Prices;

/// The sessions, and what is needed to tell about them.
#[derive(Debug)]
pub struct Library {
    pub environment: Environment,
    pub redactor: Redactor,
    pub prices: Prices,
    /// The zone in which days begin.
    pub zone: Zone,
    /// Whether sessions of every project may be asked for.
    pub has_all_projects: bool,
    /// Whether what is new of agents' sessions is copied before a question is answered.
    pub is_fresh: bool,
}

impl Library {
    pub(crate) fn store(&self) -> Result<Store, String> {
        let store = Store::open_default(&self.environment).map_err(|error| error.to_string())?;
        if self.is_fresh {
            store.freshen(&self.environment, Asked::Catalogue, FRESH_WITHIN);
        }
        Ok(store)
    }

    /// The folder in which the server was started, as the system names it.
    pub(crate) fn here(&self) -> PathBuf {
        let here = self.environment.current_folder.clone().unwrap_or_default();
        here.canonicalize().unwrap_or(here)
    }

    /// The root of the project of the working folder.
    pub(crate) fn root(&self) -> PathBuf {
        repository_around(&self.here())
    }

    /// The projects whose sessions may be asked for; `None` for all.
    pub(crate) fn projects(&self) -> Option<ProjectQuery> {
        let root = || self.root().to_string_lossy().into_owned();
        (!self.has_all_projects).then(|| ProjectQuery::Folder(root()))
    }

    /// The session that is meant, among those that may be asked for: an id, the beginning of one,
    /// `latest` or `latest~2`.
    pub(crate) fn find(&self, store: &Store, wanted: &str) -> Result<StoredSession, String> {
        let query = SessionQuery { project: self.projects(), ..SessionQuery::default() };
        let list = store.list(&query, None, SessionSort::Changed, usize::MAX, &|_, _| {});
        let List { sessions, .. } = list.map_err(|error| error.to_string())?;
        let mut sessions = sessions.into_iter().map(|listed| listed.session);
        // Of another project's session nothing is said, not even that it exists.
        let none = || match self.has_all_projects {
            true => format!("there is no session `{wanted}`"),
            false => format!("there is no session `{wanted}` in this project"),
        };
        let back = match wanted.strip_prefix("latest") {
            Some("") => Some(0),
            Some(rest) => rest.strip_prefix('~').and_then(|number| number.parse::<usize>().ok()),
            None => None,
        };
        if let Some(back) = back {
            return sessions.nth(back).ok_or_else(none);
        }
        let found: Vec<_> = sessions.filter(|it| it.session_id.starts_with(wanted)).collect();
        let exact = found.iter().position(|it| it.session_id == wanted);
        let count = found.len();
        match (exact, count) {
            (_, 0) => Err(none()),
            (None, 2..) => Err(format!("`{wanted}` matches {count} sessions; give more of the id")),
            (at, _) => found.into_iter().nth(at.unwrap_or_default()).ok_or_else(none),
        }
    }

    /// Reads a session without its secrets.
    pub(crate) fn open(&self, store: &Store, wanted: &str) -> Result<Opened, String> {
        let session = self.find(store, wanted)?;
        let opened = open_with(&session.path(), Some(store)).map_err(|error| error.to_string())?;
        Ok(opened.redacted(&self.redactor))
    }

    /// The path of a file that may be asked about.
    pub(crate) fn file(&self, named: &str) -> Result<PathBuf, String> {
        let root = self.root();
        let candidates = [self.here().join(named), root.join(named)];
        let is_allowed = |path: &Path| self.has_all_projects || path.starts_with(&root);
        let found = candidates.iter().filter_map(|path| path.canonicalize().ok());
        let found = found.filter(|path| path.is_file()).find(|path| is_allowed(path));
        found.ok_or_else(|| format!("there is no file `{named}` in this project"))
    }
}
