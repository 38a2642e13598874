//! The edits of stored sessions.

use std::path::Path;

use antiphon_catalog::{CatalogError, SessionQuery, SessionSort};
use antiphon_views::{EditLog, Reading};

use crate::catalogue::Progress;
use crate::project::repository_around;
use crate::{LeftOut, List, Store, StoredSession};

/// The edits of some sessions, and the sessions that could not be read.
#[derive(Debug, Default)]
pub struct EditedSessions {
    pub log: EditLog,
    pub left_out: Vec<LeftOut>,
}

/// The root of the project that a session in the folder `cwd` worked on: its repository, or the
/// folder itself.
pub fn root_of(cwd: Option<&str>) -> Option<String> {
    let cwd = cwd?;
    Some(repository_around(Path::new(cwd)).to_string_lossy().into_owned())
}

impl Store {
    /// The edits of all sessions that match.
    pub fn edits(
        &self,
        query: &SessionQuery,
        progress: Progress<'_>,
    ) -> Result<EditedSessions, CatalogError> {
        let List { sessions, left_out, .. } =
            self.list(query, None, SessionSort::Started, usize::MAX, progress)?;
        let mut edited = EditedSessions { left_out, ..EditedSessions::default() };
        // In order of time, oldest first.
        for listed in sessions.iter().rev() {
            let root = root_of(listed.session.project.as_deref());
            add(&mut edited, &listed.session, root.as_deref());
        }
        Ok(edited)
    }
}

/// Adds the edits of a session, or says why they could not be read.
pub(crate) fn add(edited: &mut EditedSessions, session: &StoredSession, root: Option<&str>) {
    let added =
        crate::open(&session.path()).map_err(|error| error.to_string()).and_then(|opened| {
            let reading = Reading { session: &opened.session, bodies: &*opened.bodies };
            let added = edited.log.add(&reading, &session.session_id, root);
            added.map_err(|error| error.to_string())
        });
    if let Err(reason) = added {
        edited.left_out.push(LeftOut { session: session.session_id.clone(), what: reason });
    }
}
