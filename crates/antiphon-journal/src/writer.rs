//! Appending: the one way into a log.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use antiphon_model::{MessageId, Place, json};

use crate::disk::{Disk, LogFile, OsDisk};
use crate::lock::Lock;
use crate::recovery::{Ids, Recovery};
use crate::seal;
use crate::sync::{Level, Shared, Unsynced, write_whole};
use crate::{Clock, Draft, Error, Hash, Head, Log, SystemClock};

/// The version of the log that this writer writes.
const FORMAT: u64 = 1;

/// How a log is written.
#[derive(Debug, Clone)]
pub struct Options {
    pub level: Level,
    /// How long to wait for another writer of the same session.
    pub wait: Duration,
    /// Who is writing, for whoever finds the log locked.
    pub program: String,
    /// A segment that has grown to this many bytes is followed by another.
    pub segment_bytes_max: u64,
    pub clock: Arc<dyn Clock>,
    pub disk: Arc<dyn Disk>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            level: Level::default(),
            wait: Duration::from_secs(5),
            program: "antiphon".to_owned(),
            segment_bytes_max: u64::MAX,
            clock: Arc::new(SystemClock),
            disk: Arc::new(OsDisk),
        }
    }
}

/// The acknowledgement of an event, as durable as the writer's [`Level`] says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ack {
    pub message_id: MessageId,
    /// The event was in the log before: nothing was written.
    pub repeated: bool,
}

/// The one writer of a log. It may be shared between threads.
#[derive(Debug)]
pub struct Writer {
    shared: Arc<Shared>,
    syncer: Option<JoinHandle<()>>,
    /// Let go last, when everything is written.
    _lock: Lock,
}

