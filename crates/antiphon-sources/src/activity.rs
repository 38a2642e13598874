//! Whether a session is still being written. Only the file system and the clock know.

use std::path::Path;

use antiphon_journal::{Clock as _, Log, SystemClock};
use antiphon_model::{Activity, Session, Timestamp};

/// An unfinished session without a new event for this long counts as quiet: two minutes, in which
/// most calls return. The next event makes the session active again.
const QUIET_MS: i64 = 2 * 60 * 1000;

/// The activity of a session, judged by the time of its last event.
pub fn since(last_event_at: Option<Timestamp>) -> Activity {
    match last_event_at {
        Some(last) if SystemClock.now().since(last) >= QUIET_MS => Activity::Quiet,
        Some(_) | None => Activity::Unknown,
    }
}

/// The activity of a log. A writer holds the lock of the log.
pub fn of_log(log: &Log, session: &Session) -> Activity {
    match log.activity() {
        Activity::Unknown => {
            let last = session.time_span().map(|(_, last)| last);
            // A log without times is as old as its file.
            since(last.or_else(|| log.segments().last().and_then(|file| changed_at(&file))))
        }
        known @ (Activity::Writing | Activity::Gone | Activity::Quiet) => known,
    }
}

/// When a file was last changed.
pub fn changed_at(file: &Path) -> Option<Timestamp> {
    let changed = file.metadata().ok()?.modified().ok()?;
    let since = changed.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(Timestamp::from_millis(i64::try_from(since.as_millis()).ok()?))
}
