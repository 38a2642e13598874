//! What of a log is durable: the one owner of that knowledge.
//!
//! A line is *written* when the operating system has it, and *durable* when a sync of its file has
//! succeeded afterwards. [`Durability`] knows the lines between the two and keeps their very bytes,
//! because of what a failed sync means: the kernel has dropped the pages, and a second sync of the
//! same file would say yes to lines that are lost. So such a file is *suspect* from then on, is
//! never synced again, and another segment [takes over](crate::takeover) with those bytes.
//!
//! It does no I/O and waits for nobody. [`Shared`](crate::sync::Shared) syncs, lets threads wait
//! and says here how it went. Who waits for what:
//!
//! | who | waits until |
//! | --- | --- |
//! | an append at level `os` | the line is written |
//! | an append at level `interval` | the same, and less than [`PENDING_BYTES_MAX`] are pending |
//! | an append at level `disk` | the line is durable |
//! | the thread behind level `interval` | pending lines are due, which is a second or a megabyte |
//! | `close` | everything is durable, or that has failed |

use std::borrow::Cow;
use std::io;
use std::time::{Duration, Instant};

use antiphon_model::{Place, json};

/// What must be true before an event is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Level {
    /// The operating system has it: it survives the death of any process.
    Os,
    /// As [`Os`](Self::Os), and within a second it is on the disk. A power cut loses at most that
    /// second.
    #[default]
    Interval,
    /// It is on the disk: it survives a power cut. Events that arrive together share a sync.
    Disk,
}

/// The longest time that events may wait for the disk at level `interval`.
const INTERVAL: Duration = Duration::from_secs(1);
const INTERVAL_BYTES: usize = 1 << 20;
/// How many bytes may be written before appending waits for the disk.
const PENDING_BYTES_MAX: usize = 8 << 20;

/// Which lines of a log are durable, and what is known about those that may not be.
#[derive(Debug)]
pub(crate) struct Durability {
    level: Level,
    /// All lines up to this number are durable. At level `os` only writing matters.
    durable: u64,
    /// The exact bytes of the lines after it, kept until a sync succeeds.
    pending: Vec<u8>,
    /// When the oldest of them was written.
    since: Option<Instant>,
    /// Whether the first of them was written since the syncing thread last checked.
    is_news: bool,
    /// Whether a sync is in progress, without the lock.
    is_syncing: bool,
    /// Why the current file can no longer be trusted: a sync of it has failed.
    suspect: Option<String>,
    /// After a failure: when to try again. A full disk may need a moment.
    not_before: Option<Instant>,
    is_closed: bool,
    inherited: Inherited,
    /// The segment and the offset where this writer began.
    inherited_upto: (u32, u64),
}

/// Whether the lines that were in the log before this writer are durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inherited {
    /// Their writer may have been killed before it synced them.
    Unknown,
    Durable,
    /// A sync of their file has failed. No later sync can be trusted.
    Suspect,
}

/// A sync in progress: what is durable if it succeeds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sync {
    upto: u64,
    len: usize,
}

impl Durability {
    /// The state of a writer that continues after line `n`, in this segment at this offset.
    pub(crate) fn after(level: Level, n: u64, inherited_upto: (u32, u64)) -> Self {
        Self {
            level,
            durable: n,
            pending: Vec::new(),
            since: None,
            is_news: false,
            is_syncing: false,
            suspect: None,
            not_before: None,
            is_closed: false,
            inherited: Inherited::Unknown,
            inherited_upto,
        }
    }

    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// Whether anything is ever synced.
    pub(crate) fn is_wanted(&self) -> bool {
        self.level != Level::Os
    }

    /// Records that line `n` was written.
    pub(crate) fn written(&mut self, n: u64, line: &[u8]) {
        if !self.is_wanted() {
            self.durable = n;
            return;
        }
        if self.since.is_none() {
            self.since = Some(Instant::now());
            self.is_news = true;
        }
        self.pending.extend_from_slice(line);
    }

    /// Whether line `n` and all before it are durable.
    pub(crate) fn covers(&self, n: u64) -> bool {
        self.durable >= n
    }

    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Whether so much is pending that appending must wait for the disk.
    pub(crate) fn is_full(&self) -> bool {
        self.pending.len() >= PENDING_BYTES_MAX
    }

    pub(crate) fn pending_bytes(&self) -> u64 {
        self.pending.len() as u64
    }

