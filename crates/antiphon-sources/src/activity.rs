//! Whether somebody still writes a session: what only the file system and the clock can tell.

use antiphon_journal::{Clock as _, Log, SystemClock};
use antiphon_model::{Activity, Session, Timestamp};

/// After so long without a new event, nothing more is expected of a session that is unfinished:
/// ten minutes. Builds and tests that take longer are rare, and one event makes it run again.
const QUIET_MS: i64 = 10 * 60 * 1000;

/// Of a session whose last event was then.
pub fn since(last_event_at: Option<Timestamp>) -> Activity {
    match last_event_at {
        Some(last) if SystemClock.now().since(last) >= QUIET_MS => Activity::Quiet,
        Some(_) | None => Activity::Unknown,
    }
}

/// Of a log: whoever writes it holds its lock.
pub(crate) fn of_log(log: &Log, session: &Session) -> Activity {
    match log.activity() {
        Activity::Unknown => since(session.time_span().map(|(_, last)| last)),
        known @ (Activity::Writing | Activity::Gone | Activity::Quiet) => known,
    }
}
