//! Finding a session by what the user typed.

use super::{Key, Origin, Store, StoredSession};

/// The result of looking for a session.
#[derive(Debug)]
pub enum Found {
    One(Box<StoredSession>),
    /// A prefix of more than one session: these, newest first.
    Several(Vec<StoredSession>),
    Nothing,
}

/// The word for the session with the latest event; `latest~2` is the second before it.
const LATEST: &str = "latest";

/// A shorter word must be a complete id.
pub(super) const PREFIX_MIN: usize = 4;

impl Store {
    /// The session with this id or key, or the only one whose id or key begins with it, or for
    /// `latest` the one with the latest event, and for `latest~2` the second before that.
    pub fn find(&self, word: &str) -> Found {
        if let Some(before) = before_latest(word) {
            let session = self.sessions().into_iter().nth(before);
            return session.map_or(Found::Nothing, |session| Found::One(Box::new(session)));
        }
        let sessions = self.rows();
        let is = |session: &StoredSession| {
            session.session_id == word || Key::parse(word).is_some_and(|key| key == session.key)
        };
        let begins = |session: &StoredSession| {
            session.session_id.starts_with(word) || session.key.as_str().starts_with(word)
        };
        let exact: Vec<_> = sessions.iter().filter(|session| is(session)).cloned().collect();
        if !exact.is_empty() {
            return one_of(exact);
        }
        if word.len() < PREFIX_MIN {
            return Found::Nothing;
        }
        one_of(sessions.into_iter().filter(begins).collect())
    }
}

/// How many sessions before the latest a word means: 0 for `latest`, 2 for `latest~2`.
fn before_latest(word: &str) -> Option<usize> {
    match word.strip_prefix(LATEST)? {
        "" => Some(0),
        // `latest~` is the one before, as in git.
        "~" => Some(1),
        more => more.strip_prefix('~')?.parse().ok(),
    }
}

/// A session that was both recorded and copied counts once: the agent's own file has more in it.
fn one_of(mut sessions: Vec<StoredSession>) -> Found {
    let first = sessions.first().map(|session| session.session_id.clone());
    if sessions.iter().any(|session| Some(&session.session_id) != first.as_ref()) {
        return Found::Several(sessions);
    }
    let own = sessions.iter().position(|session| session.origin == Origin::Archived);
    match own.unwrap_or_default() {
        at if at < sessions.len() => Found::One(Box::new(sessions.swap_remove(at))),
        _ => Found::Nothing,
    }
}
