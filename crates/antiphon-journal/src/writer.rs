//! Appending events: the only way to write a log.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::Duration;

use antiphon_model::{MessageId, Place};

use crate::disk::{Disk, OsDisk};
use crate::durability::Level;
use crate::lock::Lock;
use crate::recovery::Recovery;
use crate::state::{FORMAT, State};
use crate::sync::Shared;
use crate::{Clock, Draft, Error, Head, Log, SystemClock};

/// How a log is written.
#[derive(Debug, Clone)]
pub struct Options {
    pub level: Level,
    /// How long to wait for another writer of the same session.
    pub wait: Duration,
    /// The name of the writing program, shown to others that find the log locked.
    pub program: String,
    /// The id of a session whose first line has none; without it, an id is made from the time.
    pub session_id: Option<String>,
    /// A segment that has reached this many bytes is followed by another.
    pub segment_bytes_max: u64,
    /// Whether a checkpoint is left beside a long log, so that it opens at once the next time.
    pub keeps_checkpoint: bool,
    /// Receives every line that is written, as it is in the log.
    pub echo: Option<Sender<String>>,
    pub clock: Arc<dyn Clock>,
    pub disk: Arc<dyn Disk>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            level: Level::default(),
            wait: Duration::from_secs(5),
            program: "antiphon".to_owned(),
            session_id: None,
            segment_bytes_max: u64::MAX,
            keeps_checkpoint: false,
            echo: None,
            clock: Arc::new(SystemClock),
            disk: Arc::new(OsDisk),
        }
    }
}

/// The acknowledgement of an event, as durable as the writer's [`Level`] says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ack {
    pub message_id: MessageId,
    /// Whether the event was in the log before, so that nothing was written.
    pub repeated: bool,
}

/// The one writer of a log. It may be shared between threads.
#[derive(Debug)]
pub struct Writer {
    shared: Arc<Shared>,
    syncer: Option<JoinHandle<()>>,
    /// Released last, when everything is written.
    lock: Lock,
}

impl Writer {
    /// Opens the log at `path`, recovering what is there, or prepares a new one.
    ///
    /// The file is made when the first event is written.
    pub fn open(path: &Path, options: Options) -> Result<Self, Error> {
        let log = Log::for_writing(path)?;
        let lock = Lock::take(&log.lock_path(), path, &options.program, options.wait)?;
        // Another writer may have been at work while we waited.
        let log = Log::for_writing(path)?;
        let (found, summary) = Recovery::of(&log, &*options.disk)?;
        if let Some(format) = found.format.filter(|&format| format > FORMAT) {
            return Err(Error::NewerFormat { path: path.to_owned(), format });
        }
        let level = options.level;
        let state = State::after(log, found, &summary, options)?;
        let shared = Arc::new(Shared::new(state));
        let syncer = (level == Level::Interval).then(|| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || shared.run())
        });
        Ok(Self { shared, syncer, lock })
    }

    /// Appends an event and waits until it is as durable as the level promises.
    ///
    /// An event that brings its own `message_id` may be sent again: with the same content it is
    /// acknowledged and not written, with another it is an error.
    ///
    /// [`Error::Sync`] means that the event is in the log and may not survive a power cut; after
    /// any other error it is not, and the next `gap` line counts it.
    pub fn append(&self, draft: &Draft) -> Result<Ack, Error> {
        let mut state = self.shared.lock_with_room()?;
        let appended = self.append_locked(&mut state, draft);
        let n = state.n;
        let settled = self.shared.settle(state, n);
        let ack = appended?;
        settled.map(|()| ack)
    }

    /// Appends several events that share one wait for the disk. Each is acknowledged or refused
    /// by itself; if the disk cannot make them durable, all are refused.
    ///
    /// After an event that could not be written, none of those behind it is tried, and the answers
    /// end with that refusal. So a sender that sends again whatever was not acknowledged writes
    /// nothing twice.
    pub fn append_batch(&self, drafts: &[Draft]) -> Result<Vec<Result<Ack, Error>>, Error> {
        let mut state = self.shared.lock_with_room()?;
        let mut acks = Vec::with_capacity(drafts.len());
        for draft in drafts {
            let answer = self.append_locked(&mut state, draft);
            let is_last = answer.as_ref().is_err_and(|error| !error.is_about_the_event());
            acks.push(answer);
            if is_last {
                break;
            }
        }
        let n = state.n;
        self.shared.settle(state, n)?;
        Ok(acks)
    }

    fn append_locked(&self, state: &mut State, draft: &Draft) -> Result<Ack, Error> {
        if let Some(id) = &draft.message_id
            && let Some(place) = state.ids.find(id)
            && self.is_same(state, draft, id, place)?
        {
            if state.durability.level() == Level::Disk {
                state.settle_inherited(place)?;
            }
            return Ok(Ack { message_id: MessageId::new(id.as_str()), repeated: true });
        }
        let message_id = MessageId::new(state.write(draft)?);
        Ok(Ack { message_id, repeated: false })
    }

    fn is_same(
        &self,
        state: &mut State,
        draft: &Draft,
        id: &str,
        place: Place,
    ) -> Result<bool, Error> {
        let same = state.is_same(draft, id, place);
        if let Err(error @ Error::Read { .. }) = &same {
            state.count_lost(error);
        }
        same
    }

    /// The end of the chain, to be kept elsewhere and compared later.
    pub fn head(&self) -> Option<Head> {
        let state = self.shared.lock();
        (state.n > 0).then_some(Head { n: state.n, hash: state.hash })
    }

    /// The id of the session, once its first event is written.
    pub fn session_id(&self) -> Option<String> {
        self.shared.lock().session_id.clone()
    }

    /// Keeps an id from being given to another event.
    pub(crate) fn reserve_id(&self, id: &str) {
        self.shared.lock().ids.reserve(id);
    }

    /// An agent id that the session has not used: `agent_001` and so on.
    pub(crate) fn new_agent_id(&self) -> String {
        let mut state = self.shared.lock();
        let mut number = state.agents.len();
        loop {
            number += 1;
            let id = format!("agent_{number:03}");
            if state.agents.insert(id.clone()) {
                return id;
            }
        }
    }

    /// Makes everything durable that the level promises, and returns an error if that fails.
    /// Dropping a writer does the same, but cannot report a failure.
    pub fn close(mut self) -> Result<(), Error> {
        self.finish()
    }

    /// Makes everything durable, and leaves the lock file behind as a killed writer does, so that
    /// readers see that the log was interrupted.
    pub fn abandon(mut self) -> Result<(), Error> {
        let finished = self.finish();
        self.lock.abandon();
        finished
    }

    fn finish(&mut self) -> Result<(), Error> {
        let result = self.shared.close();
        if let Some(syncer) = self.syncer.take() {
            // A syncing thread that panicked has synced nothing beyond what `close` reports.
            let _ = syncer.join();
        }
        result
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}