    /// Each pending line, with its newline and its id.
    pub(crate) fn pending(&self) -> impl Iterator<Item = (&[u8], Option<Cow<'_, str>>)> {
        self.pending.split_inclusive(|&byte| byte == b'\n').map(|line| {
            let text = str::from_utf8(line).unwrap_or_default();
            (line, json::member(text, "message_id").and_then(json::word))
        })
    }

    /// The pending line with this id, if its file can no longer be trusted.
    pub(crate) fn suspect_line(&self, id: &str) -> Option<&[u8]> {
        self.suspect.as_ref()?;
        self.pending().find(|(_, own)| own.as_deref() == Some(id)).map(|(line, _)| line)
    }

    pub(crate) fn is_syncing(&self) -> bool {
        self.is_syncing
    }

    /// Begins a sync of a file whose last line is `n`.
    pub(crate) fn begin_sync(&mut self, n: u64) -> Sync {
        self.is_syncing = true;
        Sync { upto: n, len: self.pending.len() }
    }

    /// Ends a sync; returns whether what it was begun for is durable.
    pub(crate) fn end_sync(&mut self, sync: Sync, result: &io::Result<()>) -> bool {
        self.is_syncing = false;
        match result {
            Ok(()) => self.settle(sync),
            Err(error) => self.suspect(error),
        }
        result.is_ok()
    }

    fn settle(&mut self, Sync { upto, len }: Sync) {
        self.durable = upto;
        self.pending.drain(..len);
        self.since = (!self.pending.is_empty()).then(Instant::now);
        self.not_before = None;
    }

    /// Records that the current file can no longer be trusted, because a sync failed.
    pub(crate) fn suspect(&mut self, error: &io::Error) {
        self.suspect = Some(error.to_string());
    }

    pub(crate) fn is_suspect(&self) -> bool {
        self.suspect.is_some()
    }

    /// Records that another segment contains all pending lines and has its final name. The lines
    /// from before this writer are in a file that can no longer be synced.
    pub(crate) fn replaced(&mut self) {
        if self.inherited == Inherited::Unknown {
            self.inherited = Inherited::Suspect;
        }
    }

    /// Records that the segment that took over is durable, up to line `n`. Returns why it had to
    /// take over.
    pub(crate) fn taken_over(&mut self, n: u64) -> String {
        self.settle(Sync { upto: n, len: self.pending.len() });
        self.suspect.take().unwrap_or_default()
    }

    /// Records that no segment could take over; it is tried again after a moment.
    pub(crate) fn not_taken_over(&mut self) {
        self.not_before = Some(Instant::now() + INTERVAL);
    }

    /// Whether there is something new for the syncing thread, which otherwise sleeps until lines
    /// are due.
    pub(crate) fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.is_news) || self.pending.len() >= INTERVAL_BYTES
    }

    /// The time until pending lines are due; zero if they are, `None` if there are none.
    pub(crate) fn due_in(&self) -> Option<Duration> {
        let since = self.since?;
        if self.is_closed {
            return Some(Duration::ZERO);
        }
        let rest = self.not_before.map(|then| then.saturating_duration_since(Instant::now()));
        let due = match self.pending.len() < INTERVAL_BYTES {
            true => INTERVAL.saturating_sub(since.elapsed()),
            false => Duration::ZERO,
        };
        Some(due.max(rest.unwrap_or_default()))
    }

    /// Records that nothing more will be written. Returns `false` if it was closed before.
    pub(crate) fn close(&mut self) -> bool {
        !std::mem::replace(&mut self.is_closed, true)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// How many segments must be synced before the event at `place`, from an earlier writer, is
    /// durable; an error if that can no longer be known.
    pub(crate) fn inherited_segments(&self, place: Place) -> io::Result<usize> {
        let is_own = (place.stream, place.offset) >= self.inherited_upto;
        match self.inherited {
            _ if is_own => Ok(0),
            Inherited::Durable => Ok(0),
            Inherited::Unknown => Ok(self.inherited_upto.0 as usize + 1),
            Inherited::Suspect => Err(io::Error::other("an earlier sync has failed")),
        }
    }

    /// Records that the files of earlier writers were synced.
    pub(crate) fn inherited_synced(&mut self) {
        self.inherited = Inherited::Durable;
    }

    /// Records that a file of an earlier writer could not be synced.
    pub(crate) fn inherited_failed(&mut self, error: &io::Error) {
        self.inherited = Inherited::Suspect;
        self.suspect(error);
    }
}