/// What a writer knows; guarded by [`Shared`].
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) log: Log,
    /// The last segment, once something is to be written.
    pub(crate) file: Option<Arc<dyn LogFile>>,
    pub(crate) path: PathBuf,
    pub(crate) segment_bytes: u64,
    pub(crate) n: u64,
    hash: Hash,
    /// The file ends within a line; the next one begins with a newline.
    pub(crate) tail_is_torn: bool,
    /// Events that could not be written since the last that could.
    lost: u64,
    lost_reason: String,
    ids: Ids,
    agents: std::collections::BTreeSet<String>,
    session_id: Option<String>,
    /// The line under construction; its room is used again.
    line: String,
    pub(crate) unsynced: Unsynced,
    keeps_unsynced: bool,
    pub(crate) disk: Arc<dyn Disk>,
    options: Options,
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
        let recovered = found.event(&log);
        let head = summary.head.unwrap_or(Head { n: 0, hash: Hash::GENESIS });
        let mut state = State {
            path: log.last_segment().unwrap_or_default(),
            segment_bytes: summary.last_segment_bytes,
            file: None,
            n: head.n,
            hash: head.hash,
            tail_is_torn: !summary.terminated,
            lost: 0,
            lost_reason: String::new(),
            ids: found.ids,
            agents: found.agents,
            session_id: found.session_id,
            line: String::new(),
            unsynced: Unsynced::after(head.n),
            keeps_unsynced: options.level != Level::Os,
            disk: Arc::clone(&options.disk),
            log,
            options,
        };
        if let Some(members) = recovered {
            state.write_own(&members)?;
        }
        let level = state.options.level;
        let shared = Arc::new(Shared::new(state, level));
        let syncer = (level == Level::Interval).then(|| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || shared.run())
        });
        Ok(Self { shared, syncer, _lock: lock })
    }

    /// Appends an event and waits until it is as durable as the level promises.
    ///
    /// An event that brings its own `message_id` may be sent again: with the same content it is
    /// acknowledged and not written, with another it is an error.
    pub fn append(&self, draft: &Draft) -> Result<Ack, Error> {
        let mut state = self.shared.lock();
        if let Some(id) = &draft.message_id
            && let Some(place) = state.ids.find(id)
            && state.is_same(draft, id, place)?
        {
            let n = state.n;
            let message_id = MessageId::new(id.as_str());
            self.shared.settle(state, n)?;
            return Ok(Ack { message_id, repeated: true });
        }
        let message_id = state.write(draft)?;
        let n = state.n;
        self.shared.settle(state, n)?;
        Ok(Ack { message_id: MessageId::new(message_id), repeated: false })
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

    /// Makes everything durable that the level promises, and tells if that fails. Dropping a
    /// writer does the same and cannot tell.
    pub fn close(mut self) -> Result<(), Error> {
        self.finish()
    }

    fn finish(&mut self) -> Result<(), Error> {
        let result = self.shared.close();
        if let Some(syncer) = self.syncer.take() {
            // A syncer that panicked has synced nothing more than what `close` reports.
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

impl State {
    /// Writes an event; one that cannot be written is counted, and the count will be in the log.
    fn write(&mut self, draft: &Draft) -> Result<String, Error> {
        let written = self.try_write(draft);
        if let Err(error) = &written {
            self.lost += 1;
            let cause = std::error::Error::source(error);
            self.lost_reason = cause.map_or_else(|| error.to_string(), ToString::to_string);
        }
        written
    }

    /// Writes an event, and before it what the log needs to begin or to go on.
    fn try_write(&mut self, draft: &Draft) -> Result<String, Error> {
        if self.n == 0 {
            if draft.event_type.as_deref() == Some("session_started") {
                return self.write_started(draft);
            }
            let draft = Draft::from_json("{\"event_type\":\"session_started\"}")?;
            self.write_started(&draft)?;
        }
        if self.lost > 0 {
            let mut members = format!("\"event_type\":\"gap\",\"count\":{},\"reason\":", self.lost);
            json::push_string(&mut members, &self.lost_reason);
            self.write_own(&members)?;
            self.lost = 0;
        }
        if let Some(agent) = &draft.agent
            && !self.agents.contains(agent)
        {
            self.agents.insert(agent.clone());
        }
        let id = draft.message_id.clone().unwrap_or_else(|| self.ids.take());
        self.write_line(&id, &draft.members, draft.has_timestamp)?;
        Ok(id)
    }

    /// The first line: whatever its author says, completed by what it must say.
    fn write_started(&mut self, draft: &Draft) -> Result<String, Error> {
        let mut members = draft.members.clone();
        let whole = format!("{{{members}}}");
        let named = ["session_id", "id"].iter().find_map(|key| json::member(&whole, key));
        let session_id = match named.and_then(json::word) {
            Some(id) => id.into_owned(),
            None => {
                let id = self.new_session_id();
                members.push_str(",\"session_id\":");
                json::push_string(&mut members, &id);
                id
            }
        };
        if json::member(&whole, "format").is_none() {
            members.push_str(&format!(",\"format\":{FORMAT}"));
        }
        if json::member(&whole, "program").is_none() {
            members.push_str(",\"program\":");
            json::push_string(&mut members, &self.options.program);
        }
        let id = draft.message_id.clone().unwrap_or_else(|| self.ids.take());
        self.write_line(&id, &members, draft.has_timestamp)?;
        self.session_id = Some(session_id);
        Ok(id)
    }

    /// A line of the journal's own.
    fn write_own(&mut self, members: &str) -> Result<(), Error> {
        let id = self.ids.take();
        self.write_line(&id, members, false)
    }

    /// After a new segment took over: says so in the log. A failure here loses nothing.
    pub(crate) fn note_takeover(&mut self, rewritten: usize, failure: &str) {
        let mut members = format!(
            "\"event_type\":\"recovered\",\"count\":0,\"rewritten\":{rewritten},\"reason\":"
        );
        json::push_string(
            &mut members,
            &format!("the segment before could not be synced: {failure}"),
        );
        let _ = self.write_own(&members);
    }

    /// Builds, seals and writes one line.
    fn write_line(&mut self, id: &str, members: &str, has_timestamp: bool) -> Result<(), Error> {
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        line.push_str("{\"message_id\":");
        json::push_string(&mut line, id);
        if !members.is_empty() {
            line.push(',');
            line.push_str(members);
        }
        if !has_timestamp {
            line.push_str(",\"timestamp\":\"");
            line.push_str(&self.options.clock.now().to_string());
            line.push('"');
        }
        let seal = seal::close(&mut line, self.n + 1, &self.hash);
        let written = match self.tail_is_torn {
            false => self.put(line.as_bytes()),
            true => self.put(format!("\n{line}").as_bytes()),
        };
        if written.is_ok() {
            self.n = seal.n;
            self.hash = seal.hash;
            let offset = self.segment_bytes - line.len() as u64;
            let len = u32::try_from(line.len() - 1).unwrap_or(u32::MAX);
            let stream = self.log.count().saturating_sub(1);
            self.ids.add(id, Place { offset, len, stream });
            if self.keeps_unsynced {
                self.unsynced.add(line.as_bytes());
            } else {
                self.unsynced.durable = seal.n;
            }
        }
        self.line = line;
        written
    }

    /// Hands bytes to the file: one write, unless the file takes fewer.
    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let file = self.writable()?;
        match write_whole(&*file, bytes) {
            Ok(()) => {
                self.tail_is_torn = false;
                self.segment_bytes += bytes.len() as u64;
                Ok(())
            }
            Err((source, done)) => {
                self.segment_bytes += done as u64;
                if let Some(&last) = done.checked_sub(1).and_then(|at| bytes.get(at)) {
                    self.tail_is_torn = last != b'\n';
                }
                Err(Error::write(&self.path, source))
            }
        }
    }

    /// The last segment, opened or made; a new one where the last is full.
    fn writable(&mut self) -> Result<Arc<dyn LogFile>, Error> {
        let is_full = self.segment_bytes >= self.options.segment_bytes_max;
        if let Some(file) = self.file.as_ref().filter(|_| !is_full) {
            return Ok(Arc::clone(file));
        }
        if let Some(full) = self.file.take().filter(|_| self.keeps_unsynced) {
            // What is behind must be durable before anything follows it.
            if let Err(error) = full.sync() {
                self.unsynced.suspect = Some(error.to_string());
                self.file = Some(full);
                self.take_over()?;
                return self.file.clone().ok_or_else(|| Error::NoLog { path: self.path.clone() });
            }
            self.unsynced.lines.clear();
            self.unsynced.durable = self.n;
        }
        let fresh = is_full || self.log.is_new();
        let mut log = self.log.clone();
        let path = if fresh { log.add_segment() } else { self.path.clone() };
        let opened = self.disk.append(&path, fresh);
        let file: Arc<dyn LogFile> = opened.map_err(|source| Error::open(&path, source))?.into();
        if fresh {
            self.log = log;
            self.segment_bytes = 0;
            if self.keeps_unsynced {
                let folder = self.log.folder();
                self.disk.sync_folder(folder).map_err(|source| Error::sync(folder, source))?;
            }
        }
        self.path = path;
        self.file = Some(Arc::clone(&file));
        Ok(file)
    }

    /// Whether the line at `place` is this very event; an error if it is another with its id.
    fn is_same(&self, draft: &Draft, id: &str, place: Place) -> Result<bool, Error> {
        let path = self.log.segment(place.stream);
        let read = self.disk.read_at(&path, place.offset, place.len as usize);
        let bytes = read.map_err(|source| Error::read(&path, source))?;
        let Ok(stored) = Draft::from_bytes(&bytes) else {
            return Err(Error::Conflict { id: id.to_owned() });
        };
        if stored.message_id.as_deref() != Some(id) {
            return Ok(false); // Two ids with one hash.
        }
        let rest = stored.members.strip_prefix(draft.members.as_str());
        let same = match rest {
            Some("") => true,
            // The writer's own time, where the sender gave none.
            Some(rest) if !draft.has_timestamp => {
                let time = rest.strip_prefix(",\"timestamp\":\"").and_then(|t| t.strip_suffix('"'));
                time.is_some_and(|time| !time.contains('"'))
            }
            Some(_) | None => false,
        };
        if same { Ok(true) } else { Err(Error::Conflict { id: id.to_owned() }) }
    }

    fn new_session_id(&self) -> String {
        let now = self.options.clock.now();
        let unique = format!("{} {} {}", self.log.path().display(), std::process::id(), now);
        let digits: String = now.to_string().chars().filter(char::is_ascii_digit).collect();
        let (date, time) = digits.split_at_checked(8).unwrap_or_default();
        let time = time.get(..6).unwrap_or_default();
        let hash = Hash::of(unique.as_bytes());
        format!("{date}-{time}-{}", hash.as_str().get(..6).unwrap_or_default())
    }
}
